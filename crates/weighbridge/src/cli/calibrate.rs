//! Arguments of `calibrate`.

use std::time::Duration;

use clap::Args;

use super::{JsonArgs, duration};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  weighbridge calibrate\n  weighbridge calibrate --wire --warehouses 2000 --duration 30s"
)]
pub(crate) struct CalibrateArgs {
    /// Warehouses to drive, of ten terminals each
    #[arg(long, short = 'w', value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(i32).range(100..=1_000_000))]
    pub(crate) warehouses: i32,
    /// How long to measure each way of answering
    #[arg(long, value_parser = duration, default_value = "10s", allow_hyphen_values = true)]
    pub(crate) duration: Duration,
    /// Weigh the network path too: styles batch and pipeline over PostgreSQL's wire, to a null-server in another process
    #[arg(long)]
    pub(crate) wire: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
