//! Arguments of `doctor`.

use clap::Args;

use super::{JsonArgs, TargetArgs, warehouse_count};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge doctor --url postgres://me@localhost/bench --connections 64")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Warehouses of the run to come [default: all that are loaded]
    #[arg(long, short = 'w', value_name = "N", value_parser = warehouse_count::<i32>())]
    pub(crate) warehouses: Option<i32>,
    /// Its connections [default: two a warehouse, 8 to 128; 4 on SQLite]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,
    /// Make all checks of the data, as `weighbridge check` does, instead of three cheap ones
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
