//! The metrics of a run: counters that only grow, buckets that hold what was recorded, words that stay words.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../record/tests/common/mod.rs"]
mod common;

use common::*;
use record::recorder::{Failure, Outcome, Phase, Sample};
use record::timeline::Stage;
use record::{RunRecord, TimelineRow};
use report::Metrics;

/// The value of a sample.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.split(' ').next() == Some(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn seconds_add_up() {
    let mut record = RunRecord::new(plan(10, 600.0));
    record.target.kind = "postgres".to_owned();
    record.target.version = "a \"b\" \\ c\nd".to_owned();
    let mut metrics = Metrics::default();
    let mut text = String::new();
    for second in 1..=2 {
        let mut recorder = empty(&record.plan);
        // 3 ms, 30 ms, and one that takes longer than all edges.
        for ms in [3, 30, 200_000] {
            recorder.transaction(NEW_ORDER, Phase::Outside, &sample(ms));
        }
        recorder.transaction(NEW_ORDER, Phase::Measured, &Sample { outcome: Outcome::RolledBack, ..sample(3) });
        let lost = Sample { retries: 2, outcome: Outcome::Failed(Failure::Connection), ..sample(900) };
        recorder.transaction(PAYMENT, Phase::Measured, &lost);
        recorder.deferred(DELIVERY, Phase::Measured, &sample(200));
        record.add(&recorder);
        let row = TimelineRow {
            elapsed_s: f64::from(second),
            stage: Stage::Measured,
            cpu_percent: 50.0,
            waiting: 7,
            ..TimelineRow::default()
        };
        text = metrics.second(&row, &recorder, &record, 3).text();
    }
    let new_order = |name: &str| format!("weighbridge_{name}{{transaction=\"new_order\",part=\"terminal\"}}");
    assert_eq!(value(&text, &new_order("transactions_total")), 8.0);
    assert_eq!(value(&text, &new_order("transactions_rolled_back_total")), 2.0);
    let bucket = |le: &str| {
        value(
            &text,
            &format!(
                "weighbridge_transaction_response_seconds_bucket{{transaction=\"new_order\",part=\"terminal\",le=\"{le}\"}}"
            ),
        )
    };
    let found = ["0.0025", "0.005", "0.025", "0.05", "160", "+Inf"].map(bucket);
    assert_eq!(found, [0.0, 4.0, 4.0, 6.0, 6.0, 8.0]);
    assert_eq!(value(&text, &new_order("transaction_response_seconds_count")), 8.0);
    let sum = value(&text, &new_order("transaction_response_seconds_sum"));
    assert!((sum / (2.0 * (0.003 + 0.03 + 200.0 + 0.003)) - 1.0).abs() < 2e-3, "{sum}");
    let lost = "weighbridge_transaction_errors_total{transaction=\"payment\",part=\"terminal\",cause=\"connection\"}";
    assert_eq!(value(&text, lost), 2.0);
    assert_eq!(value(&text, "weighbridge_transaction_retries_total{transaction=\"payment\",part=\"terminal\"}"), 4.0);
    assert_eq!(value(&text, "weighbridge_transactions_total{transaction=\"delivery\",part=\"deferred\"}"), 2.0);
    assert!(!text.contains("transaction=\"payment\",part=\"deferred\""));
    assert_eq!(
        (value(&text, "weighbridge_connections_in_use"), value(&text, "weighbridge_terminals_waiting")),
        (5.0, 7.0)
    );
    assert_eq!(
        (value(&text, "process_cpu_seconds_total"), value(&text, "weighbridge_run_stage{stage=\"measured\"}")),
        (1.0, 1.0)
    );
    assert!(text.contains(r#"version="a \"b\" \\ c\nd""#), "{text}");
}

#[test]
fn every_family_is_said_once_and_holds_its_samples_together() {
    let record = RunRecord::new(plan(1, 60.0));
    let text = Metrics::default().second(&TimelineRow::default(), &empty(&record.plan), &record, 0).text();
    let mut family = String::new();
    let mut seen = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().unwrap().to_owned();
            assert!(!seen.contains(&family), "{family} twice");
            seen.push(family.clone());
        } else if !line.starts_with('#') {
            assert!(line.starts_with(&family), "{line} in {family}");
        }
    }
    assert!(seen.len() > 15 && text.ends_with('\n'), "{seen:?}");
}

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let record = RunRecord::new(plan(1, 60.0));
    let text = Metrics::default().second(&TimelineRow::default(), &empty(&record.plan), &record, 0).text();
    let known: Vec<&str> = text.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
    let dashboard: serde_json::Value =
        serde_json::from_str(include_str!("../../../deploy/grafana/weighbridge.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut asked = 0;
    for expression in targets.map(|target| target["expr"].as_str().unwrap()) {
        let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in words.filter(|word| word.starts_with("weighbridge_") || word.starts_with("process_")) {
            assert!(known.contains(&name), "{name} of {expression}");
            asked += 1;
        }
    }
    assert!(asked > 15, "{asked}");
    // All is all the clients that there are; with a value of its own it would be all that Prometheus scrapes.
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        assert!(variable.get("allValue").is_none(), "{variable}");
    }
}
