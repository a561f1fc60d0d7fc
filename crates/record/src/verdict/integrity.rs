//! Rules on the work itself: errors, skipped work, consistency, nothing acknowledged missing.

use crate::recorder::Failures;
use crate::run::{CheckCounts, CheckResult, NOT_ASKED_FOR, TransactionCounts};

use super::{Case, Finding, Judgement, percent};

/// Largest share of transactions that may fail for other reasons than integrity.
const MAX_ERRORS: f64 = 0.01;

pub(super) fn judge(case: Case<'_>) -> Vec<Finding> {
    let mut findings = vec![integrity(case), errors(case)];
    findings.extend(data(case));
    findings.extend(skips(case));
    findings.push(checks(case));
    findings.push(reconciliation(case));
    findings.extend(audit(case));
    findings
}

/// Everything acknowledged, looked up by its key, if that was done (3.5.4).
fn audit(case: Case<'_>) -> Option<Finding> {
    let audit = case.run.audit.as_ref()?;
    let finding = Finding::new("acknowledged transactions missing", "3.5.4", "0").figure(audit.missing().to_string());
    Some(if audit.passed { finding.pass() } else { finding.fail(audit.detail.clone()) })
}

/// Why rules on the data say nothing of a target that has none.
const WITHOUT_DATA: &str = "the target keeps no data";

/// There is a database at all.
fn data(case: Case<'_>) -> Option<Finding> {
    let why = "it only answers: nothing was measured but the tool itself";
    let finding = || Finding::new(WITHOUT_DATA, "", "it keeps some").judged(Judgement::Deviation, why);
    case.run.target.without_data.then(finding)
}

/// Failures of the interval, deferred ones included, and attempts to complete something.
fn failures(case: Case<'_>) -> (Failures, u64) {
    let mut failures = Failures::default();
    let mut completed = 0;
    for counts in case.run.counts.iter().map(|counts| &counts.measured) {
        failures.merge(&counts.failures);
        failures.merge(&counts.deferred.failures);
        completed += counts.completed + counts.deferred.completed;
    }
    (failures, completed + failures.total())
}

/// No row that a profile needs may be missing, at any time of the run.
fn integrity(case: Case<'_>) -> Finding {
    let phases = |counts: &TransactionCounts| [counts.measured, counts.outside];
    let broken: u64 = case
        .run
        .counts
        .iter()
        .flat_map(phases)
        .map(|counts| counts.failures.integrity + counts.deferred.failures.integrity)
        .sum();
    let finding =
        Finding::new("rows missing or miscounted", &case.run.plan.errors_clause, "0").figure(broken.to_string());
    match broken {
        0 => finding.pass(),
        _ => {
            finding.fail("a transaction did not find the rows that its profile needs; the data is not the benchmark's")
        }
    }
}

/// Other failures: few are reported, many are no result.
fn errors(case: Case<'_>) -> Finding {
    let (failures, attempts) = failures(case);
    let other = failures.total() - failures.integrity;
    let finding =
        Finding::new("transactions that failed", &case.run.plan.errors_clause, format!("<= {}", percent(MAX_ERRORS)));
    if attempts == 0 {
        return finding.not_judged("no transaction was tried");
    }
    let share = other as f64 / attempts as f64;
    let finding = finding.figure(format!("{other} of {attempts}, {}", percent(share)));
    let causes = format!(
        "{} with retries used up, {} by a lost connection, {} otherwise",
        failures.exhausted, failures.connection, failures.other
    );
    if other == 0 {
        finding.pass()
    } else if share > MAX_ERRORS {
        finding.fail(causes)
    } else {
        finding.judged(Judgement::Deviation, causes)
    }
}

/// Deferred work that found nothing to do (2.7.4.2).
fn skips(case: Case<'_>) -> Option<Finding> {
    let rule = case.run.plan.skips.as_ref()?;
    let deferred = case.summary.transactions.iter().filter_map(|figures| figures.deferred.as_ref());
    let (skipped, completed) = deferred.fold((0, 0), |(s, c), d| (s + d.skipped, c + d.completed));
    let limit = format!("<= {} or {}", percent(rule.max_share), rule.max_count);
    let finding = Finding::new("skipped deferred transactions", &rule.clause, limit);
    if completed == 0 {
        return Some(finding.not_judged("none was completed"));
    }
    let share = skipped as f64 / completed as f64;
    let finding = finding.figure(format!("{skipped} of {completed}, {}", percent(share)));
    Some(if skipped <= rule.max_count || share <= rule.max_share {
        finding.pass()
    } else {
        finding.fail("the queue of undelivered orders ran dry")
    })
}

/// The consistency conditions (3.3.2).
fn checks(case: Case<'_>) -> Finding {
    let finding = Finding::new("consistency conditions", "", "all hold");
    if case.run.target.without_data {
        return finding.not_applicable(WITHOUT_DATA);
    }
    let Some(checks) = &case.run.checks else {
        return finding.not_judged("not checked in this run");
    };
    let failed: Vec<_> = checks.iter().filter(|check| !check.passed).collect();
    let finding = finding.figure(CheckCounts::from_checks(checks).to_string());
    if failed.is_empty() && checks.iter().any(|check| check.skipped.as_deref() == Some(NOT_ASKED_FOR)) {
        return finding.not_judged("not all checked in this run");
    }
    if failed.is_empty() {
        return finding.pass();
    }
    let one = |check: &&CheckResult| format!("{} ({} violations)", check.name, check.violations);
    let named: Vec<String> = failed.iter().map(one).collect();
    let mut clauses: Vec<&str> = failed.iter().map(|check| check.clause.as_str()).collect();
    clauses.dedup();
    let mut finding = finding.fail(named.join("; "));
    finding.clause = clauses.join(", ");
    finding
}

/// Nothing acknowledged may be missing.
fn reconciliation(case: Case<'_>) -> Finding {
    let finding = Finding::new("acknowledged work kept", "", "none missing");
    if case.run.target.without_data {
        return finding.not_applicable(WITHOUT_DATA);
    }
    let Some(reconciliation) = &case.run.reconciliation else {
        // It was killed before, or could not begin to look: what was lost then, nobody knows.
        return finding.judged(Judgement::Deviation, "not reconciled in this run");
    };
    let missing: u64 = reconciliation.checked.iter().map(|item| item.missing).sum();
    let finding = finding.figure(format!("{missing} missing"));
    if reconciliation.passed { finding.pass() } else { finding.fail(&reconciliation.detail) }
}
