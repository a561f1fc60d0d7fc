//! Rules on the rate: its ceiling, its floor, the length of the interval, its steadiness.

use crate::statistics::{self, MIN_BINS, needed_sample};

use super::{Case, Finding, Judgement, LEFT, percent};

/// Shortest interval in which the ceiling says anything, seconds: in less, the terminals' first
/// transactions may still come in step.
const MIN_SECONDS_FOR_CEILING: f64 = 60.0;

/// Least change over the interval, of the mean rate, that is a trend worth failing for.
const MATERIAL_TREND: f64 = 0.10;

/// Least change of the rate's level inside the interval that is worth failing for: the levels of a straight line's halves
/// differ by half of its trend, so that this is the rarer, coarser fault.
const MATERIAL_STEP: f64 = 0.15;

/// Chance below which a trend or a step is no accident. Smaller than usual, as neighbouring stretches are not quite independent.
const TREND_CHANCE: f64 = 1e-4;

pub(super) fn judge(case: Case<'_>) -> Vec<Finding> {
    vec![measured(case), ceiling(case), floor(case), interval(case), trend(case), step(case)]
}

/// The count of completed headline transactions, and minutes measured.
fn headline(case: Case<'_>) -> (f64, f64) {
    let count = case.summary.headline(&case.run.plan).map_or(0, |figures| figures.count);
    (count as f64, case.summary.measured_seconds / 60.0)
}

/// Anything at all: a rate of nothing is no result.
fn measured(case: Case<'_>) -> Finding {
    let (count, minutes) = headline(case);
    let finding = Finding::new("transactions of the metric completed", "", ">= 1").figure(format!("{count}"));
    if count > 0.0 && minutes > 0.0 { finding.pass() } else { finding.fail("nothing was measured") }
}

/// No rate above what the waits permit (4.1.3): such a figure cannot be.
fn ceiling(case: Case<'_>) -> Finding {
    let plan = &case.run.plan;
    let (count, minutes) = headline(case);
    let rate = plan.ceiling_per_warehouse * f64::from(plan.warehouses);
    let finding =
        Finding::new("rate below the ceiling of the waits", &plan.scale.clause, format!("<= {rate:.2} a minute"));
    if !plan.is_standard() {
        return finding.not_applicable(LEFT);
    }
    if rate <= 0.0 || minutes <= 0.0 {
        return finding.not_judged("nothing was measured");
    }
    let most = rate * minutes;
    let finding = finding.figure(format!("{:.2} a minute, {} of it", case.summary.nopm, percent(count / most)));
    // Terminals are independent and no more irregular than chance arrivals, whose variance is their mean.
    if count <= most {
        finding.pass()
    } else if count <= most + 4.0 * most.sqrt() {
        finding.judged(Judgement::Pass, "above, but within chance")
    } else if case.summary.measured_seconds < MIN_SECONDS_FOR_CEILING {
        finding.not_judged(format!("above, but the interval is shorter than {MIN_SECONDS_FOR_CEILING} s"))
    } else {
        finding.fail("impossible with the keying and think times of the standard, even if every answer were instant")
    }
}

/// No less than what a configured warehouse must carry (4.1.3, 4.2.2). Warehouses that are loaded and not driven count; but
/// as long as those that are driven carry enough, too many of them make a result none by the standard, and it is true
/// nevertheless.
fn floor(case: Case<'_>) -> Finding {
    let plan = &case.run.plan;
    let (count, minutes) = headline(case);
    let driven = f64::from(plan.warehouses);
    // A client of a fleet answers for its share of the configured warehouses.
    let share = driven / f64::from(plan.total_warehouses.max(plan.warehouses).max(1));
    let configured = f64::from(plan.loaded_warehouses.max(plan.total_warehouses).max(plan.warehouses)) * share;
    let least = plan.scale.min_per_warehouse;
    let finding =
        Finding::new("rate per configured warehouse", &plan.scale.clause, format!(">= {least} a minute per warehouse"));
    if !plan.is_standard() {
        return finding.not_applicable(LEFT);
    }
    if configured <= 0.0 || minutes <= 0.0 {
        return finding.not_judged("nothing was measured");
    }
    let finding = finding.figure(format!("{:.3}", count / minutes / configured));
    let expected = |warehouses: f64| least * warehouses * minutes;
    let too_few = |warehouses: f64| count < expected(warehouses) - 4.0 * expected(warehouses).sqrt();
    if count >= expected(configured) {
        finding.pass()
    } else if too_few(driven) {
        finding.fail(format!("too few for {driven:.0} warehouses; load fewer, or find what holds them up"))
    } else if driven < configured && too_few(configured) {
        let why = format!("too few for {configured:.0} configured warehouses, of which {driven:.0} are driven");
        finding.judged(Judgement::Deviation, why)
    } else {
        let needed = needed_sample(1.0, 1.0 - count / expected(configured));
        finding.not_judged(format!("within chance for {count} transactions; such a gap is told from about {needed}"))
    }
}

