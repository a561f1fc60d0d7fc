//! Arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;

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
