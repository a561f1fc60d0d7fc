//! Every rule of the verdict: when it passes, when it fails, when it is not judged.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::*;
use record::merge::ClientPart;
use record::plan::Pacing;
use record::recorder::{Clock, Failure, Outcome, Phase, Sample};
use record::run::{CheckResult, Ended, ReconciledItem, Reconciliation, Tare};
use record::verdict::{Judgement, Status};

use Judgement::{Deviation, Fail, NotApplicable, NotJudged, Pass};

/// An interval long enough for every rule, and shorter than the standard's.
const SECONDS: f64 = 600.0;

/// A case: what bends a good run of `warehouses` over `seconds`, and what then becomes of the rule.
struct Bent {
    rule: &'static str,
    warehouses: u32,
    seconds: f64,
    bend: Box<dyn Fn(&mut Run)>,
    outcome: Judgement,
}

fn bent(
    rule: &'static str,
    warehouses: u32,
    seconds: f64,
    outcome: Judgement,
    bend: impl Fn(&mut Run) + 'static,
) -> Bent {
    Bent { rule, warehouses, seconds, bend: Box::new(bend), outcome }
}

fn assert_all(cases: Vec<Bent>) {
    for (number, Bent { rule, warehouses, seconds, bend, outcome }) in cases.into_iter().enumerate() {
        let mut run = good(warehouses, seconds);
        bend(&mut run);
        let finding = run.finding(rule);
        assert_eq!(finding.outcome, outcome, "case {number}: {finding:?}");
        if matches!(outcome, Fail | Deviation | NotJudged | NotApplicable) {
            assert!(!finding.why.is_empty(), "case {number}: {finding:?}");
        }
        assert_eq!(run.verdict().reasons.contains(&finding), outcome == Fail, "case {number}: {finding:?}");
    }
}

#[test]
fn a_good_short_run_is_engineering_and_a_long_one_standard() {
    let short = good(10, SECONDS).verdict();
    assert_eq!(short.status, Status::Engineering, "{short:?}");
    assert_eq!(short.deviations.len(), 1, "{:?}", short.deviations);
    let long = good(2, 7200.0).verdict();
    assert_eq!(long.status, Status::Standard, "{long:?}");
    assert!(long.reasons.is_empty() && long.deviations.is_empty());
}

#[test]
fn known_deviations_and_leaving_the_standard_decide_the_status() {
    let mut run = good(2, 7200.0);
    run.record.plan.deviations.push("fsync is off".into());
    assert_eq!(run.verdict().status, Status::Engineering);
    run.record.plan.nonstandard.push("no think times".into());
    assert_eq!(run.verdict().status, Status::Unconstrained);
    assert_eq!(run.verdict().deviations, ["no think times", "fsync is off"]);
    run.record.ended = Ended::Failed("the disk is full".into());
    assert_eq!(run.verdict().status, Status::Invalid);
}

#[test]
fn rules_of_pacing_and_limits_do_not_apply_outside_the_standard() {
    let mut run = good(10, SECONDS);
    run.record.plan.nonstandard.push("no think times".into());
    run.record.plan.pacing = Pacing::None;
    let rules = [
        "New-Order keying time",
        "New-Order mean think time",
        "New-Order response time",
        "New-Order 90th percentile",
        "Delivery deferred",
        "rate below the ceiling",
        "rate per configured",
        "length of the",
        "lag of the",
    ];
    for rule in rules {
        assert_eq!(run.finding(rule).outcome, NotApplicable, "{rule}");
    }
}

