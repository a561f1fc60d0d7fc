//! One business transaction: attempts with the same input until it commits or must be given up.

use std::cell::Cell;
use std::time::Duration;

use target::{Class, Error, Session};

/// Attempts after the first; a transaction that conflicts more often is given up and counted as failed.
const MAX_RETRIES: u32 = 200;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// A small generator for pauses, apart from the terminals' streams, which must not depend on luck.
#[derive(Debug)]
pub(crate) struct Jitter(Cell<u64>);

impl Jitter {
    pub(crate) fn new(seed: u64) -> Self {
        // Seeds that differ in their last bit alone are others too.
        Self(Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    /// A pause before attempt `retry` (from 1): none at first, then up to 1, 2, 4, … ms.
    fn pause(&self, retry: u32) -> Duration {
        if retry < 2 {
            return Duration::ZERO;
        }
        let longest = LONGEST_PAUSE.min(Duration::from_millis(1 << (retry - 2).min(6)));
        longest.mul_f64(self.fraction())
    }

    /// Anything from 0 to 1.
    pub(crate) fn fraction(&self) -> f64 {
        // xorshift64: any spread will do.
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        (x >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Runs `attempt` until it succeeds or fails for good. Returns its result and how often it was repeated.
pub(crate) async fn with_retries<T>(
    session: &mut Session,
    jitter: &Jitter,
    mut attempt: impl AsyncFnMut(&mut Session) -> Result<T, Error>,
) -> (Result<T, Error>, u32) {
    let mut retries = 0;
    loop {
        match attempt(session).await {
            Err(e) if e.class() == Class::Retry && retries < MAX_RETRIES => {
                retries += 1;
                let pause = jitter.pause(retries);
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
            }
            ended => return (ended, retries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn attempts(outcomes: &[Class]) -> (Result<(), Error>, u32, usize) {
        let folder = tempfile::tempdir().unwrap();
        let url = target::Url::parse(&format!("sqlite:{}", folder.path().join("a.db").display())).unwrap();
        let mut session = Session::connect(&url).await.unwrap();
        // Only now: connecting is real work, with a limit of real time.
        tokio::time::pause();
        let mut made = 0;
        let (ended, retries) = with_retries(&mut session, &Jitter::new(1), async |_| {
            made += 1;
            outcomes.get(made - 1).map_or(Ok(()), |class| Err(Error::new(*class, None, "no")))
        })
        .await;
        tokio::time::resume();
        (ended, retries, made)
    }

    #[tokio::test]
    async fn only_what_asks_for_it_is_tried_again() {
        let (ended, retries, made) = attempts(&[Class::Retry, Class::Retry]).await;
        assert!(ended.is_ok() && retries == 2 && made == 3);
        for class in [Class::Integrity, Class::Lost, Class::Unknown, Class::Permanent] {
            let (ended, retries, made) = attempts(&[class]).await;
            assert_eq!((ended.unwrap_err().class(), retries, made), (class, 0, 1));
        }
    }

    #[tokio::test]
    async fn a_transaction_that_never_gets_through_is_given_up() {
        let (ended, retries, made) = attempts(&[Class::Retry; 1000]).await;
        assert_eq!(ended.unwrap_err().class(), Class::Retry);
        assert_eq!((retries, made), (MAX_RETRIES, MAX_RETRIES as usize + 1));
    }

    #[test]
    fn pauses_grow_and_stay_bounded() {
        let jitter = Jitter::new(7);
        assert!(jitter.pause(1).is_zero());
        let longest = |retry: u32| (0..1000).map(|_| jitter.pause(retry)).max().unwrap();
        assert!(longest(2) <= Duration::from_millis(1));
        assert!(longest(5) > Duration::from_millis(4) && longest(5) <= Duration::from_millis(8));
        assert!(longest(200) <= LONGEST_PAUSE);
    }
}
