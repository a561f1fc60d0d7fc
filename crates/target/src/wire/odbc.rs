//! The ODBC wire: one OS thread a connection, since its calls block; a batch is one message there and back.

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;

use odbc::{Connection, Info, Parameter, Parameters};
use tokio::sync::oneshot;

use crate::bulk::{BulkOptions, BulkWire};
use crate::dialect::{Access, Dialect};
use crate::odbc::{KnownDatabase, Source, known, learn};
use crate::schema::Table;
use crate::statement::positional;
use crate::statement_batch::{Call, Rows};
use crate::wire::{End, Wire, WireDefaults};
use crate::{Answer, Class, Decimal, Error, Isolation, OwnedValue, Protocol, Statement, StatementBatch, Value};

mod bulk;

pub(crate) use bulk::Bulk;

pub(crate) const DEFAULTS: WireDefaults =
    WireDefaults { name: "ODBC", bulk_path: "INSERT with arrays of parameters", ..WireDefaults::STANDARD };

/// Standard SQL can't say it: the insert is tried, and a key that is there already is no error.
const UNLESS_THERE: &str = " ON CONFLICT DO NOTHING";

/// What the connection's thread is asked to do.
type Job = Box<dyn FnOnce(&mut Served) + Send>;

#[derive(Debug)]
pub(crate) struct Session {
    jobs: mpsc::Sender<Job>,
    /// Found out while connecting.
    dialect: &'static dyn Dialect,
    /// The level of the transaction that opens with the next statement.
    pending: Option<Isolation>,
    in_transaction: bool,
}

/// The connection, on its thread.
struct Served {
    connection: Connection,
    dialect: &'static dyn Dialect,
    database: &'static KnownDatabase,
    /// Whether decimals travel as integers of their last digit.
    scaled: bool,
    offered: Vec<odbc::Isolation>,
    level: Option<Isolation>,
    /// By [`Statement::key`].
    prepared: HashMap<(usize, usize), Prepared>,
    /// The user's own, by their text.
    texts: HashMap<String, odbc::Statement>,
    /// Whether a statement outside a transaction commits on its own.
    commits_each: bool,
}

struct Prepared {
    statement: odbc::Statement,
    /// The parameter of each place.
    order: Vec<usize>,
}

impl Session {
    pub(crate) async fn connect(source: &Source, dialect: &'static dyn Dialect) -> Result<Self, Error> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let (opened, answer) = oneshot::channel();
        let source = source.clone();
        std::thread::Builder::new()
            .name("odbc".into())
            .spawn(move || match Served::open(&source, dialect) {
                Ok(mut served) => {
                    let _ = opened.send(Ok(served.dialect));
                    while let Ok(job) = inbox.recv() {
                        job(&mut served);
                    }
                }
                Err(e) => {
                    let _ = opened.send(Err(e));
                }
            })
            .map_err(|e| Error::permanent(format!("can't start a thread for the connection: {e}")))?;
        let dialect = answer.await.map_err(|_| gone())??;
        Ok(Self { jobs, dialect, pending: None, in_transaction: false })
    }

    /// Runs a statement of the user's own, with its values in their places, prepared when it first comes.
    async fn statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let sql = sql.to_owned();
        let values: Vec<OwnedValue> = values.iter().map(Value::to_owned).collect();
        self.in_transaction_on_thread(move |served| served.statement(sql, &values)).await
    }

    /// Does something on the connection's thread, in the transaction that is open or opens now, or in one of its own.
    async fn in_transaction_on_thread<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut Served) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let begin = self.pending.take();
        self.in_transaction |= begin.is_some();
        let alone = !self.in_transaction;
        self.on_thread(move |served| {
            served.open_transaction(begin)?;
            let done = job(served);
            if alone { served.close(done) } else { done }
        })
        .await
    }

    async fn on_thread<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Served) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.start(job)?.await.map_err(|_| gone())?
    }

    fn start<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Served) -> Result<T, Error> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, Error>>, Error> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |served| {
            let _ = reply.send(job(served));
        });
        self.jobs.send(job).map_err(|_| gone())?;
        Ok(answer)
    }
}

