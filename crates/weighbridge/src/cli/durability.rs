//! Arguments of the commands that break things: `acid durability` and `chaos`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{DriveArgs, TargetArgs, duration};
use drive::faults::{Fault, Role, UserCommand};

/// Servers of `weighbridge lab`, which this tool may kill.
#[derive(Debug, Args)]
pub(crate) struct LabTargetArgs {
    /// The servers that `weighbridge lab up KIND` has started, instead of --url
    #[arg(long, value_name = "KIND", conflicts_with = "urls")]
    pub(crate) lab: Option<lab::Kind>,
    /// Where they live [default: as in `lab up`]
    #[arg(long, value_name = "DIR", requires = "lab")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge lab up postgres; weighbridge acid durability --lab postgres\n  \
    weighbridge acid durability --lab galera --node node2\n  \
    weighbridge acid durability --url postgres://me@db/bench --crash-command 'ssh db pkill -9 -x postgres' \
    --restart-command 'ssh db systemctl restart postgresql'\n  \
    weighbridge acid durability --url postgres://me@db/bench --audit results/RUN\n\n\
    Exit status: 0 nothing is missing; 3 something acknowledged is missing, or the data are not consistent.")]
pub(crate) struct DurabilityArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) lab: LabTargetArgs,
    /// Which server of the lab is killed, such as node2 [default: the first]
    #[arg(long, value_name = "NODE", requires = "lab")]
    pub(crate) node: Option<String>,
    /// How long the load goes on before the crash
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub(crate) crash_after: Duration,
    /// What crashes the database, by the shell
    #[arg(long, value_name = "COMMAND", conflicts_with = "lab", required_unless_present_any = ["lab", "audit"],
          value_parser = crash_command)]
    pub(crate) crash_command: Option<UserCommand>,
    /// What starts it again; without one another node is expected to take over. It runs whatever becomes of the run, once
    /// the crash has begun
    #[arg(long, value_name = "COMMAND", requires = "crash_command", value_parser = restart_command)]
    pub(crate) restart_command: Option<UserCommand>,
    /// How long it stays down
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2s")]
    pub(crate) down: Duration,
    /// How long the load goes on after the crash, the time down included
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "20s")]
    pub(crate) duration: Duration,
    /// Warehouses to drive [default: all that are loaded]
    #[arg(long, short = 'w', value_name = "N", value_parser = clap::value_parser!(i32).range(1..=10_000_000))]
    pub(crate) warehouses: Option<i32>,
    /// Connections to the database [default: two a warehouse, 8 to 128; 4 on SQLite]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,
    /// Only hold the ledger of a run that is over against the database, before anything else is done to it
    #[arg(long, value_name = "RUN", conflicts_with_all = ["lab", "crash_command", "out"])]
    pub(crate) audit: Option<PathBuf>,
    /// The run's folder, which must not exist, or be empty [default: results/TIME-durability-DATABASE]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

impl DurabilityArgs {
    /// Refuses a time down that outlasts the run.
    pub(crate) fn fit(&self) -> Result<(), String> {
        let comes_back = self.lab.lab.is_some() || self.restart_command.is_some();
        if comes_back && self.audit.is_none() && self.down >= self.duration {
            let (down, duration) = (self.down.as_secs(), self.duration.as_secs());
            return Err(format!("--down {down}s must be shorter than --duration {duration}s, which it is a part of"));
        }
        Ok(())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "clap asks for it")]
fn crash_command(text: &str) -> Result<UserCommand, String> {
    Ok(UserCommand { role: Role::Crash, text: text.to_owned() })
}

#[expect(clippy::unnecessary_wraps, reason = "clap asks for it")]
fn restart_command(text: &str) -> Result<UserCommand, String> {
    Ok(UserCommand { role: Role::Restart, text: text.to_owned() })
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  weighbridge chaos --lab galera --fault '20s kill node2' --fault '40s restart node2' --duration 90s\n  \
    weighbridge chaos faults.toml --lab postgres --duration 10m\n  \
    weighbridge chaos --url postgres://me@db/bench --fault '30s cut node1' --fault '45s heal node1'\n\n\
    A schedule:\n  [[fault]]\n  at = \"20s\"\n  do = \"kill node2\"\n\n\
    Faults: kill, stop, continue, restart NODE (of a lab); cut, heal, reset NODE, delay NODE TIME (by a proxy of the\n\
    tool's own); command '...'. Times count from the start of the run, the ramp included."
)]
pub(crate) struct ChaosArgs {
    /// A schedule of faults, as TOML
    #[arg(value_name = "SCHEDULE", required_unless_present = "faults")]
    pub(crate) schedule: Option<PathBuf>,
    /// One fault, such as '20s kill node2'
    #[arg(long = "fault", value_name = "FAULT")]
    pub(crate) faults: Vec<Fault>,
    #[command(flatten)]
    pub(crate) lab: LabTargetArgs,
    #[command(flatten)]
    pub(crate) drive: DriveArgs,
}
