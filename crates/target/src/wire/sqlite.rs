//! SQLite: one OS thread a connection, since its calls block; a batch is one message there and back.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value as SqliteValue, ValueRef};
use rusqlite::{Connection, ErrorCode, InterruptHandle, StatementStatus, ToSql};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::bulk::{self, BulkOptions, BulkWire, Loaded, RowSink, TimestampText};
use crate::dialect::{Access, Dialect, Isolation};
use crate::schema::Table;
use crate::sqlite::{BEGIN_WRITER, Sqlite};
use crate::statement_batch::{Call, Rows};
use crate::value::timestamp_text;
use crate::wire::{CatalogSql, End, Wire, WireDefaults};
use crate::{Answer, Class, Error, OwnedValue, Protocol, StatementBatch, Value};

pub(crate) const DEFAULTS: WireDefaults = WireDefaults {
    name: "none: in this process",
    bulk_path: "prepared INSERT",
    // SQLite counts days, to the millisecond.
    clock: Some("CAST(ROUND((julianday('now') - 2440587.5) * 86400000000) AS INTEGER)"),
    placeholder: |number| format!("?{number}"),
    scaled_decimals: true,
    catalog: Some(CatalogSql {
        columns: "SELECT name FROM pragma_table_info($1) ORDER BY cid",
        indexes: "SELECT l.name, COALESCE(i.name, ''), CASE l.partial WHEN 0 THEN '' ELSE 'partial' END \
                  FROM pragma_index_list($1) l, pragma_index_info(l.name) i ORDER BY l.name, i.seqno",
        // SQLite counts page by page, which is why the topology leaves it out.
        bytes: Some(
            "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = $1)",
        ),
    }),
    ..WireDefaults::STANDARD
};

const TABLE_EXISTS: &str = "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?1";

/// How long a writer waits for another process' transaction before it must retry.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Values gathered before they cross to the connection's thread.
const BULK_CHUNK_VALUES: usize = 20_000;

/// Statements kept compiled; more than any workload declares.
const STATEMENT_CACHE: usize = 256;

type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What the connection's thread is asked to do.
enum Request {
    StatementBatch { begin: Option<String>, calls: Vec<Call>, values: Vec<OwnedValue>, reply: Reply<Vec<Answer>> },
    Execute { begin: Option<String>, sql: String, reply: Reply<()> },
    End { verb: &'static str, reply: Reply<()> },
    Query { begin: Option<String>, sql: String, values: Vec<OwnedValue>, reply: Reply<Answer> },
    Once { begin: Option<String>, sql: String, reply: Reply<(Answer, u64)> },
    Rows { begin: Option<String>, sql: Arc<str>, columns: usize, values: Vec<SqliteValue>, reply: Reply<()> },
}

/// The one place of a writer, by file: this process' writers take turns here, first come, first
/// served, instead of polling SQLite's own lock, which wastes CPU and is unfair.
static WRITERS: LazyLock<Mutex<HashMap<PathBuf, Arc<Semaphore>>>> = LazyLock::new(Mutex::default);

fn writers_of(path: &Path) -> Arc<Semaphore> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut writers = WRITERS.lock().unwrap_or_else(PoisonError::into_inner);
    writers.entry(path).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
}

/// Whether a statement changes rows, by its first word.
fn writes(sql: &str) -> bool {
    let first = sql.split_whitespace().next().unwrap_or_default();
    ["INSERT", "UPDATE", "DELETE", "REPLACE"].iter().any(|verb| verb.eq_ignore_ascii_case(first))
}

#[derive(Debug)]
pub(crate) struct Session {
    requests: mpsc::Sender<Request>,
    writers: Arc<Semaphore>,
    /// Held while this session's transaction may write.
    turn: Option<OwnedSemaphorePermit>,
    pending_begin: Option<String>,
    in_transaction: bool,
    interrupt: Interrupt,
}

/// Interrupts what a connection is doing, from another thread.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<InterruptHandle>);

impl Interrupt {
    pub(crate) fn now(&self) {
        self.0.interrupt();
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interrupt")
    }
}

impl Session {
    pub(crate) async fn connect(path: &Path) -> Result<Self, Error> {
        let file = path.to_owned();
        let (requests, inbox) = mpsc::channel();
        let (opened, answer) = oneshot::channel();
        std::thread::Builder::new()
            .name("sqlite".into())
            .spawn(move || match open(&file) {
                Ok(connection) => {
                    let _ = opened.send(Ok(connection.get_interrupt_handle()));
                    serve(connection, &inbox);
                }
                Err(e) => {
                    let _ = opened.send(Err(e));
                }
            })
            .map_err(|e| Error::permanent(format!("can't start a thread for the connection: {e}")))?;
        let interrupt = Interrupt(Arc::new(answer.await.map_err(|_| gone())??));
        let writers = writers_of(path);
        Ok(Self { requests, writers, turn: None, pending_begin: None, in_transaction: false, interrupt })
    }

