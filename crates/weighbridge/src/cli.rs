//! The command line: what may be said, and its help. Parsing checks form only.

mod acid;
mod definitions;
mod durability;
mod fleet;
mod lab;
mod metrics;
mod repeating;
mod results;
mod series;
mod serve;
mod tuning;
mod view;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use ::workload::tpcc::Style;
use ::workload::tpcc::schema::TABLES;
use clap::{Args, Parser, Subcommand};
use target::Isolation;
use target::placement::Sharding;

pub(crate) use acid::{AcidArgs, AcidCommand};
pub(crate) use definitions::{CompletionsArgs, ManArgs};
pub(crate) use drive::duration_or_zero;
pub(crate) use durability::{ChaosArgs, DurabilityArgs, LabTargetArgs};
pub(crate) use fleet::{FleetArgs, ShardArgs, StartArgs};
pub(crate) use lab::{LabCommand, LabDownArgs, LabFolderArgs, LabRegionsArgs, LabStatusArgs, LabUpArgs};
pub(crate) use metrics::MetricsArgs;
pub(crate) use repeating::{ProtocolName, TimeArgs, TransactionName, ValueArgs};
pub(crate) use results::{CompareArgs, CompareFormat, MergeArgs, OutputArgs, ResultFormat, VerifyArgs};
pub(crate) use series::{
    EveryRunArgs, NamedTarget, Restore, RestoreArgs, ScenarioCommand, ScenarioRunArgs, SearchArgs, SweepArgs,
};
pub(crate) use serve::{ServeArgs, USUAL_RESULTS};
pub(crate) use tuning::{AdviseArgs, TuneCommand, TuneListArgs, TuneRunArgs, TuneShowArgs};
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
    Targets(TargetsArgs),
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

/// Where the database is.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// The database: sqlite:FILE, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or the same with mysql, mariadb, tidb,
    /// cockroachdb or yugabytedb; null: is none, and weighs the tool. `weighbridge targets` lists all
    ///
    /// A password may also come from PGPASSWORD, ~/.pgpass, MYSQL_PWD or ODBC_PASSWORD; it is never shown or stored.
    /// Several URLs, given one by one or as a list, are several gateways of one cluster; connections are dealt out
    /// evenly over them.
    #[arg(long = "url", env = "WEIGHBRIDGE_URL", hide_env_values = true, default_value = target::DEFAULT_URL)]
    pub(crate) urls: Vec<String>,
}

impl TargetArgs {
    /// Refuses a URL that was typed beside named targets, which stand instead of it; one of the environment may be there.
    pub(crate) fn beside(&self, targets: &[NamedTarget]) -> Result<(), String> {
        let usual = std::env::var("WEIGHBRIDGE_URL").unwrap_or_else(|_| target::DEFAULT_URL.to_owned());
        match targets.is_empty() || self.urls == [usual] {
            true => Ok(()),
            false => {
                Err("--url beside --target: name each database with --target NAME=URL, or the only one with --url"
                    .to_owned())
            }
        }
    }
}

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
    #[arg(long, short = 'w', value_name = "N", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) warehouses: Option<i32>,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "shard", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) first_warehouse: i32,
    /// Warehouses of the whole database, when other clients load the rest [default: up to this client's last]
    #[arg(long, value_name = "N", conflicts_with = "shard", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
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
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
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
    /// Shard keys by hash or by range [default: hash]
    #[arg(long, value_name = "HOW")]
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