#[test]
fn mix() {
    let rule = "Payment share";
    let more_orders = |run: &mut Run, share: f64| {
        let orders = &mut run.record.counts[NEW_ORDER].measured.completed;
        *orders = (*orders as f64 * share) as u64;
    };
    assert_all(vec![
        bent(rule, 10, SECONDS, Pass, |_| ()),
        bent(rule, 10, SECONDS, Fail, move |run| more_orders(run, 1.5)),
        // 42.6 % instead of 43 %: of 2,700 within chance, of 2.7 million not.
        bent(rule, 10, SECONDS, NotJudged, move |run| more_orders(run, 1.045)),
        bent(rule, 10, SECONDS, NotApplicable, |run| run.record.plan.transactions[PAYMENT].minimum_share = None),
    ]);
    let mut run = good(100, 7200.0);
    more_orders(&mut run, 1.045);
    assert_eq!(run.finding(rule).outcome, Fail);
}

#[test]
fn waits() {
    let replace = |run: &mut Run, clock: Clock, count: u64, us: u64| {
        let plan = run.record.plan.clone();
        let old = std::mem::replace(run, good(1, 1.0));
        *run = old.without(NEW_ORDER, clock);
        assert_eq!(run.record.plan, plan);
        run.add(|recorder| {
            for _ in 0..count {
                match clock {
                    Clock::Keying => recorder.keying(NEW_ORDER, Phase::Measured, us),
                    _ => recorder.think(NEW_ORDER, Phase::Measured, us),
                }
            }
        });
    };
    assert_all(vec![
        bent("New-Order keying", 10, SECONDS, Pass, |_| ()),
        bent("New-Order keying", 10, SECONDS, Pass, move |run| replace(run, Clock::Keying, 50, 18_000_000)),
        bent("New-Order keying", 10, SECONDS, Fail, move |run| replace(run, Clock::Keying, 50, 17_900_000)),
        bent("New-Order keying", 10, SECONDS, Fail, |run| run.add(|r| r.keying(NEW_ORDER, Phase::Measured, 1_000))),
        bent("New-Order keying", 10, SECONDS, NotJudged, move |run| replace(run, Clock::Keying, 0, 0)),
        bent("New-Order mean think", 10, SECONDS, Pass, |_| ()),
        bent("New-Order mean think", 10, SECONDS, Fail, move |run| replace(run, Clock::Think, 1_000, 10_000_000)),
        // 11.5 s: within four standard errors of 12 s for 1,000 served, not for 100,000.
        bent("New-Order mean think", 10, SECONDS, Pass, move |run| replace(run, Clock::Think, 1_000, 11_500_000)),
        bent("New-Order mean think", 10, SECONDS, Fail, move |run| replace(run, Clock::Think, 100_000, 11_500_000)),
        bent("New-Order mean think", 10, SECONDS, NotJudged, move |run| replace(run, Clock::Think, 99, 1)),
    ]);
}

#[test]
fn windows_of_the_input() {
    let set = |run: &mut Run, index: usize, hits: u64, trials: u64| {
        run.record.tallies[index] = record::recorder::Tally { hits, trials };
    };
    assert_all(vec![
        bent("rollbacks", 10, SECONDS, Pass, |_| ()),
        // One in a hundred, without one in the first fifty: chance.
        bent("rollbacks", 10, SECONDS, NotJudged, move |run| set(run, ROLLBACKS, 0, 50)),
        // Two in ten have a chance of 0.4 %.
        bent("rollbacks", 10, SECONDS, NotJudged, move |run| set(run, ROLLBACKS, 2, 10)),
        bent("rollbacks", 10, SECONDS, Fail, move |run| set(run, ROLLBACKS, 0, 2_000)),
        bent("rollbacks", 10, SECONDS, Fail, move |run| set(run, ROLLBACKS, 50, 1_200)),
        // 1.12 %: within chance of 10,000, not of a million.
        bent("rollbacks", 10, SECONDS, NotJudged, move |run| set(run, ROLLBACKS, 112, 10_000)),
        bent("rollbacks", 10, SECONDS, Fail, move |run| set(run, ROLLBACKS, 11_200, 1_000_000)),
        bent("rollbacks", 10, SECONDS, NotJudged, move |run| set(run, ROLLBACKS, 0, 0)),
        // Beyond four standard errors, but inside the window.
        bent("rollbacks", 10, SECONDS, Pass, move |run| set(run, ROLLBACKS, 108_000, 10_000_000)),
        bent("lines per order", 10, SECONDS, NotJudged, move |run| set(run, LINES, 1_060, 100)),
        bent("lines per order", 10, SECONDS, Fail, move |run| set(run, LINES, 106_000, 10_000)),
        bent("lines per order", 10, SECONDS, NotJudged, move |run| set(run, LINES, 0, 0)),
        bent("remote lines", 10, SECONDS, Fail, move |run| set(run, REMOTE_LINES, 0, 12_000)),
    ]);
}

