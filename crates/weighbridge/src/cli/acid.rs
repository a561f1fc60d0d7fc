//! Arguments of the tests of clause 3.

use clap::{Args, Subcommand};

use super::DurabilityArgs;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AcidArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AcidCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AcidCommand {
    /// Crash the database under load, and look whether everything it acknowledged is there
    Durability(DurabilityArgs),
}
