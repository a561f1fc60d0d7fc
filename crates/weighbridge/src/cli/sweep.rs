//! Arguments of `sweep`, and what `search` shares with it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use target::Isolation;
use workload::tpcc::Style;

use super::{NamedTarget, OutputArgs, PaceArgs, SeriesFormat, TargetArgs, named, named_target, warehouse_count};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    weighbridge sweep --connections 8,16,32,64 --repeat 3 --pacing none --duration 60s\n  \
    weighbridge sweep --url postgres://me@localhost/bench --style batch,pipeline,procedure --connections 16\n\n\
    Two versions, and a cluster that grows:\n  \
    weighbridge sweep --target v2.1=tidb://root@old/tpcc --target v3.0=tidb://root@new/tpcc --connections 128,256,512\n  \
    weighbridge sweep --target ours@1=URL --target ours@4=URL,URL,URL,URL --warehouses-per-node 10 --restore reload\n\n\
    After an interruption:\n  \
    weighbridge sweep --resume --out results/sweep-1 --url URL")]
pub(crate) struct SweepArgs {
    /// The workload: tpcc
    #[arg(default_value = "tpcc")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// A database with a name, instead of --url; several are compared. NODES is for the chart [default: its URLs]
    #[arg(long = "target", value_name = "NAME[@NODES]=URL[,URL]", value_parser = named_target)]
    pub(crate) targets: Vec<NamedTarget>,
    /// Numbers of connections
    #[arg(long, short, value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Vec<u32>,
    /// Numbers of warehouses to drive [default: all that are loaded]
    #[arg(long, short = 'w', value_name = "N,N", value_delimiter = ',', value_parser = warehouse_count::<u32>())]
    pub(crate) warehouses: Vec<u32>,
    /// So many warehouses for each node of a target: the data grow with the cluster
    #[arg(long, value_name = "N", conflicts_with = "warehouses", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) warehouses_per_node: Option<u32>,
    /// So many connections for each node of a target
    #[arg(long, value_name = "N", conflicts_with = "connections", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections_per_node: Option<u32>,
    /// Statement styles
    #[arg(long, value_name = "STYLE,STYLE", value_delimiter = ',', value_parser = named(Style::NAMES))]
    pub(crate) style: Vec<Style>,
    /// Isolation levels
    #[arg(long, value_name = "LEVEL,LEVEL", value_delimiter = ',', value_parser = named(Isolation::NAMES))]
    pub(crate) isolation: Vec<Isolation>,
    /// Runs of each point of the grid; each round goes through all points, in an order of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: u32,
    #[command(flatten)]
    pub(crate) runs: EveryRunArgs,
    #[command(flatten)]
    pub(crate) restore: RestoreArgs,
    /// Seed of the order and of the inputs [default: drawn, and kept in the folder]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The sweep's folder, which must not exist, or be empty [default: results/TIME-sweep]
    #[arg(long, value_name = "DIR", required_if_eq("resume", "true"))]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the sweep in --out: its grid and its order stand there, only the URLs and how to restore are given
    /// again
    #[arg(long, conflicts_with_all = ["connections", "warehouses", "warehouses_per_node", "connections_per_node",
          "style", "isolation", "repeat", "seed", "arguments"])]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs<SeriesFormat>,
}

/// What every run of a series has in common.
#[derive(Debug, Args)]
pub(crate) struct EveryRunArgs {
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    /// More flags of `weighbridge run`, behind `--`
    #[arg(last = true, value_name = "RUN FLAGS")]
    pub(crate) arguments: Vec<String>,
}

/// How the data are brought back to the same state before each run.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// How the data are brought to the same state before each run [default: snapshot on PostgreSQL and SQLite;
    /// elsewhere it must be said]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) restore: Option<Restore>,
    /// More flags of `weighbridge load` for --restore reload, as one word: '--partitions 3 --split'
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub(crate) load_with: Option<String>,
    /// The shell command of --restore command; WEIGHBRIDGE_URL, WEIGHBRIDGE_TARGET and WEIGHBRIDGE_WAREHOUSES tell for what
    #[arg(long, value_name = "COMMAND", required_if_eq("restore", "command"))]
    pub(crate) restore_command: Option<String>,
}

/// Ways to the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Restore {
    /// Set the database aside, and give each run a fresh copy (PostgreSQL, SQLite)
    Snapshot,
    /// Drop the data and load them anew: exactly the warehouses of the run
    Reload,
    /// Leave them: every result says how far they have aged
    None,
    /// Whatever --restore-command does
    Command,
}

impl Restore {
    /// As it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Restore::Snapshot => "snapshot",
            Restore::Reload => "reload",
            Restore::None => "none",
            Restore::Command => "command",
        }
    }
}
