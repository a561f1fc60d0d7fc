//! The MySQL wire: prepared statements in binary form, LOAD DATA LOCAL from memory for bulk load.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::civil::DateTime;
use mysql_async::consts::ColumnType;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, Params, Value as Wired};

use crate::bulk::{BulkOptions, BulkWire};
use crate::dialect::{Access, Dialect, Isolation};
use crate::finding::Setting;
use crate::routine::INTEGRITY_STATE;
use crate::schema::Table;
use crate::scratch_schema::SchemaSql;
use crate::statement::positional;
use crate::statement_batch::Rows;
use crate::value::timestamp_from_text;
use crate::wire::{CatalogSql, End, Wire, WireDefaults};
use crate::{Answer, Class, Decimal, Error, OwnedValue, Protocol, Statement, StatementBatch, Value};

mod bulk;

pub(crate) use bulk::Bulk;

pub(crate) const DEFAULTS: WireDefaults = WireDefaults {
    name: "MySQL",
    bulk_path: "LOAD DATA LOCAL, or multi-row INSERT",
    tells_version: true,
    backend: Some("SELECT CONNECTION_ID()"),
    cancel: Some("KILL QUERY {}"),
    // Free of time zones.
    clock: Some("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"),
    scratch_schema: Some(SchemaSql {
        create: "CREATE DATABASE {} CHARACTER SET utf8mb4",
        enter: "USE {}",
        drop: "DROP DATABASE {}",
        exists: "SELECT 1 FROM information_schema.schemata WHERE schema_name = '{}'",
    }),
    quote: '`',
    text_literal: |text| format!("'{}'", text.replace('\'', "''").replace('\\', "\\\\")),
    catalog: Some(CatalogSql {
        columns: "SELECT column_name FROM information_schema.columns \
                  WHERE table_schema = DATABASE() AND table_name = $1 ORDER BY ordinal_position",
        // There are no partial indexes.
        indexes: "SELECT index_name, COALESCE(column_name, ''), '' FROM information_schema.statistics \
                  WHERE table_schema = DATABASE() AND table_name = $1 ORDER BY index_name, seq_in_index",
        bytes: None,
    }),
    drop_index: "DROP INDEX {index} ON {table}",
    ..WireDefaults::STANDARD
};

const TABLE_EXISTS: &str =
    "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = $1";

/// Dates of the load and of the run in one time zone; values that don't fit are errors; `||` joins text.
/// Without autocommit a transaction opens with its first statement, which saves the round trip of BEGIN.
const SETTINGS: &str = "SET SESSION time_zone = '+00:00', \
    sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT', autocommit = 0";

/// Variables recorded beside the judged ones, since each can change a result several times over.
const VARIABLES: [&str; 10] = [
    "log_bin",
    "innodb_flush_method",
    "innodb_snapshot_isolation",
    "binlog_format",
    "wsrep_on",
    "wsrep_sync_wait",
    "wsrep_slave_threads",
    "tidb_enable_async_commit",
    "tidb_enable_1pc",
    "tidb_isolation_read_engines",
];

#[derive(Debug)]
pub(crate) struct Session {
    /// `None` while a bulk load has it, and for good if that load was dropped.
    conn: Option<Conn>,
    dialect: &'static dyn Dialect,
    /// By [`Statement::key`].
    prepared: HashMap<(usize, usize), Prepared>,
    /// The level that was last set.
    level: String,
    /// The level of the transaction that opens with the next statement.
    pending_level: Option<String>,
    in_transaction: bool,
    /// Whether a statement outside a transaction commits on its own.
    commits_each: bool,
    /// Whether the server takes LOAD DATA LOCAL; asked for once.
    local_infile: Option<bool>,
}

#[derive(Clone, Debug)]
struct Prepared {
    statement: mysql_async::Statement,
    /// The parameter of each place.
    order: Arc<[usize]>,
}