#[test]
fn response_limits() {
    let slow = |run: &mut Run, count: u64, ms: u64| {
        run.add(|recorder| (0..count).for_each(|_| recorder.transaction(NEW_ORDER, Phase::Outside, &sample(ms))));
        let measured = run.histograms.get("outside.new_order.response").expect("just recorded").clone();
        run.histograms.insert("new_order.response", &measured);
    };
    let only = |run: &mut Run, count: u64, ms: u64| {
        *run = std::mem::replace(run, good(1, 1.0)).without(NEW_ORDER, Clock::Response);
        run.add(|recorder| (0..count).for_each(|_| recorder.transaction(NEW_ORDER, Phase::Outside, &sample(ms))));
        let measured = run.histograms.get("outside.new_order.response").expect("just recorded").clone();
        run.histograms.insert("new_order.response", &measured);
    };
    let rule = "New-Order response time";
    assert_all(vec![
        bent(rule, 10, SECONDS, Pass, |_| ()),
        bent(rule, 10, SECONDS, Pass, move |run| slow(run, 100, 6_000)),
        bent(rule, 10, SECONDS, Fail, move |run| slow(run, 200, 6_000)),
        // Strictly below: the limit itself is over.
        bent(rule, 10, SECONDS, Fail, move |run| only(run, 200, 5_000)),
        bent(rule, 10, SECONDS, Pass, move |run| only(run, 200, 4_990)),
        bent(rule, 10, SECONDS, NotJudged, move |run| only(run, 3, 6_000)),
        bent(rule, 10, SECONDS, Fail, move |run| only(run, 50, 6_000)),
    ]);
    let rule = "New-Order 90th percentile";
    assert_all(vec![
        bent(rule, 10, SECONDS, Pass, |_| ()),
        // One in twelve takes ten minutes: the mean is far above the 90th percentile.
        bent(rule, 10, SECONDS, Fail, move |run| slow(run, 100, 600_000)),
        bent(rule, 10, SECONDS, NotJudged, move |run| {
            only(run, 19, 10);
            slow(run, 1, 600_000);
        }),
    ]);
    let late = |run: &mut Run, count: u64| {
        run.add(|recorder| (0..count).for_each(|_| recorder.deferred(DELIVERY, Phase::Measured, &sample(81_000))));
    };
    assert_all(vec![
        bent("Delivery deferred", 10, SECONDS, Pass, |_| ()),
        bent("Delivery deferred", 10, SECONDS, Pass, move |run| late(run, 10)),
        bent("Delivery deferred", 10, SECONDS, Fail, move |run| late(run, 100)),
        bent("Delivery deferred", 1, 60.0, NotJudged, move |run| late(run, 1)),
    ]);
}