impl Wire for Session {
    async fn prepare_all(&mut self, statements: &[&'static Statement]) -> Result<(), Error> {
        let statements = statements.to_vec();
        self.on_thread(move |served| {
            for statement in statements {
                for rows in statement.rows.0..=statement.rows.1 {
                    served.prepared(statement, rows)?;
                }
            }
            Ok(())
        })
        .await
    }

    fn begin(&mut self, isolation: Isolation, _access: Access) {
        self.pending = Some(isolation);
    }

    async fn send(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        let values: Vec<OwnedValue> = batch.values.iter().map(Value::to_owned).collect();
        let calls = batch.calls.clone();
        self.in_transaction_on_thread(move |served| calls.iter().map(|call| served.call(call, &values)).collect()).await
    }

    async fn end(&mut self, end: End) -> Result<(), Error> {
        if self.pending.take().is_some() || !std::mem::take(&mut self.in_transaction) {
            return Ok(());
        }
        self.on_thread(move |served| served.end(end == End::Commit)).await
    }

    async fn execute(&mut self, sql: &str) -> Result<(), Error> {
        let sql = sql.to_owned();
        self.in_transaction_on_thread(move |served| {
            served.connection.execute(&sql).map(drop).map_err(|e| served.error(e))
        })
        .await
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let sql = sql.to_owned();
        let values: Vec<OwnedValue> = values.iter().map(Value::to_owned).collect();
        self.in_transaction_on_thread(move |served| served.query(&sql, &values)).await
    }

    async fn ask(&mut self, sql: &str, values: &[Value<'_>], protocol: Protocol) -> Result<Answer, Error> {
        match protocol {
            Protocol::Prepared => self.statement(sql, values).await,
            Protocol::Simple => self.query(sql, &[]).await,
        }
    }

    async fn commit_each(&mut self) -> Result<(), Error> {
        self.on_thread(|served| {
            served.commits_each = true;
            served.connection.set_autocommit(true).map_err(|e| served.error(e))
        })
        .await
    }

    async fn set_level(&mut self, level: Isolation) -> Result<(), Error> {
        self.on_thread(move |served| served.set_level(level)).await
    }

    /// In the catalog under any schema, and found by its name alone.
    async fn has_table(&mut self, name: &str) -> Result<bool, Error> {
        let name = name.to_owned();
        self.in_transaction_on_thread(move |served| {
            if !served.connection.has_table(&name).map_err(|e| served.error(e))? {
                return Ok(false);
            }
            let found = served.query(&format!("SELECT 1 FROM {name} WHERE 1 = 0"), &[]);
            match found {
                Err(e) if e.class() == Class::Lost => Err(e),
                found => Ok(found.is_ok()),
            }
        })
        .await
    }

    async fn bulk(&mut self, table: &Table, _options: &BulkOptions) -> Result<crate::bulk::Bulk<'_>, Error> {
        Ok(crate::bulk::Bulk(BulkWire::Odbc(Bulk::new(self, table).await?)))
    }

    async fn describe(&mut self) -> Result<(String, BTreeMap<String, String>), Error> {
        self.on_thread(|served| {
            let info = |what| served.connection.info(what).map_err(|e| served.error(e));
            let version = format!("{} {}", info(Info::DbmsName)?, info(Info::DbmsVersion)?);
            let driver = format!("{} {}", info(Info::DriverName)?, info(Info::DriverVersion)?);
            // ODBC has no way to ask for more; what is set at the server stays unseen.
            let settings = BTreeMap::from([("driver".to_owned(), driver)]);
            Ok((version, settings))
        })
        .await
    }

    fn learned_dialect(&self) -> Option<&'static dyn Dialect> {
        Some(self.dialect)
    }
}

fn gone() -> Error {
    Error::new(Class::Lost, None, "the connection's thread has ended")
}

impl Served {
    fn open(source: &Source, dialect: &'static dyn Dialect) -> Result<Self, Error> {
        let named = |e: odbc::Error| {
            let message = e.to_string();
            let class = e.diagnostic().map_or(Class::Permanent, |diagnostic| known("").class(diagnostic));
            // A driver may repeat what it was given.
            let message = match &source.password {
                Some(password) if !password.is_empty() => message.replace(password, "***"),
                _ => message,
            };
            Error::new(class, None, message)
        };
        let connection = Connection::open(&source.connection_string).map_err(named)?;
        let name = connection.info(Info::DbmsName).map_err(named)?;
        let (dialect, scaled) = if source.learns {
            let learned = learn(&source.connection_string, &connection);
            (learned as &dyn Dialect, learned.scales_decimals())
        } else {
            (dialect, false)
        };
        let offered = connection.isolations().map_err(named)?;
        // The server opens transactions, which saves the round trip of BEGIN.
        connection.set_autocommit(false).map_err(named)?;
        let database = known(&name);
        Ok(Self {
            connection,
            dialect,
            database,
            scaled,
            offered,
            level: None,
            prepared: HashMap::new(),
            texts: HashMap::new(),
            commits_each: false,
        })
    }

