//! The PostgreSQL wire: prepared statements in binary form, several in one round trip, COPY BINARY for bulk load.
//!
//! The messages are put together by `postgres-protocol`, and a connection is opened by `tokio-postgres`. From there on
//! the stream is ours: a batch is one write and, as a rule, one read, in the task of the terminal that waits for it.

mod bulk;
mod connect;
mod line;
mod refusal;
mod rows;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use postgres_protocol::message::frontend::{self, BindError};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::types::Type;

use crate::bulk::{BulkOptions, BulkWire};
use crate::dialect::{Access, Dialect, Isolation};
use crate::finding::Setting;
use crate::postgres::Address;
use crate::schema::Table;
use crate::scratch_schema::SchemaSql;
use crate::statement_batch::{self, Call};
use crate::wire::{CatalogSql, End, Wire, WireDefaults};
use crate::{Answer, Class, Error, Protocol, Statement, StatementBatch, Value};
use line::{Line, lost, tag};
use refusal::{FAILED_TRANSACTION, Refusal, garbled, unexpected};
use rows::{Cells, Column};

pub(crate) use bulk::Bulk;
pub(crate) use rows::Rows;

pub(crate) const DEFAULTS: WireDefaults = WireDefaults {
    name: "PostgreSQL",
    bulk_path: "COPY BINARY",
    tells_version: true,
    pipelines: true,
    backend: Some("SELECT pg_backend_pid()"),
    cancel: Some("SELECT pg_cancel_backend({})"),
    // Not the start of the transaction.
    clock: Some("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"),
    scratch_schema: Some(SchemaSql {
        create: "CREATE SCHEMA {}",
        enter: "SET search_path TO {}",
        drop: "DROP SCHEMA {} CASCADE",
        exists: "SELECT 1 FROM information_schema.schemata WHERE schema_name = '{}'",
    }),
    placeholder: |number| format!("${number}"),
    // The form with E does not depend on standard_conforming_strings.
    text_literal: |text| {
        let prefix = if text.contains('\\') { "E" } else { "" };
        format!("{prefix}'{}'", text.replace('\'', "''").replace('\\', "\\\\"))
    },
    catalog: Some(CatalogSql {
        columns: "SELECT CAST(attname AS TEXT) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 \
                  AND NOT attisdropped ORDER BY attnum",
        indexes: "SELECT CAST(i.relname AS TEXT), COALESCE(CAST(a.attname AS TEXT), ''), \
                  CAST(CASE WHEN x.indpred IS NULL THEN '' ELSE 'partial' END AS TEXT) \
                  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid \
                  CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k(n, place) \
                  LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.n \
                  WHERE x.indrelid = to_regclass($1) ORDER BY i.relname, k.place",
        bytes: None,
    }),
    ..WireDefaults::STANDARD
};

const TABLE_EXISTS: &str = "SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass(quote_ident($1)) AND relkind IN ('r', 'p', 'v', 'f', 'm')";

/// Settings recorded beside the judged ones whatever their source, since each can change a result several times over.
const SETTINGS: [&str; 4] = ["effective_cache_size", "work_mem", "wal_level", "random_page_cost"];

/// All values travel in binary form, as a rule.
const BINARY: [i16; 1] = [1];

/// The server's word that no transaction is open.
const IDLE: u8 = b'I';

/// Its word that the open one has failed, and can only be rolled back.
const FAILED: u8 = b'E';

#[derive(Debug)]
pub(crate) struct Session {
    line: Line,
    dialect: &'static dyn Dialect,
    /// By [`Statement::key`].
    prepared: HashMap<(usize, usize), Arc<Prepared>>,
    /// BEGIN, COMMIT and their like, and the user's own statements, by their text.
    texts: HashMap<String, Arc<Prepared>>,
    /// How many names have been given.
    named: usize,
    /// A BEGIN that travels with the next batch.
    pending_begin: Option<String>,
    /// What the server said of its transaction when it was last ready.
    status: u8,
    /// A COPY is open; its end has not been asked for.
    copying: bool,
    /// Whether the statements of a batch share one round trip.
    pipelined: bool,
    /// The level of transactions that open without BEGIN, once it is set.
    default_level: Option<Isolation>,
}

/// A statement that the server knows by name.
#[derive(Debug)]
struct Prepared {
    name: String,
    parameters: Vec<Option<Type>>,
    columns: Arc<[Column]>,
    /// The form of each column, or one for all.
    formats: Vec<i16>,
}

