//! What is shown: a run or a load as it stands.

use std::collections::VecDeque;
use std::time::Instant;

use record::gateway::Moves;
use record::plan::TransactionRule;
use record::timeline::Stage;
use record::{Plan, TimelineRow};

use crate::progress::{Begun, Reading};

/// A second of a run, with what it makes of the run so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Now {
    pub(super) row: TimelineRow,
    /// How long it was, seconds.
    pub(super) seconds: f64,
    /// Connections that nobody uses.
    pub(super) idle: u64,
    /// In the order of [`parts`].
    pub(super) transactions: Vec<Transaction>,
    /// In the order of the plan; empty where there is only one.
    pub(super) gateways: Vec<Gateway>,
}

/// What has a line of its own: a transaction type as its terminal sees it, or the deferred part of one.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The type's place in the plan.
    pub(super) index: usize,
    pub(super) title: String,
    pub(super) headline: bool,
    pub(super) deferred: bool,
    /// 90 % of its times are to be below this, seconds; 0: no limit.
    pub(super) limit_s: f64,
}

/// The parts of a plan's transactions, in its order.
pub(super) fn parts(plan: &Plan) -> Vec<Part> {
    let of = |(index, rule): (usize, &TransactionRule)| {
        let terminal = Part {
            index,
            title: rule.title.clone(),
            headline: rule.headline,
            deferred: false,
            limit_s: rule.response_limit_seconds,
        };
        let deferred =
            |limit_s| Part { title: "  deferred".into(), headline: false, deferred: true, limit_s, ..terminal.clone() };
        let deferred = rule.deferred_limit_seconds.map(deferred);
        [Some(terminal), deferred].into_iter().flatten()
    };
    plan.transactions.iter().enumerate().flat_map(of).collect()
}

/// A transaction type, or the deferred part of one.
#[derive(Clone, Debug, Default)]
pub(super) struct Transaction {
    /// Completed ones of the last second, per minute.
    pub(super) a_minute: f64,
    /// Of all completed transactions, a fraction: of the ramp, then of the measurement; none of a deferred part.
    pub(super) share: Option<f64>,
    /// Response times, ms: median, 90th and 99th percentile, largest; of the ramp, then of the measurement.
    pub(super) times_ms: [f64; 4],
    /// Of the whole run.
    pub(super) errors: u64,
    /// Of the whole run.
    pub(super) retries: u64,
}

/// A gateway: rates and times of the last second, counts of the whole run.
#[derive(Clone, Debug, Default)]
pub(super) struct Gateway {
    pub(super) headline_a_minute: f64,
    pub(super) a_minute: f64,
    /// Of the headline transaction's response time.
    pub(super) p90_ms: f64,
    pub(super) errors: u64,
    pub(super) retries: u64,
    pub(super) moves: Moves,
}

/// A second of the past.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    pub(super) headline_a_minute: f64,
    pub(super) p90_ms: f64,
    pub(super) measured: bool,
}

/// A run.
#[derive(Clone, Debug)]
pub(super) struct RunState {
    pub(super) plan: Plan,
    /// The database, without a password.
    pub(super) target: String,
    /// Whether it works inside this process.
    pub(super) embedded: bool,
    pub(super) parts: Vec<Part>,
    /// The last second; none before the first.
    pub(super) now: Option<Now>,
    pub(super) past: Vec<Past>,
    measured_s: f64,
    measured_headline: u64,
}

impl RunState {
    pub(super) fn new(plan: Plan, target: String, embedded: bool) -> Self {
        let parts = parts(&plan);
        Self { plan, target, embedded, parts, now: None, past: Vec::new(), measured_s: 0.0, measured_headline: 0 }
    }

    /// Takes in a second.
    pub(super) fn take(&mut self, now: Now) {
        let headline = self.headline_of(&now.row);
        let measured = now.row.stage == Stage::Measured;
        if measured {
            self.measured_s += now.seconds;
            self.measured_headline += headline;
        }
        if now.row.stage != Stage::Drain {
            self.past.push(Past {
                headline_a_minute: per_minute(headline, now.seconds),
                p90_ms: now.row.p90_ms,
                measured,
            });
        }
        self.now = Some(now);
    }

