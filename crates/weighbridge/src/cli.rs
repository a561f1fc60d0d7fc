//! The command line: what may be said, and its help. Parsing checks form only.

mod acid;
mod advise;
mod calibrate;
mod chaos;
mod check;
mod compare;
mod completions;
mod demo;
mod doctor;
mod durability;
mod durations;
mod fleet;
mod generate;
mod lab;
mod load;
mod man;
mod merge;
mod metrics;
mod null_server;
mod output;
mod parsers;
mod report;
mod run;
mod scenario;
mod search;
mod serve;
mod sweep;
mod target;
mod time;
mod topology;
mod tune;
mod verify;
mod view;
mod workload;

use clap::{Parser, Subcommand};

pub(crate) use acid::{AcidArgs, AcidCommand};
pub(crate) use advise::AdviseArgs;
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use chaos::ChaosArgs;
pub(crate) use check::CheckArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use completions::CompletionsArgs;
pub(crate) use demo::DemoArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use durability::DurabilityArgs;
use durations::duration;
pub(crate) use durations::duration_or_zero;
pub(crate) use fleet::{FleetArgs, ShardArgs, StartArgs};
pub(crate) use generate::{Format, GenerateArgs};
pub(crate) use lab::{LabCommand, LabDownArgs, LabFolderArgs, LabRegionsArgs, LabStatusArgs, LabTargetArgs, LabUpArgs};
pub(crate) use load::{ClusterArgs, LoadArgs, Localities};
pub(crate) use man::ManArgs;
pub(crate) use merge::MergeArgs;
pub(crate) use metrics::MetricsArgs;
pub(crate) use null_server::NullServerArgs;
pub(crate) use output::{JsonArgs, OutputArgs, ResultFormat, SeriesFormat};
use parsers::{named, region, response, warehouse_count};
pub(crate) use report::ReportArgs;
pub(crate) use run::{DriveArgs, PaceArgs, RunArgs};
pub(crate) use scenario::{ScenarioCommand, ScenarioRunArgs};
pub(crate) use search::SearchArgs;
pub(crate) use serve::{ServeArgs, USUAL_RESULTS};
pub(crate) use sweep::{EveryRunArgs, Restore, RestoreArgs, SweepArgs};
use target::named_target;
pub(crate) use target::{NamedTarget, TargetArgs};
pub(crate) use time::{TimeArgs, ValueArgs};
pub(crate) use topology::TopologyArgs;
pub(crate) use tune::{TuneCommand, TuneRunArgs, TuneShowArgs};
pub(crate) use verify::VerifyArgs;
pub(crate) use view::ViewArgs;
pub(crate) use workload::{CustomArgs, WorkloadCommand, refuse_other_flags};

/// Tells the truth about your SQL database under TPC-C.
///
/// It loads the TPC-C data set, drives faithful terminals at the database, and says what the database carried and
/// whether the reading can be believed.
#[derive(Debug, Parser)]
#[command(version, long_version = crate::version::long(), propagate_version = true, max_term_width = 110)]
#[command(
    after_help = "Start here:\n  weighbridge demo                          all of it on embedded SQLite, in a minute\n\
    \n  weighbridge load --url postgres://me@localhost/bench --warehouses 10\n  \
    weighbridge run  --url postgres://me@localhost/bench --duration 5m\n\n\
    Exit status: 0 done; 1 failed; 2 wrong usage; 3 done, but the verdict is `invalid` or a check failed."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load, run, check and report on embedded SQLite, with nothing to install
    Demo(DemoArgs),
    /// Create the schema and load the initial data
    Load(LoadArgs),
    /// Drive the terminals and measure
    Run(RunArgs),
    /// Check the twelve consistency conditions, more invariants, and the rules of fresh data
    Check(CheckArgs),
    /// Test atomicity, consistency and isolation as clause 3 asks, and what else each isolation level lets through
    Acid(AcidArgs),
    /// Drive the terminals while servers die and networks fail, and audit what is left
    Chaos(ChaosArgs),
    /// Write the initial data as CSV or Parquet files
    Generate(GenerateArgs),
    /// Print the result of a run again, from its folder alone
    Report(ReportArgs),
    /// Make one result of the runs of many clients
    Merge(MergeArgs),
    /// Tell what changed between two runs, and whether chance explains it
    Compare(CompareArgs),
    /// Judge a claimed figure without a run: can it be true?
    Verify(VerifyArgs),
    /// Run a grid of connections, warehouses, styles and databases: one table and one chart
    Sweep(SweepArgs),
    /// Find the most warehouses that a database holds with a valid result
    Search(SearchArgs),
    /// Repeat a published benchmark, and hold the results side by side
    #[command(subcommand)]
    Scenario(ScenarioCommand),
    /// Show results in a browser: the list, runs while they go, comparisons, sweeps
    Serve(ServeArgs),
    /// Repeat a statement, tell its times and their spread, and compare two
    Time(TimeArgs),
    /// Measure what each tuning technique is worth on a database
    #[command(subcommand)]
    Tune(TuneCommand),
    /// Propose indexes and other forms for a statement, and try each for real
    Advise(AdviseArgs),
    /// List the workloads that come with the program besides TPC-C, and read files of your own
    #[command(subcommand)]
    Workload(WorkloadCommand),
    /// Show the nodes, and how tables, indexes and partitions lie on them
    Topology(TopologyArgs),
    /// Examine whether this client and this target are fit to be measured
    Doctor(DoctorArgs),
    /// List the databases, what each can do, and how that was verified
    Targets(JsonArgs),
    /// Weigh the tool itself on this machine: how large a run is it fit for?
    Calibrate(CalibrateArgs),
    /// Serve answers without data on PostgreSQL's wire, to weigh this tool or another client
    NullServer(NullServerArgs),
    /// Start, stop and list local servers to try things on
    #[command(subcommand)]
    Lab(LabCommand),
    /// Write the completions for a shell to standard output
    Completions(CompletionsArgs),
    /// Write the manual's pages: one for each command into a folder, or the program's own to standard output
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
