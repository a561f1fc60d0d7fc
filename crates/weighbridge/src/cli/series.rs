//! Arguments of the commands that make many runs.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use target::Isolation;
use workload::tpcc::Style;

use super::{PaceArgs, ResultFormat, TargetArgs, duration, duration_or_zero};

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
    #[arg(long, short = 'w', value_name = "N,N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) warehouses: Vec<u32>,
    /// So many warehouses for each node of a target: the data grow with the cluster
    #[arg(long, value_name = "N", conflicts_with = "warehouses", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) warehouses_per_node: Option<u32>,
    /// So many connections for each node of a target
    #[arg(long, value_name = "N", conflicts_with = "connections", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections_per_node: Option<u32>,
    /// Statement styles
    #[arg(long, value_name = "STYLE,STYLE", value_delimiter = ',')]
    pub(crate) style: Vec<Style>,
    /// Isolation levels
    #[arg(long, value_name = "LEVEL,LEVEL", value_delimiter = ',')]
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
    /// How to print the result
    #[arg(long, value_enum, default_value_t = SeriesFormat::Table)]
    format: SeriesFormat,
    /// The same as --format json: one document on standard output, and nothing else there
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl SweepArgs {
    /// What was asked for, in either way.
    pub(crate) fn format(&self) -> ResultFormat {
        if self.json { ResultFormat::Json } else { self.format.into() }
    }
}

/// The forms of the result of many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeriesFormat {
    /// Text in columns
    Table,
    /// One JSON document
    Json,
    /// Markdown, for a review or a chat
    Markdown,
}

impl From<SeriesFormat> for ResultFormat {
    fn from(format: SeriesFormat) -> Self {
        match format {
            SeriesFormat::Table => ResultFormat::Table,
            SeriesFormat::Json => ResultFormat::Json,
            SeriesFormat::Markdown => ResultFormat::Markdown,
        }
    }
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

/// A database with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTarget {
    pub(crate) name: String,
    pub(crate) nodes: Option<u32>,
    pub(crate) urls: Vec<String>,
}

fn named_target(text: &str) -> Result<NamedTarget, String> {
    const FORM: &str = "write NAME=URL, or NAME@NODES=URL,URL, such as v2.1=tidb://root@host/tpcc";
    let (name, urls) = text.split_once('=').ok_or(FORM)?;
    let (name, nodes) = name.split_once('@').map_or((name, None), |(name, nodes)| (name, Some(nodes)));
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(['.', '-']) {
        return Err(format!("a name is of letters, digits, dots and dashes: {FORM}"));
    }
    let nodes = nodes.map(|nodes| nodes.parse().ok().filter(|nodes| *nodes > 0).ok_or(FORM)).transpose()?;
    let urls = urls.split(',').map(str::to_owned).collect();
    Ok(NamedTarget { name: name.to_owned(), nodes, urls })
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    weighbridge search --url postgres://me@localhost/bench --ramp 1m --duration 10m\n\n\
    Each trial is a run at the standard's pace on so many of the loaded warehouses. The number doubles until a run is\n\
    not valid or all are driven, and is then closed in from both sides.")]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Where to begin
    #[arg(long, value_name = "WAREHOUSES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) from: u32,
    /// The most to try [default: all that are loaded]
    #[arg(long, value_name = "WAREHOUSES", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
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
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  weighbridge scenario list\n  weighbridge scenario show yugabytedb\n  \
    weighbridge scenario run yugabytedb --case 1000 --scale 0.01 --url postgres://me@localhost/bench\n\n\
    A NAME may be a file of your own: docs/scenarios.md tells the format.")]
pub(crate) enum ScenarioCommand {
    /// List the published benchmarks that can be repeated
    List(ScenarioListArgs),
    /// Show one: its cluster, its steps, its figures and its known slips
    Show(ScenarioShowArgs),
    /// Repeat one, and hold what it gave against what was published
    Run(Box<ScenarioRunArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct ScenarioListArgs {
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScenarioShowArgs {
    /// A name of `scenario list`, or a file
    pub(crate) name: String,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScenarioRunArgs {
    /// A name of `scenario list`, or a file
    pub(crate) name: String,
    /// Which of its cases [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) case: Option<String>,
    /// All warehouses and connections are multiplied with this
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub(crate) scale: f64,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// A database for each of the scenario's targets, where it has several: NAME=URL
    #[arg(long = "target", value_name = "NAME[@NODES]=URL[,URL]", value_parser = named_target)]
    pub(crate) targets: Vec<NamedTarget>,
    /// Measure this long instead of as long as published
    #[arg(long, value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Ramp this long instead
    #[arg(long, value_parser = duration_or_zero)]
    pub(crate) ramp: Option<Duration>,
    /// Drop the TPC-C data that are there
    #[arg(long)]
    pub(crate) replace: bool,
    /// Leave out flags that need what this database lacks, such as --scatter, and say so
    #[arg(long)]
    pub(crate) adapt: bool,
    /// The folder for its runs, which must not exist, or be empty [default: results/TIME-NAME-CASE]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 1000.0 => Ok(scale),
        _ => Err("write a number above 0, such as 0.01".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_a_name_and_perhaps_nodes() {
        let target = |name: &str, nodes, urls: &[&str]| {
            Ok(NamedTarget { name: name.into(), nodes, urls: urls.iter().map(|url| (*url).to_owned()).collect() })
        };
        assert_eq!(named_target("v2.1=tidb://r@h/t?a=b"), target("v2.1", None, &["tidb://r@h/t?a=b"]));
        assert_eq!(
            named_target("four@4=null:,null:?latency=1ms"),
            target("four", Some(4), &["null:", "null:?latency=1ms"])
        );
        for bad in ["null:", "=null:", "a b=null:", "a@0=null:", "a@x=null:", "../a=null:"] {
            assert!(named_target(bad).is_err(), "{bad}");
        }
    }
}
