//! A claimed figure, judged.

use record::verdict::{Finding, Judgement};
use serde_json::{Value, json};

use crate::columns::columns;

/// The findings on a claim as text, with the answer first.
#[must_use]
pub fn claim_table(findings: &[Finding]) -> String {
    let rows = findings.iter().map(|finding| {
        let word = finding.outcome.name().replace('_', " ");
        vec![word, finding.rule.clone(), finding.figure.clone(), finding.limit.clone(), finding.clause.clone()]
    });
    let mut text = format!("{}\n\n", answer(findings));
    text.push_str(&columns(&["<", "<rule", "<claimed", "<limit", "<clause"], rows.collect()));
    for finding in findings.iter().filter(|finding| !finding.why.is_empty()) {
        text.push_str(&format!("\n{}: {}\n", finding.rule, finding.why));
    }
    text
}

/// The findings on a claim as JSON.
#[must_use]
pub fn claim_json(findings: &[Finding]) -> Value {
    json!({ "possible": possible(findings), "answer": answer(findings), "findings": findings })
}

fn possible(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.outcome != Judgement::Fail)
}

fn answer(findings: &[Finding]) -> &'static str {
    let short = findings.iter().any(|finding| finding.outcome == Judgement::Deviation);
    if !possible(findings) {
        "This can't be: no run to the standard gives it."
    } else if short {
        "This can be, but it does not meet the standard."
    } else {
        "This can be."
    }
}
