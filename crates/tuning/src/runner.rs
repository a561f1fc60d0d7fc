//! Runs a subject on sessions, and takes the time from the first byte sent to the last row read.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use record::query_plan::Plan;
use target::{Access, Answer, Canceller, Class, OwnedValue, Protocol, Session, Url, Value};
use tokio::sync::watch;
use workload::template::Template;
use workload::values::{COPY, Values};

use crate::Error;
use crate::bench_case::{BenchCase, Ending, Step};
use crate::error::excerpt;

/// How often a transaction is tried that meets conflicts.
const MAX_ATTEMPTS: u32 = 10_000;

/// How long a statement that was broken off may take to end.
const GRACE: Duration = Duration::from_secs(10);

/// What keeps a statement from going on for ever.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest that a statement may take.
    pub timeout: Duration,
    /// Becomes true when all is to end.
    pub stop: watch::Receiver<bool>,
}

/// One execution of a subject.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran {
    /// How long it took.
    pub elapsed: Duration,
    /// Rows that its last statement returned or changed.
    pub rows: u64,
    /// Transactions that were tried again.
    pub retries: u64,
}

/// A subject run some times in a row.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Milliseconds of each execution, in their order.
    pub times_ms: Vec<f64>,
    /// Transactions that were tried again.
    pub retries: u64,
}

/// Sessions on which subjects run.
#[derive(Debug)]
pub struct Runner {
    slots: Vec<SessionSlot>,
    limits: Limits,
}

#[derive(Debug)]
struct SessionSlot {
    session: Session,
    canceller: Option<Canceller>,
    values: Values,
    /// The last answer, if it is asked for.
    last: Option<Answer>,
}

impl Runner {
    /// A runner on sessions that are connected to `url`.
    ///
    /// # Errors
    /// If a server doesn't tell how its sessions can be broken off.
    pub async fn new(
        sessions: Vec<Session>,
        url: &Url,
        values: &Values,
        seed: u64,
        limits: Limits,
    ) -> Result<Self, Error> {
        let mut slots = Vec::with_capacity(sessions.len());
        for (number, mut session) in sessions.into_iter().enumerate() {
            let canceller = session.canceller(url).await?;
            slots.push(SessionSlot { session, canceller, values: values.for_session(seed, number as u64), last: None });
        }
        Ok(Self { slots, limits })
    }

    /// Its first session.
    ///
    /// # Panics
    /// Never: a runner has a session at least.
    pub fn session(&mut self) -> &mut Session {
        &mut self.slots[0].session
    }

    /// Takes the answer to the last statement of the last subject.
    pub fn take_last(&mut self) -> Option<Answer> {
        self.slots.first_mut()?.last.take()
    }

    /// Draws values for a statement and writes them into it.
    ///
    /// # Errors
    /// A parameter without a value.
    pub fn literal(&mut self, statement: &Template) -> Result<String, Error> {
        let slot = &mut self.slots[0];
        let values = slot.values.draw(statement.names())?;
        Ok(statement.literal(slot.session.dialect(), &values))
    }

    /// The plan of a statement, with values of its own; with `run` it is run too, and rolled back.
    ///
    /// # Errors
    /// The database's refusal, a timeout or the user's wish.
    pub async fn plan(&mut self, statement: &Template, run: bool) -> Result<Option<Plan>, Error> {
        let sql = self.literal(statement)?;
        let slot = &mut self.slots[0];
        let plan = within(slot.canceller.as_ref(), &self.limits, &sql, slot.session.plan(&sql, run)).await?;
        Ok(plan.map(crate::recorded))
    }

    /// Runs statements that are not timed, one after the other.
    ///
    /// # Errors
    /// The database's refusal, a timeout or the user's wish.
    pub async fn prepare(&mut self, statements: &[Template]) -> Result<(), Error> {
        let slot = &mut self.slots[0];
        for statement in statements {
            let values = slot.values.draw(statement.names())?;
            let sql = statement.literal(slot.session.dialect(), &values);
            let asked = slot.session.ask(&sql, &[], Protocol::Simple);
            within(slot.canceller.as_ref(), &self.limits, &sql, asked).await?;
        }
        Ok(())
    }

