//! What can go wrong with a run folder, each in one line that says what, where and what to do.

use std::path::{Path, PathBuf};

/// An error about a run folder or one of its files.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder for a new run already holds something.
    #[error("{}: the run folder is not empty; name another with --out, or remove it", .path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A file that every run folder has is not there.
    #[error("{}: no such file; is this a run folder?", .path.display())]
    Missing {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// The operating system refused a read or a write.
    #[error("{}: cannot {action}: {source}", .path.display())]
    Io {
        /// What was attempted: `create`, `write`, `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file is damaged or is something else; its position is known.
    #[error("{}:{line}: {detail}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// What is wrong there and what was expected.
        detail: String,
    },
    /// The record was written by a newer tool.
    #[error("{}: record version {found}, and this tool reads versions up to {known}; use a newer weighbridge", .path.display())]
    TooNew {
        /// The run.json.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version known.
        known: u32,
    },
}

impl RecordError {
    /// An I/O error with what was attempted; a file that is not there becomes [`RecordError::Missing`].
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        let path = path.to_path_buf();
        match (action, source.kind()) {
            ("read", std::io::ErrorKind::NotFound) => RecordError::Missing { path },
            _ => RecordError::Io { action, path, source },
        }
    }
}