impl Session {
    pub(crate) async fn connect(opts: &Opts, dialect: &'static dyn Dialect) -> Result<Self, Error> {
        let mut conn = Conn::new(opts.clone()).await.map_err(error)?;
        conn.query_drop(SETTINGS).await.map_err(error)?;
        Ok(Self {
            conn: Some(conn),
            dialect,
            prepared: HashMap::new(),
            level: String::new(),
            pending_level: None,
            in_transaction: false,
            commits_each: false,
            local_infile: None,
        })
    }

    fn conn(&mut self) -> Result<&mut Conn, Error> {
        self.conn.as_mut().ok_or_else(|| Error::new(Class::Lost, None, "the connection was given up in a bulk load"))
    }

    async fn prepared(&mut self, statement: &'static Statement, rows: usize) -> Result<Prepared, Error> {
        let key = statement.key(rows);
        if let Some(prepared) = self.prepared.get(&key) {
            return Ok(prepared.clone());
        }
        let prepared = self.prepare(statement.expand(rows)).await.map_err(|e| e.context(statement.name))?;
        self.prepared.insert(key, prepared.clone());
        Ok(prepared)
    }

    async fn prepare(&mut self, sql: String) -> Result<Prepared, Error> {
        let (sql, order) = positional(&self.dialect.adapt(sql));
        let statement = self.conn()?.prep(sql).await.map_err(error)?;
        Ok(Prepared { statement, order: order.into() })
    }

    async fn send_calls(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        let mut answers = Vec::with_capacity(batch.calls.len());
        for call in &batch.calls {
            let prepared = self.prepared(call.statement, call.rows).await?;
            let values = &batch.values[call.values.clone()];
            let answer = self.run(&prepared, values, call.statement.name).await;
            answers.push(answer.map_err(|e| e.context(call.statement.name))?);
        }
        Ok(answers)
    }

