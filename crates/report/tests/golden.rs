//! The text and the JSON of fixed runs, to the letter. `UPDATE_GOLDEN=1` writes them anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../record/tests/common/mod.rs"]
mod common;

use std::path::Path;

use common::*;
use record::labels::Labels;
use record::plan::{GatewayPlan, Pacing};
use record::recorder::{Failure, Outcome, Phase, Sample};
use record::run::{CheckResult, Ended, ReconciledItem, Reconciliation};
use record::verdict::Status;
use serde_json::Value;

fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{name} is not as kept; look at it, then UPDATE_GOLDEN=1\n{text}");
}

/// The text of a run; a record of version 1 gives the same.
fn table(run: &Run) -> String {
    let text = report::table(&run.record, &run.summary(), &run.verdict());
    assert_eq!(report::table(&without_labels(&run.record), &run.summary(), &run.verdict()), text);
    text
}

/// The JSON of a run; a record of version 1 gives the same.
fn json(run: &Run) -> Value {
    let document = report::json(&run.record, &run.summary(), &run.verdict());
    assert_eq!(report::json(&without_labels(&run.record), &run.summary(), &run.verdict()), document);
    document
}

/// A run with something to say in every part of the result.
fn eventful() -> Run {
    let mut run = good(10, 600.0);
    let record = &mut run.record;
    record.tool = record::run::Tool { name: "weighbridge".into(), version: "0.1.0".into(), ..Default::default() };
    record.target.kind = "postgres".into();
    record.target.version = "17.2".into();
    record.tare.cpu_seconds = 4.2;
    record.tare.cpu_us_per_headline = 3500.0;
    record.tare.peak_rss_bytes = 48 << 20;
    record.plan.deviations.push("synchronous_commit is off".into());
    record.checks = Some(vec![CheckResult {
        name: "W_YTD = sum(D_YTD)".into(),
        clause: "3.3.2.1".into(),
        passed: true,
        violations: 0,
        detail: "10 warehouses".into(),
        skipped: None,
    }]);
    let orders = ReconciledItem { name: "orders".into(), acknowledged: 1188, gained: 1189, unknown: 1, missing: 0 };
    record.reconciliation =
        Some(Reconciliation { checked: vec![orders], passed: true, detail: "nothing acknowledged is missing".into() });
    let lost = Sample { retries: 2, outcome: Outcome::Failed(Failure::Connection), ..sample(900) };
    run.add(|recorder| {
        recorder.transaction(PAYMENT, Phase::Measured, &lost);
        recorder.skipped(DELIVERY, Phase::Measured, 3);
    });
    run
}

#[test]
fn an_engineering_run() {
    let run = eventful();
    assert_eq!(run.verdict().status, Status::Engineering, "{:?}", run.verdict().reasons);
    golden("engineering.txt", &table(&run));
    golden("engineering.json", &format!("{:#}\n", json(&run)));
}

#[test]
fn a_run_of_a_custom_workload_recorded_without_labels() {
    let mut run = eventful();
    run.record.plan.workload = "ledger".into();
    run.record.plan.labels = Labels::custom("ledger", "New-Order");
    run.record.plan.nonstandard.push("a workload of its own: ledger".into());
    let text = table(&run);
    assert!(text.contains("New-Order/min") && text.contains("This is not TPC-C"), "{text}");
    assert_eq!(without_labels(&run.record).plan, run.record.plan);
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/run");
    for seed in ["small.json", "judged.json", "merged.json"] {
        let record = record::folder::read_record(&seeds.join(seed)).unwrap();
        assert_eq!(record.plan.labels, Labels::tpcc(), "{seed} was written by version 1");
    }
}

#[test]
fn an_unconstrained_run() {
    let mut run = eventful();
    run.record.plan.pacing = Pacing::None;
    run.record.plan.nonstandard.push("no keying and think times (5.2.5)".into());
    golden("unconstrained.txt", &table(&run));
    let document = json(&run);
    assert_eq!((&document["tpmc"], &document["efficiency"]), (&Value::Null, &Value::Null));
    assert_eq!(document["verdict"]["status"], "unconstrained");
    assert!(!table(&run).contains("tpmC"), "tpmC is for runs to the standard");
}

