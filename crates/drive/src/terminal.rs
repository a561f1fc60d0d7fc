//! A terminal: select, key, send, wait for the answer, think, and again (5.2.2).

use std::rc::Rc;
use std::time::{Duration, Instant};

use record::{Failure, Outcome, Phase, Sample};
use target::{Class, Error};

use crate::delivery;
use crate::driver_thread::DriverThread;
use crate::phase::us_between;
use crate::retry::with_retries;
use crate::work::{Start, Work};

/// A terminal that failed does not try again at once, even where there are no waits.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Runs a terminal until the shard stops. It waits for connections in `queue`.
pub(crate) async fn run<W: Work>(shard: Rc<DriverThread<W>>, mut terminal: W::Terminal, queue: usize) {
    let mut input = match shard.work.start(&mut terminal, shard.factor) {
        Start::Keying(input, remaining_us) => {
            shard.wait(Duration::from_micros(remaining_us)).await;
            input
        }
        Start::Thinking(remaining_us) => {
            shard.wait(Duration::from_micros(remaining_us)).await;
            key(&shard, shard.work.next_input(&mut terminal)).await
        }
    };
    while !shard.stopping() {
        let kind = shard.work.kind(&input);
        // Boxed, so that a terminal that only waits is small.
        let completed = Box::pin(send(&shard, queue, input)).await;
        if !completed {
            tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
        }
        let think = Duration::from_micros(shard.work.think_us(&mut terminal, kind, shard.factor));
        if shard.factor > 0.0 {
            let (phase, us) = shard.wait(think).await;
            shard.recorder().think(kind, phase, us);
        } else {
            // Without waits a terminal must still let the others and the clock in.
            tokio::task::yield_now().await;
        }
        input = key(&shard, shard.work.next_input(&mut terminal)).await;
    }
}

/// Keys the input in: a constant time (5.2.5.2).
async fn key<W: Work>(shard: &DriverThread<W>, input: W::Input) -> W::Input {
    let kind = shard.work.kind(&input);
    if shard.factor > 0.0 {
        let (phase, us) = shard.wait(Duration::from_micros(shard.work.keying_us(kind, shard.factor))).await;
        shard.recorder().keying(kind, phase, us);
    }
    input
}

/// Sends a transaction and waits for its answer. The clock runs from here (T1, 5.3.3), the wait
/// for a connection and all retries included. False if it failed.
async fn send<W: Work>(shard: &Rc<DriverThread<W>>, queue: usize, input: W::Input) -> bool {
    let sent = Instant::now();
    let kind = shard.work.kind(&input);
    if shard.work.is_deferred(&input) {
        // The terminal's answer is that it has been queued (2.7.3.3).
        delivery::queue(shard, queue, input, sent);
        let answered = Instant::now();
        let sample = Sample {
            response_us: us_between(sent, answered),
            service_us: 0,
            queue_us: 0,
            retries: 0,
            outcome: Outcome::Committed,
        };
        shard.recorder().transaction(kind, shard.interval.phase(sent, answered), &sample);
        return true;
    }

    let _under_way = shard.under_way();
    let mut connection = shard.pool.take(queue).await;
    let served = Instant::now();
    let (ended, retries) =
        with_retries(&mut connection.session, &shard.jitter, async |session| shard.work.execute(session, &input).await)
            .await;
    let answered = Instant::now();
    let (gateway, timings) = (connection.gateway, connection.session.take_timings());
    shard.release(connection, ended.as_ref().err());

    let phase = shard.interval.phase(sent, answered);
    let outcome = settle(shard, &input, &ended, phase, answered);
    let sample = Sample {
        response_us: us_between(sent, answered),
        service_us: us_between(served, answered),
        queue_us: us_between(sent, served),
        retries,
        outcome,
    };
    shard.record_timings(kind, phase, &sample, timings);
    let mut recorder = shard.recorder();
    recorder.transaction(kind, phase, &sample);
    recorder.through(gateway, kind, phase, &sample);
    ended.is_ok()
}

/// CommitRecord what a transaction's end means.
fn settle<W: Work>(
    shard: &DriverThread<W>,
    input: &W::Input,
    ended: &Result<W::Output, Error>,
    phase: Phase,
    answered: Instant,
) -> Outcome {
    match ended {
        Ok(output) => {
            shard.acknowledge(input, output, answered);
            shard.work.tally(input, output, |index, hits, trials| {
                shard.recorder().tally(index, phase, hits, trials);
            });
            match shard.work.is_rolled_back(output) {
                true => Outcome::RolledBack,
                false => Outcome::Committed,
            }
        }
        Err(error) => {
            shard.failed(input, error, answered);
            Outcome::Failed(shard.failure(shard.work.kind(input), error))
        }
    }
}

/// What kind of failure an error is.
pub(crate) fn failure_of(error: &Error) -> Failure {
    match error.class() {
        Class::Retry => Failure::Exhausted,
        Class::Lost => Failure::Connection,
        Class::Unknown => Failure::Unknown,
        Class::Integrity => Failure::Integrity,
        Class::Permanent => Failure::Other,
    }
}