    /// How many seconds it has taken in.
    pub(super) fn seconds(&self) -> usize {
        self.past.len() + usize::from(self.now.as_ref().is_some_and(|now| now.row.stage == Stage::Drain))
    }

    fn headline_of(&self, row: &TimelineRow) -> u64 {
        self.plan.headline().and_then(|index| row.completed.get(index)).copied().unwrap_or(0)
    }

    /// Headline transactions a minute in the last second.
    pub(super) fn rate_now(&self) -> f64 {
        self.now.as_ref().map_or(0.0, |now| per_minute(self.headline_of(&now.row), now.seconds))
    }

    /// Headline transactions a minute since the measurement began; none before.
    pub(super) fn rate_measured(&self) -> Option<f64> {
        (self.measured_s > 0.0).then(|| per_minute(self.measured_headline, self.measured_s))
    }

    /// That rate as a fraction of the most that the standard lets the warehouses give; none where it doesn't apply.
    pub(super) fn efficiency(&self) -> Option<f64> {
        let base = self.plan.scale.max_per_warehouse * f64::from(self.plan.warehouses);
        self.rate_measured().filter(|_| self.plan.is_standard() && base > 0.0).map(|rate| rate / base)
    }
}

fn per_minute(count: u64, seconds: f64) -> f64 {
    60.0 * count as f64 / seconds.max(1e-3)
}

/// Steps of a load that are shown.
const STEPS: usize = 100;

/// A load.
#[derive(Clone, Debug)]
pub(super) struct LoadState {
    pub(super) title: String,
    /// What is counted.
    pub(super) unit: &'static str,
    started: Instant,
    /// Seconds since then.
    pub(super) elapsed_s: f64,
    pub(super) done: u64,
    pub(super) total: u64,
    /// What was and is being done, with its beginning in seconds, the oldest first.
    pub(super) steps: VecDeque<(f64, String)>,
    /// Units a second, one for each second that has passed.
    pub(super) past: Vec<f64>,
    /// CPU of this process in the last of them, percent of a core, and its memory, bytes.
    pub(super) weight: Option<(f64, u64)>,
    /// When the last of them ended, and what was done then.
    mark: (f64, u64),
    /// When there was something new, seconds.
    moved_s: f64,
    begun: Begun,
}

impl LoadState {
    pub(super) fn new(title: String, unit: &'static str) -> Self {
        Self {
            title,
            unit,
            started: Instant::now(),
            elapsed_s: 0.0,
            done: 0,
            total: 0,
            steps: VecDeque::new(),
            past: Vec::new(),
            weight: None,
            mark: (0.0, 0),
            moved_s: 0.0,
            begun: Begun::default(),
        }
    }

    /// Takes in how far it has come; whether there is anything new to show.
    pub(super) fn take(&mut self, reading: Reading) -> bool {
        self.take_at(self.started.elapsed().as_secs_f64(), reading)
    }

    /// The same, so many seconds after its beginning.
    pub(super) fn take_at(&mut self, elapsed_s: f64, reading: Reading) -> bool {
        if self.begun.take(elapsed_s, &reading) {
            self.mark = (elapsed_s, reading.done);
        }
        let Reading { done, total, doing } = reading;
        let step = !doing.is_empty() && self.steps.back().is_none_or(|(_, last)| *last != doing);
        if step {
            self.steps.push_back((elapsed_s, doing));
            if self.steps.len() > STEPS {
                self.steps.pop_front();
            }
        }
        let (at, then) = self.mark;
        if elapsed_s - at >= 1.0 {
            self.past.push(done.saturating_sub(then) as f64 / (elapsed_s - at));
            self.mark = (elapsed_s, done);
        }
        let new = step || done != self.done || total != self.total || elapsed_s.floor() != self.elapsed_s.floor();
        if done != self.done {
            self.moved_s = elapsed_s;
        }
        (self.elapsed_s, self.done, self.total) = (elapsed_s, done, total);
        new
    }

    /// Units a second of this attempt, as long as some came.
    pub(super) fn mean(&self) -> f64 {
        self.begun.rate(self.moved_s, self.done)
    }
}