    /// Runs a subject once.
    ///
    /// # Errors
    /// The database's refusal, a timeout or the user's wish.
    pub async fn run(&mut self, subject: &BenchCase) -> Result<Ran, Error> {
        self.prepare(&subject.prepare).await?;
        let limits = &self.limits;
        let mut ready = Vec::new();
        for slot in self.slots.iter_mut().take(subject.connections) {
            let mut rounds = Vec::new();
            for _ in 0..subject.times {
                rounds.push(calls(subject, slot)?);
            }
            ready.push((slot, rounds));
        }
        let started = Instant::now();
        let ran = join_all(ready.into_iter().map(|(slot, rounds)| run_slot(slot, subject, rounds, limits))).await;
        let mut whole = Ran { elapsed: started.elapsed(), ..Ran::default() };
        let mut paused = Duration::ZERO;
        for slot in ran {
            let (rows, retries, not_timed) = slot?;
            whole.rows = rows;
            whole.retries += retries;
            paused = paused.max(not_timed);
        }
        whole.elapsed = whole.elapsed.saturating_sub(paused);
        self.prepare(&subject.undo).await?;
        Ok(whole)
    }

    /// Runs a subject once without counting it, then `most` times, or fewer if these take longer than `share`.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub async fn block(&mut self, subject: &BenchCase, most: usize, share: Duration) -> Result<Block, Error> {
        let mut block = Block { retries: self.run(subject).await?.retries, ..Block::default() };
        let began = Instant::now();
        while block.times_ms.len() < most && (block.times_ms.is_empty() || began.elapsed() < share) {
            let ran = self.run(subject).await?;
            block.times_ms.push(ran.elapsed.as_secs_f64() * 1e3);
            block.retries += ran.retries;
        }
        Ok(block)
    }
}

/// A statement with its values, ready to be sent.
#[derive(Debug)]
struct Call<'a> {
    step: &'a Step,
    sql: String,
    /// The values by the statement's names.
    values: Vec<OwnedValue>,
    /// For each place, which of the values.
    order: Vec<usize>,
    /// Values that come from a row that an earlier step keeps.
    kept: Vec<(usize, String)>,
}

/// All calls of a subject, made before the clock starts.
fn calls<'a>(subject: &'a BenchCase, slot: &mut SessionSlot) -> Result<Vec<Call<'a>>, Error> {
    let dialect = slot.session.dialect();
    let kept_names: Vec<String> =
        subject.steps.iter().filter_map(|step| step.keep.as_deref()).map(|k| format!("{k}.")).collect();
    let mut calls = Vec::new();
    for step in &subject.steps {
        let names = step.statement.names();
        let is_kept = |name: &String| kept_names.iter().any(|prefix| name.starts_with(prefix.as_str()));
        let drawn: Vec<String> = names.iter().filter(|name| !is_kept(name)).cloned().collect();
        let kept: Vec<(usize, String)> =
            names.iter().enumerate().filter(|(_, name)| is_kept(name)).map(|(at, name)| (at, name.clone())).collect();
        let (prepared, order) = step.statement.prepared(dialect);
        for _ in 0..step.times {
            let mut drawn = slot.values.draw(&drawn)?.into_iter();
            let mut next = |name: &String| if is_kept(name) { None } else { drawn.next() };
            let values: Vec<OwnedValue> = names.iter().map(|name| next(name).unwrap_or(OwnedValue::Null)).collect();
            let simple = subject.one_flight || subject.protocol == Protocol::Simple;
            let sql = if simple { step.statement.literal(dialect, &values) } else { prepared.clone() };
            let order = if simple { Vec::new() } else { order.clone() };
            let kept = kept.clone();
            calls.push(Call { step, sql, values, order, kept });
        }
    }
    if subject.one_flight {
        let sql = calls.iter().map(|call| call.sql.as_str()).collect::<Vec<_>>().join("; ");
        calls.truncate(1);
        if let Some(call) = calls.first_mut() {
            call.sql = sql;
            call.order.clear();
        }
    }
    Ok(calls)
}

/// Rows of the last statement, attempts that failed, and the time that is not the subject's.
async fn run_slot(
    slot: &mut SessionSlot,
    subject: &BenchCase,
    rounds: Vec<Vec<Call<'_>>>,
    limits: &Limits,
) -> Result<(u64, u64, Duration), Error> {
    let mut rows = 0;
    let mut retries = 0;
    let mut paused = Duration::ZERO;
    for mut calls in rounds {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match attempt(slot, subject, &mut calls, limits).await {
                Ok((answer, not_timed)) => {
                    rows = answer.as_ref().map_or(0, Answer::affected);
                    slot.last = answer;
                    paused += not_timed;
                    break;
                }
                Err(Attempt::Again(why)) if attempts >= MAX_ATTEMPTS => return Err(Error::Conflicts(attempts, why)),
                Err(Attempt::Again(_)) => retries += 1,
                Err(Attempt::Failed(e)) => return Err(e),
            }
        }
    }
    Ok((rows, retries, paused))
}

