//! The result of `check`: consistency conditions, one a line.

use record::run::CheckResult;
use serde_json::{Value, json};

use crate::columns::columns;

/// The conditions as text, and whether all hold.
#[must_use]
pub fn check_table(checks: &[CheckResult]) -> String {
    let row = |check: &CheckResult| {
        let outcome = if check.passed { "pass" } else { "FAIL" };
        let cells = [outcome, &check.clause, &check.name, &check.violations.to_string(), &check.detail];
        cells.map(str::to_owned).to_vec()
    };
    let mut text = columns(&["<", "<clause", "<condition", "violations", "<detail"], checks.iter().map(row).collect());
    let failed = checks.iter().filter(|check| !check.passed).count();
    text.push_str(&match (checks.len(), failed) {
        (all, 0) => format!("\nall {all} hold\n"),
        (all, failed) => format!("\n{failed} of {all} FAILED\n"),
    });
    text
}

/// The conditions as JSON: `checks[].{name,clause,passed,violations,detail}`, `passed`.
#[must_use]
pub fn check_json(checks: &[CheckResult]) -> Value {
    json!({ "checks": checks, "passed": checks.iter().all(|check| check.passed) })
}
