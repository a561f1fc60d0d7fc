//! Arguments of `load`.

use std::time::Duration;

use clap::Args;
use target::placement::Sharding;

use super::{CustomArgs, FleetArgs, JsonArgs, TargetArgs, ViewArgs, duration, named, warehouse_count};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  weighbridge load --warehouses 10                    into the SQLite file weighbridge.db\n  \
    weighbridge load --url postgres://me@localhost/bench --warehouses 100 --jobs 8\n  \
    weighbridge load --resume                           go on with an interrupted load\n  \
    weighbridge load movr --scale 0.1                   MovR, a data set to try statements on\n  \
    weighbridge load mine.toml --scale 10               a workload of your own\n\n\
    One of three clients of one database:\n  weighbridge load --url URL --warehouses 100 --shard 1/3"
)]
pub(crate) struct LoadArgs {
    /// The workload: tpcc, movr, bank, key-value, or a file of your own, such as mine.toml
    #[arg(default_value = "tpcc")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) custom: CustomArgs,
    /// Warehouses to load (about 100 MB each); with --shard those of the whole database [default: 1; with --resume: those
    /// of the load]
    #[arg(long, short = 'w', value_name = "N", value_parser = warehouse_count::<i32>())]
    pub(crate) warehouses: Option<i32>,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "shard", value_parser = warehouse_count::<i32>())]
    pub(crate) first_warehouse: i32,
    /// Warehouses of the whole database, when other clients load the rest [default: up to this client's last]
    #[arg(long, value_name = "N", conflicts_with = "shard", value_parser = warehouse_count::<i32>())]
    pub(crate) total_warehouses: Option<i32>,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Sessions that load side by side [default: the machine's cores; 1 where the database has one writer]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Go on with an interrupted load: every row will be there exactly once
    #[arg(long, conflicts_with = "replace")]
    pub(crate) resume: bool,
    /// Drop the tables that are there
    #[arg(long)]
    pub(crate) replace: bool,
    /// Declare the ten foreign keys
    #[arg(long)]
    pub(crate) foreign_keys: bool,
    /// Declare the ten foreign keys of data that are loaded, and do nothing else
    #[arg(long, conflicts_with_all = ["foreign_keys", "replace", "resume", "warehouses", "shard"])]
    pub(crate) foreign_keys_only: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Seed of all rows and constants: the same seed and load time make the same data on every database
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The date in the rows, as 2026-11-21T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) load_time: Option<jiff::Timestamp>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

/// How the rows come into a cluster, and how they lie in it.
#[derive(Debug, Args)]
#[command(next_help_heading = "In a cluster, where the database has it")]
pub(crate) struct ClusterArgs {
    /// Partition every table but ITEM, and every index, by ranges of warehouses
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) partitions: Option<u32>,
    /// The place of each partition, such as region=a,region=b, or none [default: rack=0,rack=1,... on CockroachDB]
    #[arg(long, value_name = "LIST", value_parser = localities, requires = "partitions")]
    pub(crate) localities: Option<Localities>,
    /// Split every table but ITEM, and every index, into ranges before the rows come [N: one a warehouse, at most 1000]
    #[arg(long, value_name = "N", num_args = 0..=1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) split: Option<Option<u32>>,
    /// Strew the ranges over the nodes before the rows come
    #[arg(long)]
    pub(crate) scatter: bool,
    /// Tablets of every table but ITEM, and of every index
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) tablets: Option<u32>,
    /// How to shard keys [default: hash]
    #[arg(long, value_name = "HOW", value_parser = named(Sharding::NAMES))]
    pub(crate) sharding: Option<Sharding>,
    /// Have the servers fetch the rows as CSV from this client, which listens here: 0.0.0.0:8000
    #[arg(long, value_name = "ADDRESS", conflicts_with = "import_from")]
    pub(crate) import_listen: Option<std::net::SocketAddr>,
    /// How the servers reach that listener [default: http://ADDRESS]
    #[arg(long, value_name = "URL", requires = "import_listen")]
    pub(crate) import_url: Option<String>,
    /// Have the servers fetch the rows from files of `weighbridge generate`: s3://..., nodelocal://1/..., http://...
    #[arg(long, value_name = "LOCATION")]
    pub(crate) import_from: Option<String>,
    /// Commit this many rows at once, outside of distributed transactions, instead of a table of a warehouse
    #[arg(long, value_name = "ROWS", conflicts_with_all = ["import_listen", "import_from"],
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) copy_batch: Option<u32>,
    /// How fast replicas may move while the load lasts, such as 64MiB (a second)
    #[arg(long, value_name = "RATE")]
    pub(crate) snapshot_rate: Option<String>,
    /// Wait at the end until the replicas have come to rest, at most this long
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) settle: Option<Duration>,
}

/// The places of partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Localities {
    /// Bound to none.
    None,
    /// One for each partition.
    Named(Vec<String>),
}

fn localities(text: &str) -> Result<Localities, String> {
    match text {
        "none" => Ok(Localities::None),
        list => {
            let names = list.split(',').map(target::placement::locality).collect::<Result<_, _>>();
            names.map(Localities::Named).map_err(|e| e.to_string())
        }
    }
}
