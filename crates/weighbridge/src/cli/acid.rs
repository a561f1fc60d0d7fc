//! Arguments of the tests of clause 3.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use target::Isolation;

use super::{DurabilityArgs, JsonArgs, TargetArgs, named, warehouse_count};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    after_help = "The tests work on loaded data: they enter orders and payments as a run does, and put back whatever else they\n\
    change. Every level that the database has is tested; the exit status is 3 when the level asked for (by itself: the\n\
    one that `run` uses) does not give what clause 3.4 needs.\n\nExamples:\n  \
    weighbridge acid --url postgres://me@localhost/bench\n  \
    weighbridge acid --url postgres://me@localhost/bench --isolation read-committed --html acid.html"
)]
pub(crate) struct AcidArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AcidCommand>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Test these levels only, and judge them
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_parser = named(Isolation::NAMES))]
    pub(crate) isolation: Vec<Isolation>,
    /// Warehouses from which the tests choose, and whose consistency is checked: the first ones of the load
    #[arg(long, short = 'w', value_name = "N", default_value_t = 1, value_parser = warehouse_count::<i32>())]
    pub(crate) warehouses: i32,
    /// Seed of what the tests choose [default: drawn, and shown]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Write a page too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AcidCommand {
    /// Crash the database under load, and look whether everything it acknowledged is there
    Durability(DurabilityArgs),
}
