//! Arguments of `merge`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;

#[derive(Debug, Args)]
#[command(after_help = "Example, of two machines that drove 500 warehouses each:\n  \
    weighbridge merge results/client-1 results/client-2 --out results/both")]
pub(crate) struct MergeArgs {
    /// The clients' runs: folders, archives of them (.tar, .tar.gz), or URLs of object stores (s3://, gs://, az://, https://)
    ///
    /// Accounts and secrets of object stores come from the environment (AWS_ACCESS_KEY_ID and the like).
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(crate) runs: Vec<String>,
    /// The folder for the merged run, which reads like any other; it must not exist, or be empty
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Merge runs that differ in plan, data or version too, and say so in the result
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