fn localities(text: &str) -> Result<Localities, target::placement::PlacementError> {
    match text {
        "none" => Ok(Localities::None),
        list => list.split(',').map(target::placement::locality).collect::<Result<_, _>>().map(Localities::Named),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge run --duration 5m                        at the standard's pace\n  \
    weighbridge run --pacing none --connections 8 --duration 60s --check\n  \
    weighbridge run --url postgres://me@localhost/bench --warehouses 10 --ramp 30s --duration 2h")]
pub(crate) struct RunArgs {
    /// The workload: tpcc, movr, bank, key-value, or a file of your own, such as mine.toml
    #[arg(default_value = "tpcc")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) drive: DriveArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// All that a run is asked to do.
#[derive(Debug, Args)]
pub(crate) struct DriveArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Warehouses to drive; with --shard those of the whole fleet [default: all that are loaded]
    #[arg(long, short = 'w', value_name = "N", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) warehouses: Option<i32>,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "shard", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) first_warehouse: i32,
    /// Warehouses driven by all clients together; remote ones are drawn from these [default: this client's]
    #[arg(long, value_name = "N", conflicts_with = "shard", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) total_warehouses: Option<i32>,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    #[command(flatten)]
    pub(crate) start: StartArgs,
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    /// Connections to the database [default: two a warehouse, 8 to 128; 8 for another workload than tpcc; 4 on SQLite]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,
    /// What binds terminals to gateways: none, or their warehouse (gateway i of n serves the i-th slice of them)
    #[arg(long, value_name = "WHAT", default_value = "none")]
    pub(crate) affinity: drive::Affinity,
    /// Terminals [default: ten a warehouse; with --pacing none: as many as connections]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) terminals: Option<u32>,
    /// How transactions are sent: row (a row a statement), batch (multi-row statements), pipeline (batch, and statements
    /// that don't wait for each other in one flight) or procedure (a call of a routine inside the server)
    #[arg(long, default_value = "batch")]
    pub(crate) style: Style,
    /// The mix: standard (weights 45/43/4/4/4), deck (23 cards), or new_order=45,payment=43,...
    #[arg(long, default_value = "standard")]
    pub(crate) mix: tpcc::mix::Mix,
    /// Isolation level: read-committed, repeatable-read or serializable [default: the weakest that passes clause 3.4]
    #[arg(long)]
    pub(crate) isolation: Option<Isolation>,
    /// Seed of all inputs: the same seed makes the same terminals [default: drawn, and shown]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where this client stands, such as eu-west: `merge` has a figure for each region
    #[arg(long, value_name = "NAME", value_parser = region)]
    pub(crate) region: Option<String>,
    /// What to do about errors that would come again (refusals, rows missing): stop at the first, or go-on to the end
    /// [default: stop if nothing succeeds]. Lost connections and conflicts never stop a run
    #[arg(long, value_name = "WHAT")]
    pub(crate) on_error: Option<drive::OnError>,
    /// Time each statement by itself, and say where the time of a transaction goes
    #[arg(long)]
    pub(crate) statements: bool,
    /// Check the consistency conditions after the run
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    /// The run's folder, which must not exist, or be empty [default: results/TIME-tpcc-DATABASE-Ww; of another workload
    /// results/TIME-WORKLOAD-DATABASE]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How long a run takes, and how fast its terminals are.
#[derive(Debug, Args)]
pub(crate) struct PaceArgs {
    /// Time before the measurement begins
    #[arg(long, value_parser = duration_or_zero, default_value = "30s", allow_hyphen_values = true)]
    pub(crate) ramp: Duration,
    /// How long to measure (the standard's interval is 2h)
    #[arg(long, value_parser = duration, default_value = "5m", allow_hyphen_values = true)]
    pub(crate) duration: Duration,
    /// Keying and think times: standard, none, or a factor that both are multiplied with
    #[arg(long, value_parser = pacing, default_value = "standard", allow_hyphen_values = true)]
    pub(crate) pacing: drive::Pacing,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge check --url postgres://me@localhost/bench --jobs 4")]
pub(crate) struct CheckArgs {
    /// The workload: tpcc, movr, bank, key-value, or a file of your own, such as mine.toml
    #[arg(default_value = "tpcc")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Warehouses to check; with --shard those of all processes [default: all that are loaded]
    #[arg(long, short = 'w', value_name = "N", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) warehouses: Option<i32>,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "shard", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) first_warehouse: i32,
    #[command(flatten)]
    pub(crate) part: ShardArgs,
    /// Sessions that check side by side [default: the machine's cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// TopologyQuery at the data as they were so long ago, such as -10s, without disturbing a run, where the database can
    #[arg(long, value_name = "TIME", value_parser = ago, allow_hyphen_values = true)]
    pub(crate) as_of: Option<Duration>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated, no header, NULL as an empty field
    Csv,
    /// Apache Parquet, in a program that was built with it
    Parquet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge generate --warehouses 10 --out csv\n  \
    weighbridge generate --warehouses 50 --first-warehouse 51 --total-warehouses 100 --out csv\n  \
    weighbridge generate --warehouses 10 --table stock --out - | zstd >stock.csv.zst")]
pub(crate) struct GenerateArgs {
    /// Warehouses to generate (about 100 MB each)
    #[arg(long, short = 'w', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) warehouses: i32,
    /// The first of them; the item table comes with warehouse 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) first_warehouse: i32,
    /// Warehouses of the whole database [default: up to the last of this slice]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) total_warehouses: Option<i32>,
    /// The files' format
    #[arg(long, value_enum, default_value = "csv")]
    pub(crate) format: Format,
    /// The folder for the files, one a table; `-` is standard output, which takes one table
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// This table alone
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(TABLES.map(|table| table.name)))]
    pub(crate) table: Option<String>,
    /// Threads [default: the machine's cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Seed of all rows: the same as in `load` makes the same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The date in the rows, as 2026-11-21T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) load_time: Option<jiff::Timestamp>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge report results/2026-11-21T14-03-07Z-tpcc-postgres-10w\n  \
    weighbridge report results/2026-11-21T14-03-07Z-tpcc-postgres-10w --html     its page again, report.html")]
pub(crate) struct ReportArgs {
    /// The run's folder or an archive of it, or the folder of a sweep
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Also write the run's page anew: one file that needs nothing else
    #[arg(long)]
    pub(crate) html: bool,
    /// The page's file [default: report.html in the run's folder]
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge topology --url postgres://me@localhost/bench")]
pub(crate) struct TopologyArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge doctor --url postgres://me@localhost/bench --connections 64")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Warehouses of the run to come [default: all that are loaded]
    #[arg(long, short = 'w', value_name = "N", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) warehouses: Option<i32>,
    /// Its connections [default: two a warehouse, 8 to 128; 4 on SQLite]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,
    /// Make all checks of the data, as `weighbridge check` does, instead of three cheap ones
    #[arg(long)]
    pub(crate) check: bool,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TargetsArgs {
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

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
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge null-server --warehouses 10000 &\n  \
    weighbridge run --url postgres://null@127.0.0.1:5439/null --style pipeline")]
pub(crate) struct NullServerArgs {
    /// Where to listen; port 0 takes any that is free. The URL is the first line of standard output
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5439")]
    pub(crate) listen: std::net::SocketAddr,
    /// Warehouses of which it says that they are loaded
    #[arg(long, short = 'w', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) warehouses: i32,
    /// How long each round trip takes besides, such as 5ms
    #[arg(long, value_name = "TIME", value_parser = target::null::parse_delay, default_value = "0s")]
    pub(crate) latency: Duration,
    /// At most this much less or more
    #[arg(long, value_name = "TIME", value_parser = target::null::parse_delay, default_value = "0s")]
    pub(crate) spread: Duration,
}

/// A name that can stand in a locality of any database.
fn region(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(fits) {
        return Err("use letters, digits, - and _, and commas between names".to_owned());
    }
    Ok(text.to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    match duration_or_zero(text)? {
        Duration::ZERO => Err("must be at least 1s".to_owned()),
        duration => Ok(duration),
    }
}

fn response(text: &str) -> Result<Duration, String> {
    let parsed: Option<jiff::SignedDuration> = text.parse().ok();
    let time = parsed.and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "write a time above 0, such as 250ms or 1.2s".to_owned())
}

fn ago(text: &str) -> Result<Duration, String> {
    let Some(ago) = text.strip_prefix('-') else {
        return Err("write how long ago with a minus sign, such as -10s".to_owned());
    };
    duration(ago)
}

fn pacing(text: &str) -> Result<drive::Pacing, String> {
    match text {
        "standard" => Ok(drive::Pacing::Standard),
        "none" => Ok(drive::Pacing::None),
        factor => match factor.parse::<f64>() {
            Ok(1.0) => Ok(drive::Pacing::Standard),
            Ok(0.0) => Ok(drive::Pacing::None),
            Ok(factor) if factor > 0.0 && factor <= 1000.0 => Ok(drive::Pacing::Factor(factor)),
            _ => Err("use standard, none, or a factor such as 0.5 (up to 1000)".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_are_whole_seconds_within_reason() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        for bad in ["0s", "-5s", "1.5s", "five", "", "5", "400d", "99999999999999999999h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert_eq!(duration_or_zero("0s"), Ok(Duration::ZERO));
    }

    #[test]
    fn a_region_is_a_plain_name() {
        assert_eq!(region("eu-west_1"), Ok("eu-west_1".to_owned()));
        for bad in ["", "a b", "a.b", "a=b", "ü"] {
            assert!(region(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pacing_is_standard_none_or_a_factor() {
        assert_eq!(pacing("1"), Ok(drive::Pacing::Standard));
        assert_eq!(pacing("0"), Ok(drive::Pacing::None));
        assert_eq!(pacing("0.5"), Ok(drive::Pacing::Factor(0.5)));
        for bad in ["-1", "NaN", "inf", "fast", "1001"] {
            assert!(pacing(bad).is_err(), "{bad}");
        }
    }
}
