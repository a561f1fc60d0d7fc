//! Arguments of the commands that write the command line's own definitions down: completions and man pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  weighbridge completions bash > ~/.local/share/bash-completion/completions/weighbridge\n  \
    weighbridge completions zsh > ~/.zfunc/_weighbridge          where fpath names ~/.zfunc\n  \
    weighbridge completions fish > ~/.config/fish/completions/weighbridge.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge man | man -l -\n  weighbridge man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, which is made if need be
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
