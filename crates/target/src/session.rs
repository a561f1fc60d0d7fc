//! A connection to a database.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::breakpoint::Breakpoint;
use crate::bulk::{Bulk, BulkOptions};
use crate::finding;
use crate::schema::Table;
use crate::statement_timing::{self, Laps, StatementTiming};
use crate::wire::sqlite::Interrupt;
use crate::wire::{Connection, End, Wire, dispatch};
use crate::{Access, Answer, Class, Dialect, Error, Isolation, Statement, StatementBatch, Url, Value};

/// How long a server may take to accept a connection and its settings.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// A connection to a database, over any wire.
#[derive(Debug)]
pub struct Session {
    connection: Connection,
    dialect: &'static dyn Dialect,
    /// Where the session pauses, in the isolation tests.
    breakpoint: Option<Breakpoint>,
    /// How long each statement took; `None` unless statements are timed.
    timings: Option<Laps>,
}

impl std::fmt::Debug for dyn Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a database tells about itself.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Its version, as it prints it.
    pub version: String,
    /// The settings that matter to a measurement, and those changed from their defaults.
    pub settings: BTreeMap<String, String>,
    /// The settings that make a result deviate from the standard, in words.
    pub deviations: Vec<String>,
}

impl Session {
    /// Connects.
    ///
    /// # Errors
    /// One line that names the target and the reason.
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let context = |e: Error| e.context(format_args!("can't connect to {url}"));
        // A server with another protocol may wait forever for the client to speak first.
        let opening = tokio::time::timeout(CONNECT_LIMIT, Connection::open(&url.endpoint, url.dialect()));
        let connection = opening.await.unwrap_or_else(|_| {
            let name = url.dialect().name();
            let limit = CONNECT_LIMIT.as_secs();
            Err(Error::new(Class::Lost, None, format!("no greeting of {name} within {limit} s: does it listen there?")))
        });
        let connection = connection.map_err(context)?;
        let dialect = dispatch!(&connection, wire => wire.learned_dialect()).unwrap_or(url.dialect());
        let mut session = Self { connection, dialect, breakpoint: None, timings: None };
        session.expect_its_database().await.map_err(context)?;
        Ok(session)
    }

    /// Refuses a server of another kind than the URL's scheme: its dialect, and its name in the result, would be wrong.
    async fn expect_its_database(&mut self) -> Result<(), Error> {
        if !self.dialect.wire().defaults().tells_version {
            return Ok(());
        }
        let version = self.query("SELECT version()", &[]).await?.only()?.text(0)?.to_owned();
        match crate::identify(&version) {
            Some(name) if name != self.dialect.name() => Err(Error::permanent(format!(
                "the URL says {}, but the server is {name} (`{}`): write {name}: in the URL",
                self.dialect.name(),
                version.split(" on ").next().unwrap_or(&version)
            ))),
            _ => Ok(()),
        }
    }

    /// The database's dialect.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// Prepares statements now, so that no transaction pays for it later.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn prepare(&mut self, statements: &[&'static Statement]) -> Result<(), Error> {
        dispatch!(&mut self.connection, wire => wire.prepare_all(statements).await)
    }

    /// Opens a transaction. BEGIN travels with the first batch, as drivers do it, and costs no round trip of its own.
    pub fn begin(&mut self, isolation: Isolation, access: Access) {
        dispatch!(&mut self.connection, wire => wire.begin(isolation, access));
    }

    /// The instant so many seconds ago by the database's clock, for [`Session::begin_at`]; `None` if the database can't
    /// read the past.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn instant(&mut self, seconds_ago: u64) -> Result<Option<String>, Error> {
        let Some(sql) = self.dialect.instant(seconds_ago) else { return Ok(None) };
        Ok(Some(self.query(&sql, &[]).await?.only()?.text(0)?.to_owned()))
    }

    /// Opens a transaction that reads the data as of an instant.
    pub fn begin_at(&mut self, instant: &str) {
        let sql = self.dialect.begin_at(instant);
        dispatch!(&mut self.connection, wire => wire.begin_with(sql));
    }

    /// Sends a batch of `N` calls and waits for all its answers.
    ///
    /// # Errors
    /// That of the first statement that failed; the transaction must then be rolled back.
    pub async fn send<const N: usize>(&mut self, batch: &StatementBatch<'_>) -> Result<[Answer; N], Error> {
        exactly(self.send_all(batch).await?)
    }

    /// Sends a batch of any number of calls.
    ///
    /// # Errors
    /// As [`Session::send`].
    pub async fn send_all(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        if self.breakpoint.as_ref().is_some_and(|breakpoint| breakpoint.is_before(batch)) {
            self.pause().await?;
        }
        if self.timings.is_some() {
            // Boxed, so that the future of an untimed transaction is no larger.
            return Box::pin(self.send_timed(batch)).await;
        }
        self.send_untimed(batch).await
    }

    async fn send_untimed(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        dispatch!(&mut self.connection, wire => wire.send(batch).await)
    }

    /// Times each statement of a batch, or the whole batch if it is one round trip.
    async fn send_timed(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        if self.is_pipelined() || batch.len() == 1 {
            let started = Instant::now();
            let answers = self.send_untimed(batch).await;
            self.note_timing(|| statement_timing::round_trip(&batch.calls, false), Some(started));
            return answers;
        }
        let mut answers = Vec::with_capacity(batch.len());
        for at in 0..batch.len() {
            let started = Instant::now();
            let answer = self.send_untimed(&batch.alone(at)).await;
            self.note_timing(|| batch.calls[at].statement.name.into(), Some(started));
            answers.append(&mut answer?);
        }
        Ok(answers)
    }

    /// From now on times each statement, or each batch that is one round trip.
    pub fn time_statements(&mut self) {
        self.timings = Some(Laps::default());
    }

    /// The timings since the last call, in order; empty unless statements are timed.
    pub fn take_timings(&mut self) -> Vec<StatementTiming> {
        self.timings.as_mut().map(Laps::take).unwrap_or_default()
    }

    /// The time now if statements are timed.
    fn start_lap(&self) -> Option<Instant> {
        self.timings.as_ref().map(|_| Instant::now())
    }

    fn note_timing(&mut self, name: impl FnOnce() -> Cow<'static, str>, started: Option<Instant>) {
        if let (Some(timings), Some(started)) = (&mut self.timings, started) {
            timings.end(name(), started);
        }
    }

    fn is_pipelined(&self) -> bool {
        dispatch!(&self.connection, wire => wire.is_pipelined())
    }

    /// Sends a transaction's last batch, and commits whatever it answers.
    ///
    /// # Errors
    /// As [`Session::send`] and [`Session::commit`]; then nothing is committed, or the outcome is unknown.
    pub async fn send_and_commit<const N: usize>(&mut self, batch: &StatementBatch<'_>) -> Result<[Answer; N], Error> {
        if self.is_pipelined() {
            let started = self.start_lap();
            let answers = dispatch!(&mut self.connection, wire => wire.send_and_commit(batch).await);
            self.note_timing(|| statement_timing::round_trip(&batch.calls, true), started);
            return exactly(answers?);
        }
        let answers = self.send(batch).await?;
        self.commit().await?;
        Ok(answers)
    }

    /// Pauses once at a breakpoint, if statements travel one by one.
    pub fn stop_at(&mut self, breakpoint: Breakpoint) {
        self.breakpoint = Some(breakpoint);
    }

    async fn pause(&mut self) -> Result<(), Error> {
        match self.breakpoint.take() {
            Some(breakpoint) => breakpoint.pause().await,
            None => Ok(()),
        }
    }

    /// From now on sends each batch in one round trip, if the wire can.
    pub fn pipeline(&mut self) {
        dispatch!(&mut self.connection, wire => wire.pipeline());
    }

    /// Runs a statement that is a whole transaction at `isolation`: the call of a routine. When the server answers, it
    /// has committed or rolled back; after an error no transaction is open.
    ///
    /// # Errors
    /// [`crate::Class::Unknown`] if the connection broke before the answer came.
    pub async fn transact(
        &mut self,
        isolation: Isolation,
        statement: &'static Statement,
        values: &[Value<'_>],
    ) -> Result<Answer, Error> {
        let started = self.start_lap();
        let answer = dispatch!(&mut self.connection, wire => wire.transact(isolation, statement, values).await);
        self.note_timing(|| statement.name.into(), started);
        answer
    }

    /// Commits.
    ///
    /// # Errors
    /// [`crate::Class::Unknown`] if the connection broke before the answer came.
    pub async fn commit(&mut self) -> Result<(), Error> {
        if self.breakpoint.as_ref().is_some_and(Breakpoint::is_at_end) {
            self.pause().await?;
        }
        self.end(End::Commit).await.map_err(Error::during_commit)
    }

    /// Rolls back. Sends nothing if nothing was begun at the server.
    ///
    /// # Errors
    /// If the connection is gone; the server rolls back then.
    pub async fn rollback(&mut self) -> Result<(), Error> {
        if self.breakpoint.as_ref().is_some_and(Breakpoint::is_at_end) {
            // A refusal to go on changes nothing: this is a rollback.
            let _ = self.pause().await;
        }
        self.end(End::Rollback).await
    }

    async fn end(&mut self, end: End) -> Result<(), Error> {
        let started = self.start_lap();
        let done = dispatch!(&mut self.connection, wire => wire.end(end).await);
        self.note_timing(|| end.sql().into(), started);
        done
    }

    /// Runs SQL without parameters or rows: DDL and settings.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn execute(&mut self, sql: &str) -> Result<(), Error> {
        dispatch!(&mut self.connection, wire => wire.execute(sql).await)
    }

    /// Runs one statement in standard SQL with `$n`, without keeping it prepared.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let sql = self.dialect.adapt(sql.to_owned());
        dispatch!(&mut self.connection, wire => wire.query(&sql, values).await)
    }

    /// From now on each statement outside a transaction commits on its own, as in a client's default mode.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn commit_each(&mut self) -> Result<(), Error> {
        dispatch!(&mut self.connection, wire => wire.commit_each().await)
    }

    /// From now on all statements run at this level, also those that commit on their own.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn set_level(&mut self, isolation: Isolation) -> Result<(), Error> {
        dispatch!(&mut self.connection, wire => wire.set_level(isolation).await)
    }

    /// Runs a statement in the database's own SQL, unchanged. Its [placeholders](Dialect::place) take the values in
    /// order; the simple protocol takes no values.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn ask(&mut self, sql: &str, values: &[Value<'_>], protocol: Protocol) -> Result<Answer, Error> {
        dispatch!(&mut self.connection, wire => wire.ask(sql, values, protocol).await)
    }

    /// [`Session::ask`] by the prepared protocol, with the name under which a timed session notes it.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn ask_as(&mut self, name: &str, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let started = self.start_lap();
        let answer = self.ask(sql, values, Protocol::Prepared).await;
        self.note_timing(|| name.to_owned().into(), started);
        answer
    }

    /// Runs a statement once and returns the steps that an embedded database counted.
    pub(crate) async fn steps(&mut self, sql: &str) -> Result<Option<u64>, Error> {
        dispatch!(&mut self.connection, wire => wire.steps(sql).await)
    }

    /// A handle that cancels from elsewhere what this session does; `None` if there is none. `url` is the session's.
    ///
    /// # Errors
    /// If the server doesn't tell which of its sessions this is.
    pub async fn canceller(&mut self, url: &Url) -> Result<Option<Canceller>, Error> {
        if let Some(interrupt) = dispatch!(&self.connection, wire => wire.interrupt()) {
            return Ok(Some(Canceller(Cancelling::Interrupt(interrupt))));
        }
        let Some(backend) = self.dialect.backend() else { return Ok(None) };
        let backend = self.query(backend, &[]).await?.only()?.value(0)?.to_string();
        let sql = self.dialect.cancel(&backend);
        Ok(sql.map(|sql| Canceller(Cancelling::Statement { url: url.clone(), sql })))
    }

    /// Whether a table of this name can be seen.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn has_table(&mut self, name: &str) -> Result<bool, Error> {
        dispatch!(&mut self.connection, wire => wire.has_table(name).await)
    }

    /// Starts to fill `table` inside the open transaction.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn bulk(&mut self, table: &Table, options: &BulkOptions) -> Result<Bulk<'_>, Error> {
        dispatch!(&mut self.connection, wire => wire.bulk(table, options).await)
    }

    /// Prepares the session for a load: settings that make it faster and do not outlive the session.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn tune_for_load(&mut self) -> Result<(), Error> {
        for setting in self.dialect.load_settings() {
            self.execute(setting).await?;
        }
        Ok(())
    }

    /// Prepares a loading session for what follows the rows: keys and statistics.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn tune_after_rows(&mut self) -> Result<(), Error> {
        for setting in self.dialect.settings_after_rows() {
            self.execute(setting).await?;
        }
        Ok(())
    }

    /// From now on reads everything that any node of the cluster has acknowledged.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn see_all_commits(&mut self) -> Result<(), Error> {
        dispatch!(&mut self.connection, wire => wire.see_all_commits().await)
    }

    /// Asks the database for its version and settings.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn describe(&mut self) -> Result<Description, Error> {
        let (version, settings) = dispatch!(&mut self.connection, wire => wire.describe().await)?;
        let deviations = finding::departures(self.dialect.judged_settings(), &settings);
        Ok(Description { version, settings, deviations })
    }
}

/// How a statement in the database's own SQL is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Prepared at its first use, with its values apart.
    #[default]
    Prepared,
    /// As text with its values in it, parsed and planned every time.
    Simple,
}

/// Cancels what a session is doing.
#[derive(Clone, Debug)]
pub struct Canceller(Cancelling);

#[derive(Clone, Debug)]
enum Cancelling {
    Statement { url: Url, sql: String },
    Interrupt(Interrupt),
}

impl Canceller {
    /// Cancels it. The session's own call then returns an error.
    ///
    /// # Errors
    /// If the server can't be reached, or refuses.
    pub async fn cancel(&self) -> Result<(), Error> {
        match &self.0 {
            Cancelling::Interrupt(handle) => {
                handle.now();
                Ok(())
            }
            Cancelling::Statement { url, sql } => Session::connect(url).await?.query(sql, &[]).await.map(drop),
        }
    }
}

fn exactly<const N: usize>(answers: Vec<Answer>) -> Result<[Answer; N], Error> {
    let got = answers.len();
    answers.try_into().map_err(|_| Error::permanent(format!("a batch of {got} calls where {N} were expected")))
}
