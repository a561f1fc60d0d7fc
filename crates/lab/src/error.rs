//! Why a local server can't be had.

use std::path::PathBuf;

/// A failure, in one line that says what to do where something can be done.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The database's programs are not installed.
    #[error("{what} is not installed here: {remedy}")]
    Missing {
        /// What is missing.
        what: &'static str,
        /// What to do about it.
        remedy: &'static str,
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
    /// A node of a cluster that is down altogether, which another outlived.
    #[error("all nodes are down, and `{name}` has not the latest data: `{last}` fell last, and must be started first")]
    NotLast {
        /// The node that was to begin the cluster.
        name: String,
        /// The one that may.
        last: String,
    },
    /// A node of a cluster that is down altogether, of which some ended by themselves.
    #[error("all nodes are down, some by themselves, and `{0}` may not have the latest data: it is not started")]
    NoLast(String),
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
    /// A folder that should describe kept servers doesn't.
    #[error("{}: {reason}", path.display())]
    Undescribed {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A process that was to end goes on.
    #[error("the process {pid} of `{name}` can't be ended from here")]
    Immortal {
        /// Its server.
        name: String,
        /// Its id.
        pid: u32,
    },
    /// [`interrupt`](crate::interrupt) was called.
    #[error("interrupted")]
    Interrupted,
}