#[test]
fn ceiling_and_floor() {
    let orders = |run: &mut Run, per_warehouse: f64| {
        let minutes = run.record.measured_seconds / 60.0;
        let count = per_warehouse * f64::from(run.record.plan.warehouses) * minutes;
        run.record.counts[NEW_ORDER].measured.completed = count as u64;
    };
    assert_all(vec![
        bent("rate below the ceiling", 10, SECONDS, Pass, |_| ()),
        bent("rate below the ceiling", 10, SECONDS, Pass, move |run| orders(run, 12.9)),
        bent("rate below the ceiling", 10, SECONDS, Fail, move |run| orders(run, 15.0)),
        bent("rate per configured", 10, SECONDS, Fail, move |run| orders(run, 7.0)),
        bent("rate per configured", 1, SECONDS, NotJudged, move |run| orders(run, 8.0)),
        // Half of what is loaded is driven: that leaves the standard, unless those that are driven carry too little.
        bent("rate per configured", 10, SECONDS, Deviation, |run| run.record.plan.loaded_warehouses = 20),
        bent("rate per configured", 10, SECONDS, Fail, move |run| {
            run.record.plan.loaded_warehouses = 20;
            orders(run, 7.0);
        }),
        bent("rate per configured", 10, SECONDS, NotJudged, |run| run.record.plan.loaded_warehouses = 14),
        // A client of a fleet answers for its share alone.
        bent("rate per configured", 10, SECONDS, Pass, |run| {
            run.record.plan.total_warehouses = 100;
            run.record.plan.loaded_warehouses = 100;
        }),
    ]);
}

#[test]
fn an_impossible_efficiency_is_called_out_and_not_clamped() {
    let mut run = good(100, 7200.0);
    let count = (12.86 * 1.02 * 100.0 * 120.0) as u64;
    run.record.counts[NEW_ORDER].measured.completed = count;
    run.record.counts[PAYMENT].measured.completed = count;
    let efficiency = run.summary().efficiency.unwrap();
    assert!((efficiency - 1.02).abs() < 1e-4, "{efficiency}");
    let verdict = run.verdict();
    assert_eq!(verdict.status, Status::Invalid);
    assert!(verdict.reasons[0].why.contains("impossible"), "{:?}", verdict.reasons);
    assert_eq!(verdict.reasons[0].clause, "4.1.3");
}

#[test]
fn trend() {
    let line = |run: &mut Run, from: f64, to: f64, seconds: usize| {
        let mut dice = Dice(7);
        // Chance arrivals on a straight line: a hundred small chances a second.
        let rate = |second: usize| from + (to - from) * second as f64 / seconds as f64;
        let rates: Vec<f64> =
            (0..seconds).map(|second| (0..100).filter(|_| dice.roll() < rate(second) / 100.0).count() as f64).collect();
        run.timeline = timeline(&rates);
    };
    let rule = "trend of the rate";
    assert_all(vec![
        bent(rule, 10, SECONDS, Pass, |_| ()),
        bent(rule, 10, SECONDS, Pass, move |run| line(run, 20.0, 20.0, 600)),
        bent(rule, 10, SECONDS, Fail, move |run| line(run, 24.0, 16.0, 600)),
        bent(rule, 10, SECONDS, Fail, move |run| line(run, 10.0, 20.0, 600)),
        bent(rule, 1, SECONDS, NotJudged, move |run| line(run, 0.3, 0.1, 600)),
        // A fifth down, but over 21 stretches of thirty the line may be an accident.
        bent(rule, 1, SECONDS, NotJudged, move |run| line(run, 1.3, 1.1, 600)),
    ]);
}

#[test]
fn step() {
    // Chance arrivals, a hundred small chances a second, whose rate changes at one second.
    let levels = |run: &mut Run, seed: u64, levels: [f64; 2], at: usize| {
        let mut dice = Dice(seed);
        let rate = |second: usize| levels[usize::from(second >= at)];
        let rates: Vec<f64> =
            (0..600).map(|second| (0..100).filter(|_| dice.roll() < rate(second) / 100.0).count() as f64).collect();
        run.timeline = timeline(&rates);
    };
    let rule = "greatest step";
    assert_all(vec![
        bent(rule, 10, SECONDS, Pass, move |run| levels(run, 7, [20.0, 20.0], 300)),
        bent(rule, 10, SECONDS, Pass, move |run| levels(run, 7, [20.0, 19.0], 300)),
        bent(rule, 10, SECONDS, Fail, move |run| levels(run, 7, [20.0, 15.0], 300)),
        // Late, where a straight line hardly bends.
        bent(rule, 10, SECONDS, Fail, move |run| levels(run, 7, [20.0, 10.0], 560)),
        bent(rule, 1, SECONDS, Fail, move |run| levels(run, 7, [1.5, 0.5], 300)),
        bent(rule, 1, 60.0, NotJudged, move |run| levels(run, 7, [0.01, 0.02], 300)),
    ]);
    let mut run = good(10, SECONDS);
    levels(&mut run, 7, [20.0, 15.0], 300);
    let figure = run.finding(rule).figure;
    assert!(figure.contains("-2") && figure.contains("from 3") || figure.contains("from 29"), "{figure}");
    // Chance alone makes no step: none in 200 steady runs.
    let alarms = (0..200).filter(|seed| {
        levels(&mut run, 1000 + seed, [20.0, 20.0], 300);
        run.finding(rule).outcome != Pass
    });
    assert_eq!(alarms.count(), 0);
}

