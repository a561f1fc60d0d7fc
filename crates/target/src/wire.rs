//! Wires: how statements travel to a database. One file per wire, all with the same layout.

use std::collections::BTreeMap;

use crate::bulk::{Bulk, BulkOptions};
use crate::schema::Table;
use crate::scratch_schema::SchemaSql;
use crate::url::Endpoint;
use crate::{Access, Answer, Dialect, Error, Isolation, Protocol, Statement, StatementBatch, Value};

pub(crate) mod mysql;
pub(crate) mod null;
pub(crate) mod odbc;
pub(crate) mod pg;
pub(crate) mod sqlite;

/// The protocol that a database speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireKind {
    /// MySQL's.
    Mysql,
    /// No protocol: this process makes the answers.
    Null,
    /// The protocol of an ODBC driver.
    Odbc,
    /// PostgreSQL's.
    Postgres,
    /// No protocol: SQLite runs inside this process.
    Sqlite,
}

impl WireKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.defaults().name
    }

    /// How rows are loaded over it.
    pub fn bulk_path(self) -> &'static str {
        self.defaults().bulk_path
    }

    pub(crate) fn defaults(self) -> &'static WireDefaults {
        match self {
            WireKind::Mysql => &mysql::DEFAULTS,
            WireKind::Null => &null::DEFAULTS,
            WireKind::Odbc => &odbc::DEFAULTS,
            WireKind::Postgres => &pg::DEFAULTS,
            WireKind::Sqlite => &sqlite::DEFAULTS,
        }
    }
}

/// What databases with the same wire have in common, unless their dialect overrides it.
#[derive(Debug)]
pub(crate) struct WireDefaults {
    pub(crate) name: &'static str,
    pub(crate) bulk_path: &'static str,
    /// Whether several databases share this wire, and `SELECT version()` tells which one answers.
    pub(crate) tells_version: bool,
    /// [`crate::Dialect::pipelines`].
    pub(crate) pipelines: bool,
    /// [`crate::Dialect::backend`].
    pub(crate) backend: Option<&'static str>,
    /// [`crate::Dialect::cancel`], with `{}` for the backend.
    pub(crate) cancel: Option<&'static str>,
    /// [`crate::Dialect::clock`].
    pub(crate) clock: Option<&'static str>,
    /// The statements for a scratch schema; `None` if the database can't have one.
    pub(crate) scratch_schema: Option<SchemaSql>,
    /// The quote around names.
    pub(crate) quote: char,
    /// [`crate::Dialect::place`].
    pub(crate) placeholder: fn(usize) -> String,
    /// Text as a literal.
    pub(crate) text_literal: fn(&str) -> String,
    /// Whether decimals are stored as integers of their last digit.
    pub(crate) scaled_decimals: bool,
    /// The queries for a table's columns and indexes; `None` if the catalog can't be asked.
    pub(crate) catalog: Option<CatalogSql>,
    /// DROP INDEX, with `{index}` and `{table}` for the names.
    pub(crate) drop_index: &'static str,
}

/// Queries about the table named `$1`.
#[derive(Debug)]
pub(crate) struct CatalogSql {
    /// The names of its columns, in order.
    pub(crate) columns: &'static str,
    /// A row per index and column, in order: the index, the column (empty for an expression), and `partial` or nothing.
    pub(crate) indexes: &'static str,
    /// Its bytes with those of its indexes, if [`crate::topology`] leaves them out.
    pub(crate) bytes: Option<&'static str>,
}

impl WireDefaults {
    /// Standard SQL.
    pub(crate) const STANDARD: Self = Self {
        name: "",
        bulk_path: "",
        tells_version: false,
        pipelines: false,
        backend: None,
        cancel: None,
        clock: None,
        scratch_schema: None,
        quote: '"',
        placeholder: |_| "?".to_owned(),
        text_literal: |text| format!("'{}'", text.replace('\'', "''")),
        scaled_decimals: false,
        catalog: None,
        drop_index: "DROP INDEX {index}",
    };
}

