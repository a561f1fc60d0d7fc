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
        Self(Cell::new(seed | 1))
    }

    /// A pause before attempt `retry` (from 1): none at first, then up to 1, 2, 4, … ms.
    fn pause(&self, retry: u32) -> Duration {
        if retry < 2 {
            return Duration::ZERO;
        }
        // xorshift64: any spread will do.
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        let longest = LONGEST_PAUSE.min(Duration::from_millis(1 << (retry - 2).min(6)));
        longest.mul_f64((x >> 11) as f64 / (1_u64 << 53) as f64)
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
