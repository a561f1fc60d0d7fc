//! The PostgreSQL wire: prepared statements in binary form, COPY BINARY for bulk load.

use std::collections::{BTreeMap, HashMap};
use std::pin::{Pin, pin};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::future::join_all;
use futures_util::{SinkExt, TryStreamExt};
use rustls::ClientConfig;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Connection, CopyInSink, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::bulk::{BulkOptions, Loaded, RowSink};
use crate::dialect::{Dialect, Isolation};
use crate::postgres::Address;
use crate::routine::INTEGRITY_STATE;
use crate::schema::Table;
use crate::session::Description;
use crate::wave::{Call, Rows};
use crate::{Answer, Class, Decimal, Error, OwnedValue, Statement, Value, Wave};

pub(crate) const TABLE_EXISTS: &str = "SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass(quote_ident($1)) AND relkind IN ('r', 'p', 'v', 'f', 'm')";

/// Settings recorded whatever their source, since each can change a result several times over.
const SETTINGS: &str = "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', \
    'full_page_writes', 'shared_buffers', 'effective_cache_size', 'work_mem', 'wal_level', 'max_wal_size', \
    'checkpoint_timeout', 'autovacuum', 'max_connections', 'random_page_cost', 'plan_cache_mode', 'jit') \
    OR source NOT IN ('default', 'client', 'override', 'session') ORDER BY name";

/// The epoch of PostgreSQL's dates, 2000-01-01, in microseconds since the Unix epoch.
const EPOCH_US: i64 = 946_684_800_000_000;

/// COPY data is sent in pieces of about this size.
const COPY_CHUNK_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    dialect: &'static dyn Dialect,
    /// By the statement's address and its number of rows.
    prepared: HashMap<(usize, usize), tokio_postgres::Statement>,
    /// A BEGIN that travels with the next wave.
    pending_begin: Option<String>,
    in_transaction: bool,
    /// Whether the statements of a wave share a flight.
    pub(crate) pipelined: bool,
    /// The level of transactions that open without BEGIN, once it is set.
    default_level: Option<Isolation>,
}

impl Session {
    pub(crate) async fn connect(address: &Address, dialect: &'static dyn Dialect) -> Result<Self, Error> {
        let Address { config, tls } = address;
        let client = match tls {
            None => serve(config.connect(NoTls).await.map_err(error)?),
            Some(tls) => {
                let tls = MakeRustlsConnect::new(ClientConfig::clone(tls));
                serve(config.connect(tls).await.map_err(error)?)
            }
        };
        // Dates of the load and of the run in one time zone, whatever the server's.
        client.batch_execute("SET TIME ZONE 'UTC'").await.map_err(error)?;
        Ok(Self {
            client,
            dialect,
            prepared: HashMap::new(),
            pending_begin: None,
            in_transaction: false,
            pipelined: false,
            default_level: None,
        })
    }

