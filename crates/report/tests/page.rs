//! The page: fixed runs to the letter, hostile words, size, and that nothing is fetched. `UPDATE_GOLDEN=1` writes anew.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../record/tests/common/mod.rs"]
mod common;

use std::path::Path;

use common::*;
use record::plan::{GatewayPlan, Pacing};
use record::recorder::{Failure, Outcome, Phase, Sample};
use record::run::{CheckResult, Ended, GatewayRecord, ReconciledItem, Reconciliation};
use record::timeline::Stage;
use record::{OpenedRun, RunRecord, TimelineRow};
use serde_json::{Value, json};

fn opened(run: &Run) -> OpenedRun {
    OpenedRun {
        source: String::new(),
        path: "results/run".into(),
        record: run.record.clone(),
        histograms: run.histograms.clone(),
        timeline: run.timeline.clone(),
        warnings: Vec::new(),
    }
}

/// The page of a run; a record of version 1 gives the same.
fn page(run: &Run) -> String {
    let page = report::page(&opened(run), &run.summary(), &run.verdict()).file();
    let version_1 = OpenedRun { record: without_labels(&run.record), ..opened(run) };
    assert!(report::page(&version_1, &run.summary(), &run.verdict()).file() == page);
    page
}

/// One line an element, so that a difference can be seen; style and script are files of their own.
fn golden(name: &str, page: &str) {
    let (head, rest) = page.split_once("<style>").unwrap();
    let (style, rest) = rest.split_once("</style>").unwrap();
    let (body, script) = rest.rsplit_once("<script>").unwrap();
    assert_eq!(style, include_str!("../src/page/style.css"));
    assert!(script.starts_with(include_str!("../src/page/script.js")));
    let text = format!("{head}{body}").replace("><", ">\n<") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = text.lines().zip(expected.lines()).find(|(new, kept)| new != kept);
    assert!(
        text == expected,
        "{name} is not as kept; look at it, then UPDATE_GOLDEN=1; first difference: {differing:?}"
    );
}

/// A run with something to say in every section.
fn eventful() -> Run {
    let mut run = good(10, 600.0);
    let record = &mut run.record;
    record.tool = record::run::Tool { name: "weighbridge".into(), version: "0.1.0".into(), ..Default::default() };
    record.client = record::run::Client { os: "linux 6.1".into(), cpus: 4, memory_bytes: 16 << 30 };
    record.target.kind = "postgres".into();
    record.target.version = "PostgreSQL 17.2".into();
    record.target.url = "postgres://tpcc@node1/bench postgres://tpcc@node2/bench".into();
    record.target.settings = [("fsync", "on"), ("shared_buffers", "4GB")].map(|(k, v)| (k.into(), v.into())).into();
    record.target.placement = [("partitions".into(), "2".into())].into();
    record.topology = Some(json!({
        "nodes": [{ "name": "node1", "address": "10.0.0.1:5432", "role": "primary", "live": true }],
        "tables": [{ "table": "stock", "rows": 1_000_000, "bytes": 350_000_000_u64, "leaders": { "node1": 3 } }],
        "notes": ["ranges are not offered"],
    }));
    record.started_at = Some("2026-11-21T14:03:07Z".parse().unwrap());
    record.tare.cpu_seconds = 4.2;
    record.tare.cpu_us_per_headline = 3500.0;
    record.tare.peak_rss_bytes = 48 << 20;
    record.plan.constants = [("c_last_run".into(), 156)].into();
    record.plan.deviations.push("synchronous_commit is off".into());
    let check = CheckResult {
        name: "W_YTD = sum(D_YTD)".into(),
        clause: "3.3.2.1".into(),
        passed: true,
        violations: 0,
        detail: "10 warehouses".into(),
        skipped: None,
    };
    record.checks = Some(vec![check]);
    let orders = ReconciledItem { name: "orders".into(), acknowledged: 1188, gained: 1189, unknown: 1, missing: 0 };
    record.reconciliation =
        Some(Reconciliation { checked: vec![orders], passed: true, detail: "nothing acknowledged is missing".into() });
    let gateway =
        |url: &str, first_warehouse| GatewayPlan { url: url.into(), connections: 4, first_warehouse, warehouses: 5 };
    record.plan.gateways = vec![gateway("postgres://tpcc@node1/bench", 1), gateway("postgres://tpcc@node2/bench", 6)];
    record.gateways = vec![GatewayRecord::default(); 2];
    let lost = Sample { retries: 2, outcome: Outcome::Failed(Failure::Connection), ..sample(900) };
    run.add(|recorder| {
        recorder.transaction(PAYMENT, Phase::Measured, &lost);
        recorder.skipped(DELIVERY, Phase::Measured, 3);
        recorder.through(0, NEW_ORDER, Phase::Measured, &sample(10));
        recorder.connection_lost(1);
        recorder.failover(1, 0);
    });
    busy(&mut run.timeline);
    run
}

