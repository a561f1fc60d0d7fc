//! Arguments of `search`.

use std::path::PathBuf;

use clap::Args;

use super::{EveryRunArgs, JsonArgs, RestoreArgs, TargetArgs, warehouse_count};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    weighbridge search --url postgres://me@localhost/bench --ramp 1m --duration 10m\n\n\
    Each trial is a run at the standard's pace on so many of the loaded warehouses. The number doubles until a run is\n\
    not valid or all are driven, and is then closed in from both sides.")]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Where to begin
    #[arg(long, value_name = "WAREHOUSES", default_value_t = 1, value_parser = warehouse_count::<u32>())]
    pub(crate) from: u32,
    /// The most to try [default: all that are loaded]
    #[arg(long, value_name = "WAREHOUSES", value_parser = warehouse_count::<u32>())]
    pub(crate) to: Option<u32>,
    /// How near the answer must come to the first number that fails
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) within: u32,
    #[command(flatten)]
    pub(crate) runs: EveryRunArgs,
    #[command(flatten)]
    pub(crate) restore: RestoreArgs,
    /// The folder for the trials, which must not exist, or be empty [default: results/TIME-search]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
