//! Comparison and merging: against simulation, and against exact arithmetic.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;
use std::time::Duration;

use common::*;
use record::compare::{Compared, Effect, Estimate, compare};
use record::latency_log::Interval;
use record::merge::{MergeError, merge};
use record::plan::Pacing;
use record::recorder::{Clock, Phase};
use record::run::{Ended, FleetPart};
use record::timeline::Stage;
use record::{OpenedRun, RunFolder, RunRecord, Summary, TimelineRow};

/// A small generator of the tests' own.
struct Random(u64);

impl Random {
    /// Anything from 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Values about 100 whose neighbours share `rho`.
    fn series(&mut self, n: usize, rho: f64, mean: f64) -> Vec<f64> {
        let mut last = self.normal();
        let step = |random: &mut Self, last: f64| rho * last + (1.0 - rho * rho).sqrt() * random.normal();
        (0..n)
            .map(|_| {
                last = step(self, last);
                mean + 5.0 * last
            })
            .collect()
    }
}

fn effect(base: &[f64], new: &[f64]) -> Effect {
    Effect::new("rate".into(), true, Estimate::from_series(base), Estimate::from_series(new)).unwrap()
}

/// Of equals, about one in twenty may be called different: also where neighbours are alike, which plain
/// standard errors would get wrong in every second case.
#[test]
fn equals_are_seldom_called_different() {
    let mut random = Random(7);
    for rho in [0.0, 0.3, 0.6] {
        let pairs = 2000;
        let called = (0..pairs)
            .filter(|_| effect(&random.series(30, rho, 100.0), &random.series(30, rho, 100.0)).significant)
            .count();
        let share = called as f64 / f64::from(pairs);
        assert!((0.005..0.085).contains(&share), "{share} at {rho}");
    }
}

#[test]
fn a_real_difference_is_found_and_lies_in_its_interval() {
    let mut random = Random(11);
    let (mut found, mut covered) = (0, 0);
    for _ in 0..500 {
        let effect = effect(&random.series(30, 0.3, 100.0), &random.series(30, 0.3, 95.0));
        found += u32::from(effect.significant && effect.loss() > 0.0);
        let [low, high] = effect.interval.unwrap();
        covered += u32::from(low <= 0.95 && 0.95 <= high);
    }
    assert!(found > 350, "{found} of 500");
    assert!(covered > 455, "{covered} of 500");
}

#[test]
fn too_few_values_tell_no_spread() {
    let effect = effect(&[100.0; 5], &[50.0; 5]);
    assert_eq!((effect.interval, effect.chance, effect.significant), (None, None, false));
    assert_eq!((effect.ratio, effect.loss()), (0.5, 0.5));
}

/// Equal repetitions tell no spread of their own: then what varies within each counts, if that is known.
#[test]
fn equal_repetitions_tell_no_spread() {
    let sides = |values: &[f64], error: f64| {
        let runs: Vec<Estimate> = values.iter().map(|value| Estimate { value: *value, error, freedom: 20.0 }).collect();
        Estimate::of_runs(&runs)
    };
    let effect = |base, new| Effect::new("rate".into(), true, base, new).unwrap();
    let short = f64::INFINITY;
    let equal = effect(sides(&[100.0, 100.0, 100.001], short), sides(&[90.0, 90.0, 90.0], short));
    assert_eq!((equal.interval, equal.significant), (None, false));
    let one_side = effect(sides(&[100.0, 101.0, 99.0], short), sides(&[90.0; 3], short));
    assert_eq!(one_side.interval, None);
    let long = effect(sides(&[100.0; 3], 1.0), sides(&[90.0; 3], 1.0));
    assert!(long.significant && long.interval.is_some_and(|[low, high]| low < 0.9 && 0.9 < high), "{long:?}");
}

/// What a client of the tests does each second.
struct Client {
    first_warehouse: u32,
    warehouses: u32,
    seconds: u64,
    /// New-Orders a second, about.
    rate: f64,
    /// Their response time, about, ms.
    response_ms: f64,
    seed: u64,
    start: &'static str,
}

const CLIENT: Client = Client {
    first_warehouse: 1,
    warehouses: 2,
    seconds: 120,
    rate: 200.0,
    response_ms: 20.0,
    seed: 1,
    start: "2026-11-21T14:03:07Z",
};