/// Seconds as a database gives them: a little restless, one of them very slow, with a ramp before and a drain behind.
fn busy(timeline: &mut Vec<TimelineRow>) {
    let mut dice = Dice(7);
    let last = timeline.len() - 1;
    for (second, row) in timeline.iter_mut().enumerate() {
        row.stage = if second < 60 { Stage::Ramp } else { Stage::Measured };
        row.completed = [200.0, 190.0, 20.0, 20.0, 20.0].map(|rate| (rate * (0.9 + 0.2 * dice.roll())) as u64).to_vec();
        row.retries = (3.0 * dice.roll()) as u64;
        row.errors = u64::from(second == last / 2);
        row.p50_ms = 8.0 + 3.0 * dice.roll();
        row.p90_ms = 20.0 + 10.0 * dice.roll();
        row.p99_ms = 60.0 + 30.0 * dice.roll();
        row.max_ms = if second == last / 2 { 4_321.0 } else { 120.0 + 200.0 * dice.roll() };
        row.queue_p99_ms = 2.0 * dice.roll();
        row.lag_p99_ms = dice.roll();
        row.cpu_percent = 12.0 + 4.0 * dice.roll();
        row.rss_bytes = (48 << 20) + second as u64 * 1024;
        row.waiting = (3.0 * dice.roll()) as u64;
    }
    let elapsed_s = timeline[last].elapsed_s + 0.02;
    timeline.push(TimelineRow { elapsed_s, stage: Stage::Drain, ..timeline[last].clone() });
}

#[test]
fn an_engineering_run() {
    golden("engineering.html", &page(&eventful()));
}

#[test]
fn an_unconstrained_run_is_not_called_tpmc() {
    let mut run = eventful();
    run.record.plan.pacing = Pacing::None;
    run.record.plan.nonstandard.push("no keying and think times (5.2.5)".into());
    let page = page(&run);
    assert!(
        page.contains(
            "</strong> <abbr title=\"New-Orders a minute, away from the standard's pace or mix\">NOPM</abbr>"
        )
    );
    assert!(page.contains("The run left the standard on purpose"));
    assert!(page.contains("no keying and think times (5.2.5)"));
}

#[test]
fn an_invalid_run_says_so_first() {
    let mut run = eventful();
    run.record.counts[NEW_ORDER].measured.completed *= 2;
    run.record.ended = Ended::Failed("relation \"stock\" does not exist".into());
    let page = page(&run);
    let warned = page.find("This figure can't be relied on").unwrap();
    assert!(warned < page.find("<nav").unwrap(), "before anything else");
    assert!(page.contains("relation &quot;stock&quot; does not exist"));
}

#[test]
fn runs_of_nothing() {
    let mut run = good(1, 1.0);
    run.record = RunRecord::new(plan(1, 60.0));
    run.histograms = Default::default();
    run.timeline.clear();
    golden("nothing.html", &page(&run));
    // A record with not even a plan, as a much older or a foreign tool might leave.
    run.record = without_labels(&RunRecord::default());
    let row = TimelineRow { elapsed_s: 1.0, p90_ms: 5.0, ..TimelineRow::default() };
    run.timeline = vec![row.clone(), TimelineRow { stage: Stage::Measured, elapsed_s: 2.0, ..row }];
    assert!(page(&run).ends_with("</html>"));
}

#[test]
fn a_fault_that_failed_is_told_and_is_no_mark() {
    let fault = |what: &str, at_seconds, failed: Option<&str>| record::fault::Fault {
        what: what.into(),
        at_seconds,
        took_seconds: 0.0,
        failed: failed.map(str::to_owned),
    };
    let mut run = good(1, 1.0);
    run.record.faults = vec![fault("kill node2", 5.0, Some("it is not running")), fault("kill node1", 20.0, None)];
    let page = page(&run);
    assert_eq!(page.matches("kill node2").count(), 1, "in the list alone");
    assert!(page.matches("kill node1").count() > page.matches("20.0 s: kill node1").count(), "on the chart too");
}