/// A session on one wire: the common part of all wires.
///
/// [`crate::Session`] calls it with [`dispatch!`], so that no call is virtual and no future is boxed. A call that fails
/// returns the database's refusal.
pub(crate) trait Wire {
    /// The dialect found out while connecting, if the URL's dialect leaves something open.
    fn learned_dialect(&self) -> Option<&'static dyn Dialect> {
        None
    }

    /// Prepares statements ahead of their first use.
    async fn prepare_all(&mut self, _statements: &[&'static Statement]) -> Result<(), Error> {
        Ok(())
    }

    /// Opens a transaction. Its BEGIN travels with the next batch.
    fn begin(&mut self, isolation: Isolation, access: Access);

    /// Opens a transaction with a statement of the dialect, which travels with the next batch. A wire whose databases
    /// can't read the past has no use for it.
    fn begin_with(&mut self, _sql: String) {}

    /// Sends a batch and reads all answers.
    async fn send(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error>;

    /// Whether all statements of a batch share one round trip.
    fn is_pipelined(&self) -> bool {
        false
    }

    /// From now on sends all statements of a batch in one round trip, if the wire can.
    fn pipeline(&mut self) {}

    /// Sends a batch and COMMIT, in one round trip if the session is pipelined.
    async fn send_and_commit(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        let answers = self.send(batch).await?;
        self.end(End::Commit).await.map_err(Error::during_commit)?;
        Ok(answers)
    }

    /// Runs a statement that begins and ends its transaction itself: the call of a routine.
    async fn transact(
        &mut self,
        _isolation: Isolation,
        _statement: &'static Statement,
        _values: &[Value<'_>],
    ) -> Result<Answer, Error> {
        Err(Error::permanent("the database has no routines"))
    }

    /// Ends the open transaction. Sends nothing if its BEGIN was never sent.
    async fn end(&mut self, end: End) -> Result<(), Error>;

    /// Runs SQL without parameters or rows.
    async fn execute(&mut self, sql: &str) -> Result<(), Error>;

    /// Runs a statement that went through [`Dialect::adapt`], and does not keep it prepared.
    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error>;

    /// Runs a statement in the database's own SQL.
    async fn ask(&mut self, sql: &str, values: &[Value<'_>], protocol: Protocol) -> Result<Answer, Error>;

    /// From now on each statement outside a transaction commits on its own.
    async fn commit_each(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// From now on every statement runs at this level. A wire with one level has nothing to do.
    async fn set_level(&mut self, _isolation: Isolation) -> Result<(), Error> {
        Ok(())
    }

    /// Runs a statement and returns the steps that an embedded database counted.
    async fn steps(&mut self, _sql: &str) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    /// The handle that interrupts an embedded database from another thread.
    fn interrupt(&self) -> Option<sqlite::Interrupt> {
        None
    }

    /// Whether a table or view of this name can be seen.
    async fn has_table(&mut self, name: &str) -> Result<bool, Error>;

    /// Starts to fill a table.
    async fn bulk(&mut self, table: &Table, options: &BulkOptions) -> Result<Bulk<'_>, Error>;

    /// From now on reads everything that any node of the cluster has acknowledged.
    async fn see_all_commits(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The database's version, and its settings.
    async fn describe(&mut self) -> Result<(String, BTreeMap<String, String>), Error>;
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Commit,
    Rollback,
}

impl End {
    pub(crate) fn sql(self) -> &'static str {
        match self {
            End::Commit => "COMMIT",
            End::Rollback => "ROLLBACK",
        }
    }
}

/// A session on any wire.
#[derive(Debug)]
pub(crate) enum Connection {
    Mysql(mysql::Session),
    Null(null::Session),
    Odbc(odbc::Session),
    Postgres(pg::Session),
    Sqlite(sqlite::Session),
}

/// Evaluates an expression on the [`Wire`] inside a [`Connection`].
macro_rules! dispatch {
    ($connection:expr, $wire:ident => $result:expr) => {
        match $connection {
            $crate::wire::Connection::Mysql($wire) => $result,
            $crate::wire::Connection::Null($wire) => $result,
            $crate::wire::Connection::Odbc($wire) => $result,
            $crate::wire::Connection::Postgres($wire) => $result,
            $crate::wire::Connection::Sqlite($wire) => $result,
        }
    };
}
pub(crate) use dispatch;

impl Connection {
    pub(crate) async fn open(endpoint: &Endpoint, dialect: &'static dyn Dialect) -> Result<Self, Error> {
        Ok(match endpoint {
            Endpoint::Mysql(opts) => Connection::Mysql(mysql::Session::connect(opts, dialect).await?),
            Endpoint::Null(delay) => Connection::Null(null::Session::new(*delay)),
            Endpoint::Odbc(source) => Connection::Odbc(odbc::Session::connect(source, dialect).await?),
            Endpoint::Postgres(address) => Connection::Postgres(pg::Session::connect(address, dialect).await?),
            Endpoint::Sqlite(path) => Connection::Sqlite(sqlite::Session::connect(path).await?),
        })
    }
}
