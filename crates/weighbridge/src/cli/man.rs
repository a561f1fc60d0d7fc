//! Arguments of `man`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge man | man -l -\n  weighbridge man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, which is made if need be
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
