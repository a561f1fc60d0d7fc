//! A driver thread: a runtime, terminals, connections and a recorder of its own.
//!
//! The transaction path shares nothing with another thread. Once a second the thread hands its recorder to the
//! collector and goes on with an empty one.

use std::cell::{Cell, RefCell, RefMut};
use std::rc::Rc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use record::{Failure, Phase, Recorder, Sample};
use target::{Class, Error, StatementTiming, Url};
use tokio::sync::watch;
use workload::{CommitRecord, Transactions};

use crate::collector::Clocks;
use crate::failover::{self, Failover};
use crate::phase::{Interval, us_between};
use crate::pool::{Connection, Pool};
use crate::retry::Jitter;
use crate::terminal;

/// How long transactions under way at the end may take to finish.
const DRAIN: Duration = Duration::from_secs(30);

/// Failures that are told in full; more are only counted.
const TOLD_FAILURES: u32 = 5;

/// What a thread is to do.
pub(crate) struct ThreadPlan<T: Transactions> {
    pub(crate) number: usize,
    pub(crate) gateways: Vec<Url>,
    /// The gateway of each connection.
    pub(crate) gateway_of: Vec<usize>,
    /// One line for all connections, or one a gateway.
    pub(crate) wait_queues: usize,
    /// The terminals, each with the line in which it waits for a connection.
    pub(crate) terminals: Vec<(T::Terminal, usize)>,
    pub(crate) transactions: T,
    /// Whether statements are timed.
    pub(crate) statements: bool,
    /// What keying and think times are multiplied with; 0 for none.
    pub(crate) factor: f64,
    pub(crate) ramp: Duration,
    pub(crate) duration: Duration,
    /// How long the terminals wait after the ramp's beginning.
    pub(crate) initial_delay: Duration,
    /// Whether what is acknowledged is written down, transaction by transaction.
    pub(crate) keeps_journal: bool,
}

/// What a thread hands over at the end of each second, and once more when all is done.
pub(crate) struct IntervalReport {
    pub(crate) recorder: Box<Recorder>,
    /// Lines of the result file of deferred transactions.
    pub(crate) result_lines: Vec<u8>,
    /// Records of the ledger file.
    pub(crate) journal: Vec<u8>,
    /// The first and the last success in it.
    pub(crate) successes: Option<(Instant, Instant)>,
    /// The first failure of the run that would come again and again.
    pub(crate) hard_failure: Option<String>,
    /// Transactions that wait for a connection.
    pub(crate) waiting: usize,
    /// Connections that nobody uses.
    pub(crate) idle: usize,
    /// Deferred transactions queued or under way.
    pub(crate) backlog: usize,
    /// Whether this is the thread's last.
    pub(crate) last: bool,
}

/// What is left of a thread.
pub(crate) struct ThreadResult<L> {
    pub(crate) ledger: L,
    /// Transactions that had not ended when the drain's time was up.
    pub(crate) abandoned: usize,
    /// The really measured interval.
    pub(crate) measured: Duration,
}

/// The state that a thread's tasks share.
pub(crate) struct DriverThread<T: Transactions> {
    pub(crate) pool: Pool,
    pub(crate) failover: Failover<T>,
    pub(crate) interval: Interval,
    pub(crate) transactions: T,
    pub(crate) factor: f64,
    pub(crate) jitter: Jitter,
    recorder: RefCell<Box<Recorder>>,
    ledger: RefCell<T::Ledger>,
    /// None where nothing is written down, as on a target without data.
    journal: Option<RefCell<Vec<u8>>>,
    result_lines: RefCell<Vec<u8>>,
    clocks: Clocks,
    in_flight: Rc<Cell<usize>>,
    backlog: Rc<Cell<usize>>,
    stopping: Cell<bool>,
    told_failures: Cell<u32>,
    successes: Cell<Option<(Instant, Instant)>>,
    hard_failure: RefCell<Option<String>>,
}

/// Counts itself for as long as it lives.
pub(crate) struct InFlightGuard(Rc<Cell<usize>>);

