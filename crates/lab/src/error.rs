//! Why a local server can't be had.

use std::path::PathBuf;

/// A failure, in one line that says what to do where something can be done.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The database's programs are not installed.
    #[error("{what} is not installed here: try `{install}`")]
    Missing {
        /// What is missing.
        what: &'static str,
        /// The command that installs it.
        install: &'static str,
    },
    /// A program could not be started, or failed.
    #[error("{program} failed: {reason}")]
    Failed {
        /// The program.
        program: &'static str,
        /// What it said, in one line.
        reason: String,
    },
    /// A server that was to be killed, or asked, is down.
    #[error("the server `{0}` is not running")]
    NotRunning(String),
    /// The server's folder can't be made or written.
    #[error("the folder of a local server: {0}")]
    Folder(#[from] std::io::Error),
    /// The user that the server runs as can't enter its folder.
    #[error("{}: the user `{user}`, whom the server runs as, can't enter this folder: choose another", path.display())]
    Closed {
        /// The folder.
        path: PathBuf,
        /// The user.
        user: &'static str,
    },
    /// [`interrupt`](crate::interrupt) was called.
    #[error("interrupted")]
    Interrupted,
}
