//! How far regions are from each other, as the time of a round trip.

use std::time::Duration;

/// What is wrong with delays as they were given.
#[derive(Debug, thiserror::Error)]
pub enum DelaysError {
    /// A region has two entries.
    #[error("the region {0} is named twice")]
    Duplicate(String),
    /// A delay names a region that is not one of them.
    #[error("a delay of {name}: the regions are {}", regions.join(", "))]
    UnknownRegion {
        /// The name.
        name: String,
        /// The regions.
        regions: Vec<String>,
    },
    /// A pair of regions has no delay.
    #[error("how far is it from {from} to {to}? Say the round trip: {from}:{to}=66ms")]
    Missing {
        /// The region that asks.
        from: String,
        /// The region that answers.
        to: String,
    },
    /// A delay can't be read.
    #[error("`{0}` is no delay: write A:B=66ms")]
    Unreadable(String),
}

/// Round trips in milliseconds that are taken where none are given. The first is public, as cloudping.co measured it in
/// September 2019 and `cockroach demo --global` simulates it; the others are assumed.
const KNOWN: [(&str, &str, u64); 3] =
    [("us-east1", "us-west1", 66), ("us-east1", "us-west2", 64), ("us-west1", "us-west2", 25)];

/// The longest round trip in milliseconds; no way on Earth is as long.
const MAX_ROUND_TRIP_MS: f64 = 10_000.0;

/// The round trips between regions: how long what one of them asks of another is under way, and the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    regions: Vec<String>,
    /// By the region that asks, then by the one that answers.
    round_trips: Vec<Vec<Duration>>,
}

impl Delays {
    /// Between the regions named, as `given` says it: `A:B=66, A:C=64ms`, or a pair a line, with `#` before what is not
    /// meant. A pair stands for both ways, unless `B:A` is given too. The regions of Google's `us-east1`, `us-west1` and
    /// `us-west2` are known.
    ///
    /// # Errors
    /// A region named twice, a pair that can't be read or names another region, a pair that is missing.
    pub fn new<T: AsRef<str>>(regions: &[T], given: &str) -> Result<Self, DelaysError> {
        let regions: Vec<String> = regions.iter().map(|region| region.as_ref().to_owned()).collect();
        if let Some(twice) = (1..regions.len()).find(|at| regions[..*at].contains(&regions[*at])) {
            return Err(DelaysError::Duplicate(regions[twice].clone()));
        }
        let pairs = read(given)?;
        if let Some(name) = pairs.iter().flat_map(|(from, to, _)| [from, to]).find(|name| !regions.contains(name)) {
            return Err(DelaysError::UnknownRegion { name: name.clone(), regions });
        }
        // The last that is given counts.
        let given = |from: &str, to: &str| pairs.iter().rfind(|(a, b, _)| a == from && b == to).map(|pair| pair.2);
        let known = |from: &str, to: &str| {
            let known = KNOWN.iter().find(|(a, b, _)| [*a, *b] == [from, to] || [*b, *a] == [from, to]);
            known.map(|(_, _, ms)| Duration::from_millis(*ms))
        };
        let between = |from: &String, to: &String| {
            if from == to {
                return Ok(Duration::ZERO);
            }
            let delay = given(from, to).or_else(|| given(to, from)).or_else(|| known(from, to));
            delay.ok_or_else(|| DelaysError::Missing { from: from.clone(), to: to.clone() })
        };
        let row = |from: &String| regions.iter().map(|to| between(from, to)).collect();
        let round_trips = regions.iter().map(row).collect::<Result<_, DelaysError>>()?;
        Ok(Self { regions, round_trips })
    }

    /// The regions.
    pub fn regions(&self) -> &[String] {
        &self.regions
    }

    /// The round trip of what one region asks of another, by their numbers.
    ///
    /// # Panics
    /// If there is no such region.
    pub fn round_trip(&self, from: usize, to: usize) -> Duration {
        self.round_trips[from][to]
    }
}

fn read(given: &str) -> Result<Vec<(String, String, Duration)>, DelaysError> {
    let meant = given.lines().map(|line| line.split('#').next().unwrap_or_default());
    let pairs = meant.flat_map(|line| line.split(',')).map(str::trim).filter(|pair| !pair.is_empty());
    pairs.map(|pair| read_one(pair).ok_or_else(|| DelaysError::Unreadable(pair.to_owned()))).collect()
}

fn read_one(pair: &str) -> Option<(String, String, Duration)> {
    let (names, time) = pair.split_once('=')?;
    let (from, to) = names.split_once(':')?;
    let ms: f64 = time.trim().trim_end_matches("ms").trim_end().parse().ok()?;
    let possible = (0.0..=MAX_ROUND_TRIP_MS).contains(&ms) && from.trim() != to.trim();
    possible.then(|| (from.trim().to_owned(), to.trim().to_owned(), Duration::from_secs_f64(ms / 1000.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(delays: &Delays, from: usize, to: usize) -> u128 {
        delays.round_trip(from, to).as_millis()
    }

    #[test]
    fn what_is_given_counts_both_ways_and_what_is_known_fills_in() {
        let delays =
            Delays::new(&["us-west2", "us-east1", "moon"], "us-west2:moon=2500, us-east1:moon = 2600ms").unwrap();
        assert_eq!((ms(&delays, 0, 1), ms(&delays, 1, 0), ms(&delays, 1, 1)), (64, 64, 0));
        assert_eq!((ms(&delays, 0, 2), ms(&delays, 2, 1)), (2500, 2600));
        let delays = Delays::new(&["a", "b"], "# a file\na:b=10 # there\nb:a=0.5ms\n\na:b=20").unwrap();
        assert_eq!((ms(&delays, 0, 1), delays.round_trip(1, 0)), (20, Duration::from_micros(500)));
    }

    #[test]
    fn what_is_wrong_or_missing_is_said() {
        let refusal = |regions: &[&str], given: &str| Delays::new(regions, given).unwrap_err().to_string();
        assert!(refusal(&["a", "b", "a"], "").contains("a is named twice"));
        assert!(refusal(&["a", "b"], "").contains("how far is it from a to b?"));
        assert!(refusal(&["a", "b"], "a:c=1").contains("a delay of c: the regions are a, b"));
        for wrong in ["a:b", "a=1", "a:b=soon", "a:b=-1", "a:b=20000", "a:b=NaN", "a:a=1"] {
            assert!(refusal(&["a", "b"], wrong).contains("is no delay"), "{wrong}");
        }
    }
}