/// Every word of the record that can be a foreigner's, replaced by an attack.
#[test]
fn hostile_words_stay_words() {
    const ATTACK: &str = "</script></style></title><script>alert(1)</script><img src=http://evil/x onerror='alert(2)'>\" onload=\"alert(3)";
    fn poison(value: &mut Value) {
        match value {
            Value::String(text) => *text = format!("{ATTACK}{text}"),
            Value::Array(list) => list.iter_mut().for_each(poison),
            Value::Object(map) => {
                map.values_mut().for_each(poison);
                *map = std::mem::take(map).into_iter().map(|(key, value)| (format!("{ATTACK}{key}"), value)).collect();
            }
            _ => {}
        }
    }
    let mut run = eventful();
    run.record.started_at = None;
    let record = &mut run.record;
    let words = [
        &mut record.tool.name,
        &mut record.tool.version,
        &mut record.tool.commit,
        &mut record.client.os,
        &mut record.target.kind,
        &mut record.target.version,
        &mut record.target.url,
        &mut record.plan.workload,
        &mut record.plan.style,
        &mut record.plan.isolation,
        &mut record.plan.mix,
        &mut record.plan.affinity,
        &mut record.plan.errors_clause,
        &mut record.plan.scale.clause,
    ];
    words.into_iter().for_each(|word| *word = ATTACK.into());
    let labels = &mut record.plan.labels;
    let words = [
        &mut labels.title,
        &mut labels.metric,
        &mut labels.metric_words,
        &mut labels.rollbacks,
        &mut labels.limits_by,
        &mut labels.waits_by,
        &mut labels.unconstrained,
        &mut labels.throughput_graph,
        &mut labels.warning,
        &mut labels.disclaimer,
    ];
    words.into_iter().for_each(|word| *word = ATTACK.into());
    labels.glossary = vec![(ATTACK.into(), ATTACK.into())];
    record.ended = Ended::Failed(ATTACK.into());
    record.target.settings = [(ATTACK.into(), ATTACK.into())].into();
    record.target.placement = [("localities".into(), ATTACK.into()), (ATTACK.into(), ATTACK.into())].into();
    record.plan.constants = [(ATTACK.into(), 1)].into();
    record.plan.deviations = vec![ATTACK.into()];
    record.plan.gateways.iter_mut().for_each(|gateway| gateway.url = ATTACK.into());
    record.plan.tallies.iter_mut().for_each(|tally| tally.name = ATTACK.into());
    record.plan.transactions.iter_mut().for_each(|rule| {
        rule.title = ATTACK.into();
        rule.share_clause = ATTACK.into();
    });
    for check in record.checks.as_mut().unwrap() {
        (check.name, check.detail, check.clause, check.skipped) =
            (ATTACK.into(), ATTACK.into(), ATTACK.into(), Some(ATTACK.into()));
    }
    let held = record.reconciliation.as_mut().unwrap();
    (held.detail, held.checked[0].name) = (ATTACK.into(), ATTACK.into());
    let topology = record.topology.as_mut().unwrap();
    topology.as_object_mut().unwrap().values_mut().for_each(|list| {
        for row in list.as_array_mut().unwrap() {
            match row {
                Value::Object(fields) => fields.values_mut().for_each(poison),
                other => poison(other),
            }
        }
    });
    let mut opened = opened(&run);
    opened.warnings = vec![ATTACK.into()];
    let hostile = report::page(&opened, &run.summary(), &run.verdict()).file();

    let clean = page(&eventful());
    for tag in ["<script", "</script", "<style", "</style", "<title", "<img"] {
        assert_eq!(hostile.matches(tag).count(), clean.matches(tag).count(), "{tag}");
    }
    assert!(hostile.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count() > 30, "the words are there, as words");
    for attribute in [" onload=\"", " onerror='"] {
        let raw = |text: &&str| !text.is_empty();
        // Inside a tag an attack would have had to end a value by a quotation mark.
        assert!(
            hostile.split('<').filter(raw).all(|tag| !tag.split('>').next().unwrap().contains(attribute)),
            "{attribute}"
        );
    }
    for data in hostile.split("<script type=\"application/json\">").skip(1) {
        let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
        assert!(data["title"].is_string());
    }
}

#[test]
fn nothing_is_fetched() {
    let page = page(&eventful());
    for (attribute, allowed) in [("href=\"", &["#", "data:,"][..]), (" src=", &[]), ("srcset=", &[]), ("action=", &[])]
    {
        for value in page.split(attribute).skip(1) {
            assert!(allowed.iter().any(|start| value.starts_with(start)), "{attribute}{}", &value[..40]);
        }
    }
    for loader in
        ["url(", "@import", "fetch(", "XMLHttpRequest", "import(", "<link rel=\"stylesheet\"", "<iframe", "<object"]
    {
        assert!(!page.contains(loader), "{loader}");
    }
    assert!(page.contains("default-src 'none'"), "and the browser is told so");
}

#[test]
fn two_hours_fit_into_a_megabyte_with_their_extremes() {
    let mut run = good(100, 7_200.0);
    busy(&mut run.timeline);
    let page = page(&run);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let charts: Vec<Value> = page
        .split("<script type=\"application/json\">")
        .skip(1)
        .map(|rest| serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap())
        .collect();
    let times = charts.iter().find(|chart| chart["title"] == "New-Order response time over time").unwrap();
    let slowest = times["columns"][3]["y"].as_array().unwrap();
    assert!((240..=2_000).contains(&slowest.len()), "{} stretches", slowest.len());
    assert!(slowest.iter().any(|ms| ms.as_f64() == Some(4_321.0)), "the slowest second is there");
}

#[test]
fn structure_for_those_who_do_not_see_it() {
    let page = page(&eventful());
    let count = |text: &str| page.matches(text).count();
    assert_eq!(count("<h1"), 1);
    assert_eq!(count("<main"), 1);
    let drawn = count("<figure ");
    assert_eq!((count("role=\"img\""), count("<desc "), drawn), (drawn, drawn, 17));
    assert!(page.contains("0 from beginning to end, so not drawn: Queued Deliveries."));
    assert_eq!(count("<table"), count("<caption"));
    let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(ids.len(), unique.len(), "{ids:?}");
    for anchor in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(ids.contains(&anchor), "{anchor}");
    }
}