/// Why an attempt came to nothing.
enum Attempt {
    /// A conflict: another one may succeed.
    Again(String),
    Failed(Error),
}

impl From<Error> for Attempt {
    fn from(e: Error) -> Self {
        match e {
            Error::Database(e) if e.class() == Class::Retry => Attempt::Again(e.to_string()),
            e => Attempt::Failed(e),
        }
    }
}

impl From<target::Error> for Attempt {
    fn from(e: target::Error) -> Self {
        Error::from(e).into()
    }
}

async fn attempt(
    slot: &mut SessionSlot,
    subject: &BenchCase,
    calls: &mut [Call<'_>],
    limits: &Limits,
) -> Result<(Option<Answer>, Duration), Attempt> {
    let within = subject.ending != Ending::Alone;
    if within {
        let level = subject.isolation.unwrap_or(slot.session.dialect().default_isolation());
        slot.session.begin(level, Access::ReadWrite);
    }
    let done = statements(slot, subject, calls, limits).await;
    let mut paused = Duration::ZERO;
    match (&done, subject.ending) {
        (_, Ending::Alone) => {}
        (Ok(_), Ending::Commit) => slot.session.commit().await?,
        (Ok(_), Ending::Rollback) => {
            let started = Instant::now();
            slot.session.rollback().await?;
            paused = started.elapsed();
        }
        (Err(_), _) => {
            // Whatever this says, the first error says more.
            let _ = slot.session.rollback().await;
        }
    }
    done.map(|answer| (answer, paused))
}

async fn statements(
    slot: &mut SessionSlot,
    subject: &BenchCase,
    calls: &mut [Call<'_>],
    limits: &Limits,
) -> Result<Option<Answer>, Attempt> {
    let dialect = slot.session.dialect();
    let protocol = if subject.one_flight { Protocol::Simple } else { subject.protocol };
    let mut last = None;
    let mut kept: Vec<(String, OwnedValue)> = Vec::new();
    for call in calls {
        for (at, name) in &call.kept {
            let value = kept.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            call.values[*at] = value.unwrap_or(OwnedValue::Null);
        }
        if !call.kept.is_empty() && protocol == Protocol::Simple {
            call.sql = call.step.statement.literal(dialect, &call.values);
        }
        let values: Vec<Value<'_>> = call.order.iter().map(|at| call.values[*at].borrowed()).collect();
        let asked = slot.session.ask(&call.sql, &values, protocol);
        let answer = within(slot.canceller.as_ref(), limits, &call.sql, asked).await?;
        if call.step.expect.is_some_and(|expected| answer.affected() != expected) {
            return Err(Attempt::Again(format!("{} rows changed: {}", answer.affected(), excerpt(&call.sql))));
        }
        if let Some(name) = &call.step.keep {
            if answer.is_empty() {
                return Err(Attempt::Failed(Error::Usage(format!("no row to keep: {}", excerpt(&call.sql)))));
            }
            for (number, row) in answer.rows().enumerate() {
                for (at, column) in row.columns().iter().enumerate() {
                    let value = row.value(at)?.into_owned();
                    if number == 0 {
                        kept.push((format!("{name}.{column}"), value.clone()));
                    }
                    kept.push((format!("{name}.{column}{COPY}{number}"), value));
                }
            }
        }
        last = Some(answer);
    }
    Ok(last)
}

/// Waits for the answer to a statement, and breaks it off if it takes too long or nobody wants it any more.
async fn within<T>(
    canceller: Option<&Canceller>,
    limits: &Limits,
    sql: &str,
    asked: impl Future<Output = Result<T, target::Error>>,
) -> Result<T, Error> {
    let mut stop = limits.stop.clone();
    if *stop.borrow() {
        return Err(Error::Interrupted);
    }
    let mut asked = std::pin::pin!(asked);
    let why = tokio::select! {
        biased;
        answer = &mut asked => return Ok(answer?),
        () = tokio::time::sleep(limits.timeout) => Error::TimedOut(limits.timeout, excerpt(sql)),
        _ = stop.wait_for(|stop| *stop) => Error::Interrupted,
    };
    if let Some(canceller) = canceller {
        // If it can't be told, dropping the connection has to do.
        let _ = tokio::time::timeout(GRACE, canceller.cancel()).await;
        let _ = tokio::time::timeout(GRACE, asked).await;
    }
    Err(why)
}