    pub(crate) async fn prepare_all(&mut self, statements: &[&'static Statement]) -> Result<(), Error> {
        for statement in statements {
            for rows in statement.rows.0..=statement.rows.1 {
                self.prepared(statement, rows).await?;
            }
        }
        Ok(())
    }

    async fn prepared(
        &mut self,
        statement: &'static Statement,
        rows: usize,
    ) -> Result<tokio_postgres::Statement, Error> {
        let key = (std::ptr::from_ref(statement) as usize, rows);
        if let Some(prepared) = self.prepared.get(&key) {
            return Ok(prepared.clone());
        }
        let sql = self.dialect.adapt(statement.expand(rows));
        let prepared = self.client.prepare(&sql).await.map_err(|e| error(e).context(statement.name))?;
        self.prepared.insert(key, prepared.clone());
        Ok(prepared)
    }

    pub(crate) fn begin(&mut self, sql: String) {
        self.pending_begin = Some(sql);
    }

    /// One statement after the other, or all in one flight; an opening BEGIN shares the first one's.
    pub(crate) async fn send(&mut self, wave: &Wave<'_>) -> Result<Vec<Answer>, Error> {
        if self.pipelined { self.send_together(wave, None).await } else { self.send_one_by_one(wave).await }
    }

    /// All statements and COMMIT in one flight. After an error the server makes a ROLLBACK of the COMMIT.
    pub(crate) async fn send_and_commit(&mut self, wave: &Wave<'_>) -> Result<Vec<Answer>, Error> {
        let answers = self.send_together(wave, Some("COMMIT")).await;
        self.in_transaction = false;
        // Until every answer is there nobody knows whether COMMIT arrived.
        answers.map_err(Error::during_commit)
    }

    async fn send_together(&mut self, wave: &Wave<'_>, last: Option<&str>) -> Result<Vec<Answer>, Error> {
        let mut prepared = Vec::with_capacity(wave.calls.len());
        for call in &wave.calls {
            prepared.push(self.prepared(call.statement, call.rows).await?);
        }
        let begin = self.pending_begin.take();
        self.in_transaction |= begin.is_some();
        let client = &self.client;
        let bare = async |sql: Option<&str>| match sql {
            Some(sql) => client.batch_execute(sql).await,
            None => Ok(()),
        };
        // Polled in this order, which is the order on the wire.
        let runs = wave.calls.iter().zip(&prepared).map(|(call, prepared)| {
            let values = &wave.values[call.values.clone()];
            run(client, prepared, values)
        });
        let (begun, ran, ended) = tokio::join!(biased; bare(begin.as_deref()), join_all(runs), bare(last));
        begun.map_err(error)?;
        let answers = wave.calls.iter().zip(ran).map(|(call, ran)| named(call, ran)).collect::<Result<Vec<_>, _>>()?;
        ended.map_err(error)?;
        Ok(answers)
    }

    async fn send_one_by_one(&mut self, wave: &Wave<'_>) -> Result<Vec<Answer>, Error> {
        let mut answers = Vec::with_capacity(wave.calls.len());
        for call in &wave.calls {
            let prepared = self.prepared(call.statement, call.rows).await?;
            let values = &wave.values[call.values.clone()];
            let run = run(&self.client, &prepared, values);
            let answer = match self.pending_begin.take() {
                None => run.await,
                Some(begin) => {
                    self.in_transaction = true;
                    let (begun, answer) = tokio::join!(biased; self.client.batch_execute(&begin), run);
                    begun.and(answer)
                }
            };
            answers.push(named(call, answer)?);
        }
        Ok(answers)
    }

    /// A statement that commits by itself; the level comes from the session's default.
    pub(crate) async fn transact(
        &mut self,
        level: Isolation,
        statement: &'static Statement,
        values: &[Value<'_>],
    ) -> Result<Answer, Error> {
        if self.default_level != Some(level) {
            let sql = format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {}", level.sql());
            self.client.batch_execute(&sql).await.map_err(error)?;
            self.default_level = Some(level);
        }
        let prepared = self.prepared(statement, 1).await?;
        match run(&self.client, &prepared, values).await {
            Ok((rows, affected)) => Ok(Answer { statement: statement.name, rows: Rows::Postgres(rows), affected }),
            Err(e) => Err(error(e).during_commit().context(statement.name)),
        }
    }

    pub(crate) async fn end(&mut self, verb: &str) -> Result<(), Error> {
        if self.pending_begin.take().is_some() || !std::mem::take(&mut self.in_transaction) {
            return Ok(());
        }
        self.client.batch_execute(verb).await.map_err(error)
    }

    pub(crate) async fn execute(&mut self, sql: &str) -> Result<(), Error> {
        self.flush_begin().await?;
        self.client.batch_execute(sql).await.map_err(error)
    }

    pub(crate) async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        self.flush_begin().await?;
        let prepared = self.client.prepare(sql).await.map_err(error)?;
        let (rows, affected) = run(&self.client, &prepared, values).await.map_err(error)?;
        Ok(Answer { statement: "query", rows: Rows::Postgres(rows), affected })
    }

    async fn flush_begin(&mut self) -> Result<(), Error> {
        if let Some(begin) = self.pending_begin.take() {
            self.in_transaction = true;
            self.client.batch_execute(&begin).await.map_err(error)?;
        }
        Ok(())
    }

    pub(crate) async fn bulk(&mut self, table: &Table, options: &BulkOptions) -> Result<Bulk<'_>, Error> {
        self.flush_begin().await?;
        let into = options.into.as_deref().unwrap_or(table.name);
        let sql = self.dialect.copy(into, &table.column_list(), options.rows_per_commit);
        let sink = self.client.copy_in(&sql).await.map_err(error)?;
        let mut buffer = BytesMut::with_capacity(COPY_CHUNK_BYTES + 4096);
        buffer.put_slice(b"PGCOPY\n\xff\r\n\0");
        buffer.put_u64(0); // no flags, no header extension
        let columns = i16::try_from(table.columns.len()).unwrap_or(i16::MAX);
        Ok(Bulk {
            sink: Box::pin(sink),
            buffer,
            columns,
            sent_rows: 0,
            sent_bytes: 0,
            _session: std::marker::PhantomData,
        })
    }