#[test]
fn work() {
    let fail = |run: &mut Run, count: u64, failure: Failure| {
        let failed = Sample { outcome: Outcome::Failed(failure), ..sample(5) };
        run.add(|recorder| (0..count).for_each(|_| recorder.transaction(PAYMENT, Phase::Measured, &failed)));
    };
    let skip = |run: &mut Run, count: u64| {
        run.add(|recorder| (0..count).for_each(|_| recorder.skipped(DELIVERY, Phase::Measured, 3)));
    };
    let check = |passed: bool| CheckResult { clause: "3.3.2.1".into(), passed, violations: 7, ..Default::default() };
    let reconciled = |passed: bool| Reconciliation {
        checked: vec![ReconciledItem { missing: u64::from(!passed), ..Default::default() }],
        passed,
        detail: "one order is missing".into(),
    };
    assert_all(vec![
        bent("rows missing", 10, SECONDS, Pass, |_| ()),
        bent("rows missing", 10, SECONDS, Fail, move |run| fail(run, 1, Failure::Integrity)),
        bent("transactions that failed", 10, SECONDS, Pass, |_| ()),
        bent("transactions that failed", 10, SECONDS, Deviation, move |run| fail(run, 10, Failure::Connection)),
        bent("transactions that failed", 10, SECONDS, Fail, move |run| fail(run, 50, Failure::Exhausted)),
        bent("skipped deferred", 10, SECONDS, Pass, |_| ()),
        bent("skipped deferred", 10, SECONDS, Pass, move |run| skip(run, 1)),
        bent("skipped deferred", 10, SECONDS, Fail, move |run| skip(run, 2)),
        bent("skipped deferred", 100, SECONDS, Pass, move |run| skip(run, 12)),
    ]);
    let mut run = good(10, SECONDS);
    run.record.reconciliation = None;
    assert_eq!(run.finding("consistency").outcome, NotJudged);
    assert_eq!(run.finding("acknowledged").outcome, Deviation);
    assert_ne!(run.verdict().status, Status::Standard);
    run.record.checks = Some(vec![check(true), check(true)]);
    run.record.reconciliation = Some(reconciled(true));
    assert_eq!(run.finding("consistency").outcome, Pass);
    assert_eq!(run.finding("acknowledged").outcome, Pass);
    run.record.checks = Some(vec![check(true), check(false)]);
    run.record.reconciliation = Some(reconciled(false));
    assert_eq!(run.finding("consistency").outcome, Fail);
    assert_eq!(run.finding("consistency").clause, "3.3.2.1");
    assert_eq!(run.finding("acknowledged").outcome, Fail);
    assert_eq!(run.verdict().status, Status::Invalid);
}

