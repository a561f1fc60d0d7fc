//! Arguments of `completions`.

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