    async fn run(&mut self, prepared: &Prepared, values: &[Value<'_>], name: &'static str) -> Result<Answer, Error> {
        let places = prepared.order.iter().map(|&at| values.get(at).map_or(Wired::NULL, wired)).collect();
        let parameters = if prepared.order.is_empty() { Params::Empty } else { Params::Positional(places) };
        let mut result = self.conn()?.exec_iter(&prepared.statement, parameters).await.map_err(error)?;
        let returns_rows = !result.columns_ref().is_empty();
        let rows: Vec<mysql_async::Row> = result.collect().await.map_err(error)?;
        let affected = if returns_rows { rows.len() as u64 } else { result.affected_rows() };
        result.drop_result().await.map_err(error)?;
        Ok(Answer { statement: name, rows: Rows::Mysql(rows), affected })
    }

    /// Makes the level of the transaction to come the session's.
    async fn open(&mut self) -> Result<(), Error> {
        let Some(level) = self.pending_level.take() else { return Ok(()) };
        self.apply_level(level).await?;
        if self.commits_each {
            self.conn()?.query_drop("START TRANSACTION").await.map_err(error)?;
        }
        self.in_transaction = true;
        Ok(())
    }

    async fn ask_prepared(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        // The driver keeps what it has prepared, by its text.
        let statement = self.conn()?.prep(sql).await.map_err(error)?;
        self.run(&Prepared { statement, order: (0..values.len()).collect() }, values, "statement").await
    }

    /// Runs the statement that sets the level of all transactions to come, unless it is set.
    async fn apply_level(&mut self, level: String) -> Result<(), Error> {
        if level != self.level {
            self.conn()?.query_drop(&level).await.map_err(error)?;
            self.level = level;
        }
        Ok(())
    }

    /// Ends what a statement outside a transaction has opened, as autocommit would.
    async fn close<T>(&mut self, done: Result<T, Error>) -> Result<T, Error> {
        if self.in_transaction || self.commits_each || done.as_ref().is_err_and(|e| e.class() == Class::Lost) {
            return done;
        }
        let verb = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.conn()?.query_drop(verb).await.map_err(error);
        let value = done?;
        ended.map(|()| value)
    }

    /// Without parameters as text: not everything that can be asked can be prepared.
    async fn query_once(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        if !values.is_empty() {
            let (sql, order) = positional(sql);
            let statement = self.conn()?.prep(sql).await.map_err(error)?;
            return self.run(&Prepared { statement, order: order.into() }, values, "query").await;
        }
        let mut result = self.conn()?.query_iter(sql).await.map_err(error)?;
        let returns_rows = !result.columns_ref().is_empty();
        let rows: Vec<mysql_async::Row> = result.collect().await.map_err(error)?;
        let affected = if returns_rows { rows.len() as u64 } else { result.affected_rows() };
        result.drop_result().await.map_err(error)?;
        Ok(Answer { statement: "query", rows: Rows::Mysql(rows), affected })
    }
}

impl Wire for Session {
    async fn prepare_all(&mut self, statements: &[&'static Statement]) -> Result<(), Error> {
        for statement in statements {
            for rows in statement.rows.0..=statement.rows.1 {
                self.prepared(statement, rows).await?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, isolation: Isolation, access: Access) {
        self.begin_with(self.dialect.begin(isolation, access));
    }

    fn begin_with(&mut self, level: String) {
        self.pending_level = Some(level);
    }

    /// Sends one statement after the other: the protocol allows no more.
    async fn send(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        self.open().await?;
        let sent = self.send_calls(batch).await;
        self.close(sent).await
    }

    async fn transact(
        &mut self,
        isolation: Isolation,
        statement: &'static Statement,
        values: &[Value<'_>],
    ) -> Result<Answer, Error> {
        self.set_level(isolation).await?;
        let prepared = self.prepared(statement, 1).await?;
        let answer = self.run(&prepared, values, statement.name).await;
        answer.map_err(|e| e.during_commit().context(statement.name))
    }

    async fn end(&mut self, end: End) -> Result<(), Error> {
        if self.pending_level.take().is_some() || !std::mem::take(&mut self.in_transaction) {
            return Ok(());
        }
        self.conn()?.query_drop(end.sql()).await.map_err(error)
    }

    async fn execute(&mut self, sql: &str) -> Result<(), Error> {
        self.open().await?;
        let done = self.conn()?.query_drop(sql).await.map_err(error);
        self.close(done).await
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        self.open().await?;
        let answered = self.query_once(sql, values).await;
        self.close(answered).await
    }

    async fn ask(&mut self, sql: &str, values: &[Value<'_>], protocol: Protocol) -> Result<Answer, Error> {
        self.open().await?;
        let answered = match protocol {
            Protocol::Prepared => self.ask_prepared(sql, values).await,
            Protocol::Simple => self.query_once(sql, &[]).await,
        };
        self.close(answered).await
    }

    async fn commit_each(&mut self) -> Result<(), Error> {
        self.conn()?.query_drop("SET SESSION autocommit = 1").await.map_err(error)?;
        self.commits_each = true;
        Ok(())
    }

    async fn set_level(&mut self, isolation: Isolation) -> Result<(), Error> {
        self.apply_level(self.dialect.begin(isolation, Access::ReadWrite)).await
    }

    async fn has_table(&mut self, name: &str) -> Result<bool, Error> {
        Ok(!self.query(TABLE_EXISTS, &[name.into()]).await?.is_empty())
    }

    async fn bulk(&mut self, table: &Table, _options: &BulkOptions) -> Result<crate::bulk::Bulk<'_>, Error> {
        self.open().await?;
        let local_infile = match self.local_infile {
            Some(known) => known,
            None => {
                let on = self.query_once("SELECT @@GLOBAL.local_infile", &[]).await?.only()?.int(0)? == 1;
                if !on {
                    tracing::warn!(
                        "LOAD DATA LOCAL is disabled at the server: loading by multi-row INSERT, which is slower \
                         (SET GLOBAL local_infile = 1 allows it)"
                    );
                }
                *self.local_infile.insert(on)
            }
        };
        let bulk = if local_infile { Bulk::load_data(self, table)? } else { Bulk::insert(self, table) };
        Ok(crate::bulk::Bulk(BulkWire::Mysql(bulk)))
    }

    /// A Galera node applies other nodes' commits a moment later, and waits for them only if asked to.
    async fn see_all_commits(&mut self) -> Result<(), Error> {
        let galera = self.query("SHOW VARIABLES LIKE 'wsrep_on'", &[]).await?;
        if galera.get(0).is_some_and(|row| row.text(1).is_ok_and(|on| on == "ON")) {
            self.execute("SET SESSION wsrep_sync_wait = 1").await?;
        }
        Ok(())
    }

    async fn describe(&mut self) -> Result<(String, BTreeMap<String, String>), Error> {
        let version = self.query("SELECT VERSION()", &[]).await?.only()?.text(0)?.to_owned();
        let mut settings = BTreeMap::new();
        let judged = self.dialect.judged_settings().iter().map(Setting::name);
        let names: Vec<String> = VARIABLES.into_iter().chain(judged).map(|name| format!("'{name}'")).collect();
        let sql = format!("SHOW VARIABLES WHERE Variable_name IN ({})", names.join(", "));
        for row in self.query(&sql, &[]).await?.rows() {
            settings.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
        }
        let version = format!("{} {version}", self.dialect.name());
        Ok((version, settings))
    }
}

fn wired(value: &Value<'_>) -> Wired {
    match *value {
        Value::Null => Wired::NULL,
        Value::Int(v) => Wired::Int(v),
        Value::Decimal(v) => Wired::Bytes(v.to_string().into_bytes()),
        Value::Text(v) => Wired::Bytes(v.as_bytes().to_vec()),
        Value::Timestamp(us) => date(us),
    }
}

fn date(us: i64) -> Wired {
    let Ok(at) = jiff::Timestamp::from_microsecond(us) else { return Wired::NULL };
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).datetime();
    let small = |v: i8| v.unsigned_abs();
    let micros = at.subsec_nanosecond().unsigned_abs() / 1000;
    let year = at.year().unsigned_abs();
    Wired::Date(
        year,
        small(at.month()),
        small(at.day()),
        small(at.hour()),
        small(at.minute()),
        small(at.second()),
        micros,
    )
}

/// A column as text.
pub(crate) fn text(row: &mysql_async::Row, column: usize) -> Option<&str> {
    match row.as_ref(column)? {
        Wired::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// A column as a value of ours.
pub(crate) fn value(row: &mysql_async::Row, column: usize) -> Result<OwnedValue, String> {
    let (Some(value), Some(described)) = (row.as_ref(column), row.columns_ref().get(column)) else {
        return Err("no such column".into());
    };
    Ok(match value {
        Wired::NULL => OwnedValue::Null,
        Wired::Int(v) => OwnedValue::Int(*v),
        Wired::UInt(v) => OwnedValue::Int(i64::try_from(*v).map_err(|e| e.to_string())?),
        Wired::Float(v) => OwnedValue::Float(f64::from(*v)),
        Wired::Double(v) => OwnedValue::Float(*v),
        Wired::Date(year, month, day, hour, minute, second, us) => {
            let small = |v: &u8| i8::try_from(*v).map_err(|e| e.to_string());
            let year = i16::try_from(*year).map_err(|e| e.to_string())?;
            let nanosecond = i32::try_from(us * 1000).map_err(|e| e.to_string())?;
            let month = small(month)?;
            let day = small(day)?;
            let at = DateTime::new(year, month, day, small(hour)?, small(minute)?, small(second)?, nanosecond);
            let zoned = at.and_then(|at| at.to_zoned(jiff::tz::TimeZone::UTC)).map_err(|e| e.to_string())?;
            OwnedValue::Timestamp(zoned.timestamp().as_microsecond())
        }
        Wired::Time(..) => return Err("a time of day".into()),
        Wired::Bytes(bytes) => from_bytes(bytes, described.column_type())?,
    })
}

/// What comes as text in the text protocol, and decimals in both.
fn from_bytes(bytes: &[u8], kind: ColumnType) -> Result<OwnedValue, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let unreadable = || format!("`{text}` can't be read");
    Ok(match kind {
        ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL => {
            OwnedValue::Decimal(Decimal::from_text(text).ok_or_else(unreadable)?)
        }
        ColumnType::MYSQL_TYPE_TINY
        | ColumnType::MYSQL_TYPE_SHORT
        | ColumnType::MYSQL_TYPE_INT24
        | ColumnType::MYSQL_TYPE_LONG
        | ColumnType::MYSQL_TYPE_LONGLONG => OwnedValue::Int(text.parse().map_err(|_| unreadable())?),
        ColumnType::MYSQL_TYPE_FLOAT | ColumnType::MYSQL_TYPE_DOUBLE => {
            OwnedValue::Float(text.parse().map_err(|_| unreadable())?)
        }
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_TIMESTAMP => {
            OwnedValue::Timestamp(timestamp_from_text(text).ok_or_else(unreadable)?)
        }
        _ => OwnedValue::Text(text.to_owned()),
    })
}

/// Classes an error by its number, never by its text.
fn error(e: mysql_async::Error) -> Error {
    match e {
        mysql_async::Error::Server(server) => {
            let message = server.message.replace('\n', " ");
            let class = if server.state == INTEGRITY_STATE { Class::Integrity } else { class(server.code) };
            Error::new(class, Some(server.code.to_string()), format!("{message}{}", hint(server.code)))
        }
        mysql_async::Error::Io(e) => Error::new(Class::Lost, None, e.to_string().replace('\n', " ")),
        mysql_async::Error::Driver(
            e @ (mysql_async::DriverError::ConnectionClosed
            | mysql_async::DriverError::PacketOutOfOrder
            | mysql_async::DriverError::UnexpectedPacket { .. }),
        ) => Error::new(Class::Lost, None, e.to_string()),
        mysql_async::Error::Driver(mysql_async::DriverError::NoClientSslFlagFromServer) => {
            Error::permanent("TLS was asked for, but the server offers none: leave out ssl-mode, or set it up there")
        }
        e => Error::permanent(e.to_string().replace('\n', " ")),
    }
}

fn class(code: u16) -> Class {
    match code {
        // Lock wait timeout, deadlock (at a Galera node also: certification failed), record changed since the snapshot.
        1205 | 1213 | 1020 => Class::Retry,
        // Rolled back by group replication; a lock that may not be waited for.
        3101 | 3572 => Class::Retry,
        // TiDB: conflicts found at once or at COMMIT, schema changed or too old, PD or TiKV busy or moved.
        8002 | 8005 | 8022 | 8027 | 8028 | 9001..=9005 | 9007 => Class::Retry,
        // It takes no writes any more: another is the primary now. TiDB does not know what came of a COMMIT.
        1290 | 1836 | 8501 => Class::Lost,
        // The node left its cluster, the server shuts down, packets went wrong, the connection was killed.
        1047 | 1053 | 1077 | 1152..=1161 | 1184 | 1927 | 2006 | 2013 | 3169 | 4031 => Class::Lost,
        _ => Class::Permanent,
    }
}

/// What to do about the errors that a newcomer meets.
fn hint(code: u16) -> &'static str {
    match code {
        1049 => ": create it first (CREATE DATABASE)",
        1040 | 1203 | 1226 => ": ask for fewer --connections, or raise max_connections at the server",
        // MariaDB says no more than this when it takes TLS only.
        1045 => ": wrong user or password, or the server takes TLS only (?ssl-mode=required)",
        3159 => ": add ?ssl-mode=required to the URL",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_in_as_they_come_out() {
        let Wired::Date(2026, 9, 21, hour, minute, second, us) = date(1_790_000_000_123_456) else { panic!() };
        assert_eq!((hour, minute, second, us), (14, 13, 20, 123_456));
    }
}
