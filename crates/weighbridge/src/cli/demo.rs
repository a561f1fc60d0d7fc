//! Arguments of `demo`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{OutputArgs, duration};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge demo --duration 30s --file demo.db")]
pub(crate) struct DemoArgs {
    /// Keep the database in this file (default: a temporary one, removed at the end)
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// How long to measure
    #[arg(long, value_parser = duration, default_value = "15s", allow_hyphen_values = true)]
    pub(crate) duration: Duration,
    /// The run's folder [default: results/TIME-tpcc-sqlite-1w]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