/// The measurement interval's length (5.5.2.1).
fn interval(case: Case<'_>) -> Finding {
    let plan = &case.run.plan;
    let seconds = case.summary.measured_seconds;
    let finding = Finding::new(
        "length of the measurement interval",
        &plan.interval_clause,
        format!(">= {} s", plan.standard_interval_seconds),
    )
    .figure(format!("{seconds:.1} s"));
    if !plan.is_standard() {
        finding.not_applicable(LEFT)
    } else if seconds >= plan.standard_interval_seconds {
        finding.pass()
    } else {
        let why = format!("{seconds:.1} s measured, the standard asks for {} s", plan.standard_interval_seconds);
        finding.judged(Judgement::Deviation, why)
    }
}

/// No trend of the rate inside the interval: steady state (5.5.1.1).
fn trend(case: Case<'_>) -> Finding {
    let plan = &case.run.plan;
    let finding = Finding::new(
        "trend of the rate over the interval",
        &plan.steady_state_clause,
        format!("within +-{:.0} %", MATERIAL_TREND * 100.0),
    );
    let bins = plan.headline().map(|index| statistics::bins(case.timeline, index)).unwrap_or_default();
    let trend = (bins.len() >= MIN_BINS).then(|| statistics::trend(&bins)).flatten();
    let Some(trend) = trend else {
        let (count, _) = headline(case);
        return finding.not_judged(format!(
            "{count} transactions make {} stretches; judged from {MIN_BINS} of at least {}",
            bins.len(),
            statistics::MIN_PER_BIN
        ));
    };
    let finding = finding.figure(format!("{:+.1} %", trend.change * 100.0));
    if trend.change.abs() <= MATERIAL_TREND {
        finding.pass()
    } else if trend.chance >= TREND_CHANCE {
        finding.not_judged(format!("within chance for {} stretches", bins.len()))
    } else {
        let direction = if trend.change > 0.0 { "rises" } else { "falls" };
        finding.fail(format!("the rate {direction} over {} stretches; no steady state", bins.len()))
    }
}

/// One level of the rate inside the interval: steady state (5.5.1.1).
fn step(case: Case<'_>) -> Finding {
    let plan = &case.run.plan;
    let limit = format!("within +-{:.0} %", MATERIAL_STEP * 100.0);
    let finding = Finding::new("greatest step of the rate inside the interval", &plan.steady_state_clause, limit);
    let bins = plan.headline().map(|index| statistics::bins(case.timeline, index)).unwrap_or_default();
    let step = (bins.len() >= MIN_BINS).then(|| statistics::step(&bins)).flatten();
    let Some(step) = step else {
        return finding.not_judged(format!("{} stretches; judged from {MIN_BINS}", bins.len()));
    };
    let from = case.summary.measured_seconds * step.at as f64 / bins.len() as f64;
    let finding = finding.figure(format!("{:+.1} % from {from:.0} s on", step.change * 100.0));
    if step.change.abs() <= MATERIAL_STEP {
        finding.pass()
    } else if step.chance >= TREND_CHANCE {
        finding.judged(Judgement::Pass, "within chance")
    } else {
        finding.fail("the rate has two levels, and the result is their mean; no steady state")
    }
}
