//! Advice for statements: the candidates, and what each gave and costs.

use record::advice::{Advice, Candidate, Tried};
use record::timing::figure;
use serde_json::{Value, json};

use crate::columns::columns;
use crate::tuning::interval;

/// What is told of a candidate that was tried.
pub(crate) const HEADER: [&str; 7] =
    ["<candidate", "ms", "times as fast", "<95 % interval", "<100 rows in", "<space", "<"];

/// The advice as text.
#[must_use]
pub fn advice_table(all: &[Advice]) -> String {
    let parts: Vec<String> = all.iter().map(one).collect();
    parts.join("\n")
}

/// The advice as JSON: `statements[].{statement,verdict,candidates[].{statements,what,tried,…},notes}`.
#[must_use]
pub fn advice_json(all: &[Advice]) -> Value {
    let statements: Vec<Value> = all
        .iter()
        .map(|advice| {
            let mut entry = json!(advice);
            entry["verdict"] = json!(advice.verdict());
            entry
        })
        .collect();
    json!({ "statements": statements })
}

fn one(advice: &Advice) -> String {
    let statement = advice.statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = format!("{statement}\n");
    if let Some(plan) = &advice.plan {
        text.push_str(&format!("  now: {}", plan.summary()));
        if let Some(work) = plan.work {
            text.push_str(&format!(" ({work:.0} {})", plan.unit));
        }
        text.push('\n');
    }
    if let Some(now) = advice.now_ms {
        text.push_str(&format!("  takes {} ms; tried on {}; seed {}\n", figure(now), advice.place, advice.seed));
    }
    text.push('\n');
    if !advice.candidates.is_empty() {
        let header: &[&str] = if advice.tried { &HEADER } else { &["<candidate"] };
        let row = |candidate: &Candidate| if advice.tried { row(candidate) } else { vec![candidate.what.clone()] };
        text.push_str(&format!("{}\n", columns(header, advice.candidates.iter().map(row).collect())));
    }
    text.push_str(&format!("{}\n", advice.verdict()));
    for sql in proposed(advice) {
        text.push_str(&format!("    {sql};\n"));
    }
    for note in &advice.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text
}

/// The statements to be run: those of the best candidate, or of all where none was tried.
pub(crate) fn proposed(advice: &Advice) -> impl Iterator<Item = &String> {
    let shown = if advice.tried { 1 } else { advice.candidates.len() };
    let candidates = advice.candidates.iter().take(shown).filter(|candidate| !advice.tried || candidate.helps());
    candidates.flat_map(|candidate| &candidate.statements)
}

pub(crate) fn row(candidate: &Candidate) -> Vec<String> {
    let ms = candidate.after_ms.map_or("-".to_owned(), figure);
    let (factor, interval) = candidate
        .comparison
        .as_ref()
        .map_or(("-".to_owned(), String::new()), |speedup| (figure(speedup.factor), interval(speedup)));
    let writes = candidate
        .writes
        .as_ref()
        .map_or(String::new(), |writes| format!("{} to {} ms", figure(writes.before_ms), figure(writes.after_ms)));
    let space = candidate.space.map_or(String::new(), |space| {
        let more = space.after_bytes as f64 - space.before_bytes as f64;
        format!("{}{} MB", if more < 0.0 { "" } else { "+" }, figure(more / 1e6))
    });
    let outcome = match (candidate.tried, &candidate.reason) {
        (_, Some(reason)) => reason.clone(),
        (Tried::NotUsed, None) => "the plan does not take it".to_owned(),
        (Tried::Weaker, None) => "weaker at a first look".to_owned(),
        _ => String::new(),
    };
    vec![candidate.what.clone(), ms, factor, interval, writes, space, outcome]
}