/// Writes the folder of a run without waits.
fn write(path: &Path, client: &Client) -> RunRecord {
    let mut random = Random(client.seed);
    let mut plan = plan(client.warehouses, client.seconds as f64);
    plan.first_warehouse = client.first_warehouse;
    (plan.total_warehouses, plan.loaded_warehouses) = (4, 4);
    plan.pacing = Pacing::None;
    plan.nonstandard.push("no keying and think times (5.2.5)".into());
    let mut record = RunRecord::new(plan);
    record.started_at = Some(client.start.parse().unwrap());
    let folder = RunFolder::create(path).unwrap();
    let mut log = folder.latency_log(record.started_at.unwrap(), &record.plan).unwrap();
    let mut timeline = folder.timeline(&record.plan).unwrap();
    for second in 0..client.seconds {
        let mut recorder = empty(&record.plan);
        let orders = (client.rate + client.rate.sqrt() * random.normal()).max(1.0) as u64;
        for _ in 0..orders {
            let us = (client.response_ms * 1000.0 * (-random.uniform().ln())) as u64 + 100;
            let mut sample = sample(0);
            (sample.response_us, sample.service_us) = (us, us);
            recorder.transaction(NEW_ORDER, Phase::Measured, &sample);
        }
        recorder.deferred(DELIVERY, Phase::Measured, &sample(200));
        log.append(Duration::from_secs(second), Duration::from_secs(1), Interval::Recorded(&recorder)).unwrap();
        for other in PAYMENT..5 {
            (0..orders / if other == PAYMENT { 1 } else { 9 })
                .for_each(|_| recorder.transaction(other, Phase::Measured, &sample(5)));
        }
        let completed = vec![orders, orders, orders / 9, orders / 9, orders / 9];
        let row =
            TimelineRow { elapsed_s: (second + 1) as f64, stage: Stage::Measured, completed, ..Default::default() };
        timeline.append(&row).unwrap();
        record.add(&recorder);
    }
    record.measured_seconds = client.seconds as f64;
    record.ended = Ended::Completed;
    folder.write_record(&record).unwrap();
    record
}

fn opened(path: &Path) -> OpenedRun {
    RunFolder::open(path).unwrap()
}

#[test]
fn runs_are_compared_from_their_folders() {
    let place = tempfile::tempdir().unwrap();
    let run = |name: &str, client: Client| {
        write(&place.path().join(name), &client);
        Compared::open(&place.path().join(name)).unwrap()
    };
    let base = [run("base", CLIENT)];
    let same = compare(&base, &[run("same", Client { seed: 2, ..CLIENT })], false).unwrap();
    assert_eq!(same.decisive.name, "New-Orders a minute");
    assert!(!same.decisive.significant && (same.decisive.ratio - 1.0).abs() < 0.03, "{:?}", same.decisive);
    assert!(same.effects.iter().all(|effect| !effect.significant), "{same:?}");
    assert!(same.differences.is_empty(), "{:?}", same.differences);
    // A Delivery is compared by the part that is carried out, not by its being queued.
    let deliveries: Vec<&str> =
        same.effects.iter().map(|effect| effect.name.as_str()).filter(|name| name.starts_with("Delivery")).collect();
    assert_eq!(deliveries, ["p50", "p90", "p95", "p99"].map(|q| format!("Delivery deferred part, {q}, ms")));

    let slower = Client { seed: 3, rate: 180.0, response_ms: 24.0, ..CLIENT };
    let slower = compare(&base, &[run("slower", slower)], false).unwrap();
    assert!(slower.decisive.significant && slower.decisive.loss() > 0.05, "{:?}", slower.decisive);
    for percentile in ["p50", "p90", "p95"] {
        let name = format!("New-Order response time, {percentile}, ms");
        let effect = slower.effects.iter().find(|effect| effect.name == name).unwrap();
        let [low, high] = effect.interval.unwrap();
        assert!(effect.significant && low <= 1.2 && 1.2 <= high, "{effect:?}");
    }
}

