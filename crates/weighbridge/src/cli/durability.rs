//! Arguments of `acid durability`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{JsonArgs, LabTargetArgs, TargetArgs, duration, warehouse_count};
use drive::faults::{Role, UserCommand};

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
    #[arg(long, short = 'w', value_name = "N", value_parser = warehouse_count::<i32>())]
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
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

impl DurabilityArgs {
    /// Refuses a time down that outlasts the run.
    pub(crate) fn fit(&self) -> Result<(), String> {
        let comes_back = self.lab.lab.is_some() || self.restart_command.is_some();
        if comes_back && self.audit.is_none() && self.down >= self.duration {
            let down = self.down.as_secs();
            let duration = self.duration.as_secs();
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