    fn error(&self, e: odbc::Error) -> Error {
        match e.diagnostic() {
            None => Error::permanent(e.to_string()),
            Some(diagnostic) => {
                let code = format!("{}/{}", diagnostic.state, diagnostic.native);
                Error::new(self.database.class(diagnostic), Some(code), diagnostic.message.clone())
            }
        }
    }

    /// Opens the transaction that is to come, if one is.
    fn open_transaction(&mut self, level: Option<Isolation>) -> Result<(), Error> {
        let Some(level) = level else { return Ok(()) };
        if self.commits_each {
            self.connection.set_autocommit(false).map_err(|e| self.error(e))?;
        }
        self.set_level(level)
    }

    /// Makes the level the connection's.
    fn set_level(&mut self, level: Isolation) -> Result<(), Error> {
        if self.level == Some(level) {
            return Ok(());
        }
        let wanted = match level {
            Isolation::ReadCommitted => odbc::Isolation::ReadCommitted,
            Isolation::RepeatableRead => odbc::Isolation::RepeatableRead,
            Isolation::Serializable => odbc::Isolation::Serializable,
        };
        if !self.offered.contains(&wanted) {
            let offered: Vec<String> = self.offered.iter().map(|level| format!("{level:?}")).collect();
            return Err(Error::permanent(format!(
                "the data source offers no isolation level {level}: it has {}",
                offered.join(", ")
            )));
        }
        self.connection.set_isolation(wanted).map_err(|e| self.error(e))?;
        self.level = Some(level);
        Ok(())
    }

    /// Ends what a statement outside a transaction has opened, as autocommit would.
    fn close<T>(&mut self, done: Result<T, Error>) -> Result<T, Error> {
        if self.commits_each || done.as_ref().is_err_and(|e| e.class() == Class::Lost) {
            return done;
        }
        let ended = self.end(done.is_ok());
        let value = done?;
        ended.map(|()| value)
    }

    fn end(&self, commit: bool) -> Result<(), Error> {
        let ended = if commit { self.connection.commit() } else { self.connection.rollback() };
        let ended = if self.commits_each { ended.and_then(|()| self.connection.set_autocommit(true)) } else { ended };
        ended.map_err(|e| {
            // Whatever comes of it, no transaction is open afterwards.
            let _ = self.connection.rollback();
            let timed_out = e.diagnostic().is_some_and(|diagnostic| diagnostic.state == "HYT00");
            let error = self.error(e);
            // Nobody knows what a COMMIT came to whose answer was not waited for.
            if commit && timed_out {
                Error::new(Class::Lost, error.code().map(str::to_owned), error.to_string())
            } else {
                error
            }
        })
    }

    fn prepared(&mut self, statement: &'static Statement, rows: usize) -> Result<&mut Prepared, Error> {
        let key = statement.key(rows);
        if !self.prepared.contains_key(&key) {
            let (sql, order) = positional(&self.dialect.adapt(statement.expand(rows)));
            let prepared = self.connection.prepare(&sql).map_err(|e| self.error(e).context(statement.name))?;
            self.prepared.insert(key, Prepared { statement: prepared, order });
        }
        self.prepared.get_mut(&key).ok_or_else(gone)
    }

    fn call(&mut self, call: &Call, values: &[OwnedValue]) -> Result<Answer, Error> {
        let name = call.statement.name;
        let values = &values[call.values.clone()];
        let order = self.prepared(call.statement, call.rows)?.order.clone();
        let mut parameters = self.parameters(&order, values).map_err(|e| e.context(name))?;
        let answered = self.prepared(call.statement, call.rows)?.statement.execute(&mut parameters);
        if answered.is_err() {
            // MariaDB's driver takes a result that ended in an error, such as a deadlock behind its columns, for one that
            // is still to be read, and before the statement's next use waits for it for ever.
            self.prepared.remove(&call.statement.key(call.rows));
        }
        answered.map_err(|e| self.error(e)).and_then(|found| answer(found, name)).map_err(|e| e.context(name))
    }

