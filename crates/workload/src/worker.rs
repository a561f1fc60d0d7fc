//! Which worker of a fleet a client is, and its slice of the data.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use target::placement::slices;

/// One of the workers of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    number: u32,
    of: u32,
}

impl Worker {
    /// Worker `number` (from 1) of so many; `None` if there is no such one.
    pub fn new(number: u32, of: u32) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many workers the fleet has.
    pub fn count(self) -> u32 {
        self.of
    }

    /// Its slice of the warehouses 1 to `total`: as even as whole warehouses allow, and each in exactly one slice. Of a
    /// database with as many partitions as there are workers it is a partition.
    ///
    /// # Errors
    /// One line, if there are fewer warehouses than workers.
    pub fn slice(self, total: i32) -> Result<RangeInclusive<i32>, String> {
        if i64::from(total) < i64::from(self.of) {
            return Err(format!("{total} warehouses for {} workers: each needs one at least", self.of));
        }
        Ok(slices(1..=total, self.of).swap_remove(self.number as usize - 1))
    }
}

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {} of {}", self.number, self.of)
    }
}

impl FromStr for Worker {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        parts
            .and_then(|(number, of)| Worker::new(number, of))
            .ok_or_else(|| format!("`{text}` is no shard: write which one of how many, such as 2/3, counted from 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Totals and fleets of all sizes, small ones and the largest.
    fn cases() -> impl Iterator<Item = (i32, u32)> {
        let small = (1..=60).flat_map(|total| (1..=total as u32).map(move |of| (total, of)));
        small.chain([(10_000_000, 3), (9_999_991, 1013)])
    }

    #[test]
    fn every_warehouse_is_in_exactly_one_slice_and_slices_are_even() {
        for (total, of) in cases() {
            let slices: Vec<_> =
                (1..=of).map(|number| Worker::new(number, of).unwrap().slice(total).unwrap()).collect();
            assert_eq!(*slices[0].start(), 1, "{total} by {of}");
            assert_eq!(*slices[slices.len() - 1].end(), total, "{total} by {of}");
            for pair in slices.windows(2) {
                assert_eq!(*pair[0].end() + 1, *pair[1].start(), "{total} by {of}: {pair:?}");
            }
            let sizes = || slices.iter().map(|slice| slice.end() - slice.start() + 1);
            let (least, most) = (sizes().min().unwrap(), sizes().max().unwrap());
            assert!(least >= 1 && most - least <= 1, "{total} by {of}: {least} to {most}");
        }
    }

    #[test]
    fn more_workers_than_warehouses_are_refused() {
        let refused = Worker::new(1, 6).unwrap().slice(4).unwrap_err();
        assert!(refused.contains("4 warehouses for 6 workers"), "{refused}");
    }

    #[test]
    fn a_worker_is_read_as_one_of_so_many() {
        assert_eq!("2/3".parse(), Ok(Worker { number: 2, of: 3 }));
        assert_eq!("1/1".parse::<Worker>().unwrap().to_string(), "worker 1 of 1");
        for bad in ["0/3", "4/3", "3", "", "/", "1/0", "-1/3", "1/-3", "a/b", "1/2/3", "1 / 3", "99999999999/3"] {
            assert!(bad.parse::<Worker>().is_err(), "{bad}");
        }
    }
}
