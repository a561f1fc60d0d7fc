//! Runs on copies of a database while the database itself is set aside.
//!
//! The user's database is never dropped or written to: it is renamed, a copy takes its name before each run, and the
//! original is renamed back at the end. It keeps all that a copy would lose: on PostgreSQL the object id and the comment,
//! of a file the inode and the owner. The original and up to two copies of it take room at the same time.

mod file;
mod postgres;

use std::time::Duration;

use tokio::sync::watch;

use crate::{Error, Url};
use file::FileSnapshot;
use postgres::DatabaseSnapshot;

/// How long to wait until the last session or process has left a database. A server takes a moment to notice.
const SESSION_EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// A database whose runs drive copies of it.
pub struct Snapshot(Kind);

enum Kind {
    File(FileSnapshot),
    Database(DatabaseSnapshot),
}

/// Why a database can't be set aside, copied or put back.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The database refuses, or a file can't be read or written.
    #[error(transparent)]
    Target(#[from] Error),
    /// A copy would differ from the original in more than its name.
    #[error("{0}")]
    Unfaithful(String),
    /// Something stands where the original or a copy would have to be.
    #[error("{message}\nhint: {hint}")]
    Blocked {
        /// What has the name.
        message: String,
        /// What the user can do about it.
        hint: String,
    },
}

impl SnapshotError {
    /// Whether a further attempt would meet it again: copies of this database can't be had with the rights there are.
    pub fn calls_for_another_choice(&self) -> bool {
        /// `insufficient_privilege`
        const NO_RIGHT: &str = "42501";
        match self {
            Self::Unfaithful(_) => true,
            Self::Target(e) => e.code() == Some(NO_RIGHT),
            Self::Blocked { .. } => false,
        }
    }
}

impl Snapshot {
    /// Describes the copies of the database at `url`; `None` where a database can't be copied as a whole.
    pub fn for_url(url: &Url) -> Option<Self> {
        if let Some(path) = url.file() {
            return Some(Self(Kind::File(FileSnapshot::new(url, path))));
        }
        DatabaseSnapshot::new(url).map(|database| Self(Kind::Database(database)))
    }

    /// Tells whether the original is set aside, as an interrupted series leaves it.
    ///
    /// # Errors
    /// [`SnapshotError::Blocked`] if something has its name that weighbridge did not put there.
    pub async fn is_set_aside(&self) -> Result<bool, SnapshotError> {
        match &self.0 {
            Kind::File(file) => file.is_set_aside(),
            Kind::Database(database) => database.is_set_aside(&mut database.connect().await?).await,
        }
    }

    /// Names the place where the original is now: its own, or where it is set aside.
    ///
    /// # Errors
    /// As [`Snapshot::is_set_aside`].
    pub async fn original(&self) -> Result<Url, SnapshotError> {
        let aside = self.is_set_aside().await?;
        Ok(match &self.0 {
            Kind::File(file) => file.original_url(aside),
            Kind::Database(database) => database.original_url(aside),
        })
    }

    /// Puts a fresh copy in the original's place, and sets the original aside if it isn't yet. Returns early, with all in
    /// order, once `stop` is true.
    ///
    /// # Errors
    /// [`SnapshotError::Unfaithful`] if the copy would differ; [`SnapshotError::Blocked`]; the database's refusal, such as
    /// of a session that is still inside.
    pub async fn begin_run(&self, stop: &watch::Receiver<bool>) -> Result<(), SnapshotError> {
        match &self.0 {
            Kind::File(file) => file.begin_run(stop).await,
            Kind::Database(database) => database.begin_run(stop).await,
        }
    }

    /// Puts the original back in its place and removes the copies. Does nothing where the original is not set aside.
    ///
    /// # Errors
    /// As [`Snapshot::begin_run`].
    pub async fn put_back(&self) -> Result<(), SnapshotError> {
        match &self.0 {
            Kind::File(file) => file.put_back().await,
            Kind::Database(database) => database.put_back().await,
        }
    }

    /// Says that the original is set aside, and where.
    pub fn set_aside_notice(&self) -> String {
        match &self.0 {
            Kind::File(file) => file.set_aside_notice(),
            Kind::Database(database) => database.set_aside_notice(),
        }
    }

    /// Says how to put the original back by hand.
    pub fn manual_recovery(&self) -> String {
        match &self.0 {
            Kind::File(file) => file.manual_recovery(),
            Kind::Database(database) => database.manual_recovery(),
        }
    }
}
