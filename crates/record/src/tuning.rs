//! What each technique was worth on a database.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::query_plan::Plan;
use crate::run::{Target, Tool};
use crate::timing::{Speedup, Timing, figure};

/// What came of a lesson.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Both sides were measured.
    Measured,
    /// The database has no such thing.
    NotOffered,
    /// It could not be brought to its end.
    #[default]
    Failed,
}

/// A lesson on a database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonResult {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// Why.
    pub why: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Why there are no figures, where there are none.
    pub reason: Option<String>,
    /// Before the change, or without it.
    pub before: Side,
    /// After it, or with it.
    pub after: Side,
    /// The statements of the change.
    pub change: Vec<String>,
    /// The speed after over the speed before.
    pub comparison: Option<Speedup>,
    /// The same work with other sizes of its statements.
    pub curve: Vec<CurvePoint>,
    /// What a write pays for the change.
    pub writes: Option<WriteCost>,
    /// What the change takes on disk.
    pub space: Option<Space>,
    /// What was published of it.
    pub published: Option<Published>,
    /// What is certain in theory, and whether it was so.
    pub certain: Vec<Certainty>,
    /// What follows, in a sentence or two.
    pub verdict: String,
}

/// One side of a lesson.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Side {
    /// What it is.
    pub label: String,
    /// Its statements.
    pub statements: Vec<String>,
    /// Its times.
    pub timing: Timing,
    /// How its first statement is run.
    pub plan: Option<Plan>,
    /// Transactions that were tried again because of conflicts.
    pub retries: u64,
}

/// A size of the statements, and what the same work took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CurvePoint {
    /// Rows a statement.
    pub size: u32,
    /// Milliseconds for all rows, the median.
    pub median_ms: f64,
    /// Its 95 % interval.
    pub interval_ms: Option<[f64; 2]>,
}

/// What a write pays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteCost {
    /// The write.
    pub label: String,
    /// Milliseconds before the change, the median.
    pub before_ms: f64,
    /// And after.
    pub after_ms: f64,
    /// The speed after over the speed before.
    pub speedup: Option<Speedup>,
}

/// Bytes on disk of the tables with their indexes, as the database tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// Before the change.
    pub before_bytes: u64,
    /// And after.
    pub after_bytes: u64,
}

/// Published figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Published {
    /// Where.
    pub source: String,
    /// Milliseconds before.
    pub before_ms: f64,
    /// Milliseconds after.
    pub after_ms: f64,
    /// What is to be said of them.
    pub note: Option<String>,
}

/// Something that is so whatever the clock says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Certainty {
    /// What.
    pub what: String,
    /// Whether it was so.
    pub holds: bool,
    /// What was seen.
    pub seen: String,
}

/// All lessons of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TuningResult {
    /// What measured.
    pub tool: Tool,
    /// The database.
    pub target: Target,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// The size of the data set: 1 is a million rides.
    pub scale: f64,
    /// Its rides.
    pub rides: u64,
    /// The seed of data, values and orders.
    pub seed: u64,
    /// The lessons, in their order.
    pub lessons: Vec<LessonResult>,
    /// Whether the user ended it early.
    pub interrupted: bool,
    /// What else ended it early, if something did.
    pub stopped: Option<String>,
}

impl LessonResult {
    /// What follows from the figures.
    #[must_use]
    pub fn conclusion(&self) -> String {
        let reason = || self.reason.clone().unwrap_or_default();
        match self.outcome {
            Outcome::NotOffered => return format!("Not offered here: {}.", reason()),
            Outcome::Failed => return format!("Not measured: {}.", reason().trim_end_matches('.')),
            Outcome::Measured => {}
        }
        let (before, after) = (&self.before.label, &self.after.label);
        let mut text = match &self.comparison {
            None => "Not measured often enough.".to_owned(),
            Some(speedup) if !speedup.is_significant() => {
                format!("No difference here that chance does not explain: {after} against {before}.")
            }
            Some(speedup) if speedup.factor >= 1.0 => {
                format!("{} times as fast here: {after} against {before}.", figure(speedup.factor))
            }
            Some(speedup) => format!("{} times as slow here: {after} against {before}.", figure(1.0 / speedup.factor)),
        };
        if let Some(best) = self.best_of_curve() {
            text.push_str(&format!(" Of the sizes tried, {best} did best."));
        }
        if let Some(writes) = &self.writes {
            match &writes.speedup {
                Some(speedup) if speedup.is_significant() && speedup.factor < 1.0 => {
                    let more = (1.0 / speedup.factor - 1.0) * 100.0;
                    text.push_str(&format!(" {} takes {more:.0} % longer.", writes.label));
                }
                _ => text.push_str(&format!(" {}: no cost that chance does not explain.", writes.label)),
            }
        }
        if let Some(space) = self.space.filter(|space| space.before_bytes > 0) {
            let change = (space.after_bytes as f64 / space.before_bytes as f64 - 1.0) * 100.0;
            match change.round() as i64 {
                0 => text.push_str(" The space on disk stays what it was."),
                more if more > 0 => text.push_str(&format!(" The table takes {more} % more space.")),
                less => text.push_str(&format!(" The table takes {} % less space.", -less)),
            }
        }
        for certainty in self.certain.iter().filter(|certainty| !certainty.holds) {
            text.push_str(&format!(" Unlike what theory says, {} does not hold: {}.", certainty.what, certainty.seen));
        }
        text
    }

    /// The size that took least, if that differs from the others beyond its interval.
    fn best_of_curve(&self) -> Option<u32> {
        let best = self.curve.iter().min_by(|a, b| a.median_ms.total_cmp(&b.median_ms))?;
        Some(best.size)
    }
}
