//! Several subjects repeated in turns.

use tpcc::rng::Stream;

use crate::Error;
use crate::runner::Runner;
use crate::subject::Subject;

/// A subject, where it runs, and what came of it.
#[derive(Debug)]
pub struct Contestant {
    /// What is timed.
    pub subject: Subject,
    /// The runner, among those given.
    pub runner: usize,
    /// Milliseconds of each execution, in their order.
    pub times_ms: Vec<f64>,
    /// Rows that the last execution returned or changed.
    pub rows: u64,
    /// Transactions that were tried again.
    pub retries: u64,
}

impl Contestant {
    /// Nothing has been timed yet.
    #[must_use]
    pub fn new(subject: Subject, runner: usize) -> Self {
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
    /// Whether the order within a round is drawn each time, as it must be where contestants are compared.
    pub shuffled: bool,
    /// The seed of that order.
    pub seed: u64,
}

/// Repeats them, each once a round.
///
/// # Errors
/// As [`Runner::run`]; what was timed before stays with the contestants.
pub async fn repeat(contestants: &mut [Contestant], runners: &mut [Runner], rounds: Rounds) -> Result<(), Error> {
    let mut luck = Stream::for_terminal(rounds.seed, u64::MAX);
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    for round in 0..rounds.warmup + rounds.repeat {
        if rounds.shuffled {
            shuffle(&mut order, &mut luck);
        }
        for at in &order {
            let contestant = &mut contestants[*at];
            let ran = runners[contestant.runner].run(&contestant.subject).await?;
            contestant.rows = ran.rows;
            contestant.retries += ran.retries;
            if round >= rounds.warmup {
                contestant.times_ms.push(ran.elapsed.as_secs_f64() * 1e3);
            }
        }
    }
    Ok(())
}

/// Each order as likely (Fisher and Yates).
pub fn shuffle(order: &mut [usize], luck: &mut Stream) {
    for last in (1..order.len()).rev() {
        order.swap(last, luck.uniform(0, last as i64) as usize);
    }
}
