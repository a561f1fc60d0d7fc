//! `run --statements`: every statement of the mix is timed, and no time is there twice.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use serde_json::Value;
use target::Url;
use tpcc::input::Kind;
use workload::tpcc::{Style, statement_texts};

use crate::support::{Place, done, json, weighbridge};

/// One connection, so that no attempt is repeated and the calls are those of the profile.
const ALONE: [&str; 10] =
    ["run", "--statements", "--pacing", "none", "--connections", "1", "--ramp", "0s", "--duration", "3s"];

/// Calls by name.
fn calls(timed: &Value) -> BTreeMap<String, u64> {
    let parts = timed["parts"].as_array().unwrap();
    parts.iter().map(|part| (part["name"].as_str().unwrap().to_owned(), part["calls"].as_u64().unwrap())).collect()
}

/// Runs in a style and holds for every one; gives the document.
fn timed(url: &str, style: &str, place: &Place) -> Value {
    let out = place.text(style);
    let run = json(&[ALONE.as_slice(), &["--url", url, "--style", style, "--out", &out]].concat());
    assert_eq!(run["reconciliation"]["passed"], true);
    for kind in Kind::ALL {
        let (timed, figures) = (&run["statements"][kind.name()], &run["transactions"][kind.name()]);
        let completed = if kind == Kind::Delivery { &figures["deferred"]["completed"] } else { &figures["count"] };
        assert!(completed.as_u64() > Some(0), "no {kind:?} in {style}: {run:#}");
        assert_eq!(&timed["transactions"], completed, "{kind:?} in {style}");
        assert_eq!(figures["retries"], 0);
        let shares = timed["parts"].as_array().unwrap().iter().map(|part| part["share"].as_f64().unwrap());
        let (parts, rest) = (shares.sum::<f64>(), timed["rest_share"].as_f64().unwrap());
        assert!(parts > 0.0 && parts <= 1.0 + 1e-9 && (parts + rest - 1.0).abs() < 1e-9, "{parts} and {rest}");
        for part in timed["parts"].as_array().unwrap() {
            let (calls, time) = (&part["calls"], &part["time_ms"]);
            assert_eq!(&time["count"], calls, "the histogram holds every call of {}", part["name"]);
            assert!(time["p50"].as_f64() <= time["p99"].as_f64());
        }
    }
    // The folder alone gives the same, as text and as a page too.
    let again = json(&["report", &out]);
    assert_eq!(again["statements"], run["statements"]);
    assert!(done(&["report", &out]).stdout.contains("time with the database, ms"));
    let page = std::fs::read_to_string(place.path(style).join("report.html")).unwrap();
    assert!(page.contains("id=\"statements\"") && page.contains("--statements"));
    run
}

/// In the styles that send statement by statement each of them is there, as often as the profile says.
fn one_by_one(url: &str, place: &Place) {
    for (name, style, district, lines) in [
        ("row", Style::Row, "new_order.district_write", "new_order.stock_write"),
        ("batch", Style::Batch, "new_order.district", "new_order.order_lines"),
    ] {
        let run = timed(url, name, place);
        let dialect = Url::parse(url).unwrap().dialect();
        for kind in Kind::ALL {
            let found = calls(&run["statements"][kind.name()]);
            let of_kind = statement_texts(style, dialect).into_iter().filter(|statement| statement.transaction == kind);
            let expected: BTreeSet<&str> = of_kind.map(|statement| statement.name).collect();
            let seen: BTreeSet<&str> = found.keys().map(String::as_str).filter(|name| name.contains('.')).collect();
            assert_eq!(seen, expected, "{kind:?} in {name}");
            let ends: u64 = ["COMMIT", "ROLLBACK"].iter().filter_map(|verb| found.get(*verb)).sum();
            let transactions = run["statements"][kind.name()]["transactions"].as_u64().unwrap();
            // Stock-Level needs no transaction around it (2.8.2.3).
            assert_eq!(ends, if kind == Kind::StockLevel { 0 } else { transactions }, "{kind:?} in {name}");
        }
        let new_orders = &run["statements"]["new_order"];
        let (transactions, calls) = (new_orders["transactions"].as_u64().unwrap(), calls(new_orders));
        assert_eq!((calls[district], calls["new_order.order"]), (transactions, transactions));
        let rolled_back = run["transactions"]["new_order"]["rolled_back"].as_u64().unwrap();
        assert_eq!(calls.get("ROLLBACK").copied().unwrap_or(0), rolled_back);
        match style {
            // Five to fifteen lines an order.
            Style::Row => assert!((5 * transactions - rolled_back..=15 * transactions).contains(&calls[lines])),
            _ => assert_eq!(calls[lines], transactions),
        }
    }
}

#[test]
fn sqlite_times_every_statement_and_nothing_unasked() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url]);
    one_by_one(&url, &place);
    let out = place.text("unasked");
    let plain = ["run", "--url", &url, "--pacing", "none", "--ramp", "0s", "--duration", "1s", "--out", &out];
    let run = json(&plain);
    assert!(run.get("statements").is_none());
    let log = std::fs::read_to_string(place.path("unasked").join("latency.hlog")).unwrap();
    assert!(!log.contains(".statement."));
}

#[test]
fn postgres_times_statements_flights_and_calls() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let (place, url) = (Place::new(), server.url("bench"));
    done(&["load", "--url", &url, "--warehouses", "2"]);
    one_by_one(&url, &place);

    let flights = timed(&url, "pipeline", &place);
    let new_orders = &flights["statements"]["new_order"];
    let found = calls(new_orders);
    assert!(found.contains_key("new_order.order_lines+COMMIT"), "{found:?}");
    let first = found.iter().find(|(name, _)| name.starts_with("new_order.entry+")).unwrap();
    assert_eq!(Some(*first.1), new_orders["transactions"].as_u64(), "one opening flight a New-Order");

    let routines = timed(&url, "procedure", &place);
    for kind in Kind::ALL {
        let timed = &routines["statements"][kind.name()];
        let expected = BTreeMap::from([(format!("{}.routine", kind.name()), timed["transactions"].as_u64().unwrap())]);
        assert_eq!(calls(timed), expected);
    }

    parts_add_up(&url, &place);
}

/// Two clients at the same time, and what becomes of them as one.
fn parts_add_up(url: &str, place: &Place) {
    let folders = ["1", "2"].map(|first| (first, place.text(&format!("client-{first}"))));
    let clients = folders.each_ref().map(|(first, out)| {
        let slice = ["--url", url, "--warehouses", "1", "--first-warehouse", first, "--total-warehouses", "2"];
        let args = [ALONE.as_slice(), &slice, &["--out", out, "--json"]].concat();
        weighbridge(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    });
    let runs = clients.map(|client| {
        let output = client.wait_with_output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    });
    let merged = json(&["merge", &folders[0].1, &folders[1].1, "--out", &place.text("merged")]);
    for kind in Kind::ALL {
        let mut sum = BTreeMap::new();
        for run in &runs {
            calls(&run["statements"][kind.name()]).into_iter().for_each(|(name, n)| *sum.entry(name).or_insert(0) += n);
        }
        let whole = &merged["statements"][kind.name()];
        assert_eq!(calls(whole), sum, "{kind:?}");
        for part in whole["parts"].as_array().unwrap() {
            assert_eq!(part["time_ms"]["count"], part["calls"], "histograms are merged, too");
        }
    }
}