    fn query(&mut self, sql: &str, values: &[OwnedValue]) -> Result<Answer, Error> {
        let (sql, unless_there) = match sql.strip_suffix(UNLESS_THERE) {
            Some(insert) => (insert, true),
            None => (sql, false),
        };
        let (sql, order) = positional(sql);
        let mut parameters = self.parameters(&order, values)?;
        let answered = self.connection.prepare(&sql).and_then(|mut statement| statement.execute(&mut parameters));
        match answered {
            Err(e) if unless_there && e.diagnostic().is_some_and(|d| self.database.duplicates(d)) => {
                answer(odbc::Answer::default(), "query")
            }
            answered => answered.map_err(|e| self.error(e)).and_then(|found| answer(found, "query")),
        }
    }

    fn statement(&mut self, sql: String, values: &[OwnedValue]) -> Result<Answer, Error> {
        let order: Vec<usize> = (0..values.len()).collect();
        let mut parameters = self.parameters(&order, values)?;
        let mut statement = match self.texts.remove(&sql) {
            Some(statement) => statement,
            None => self.connection.prepare(&sql).map_err(|e| self.error(e))?,
        };
        let found = statement.execute(&mut parameters).map_err(|e| self.error(e))?;
        let answered = answer(found, "statement");
        // One that failed may be of no more use.
        self.texts.insert(sql, statement);
        answered
    }

    /// The values in the places where the statement wants them.
    fn parameters(&self, order: &[usize], values: &[OwnedValue]) -> Result<Parameters, Error> {
        let values: Vec<&OwnedValue> = order.iter().map(|&at| values.get(at).unwrap_or(&OwnedValue::Null)).collect();
        let digits: Vec<String> = values
            .iter()
            .map(|value| match value {
                OwnedValue::Decimal(decimal) if !self.scaled => decimal.to_string(),
                OwnedValue::Float(number) => number.to_string(),
                _ => String::new(),
            })
            .collect();
        let row: Result<Vec<Parameter<'_>>, Error> =
            values.into_iter().zip(&digits).map(|(value, digits)| parameter(value, digits)).collect();
        self.connection.row(&row?).map_err(|e| self.error(e))
    }
}

/// A value as the driver takes it; a decimal as its digits, or as an integer where there are none.
fn parameter<'a>(value: &'a OwnedValue, digits: &'a str) -> Result<Parameter<'a>, Error> {
    Ok(match value {
        OwnedValue::Null => Parameter::Null,
        OwnedValue::Int(number) => Parameter::Int(*number),
        OwnedValue::Decimal(decimal) if digits.is_empty() => Parameter::Int(decimal.unscaled),
        OwnedValue::Decimal(_) | OwnedValue::Float(_) => Parameter::Decimal(digits),
        OwnedValue::Text(text) => Parameter::Text(text),
        OwnedValue::Timestamp(us) => Parameter::Timestamp(timestamp(*us)?),
    })
}

fn timestamp(us: i64) -> Result<odbc::Timestamp, Error> {
    let at = jiff::Timestamp::from_microsecond(us).map_err(|e| Error::permanent(e.to_string()))?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).datetime();
    let small = |part: i8| u16::from(part.unsigned_abs());
    Ok(odbc::Timestamp {
        year: at.year(),
        month: small(at.month()),
        day: small(at.day()),
        hour: small(at.hour()),
        minute: small(at.minute()),
        second: small(at.second()),
        nanosecond: at.subsec_nanosecond().unsigned_abs(),
    })
}

fn answer(found: odbc::Answer, name: &'static str) -> Result<Answer, Error> {
    let rows: Result<Vec<Vec<OwnedValue>>, Error> =
        found.rows.into_iter().map(|row| row.into_iter().map(owned).collect()).collect();
    Ok(Answer {
        statement: name,
        rows: Rows::Owned { columns: found.columns.into(), rows: rows? },
        affected: found.affected,
    })
}

fn owned(value: odbc::Value) -> Result<OwnedValue, Error> {
    Ok(match value {
        odbc::Value::Null => OwnedValue::Null,
        odbc::Value::Int(number) => OwnedValue::Int(number),
        odbc::Value::Float(number) => OwnedValue::Float(number),
        odbc::Value::Text(text) => OwnedValue::Text(text),
        odbc::Value::Decimal(digits) => OwnedValue::Decimal(
            Decimal::from_text(&digits)
                .ok_or_else(|| Error::permanent(format!("`{digits}` is a number of too many digits")))?,
        ),
        odbc::Value::Timestamp(at) => OwnedValue::Timestamp(
            crate::value::timestamp_from_text(&at.to_string())
                .ok_or_else(|| Error::permanent(format!("`{at}` is no date")))?,
        ),
    })
}
