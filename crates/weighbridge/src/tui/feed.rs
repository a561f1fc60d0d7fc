//! What the view is told of each second, made where the second is collected.

use drive::Second;
use record::histogram::{Histogram, Stats};
use record::recorder::Clock;
use record::timeline::Stage;
use record::{Phase, Plan};

use super::state::{Gateway, Now, Part, Transaction, parts};

/// Adds up what a second alone does not tell.
pub(super) struct Feed {
    parts: Vec<Part>,
    /// Times of each part: in the ramp since its beginning, then since that of the measurement.
    times: Vec<Histogram<u32>>,
    phase: Phase,
    told_s: f64,
}

impl Feed {
    pub(super) fn new(plan: &Plan) -> Self {
        let parts = parts(plan);
        let times = parts.iter().map(|_| Histogram::new()).collect();
        Self { parts, times, phase: Phase::Outside, told_s: 0.0 }
    }

    pub(super) fn second(&mut self, second: &Second<'_>) -> Now {
        let Second { row, recorder, record, idle } = *second;
        if row.stage == Stage::Measured && self.phase == Phase::Outside {
            self.phase = Phase::Measured;
            self.times.iter_mut().for_each(Histogram::clear);
        }
        let seconds = (row.elapsed_s - self.told_s).max(1e-3);
        self.told_s = row.elapsed_s;
        let a_minute = |count: u64| 60.0 * count as f64 / seconds;

        let counts = |index: usize| match self.phase {
            Phase::Measured => record.counts[index].measured,
            Phase::Outside => record.counts[index].outside,
        };
        let all: u64 = (0..record.counts.len()).map(|index| counts(index).completed).sum();
        let transactions = self.parts.iter().zip(&mut self.times).map(|(part, times)| {
            let index = part.index;
            let clock = if part.deferred { Clock::Deferred } else { Clock::Response };
            times.merge(recorder.histogram(index, self.phase, clock));
            let Stats { p50, p90, p99, max, .. } = times.stats();
            let completed = Phase::ALL.map(|phase| {
                let counts = recorder.counts(index, phase);
                if part.deferred { counts.deferred.completed } else { counts.completed }
            });
            let so_far =
                [record.counts[index].measured, record.counts[index].outside].map(|counts| match part.deferred {
                    true => (counts.deferred.failures.total(), counts.deferred.retries),
                    false => (counts.failures.total(), counts.retries),
                });
            Transaction {
                a_minute: a_minute(completed.iter().sum()),
                share: (!part.deferred).then(|| counts(index).completed as f64 / all.max(1) as f64),
                times_ms: [p50, p90, p99, max],
                errors: so_far.iter().map(|(errors, _)| errors).sum(),
                retries: so_far.iter().map(|(_, retries)| retries).sum(),
            }
        });
        let transactions = transactions.collect();
        let gateways = recorder.gateways().iter().zip(&record.gateways).map(|(now, so_far)| {
            let [before, within] = Phase::ALL.map(|phase| *now.counts(phase));
            let [response, _] = now.histograms(self.phase);
            Gateway {
                headline_a_minute: a_minute(before.headline + within.headline),
                a_minute: a_minute(before.completed + within.completed),
                p90_ms: response.stats().p90,
                errors: so_far.measured.failures.total() + so_far.outside.failures.total(),
                retries: so_far.measured.retries + so_far.outside.retries,
                moves: so_far.moves,
            }
        });
        Now { row: row.clone(), seconds, idle, transactions, gateways: gateways.collect() }
    }
}
