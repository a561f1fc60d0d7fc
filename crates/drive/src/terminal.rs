//! A terminal: select, key, send, wait for the answer, think, and again.

use std::rc::Rc;
use std::time::{Duration, Instant};

use record::{Failure, Outcome, Phase, Sample};
use target::{Class, Error};
use workload::{Start, Transactions};

use crate::driver_thread::DriverThread;
use crate::phase::us_between;
use crate::retry::with_retries;

/// A terminal that failed does not try again at once, even where there are no waits.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Runs a terminal until its thread stops. It waits for connections in `queue`.
pub(crate) async fn run<T: Transactions>(thread: Rc<DriverThread<T>>, mut terminal: T::Terminal, queue: usize) {
    let mut input = match thread.transactions.start(&mut terminal, thread.factor) {
        Start::Keying(input, remaining_us) => {
            thread.wait(Duration::from_micros(remaining_us)).await;
            input
        }
        Start::Thinking(remaining_us) => {
            thread.wait(Duration::from_micros(remaining_us)).await;
            key(&thread, thread.transactions.next_input(&mut terminal)).await
        }
    };
    while !thread.stopping() {
        let transaction_type = thread.transactions.transaction_type(&input);
        // Boxed, so that a terminal that only waits is small.
        let completed = Box::pin(send(&thread, queue, input)).await;
        if !completed {
            tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
        }
        let think_us = thread.transactions.think_us(&mut terminal, transaction_type, thread.factor);
        if thread.factor > 0.0 {
            let (phase, us) = thread.wait(Duration::from_micros(think_us)).await;
            thread.recorder().think(transaction_type, phase, us);
        } else {
            // Without waits a terminal must still let the others and the clock in.
            tokio::task::yield_now().await;
        }
        input = key(&thread, thread.transactions.next_input(&mut terminal)).await;
    }
}

/// Waits as long as it takes to key the input in.
async fn key<T: Transactions>(thread: &DriverThread<T>, input: T::Input) -> T::Input {
    let transaction_type = thread.transactions.transaction_type(&input);
    if thread.factor > 0.0 {
        let keying_us = thread.transactions.keying_us(transaction_type, thread.factor);
        let (phase, us) = thread.wait(Duration::from_micros(keying_us)).await;
        thread.recorder().keying(transaction_type, phase, us);
    }
    input
}

/// Sends a transaction and waits for its answer; of a deferred one only until it is queued. The clock starts here.
/// False if it failed.
async fn send<T: Transactions>(thread: &Rc<DriverThread<T>>, queue: usize, input: T::Input) -> bool {
    let sent = Instant::now();
    let in_flight = thread.in_flight();
    if !thread.transactions.is_deferred(&input) {
        return attempt(thread, queue, &input, sent, false).await;
    }
    let transaction_type = thread.transactions.transaction_type(&input);
    let in_backlog = thread.in_backlog();
    let deferred = thread.clone();
    tokio::task::spawn_local(async move {
        let _guards = (in_flight, in_backlog);
        attempt(&deferred, queue, &input, sent, true).await;
    });
    let answered = Instant::now();
    let sample = Sample {
        response_us: us_between(sent, answered),
        service_us: 0,
        queue_us: 0,
        retries: 0,
        outcome: Outcome::Committed,
    };
    thread.recorder().transaction(transaction_type, thread.interval.phase(sent, answered), &sample);
    true
}

/// Waits for a connection, executes a transaction with its retries, and records what came of it. False if it failed.
async fn attempt<T: Transactions>(
    thread: &Rc<DriverThread<T>>,
    queue: usize,
    input: &T::Input,
    sent: Instant,
    deferred: bool,
) -> bool {
    let mut connection = thread.pool.take(queue).await;
    let served = Instant::now();
    let (ended, retries) = with_retries(&mut connection.session, &thread.jitter, async |session| {
        thread.transactions.execute(session, input).await
    })
    .await;
    let answered = Instant::now();
    let gateway = connection.gateway;
    let timings = connection.session.take_timings();
    thread.release(connection, ended.as_ref().err());

    let phase = thread.interval.phase(sent, answered);
    let transaction_type = thread.transactions.transaction_type(input);
    let outcome = match &ended {
        Ok(output) => committed(thread, input, output, phase, (sent, answered), deferred),
        Err(error) => {
            thread.failed(input, error, answered);
            Outcome::Failed(thread.failure(transaction_type, error))
        }
    };
    let sample = Sample {
        response_us: us_between(sent, answered),
        service_us: us_between(served, answered),
        queue_us: us_between(sent, served),
        retries,
        outcome,
    };
    thread.record_timings(transaction_type, phase, &sample, timings);
    let mut recorder = thread.recorder();
    if deferred {
        recorder.deferred(transaction_type, phase, &sample);
    } else {
        recorder.transaction(transaction_type, phase, &sample);
    }
    recorder.through(gateway, transaction_type, phase, &sample);
    ended.is_ok()
}

/// Enters an acknowledged transaction in the ledger, the tallies and, if it was deferred, the result file.
fn committed<T: Transactions>(
    thread: &DriverThread<T>,
    input: &T::Input,
    output: &T::Output,
    phase: Phase,
    (sent, answered): (Instant, Instant),
    deferred: bool,
) -> Outcome {
    let transactions = &thread.transactions;
    thread.acknowledge(input, output, answered);
    transactions.tally(input, output, |index, hits, trials| {
        thread.recorder().tally(index, phase, hits, trials);
    });
    if deferred {
        let transaction_type = transactions.transaction_type(input);
        thread.recorder().skipped(transaction_type, phase, transactions.skipped_parts(output));
        thread.write_result(input, output, sent, answered);
    }
    if transactions.is_rolled_back(output) { Outcome::RolledBack } else { Outcome::Committed }
}

/// The kind of failure that an error is.
pub(crate) fn failure_of(error: &Error) -> Failure {
    match error.class() {
        Class::Retry => Failure::Exhausted,
        Class::Lost => Failure::Connection,
        Class::Unknown => Failure::Unknown,
        Class::Integrity => Failure::Integrity,
        Class::Permanent => Failure::Other,
    }
}
