//! A copy of a whole database beside it, to bring it back to the same state again and again.
//!
//! The copy is the database's own: a database made of another as its template, or a file. It lies on the same server, so
//! it takes the same room once more, until it is discarded.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, Session, Url};

/// What the copy's name ends with.
const SUFFIX: &str = "_weighbridge_snapshot";

/// How long a server may take to notice that the last session has gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(200);

/// Where the copy of a database lies.
pub enum Snapshot {
    /// A file beside the file.
    File {
        /// The database.
        url: Url,
        /// Its file.
        file: PathBuf,
        /// The copy.
        copy: PathBuf,
    },
    /// A database beside the database.
    Database {
        /// A way to the server that enters neither of them.
        server: Url,
        /// The database's name.
        name: String,
        /// The copy's.
        copy: String,
    },
}

impl Snapshot {
    /// The snapshot that there may be of a database; `None` where the database has no cheap copy.
    pub fn of(url: &Url) -> Option<Self> {
        if let Some(file) = url.file() {
            return Some(Self::File { url: url.clone(), file: file.to_owned(), copy: beside(file, SUFFIX) });
        }
        let (server, name) = url.maintenance()?;
        Some(Self::Database { server, copy: format!("{name}{SUFFIX}"), name })
    }

    /// Takes it; an earlier one is replaced.
    ///
    /// # Errors
    /// The database's refusal, such as of a session that is still inside; a full disk.
    pub async fn take(&self) -> Result<(), Error> {
        self.discard().await?;
        match self {
            Self::File { url, file, copy } => {
                Session::connect(url).await?.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
                copy_file(file, copy)
            }
            Self::Database { server, name, copy } => {
                alone(server, &format!("CREATE DATABASE {} TEMPLATE {}", quoted(copy), quoted(name))).await
            }
        }
    }

    /// Brings the database back to it.
    ///
    /// # Errors
    /// As [`Snapshot::take`].
    pub async fn restore(&self) -> Result<(), Error> {
        match self {
            Self::File { file, copy, .. } => {
                for end in ["-wal", "-shm"] {
                    remove(&beside(file, end))?;
                }
                copy_file(copy, file)
            }
            Self::Database { server, name, copy } => {
                alone(server, &format!("DROP DATABASE IF EXISTS {}", quoted(name))).await?;
                alone(server, &format!("CREATE DATABASE {} TEMPLATE {}", quoted(name), quoted(copy))).await
            }
        }
    }

    /// Whether there is one.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn is_there(&self) -> Result<bool, Error> {
        match self {
            Self::File { copy, .. } => Ok(copy.exists()),
            Self::Database { server, copy, .. } => {
                let sql = format!("SELECT COUNT(*) FROM pg_database WHERE datname = '{}'", copy.replace('\'', "''"));
                Session::connect(server).await?.query(&sql, &[]).await?.only()?.big(0).map(|count| count == 1)
            }
        }
    }

    /// Gives its room back; none that is there is none to discard.
    ///
    /// # Errors
    /// As [`Snapshot::take`].
    pub async fn discard(&self) -> Result<(), Error> {
        match self {
            Self::File { copy, .. } => remove(copy),
            Self::Database { server, copy, .. } => {
                alone(server, &format!("DROP DATABASE IF EXISTS {}", quoted(copy))).await
            }
        }
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { copy, .. } => write!(f, "the file {}", copy.display()),
            Self::Database { copy, .. } => write!(f, "the database {copy}"),
        }
    }
}

/// Executes what needs a database that nobody is in.
async fn alone(server: &Url, sql: &str) -> Result<(), Error> {
    /// `object_in_use`
    const IN_USE: &str = "55006";
    let mut session = Session::connect(server).await?;
    let mut left = PATIENCE;
    loop {
        match session.execute(sql).await {
            Err(e) if e.code() == Some(IN_USE) && !left.is_zero() => {
                tokio::time::sleep(PAUSE).await;
                left = left.saturating_sub(PAUSE);
            }
            done => return done.map_err(|e| e.context(sql)),
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(end);
    name.into()
}

fn copy_file(from: &Path, to: &Path) -> Result<(), Error> {
    let failed = |e: io::Error| Error::permanent(format!("can't copy {} to {}: {e}", from.display(), to.display()));
    std::fs::copy(from, to).map(|_| ()).map_err(failed)
}

fn remove(file: &Path) -> Result<(), Error> {
    match std::fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(Error::permanent(format!("can't remove {}: {e}", file.display())))
        }
        _ => Ok(()),
    }
}