impl InFlightGuard {
    fn one_more(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(count.clone())
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl<T: Transactions> DriverThread<T> {
    pub(crate) fn recorder(&self) -> RefMut<'_, Box<Recorder>> {
        self.recorder.borrow_mut()
    }

    /// Enters what the database has acknowledged, as of `answered`.
    pub(crate) fn acknowledge(&self, input: &T::Input, output: &T::Output, answered: Instant) {
        let first = self.successes.get().map_or(answered, |(first, _)| first);
        self.successes.set(Some((first, answered)));
        self.enter_into(answered, |commit| self.transactions.acknowledge(commit, input, output));
    }

    /// Enters a failure: it matters where nobody knows what came of the transaction.
    pub(crate) fn failed(&self, input: &T::Input, error: &Error, answered: Instant) {
        self.enter_into(answered, |commit| self.transactions.failed(commit, input, error));
    }

    fn enter_into(&self, answered: Instant, enter: impl FnOnce(CommitRecord<'_, T::Ledger>)) {
        let mut journal = self.journal.as_ref().map(RefCell::borrow_mut);
        let at_ms = self.at_ms(answered);
        enter(CommitRecord { ledger: &mut self.ledger.borrow_mut(), journal: journal.as_deref_mut(), at_ms });
    }

    /// Milliseconds since the run's start.
    fn at_ms(&self, at: Instant) -> u32 {
        u32::try_from(us_between(self.interval.run_start, at) / 1000).unwrap_or(u32::MAX)
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stopping.get()
    }

    /// Counts a transaction as in flight until the guard is dropped.
    pub(crate) fn in_flight(&self) -> InFlightGuard {
        InFlightGuard::one_more(&self.in_flight)
    }

    /// Counts a deferred transaction as queued or under way until the guard is dropped.
    pub(crate) fn in_backlog(&self) -> InFlightGuard {
        InFlightGuard::one_more(&self.backlog)
    }

    /// Records where the time of a transaction went, by the timings of its session.
    pub(crate) fn record_timings(&self, index: usize, phase: Phase, sample: &Sample, timings: Vec<StatementTiming>) {
        if !timings.is_empty() {
            let parts = timings.into_iter().map(|timing| (timing.name, timing.took.as_micros() as u64));
            self.recorder().statements(index, phase, sample, parts);
        }
    }

    /// Adds a deferred transaction to the result file.
    pub(crate) fn write_result(&self, input: &T::Input, output: &T::Output, queued: Instant, completed: Instant) {
        let queued_us = self.clocks.epoch_us(queued);
        let completed_us = self.clocks.epoch_us(completed);
        let lines = &mut self.result_lines.borrow_mut();
        self.transactions.write_result(lines, input, output, queued_us, completed_us);
    }

    /// Gives a connection back, or replaces it if it is lost.
    pub(crate) fn release(self: &Rc<Self>, connection: Connection, error: Option<&Error>) {
        if error.is_some_and(|error| matches!(error.class(), Class::Lost | Class::Unknown)) {
            failover::replace(self, connection);
        } else if !self.failover.is_relieved(&connection) {
            self.pool.give_back(connection);
        }
    }

    /// Classes a failure, and tells the first few.
    pub(crate) fn failure(&self, transaction_type: usize, error: &Error) -> Failure {
        let title = self.transactions.title(transaction_type);
        let told = self.told_failures.get();
        if told < TOLD_FAILURES {
            self.told_failures.set(told + 1);
            let more = if told + 1 == TOLD_FAILURES { " (further failures are only counted)" } else { "" };
            tracing::warn!("{title} failed: {error}{more}");
        }
        if matches!(error.class(), Class::Integrity | Class::Permanent) {
            let mut first = self.hard_failure.borrow_mut();
            first.get_or_insert_with(|| format!("{title} failed: {error}"));
        }
        terminal::failure_of(error)
    }

    /// Waits, to an absolute deadline, and records how late the timer was. Returns the wait as really served.
    pub(crate) async fn wait(&self, wait: Duration) -> (Phase, u64) {
        let from = Instant::now();
        if wait.is_zero() {
            return (self.interval.phase(from, from), 0);
        }
        let due = from + wait;
        tokio::time::sleep_until(due.into()).await;
        let woken = Instant::now();
        let phase = self.interval.phase(from, woken);
        self.recorder().lag(phase, us_between(due, woken));
        (phase, us_between(from, woken))
    }
}

/// Runs a driver thread to its end, on the thread it is called on.
///
/// Says on `ready` when it is connected, begins at the instant that `go` brings, hands over to
/// `collector` and takes emptied recorders back from `spare`.
pub(crate) fn run<T: Transactions>(
    plan: ThreadPlan<T>,
    ready: &mpsc::Sender<Result<(), Error>>,
    go: &mpsc::Receiver<Clocks>,
    collector: &mpsc::Sender<(usize, IntervalReport)>,
    spare: &mpsc::Receiver<Box<Recorder>>,
    mut stop: [watch::Receiver<bool>; 2],
) -> Option<ThreadResult<T::Ledger>> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()) {
        Ok(runtime) => runtime,
        Err(e) => {
            let _ = ready.send(Err(Error::permanent(format!("can't start a runtime: {e}"))));
            return None;
        }
    };
    runtime.block_on(async {
        let pool = Pool::new(plan.wait_queues, plan.gateways.len());
        let failover = Failover::new(
            plan.gateways,
            plan.transactions.clone(),
            plan.statements,
            plan.number,
            plan.gateway_of.len(),
        );
        let connected = connect(&pool, &failover, &plan.gateway_of).await;
        let failed = connected.is_err();
        let _ = ready.send(connected);
        if failed {
            return None;
        }
        // Connecting is over and nothing runs yet: blocking the thread holds nobody up.
        let clocks = go.recv().ok()?;
        let run_start = clocks.run_start;
        let thread = Rc::new(DriverThread {
            pool,
            failover,
            interval: Interval::new(run_start, plan.ramp, plan.duration),
            ledger: RefCell::new(plan.transactions.empty_ledger()),
            transactions: plan.transactions,
            factor: plan.factor,
            jitter: Jitter::new(0x9e37_79b9_7f4a_7c15 ^ plan.number as u64),
            recorder: RefCell::new(spare.recv().ok()?),
            journal: plan.keeps_journal.then(RefCell::default),
            result_lines: RefCell::default(),
            clocks,
            in_flight: Rc::default(),
            backlog: Rc::default(),
            stopping: Cell::new(false),
            told_failures: Cell::new(0),
            successes: Cell::new(None),
            hard_failure: RefCell::default(),
        });
        // A start may have been agreed upon for much later, and be given up.
        let [by_person, by_error] = &mut stop;
        tokio::select! {
            () = tokio::time::sleep_until(run_start.into()) => {
                tokio::task::spawn_local(begin(thread.clone(), run_start + plan.initial_delay, plan.terminals));
            }
            _ = by_person.wait_for(|stop| *stop) => {}
            _ = by_error.wait_for(|stop| *stop) => {}
        }
        supervise(&thread, plan.number, collector, spare, &mut stop).await;
        let measured = thread.interval.end().saturating_duration_since(thread.interval.start);
        let ledger = thread.ledger.replace(thread.transactions.empty_ledger());
        Some(ThreadResult { ledger, abandoned: thread.in_flight.get(), measured })
    })
}

