//! The result of `check`: consistency conditions, one a line.

use record::run::{CheckCounts, CheckResult};
use serde_json::{Value, json};

use crate::columns::columns;

/// The conditions as text, how many hold, and what was not looked at.
#[must_use]
pub fn check_table(checks: &[CheckResult]) -> String {
    let row = |check: &CheckResult| {
        let outcome = match (&check.skipped, check.passed) {
            (Some(_), _) => "skip",
            (None, true) => "pass",
            (None, false) => "FAIL",
        };
        let cells = [outcome, &check.clause, &check.name, &check.violations.to_string(), &check.detail];
        cells.map(str::to_owned).to_vec()
    };
    let mut text = columns(&["<", "<clause", "<check", "violations", "<detail"], checks.iter().map(row).collect());
    text.push_str(&format!("\n{}\n", CheckCounts::from_checks(checks)));
    let mut reasons: Vec<&str> = checks.iter().filter_map(|check| check.skipped.as_deref()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        text.push_str(&format!("skipped: {reason}\n"));
    }
    text
}

/// The conditions as JSON: `checks[].{name,clause,passed,violations,detail}`, `passed`.
#[must_use]
pub fn check_json(checks: &[CheckResult]) -> Value {
    json!({ "checks": checks, "passed": checks.iter().all(|check| check.passed) })
}
