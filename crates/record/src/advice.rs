//! What may help a statement, and what it gave when it was tried.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::query_plan::Plan;
use crate::run::{Target, Tool};
use crate::timing::{Speedup, figure};
use crate::tuning::{Space, WriteCost};

/// What came of a candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tried {
    /// Nobody asked to try it.
    #[default]
    NotTried,
    /// It was there, and the plan did not take it.
    NotUsed,
    /// The database refused it, or its result was another.
    Refused,
    /// It was taken, but others did better at a first look.
    Weaker,
    /// It was measured.
    Measured,
}

/// Something that may help.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Candidate {
    /// The statements that make it: CREATE INDEX, or the statement in another form.
    pub statements: Vec<String>,
    /// What it is, in a few words: `an index on rides (start_time), holding rider_id`.
    pub what: String,
    /// What came of it.
    pub tried: Tried,
    /// Why it was not measured.
    pub reason: Option<String>,
    /// How the statement is run with it.
    pub plan: Option<Plan>,
    /// Milliseconds without it, the median.
    pub before_ms: Option<f64>,
    /// And with it.
    pub after_ms: Option<f64>,
    /// The speed with it over the speed without.
    pub comparison: Option<Speedup>,
    /// What inserting 100 rows pays for it.
    pub writes: Option<WriteCost>,
    /// What it takes on disk.
    pub space: Option<Space>,
    /// Milliseconds that it took to build.
    pub build_ms: Option<f64>,
}

/// The advice for a statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Advice {
    /// What measured.
    pub tool: Tool,
    /// The database.
    pub target: Target,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// The statement.
    pub statement: String,
    /// Whether candidates were tried.
    pub tried: bool,
    /// Where: on the tables themselves, or on a copy.
    pub place: String,
    /// How the statement is run as things are.
    pub plan: Option<Plan>,
    /// Milliseconds that it takes as things are, the median.
    pub now_ms: Option<f64>,
    /// The candidates; if they were tried, the best first.
    pub candidates: Vec<Candidate>,
    /// What else is to be said of the statement.
    pub notes: Vec<String>,
    /// Seed of values and orders.
    pub seed: u64,
}

/// A candidate whose speed is within this share of the best one's is as good; the cheaper of them wins.
const AS_GOOD: f64 = 0.9;

impl Candidate {
    /// Whether it helps beyond chance.
    #[must_use]
    pub fn helps(&self) -> bool {
        self.comparison.is_some_and(|speedup| speedup.is_significant() && speedup.factor > 1.0)
    }

    fn factor(&self) -> f64 {
        self.comparison.map_or(0.0, |speedup| speedup.factor)
    }

    /// Bytes that it adds.
    fn bytes(&self) -> u64 {
        self.space.map_or(0, |space| space.after_bytes.saturating_sub(space.before_bytes))
    }
}

impl Advice {
    /// Brings the candidates into their order: what helps first, by what it saves; among those that are about as good the
    /// one that takes less space.
    pub fn rank(&mut self) {
        let best =
            self.candidates.iter().filter(|candidate| candidate.helps()).map(Candidate::factor).fold(0.0, f64::max);
        let class = |candidate: &Candidate| match candidate.tried {
            Tried::Measured if candidate.helps() && candidate.factor() >= best * AS_GOOD => 0,
            Tried::Measured if candidate.helps() => 1,
            Tried::Measured => 2,
            Tried::Weaker => 3,
            Tried::NotUsed | Tried::NotTried => 4,
            Tried::Refused => 5,
        };
        self.candidates.sort_by(|a, b| {
            let by_class = class(a).cmp(&class(b));
            let by_worth = match class(a) {
                0 => a.bytes().cmp(&b.bytes()).then(b.factor().total_cmp(&a.factor())),
                _ => b.factor().total_cmp(&a.factor()),
            };
            by_class.then(by_worth)
        });
    }

    /// What follows, in a sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let first = self.candidates.first();
        match first {
            None => "Nothing to propose: no index is missing that the statement could use.".to_owned(),
            Some(_) if !self.tried => {
                format!("{} candidates; nothing was tried (--try measures each).", self.candidates.len())
            }
            Some(best) if best.helps() => {
                let comparison = best.comparison.map(|speedup| speedup.words()).unwrap_or_default();
                format!("Best: {}: {comparison}.", best.what)
            }
            Some(_) => match self.now_ms {
                Some(now) => {
                    format!("Leave it as it is ({} ms): nothing that was tried helps beyond chance.", figure(now))
                }
                None => "Leave it as it is: nothing that was tried helps beyond chance.".to_owned(),
            },
        }
    }
}
