//! What `run.json` says of a run, held against what its folder gives: a document that was edited is noticed.

use std::collections::BTreeSet;

use crate::folder::{OpenedRun, RUN_JSON};
use crate::summary::Summary;
use crate::verdict::{self, Verdict};

/// Figures that differ by less than this share are the same: decimal digits lose no more.
const ROUNDING: f64 = 1e-9;

/// In what the summary and the verdict in `run.json` are not those of the folder, one line each; none where it holds
/// neither, as of a run that never ended.
pub(crate) fn contradictions(run: &OpenedRun) -> Vec<String> {
    let summary = Summary::from_run(run);
    let mut said: Vec<String> = Vec::new();
    if let Some(kept) = &run.record.summary {
        let figure = |kept: f64, derived: f64, what: &str| {
            let differ = (kept - derived).abs() > ROUNDING * derived.abs().max(1.0);
            differ.then(|| format!("{kept:.2} {what} and not {derived:.2}"))
        };
        said.extend(figure(kept.nopm, summary.nopm, &format!("{}s a minute", run.record.plan.headline_title())));
        said.extend(figure(kept.total_per_minute, summary.total_per_minute, "transactions a minute"));
        said.extend(figure(kept.measured_seconds, summary.measured_seconds, "seconds measured"));
        for (kept, derived) in kept.transactions.iter().zip(&summary.transactions) {
            let name = &derived.name;
            said.extend(figure(kept.response.p90, derived.response.p90, &format!("ms as the p90 of {name}")));
            said.extend(figure(kept.errors as f64, derived.errors as f64, &format!("errors of {name}")));
        }
    }
    if let Some(kept) = &run.record.verdict {
        said.extend(verdicts(kept, &verdict::judge(&run.record, &summary, &run.timeline)));
    }
    if said.is_empty() {
        return said;
    }
    vec![format!(
        "{}: it says {}; what is shown is what the folder gives. Was it edited, or written by another version?",
        run.path.join(RUN_JSON).display(),
        said.join(", ")
    )]
}

fn verdicts(kept: &Verdict, derived: &Verdict) -> Vec<String> {
    let mut said = Vec::new();
    if kept.status != derived.status {
        said.push(format!("verdict {} and not {}", kept.status.name(), derived.status.name()));
    }
    let rules = |verdict: &Verdict| verdict.reasons.iter().map(|reason| reason.rule.clone()).collect::<BTreeSet<_>>();
    if rules(kept) != rules(derived) {
        said.push("other rules as failed".to_owned());
    }
    let deviations = |verdict: &Verdict| verdict.deviations.iter().cloned().collect::<BTreeSet<_>>();
    if deviations(kept) != deviations(derived) {
        said.push("other deviations from the standard".to_owned());
    }
    said
}