/// A run on a cluster of two gateways, the second of which was down for a while.
fn clustered() -> Run {
    let mut run = eventful();
    let gateway = |url: &str, first_warehouse: u32| GatewayPlan {
        url: url.into(),
        connections: 10,
        first_warehouse,
        warehouses: 5,
    };
    let record = &mut run.record;
    record.plan.affinity = "warehouse".into();
    record.plan.gateways =
        vec![gateway("postgres://tpcc@node1:5432/bench", 1), gateway("postgres://tpcc@node2:5432/bench", 6)];
    record.gateways = vec![Default::default(); 2];
    run.add(|recorder| {
        for (gateway, count) in [(0, 900), (1, 300)] {
            for i in 0..count {
                recorder.through(gateway, NEW_ORDER, Phase::Measured, &sample(10 + i % 40));
                recorder.through(gateway, PAYMENT, Phase::Measured, &sample(10));
            }
        }
        recorder.through(0, NEW_ORDER, Phase::Outside, &sample(10));
        let lost = Sample { retries: 2, outcome: Outcome::Failed(Failure::Connection), ..sample(900) };
        recorder.through(1, PAYMENT, Phase::Measured, &lost);
        (0..10).for_each(|_| recorder.connection_lost(1));
        (0..9).for_each(|_| recorder.failover(1, 0));
        (0..9).for_each(|_| recorder.returned(1));
    });
    run
}

#[test]
fn a_run_on_a_cluster() {
    let run = clustered();
    golden("cluster.txt", &table(&run));
    golden("cluster.json", &format!("{:#}\n", json(&run)["gateways"]));
    assert_eq!(run.verdict(), eventful().verdict(), "gateways are told, not judged");
}

#[test]
fn an_invalid_run() {
    let mut run = eventful();
    run.record.counts[NEW_ORDER].measured.completed *= 2;
    run.record.tare.cpu_share_of_threads = 0.97;
    run.record.ended = Ended::Failed("relation \"stock\" does not exist".into());
    if let Some(checks) = &mut run.record.checks {
        checks[0].passed = false;
        checks[0].violations = 3;
    }
    golden("invalid.txt", &table(&run));
}

#[test]
fn a_run_of_nothing() {
    let mut run = good(1, 1.0);
    run.record = record::RunRecord::new(plan(1, 60.0));
    run.histograms = Default::default();
    run.timeline.clear();
    golden("nothing.txt", &table(&run));
    assert_eq!(json(&run)["transactions"]["new_order"]["response_ms"]["p90"], Value::Null);
}

#[test]
fn lines_fit_a_terminal() {
    for text in
        [table(&eventful()), table(&clustered()), report::check_table(eventful().record.checks.as_deref().unwrap())]
    {
        assert!(text.is_ascii());
        // Reasons and deviations are sentences and may be longer.
        let columns = text.lines().filter(|line| !line.starts_with("    - "));
        for line in columns {
            assert!(line.len() <= 120, "{} characters: {line}", line.len());
        }
    }
}

#[test]
fn the_names_that_others_build_on() {
    let document = json(&eventful());
    let mut pointers: Vec<String> = [
        "/workload",
        "/target/kind",
        "/target/version",
        "/warehouses",
        "/pacing",
        "/style",
        "/seed",
        "/measured_seconds",
        "/tpmc",
        "/nopm",
        "/nopm_committed",
        "/efficiency",
        "/verdict/status",
        "/verdict/reasons",
        "/verdict/findings",
        "/verdict/deviations",
        "/tare/cpu_seconds",
        "/tare/cpu_us_per_new_order",
        "/tare/peak_rss_bytes",
        "/tare/lag_ms/p50",
        "/tare/lag_ms/p99",
        "/tare/lag_ms/max",
        "/transactions/delivery/deferred/response_ms/p90",
        "/tallies/0/figure",
        "/reconciliation/passed",
        "/checks/0/name",
    ]
    .map(String::from)
    .to_vec();
    for name in ["new_order", "payment", "order_status", "delivery", "stock_level"] {
        for count in ["count", "rolled_back", "errors", "retries", "share"] {
            pointers.push(format!("/transactions/{name}/{count}"));
        }
        for clock in ["response_ms", "service_ms", "queue_ms", "keying_ms", "think_ms"] {
            for figure in ["mean", "p50", "p90", "p95", "p99", "p999", "max"] {
                pointers.push(format!("/transactions/{name}/{clock}/{figure}"));
            }
        }
    }
    for pointer in pointers {
        assert!(document.pointer(&pointer).is_some_and(|value| !value.is_null()), "{pointer}");
    }
    assert_eq!(document.pointer("/folder"), Some(&Value::Null), "the caller knows the folder");
}

#[test]
fn checks() {
    let check = |name: &str, passed: bool| CheckResult {
        name: name.into(),
        clause: "3.3.2.1".into(),
        passed,
        violations: if passed { 0 } else { 12 },
        detail: "W_YTD = sum(D_YTD)".into(),
        skipped: None,
    };
    let unseen = CheckResult { skipped: Some("the data are no longer as loaded".into()), ..check("rows", true) };
    let checks = [check("warehouse and districts", true), check("orders", false), unseen];
    golden("checks.txt", &report::check_table(&checks));
    let document = report::check_json(&checks);
    assert_eq!(document["passed"], false);
    assert_eq!(document["checks"][1]["violations"], 12);
    assert_eq!(report::check_json(&checks[..1])["passed"], true);
}