    pub(crate) async fn describe(&mut self) -> Result<Description, Error> {
        let version = self.query("SELECT version()", &[]).await?.only()?.text(0)?.to_owned();
        let mut settings = BTreeMap::new();
        for row in self.query(self.dialect.settings().unwrap_or(SETTINGS), &[]).await?.rows() {
            let name = row.text(0)?;
            // Folders and files say nothing of the speed, and much of the machine; primary_conninfo may hold a password.
            if !name.ends_with("_file") && !name.ends_with("_directory") && name != "primary_conninfo" {
                settings.insert(name.to_owned(), row.text(1)?.to_owned());
            }
        }
        let mut deviations = Vec::new();
        for (name, unsafe_value, why) in self.dialect.unsafe_settings() {
            if settings.get(*name).is_some_and(|value| value == unsafe_value) {
                deviations.push(format!("{name} = {unsafe_value}: {why}"));
            }
        }
        Ok(Description { version, settings, deviations })
    }
}

/// Runs a connection in a task that ends with the client; what broke it, the next statement reports.
fn serve<S, T>((client, connection): (Client, Connection<S, T>)) -> Client
where
    Connection<S, T>: Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(e) = connection.await {
            tracing::debug!("connection ended: {e}");
        }
    });
    client
}

type Ran = Result<(Vec<tokio_postgres::Row>, u64), tokio_postgres::Error>;

async fn run(client: &Client, prepared: &tokio_postgres::Statement, values: &[Value<'_>]) -> Ran {
    let stream = client.query_raw(prepared, values.iter().map(|v| v as &(dyn ToSql + Sync))).await?;
    let mut stream = pin!(stream);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(row);
    }
    let affected = stream.rows_affected().unwrap_or(0);
    Ok((rows, affected))
}

fn named(call: &Call, ran: Ran) -> Result<Answer, Error> {
    match ran {
        Ok((rows, affected)) => Ok(Answer { statement: call.statement.name, rows: Rows::Postgres(rows), affected }),
        Err(e) => Err(error(e).context(call.statement.name)),
    }
}

/// Beginnings of codes that say: the connection, or this way into the cluster, is of no more use. Nothing is committed
/// unless COMMIT was under way; then nobody knows (of 40003 that is the very meaning).
///
/// `08` connection, `57P` the server goes down; CockroachDB's `40003` ambiguous result, `58C0` a range or node can't be reached.
const LOST: [&str; 4] = ["08", "57P", "40003", "58C0"];

/// Classes an error by its SQLSTATE, never by its text.
fn error(e: tokio_postgres::Error) -> Error {
    let Some(db) = e.as_db_error() else {
        // No answer of the server: the connection broke, could not be made, or a value did not fit its column.
        let source = std::error::Error::source(&e);
        let class = if source.is_some_and(|cause| cause.is::<Misfit>()) { Class::Permanent } else { Class::Lost };
        let cause = source.map(|cause| format!(": {cause}")).unwrap_or_default();
        return Error::new(class, None, format!("{e}{cause}"));
    };
    let code = db.code();
    let hint = match code.code() {
        "3D000" => ": create it first (CREATE DATABASE)",
        "53300" => ": ask for fewer --connections, or raise max_connections at the server",
        // Statements prepared over one server connection, used over another.
        "26000" | "42P05" => ": is a pooler in transaction mode in front? Connect to the server, or pool by session",
        "28000" if db.message().contains("no encryption") => ": add ?sslmode=require to the URL",
        _ => "",
    };
    let class = if [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::LOCK_NOT_AVAILABLE]
        .contains(code)
    {
        Class::Retry
    } else if LOST.iter().any(|lost| code.code().starts_with(lost)) {
        Class::Lost
    } else if code.code() == INTEGRITY_STATE {
        Class::Integrity
    } else {
        Class::Permanent
    };
    let mut message = db.message().replace('\n', " ");
    if let Some(detail) = db.detail() {
        message.push_str(": ");
        message.push_str(&detail.replace('\n', " "));
    }
    message.push_str(hint);
    Error::new(class, Some(code.code().to_owned()), message)
}

