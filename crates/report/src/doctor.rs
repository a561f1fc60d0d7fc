//! What an examination found, one finding a line, with what to do below it.

use serde_json::{Value, json};
use target::{Finding, Level};

/// The findings as text.
#[must_use]
pub fn doctor_table(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.what.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Finding { status, what, value, advice } in findings {
        text.push_str(&format!("{status:<5} {what:<width$}  {value}\n"));
        if !advice.is_empty() {
            text.push_str(&format!("      {:<width$}  -> {advice}\n", ""));
        }
    }
    let count = |status: Level| findings.iter().filter(|finding| finding.status == status).count();
    let fit = if is_fit(findings) { "fit to be measured" } else { "NOT fit to be measured" };
    let (ok, warn, bad, unknown) = (count(Level::Ok), count(Level::Warn), count(Level::Bad), count(Level::Unknown));
    text.push_str(&format!("\n{ok} ok, {warn} to heed, {bad} bad, {unknown} not known: {fit}\n"));
    text
}

/// The findings as JSON: `findings[].{status,what,value,advice}`, `fit`.
#[must_use]
pub fn doctor_json(findings: &[Finding]) -> Value {
    json!({ "findings": findings, "fit": is_fit(findings) })
}

fn is_fit(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.status != Level::Bad)
}