    /// Runs a statement without caching it, and returns the steps of the virtual machine that it took.
    async fn once(&mut self, sql: &str) -> Result<(Answer, u64), Error> {
        let begin = self.take_begin().await;
        let sql = sql.to_owned();
        self.request(|reply| Request::Once { begin, sql, reply }).await
    }

    /// The BEGIN that goes with the next request; a writer waits for its turn here.
    async fn take_begin(&mut self) -> Option<String> {
        let begin = self.pending_begin.take()?;
        self.in_transaction = true;
        if begin == BEGIN_WRITER {
            self.turn = self.writers.clone().acquire_owned().await.ok();
        }
        Some(begin)
    }

    async fn request<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Wire for Session {
    fn begin(&mut self, isolation: Isolation, access: Access) {
        self.begin_with(Sqlite.begin(isolation, access));
    }

    fn begin_with(&mut self, sql: String) {
        self.pending_begin = Some(sql);
    }

    async fn send(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        let begin = self.take_begin().await;
        let values = batch.values.iter().map(Value::to_owned).collect();
        let calls = batch.calls.clone();
        self.request(|reply| Request::StatementBatch { begin, calls, values, reply }).await
    }

    async fn end(&mut self, end: End) -> Result<(), Error> {
        if self.pending_begin.take().is_some() || !std::mem::take(&mut self.in_transaction) {
            return Ok(());
        }
        let verb = end.sql();
        let ended = self.request(|reply| Request::End { verb, reply }).await;
        self.turn = None;
        ended
    }

    async fn execute(&mut self, sql: &str) -> Result<(), Error> {
        let begin = self.take_begin().await;
        let sql = sql.to_owned();
        self.request(|reply| Request::Execute { begin, sql, reply }).await
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let begin = self.take_begin().await;
        // A write that commits on its own waits for its turn too.
        let _turn =
            if self.in_transaction || !writes(sql) { None } else { self.writers.clone().acquire_owned().await.ok() };
        let sql = sql.to_owned();
        let values = values.iter().map(Value::to_owned).collect();
        self.request(|reply| Request::Query { begin, sql, values, reply }).await
    }

    async fn ask(&mut self, sql: &str, values: &[Value<'_>], protocol: Protocol) -> Result<Answer, Error> {
        match protocol {
            Protocol::Prepared => self.query(sql, values).await,
            Protocol::Simple => self.once(sql).await.map(|(answer, _)| answer),
        }
    }

    async fn steps(&mut self, sql: &str) -> Result<Option<u64>, Error> {
        self.once(sql).await.map(|(_, steps)| Some(steps))
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.interrupt.clone())
    }

    async fn has_table(&mut self, name: &str) -> Result<bool, Error> {
        Ok(!self.query(TABLE_EXISTS, &[name.into()]).await?.is_empty())
    }

    async fn bulk(&mut self, table: &Table, _options: &BulkOptions) -> Result<bulk::Bulk<'_>, Error> {
        let columns = table.columns.len();
        let places = vec!["?"; columns].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, table.column_list());
        Ok(bulk::Bulk(BulkWire::Sqlite(Bulk {
            session: self,
            sql: sql.into(),
            columns,
            values: Vec::new(),
            rows: 0,
            bytes: 0,
            timestamp: TimestampText::default(),
            under_way: None,
        })))
    }

    async fn describe(&mut self) -> Result<(String, BTreeMap<String, String>), Error> {
        let mut settings = BTreeMap::new();
        for name in ["journal_mode", "synchronous", "page_size", "cache_size", "wal_autocheckpoint", "foreign_keys"] {
            let answer = self.query(&format!("PRAGMA {name}"), &[]).await?;
            settings.insert(name.to_owned(), answer.only()?.value(0)?.to_string());
        }
        Ok((format!("SQLite {}", rusqlite::version()), settings))
    }
}

fn gone() -> Error {
    Error::new(Class::Lost, None, "the connection's thread has ended")
}

fn open(path: &Path) -> Result<Connection, Error> {
    let mut connection = Connection::open(path).map_err(error)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    let mut waited = Duration::ZERO;
    // Short steps: the default handler sleeps up to 100 ms, far longer than a transaction takes.
    let handler = move |calls: i32| {
        if calls == 0 {
            waited = Duration::ZERO;
        }
        let step = Duration::from_micros(200 << calls.clamp(0, 3));
        std::thread::sleep(step);
        waited += step;
        waited < LOCK_WAIT
    };
    connection.busy_handler(Some(handler)).map_err(error)?;
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536")
        .map_err(error)?;
    Ok(connection)
}