/// What the server answers to one step of an exchange.
#[derive(Debug, Default)]
struct Step {
    affected: u64,
    cells: Cells,
}

/// A refusal, and the number of the step that met it.
type Refused = (usize, Error);

impl Session {
    pub(crate) async fn connect(address: &Address, dialect: &'static dyn Dialect) -> Result<Self, Error> {
        let mut refused = lost("the URL names no host");
        for at in 0..address.config.get_hosts().len() {
            match Self::connect_to(address, at, dialect).await {
                Ok(session) => return Ok(session),
                Err(e) => refused = e,
            }
        }
        Err(refused)
    }

    async fn connect_to(address: &Address, host: usize, dialect: &'static dyn Dialect) -> Result<Self, Error> {
        let mut session = Self {
            line: Line::new(connect::open(address, host).await?),
            dialect,
            prepared: HashMap::new(),
            texts: HashMap::new(),
            named: 0,
            pending_begin: None,
            status: IDLE,
            copying: false,
            pipelined: false,
            default_level: None,
        };
        // Dates of the load and of the run in one time zone, whatever the server's.
        session.execute("SET TIME ZONE 'UTC'").await?;
        let (wanted, refusal) = match address.config.get_target_session_attrs() {
            TargetSessionAttrs::ReadWrite => ("off", "the server does not take writes"),
            TargetSessionAttrs::ReadOnly => ("on", "the server takes writes"),
            _ => return Ok(session),
        };
        let read_only = session.query("SHOW transaction_read_only", &[]).await?.only()?.text(0)?.to_owned();
        if read_only == wanted { Ok(session) } else { Err(lost(refusal)) }
    }

    async fn prepared(&mut self, statement: &'static Statement, rows: usize) -> Result<Arc<Prepared>, Error> {
        if let Some(prepared) = self.prepared.get(&statement.key(rows)) {
            return Ok(prepared.clone());
        }
        let sql = self.dialect.adapt(statement.expand(rows));
        let prepared = self.parse_one(sql).await.map_err(|e| e.context(statement.name))?;
        self.prepared.insert(statement.key(rows), prepared.clone());
        Ok(prepared)
    }

    async fn text(&mut self, sql: &str) -> Result<Arc<Prepared>, Error> {
        if let Some(prepared) = self.texts.get(sql) {
            return Ok(prepared.clone());
        }
        let prepared = self.parse_one(sql.to_owned()).await?;
        self.texts.insert(sql.to_owned(), prepared.clone());
        Ok(prepared)
    }

    async fn parse_one(&mut self, sql: String) -> Result<Arc<Prepared>, Error> {
        let names = self.names(1);
        let mut prepared = self.parse(names, &[sql]).await.map_err(|(_, e)| e)?;
        prepared.pop().ok_or_else(|| lost("no answer to a statement"))
    }

    /// Names that no statement has yet.
    fn names(&mut self, count: usize) -> Vec<String> {
        let first = self.named;
        self.named += count;
        (first..self.named).map(|number| format!("s{number}")).collect()
    }

