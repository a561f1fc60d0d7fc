//! Several subjects repeated in turns.

use tpcc::rng::Stream;

use crate::Error;
use crate::bench_case::BenchCase;
use crate::runner::Runner;

/// A subject, where it runs, and what came of it.
#[derive(Debug)]
pub struct Variant {
    /// What is timed.
    pub subject: BenchCase,
    /// The runner, among those given.
    pub runner: usize,
    /// Milliseconds of each execution, in their order.
    pub times_ms: Vec<f64>,
    /// Rows that the last execution returned or changed.
    pub rows: u64,
    /// Transactions that were tried again.
    pub retries: u64,
}

impl Variant {
    /// Nothing has been timed yet.
    #[must_use]
    pub fn new(subject: BenchCase, runner: usize) -> Self {
        Self { subject, runner, times_ms: Vec::new(), rows: 0, retries: 0 }
    }
}

/// How often.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// Rounds that count.
    pub repeat: usize,
    /// Rounds before them.
    pub warmup: usize,
    /// Whether the order within a round is drawn each time, as it must be where variants are compared.
    pub shuffled: bool,
    /// The seed of that order.
    pub seed: u64,
}

/// Repeats them, each once a round.
///
/// # Errors
/// As [`Runner::run`]; what was timed before stays with the variants.
pub async fn repeat(variants: &mut [Variant], runners: &mut [Runner], rounds: Rounds) -> Result<(), Error> {
    let mut rng = Stream::for_terminal(rounds.seed, u64::MAX);
    let mut order: Vec<usize> = (0..variants.len()).collect();
    for round in 0..rounds.warmup + rounds.repeat {
        if rounds.shuffled {
            shuffle(&mut order, &mut rng);
        }
        for at in &order {
            let variant = &mut variants[*at];
            let ran = runners[variant.runner].run(&variant.subject).await?;
            variant.rows = ran.rows;
            variant.retries += ran.retries;
            if round >= rounds.warmup {
                variant.times_ms.push(ran.elapsed.as_secs_f64() * 1e3);
            }
        }
    }
    Ok(())
}

/// Each order as likely (Fisher and Yates).
pub fn shuffle(order: &mut [usize], rng: &mut Stream) {
    for last in (1..order.len()).rev() {
        order.swap(last, rng.uniform(0, last as i64) as usize);
    }
}
