//! The deferred part of a transaction (of TPC-C's, Delivery): queued by the terminal, done by its own task, entered in the result file (2.7.2).

use std::rc::Rc;
use std::time::Instant;

use record::{Outcome, Sample};

use crate::driver_thread::DriverThread;
use crate::phase::us_between;
use crate::retry::with_retries;
use crate::work::{Delivery, Work};

/// An entry of the result file, made after the commit (2.7.2.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) queued: Instant,
    pub(crate) completed: Instant,
    pub(crate) what: Delivery,
}

/// Queues a transaction. It waits in the same queue for a connection as the terminals do.
pub(crate) fn queue<W: Work>(shard: &Rc<DriverThread<W>>, queue: usize, input: W::Input, queued: Instant) {
    let under_way = shard.under_way();
    let in_backlog = shard.in_backlog();
    let shard = shard.clone();
    tokio::task::spawn_local(async move {
        let (_under_way, _in_backlog) = (under_way, in_backlog);
        let mut connection = shard.pool.take(queue).await;
        let served = Instant::now();
        let (ended, retries) = with_retries(&mut connection.session, &shard.jitter, async |session| {
            shard.work.execute(session, &input).await
        })
        .await;
        let completed = Instant::now();
        let (gateway, timings) = (connection.gateway, connection.session.take_timings());
        shard.release(connection, ended.as_ref().err());

        let phase = shard.interval.phase(queued, completed);
        let kind = shard.work.kind(&input);
        let outcome = match ended {
            Ok(output) => {
                shard.acknowledge(&input, &output, completed);
                if let Some(what) = shard.work.delivery(&input, &output) {
                    shard.recorder().skipped(kind, phase, what.skipped());
                    shard.enter(Delivered { queued, completed, what });
                }
                Outcome::Committed
            }
            Err(error) => {
                shard.failed(&input, &error, completed);
                Outcome::Failed(shard.failure(kind, &error))
            }
        };
        let sample = Sample {
            response_us: us_between(queued, completed),
            service_us: us_between(served, completed),
            queue_us: us_between(queued, served),
            retries,
            outcome,
        };
        shard.record_timings(kind, phase, &sample, timings);
        let mut recorder = shard.recorder();
        recorder.deferred(kind, phase, &sample);
        recorder.through(gateway, kind, phase, &sample);
    });
}
