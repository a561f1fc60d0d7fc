//! Arguments of `chaos`.

use std::path::PathBuf;

use clap::Args;
use drive::faults::Fault;

use super::{DriveArgs, LabTargetArgs};

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