/// Starts the terminals.
async fn begin<T: Transactions>(thread: Rc<DriverThread<T>>, at: Instant, terminals: Vec<(T::Terminal, usize)>) {
    tokio::time::sleep_until(at.into()).await;
    for (terminal, line) in terminals {
        tokio::task::spawn_local(terminal::run(thread.clone(), terminal, line));
    }
}

/// Opens the connections to their gateways: a run begins with all of them or not at all.
async fn connect<T: Transactions>(pool: &Pool, failover: &Failover<T>, gateway_of: &[usize]) -> Result<(), Error> {
    for (at, &assigned) in gateway_of.iter().enumerate() {
        let context = || format!("connection {} of a thread's {}", at + 1, gateway_of.len());
        let session = failover.open(assigned).await.map_err(|e| e.context(context()))?;
        pool.give_back(Connection { session, assigned, gateway: assigned });
    }
    Ok(())
}

/// Hands over second by second until the interval ends, then once more when all transactions have ended.
async fn supervise<T: Transactions>(
    thread: &DriverThread<T>,
    number: usize,
    collector: &mpsc::Sender<(usize, IntervalReport)>,
    spare: &mpsc::Receiver<Box<Recorder>>,
    [by_person, by_error]: &mut [watch::Receiver<bool>; 2],
) {
    let hand_over = |last: bool| {
        // The collector returns a recorder for each it gets, one ahead.
        let Ok(empty) = spare.recv() else { return };
        let report = IntervalReport {
            recorder: thread.recorder.replace(empty),
            result_lines: thread.result_lines.take(),
            journal: thread.journal.as_ref().map(RefCell::take).unwrap_or_default(),
            successes: thread.successes.take(),
            hard_failure: thread.hard_failure.borrow().clone(),
            waiting: thread.pool.waiting(),
            idle: thread.pool.idle(),
            backlog: thread.backlog.get(),
            last,
        };
        let _ = collector.send((number, report));
    };
    let mut tick = thread.interval.run_start;
    while Instant::now() < thread.interval.end() {
        tick += Duration::from_secs(1);
        let due = tick.min(thread.interval.end());
        tokio::select! {
            () = tokio::time::sleep_until(due.into()) => {}
            _ = by_person.wait_for(|stop| *stop) => thread.interval.end_early(Instant::now()),
            _ = by_error.wait_for(|stop| *stop) => thread.interval.end_early(Instant::now()),
        }
        hand_over(false);
    }
    thread.stopping.set(true);
    let give_up = Instant::now() + DRAIN;
    while thread.in_flight.get() > 0 && Instant::now() < give_up {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    hand_over(true);
}