/// A value that its parameter's type can't hold.
#[derive(Debug, thiserror::Error)]
#[error("{value} does not fit a parameter of type {parameter}")]
struct Misfit {
    value: OwnedValue,
    parameter: Type,
}

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let misfit = || Misfit { value: self.to_owned(), parameter: ty.clone() };
        match (*self, ty) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Int(v), &Type::INT2) => out.put_i16(v.try_into().map_err(|_| misfit())?),
            (Value::Int(v), &Type::INT4) => out.put_i32(v.try_into().map_err(|_| misfit())?),
            (Value::Int(v), &Type::INT8) => out.put_i64(v),
            (Value::Int(v), &Type::NUMERIC) => put_numeric(v, 0, out),
            (Value::Decimal(d), &Type::NUMERIC) => put_numeric(d.unscaled, d.scale, out),
            (Value::Text(v), &Type::TEXT | &Type::VARCHAR | &Type::BPCHAR | &Type::NAME | &Type::UNKNOWN) => {
                out.put_slice(v.as_bytes());
            }
            (Value::Timestamp(us), &Type::TIMESTAMP | &Type::TIMESTAMPTZ) => out.put_i64(us - EPOCH_US),
            _ => return Err(Box::new(misfit())),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// NUMERIC's wire form: groups of four decimal digits around the point, without leading or trailing zero groups.
fn put_numeric(unscaled: i64, scale: u8, out: &mut impl BufMut) {
    let pad = (4 - scale % 4) % 4;
    let mut digits = u128::from(unscaled.unsigned_abs()) * 10_u128.pow(u32::from(pad));
    let fraction_groups = i16::from((scale + pad) / 4);
    let mut groups = [0_i16; 12];
    let mut count = 0;
    while digits > 0 {
        groups[count] = (digits % 10_000) as i16;
        digits /= 10_000;
        count += 1;
    }
    let weight = count as i16 - fraction_groups - 1;
    let trailing = groups[..count].iter().take_while(|g| **g == 0).count();
    out.put_i16((count - trailing) as i16);
    out.put_i16(if count == 0 { 0 } else { weight });
    out.put_u16(if unscaled < 0 { 0x4000 } else { 0 });
    out.put_u16(u16::from(scale));
    for group in groups[trailing..count].iter().rev() {
        out.put_i16(*group);
    }
}

fn get_numeric(raw: &[u8]) -> Option<Decimal> {
    let mut words = raw.chunks_exact(2).map(|w| i16::from_be_bytes([w[0], w[1]]));
    let (count, weight, sign, scale) = (words.next()?, words.next()?, words.next()? as u16, words.next()?);
    if !matches!(sign, 0 | 0x4000) {
        return None; // NaN or infinite
    }
    // The value is Σ group × 10000^(weight - position); brought to `scale` digits behind the point.
    let mut unscaled: i128 = 0;
    for group in words.by_ref().take(usize::try_from(count).ok()?) {
        unscaled = unscaled.checked_mul(10_000)?.checked_add(i128::from(group))?;
    }
    let last_group_exponent = 4 * (i32::from(weight) - i32::from(count) + 1);
    let shift = last_group_exponent + i32::from(scale);
    if shift >= 0 {
        unscaled = unscaled.checked_mul(10_i128.checked_pow(shift as u32)?)?;
    } else {
        unscaled /= 10_i128.checked_pow(shift.unsigned_abs())?;
    }
    let unscaled = i64::try_from(if sign == 0 { unscaled } else { -unscaled }).ok()?;
    Some(Decimal { unscaled, scale: u8::try_from(scale).ok()? })
}

/// Any column as a value of ours.
struct Raw(OwnedValue);