    /// Prepares statements in one round trip.
    async fn parse(&mut self, names: Vec<String>, texts: &[String]) -> Result<Vec<Arc<Prepared>>, Refused> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        for (name, sql) in names.iter().zip(texts) {
            self.write(|out| frontend::parse(name, sql, [], out)).map_err(|e| (0, e))?;
            self.write(|out| frontend::describe(b'S', name, out)).map_err(|e| (0, e))?;
        }
        frontend::sync(&mut self.line.out);
        self.flush().await.map_err(|e| (0, e))?;
        let mut described = Vec::with_capacity(texts.len());
        let mut refused = None;
        for (step, name) in names.into_iter().enumerate() {
            match self.described(name).await {
                Ok(prepared) => described.push(Arc::new(prepared)),
                Err(refusal) => {
                    refused = Some((step, refusal));
                    break;
                }
            }
        }
        self.settle(refused).await?;
        self.line.forget();
        Ok(described)
    }

    /// Reads the answer to one Parse and Describe.
    async fn described(&mut self, name: String) -> Result<Prepared, Refusal> {
        let mut parameters = Vec::new();
        loop {
            let (tag, place) = self.line.message().await?;
            let body = self.line.body(place);
            let columns = match tag {
                tag::PARSE_COMPLETE => continue,
                tag::PARAMETER_DESCRIPTION => {
                    parameters = rows::parameters(body).ok_or_else(garbled)?;
                    continue;
                }
                tag::NO_DATA => Vec::new(),
                tag::ROW_DESCRIPTION => rows::columns(body, false).ok_or_else(garbled)?,
                tag::ERROR => return Err(Refusal::read(body)),
                _ => return Err(unexpected(tag)),
            };
            let formats = if columns.iter().all(|column| column.binary) {
                BINARY.to_vec()
            } else {
                columns.iter().map(|column| column.binary.into()).collect()
            };
            return Ok(Prepared { name, parameters, columns: columns.into(), formats });
        }
    }

    /// Sends an opening BEGIN, calls of a batch and perhaps a last verb together, and reads all answers. One Sync
    /// stands behind them, so that after an error the server skips the rest.
    async fn round_trip(
        &mut self,
        calls: &[Call],
        batch: &StatementBatch<'_>,
        last: Option<&str>,
    ) -> Result<Vec<Answer>, Error> {
        let begin = match self.pending_begin.take() {
            Some(begin) => Some(self.text(&begin).await?),
            None => None,
        };
        let last = match last {
            Some(last) => Some(self.text(last).await?),
            None => None,
        };
        let mut prepared = Vec::with_capacity(calls.len());
        for call in calls {
            prepared.push(self.prepared(call.statement, call.rows).await?);
        }
        if let Some(begin) = &begin {
            self.write_call(begin, &[])?;
        }
        for (call, prepared) in calls.iter().zip(&prepared) {
            self.write_call(prepared, &batch.values[call.values.clone()])
                .map_err(|e| e.context(call.statement.name))?;
        }
        if let Some(last) = &last {
            self.write_call(last, &[])?;
        }
        let begun = usize::from(begin.is_some());
        let steps = self.exchange(begun + calls.len() + usize::from(last.is_some())).await;
        let (data, steps) = steps.map_err(|(at, e)| match calls.get(at.wrapping_sub(begun)) {
            Some(call) => e.context(call.statement.name),
            None => e,
        })?;
        let answered = |((call, prepared), step): ((&Call, Arc<Prepared>), Step)| {
            answer(call.statement.name, prepared.columns.clone(), data.clone(), step)
        };
        Ok(calls.iter().zip(prepared).zip(steps.into_iter().skip(begun)).map(answered).collect())
    }

    /// Runs SQL by the simple protocol. The rows are those of its last statement that has some.
    async fn ask_simply(&mut self, sql: &str) -> Result<Answer, Error> {
        self.flush_begin().await?;
        self.run(sql).await
    }

    async fn run(&mut self, sql: &str) -> Result<Answer, Error> {
        self.write(|out| frontend::query(sql, out))?;
        self.flush().await?;
        let (mut columns, mut step, mut refused): (Arc<[Column]>, Step, Option<Refusal>) = Default::default();
        loop {
            let (tag, place) = self.line.message().await?;
            let start = place.start;
            let body = self.line.body(place.clone());
            match tag {
                tag::ERROR => refused = Some(Refusal::read(body)),
                tag::ROW_DESCRIPTION => {
                    columns = rows::columns(body, true).ok_or_else(|| garbled().error())?.into();
                    step.cells.clear();
                }
                tag::DATA_ROW => {
                    rows::note_cells(body, start, &mut step.cells).ok_or_else(|| garbled().error())?;
                }
                tag::COMMAND_COMPLETE => step.affected = affected(body),
                tag::READY => {
                    self.ready(place)?;
                    break;
                }
                _ => {}
            }
        }
        if let Some(refusal) = refused {
            self.line.forget();
            return Err(refusal.error());
        }
        Ok(answer("query", columns, self.line.take(), step))
    }

    /// Runs a statement of the user's own, prepared when it first comes.
    async fn ask_prepared(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        self.flush_begin().await?;
        let prepared = self.text(sql).await?;
        self.call(&prepared, values, "statement").await
    }

    async fn call(&mut self, prepared: &Prepared, values: &[Value<'_>], name: &'static str) -> Result<Answer, Error> {
        self.write_call(prepared, values)?;
        let (data, steps) = self.exchange(1).await.map_err(|(_, e)| e)?;
        let step = steps.into_iter().next().unwrap_or_default();
        Ok(answer(name, prepared.columns.clone(), data, step))
    }

    async fn flush_begin(&mut self) -> Result<(), Error> {
        match self.pending_begin.take() {
            Some(begin) => self.run(&begin).await.map(drop),
            None => Ok(()),
        }
    }

    /// Starts a COPY FROM STDIN; the line stays engaged until [`Session::close_copy`].
    async fn open_copy(&mut self, sql: &str) -> Result<(), Error> {
        self.write(|out| frontend::query(sql, out))?;
        self.flush().await?;
        match self.line.message().await? {
            (tag::COPY_IN, _) => {
                self.line.forget();
                self.copying = true;
                Ok(())
            }
            (tag::ERROR, place) => {
                let refusal = Refusal::read(self.line.body(place));
                self.settle(Some((0, refusal))).await.map_err(|(_, e)| e)
            }
            (tag, _) => Err(unexpected(tag).error()),
        }
    }

    /// Reads how many rows a COPY stored, once its end has been sent.
    async fn close_copy(&mut self) -> Result<u64, Error> {
        self.copying = false;
        let stored = self.step().await;
        let (stored, refused) = match stored {
            Ok(step) => (step.affected, None),
            Err(refusal) => (0, Some((0, refusal))),
        };
        self.settle(refused).await.map_err(|(_, e)| e)?;
        self.line.forget();
        Ok(stored)
    }

    fn write(&mut self, message: impl FnOnce(&mut BytesMut) -> std::io::Result<()>) -> Result<(), Error> {
        message(&mut self.line.out).map_err(|e| {
            self.line.out.clear();
            Error::permanent(e.to_string())
        })
    }

    /// Gathers a bound call.
    fn write_call(&mut self, prepared: &Prepared, values: &[Value<'_>]) -> Result<(), Error> {
        let out = &mut self.line.out;
        if values.len() != prepared.parameters.len() {
            out.clear();
            let given = values.len();
            let wanted = prepared.parameters.len();
            return Err(Error::permanent(format!("{given} values for {wanted} parameters")));
        }
        let typed = values.iter().zip(&prepared.parameters);
        let as_text = |(value, ty): (&Value<'_>, &Option<Type>)| rows::travels_as_text(*value, ty.as_ref());
        // One form for all, or one for each.
        let mixed = typed.clone().any(as_text);
        let forms = typed.clone().filter(|_| mixed).map(|one| i16::from(!as_text(one)));
        let forms = forms.chain(BINARY.into_iter().filter(|_| !mixed));
        let put =
            |(value, ty): (&Value<'_>, &Option<Type>), out: &mut BytesMut| Ok(rows::put(*value, ty.as_ref(), out)?);
        let written = match frontend::bind("", &prepared.name, forms, typed, put, prepared.formats.iter().copied(), out)
        {
            Ok(()) => frontend::execute("", 0, out).map_err(|e| e.to_string()),
            Err(BindError::Conversion(e)) => Err(e.to_string()),
            Err(BindError::Serialization(e)) => Err(e.to_string()),
        };
        written.map_err(|e| {
            out.clear();
            Error::permanent(e)
        })
    }

    /// Sends what has gathered, with a Sync behind, and reads the answers of as many steps.
    async fn exchange(&mut self, steps: usize) -> Result<(Bytes, Vec<Step>), Refused> {
        frontend::sync(&mut self.line.out);
        self.flush().await.map_err(|e| (0, e))?;
        let mut answers = Vec::with_capacity(steps);
        let mut refused = None;
        while answers.len() < steps && refused.is_none() {
            match self.step().await {
                Ok(step) => answers.push(step),
                Err(refusal) => refused = Some((answers.len(), refusal)),
            }
        }
        self.settle(refused).await?;
        Ok((self.line.take(), answers))
    }

    /// Sends the gathered messages, after ending a COPY that was left open.
    async fn flush(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.copying) {
            let mut fail = BytesMut::new();
            frontend::copy_fail("given up", &mut fail).map_err(|e| Error::permanent(e.to_string()))?;
            self.line.pour(&fail).await?;
            // Its refusal is what was asked for.
            while self.line.message().await?.0 != tag::READY {}
            self.status = FAILED;
            self.line.answered();
            self.line.forget();
        }
        self.line.send().await
    }

    /// Reads the answer to one call.
    async fn step(&mut self) -> Result<Step, Refusal> {
        let mut step = Step::default();
        loop {
            let (tag, place) = self.line.message().await?;
            let start = place.start;
            let body = self.line.body(place);
            match tag {
                tag::DATA_ROW => rows::note_cells(body, start, &mut step.cells).ok_or_else(garbled)?,
                tag::COMMAND_COMPLETE => {
                    step.affected = affected(body);
                    return Ok(step);
                }
                tag::BIND_COMPLETE => {}
                tag::EMPTY_QUERY => return Ok(step),
                tag::ERROR => return Err(Refusal::read(body)),
                _ => return Err(unexpected(tag)),
            }
        }
    }

    /// Reads on until the server is ready again, and says what it refused before.
    async fn settle(&mut self, mut refused: Option<(usize, Refusal)>) -> Result<(), Refused> {
        if let Some((at, Refusal::Lost(e))) = refused {
            return Err((at, e));
        }
        loop {
            match (self.line.message().await, refused) {
                (Ok((tag::READY, place)), refused) => {
                    self.ready(place).map_err(|e| (0, e))?;
                    let Some((at, refusal)) = refused else { return Ok(()) };
                    self.line.forget();
                    return Err((at, refusal.error()));
                }
                // Without BEGIN the server commits after the answers, and may refuse that: none of the steps, all of them.
                (Ok((tag::ERROR, place)), None) => refused = Some((usize::MAX, Refusal::read(self.line.body(place)))),
                (Ok(_), again) => refused = again,
                // The server's last words say more than that it is gone.
                (Err(_), Some((at, refusal))) => return Err((at, refusal.error_of_lost())),
                (Err(e), None) => return Err((0, e)),
            }
        }
    }

    /// Takes note of ReadyForQuery.
    fn ready(&mut self, place: Range<usize>) -> Result<(), Error> {
        self.status = *self.line.body(place).first().ok_or_else(|| lost("garbled"))?;
        self.line.answered();
        Ok(())
    }
}

impl Wire for Session {
    async fn prepare_all(&mut self, statements: &[&'static Statement]) -> Result<(), Error> {
        let all = statements.iter().flat_map(|statement| {
            let rows = statement.rows.0..=statement.rows.1;
            rows.map(move |rows| (*statement, rows))
        });
        let missing: Vec<_> =
            all.filter(|(statement, rows)| !self.prepared.contains_key(&statement.key(*rows))).collect();
        let texts: Vec<_> =
            missing.iter().map(|(statement, rows)| self.dialect.adapt(statement.expand(*rows))).collect();
        let names = self.names(texts.len());
        let prepared = self.parse(names, &texts).await.map_err(|(at, e)| match missing.get(at) {
            Some((statement, _)) => e.context(statement.name),
            None => e,
        })?;
        self.prepared.extend(missing.iter().map(|(statement, rows)| statement.key(*rows)).zip(prepared));
        Ok(())
    }

    fn begin(&mut self, isolation: Isolation, access: Access) {
        self.begin_with(self.dialect.begin(isolation, access));
    }

    fn begin_with(&mut self, sql: String) {
        self.pending_begin = Some(sql);
    }

    /// Sends one statement after the other, or all in one round trip; BEGIN shares the first one.
    async fn send(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        if self.pipelined {
            return self.round_trip(&batch.calls, batch, None).await;
        }
        let mut answers = Vec::with_capacity(batch.calls.len());
        for call in &batch.calls {
            answers.append(&mut self.round_trip(std::slice::from_ref(call), batch, None).await?);
        }
        Ok(answers)
    }

    fn is_pipelined(&self) -> bool {
        self.pipelined
    }

    fn pipeline(&mut self) {
        self.pipelined = true;
    }

    /// Sends all statements and COMMIT in one round trip. After an error the server skips the COMMIT.
    async fn send_and_commit(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        // Without every answer the outcome of COMMIT is unknown.
        self.round_trip(&batch.calls, batch, Some("COMMIT")).await.map_err(Error::during_commit)
    }

    async fn transact(
        &mut self,
        isolation: Isolation,
        statement: &'static Statement,
        values: &[Value<'_>],
    ) -> Result<Answer, Error> {
        if self.default_level != Some(isolation) {
            self.set_level(isolation).await?;
        }
        let prepared = self.prepared(statement, 1).await?;
        let called = self.call(&prepared, values, statement.name).await;
        called.map_err(|e| e.during_commit().context(statement.name))
    }

    async fn end(&mut self, end: End) -> Result<(), Error> {
        if self.pending_begin.take().is_some() || self.status == IDLE {
            return Ok(());
        }
        let failed = self.status == FAILED;
        let prepared = self.text(if failed { End::Rollback } else { end }.sql()).await?;
        self.call(&prepared, &[], "the end of a transaction").await?;
        if failed && end == End::Commit {
            let message = "COMMIT of a transaction that had failed: it was rolled back";
            return Err(Error::new(Class::Permanent, Some(FAILED_TRANSACTION.to_owned()), message));
        }
        Ok(())
    }

    /// Runs SQL by the simple protocol.
    async fn execute(&mut self, sql: &str) -> Result<(), Error> {
        self.ask_simply(sql).await.map(drop)
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        self.flush_begin().await?;
        // Without a name: the next one takes its place.
        let mut prepared = self.parse(vec![String::new()], &[sql.to_owned()]).await.map_err(|(_, e)| e)?;
        let prepared = prepared.pop().ok_or_else(|| lost("no answer to a statement"))?;
        self.call(&prepared, values, "query").await
    }

    async fn ask(&mut self, sql: &str, values: &[Value<'_>], protocol: Protocol) -> Result<Answer, Error> {
        match protocol {
            Protocol::Prepared => self.ask_prepared(sql, values).await,
            Protocol::Simple => self.ask_simply(sql).await,
        }
    }

    /// The level of transactions without BEGIN is the session's default.
    async fn set_level(&mut self, isolation: Isolation) -> Result<(), Error> {
        let sql = format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {}", isolation.sql());
        self.execute(&sql).await?;
        self.default_level = Some(isolation);
        Ok(())
    }

    async fn has_table(&mut self, name: &str) -> Result<bool, Error> {
        Ok(!self.query(TABLE_EXISTS, &[name.into()]).await?.is_empty())
    }

    async fn bulk(&mut self, table: &Table, options: &BulkOptions) -> Result<crate::bulk::Bulk<'_>, Error> {
        Ok(crate::bulk::Bulk(BulkWire::Postgres(Bulk::open(self, table, options).await?)))
    }

    async fn describe(&mut self) -> Result<(String, BTreeMap<String, String>), Error> {
        let version = self.query("SELECT version()", &[]).await?.only()?.text(0)?.to_owned();
        let mut settings = BTreeMap::new();
        let judged = self.dialect.judged_settings().iter().map(Setting::name);
        let names: Vec<String> = SETTINGS.into_iter().chain(judged).map(|name| format!("'{name}'")).collect();
        let sql = format!(
            "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ({}) \
             OR source NOT IN ('default', 'client', 'override', 'session') ORDER BY name",
            names.join(", ")
        );
        for row in self.query(self.dialect.settings().unwrap_or(&sql), &[]).await?.rows() {
            let name = row.text(0)?;
            // Paths have no effect on speed and reveal the machine; primary_conninfo may hold a password.
            if !name.ends_with("_file") && !name.ends_with("_directory") && name != "primary_conninfo" {
                settings.insert(name.to_owned(), row.text(1)?.to_owned());
            }
        }
        Ok((version, settings))
    }
}

fn answer(statement: &'static str, columns: Arc<[Column]>, data: Bytes, step: Step) -> Answer {
    Answer {
        statement,
        rows: statement_batch::Rows::Postgres(Rows::new(columns, data, step.cells)),
        affected: step.affected,
    }
}

/// The number at the end of a command's tag: `INSERT 0 5`.
fn affected(tag: &[u8]) -> u64 {
    let digits = |byte: &u8| byte.is_ascii_digit();
    let tag = tag.strip_suffix(b"\0").unwrap_or(tag);
    let last = tag.iter().rev().take_while(|byte| digits(byte)).count();
    tag[tag.len() - last..].iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_ends_with_the_rows() {
        let cases: [(&[u8], u64); 5] =
            [(b"INSERT 0 15\0", 15), (b"UPDATE 3\0", 3), (b"COMMIT\0", 0), (b"SELECT 0\0", 0), (b"", 0)];
        for (tag, rows) in cases {
            assert_eq!(affected(tag), rows, "{}", tag.escape_ascii());
        }
    }
}
