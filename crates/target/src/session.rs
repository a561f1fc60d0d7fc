//! A connection to a database.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::breakpoint::Breakpoint;
use crate::bulk::{Bulk, BulkOptions};
use crate::finding;
use crate::statement_timing::{self, Laps, StatementTiming};
use crate::url::Endpoint;
use crate::wire::{mysql, null, odbc, pg, sqlite};
use crate::{Access, Answer, Class, Dialect, Error, Isolation, Statement, StatementBatch, Url, Value};

/// How long a server may take to accept a connection and its settings.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// A connection, of whatever wire.
#[derive(Debug)]
pub struct Session {
    wire: Wire,
    dialect: &'static dyn Dialect,
    /// Where it is to stop, for the tests of isolation.
    breakpoint: Option<Breakpoint>,
    /// How long each statement took, where that is asked for.
    timings: Option<Laps>,
}

impl std::fmt::Debug for dyn Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug)]
enum Wire {
    Mysql(mysql::Session),
    Null(null::Session),
    Odbc(odbc::Session),
    Postgres(pg::Session),
    Sqlite(sqlite::Session),
}

/// What a database says of itself.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// Its version, as it prints it.
    pub version: String,
    /// The settings that matter to a measurement, and those changed from their defaults.
    pub settings: BTreeMap<String, String>,
    /// Settings with which a result is_deviation from the standard, in words.
    pub deviations: Vec<String>,
}

impl Session {
    /// Connects.
    ///
    /// # Errors
    /// One line that names the target and the reason.
    pub async fn connect(url: &Url) -> Result<Self, Error> {
        let mut dialect = url.dialect();
        let connecting = async {
            match &url.place {
                Endpoint::Mysql(opts) => mysql::Session::connect(opts, url.dialect()).await.map(Wire::Mysql),
                Endpoint::Null(delay) => Ok(Wire::Null(null::Session::new(*delay))),
                Endpoint::Odbc(source) => {
                    odbc::Session::connect(source, url.dialect()).await.map(|(session, learned)| {
                        dialect = learned;
                        Wire::Odbc(session)
                    })
                }
                Endpoint::Postgres(address) => pg::Session::connect(address, url.dialect()).await.map(Wire::Postgres),
                Endpoint::Sqlite(path) => sqlite::Session::connect(path).await.map(Wire::Sqlite),
            }
        };
        // A server of another kind may wait for us to speak first, for ever.
        let wire = tokio::time::timeout(CONNECT_LIMIT, connecting).await.unwrap_or_else(|_| {
            let (name, limit) = (url.dialect().name(), CONNECT_LIMIT.as_secs());
            Err(Error::new(Class::Lost, None, format!("no greeting of {name} within {limit} s: does it listen there?")))
        });
        let context = |e: Error| e.context(format_args!("can't connect to {url}"));
        let mut session = Self { wire: wire.map_err(context)?, dialect, breakpoint: None, timings: None };
        session.expect_its_database().await.map_err(context)?;
        Ok(session)
    }

