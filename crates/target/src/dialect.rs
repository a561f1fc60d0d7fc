//! What differs between databases: statements, transactions and capabilities. Tables are in [`Ddl`], their place in a
//! cluster in [`DataPlacement`], and what a database tells about itself in [`Introspection`].

use std::fmt;
use std::str::FromStr;

use crate::OwnedValue;
use crate::ddl::Ddl;
use crate::introspection::Introspection;
use crate::placement::DataPlacement;
use crate::wire::WireKind;

/// Whether a transaction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    ReadOnly,
    /// It writes.
    ReadWrite,
}

/// Isolation levels by their SQL names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ (snapshot isolation in PostgreSQL).
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

impl Isolation {
    /// Each level with its name on the command line and in results.
    pub const NAMES: [(Isolation, &'static str); 3] = [
        (Isolation::ReadCommitted, "read-committed"),
        (Isolation::RepeatableRead, "repeatable-read"),
        (Isolation::Serializable, "serializable"),
    ];

    /// The level as SQL writes it.
    pub fn sql(self) -> &'static str {
        match self {
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES.iter().find(|(level, _)| level == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Isolation {
    type Err = UnknownIsolation;

    fn from_str(text: &str) -> Result<Self, UnknownIsolation> {
        let found = Self::NAMES.iter().find(|(_, name)| *name == text);
        found.map(|(level, _)| *level).ok_or_else(|| UnknownIsolation(text.to_owned()))
    }
}

/// A name that no isolation level has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no isolation level: use read-committed, repeatable-read or serializable")]
pub struct UnknownIsolation(String);

/// How a dialect was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// The tests run on real servers of these versions.
    RealServer(&'static str),
    /// The tests have no server: its grammar was checked in this way.
    Grammar(&'static str),
    /// The dialect was written from the documentation, for this reason.
    No(&'static str),
}

impl Verified {
    /// The kind of verification, and its details.
    pub fn said(self) -> (&'static str, &'static str) {
        match self {
            Verified::RealServer(versions) => ("real server", versions),
            Verified::Grammar(how) => ("grammar checked", how),
            Verified::No(why) => ("not verified here", why),
        }
    }
}

/// How one statement changes several rows, each with values of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiRowUpdate {
    /// `UPDATE … FROM … RETURNING`: writes and reads in one statement.
    FromReturning,
    /// `UPDATE … JOIN … SET`, after a `SELECT … FOR UPDATE` of what must be read.
    Join,
    /// It can't: row by row, after a `SELECT … FOR UPDATE` of what must be read.
    OneByOne,
}

/// A database's dialect. What it does not override, standard SQL or its wire decides.
pub trait Dialect: Ddl + DataPlacement + Introspection + Send + Sync {
    /// The database's name: its URL scheme, and its name in results.
    fn name(&self) -> &'static str;

    /// The protocol that it speaks.
    fn wire(&self) -> WireKind;

    /// How this dialect was verified.
    fn verified(&self) -> Verified;

    /// The port of a URL that names none.
    fn default_port(&self) -> u16;

    /// Turns a statement's standard SQL into this database's.
    fn adapt(&self, sql: String) -> String {
        sql
    }

    /// Whether the database runs inside this process, so that its CPU time counts as the tool's.
    fn embedded(&self) -> bool {
        false
    }

    /// Whether the target stores data; if not, it answers what the statements declare ([`crate::null_reply`]).
    fn stores_data(&self) -> bool {
        true
    }

    /// How one statement changes several rows, each with values of its own.
    fn multi_row_update(&self) -> MultiRowUpdate {
        MultiRowUpdate::FromReturning
    }

    /// Whether a session can send statements before the answers to earlier ones have come.
    fn pipelines(&self) -> bool {
        self.wire().defaults().pipelines
    }

    /// The most connections that are of use in a run; `None` for no limit.
    fn useful_connections(&self) -> Option<u32> {
        None
    }

    /// Whether several sessions can write at the same time.
    fn parallel_writers(&self) -> bool {
        true
    }

    /// The isolation levels on offer.
    fn isolations(&self) -> &'static [Isolation];

    /// The weakest level on offer that passes clause 3.4.
    fn default_isolation(&self) -> Isolation;

    /// Whether `level` gives New-Order, Payment, Delivery and Order-Status what clause 3.4.1 asks for.
    fn passes_clause_3_4(&self, level: Isolation) -> bool;

    /// The statement that opens a transaction.
    fn begin(&self, isolation: Isolation, access: Access) -> String {
        let read_only = if access == Access::ReadOnly { " READ ONLY" } else { "" };
        format!("BEGIN ISOLATION LEVEL {}{read_only}", isolation.sql())
    }

    /// The query for the instant so many seconds ago, as [`Dialect::begin_at`] takes it; `None` if the database can't
    /// read the past.
    fn instant(&self, _seconds_ago: u64) -> Option<String> {
        None
    }

    /// The statement that opens a transaction that reads the data as of an instant.
    fn begin_at(&self, _instant: &str) -> String {
        self.begin(self.default_isolation(), Access::ReadOnly)
    }

    /// The query for the server's id of a session. If it changes within one session, a pooler is in between.
    fn backend(&self) -> Option<&'static str> {
        self.wire().defaults().backend
    }

    /// The statement with which another session cancels what the session `backend` is doing; `None` if there is none,
    /// or if the server cancels it as soon as the connection is gone.
    fn cancel(&self, backend: &str) -> Option<String> {
        self.wire().defaults().cancel.map(|sql| sql.replace("{}", backend))
    }

    /// The expression for the server's clock while the statement runs, in whole microseconds since the Unix epoch;
    /// `None` if the server can't be asked.
    fn clock(&self) -> Option<&'static str> {
        self.wire().defaults().clock
    }

    /// A name in the database's own SQL, in quotes if it needs them.
    fn quoted(&self, name: &str) -> String {
        let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if plain && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.to_owned();
        }
        let quote = self.wire().defaults().quote;
        format!("{quote}{}{quote}", name.replace(quote, &format!("{quote}{quote}")))
    }

    /// The placeholder of a statement's value `number`, from 1, in the database's own SQL.
    fn place(&self, number: usize) -> String {
        (self.wire().defaults().placeholder)(number)
    }

    /// A value in the database's own SQL.
    fn literal(&self, value: &OwnedValue) -> String {
        let wire = self.wire().defaults();
        match value {
            OwnedValue::Null => "NULL".to_owned(),
            OwnedValue::Decimal(decimal) if wire.scaled_decimals => decimal.unscaled.to_string(),
            OwnedValue::Int(_) | OwnedValue::Decimal(_) | OwnedValue::Float(_) => value.to_string(),
            OwnedValue::Text(_) | OwnedValue::Timestamp(_) => (wire.text_literal)(&value.to_string()),
        }
    }
}
