//! The database's clock, seen from this machine.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use target::{Error, Session};
use workload::rendezvous;

/// Round trips of which the shortest is believed.
const ROUND_TRIPS: usize = 8;

/// One reading of the database's clock, with what its way there and back leaves open.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// When it was read, by this machine's monotonic clock.
    at: Instant,
    /// What it said, in microseconds since the Unix epoch.
    us: i64,
    /// The database's clock less this machine's, microseconds.
    pub offset_us: i64,
    /// How far that may be off, either way, microseconds: half of the round trip.
    pub error_us: i64,
}

impl Clock {
    /// Reads the clock several times, and keeps the reading of the shortest round trip.
    pub(super) async fn read(session: &mut Session) -> Result<Self, Error> {
        let mut best: Option<Self> = None;
        for _ in 0..ROUND_TRIPS {
            let (asked, asked_wall) = (Instant::now(), SystemTime::now());
            let us = rendezvous::now(session).await?;
            // It was read on the way, most likely in the middle.
            let half = asked.elapsed() / 2;
            let wall = (asked_wall + half).duration_since(UNIX_EPOCH).unwrap_or_default();
            let reading =
                Self { at: asked + half, us, offset_us: us - microseconds(wall), error_us: microseconds(half) };
            best = best.filter(|best| best.error_us <= reading.error_us).or(Some(reading));
        }
        best.ok_or_else(|| Error::permanent("the database's clock was not read"))
    }

    /// The instant here at which the database's clock shows `us`; the error of it: how long that is past.
    pub(super) fn instant(&self, us: i64) -> Result<Instant, Duration> {
        let ahead = us - self.us;
        let distance = Duration::from_micros(ahead.unsigned_abs());
        let instant = if ahead < 0 { self.at.checked_sub(distance) } else { self.at.checked_add(distance) };
        let now = Instant::now();
        instant.filter(|instant| *instant > now).ok_or_else(|| instant.map_or(distance, |instant| now - instant))
    }
}

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_of_the_database_is_one_here() {
        let at = Instant::now();
        let clock = Clock { at, us: 1_000_000_000, offset_us: 3_600_000_000, error_us: 100 };
        assert_eq!(clock.instant(1_060_000_000), Ok(at + Duration::from_secs(60)));
        assert!(clock.instant(999_000_000).unwrap_err() >= Duration::from_secs(1), "a second ago");
    }

    #[tokio::test]
    async fn a_database_on_this_machine_shows_this_machines_time() {
        let folder = tempfile::tempdir().unwrap();
        let url = target::Url::parse(&format!("sqlite:{}", folder.path().join("a.db").display())).unwrap();
        let clock = Clock::read(&mut Session::connect(&url).await.unwrap()).await.unwrap();
        // SQLite counts milliseconds.
        assert!(clock.offset_us.abs() <= clock.error_us + 2_000, "{clock:?}");
    }
}
