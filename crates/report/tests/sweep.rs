//! A sweep made up figure by figure, as text and as a page.

use std::collections::BTreeMap;
use std::path::PathBuf;

use record::sweep::{Conflict, ConflictingValue, Mean, PlannedRun, Point, PointResult, RunFigures, Sweep, SweepPlan};
use record::verdict::Status;

const AGE: &str = "orders have been entered since (5.5.1.3)";

/// Clusters of one, two and four nodes, and so many connections for each node.
fn grown(points: &[(u32, u32)]) -> Sweep {
    let point = |(nodes, connections): &(u32, u32)| Point {
        target: "ours".into(),
        nodes: *nodes,
        warehouses: Some(10),
        style: Some("batch".into()),
        isolation: Some("serializable".into()),
        connections: Some(*connections),
    };
    let result = |at: &(u32, u32)| {
        let nopm = 1_000.0 * f64::from(at.0);
        let run = RunFigures {
            folder: format!("{}n", at.0),
            database: "postgres 17.2".into(),
            nopm,
            efficiency: None,
            p95_ms: 12.0,
            p99_ms: 20.0,
            errors: 0,
            verdict: Status::Unconstrained,
            reasons: Vec::new(),
            deviations: vec!["no keying and think times (5.2.5)".into(), format!("{} {AGE}", at.0)],
        };
        let mean = |value| Mean { value, interval: None };
        PointResult {
            point: point(at),
            runs: vec![run],
            conflict: Vec::new(),
            valid: 1,
            nopm: mean(nopm),
            efficiency: None,
            p95_ms: mean(12.0),
            p99_ms: mean(20.0),
        }
    };
    let plan = SweepPlan {
        tool_version: "0.1.0".into(),
        points: points.iter().map(point).collect(),
        databases: BTreeMap::from([("ours@1".into(), "postgres://me@one/bench".into())]),
        restore: "snapshot".into(),
        runs: vec![PlannedRun::default(); points.len()],
        ..SweepPlan::default()
    };
    let results = points.iter().map(result).collect();
    Sweep { path: PathBuf::from("sweep"), plan, results, ratios: Vec::new(), warnings: Vec::new() }
}

#[test]
fn what_was_measured_is_named() {
    let sweep = grown(&[(1, 8), (2, 16), (4, 32)]);
    let (text, markdown, page) =
        (report::sweep_table(&sweep), report::sweep_markdown(&sweep), report::sweep_page(&sweep).file());
    for said in [&text, &markdown, &page] {
        for words in ["ours: postgres 17.2", "postgres://me@one/bench", "10 warehouses, batch, serializable", "0.1.0"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert_eq!(said.matches("no keying and think times (5.2.5)").count(), 1, "{said}");
        // Figures of one kind are one line.
        assert_eq!(said.matches(AGE).count(), 1, "{said}");
        assert!(said.contains("3 of 3 runs"), "{said}");
    }
}

#[test]
fn what_grows_with_the_nodes_is_drawn_once() {
    let charts = |points: &[(u32, u32)], over: &str| {
        let page = report::sweep_page(&grown(points)).file();
        page.matches(&format!("id=\"throughput-{over}\"")).count()
    };
    let together = [(1, 8), (2, 16), (4, 32)];
    assert_eq!((charts(&together, "nodes"), charts(&together, "connections")), (1, 0));
    let page = report::sweep_page(&grown(&together)).file();
    assert!(page.contains("measured: 1,000.0 at 1, 2,000.0 at 2, 4,000.0 at 4."), "one line goes through all nodes");
    let apart = [(1, 8), (1, 16), (2, 8), (2, 16)];
    assert_eq!((charts(&apart, "nodes"), charts(&apart, "connections")), (1, 1));
    let one = [(1, 8), (1, 16)];
    assert_eq!((charts(&one, "nodes"), charts(&one, "connections")), (0, 1));
}

#[test]
fn point_whose_runs_had_different_settings_has_a_line_and_no_figure() {
    let mut sweep = grown(&[(1, 8), (2, 16)]);
    let point = &mut sweep.results[1];
    (point.valid, point.nopm) = (0, Mean::default());
    point.conflict = vec![Conflict {
        what: "synchronous_commit".into(),
        values: vec![
            ConflictingValue { value: "on".into(), runs: vec!["r1".into()] },
            ConflictingValue { value: "off".into(), runs: vec!["r2".into(), "r3".into()] },
        ],
    }];
    let (text, markdown, page) =
        (report::sweep_table(&sweep), report::sweep_markdown(&sweep), report::sweep_page(&sweep).file());
    for said in [&text, &markdown, &page] {
        let line = "runs of 2 nodes, 16 connections had different settings: \
                    synchronous_commit is on in r1, off in r2 and r3";
        assert!(said.contains(line) && said.contains("invalid: settings differ"), "{said}");
        assert!(said.contains("1000.0") && !said.contains("2000.0"), "{said}");
    }
    let json = report::sweep_json(&sweep);
    assert_eq!(json["results"][1]["conflict"][0]["values"][1]["runs"][0], "r2");
}
