//! Arguments of `tune`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{JsonArgs, TargetArgs, duration, response};

#[derive(Debug, Subcommand)]
pub(crate) enum TuneCommand {
    /// List the lessons
    List(JsonArgs),
    /// Show what a lesson does: why, its statements on this kind of database, and what was published
    Show(TuneShowArgs),
    /// Measure lessons on a database, which is left as it was
    Run(TuneRunArgs),
    /// Remove what a killed `tune run` has left
    Clean(TargetArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge tune show covering-index --url postgres://me@localhost/bench")]
pub(crate) struct TuneShowArgs {
    /// The lesson
    pub(crate) lesson: String,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The lessons work on a data set of their own (MovR), in a schema of their own (weighbridge_tuning; on SQLite a\n\
    file beside the database's) that is dropped at the end. Both sides of a lesson are run in turns, in an order that is\n\
    drawn; where a change must be made between them, in blocks.\n\nExamples:\n  \
    weighbridge tune run --all\n  \
    weighbridge tune run covering-index batch-size --url postgres://me@localhost/bench --html tuning.html\n\n\
    The lesson `regions` needs a PostgreSQL server in each region, its name as the server's cluster_name, with the others\n\
    as foreign servers of their names (`weighbridge lab up postgres --regions us-east1,us-west1,us-west2` has them):\n  \
    weighbridge tune run regions --url URL_EAST --url URL_WEST1 --url URL_WEST2"
)]
pub(crate) struct TuneRunArgs {
    /// The lessons to measure
    #[arg(required_unless_present = "all")]
    pub(crate) lessons: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "lessons")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Size of the data set: 1 is a million rides [default: 0.1; for the lesson of the regions 0.02]
    #[arg(long, value_name = "FACTOR", value_parser = super::workload::scale)]
    pub(crate) scale: Option<f64>,
    /// Pairs of executions of a lesson whose sides can be run in turns
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(6..=100_000))]
    pub(crate) repeat: u32,
    /// Pairs of blocks of a lesson with a change between its sides
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(6..=1000))]
    pub(crate) rounds: u32,
    /// From when on a lesson takes no more pairs than the six that an interval needs
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = duration)]
    pub(crate) budget: Duration,
    /// Break off a statement that takes longer
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = response)]
    pub(crate) timeout: Duration,
    /// Seed of data, values and orders [default: drawn, and shown]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Write a page too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