impl<'a> FromSql<'a> for Raw {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Raw(match *ty {
            Type::INT2 => OwnedValue::Int(i16::from_sql(ty, raw)?.into()),
            Type::INT4 => OwnedValue::Int(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => OwnedValue::Int(i64::from_sql(ty, raw)?),
            Type::BOOL => OwnedValue::Int(bool::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => OwnedValue::Float(f64::from_sql(ty, raw)?),
            Type::NUMERIC => OwnedValue::Decimal(get_numeric(raw).ok_or("a number of too many digits")?),
            Type::TIMESTAMP | Type::TIMESTAMPTZ => OwnedValue::Timestamp(i64::from_sql(&Type::INT8, raw)? + EPOCH_US),
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => {
                OwnedValue::Text(std::str::from_utf8(raw)?.to_owned())
            }
            ref other => return Err(format!("a column of type {other}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Raw(OwnedValue::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A column as a value of ours.
pub(crate) fn value(row: &tokio_postgres::Row, column: usize) -> Result<OwnedValue, String> {
    row.try_get::<_, Raw>(column).map(|raw| raw.0).map_err(|e| e.to_string())
}

/// A column as a whole number, without a detour: the hot path's most frequent type.
pub(crate) fn int(row: &tokio_postgres::Row, column: usize) -> Result<Option<i64>, String> {
    let read = match row.columns().get(column).map(|c| c.type_()) {
        Some(&Type::INT4) => row.try_get::<_, Option<i32>>(column).map(|v| v.map(i64::from)),
        Some(&Type::INT2) => row.try_get::<_, Option<i16>>(column).map(|v| v.map(i64::from)),
        Some(&Type::INT8) => row.try_get::<_, Option<i64>>(column),
        _ => {
            return match value(row, column)? {
                OwnedValue::Null => Ok(None),
                OwnedValue::Decimal(d) => d.at_scale(0).map(Some).ok_or_else(|| "not a whole number".to_owned()),
                _ => Err("not a number".to_owned()),
            };
        }
    };
    read.map_err(|e| e.to_string())
}

/// A table being filled by COPY BINARY.
pub(crate) struct Bulk<'s> {
    sink: Pin<Box<CopyInSink<Bytes>>>,
    buffer: BytesMut,
    columns: i16,
    sent_rows: u64,
    sent_bytes: u64,
    _session: std::marker::PhantomData<&'s mut Session>,
}

impl std::fmt::Debug for Bulk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bulk").field("rows", &self.sent_rows).finish_non_exhaustive()
    }
}

impl Bulk<'_> {
    pub(crate) async fn flush_if_full(&mut self) -> Result<(), Error> {
        if self.buffer.len() < COPY_CHUNK_BYTES {
            return Ok(());
        }
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), Error> {
        self.sent_bytes += self.buffer.len() as u64;
        let piece = self.buffer.split().freeze();
        self.buffer.reserve(COPY_CHUNK_BYTES + 4096);
        self.sink.send(piece).await.map_err(error)
    }

    pub(crate) async fn finish(mut self) -> Result<Loaded, Error> {
        self.buffer.put_i16(-1); // the trailer
        self.flush().await?;
        let stored = self.sink.as_mut().finish().await.map_err(error)?;
        if stored != self.sent_rows {
            return Err(Error::integrity(format!("COPY stored {stored} of {} rows", self.sent_rows)));
        }
        Ok(Loaded { rows: stored, bytes: self.sent_bytes })
    }
}

impl RowSink for Bulk<'_> {
    fn start_row(&mut self) {
        self.sent_rows += 1;
        self.buffer.put_i16(self.columns);
    }

    fn small_int(&mut self, value: i32) {
        self.buffer.put_i32(2);
        self.buffer.put_i16(value as i16);
    }

    fn int(&mut self, value: i32) {
        self.buffer.put_i32(4);
        self.buffer.put_i32(value);
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        let at = self.buffer.len();
        self.buffer.put_i32(0);
        put_numeric(unscaled, scale, &mut self.buffer);
        let length = (self.buffer.len() - at - 4) as i32;
        self.buffer[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn text(&mut self, value: &str) {
        self.buffer.put_i32(value.len() as i32);
        self.buffer.put_slice(value.as_bytes());
    }

    fn timestamp(&mut self, us: i64) {
        self.buffer.put_i32(8);
        self.buffer.put_i64(us - EPOCH_US);
    }

    fn null(&mut self) {
        self.buffer.put_i32(-1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_has_postgres_own_bytes() {
        let bytes = |unscaled, scale| {
            let mut out = BytesMut::new();
            put_numeric(unscaled, scale, &mut out);
            out.to_vec()
        };
        // As `numeric_send` writes them: count, weight, sign, scale, groups.
        assert_eq!(bytes(0, 2), [0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(bytes(-1000, 2), [0, 1, 0, 0, 0x40, 0, 0, 2, 0, 10]);
        assert_eq!(bytes(1, 2), [0, 1, 0xff, 0xff, 0, 0, 0, 2, 0, 100]);
        assert_eq!(bytes(30_000_000, 2), [0, 1, 0, 1, 0, 0, 0, 2, 0, 30]);
        assert_eq!(bytes(1999, 4), [0, 1, 0xff, 0xff, 0, 0, 0, 4, 0x07, 0xcf]);
    }

    #[test]
    fn numeric_survives_the_round_trip() {
        for scale in [0, 1, 2, 4, 5] {
            for unscaled in [0, 1, -1, 9, 10, 99_99, 10_000, -123_456_789, 99_999_999_999_999, i64::MAX, i64::MIN + 1] {
                let mut out = BytesMut::new();
                put_numeric(unscaled, scale, &mut out);
                assert_eq!(get_numeric(&out), Some(Decimal { unscaled, scale }), "{unscaled} at {scale}");
            }
        }
    }
}
