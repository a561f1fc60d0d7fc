//! The verdict: whether a run's figures can be believed, rule by rule.
//!
//! A rule is judged with its sample size. It fails only where chance can't explain the figure, and is not
//! judged, with the reason, where the sample can't tell. Nothing is ever clamped.

mod input;
mod integrity;
mod response;
mod throughput;
mod tool;

use serde::{Deserialize, Serialize};

use crate::run::RunRecord;
use crate::summary::Summary;
use crate::timeline::TimelineRow;

/// What a run's figures are worth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// The verdict in a word.
    pub status: Status,
    /// The findings that make it `invalid`.
    pub reasons: Vec<Finding>,
    /// Every rule, judged or not.
    pub findings: Vec<Finding>,
    /// Why it is not `standard`, where that is harmless or on purpose, one line each.
    pub deviations: Vec<String>,
}

/// The verdict in a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All that the standard asks of a run and a program can judge holds.
    Standard,
    /// The same in a shorter interval, or with other harmless deviations.
    Engineering,
    /// It leaves the standard on purpose.
    Unconstrained,
    /// At least one rule failed.
    #[default]
    Invalid,
}

impl Status {
    /// As in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Standard => "standard",
            Status::Engineering => "engineering",
            Status::Unconstrained => "unconstrained",
            Status::Invalid => "invalid",
        }
    }
}

/// One rule and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// The rule, for people: `New-Order response time, 90th percentile`.
    pub rule: String,
    /// Its clause; empty for a rule of this tool.
    pub clause: String,
    /// What came of it.
    pub outcome: Judgement,
    /// The figure, with its unit; empty if there is none.
    pub figure: String,
    /// The limit, with its unit.
    pub limit: String,
    /// Why it failed, deviates or was not judged; empty if it passed plainly.
    pub why: String,
}

/// What came of a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It holds.
    Pass,
    /// It is broken, and chance is no explanation.
    Fail,
    /// It does not hold, harmlessly; also listed among the deviations.
    Deviation,
    /// The sample can't tell, or it was not looked at.
    #[default]
    NotJudged,
    /// It means nothing in this run.
    NotApplicable,
}

impl Judgement {
    /// As in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Pass => "pass",
            Judgement::Fail => "fail",
            Judgement::Deviation => "deviation",
            Judgement::NotJudged => "not_judged",
            Judgement::NotApplicable => "not_applicable",
        }
    }
}

impl Finding {
    /// A rule with its clause and limit, not yet judged.
    pub(crate) fn new(rule: impl Into<String>, clause: &str, limit: impl Into<String>) -> Self {
        Finding { rule: rule.into(), clause: clause.to_owned(), limit: limit.into(), ..Finding::default() }
    }

    /// With its figure.
    pub(crate) fn figure(mut self, figure: impl Into<String>) -> Self {
        self.figure = figure.into();
        self
    }

    /// With what came of it, and why.
    pub(crate) fn judged(mut self, outcome: Judgement, why: impl Into<String>) -> Self {
        self.outcome = outcome;
        self.why = why.into();
        self
    }

    pub(crate) fn pass(self) -> Self {
        self.judged(Judgement::Pass, "")
    }

    pub(crate) fn fail(self, why: impl Into<String>) -> Self {
        self.judged(Judgement::Fail, why)
    }

    fn not_judged(self, why: impl Into<String>) -> Self {
        self.judged(Judgement::NotJudged, why)
    }

    fn not_applicable(self, why: impl Into<String>) -> Self {
        self.judged(Judgement::NotApplicable, why)
    }
}

/// Why rules of pacing, response time and efficiency are not applied to a run that left the standard.
const LEFT: &str = "the run leaves the standard on purpose";

/// A fraction as a percentage, with the digits that windows of a tenth of a percent need.
fn percent(fraction: f64) -> String {
    format!("{:.3} %", fraction * 100.0)
}

/// What the rules look at.
#[derive(Clone, Copy)]
struct Case<'a> {
    run: &'a RunRecord,
    summary: &'a Summary,
    timeline: &'a [TimelineRow],
}

/// Judges a run.
#[must_use]
pub fn judge(run: &RunRecord, summary: &Summary, timeline: &[TimelineRow]) -> Verdict {
    let case = Case { run, summary, timeline };
    let rules = [input::judge, response::judge, throughput::judge, integrity::judge, tool::judge];
    let findings: Vec<Finding> = rules.iter().flat_map(|rule| rule(case)).collect();
    let reasons: Vec<Finding> = findings.iter().filter(|f| f.outcome == Judgement::Fail).cloned().collect();
    let deviating = findings.iter().filter(|f| f.outcome == Judgement::Deviation);
    let found = deviating.map(|f| format!("{}: {}", f.rule, f.why));
    let deviations: Vec<String> =
        run.plan.nonstandard.iter().chain(&run.plan.deviations).cloned().chain(found).collect();
    let status = if !reasons.is_empty() {
        Status::Invalid
    } else if !run.plan.is_standard() {
        Status::Unconstrained
    } else if !deviations.is_empty() {
        Status::Engineering
    } else {
        Status::Standard
    };
    Verdict { status, reasons, findings, deviations }
}
