//! Arguments of many processes that make one load or one run.

use std::time::Duration;

use clap::Args;
use drive::fleet::{Start, Worker};

use super::{duration, duration_or_zero};

/// Which part of the warehouses is this process's.
#[derive(Debug, Args)]
pub(crate) struct ShardArgs {
    /// The part of this process, as 2/3; auto: as a scheduler says (an Indexed Job, a job array, MPI)
    ///
    /// Each of so many processes gets its slice of the warehouses; --warehouses means all of them then.
    /// auto looks at JOB_COMPLETION_INDEX with WEIGHBRIDGE_SHARDS, at SLURM_ARRAY_TASK_ID with SLURM_ARRAY_TASK_MIN and
    /// SLURM_ARRAY_TASK_COUNT, and at OMPI_COMM_WORLD_RANK with OMPI_COMM_WORLD_SIZE.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
}

/// How a process finds the others.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(flatten)]
    pub(crate) part: ShardArgs,
    /// How long to wait until all of the others are there
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "5m", allow_hyphen_values = true,
          requires = "shard")]
    pub(crate) fleet_wait: Duration,
}

/// When a run begins.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Begin the ramp at this time by this machine's clock, as 2026-11-21T12:00:00Z; with --shard instead of meeting
    #[arg(long, value_name = "TIME")]
    pub(crate) start_at: Option<jiff::Timestamp>,
    /// Start the terminals so long after the ramp began; the measurement begins for all processes at the same time
    #[arg(long, value_name = "TIME", value_parser = duration_or_zero, default_value = "0s", allow_hyphen_values = true)]
    pub(crate) initial_delay: Duration,
}

impl FleetArgs {
    /// When a run begins, and with whom; the error says what can't be.
    pub(crate) fn start(&self, when: &StartArgs, ramp: Duration) -> Result<Start, String> {
        if let Some(at) = when.start_at.filter(|at| *at <= jiff::Timestamp::now()) {
            return Err(format!("--start-at {at} has passed"));
        }
        if !when.initial_delay.is_zero() && when.initial_delay >= ramp {
            return Err(format!(
                "--initial-delay {}s must be shorter than --ramp {}s: the measurement begins for all at once",
                when.initial_delay.as_secs(),
                ramp.as_secs()
            ));
        }
        let worker = self.part.worker()?;
        Ok(Start { worker, wait: self.fleet_wait, at: when.start_at, initial_delay: when.initial_delay })
    }
}

impl ShardArgs {
    /// The worker that this process is; none: it works alone.
    pub(crate) fn worker(&self) -> Result<Option<Worker>, String> {
        match self.shard {
            None => Ok(None),
            Some(Shard::Named(worker)) => Ok(Some(worker)),
            Some(Shard::Auto) => scheduled(|name| std::env::var(name).ok()).map(Some),
        }
    }
}

/// A part, or where it is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shard {
    /// In the environment.
    Auto,
    /// Here.
    Named(Worker),
}

fn shard(text: &str) -> Result<Shard, String> {
    match text {
        "auto" => Ok(Shard::Auto),
        text => text.parse().map(Shard::Named),
    }
}

/// How a scheduler tells a process which one of how many it is.
struct Scheduler {
    index: &'static str,
    /// The variable with the first index; none: it is 0.
    first: Option<&'static str>,
    count: &'static str,
}

const SCHEDULERS: [Scheduler; 3] = [
    // Kubernetes tells a pod its index, and not how many there are: the manifest says that.
    Scheduler { index: "JOB_COMPLETION_INDEX", first: None, count: "WEIGHBRIDGE_SHARDS" },
    Scheduler { index: "SLURM_ARRAY_TASK_ID", first: Some("SLURM_ARRAY_TASK_MIN"), count: "SLURM_ARRAY_TASK_COUNT" },
    Scheduler { index: "OMPI_COMM_WORLD_RANK", first: None, count: "OMPI_COMM_WORLD_SIZE" },
];

/// The worker that a scheduler made of this process.
fn scheduled(variable: impl Fn(&str) -> Option<String>) -> Result<Worker, String> {
    let Some(scheduler) = SCHEDULERS.iter().find(|scheduler| variable(scheduler.index).is_some()) else {
        let names = SCHEDULERS.map(|scheduler| scheduler.index).join(", ");
        return Err(format!("--shard auto: none of {names} is set; write --shard 2/3 or the like"));
    };
    let number = |name: &str| {
        let text =
            variable(name).ok_or_else(|| format!("--shard auto: {} is set, but {name} is not", scheduler.index))?;
        text.parse::<u32>().map_err(|_| format!("--shard auto: {name}={text} is no whole number"))
    };
    let index = number(scheduler.index)?;
    let count = number(scheduler.count)?;
    let first = scheduler.first.map_or(Ok(0), number)?;
    let worker = index.checked_sub(first).and_then(|at| Worker::new(at.checked_add(1)?, count));
    worker.ok_or_else(|| {
        format!("--shard auto: {}={index} is none of {count} numbered from {first} on without gaps", scheduler.index)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(variables: &[(&str, &str)]) -> Result<Worker, String> {
        scheduled(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn schedulers_tell_which_one_of_how_many() {
        for (variables, worker) in [
            (&[("JOB_COMPLETION_INDEX", "0"), ("WEIGHBRIDGE_SHARDS", "3")][..], (1, 3)),
            (&[("JOB_COMPLETION_INDEX", "2"), ("WEIGHBRIDGE_SHARDS", "3")], (3, 3)),
            (&[("SLURM_ARRAY_TASK_ID", "4"), ("SLURM_ARRAY_TASK_MIN", "3"), ("SLURM_ARRAY_TASK_COUNT", "2")], (2, 2)),
            (&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")], (1, 1)),
        ] {
            let found = among(variables).unwrap();
            assert_eq!((found.number(), found.count()), worker, "{variables:?}");
        }
    }

    #[test]
    fn what_a_scheduler_leaves_out_is_said() {
        for (variables, words) in [
            (&[][..], &["JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK"][..]),
            (&[("JOB_COMPLETION_INDEX", "0")], &["WEIGHBRIDGE_SHARDS is not"]),
            (&[("JOB_COMPLETION_INDEX", "two"), ("WEIGHBRIDGE_SHARDS", "3")], &["JOB_COMPLETION_INDEX=two"]),
            (&[("JOB_COMPLETION_INDEX", "3"), ("WEIGHBRIDGE_SHARDS", "3")], &["without gaps"]),
            (&[("JOB_COMPLETION_INDEX", "0"), ("WEIGHBRIDGE_SHARDS", "0")], &["without gaps"]),
            (
                &[("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_MIN", "3"), ("SLURM_ARRAY_TASK_COUNT", "2")],
                &["without gaps"],
            ),
        ] {
            let refused = among(variables).unwrap_err();
            assert!(words.iter().all(|word| refused.contains(word)), "{variables:?}: {refused}");
        }
    }
}