/// The connection's thread: one request after the other, until the session is dropped.
fn serve(connection: Connection, inbox: &mpsc::Receiver<Request>) {
    let mut texts = HashMap::new();
    while let Ok(request) = inbox.recv() {
        match request {
            Request::StatementBatch { begin, calls, values, reply } => {
                let done = begun(&connection, begin)
                    .and_then(|()| calls.iter().map(|call| run_call(&connection, &mut texts, call, &values)).collect());
                let _ = reply.send(done);
            }
            Request::Execute { begin, sql, reply } => {
                let done = begun(&connection, begin).and_then(|()| connection.execute_batch(&sql).map_err(error));
                let _ = reply.send(done);
            }
            Request::End { verb, reply } => {
                let _ = reply.send(end(&connection, verb));
            }
            Request::Query { begin, sql, values, reply } => {
                let done = begun(&connection, begin).and_then(|()| run(&connection, &sql, &values, "query", true));
                let _ = reply.send(done);
            }
            Request::Once { begin, sql, reply } => {
                let done = begun(&connection, begin).and_then(|()| once(&connection, &sql));
                let _ = reply.send(done);
            }
            Request::Rows { begin, sql, columns, values, reply } => {
                let done = begun(&connection, begin).and_then(|()| insert(&connection, &sql, columns, &values));
                let _ = reply.send(done);
            }
        }
    }
}

fn begun(connection: &Connection, begin: Option<String>) -> Result<(), Error> {
    begin.map_or(Ok(()), |sql| connection.execute_batch(&sql).map_err(error))
}

/// COMMIT or ROLLBACK. Whatever comes of it, no transaction is open afterwards: some failures have
/// SQLite roll back by itself, others (a busy COMMIT) leave that to us.
fn end(connection: &Connection, verb: &str) -> Result<(), Error> {
    if verb == "ROLLBACK" && connection.is_autocommit() {
        return Ok(());
    }
    let ended = connection.execute_batch(verb).map_err(error);
    if ended.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    ended
}

/// SQL texts by [`Statement::key`](crate::Statement::key).
type Texts = HashMap<(usize, usize), String>;

fn run_call(connection: &Connection, texts: &mut Texts, call: &Call, values: &[OwnedValue]) -> Result<Answer, Error> {
    let sql =
        texts.entry(call.statement.key(call.rows)).or_insert_with(|| Sqlite.adapt(call.statement.expand(call.rows)));
    run(connection, sql, &values[call.values.clone()], call.statement.name, false)
        .map_err(|e| e.context(call.statement.name))
}

fn run(
    connection: &Connection,
    sql: &str,
    values: &[OwnedValue],
    name: &'static str,
    named: bool,
) -> Result<Answer, Error> {
    let mut statement = connection.prepare_cached(sql).map_err(error)?;
    execute(&mut statement, values, name, named)
}

fn once(connection: &Connection, sql: &str) -> Result<(Answer, u64), Error> {
    let mut statement = connection.prepare(sql).map_err(error)?;
    let answer = execute(&mut statement, &[], "statement", true)?;
    let steps = statement.get_status(StatementStatus::VmStep);
    Ok((answer, steps.unsigned_abs().into()))
}

fn execute(
    statement: &mut rusqlite::Statement<'_>,
    values: &[OwnedValue],
    name: &'static str,
    named: bool,
) -> Result<Answer, Error> {
    let parameters = rusqlite::params_from_iter(values.iter().map(Bound));
    if statement.column_count() == 0 {
        let affected = statement.execute(parameters).map_err(error)? as u64;
        return Ok(Answer { statement: name, rows: Rows::Owned { columns: Arc::new([]), rows: Vec::new() }, affected });
    }
    let count = statement.column_count();
    let mut found = statement.query(parameters).map_err(error)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next().map_err(error)? {
        let row: Result<Vec<_>, _> = (0..count).map(|c| row.get_ref(c).map(owned)).collect();
        rows.push(row.map_err(error)?);
    }
    let affected = rows.len() as u64;
    drop(found);
    // Names are for people: a transaction's statements are read by position.
    let columns: Arc<[String]> =
        if named { statement.column_names().map(str::to_owned).collect() } else { Arc::new([]) };
    Ok(Answer { statement: name, rows: Rows::Owned { columns, rows }, affected })
}

fn insert(connection: &Connection, sql: &str, columns: usize, values: &[SqliteValue]) -> Result<(), Error> {
    let mut statement = connection.prepare_cached(sql).map_err(error)?;
    for row in values.chunks_exact(columns) {
        statement.execute(rusqlite::params_from_iter(row)).map_err(error)?;
    }
    Ok(())
}

