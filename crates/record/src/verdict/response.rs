//! Rules on response times: the 90th percentiles, and their place above the mean.

use crate::histogram::Stats;
use crate::plan::TransactionRule;
use crate::statistics::{FOUR_SIGMA, binomial_at_least};
use crate::summary::TransactionSummary;

use super::{Case, Finding, LEFT};

/// Fewest response times whose 90th percentile is taken as it stands.
const MIN_SAMPLE: u64 = 100;

/// Differences between the 90th percentile and the mean below this count as equal, ms (5.2.5.6).
const EQUAL_MS: f64 = 100.0;

pub(super) fn judge(case: Case<'_>) -> Vec<Finding> {
    let plan = &case.run.plan;
    let mut findings = Vec::new();
    for (rule, figures) in plan.transactions.iter().zip(&case.summary.transactions) {
        let limit = rule.response_limit_seconds;
        // A custom workload may set no limit; a limit of a standard has a clause.
        if limit <= 0.0 && rule.response_clause.is_empty() {
            continue;
        }
        let finding = Finding::new(
            format!("{} response time, 90th percentile", rule.title),
            &rule.response_clause,
            format!("< {limit} s"),
        );
        // The response time must be below its limit, the deferred execution may reach its own.
        let slow = |ms: f64| ms >= limit * 1000.0;
        findings.push(percentile(case, finding, figures.response, slow));
        findings.push(above_mean(case, rule, figures));
        if let (Some(limit), Some(deferred)) = (rule.deferred_limit_seconds, &figures.deferred) {
            let finding = Finding::new(
                format!("{} deferred execution, 90th percentile", rule.title),
                &rule.deferred_clause,
                format!("<= {limit} s"),
            );
            let slow = |ms: f64| ms > limit * 1000.0;
            findings.push(percentile(case, finding, deferred.response, slow));
        }
    }
    findings
}

/// A 90th percentile against its limit; `slow` says whether a time, in milliseconds, is over it.
fn percentile(case: Case<'_>, finding: Finding, times: Stats, slow: impl Fn(f64) -> bool) -> Finding {
    // A limit without a clause is the user's own and holds at any pace.
    if !finding.clause.is_empty() && !case.run.plan.is_standard() {
        return finding.not_applicable(LEFT);
    }
    if times.count == 0 {
        return finding.not_judged("none was completed");
    }
    let finding = finding.figure(format!("{:.3} s", times.p90 / 1000.0));
    if !slow(times.p90) {
        return finding.pass();
    }
    // Few as they are, so many slow ones may still be more than a tenth can explain.
    let beyond_chance = binomial_at_least(slow_at_least(times, slow), times.count, 0.1) < FOUR_SIGMA;
    if times.count >= MIN_SAMPLE || beyond_chance {
        return finding.fail(format!("over the limit, among {} completed", times.count));
    }
    finding.not_judged(format!("over the limit, but only {} completed; judged from {MIN_SAMPLE}", times.count))
}

/// The least number of slow times that the percentiles prove.
fn slow_at_least(times: Stats, slow: impl Fn(f64) -> bool) -> u64 {
    let n = times.count;
    if slow(times.min) {
        n
    } else if slow(times.p50) {
        n - n.div_ceil(2) + 1
    } else {
        n - (n * 9).div_ceil(10) + 1
    }
}

/// The 90th percentile may not be below the mean (5.2.5.6).
fn above_mean(case: Case<'_>, rule: &TransactionRule, figures: &TransactionSummary) -> Finding {
    let times = figures.response;
    let finding = Finding::new(
        format!("{} 90th percentile not below the mean", rule.title),
        &case.run.plan.percentile_clause,
        ">= mean - 0.1 s",
    );
    if !case.run.plan.is_standard() {
        return finding.not_applicable(LEFT);
    }
    if times.count == 0 {
        return finding.not_judged("none was completed");
    }
    let finding = finding.figure(format!("{:.3} s, mean {:.3} s", times.p90 / 1000.0, times.mean / 1000.0));
    if times.p90 + EQUAL_MS >= times.mean {
        finding.pass()
    } else if times.count < MIN_SAMPLE {
        finding.not_judged(format!("only {} completed; judged from {MIN_SAMPLE}", times.count))
    } else {
        finding.fail("a few very slow transactions carry the mean")
    }
}