#[test]
fn what_should_not_be_compared_is_refused_and_marked() {
    let place = tempfile::tempdir().unwrap();
    let (base, other) = (place.path().join("base"), place.path().join("other"));
    write(&base, &CLIENT);
    let mut record = write(&other, &Client { seed: 2, ..CLIENT });
    (record.plan.workload, record.target.version) = ("other".into(), "18".into());
    record.plan.nonstandard.insert(0, "wide rows".into());
    RunFolder::open(&other).unwrap();
    std::fs::write(other.join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    let sides = || ([Compared::open(&base).unwrap()], [Compared::open(&other).unwrap()]);
    let (a, b) = sides();
    let refused = compare(&a, &b, false).unwrap_err().to_string();
    assert!(refused.contains("different workloads: other and tpcc") && refused.contains("--force"), "{refused}");
    let forced = compare(&a, &b, true).unwrap();
    assert_eq!(forced.objections.len(), 1);
    assert!(forced.differences.iter().any(|difference| difference.what == "target.version" && difference.new == "18"));
    // What stands in both lists is no difference, wherever it stands.
    let left: Vec<_> = forced.differences.iter().filter(|difference| difference.what == "plan.left_standard").collect();
    assert!(matches!(left[..], [one] if one.base.is_empty() && one.new == "wide rows"), "{left:?}");
}

#[test]
fn a_merged_run_has_the_sum_of_its_parts_to_the_last_bucket() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let first = Client { seconds: 20, ..CLIENT };
    let second = Client { first_warehouse: 3, seed: 5, response_ms: 50.0, start: "2026-11-21T14:03:07.4Z", ..first };
    let records = [write(&path("a"), &first), write(&path("b"), &second)];
    let parts = [opened(&path("a")), opened(&path("b"))];
    let merged = merge(parts.to_vec(), &path("all"), false).unwrap();

    let completed = |record: &RunRecord| record.counts[NEW_ORDER].measured.completed;
    assert_eq!(completed(&merged.record), records.iter().map(completed).sum::<u64>());
    let tag = record::latency_log::tag("new_order", Phase::Measured, Clock::Response);
    let mut expected = parts[0].histograms.get(&tag).unwrap().clone();
    expected.merge(parts[1].histograms.get(&tag).unwrap());
    assert!(merged.histograms.get(&tag).unwrap().buckets().eq(expected.buckets()));
    let rows = |run: &OpenedRun| run.timeline.iter().map(|row| row.completed[NEW_ORDER]).collect::<Vec<_>>();
    let sums: Vec<u64> = rows(&parts[0]).iter().zip(rows(&parts[1])).map(|(a, b)| a + b).collect();
    assert_eq!(rows(&merged), sums);
    assert!(merged.timeline.iter().all(|row| row.p50_ms > 0.0 && row.p99_ms > row.p50_ms));

    let plan = &merged.record.plan;
    assert_eq!((plan.warehouses, plan.total_warehouses, plan.connections, plan.terminals), (4, 4, 16, 40));
    assert!(plan.deviations.is_empty(), "{:?}", plan.deviations);
    let nopm: f64 = merged.record.clients.iter().map(|client| client.nopm).sum();
    assert!((Summary::from_run(&merged).nopm - nopm).abs() < 1e-6);
    assert_eq!(merged.record.clients[1].start_skew_seconds, 0.4);
}

#[test]
fn parts_that_are_none_of_one_run_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let first = Client { seconds: 12, ..CLIENT };
    write(&path("a"), &first);
    write(&path("overlaps"), &Client { first_warehouse: 2, ..first });
    write(&path("late"), &Client { first_warehouse: 3, start: "2026-11-21T15:03:07Z", ..first });
    write(&path("longer"), &Client { first_warehouse: 4, warehouses: 1, seconds: 13, ..first });
    let try_merge =
        |other: &str, out: &str, force| merge(vec![opened(&path("a")), opened(&path(other))], &path(out), force);
    let overlap = try_merge("overlaps", "x", true).unwrap_err();
    assert!(matches!(overlap, MergeError::Overlap { warehouse: 2, .. }), "{overlap}");
    let late = try_merge("late", "x", false).unwrap_err().to_string();
    assert!(late.contains("started 3600.0 s after the first") && late.contains("--force"), "{late}");
    let longer = try_merge("longer", "x", false).unwrap_err().to_string();
    assert!(longer.contains("ramp-up and interval: 60 s and 13 s"), "{longer}");
    assert!(!path("x").exists(), "nothing is left of what was refused");

    let forced = try_merge("longer", "forced", true).unwrap().record.plan.deviations;
    assert!(forced.iter().any(|deviation| deviation.starts_with("merged by force: ramp-up")), "{forced:?}");
    assert!(forced.iter().any(|deviation| deviation.contains("warehouses 3 to 3 were driven by none")), "{forced:?}");
    // A part that was killed is named, and what it did counts.
    std::fs::remove_file(path("late").join("run.json")).unwrap();
    let mut killed = write(&path("killed"), &Client { first_warehouse: 3, ..first });
    killed.ended = Ended::Running;
    std::fs::write(path("killed").join("run.json"), serde_json::to_vec(&killed).unwrap()).unwrap();
    let merged = try_merge("killed", "with-killed", false).unwrap().record;
    assert_eq!(merged.ended, Ended::Running);
    assert!(merged.plan.deviations.iter().any(|deviation| deviation.contains("killed did not end as planned")));
}

#[test]
fn a_clock_that_is_off_is_set_right_by_the_databases() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let first = Client { seconds: 12, ..CLIENT };
    // An hour fast, and two seconds late.
    let second = Client { first_warehouse: 3, start: "2026-11-21T15:03:09Z", ..first };
    for (name, client, worker, offset) in [("a", &first, 1, 0.0), ("b", &second, 2, -3600.0)] {
        let mut record = write(&path(name), client);
        record.fleet = Some(FleetPart { worker, workers: 2, clock_offset_seconds: offset, ..FleetPart::default() });
        std::fs::write(path(name).join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    }
    let merged = merge(vec![opened(&path("a")), opened(&path("b"))], &path("both"), false).unwrap().record;
    assert_eq!(merged.clients[1].start_skew_seconds, 2.0);
    assert_eq!(merged.plan.deviations, ["the clients started up to 2.0 s apart, by the database's clock"]);
    assert_eq!(merged.fleet, None);
}
