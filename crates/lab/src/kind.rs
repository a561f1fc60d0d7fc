//! The databases of which there can be a local server, and what is fixed for each.

use std::fmt;
use std::ops::RangeInclusive;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::{LabError, cockroachdb, galera, mariadb, postgres, tidb, yugabytedb};

/// A database of which there can be a local server or cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// PostgreSQL: one server, or a primary with synchronous standbys.
    Postgres,
    /// MariaDB: one server.
    MariaDb,
    /// MariaDB with Galera: a synchronous cluster in which every node takes writes.
    Galera,
    /// TiDB: one server on its embedded store.
    TiDb,
    /// CockroachDB: a cluster with localities.
    CockroachDb,
    /// YugabyteDB: a cluster with localities.
    YugabyteDb,
}

impl Kind {
    /// Each kind with its name on a command line.
    pub const NAMES: [(Kind, &'static str); 6] = [
        (Kind::Postgres, "postgres"),
        (Kind::MariaDb, "mariadb"),
        (Kind::Galera, "galera"),
        (Kind::TiDb, "tidb"),
        (Kind::CockroachDb, "cockroachdb"),
        (Kind::YugabyteDb, "yugabytedb"),
    ];

    /// All kinds.
    pub fn all() -> impl Iterator<Item = Kind> {
        Self::NAMES.into_iter().map(|(kind, _)| kind)
    }

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// How many nodes it can have here; the first is how many it has unless asked otherwise.
    pub fn nodes(self) -> RangeInclusive<usize> {
        match self {
            Kind::Postgres => 1..=5,
            Kind::MariaDb | Kind::TiDb => 1..=1,
            Kind::Galera | Kind::CockroachDb | Kind::YugabyteDb => 3..=9,
        }
    }

    /// Whether its programs are on this machine.
    ///
    /// # Errors
    /// [`LabError::Missing`] if they are not.
    pub fn installed(self) -> Result<(), LabError> {
        match self {
            Kind::Postgres => postgres::installed().map(drop),
            Kind::MariaDb => mariadb::Programs::find().map(drop),
            Kind::Galera => galera::installed().map(drop),
            Kind::TiDb => tidb::Programs::find().map(drop),
            Kind::CockroachDb => cockroachdb::installed().map(drop),
            Kind::YugabyteDb => yugabytedb::installed().map(drop),
        }
    }

    /// Whether its servers can be put at a distance from each other, each in a region of its own; only if asked for.
    pub fn has_distance(self) -> bool {
        self == Kind::Postgres
    }

    /// Whether its nodes can be told in which region they are; they are always told one.
    pub fn has_regions(self) -> bool {
        matches!(self, Kind::CockroachDb | Kind::YugabyteDb)
    }

    /// Whether its servers take settings by name.
    pub fn takes_settings(self) -> bool {
        matches!(self, Kind::Postgres | Kind::MariaDb)
    }

    /// The URL of a database of the server at `address`, a host with a port. No kind asks for a password.
    pub fn url(self, address: &str, database: &str) -> String {
        match self {
            Kind::Postgres => format!("postgres://postgres@{address}/{database}"),
            Kind::MariaDb | Kind::Galera => format!("mariadb://root@{address}/{database}"),
            Kind::TiDb => format!("tidb://root@{address}/{database}"),
            Kind::CockroachDb => format!("cockroachdb://root@{address}/{database}?sslmode=disable"),
            Kind::YugabyteDb => format!("yugabytedb://yugabyte@{address}/{database}"),
        }
    }

    /// Whom its server runs as when root starts it, for those that refuse root.
    pub(crate) fn user(self) -> Option<&'static str> {
        match self {
            Kind::Postgres => Some("postgres"),
            Kind::MariaDb | Kind::Galera => Some("mysql"),
            Kind::TiDb | Kind::CockroachDb | Kind::YugabyteDb => None,
        }
    }

    /// The signal that ends it, its data not being wanted any more. PostgreSQL must let go of its shared memory,
    /// and YugabyteDB's first process must end the others.
    pub(crate) fn end(self) -> Signal {
        match self {
            Kind::Postgres => Signal::QUIT,
            Kind::YugabyteDb => Signal::TERM,
            Kind::MariaDb | Kind::Galera | Kind::TiDb | Kind::CockroachDb => Signal::KILL,
        }
    }

    /// What marks the lines of its log that say why it doesn't start; where it is empty, all of them do.
    pub(crate) fn complaint(self) -> &'static str {
        match self {
            Kind::Postgres | Kind::YugabyteDb => "",
            Kind::MariaDb | Kind::Galera => "[ERROR]",
            Kind::TiDb => "[FATAL]",
            Kind::CockroachDb => "ERROR",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