#[test]
fn the_tool_itself() {
    assert_all(vec![
        bent("lag", 10, SECONDS, Pass, |_| ()),
        bent("lag", 10, SECONDS, Fail, |run| {
            run.add(|recorder| (0..100).for_each(|_| recorder.lag(Phase::Measured, 60_000)));
        }),
        bent("lag", 10, SECONDS, NotApplicable, |run| run.record.plan.pacing = Pacing::None),
        bent("the tool's own CPU", 10, SECONDS, Pass, |_| ()),
        bent("the tool's own CPU", 10, SECONDS, Fail, |run| run.record.tare.cpu_share_of_threads = 0.95),
        bent("the tool's own CPU", 10, SECONDS, NotJudged, |run| {
            run.record.tare.cpu_share_of_threads = 0.95;
            run.record.target.embedded = true;
        }),
        bent("the tool's own CPU", 10, SECONDS, NotJudged, |run| run.record.tare = Tare::default()),
        bent("the tool's own CPU", 10, SECONDS, NotJudged, |run| run.record.clients = vec![ClientPart::default()]),
        bent("run completed", 10, SECONDS, Pass, |_| ()),
        bent("run completed", 10, SECONDS, Deviation, |run| run.record.ended = Ended::Interrupted),
        bent("run completed", 10, SECONDS, Deviation, |run| run.record.ended = Ended::Running),
        bent("run completed", 10, SECONDS, Fail, |run| run.record.ended = Ended::Failed("no disk".into())),
    ]);
}

#[test]
fn honest_random_input_is_not_called_dishonest() {
    // Four thousand short runs of one warehouse and as many of ten, with everything rolled honestly.
    let mut dice = Dice(1);
    let mut failed = 0;
    for warehouses in [1, 10] {
        let mut run = good(warehouses, 300.0);
        let orders = run.record.tallies[ROLLBACKS].trials;
        let mut summary = run.summary();
        for _ in 0..4_000 {
            let rolled_back = (0..orders).filter(|_| dice.roll() < 0.01).count() as u64;
            let lines: Vec<u64> = (0..orders).map(|_| 5 + (dice.roll() * 11.0) as u64).collect();
            let remote = (0..lines.iter().sum()).filter(|_| dice.roll() < 0.01).count() as u64;
            let tallies = &mut run.record.tallies;
            tallies[ROLLBACKS].hits = rolled_back;
            tallies[LINES].hits = lines.iter().sum();
            tallies[REMOTE_LINES] = record::recorder::Tally { hits: remote, trials: lines.iter().sum() };
            roll_mix_and_thinks(&mut dice, &mut summary);
            failed += u32::from(record::judge(&run.record, &summary, &[]).status == Status::Invalid);
        }
    }
    assert!(failed <= 8, "{failed} of 8000 honest runs were called invalid");
}

/// Honest draws of the transaction types and of the think times, at the very minimum of each.
fn roll_mix_and_thinks(dice: &mut Dice, summary: &mut record::Summary) {
    const CUMULATIVE: [f64; 5] = [0.45, 0.88, 0.92, 0.96, 1.0];
    const THINK_MS: [f64; 5] = [12e3, 12e3, 10e3, 5e3, 5e3];
    let total: u64 = summary.transactions.iter().map(|figures| figures.count).sum();
    let mut counts = [0u64; 5];
    for _ in 0..total {
        let roll = dice.roll();
        counts[CUMULATIVE.iter().filter(|&&edge| roll >= edge).count()] += 1;
    }
    for (index, figures) in summary.transactions.iter_mut().enumerate() {
        figures.count = counts[index];
        figures.share = counts[index] as f64 / total as f64;
        let thinks: f64 = (0..counts[index]).map(|_| -(1.0 - dice.roll()).ln()).sum();
        figures.think.count = counts[index];
        figures.think.mean = THINK_MS[index] * thinks / counts[index].max(1) as f64;
    }
}

#[test]
fn nothing_measured_is_judged_without_a_panic() {
    let mut run = good(1, 1.0);
    run.record = record::RunRecord::new(plan(1, 1.0));
    run.histograms = Default::default();
    run.timeline.clear();
    let summary = run.summary();
    assert_eq!((summary.tpmc, summary.nopm), (Some(0), 0.0));
    let verdict = run.verdict();
    assert_eq!(verdict.status, Status::Invalid, "a rate of nothing is no result");
    assert_eq!(verdict.reasons.len(), 1, "{:?}", verdict.reasons);
}