/// A value as SQLite takes it: decimals as the integer of their digits.
struct Bound<'a>(&'a OwnedValue);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            OwnedValue::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            OwnedValue::Int(v) => ToSqlOutput::Borrowed(ValueRef::Integer(*v)),
            OwnedValue::Decimal(d) => ToSqlOutput::Borrowed(ValueRef::Integer(d.unscaled)),
            OwnedValue::Float(v) => ToSqlOutput::Borrowed(ValueRef::Real(*v)),
            OwnedValue::Text(v) => ToSqlOutput::Borrowed(ValueRef::Text(v.as_bytes())),
            OwnedValue::Timestamp(us) => ToSqlOutput::Owned(SqliteValue::Text(timestamp_text(*us))),
        })
    }
}

fn owned(value: ValueRef<'_>) -> OwnedValue {
    match value {
        ValueRef::Null => OwnedValue::Null,
        ValueRef::Integer(v) => OwnedValue::Int(v),
        ValueRef::Real(v) => OwnedValue::Float(v),
        ValueRef::Text(v) => OwnedValue::Text(String::from_utf8_lossy(v).into_owned()),
        ValueRef::Blob(v) => OwnedValue::Text(format!("{} bytes", v.len())),
    }
}

fn error(e: rusqlite::Error) -> Error {
    let code = e.sqlite_error().map(|inner| inner.extended_code.to_string());
    let class = match e.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Class::Retry,
        _ => Class::Permanent,
    };
    let hint = match e.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => " (the disk is full)",
        Some(ErrorCode::ReadOnly) => " (the file or its folder can't be written)",
        Some(ErrorCode::NotADatabase) => " (the file is not an SQLite database)",
        _ => "",
    };
    Error::new(class, code, format!("{e}{hint}").replace('\n', " "))
}

/// A table being filled by one prepared INSERT.
#[derive(Debug)]
pub(crate) struct Bulk<'s> {
    session: &'s mut Session,
    sql: Arc<str>,
    columns: usize,
    values: Vec<SqliteValue>,
    rows: u64,
    bytes: u64,
    timestamp: TimestampText,
    under_way: Option<oneshot::Receiver<Result<(), Error>>>,
}

impl Bulk<'_> {
    pub(crate) async fn flush_if_full(&mut self) -> Result<(), Error> {
        if self.values.len() < BULK_CHUNK_VALUES { Ok(()) } else { self.flush().await }
    }

    async fn flush(&mut self) -> Result<(), Error> {
        let begin = self.session.take_begin().await;
        let values = std::mem::replace(&mut self.values, Vec::with_capacity(BULK_CHUNK_VALUES + 64));
        let sql = self.sql.clone();
        let columns = self.columns;
        let (reply, answer) = oneshot::channel();
        let request = Request::Rows { begin, sql, columns, values, reply };
        self.session.requests.send(request).map_err(|_| gone())?;
        // The next rows are made while these are stored.
        self.settle(Some(answer)).await
    }

    /// Waits for the rows sent before, and leaves `next` under way.
    async fn settle(&mut self, next: Option<oneshot::Receiver<Result<(), Error>>>) -> Result<(), Error> {
        match std::mem::replace(&mut self.under_way, next) {
            Some(answer) => answer.await.map_err(|_| gone())?,
            None => Ok(()),
        }
    }

    pub(crate) async fn finish(mut self) -> Result<Loaded, Error> {
        self.flush().await?;
        self.settle(None).await?;
        Ok(Loaded { rows: self.rows, bytes: self.bytes })
    }

    fn push_int(&mut self, value: i64) {
        self.bytes += 8;
        self.values.push(SqliteValue::Integer(value));
    }

    fn push_text(&mut self, value: String) {
        self.bytes += value.len() as u64;
        self.values.push(SqliteValue::Text(value));
    }
}

impl RowSink for Bulk<'_> {
    fn start_row(&mut self) {
        self.rows += 1;
    }

    fn small_int(&mut self, value: i32) {
        self.push_int(value.into());
    }

    fn int(&mut self, value: i32) {
        self.push_int(value.into());
    }

    fn big_int(&mut self, value: i64) {
        self.push_int(value);
    }

    fn decimal(&mut self, unscaled: i64, _scale: u8) {
        self.push_int(unscaled);
    }

    fn text(&mut self, value: &str) {
        self.push_text(value.to_owned());
    }

    fn timestamp(&mut self, us: i64) {
        let text = self.timestamp.format(us).to_owned();
        self.push_text(text);
    }

    fn null(&mut self) {
        self.values.push(SqliteValue::Null);
    }
}