    /// Refuses a server of another kind than the URL's scheme says: its dialect, and its name in the result, would be wrong.
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
        match &mut self.wire {
            Wire::Mysql(mysql) => mysql.prepare_all(statements).await,
            Wire::Odbc(odbc) => odbc.prepare_all(statements).await,
            Wire::Postgres(pg) => pg.prepare_all(statements).await,
            // Its statements are compiled in microseconds, at their first use.
            Wire::Null(_) | Wire::Sqlite(_) => Ok(()),
        }
    }

    /// Opens a transaction. It travels with the first batch, as drivers do it, and costs no round trip of its own.
    pub fn begin(&mut self, isolation: Isolation, access: Access) {
        match &mut self.wire {
            Wire::Odbc(odbc) => odbc.begin(isolation),
            Wire::Null(null) => null.begin(),
            _ => self.open(self.dialect.begin(isolation, access)),
        }
    }

    fn open(&mut self, begin: String) {
        match &mut self.wire {
            Wire::Mysql(mysql) => mysql.begin(begin),
            // Its level is an attribute of the connection; it can't read the past.
            Wire::Odbc(_) => {}
            Wire::Null(null) => null.begin(),
            Wire::Postgres(pg) => pg.begin(begin),
            Wire::Sqlite(sqlite) => sqlite.begin(begin),
        }
    }

    /// The instant so many seconds ago by the database's clock, for [`Session::begin_at`]; `None` if it can't read the past.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn instant(&mut self, seconds_ago: u64) -> Result<Option<String>, Error> {
        let Some(sql) = self.dialect.instant(seconds_ago) else { return Ok(None) };
        Ok(Some(self.query(&sql, &[]).await?.only()?.text(0)?.to_owned()))
    }

    /// Opens a transaction that reads the data as they were at an instant.
    pub fn begin_at(&mut self, instant: &str) {
        let sql = self.dialect.begin_at(instant);
        self.open(sql);
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
            // Boxed, so that a transaction that nobody times is no larger.
            return Box::pin(self.send_timed(batch)).await;
        }
        self.travel(batch).await
    }

    async fn travel(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        match &mut self.wire {
            Wire::Mysql(mysql) => mysql.send(batch).await,
            Wire::Null(null) => Ok(null.send(batch).await),
            Wire::Odbc(odbc) => odbc.send(batch).await,
            Wire::Postgres(pg) => pg.send_wave(batch).await,
            Wire::Sqlite(sqlite) => sqlite.send(batch).await,
        }
    }

    /// Sends a batch so that each of its statements can be timed, or as the one flight that it is.
    async fn send_timed(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        if self.is_pipelined() || batch.len() == 1 {
            let started = Instant::now();
            let answers = self.travel(batch).await;
            self.note_timing(|| statement_timing::round_trip(&batch.calls, false), Some(started));
            return answers;
        }
        let mut answers = Vec::with_capacity(batch.len());
        for at in 0..batch.len() {
            let started = Instant::now();
            let answer = self.travel(&batch.alone(at)).await;
            self.note_timing(|| batch.calls[at].statement.name.into(), Some(started));
            answers.append(&mut answer?);
        }
        Ok(answers)
    }

    /// From now on notes how long each statement takes; of waves that travel in one flight, each flight.
    pub fn time_statements(&mut self) {
        self.timings = Some(Laps::default());
    }

    /// What was noted since this was last asked, in order; nothing where nothing is noted.
    pub fn take_timings(&mut self) -> Vec<StatementTiming> {
        self.timings.as_mut().map(Laps::take).unwrap_or_default()
    }

    /// When a timing begins, if it is to be noted.
    fn start_lap(&self) -> Option<Instant> {
        self.timings.as_ref().map(|_| Instant::now())
    }

    fn note_timing(&mut self, name: impl FnOnce() -> Cow<'static, str>, started: Option<Instant>) {
        if let (Some(timings), Some(started)) = (&mut self.timings, started) {
            timings.end(name(), started);
        }
    }

    fn is_pipelined(&self) -> bool {
        match &self.wire {
            Wire::Null(null) => null.pipelined,
            Wire::Postgres(pg) => pg.pipelined,
            Wire::Mysql(_) | Wire::Odbc(_) | Wire::Sqlite(_) => false,
        }
    }

    /// Sends a batch whose answers can't change what is to be done, and commits behind it.
    ///
    /// # Errors
    /// As [`Session::send`] and [`Session::commit`]; nothing is committed then, or it is unknown.
    pub async fn send_and_commit<const N: usize>(&mut self, batch: &StatementBatch<'_>) -> Result<[Answer; N], Error> {
        let started = self.start_lap();
        let flown = match &mut self.wire {
            Wire::Postgres(pg) if pg.pipelined => Some(pg.send_and_commit(batch).await),
            Wire::Null(null) if null.pipelined => Some(Ok(null.send_and_commit(batch).await)),
            _ => None,
        };
        if let Some(answers) = flown {
            self.note_timing(|| statement_timing::round_trip(&batch.calls, true), started);
            return exactly(answers?);
        }
        let answers = self.send(batch).await?;
        self.commit().await?;
        Ok(answers)
    }

    /// Has it stop once, where statements travel one by one.
    pub fn stop_at(&mut self, breakpoint: Breakpoint) {
        self.breakpoint = Some(breakpoint);
    }

    async fn pause(&mut self) -> Result<(), Error> {
        match self.breakpoint.take() {
            Some(breakpoint) => breakpoint.pause().await,
            None => Ok(()),
        }
    }

    /// From now on sends each batch in one flight, where the wire can.
    pub fn pipeline(&mut self) {
        match &mut self.wire {
            Wire::Null(null) => null.pipelined = true,
            Wire::Postgres(pg) => pg.pipelined = true,
            _ => {}
        }
    }

    /// Runs a statement that is a whole transaction at `isolation`: a call of a routine. When the server answers it
    /// has committed or rolled back, and after an error no transaction is open.
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
        let answer = match &mut self.wire {
            Wire::Mysql(mysql) => {
                mysql.transact(self.dialect.begin(isolation, Access::ReadWrite), statement, values).await
            }
            Wire::Null(null) => Ok(null.transact(statement, values).await),
            Wire::Postgres(pg) => pg.transact(isolation, statement, values).await,
            Wire::Odbc(_) | Wire::Sqlite(_) => {
                Err(Error::permanent(format!("{} has no routines", self.dialect.name())))
            }
        };
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
        let started = self.start_lap();
        let done = match &mut self.wire {
            Wire::Mysql(mysql) => mysql.end("COMMIT").await,
            Wire::Null(null) => {
                null.end().await;
                Ok(())
            }
            Wire::Odbc(odbc) => odbc.end(true).await,
            Wire::Postgres(pg) => pg.end("COMMIT").await,
            Wire::Sqlite(sqlite) => sqlite.end("COMMIT").await,
        };
        self.note_timing(|| "COMMIT".into(), started);
        done.map_err(Error::during_commit)
    }

    /// Rolls back. Nothing is sent if nothing was begun at the server.
    ///
    /// # Errors
    /// If the connection is gone; the server rolls back then by itself.
    pub async fn rollback(&mut self) -> Result<(), Error> {
        if self.breakpoint.as_ref().is_some_and(Breakpoint::is_at_end) {
            // Both ways lead back from here.
            let _ = self.pause().await;
        }
        let started = self.start_lap();
        let done = match &mut self.wire {
            Wire::Mysql(mysql) => mysql.end("ROLLBACK").await,
            Wire::Null(null) => {
                null.end().await;
                Ok(())
            }
            Wire::Odbc(odbc) => odbc.end(false).await,
            Wire::Postgres(pg) => pg.end("ROLLBACK").await,
            Wire::Sqlite(sqlite) => sqlite.end("ROLLBACK").await,
        };
        self.note_timing(|| "ROLLBACK".into(), started);
        done
    }

    /// Runs SQL without parameters or rows: DDL and settings.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn execute(&mut self, sql: &str) -> Result<(), Error> {
        match &mut self.wire {
            Wire::Mysql(mysql) => mysql.execute(sql).await,
            Wire::Null(_) => Err(null::without_data()),
            Wire::Odbc(odbc) => odbc.execute(sql).await,
            Wire::Postgres(pg) => pg.execute(sql).await,
            Wire::Sqlite(sqlite) => sqlite.execute(sql).await,
        }
    }

    /// Runs one statement that is not worth keeping prepared, written in standard SQL with `$n`.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let sql = self.dialect.adapt(sql.to_owned());
        match &mut self.wire {
            Wire::Mysql(mysql) => mysql.query(&sql, values).await,
            Wire::Null(_) => Err(null::without_data()),
            Wire::Odbc(odbc) => odbc.query(&sql, values).await,
            Wire::Postgres(pg) => pg.query(&sql, values).await,
            Wire::Sqlite(sqlite) => sqlite.query(sql, values).await,
        }
    }

    /// From now on a statement outside a transaction commits by itself, as a client that says nothing has it.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn commit_each(&mut self) -> Result<(), Error> {
        match &mut self.wire {
            Wire::Mysql(mysql) => mysql.commit_each().await,
            Wire::Odbc(odbc) => odbc.commit_each().await,
            Wire::Null(_) | Wire::Postgres(_) | Wire::Sqlite(_) => Ok(()),
        }
    }

    /// From now on all statements run at this level, also those that commit by themselves.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn set_level(&mut self, isolation: Isolation) -> Result<(), Error> {
        match &mut self.wire {
            Wire::Mysql(mysql) => mysql.set_level(self.dialect.begin(isolation, Access::ReadWrite)).await,
            Wire::Odbc(odbc) => odbc.set_level(isolation).await,
            Wire::Postgres(pg) => {
                let sql = format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {}", isolation.sql());
                pg.execute(&sql).await
            }
            // It has one level.
            Wire::Null(_) | Wire::Sqlite(_) => Ok(()),
        }
    }

    /// Runs a statement in the database's own SQL, untouched. Its values stand at [`Dialect::place`]s, in their order;
    /// the simple protocol takes none.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn ask(&mut self, sql: &str, values: &[Value<'_>], protocol: Protocol) -> Result<Answer, Error> {
        match (&mut self.wire, protocol) {
            (Wire::Mysql(mysql), Protocol::Prepared) => mysql.ask(sql, values).await,
            (Wire::Mysql(mysql), Protocol::Simple) => mysql.query(sql, &[]).await,
            (Wire::Odbc(odbc), Protocol::Prepared) => odbc.statement(sql, values).await,
            (Wire::Odbc(odbc), Protocol::Simple) => odbc.query(sql, &[]).await,
            (Wire::Postgres(pg), Protocol::Prepared) => pg.ask(sql, values).await,
            (Wire::Postgres(pg), Protocol::Simple) => pg.ask_simply(sql).await,
            (Wire::Sqlite(sqlite), Protocol::Prepared) => sqlite.query(sql.to_owned(), values).await,
            (Wire::Sqlite(sqlite), Protocol::Simple) => sqlite.once(sql, &[]).await.map(|(answer, _)| answer),
            (Wire::Null(_), _) => Err(null::without_data()),
        }
    }

    /// [`Session::ask`] by the prepared protocol, with a name under which its time is noted if statements are timed.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn ask_as(&mut self, name: &str, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let started = self.start_lap();
        let answer = self.ask(sql, values, Protocol::Prepared).await;
        self.note_timing(|| name.to_owned().into(), started);
        answer
    }

    /// Runs a statement once and tells the steps that an embedded database counted for it.
    pub(crate) async fn steps(&mut self, sql: &str) -> Result<Option<u64>, Error> {
        match &mut self.wire {
            Wire::Sqlite(sqlite) => sqlite.once(sql, &[]).await.map(|(_, steps)| Some(steps)),
            _ => Ok(None),
        }
    }

    /// A way to break off what this session does, from elsewhere; `None` where there is none. `url` is its own.
    ///
    /// # Errors
    /// If the server doesn't tell which of its sessions this is.
    pub async fn canceller(&mut self, url: &Url) -> Result<Option<Canceller>, Error> {
        if let Wire::Sqlite(sqlite) = &self.wire {
            return Ok(Some(Canceller(Cancelling::Interrupt(sqlite.interrupt()))));
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
        let sql = match &mut self.wire {
            Wire::Odbc(odbc) => return odbc.has_table(name).await,
            Wire::Null(_) => return Ok(false),
            Wire::Mysql(_) => mysql::TABLE_EXISTS,
            Wire::Postgres(_) => pg::TABLE_EXISTS,
            Wire::Sqlite(_) => sqlite::TABLE_EXISTS,
        };
        Ok(!self.query(sql, &[name.into()]).await?.is_empty())
    }

    /// Starts to fill `table` inside the open transaction.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn bulk(&mut self, table: &crate::schema::Table, options: &BulkOptions) -> Result<Bulk<'_>, Error> {
        match &mut self.wire {
            Wire::Mysql(mysql) => Ok(Bulk::mysql(mysql.bulk(table).await?)),
            Wire::Null(_) => Err(null::without_data()),
            Wire::Odbc(odbc) => Ok(Bulk::odbc(odbc.bulk(table).await?)),
            Wire::Postgres(pg) => Ok(Bulk::postgres(pg.bulk(table, options).await?)),
            Wire::Sqlite(sqlite) => Ok(Bulk::sqlite(sqlite.bulk(table))),
        }
    }

    /// Prepares the session for loading: settings that make bulk work faster and change nothing that stays.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn tune_for_load(&mut self) -> Result<(), Error> {
        for setting in self.dialect.load_settings() {
            self.execute(setting).await?;
        }
        Ok(())
    }

    /// Prepares a session that loads for what comes after the rows: keys and statistics.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn tune_after_rows(&mut self) -> Result<(), Error> {
        for setting in self.dialect.settings_after_rows() {
            self.execute(setting).await?;
        }
        Ok(())
    }

    /// From now on sees whatever was acknowledged anywhere in the cluster before it asks, where that is not so by itself.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn see_all_commits(&mut self) -> Result<(), Error> {
        match &mut self.wire {
            Wire::Mysql(mysql) => mysql.see_all_commits().await,
            Wire::Null(_) | Wire::Odbc(_) | Wire::Postgres(_) | Wire::Sqlite(_) => Ok(()),
        }
    }

    /// Asks the database about itself.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn describe(&mut self) -> Result<Description, Error> {
        let (version, settings) = match &mut self.wire {
            Wire::Mysql(mysql) => mysql.describe().await?,
            Wire::Null(null) => null.describe(),
            Wire::Odbc(odbc) => odbc.describe().await?,
            Wire::Postgres(pg) => pg.describe().await?,
            Wire::Sqlite(sqlite) => sqlite.describe().await?,
        };
        let deviations = finding::departures(self.dialect.judged_settings(), &settings);
        Ok(Description { version, settings, deviations })
    }
}

/// How a statement of the user's own travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Prepared when it first comes, its values apart from it.
    #[default]
    Prepared,
    /// As text, read and planned each time, its values written into it.
    Simple,
}

/// Breaks off what a session is doing.
#[derive(Clone, Debug)]
pub struct Canceller(Cancelling);

#[derive(Clone, Debug)]
enum Cancelling {
    Statement { url: Url, sql: String },
    Interrupt(sqlite::Interrupt),
}

impl Canceller {
    /// Breaks it off. The session's own call then ends with an error.
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
