//! Arguments of `scenario`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{JsonArgs, NamedTarget, TargetArgs, duration, duration_or_zero, named_target};

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  weighbridge scenario list\n  weighbridge scenario show yugabytedb\n  \
    weighbridge scenario run yugabytedb --case 1000 --scale 0.01 --url postgres://me@localhost/bench\n\n\
    A NAME may be a file of your own: docs/scenarios.md tells the format.")]
pub(crate) enum ScenarioCommand {
    /// List the published benchmarks that can be repeated
    List(JsonArgs),
    /// Show one: its cluster, its steps, its figures and its known slips
    Show(ScenarioShowArgs),
    /// Repeat one, and hold what it gave against what was published
    Run(Box<ScenarioRunArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct ScenarioShowArgs {
    /// A name of `scenario list`, or a file
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
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
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 1000.0 => Ok(scale),
        _ => Err("write a number above 0, such as 0.01".to_owned()),
    }
}
