//! The deferred part of Delivery: queued by the terminal, done by its own task, entered in the result file (2.7.2).

use std::rc::Rc;
use std::time::Instant;

use ::tpcc::input::{Delivery, Input, Kind};
use record::{Outcome, Sample};
use workload::tpcc::{Output, deliver};

use crate::phase::us_between;
use crate::retry::with_retries;
use crate::shard::Shard;
use crate::terminal::DELIVERY;

/// An entry of the result file, made after the commit (2.7.2.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) queued: Instant,
    pub(crate) completed: Instant,
    pub(crate) w_id: i32,
    pub(crate) carrier_id: i32,
    pub(crate) o_ids: [Option<i32>; 10],
}

/// Queues a Delivery. It waits in the same line for a connection as the terminals do.
pub(crate) fn queue(shard: &Rc<Shard>, line: usize, request: Delivery, queued: Instant) {
    let under_way = shard.under_way();
    let in_backlog = shard.in_backlog();
    let shard = shard.clone();
    tokio::task::spawn_local(async move {
        let (_under_way, _in_backlog) = (under_way, in_backlog);
        let mut connection = shard.pool.take(line).await;
        let served = Instant::now();
        let profile = shard.profile;
        let (ended, retries) = with_retries(&mut connection.session, &shard.jitter, async |session| {
            deliver(session, profile, &request).await
        })
        .await;
        let completed = Instant::now();
        let (gateway, laps) = (connection.gateway, connection.session.take_laps());
        shard.release(connection, ended.as_ref().err());

        let phase = shard.interval.phase(queued, completed);
        let (w_id, carrier_id) = (request.w_id, request.carrier_id);
        let input = Input::Delivery(request);
        let outcome = match ended {
            Ok(delivered) => {
                shard.acknowledge(&input, &Output::Delivery(delivered), completed);
                shard.recorder().skipped(DELIVERY, phase, delivered.skipped() as u32);
                shard.enter(Delivered { queued, completed, w_id, carrier_id, o_ids: delivered.o_ids });
                Outcome::Committed
            }
            Err(error) => {
                shard.failed(&input, &error, completed);
                Outcome::Failed(shard.failure(Kind::Delivery, &error))
            }
        };
        let sample = Sample {
            response_us: us_between(queued, completed),
            service_us: us_between(served, completed),
            queue_us: us_between(queued, served),
            retries,
            outcome,
        };
        shard.record_laps(DELIVERY, phase, &sample, laps);
        let mut recorder = shard.recorder();
        recorder.deferred(DELIVERY, phase, &sample);
        recorder.through(gateway, DELIVERY, phase, &sample);
    });
}
