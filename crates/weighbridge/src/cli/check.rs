//! Arguments of `check`.

use std::time::Duration;

use clap::Args;

use super::{JsonArgs, ShardArgs, TargetArgs, duration, warehouse_count};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge check --url postgres://me@localhost/bench --jobs 4")]
pub(crate) struct CheckArgs {
    /// The workload: tpcc, movr, bank, key-value, or a file of your own, such as mine.toml
    #[arg(default_value = "tpcc")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Warehouses to check; with --shard those of all processes [default: all that are loaded]
    #[arg(long, short = 'w', value_name = "N", value_parser = warehouse_count::<i32>())]
    pub(crate) warehouses: Option<i32>,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "shard", value_parser = warehouse_count::<i32>())]
    pub(crate) first_warehouse: i32,
    #[command(flatten)]
    pub(crate) part: ShardArgs,
    /// Sessions that check side by side [default: the machine's cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Check the data as they were this long ago, such as -10s, without disturbing a run, where the database can
    #[arg(long, value_name = "TIME", value_parser = ago, allow_hyphen_values = true)]
    pub(crate) as_of: Option<Duration>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

fn ago(text: &str) -> Result<Duration, String> {
    let Some(ago) = text.strip_prefix('-') else {
        return Err("write how long ago with a minus sign, such as -10s".to_owned());
    };
    duration(ago)
}
