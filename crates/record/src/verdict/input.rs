//! Rules on what was asked of the database: the mix, the waits, the windows of the random input.

use crate::plan::{TallyKind, TallyRule, TransactionRule};
use crate::recorder::Tally;
use crate::statistics::{FOUR_SIGMA, binomial_at_least, binomial_at_most, needed_sample};
use crate::summary::TransactionSummary;

use super::{Case, Finding, Judgement, LEFT, percent};

/// Fewest think times whose mean says anything.
const MIN_THINKS: u64 = 100;

/// What the histogram and the timer don't resolve: three digits, and a millisecond.
fn resolution_ms(ms: f64) -> f64 {
    ms / 1000.0 + 1.0
}

pub(super) fn judge(case: Case<'_>) -> Vec<Finding> {
    let plan = &case.run.plan;
    let types = || plan.transactions.iter().zip(&case.summary.transactions);
    let total = case.summary.transactions.iter().map(|t| t.count).sum();
    let mut findings: Vec<Finding> = types().map(|(rule, figures)| share(rule, figures, total)).collect();
    for (rule, figures) in types() {
        findings.push(keying(case, rule, figures));
        findings.push(think(case, rule, figures));
    }
    let tallies = plan.tallies.iter().enumerate();
    findings
        .extend(tallies.map(|(index, rule)| window(rule, case.run.tallies.get(index).copied().unwrap_or_default())));
    findings
}

/// The least share of a transaction type in the mix (5.2.3).
fn share(rule: &TransactionRule, figures: &TransactionSummary, total: u64) -> Finding {
    let title = format!("{} share of the mix", rule.title);
    let Some(minimum) = rule.minimum_share else {
        return Finding::new(title, &rule.share_clause, "").figure(percent(figures.share)).not_applicable("no minimum");
    };
    let finding =
        Finding::new(title, &rule.share_clause, format!(">= {}", percent(minimum))).figure(percent(figures.share));
    if total == 0 {
        return finding.not_judged("no transaction was completed");
    }
    if figures.share >= minimum {
        return finding.pass();
    }
    if binomial_at_most(figures.count, total, minimum) < FOUR_SIGMA {
        return finding.fail(format!("{} of {total} transactions; chance does not explain so few", figures.count));
    }
    let needed = needed_sample(minimum * (1.0 - minimum), minimum - figures.share);
    finding.not_judged(format!("within chance for {total} transactions; such a gap is told from about {needed}"))
}

/// Keying time as served: constant, so not even the shortest may be below (5.2.5.2).
fn keying(case: Case<'_>, rule: &TransactionRule, figures: &TransactionSummary) -> Finding {
    let minimum = rule.keying_seconds * 1000.0;
    let served = figures.keying;
    let finding = Finding::new(
        format!("{} keying time", rule.title),
        &rule.waits_clause,
        format!(">= {} s", rule.keying_seconds),
    );
    if !case.run.plan.is_standard() {
        return finding.not_applicable(LEFT);
    }
    if served.count == 0 {
        return finding.not_judged("none was served");
    }
    let finding = finding.figure(format!("least {:.3} s, mean {:.3} s", served.min / 1000.0, served.mean / 1000.0));
    let least = minimum - resolution_ms(minimum);
    if served.min >= least && served.mean >= least {
        finding.pass()
    } else {
        finding.fail(format!("shorter than the minimum among {} served", served.count))
    }
}

/// Mean think time as served (5.2.5.4).
fn think(case: Case<'_>, rule: &TransactionRule, figures: &TransactionSummary) -> Finding {
    let served = figures.think;
    let least = rule.mean_think_seconds;
    let interval = case.summary.measured_seconds;
    let mut finding =
        Finding::new(format!("{} mean think time", rule.title), &rule.waits_clause, format!(">= {least} s"));
    if !case.run.plan.is_standard() {
        return finding.not_applicable(LEFT);
    }
    finding = finding.figure(format!("{:.3} s", served.mean / 1000.0));
    if served.count < MIN_THINKS {
        return finding.not_judged(format!("{} served; judged from {MIN_THINKS}", served.count));
    }
    let minimum = mean_inside(least, interval) * 1000.0;
    if least * 1000.0 - minimum > resolution_ms(minimum) {
        let inside = minimum / 1000.0;
        finding.limit = format!(">= {least} s, which is {inside:.3} s of the waits that fit into {interval:.0} s");
    }
    // An exponential distribution's standard deviation is its mean.
    let error = minimum / (served.count as f64).sqrt();
    if served.mean >= minimum - resolution_ms(minimum) {
        finding.pass()
    } else if served.mean >= minimum - 4.0 * error {
        finding.judged(Judgement::Pass, format!("below, but within chance for {} served", served.count))
    } else {
        finding.fail(format!("more than four standard errors below, among {} served", served.count))
    }
}

