//! Arguments of the live view.

use clap::Args;

/// How a command shows what it does.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Plain lines on a terminal, too, instead of the live view
    #[arg(long)]
    no_tui: bool,
}

impl ViewArgs {
    /// Whether a live view is shown.
    pub(crate) fn live(&self) -> bool {
        !self.no_tui && crate::tui::possible()
    }
}