/// The mean of those exponential waits of mean `mean` that lie entirely inside an interval, both in seconds. Only
/// they are measured (5.4.2), and a long wait fits more rarely than a short one.
fn mean_inside(mean: f64, interval: f64) -> f64 {
    // Of waits that begin at any time of the interval L: E[T (L - T)] / E[L - T], over T < L.
    let beyond = (-interval / mean).exp();
    let weight = interval - mean * (1.0 - beyond);
    if weight <= 0.0 {
        return 0.0;
    }
    let first = mean - beyond * (interval + mean);
    let second = 2.0 * mean * mean - beyond * (interval * interval + 2.0 * interval * mean + 2.0 * mean * mean);
    (interval * first - second) / weight
}

/// A window that the standard sets the generated input (5.5.1.5, 9.2.2.5).
///
/// It fails outside the window and beyond four standard errors of the expected value: in a small sample
/// chance leaves the window, in a large one the window's edge itself is beyond chance.
fn window(rule: &TallyRule, tally: Tally) -> Finding {
    let shown = |value: f64| match rule.kind {
        TallyKind::Share => percent(value),
        TallyKind::Mean => format!("{value:.3}"),
    };
    let finding = Finding::new(&rule.name, &rule.clause, format!("{} - {}", shown(rule.low), shown(rule.high)));
    let Some(figure) = tally.figure() else {
        return finding.not_judged("there was none to count");
    };
    let finding = finding.figure(shown(figure));
    if (rule.low..=rule.high).contains(&figure) {
        return finding.pass();
    }
    let chance = match rule.kind {
        TallyKind::Share if figure > rule.expected => binomial_at_least(tally.hits, tally.trials, rule.expected),
        TallyKind::Share => binomial_at_most(tally.hits, tally.trials, rule.expected),
        TallyKind::Mean => {
            let error = (rule.variance_per_trial / tally.trials as f64).sqrt();
            // Four standard errors are the same bound as the chance of the shares.
            if (figure - rule.expected).abs() > 4.0 * error { 0.0 } else { 1.0 }
        }
    };
    if chance < FOUR_SIGMA {
        return finding.fail(format!("{} trials; chance does not explain it", tally.trials));
    }
    // The plan knows the sample for three standard errors; four need (4/3)^2 of it.
    let needed = rule.sample_for_3_sigma * 16 / 9;
    finding.not_judged(format!("within chance for {} trials; the window is told from about {needed}", tally.trials))
}

#[cfg(test)]
mod tests {
    use super::mean_inside;

    /// Waits of mean 12 s that begin evenly over an interval, those that end inside it.
    fn simulated(interval: f64) -> f64 {
        const STEPS: u32 = 400;
        let fraction = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
        let (mut sum, mut count) = (0.0, 0);
        for start in (0..STEPS).map(|step| fraction(step) * interval) {
            for wait in (0..STEPS).map(|step| -fraction(step).ln() * 12.0) {
                if start + wait <= interval {
                    sum += wait;
                    count += 1;
                }
            }
        }
        sum / f64::from(count)
    }

    #[test]
    fn a_short_interval_leaves_out_the_long_waits() {
        for interval in [5.0, 20.0, 300.0] {
            let (known, simulated) = (mean_inside(12.0, interval), simulated(interval));
            assert!((known / simulated - 1.0).abs() < 0.01, "{interval} s: {known} or {simulated}");
        }
        assert!((mean_inside(12.0, 7200.0) - 11.98).abs() < 0.001);
        assert_eq!(mean_inside(12.0, 0.0), 0.0);
    }
}
