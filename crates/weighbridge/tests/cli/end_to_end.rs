//! Load, run, check, report: on SQLite and on PostgreSQL.

use crate::support::{Place, done, files, json, say};

#[test]
fn the_demo_prints_a_verdict_and_passed_checks() {
    let place = Place::new();
    let run = place.text("run");
    let said = done(&["demo", "--duration", "3s", "--out", &run]);
    assert!(said.stdout.contains("NOPM"), "{}", said.stdout);
    assert!(said.stdout.contains("Verdict: unconstrained"), "{}", said.stdout);
    assert!(said.stdout.contains("Reconciliation: passed"), "{}", said.stdout);
    assert!(said.stdout.contains("not an audited TPC-C result"), "{}", said.stdout);
    assert!(said.stderr.contains("Try next:"), "{}", said.stderr);
    assert_eq!(
        files(&place.path("run")),
        ["acknowledged.bin", "deliveries.csv", "latency.hlog", "report.html", "run.json", "timeline.csv"]
    );

    let again = done(&["report", &run]);
    assert_eq!(again.stdout, said.stdout, "the folder alone gives the same result");

    let page = std::fs::read_to_string(place.path("run/report.html")).expect("a page");
    assert!(page.contains("<h1>TPC-C on sqlite, 1 warehouse</h1>") && page.contains("NOPM"), "{page}");
    std::fs::remove_file(place.path("run/report.html")).expect("it can go");
    done(&["report", &run, "--html"]);
    done(&["report", &run, "--html", "--out", &place.text("page.html")]);
    for again in ["run/report.html", "page.html"] {
        let again = std::fs::read_to_string(place.path(again)).expect("a page");
        assert!(again == page, "the folder alone gives the same page");
    }
}

#[test]
fn sqlite_goes_the_whole_way_in_every_style() {
    let place = Place::new();
    whole_way(&place.sqlite(), &place, &["serializable"], &["row", "batch"]);
}

#[test]
fn postgres_goes_the_whole_way_in_every_style() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").expect("a database");
    let place = Place::new();
    whole_way(&server.url("bench"), &place, &["repeatable-read", "serializable"], &["row", "batch", "procedure"]);
}

#[test]
fn mariadb_goes_the_whole_way() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    server.create_database("bench").expect("a database");
    every_style_once(&[server.url("bench")]);
}

/// The three nodes are gateways of one cluster, so that conflicts arise between nodes.
#[test]
fn galera_goes_the_whole_way_through_all_its_nodes() {
    let Some(cluster) = lab::galera_or_skip() else { return };
    cluster.create_database("bench").expect("a database");
    every_style_once(&cluster.urls("bench"));
}

#[test]
fn tidb_goes_the_whole_way() {
    let Some(server) = lab::tidb_or_skip() else { return };
    server.create_database("bench").expect("a database");
    every_style_once(&[server.url("bench")]);
}

/// Load, a short run in each style that the database has, and the checks, through all URLs.
fn every_style_once(urls: &[String]) {
    let place = Place::new();
    let gateways: Vec<&str> = urls.iter().flat_map(|url| ["--url", url]).collect();
    assert_eq!(json(&[&["load", "--warehouses", "1"], gateways.as_slice()].concat())["complete"], true);
    let targets = json(&["targets"]);
    let scheme = urls[0].split(':').next().expect("a scheme");
    let target = targets["targets"].as_array().and_then(|all| all.iter().find(|target| target["name"] == scheme));
    for style in target.expect("a target of that scheme")["styles"].as_array().expect("styles") {
        let style = style.as_str().expect("a name");
        let out = place.text(style);
        let pace = ["run", "--pacing", "none", "--connections", "6", "--ramp", "1s", "--duration", "4s", "--check"];
        // A fleet of one meets itself.
        let run = json(&[pace.as_slice(), &["--style", style, "--shard", "1/1", "--out", &out], &gateways].concat());
        assert_eq!((&run["fleet"]["workers"], &run["fleet"]["lost"]), (&1.into(), &serde_json::json!([])), "{run:#}");
        assert!(run["transactions"]["new_order"]["count"].as_u64() > Some(0), "{style}: {run:#}");
        assert_eq!(run["reconciliation"]["passed"], true, "{style}: {run:#}");
        assert!(run["checks"].as_array().is_some_and(|checks| checks.iter().all(|check| check["passed"] == true)));
        for (name, figures) in run["transactions"].as_object().expect("the five transactions") {
            assert_eq!(figures["errors"], 0, "{name}, {style}: {run:#}");
        }
    }
    assert_eq!(json(&[&["check"], gateways.as_slice()].concat())["passed"], true);
}

/// Thousands of transactions at 8 connections without waits leave a consistent database.
fn whole_way(url: &str, place: &Place, isolations: &[&str], styles: &[&str]) {
    let loaded = json(&["load", "--url", url, "--warehouses", "2"]);
    assert_eq!(loaded["warehouses"], 2);
    assert_eq!(loaded["tables"]["customer"]["rows"], 60_000);
    assert_eq!(loaded["tables"]["item"]["rows"], 100_000);
    assert_eq!(loaded["complete"], true);

    let fresh = json(&["check", "--url", url]);
    assert_eq!(fresh["passed"], true, "{fresh:#}");
    assert!(fresh["checks"].as_array().is_some_and(|checks| checks.len() > 30), "{fresh:#}");

    let (mut retries, mut transactions) = (0, 0);
    let ways: Vec<(&str, &str)> =
        isolations.iter().flat_map(|isolation| styles.iter().map(|style| (*isolation, *style))).collect();
    // Each way once, and again on a machine that is too busy to get thousands done at once.
    for (round, (isolation, style)) in ways.iter().cycle().take(20).enumerate() {
        if round >= ways.len() && transactions > 4000 {
            break;
        }
        let out = place.text(&format!("run-{round}"));
        let args = ["run", "--url", url, "--pacing", "none", "--connections", "8", "--ramp", "1s", "--duration", "5s"];
        let more = ["--style", style, "--isolation", isolation, "--check", "--out", &out];
        let run = json(&[args.as_slice(), &more].concat());
        assert_eq!(run["verdict"]["status"], "unconstrained", "{run:#}");
        assert!(run["tpmc"].is_null() && run["efficiency"].is_null());
        assert_eq!((&run["style"], &run["isolation"]), (&(*style).into(), &(*isolation).into()));
        let types = run["transactions"].as_object().expect("the five transactions");
        assert_eq!(types.len(), 5);
        for (name, figures) in types {
            assert!(figures["count"].as_u64() > Some(0), "{name}: {run:#}");
            assert_eq!(figures["errors"], 0, "{name}: {run:#}");
            retries += figures["retries"].as_u64().unwrap_or(0);
            transactions += figures["count"].as_u64().unwrap_or(0);
        }
        assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
        assert!(run["checks"].as_array().is_some_and(|checks| checks.iter().all(|check| check["passed"] == true)));
    }
    assert!(transactions > 4000, "only {transactions}");
    // At 4 connections a warehouse conflicts are certain where the database lets writers run side by side.
    if url.starts_with("postgres") {
        assert!(retries > 0, "PostgreSQL refused nothing");
    }
    let after = json(&["check", "--url", url]);
    assert_eq!(after["passed"], true, "{after:#}");
}

#[test]
fn at_the_standards_pace_the_waits_are_served() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url, "--warehouses", "2"]);
    let out = place.text("run");
    let said =
        say(&["run", "--url", &url, "--ramp", "1s", "--duration", "45s", "--seed", "5", "--out", &out, "--json"]);
    let run: serde_json::Value = serde_json::from_str(&said.stdout).expect("one JSON document");
    // A machine that is too busy shows in the tool's own lag, and only there.
    let reasons = run["verdict"]["reasons"].as_array().expect("a list");
    let lag_alone =
        !reasons.is_empty() && reasons.iter().all(|r| r["rule"].as_str().is_some_and(|r| r.contains("lag")));
    assert!(run["verdict"]["status"] == "engineering" || lag_alone, "{run:#}");
    assert_eq!(run["pacing"], "standard");
    assert!(run["tpmc"].is_u64() && run["efficiency"].is_f64(), "{run:#}");
    let keying = &run["transactions"]["payment"]["keying_ms"];
    // Never less than 3 s, but for the width of the histogram's bucket (three digits).
    assert!(keying["min"].as_f64() >= Some(2997.0) && keying["mean"].as_f64() >= Some(3000.0), "{run:#}");
    assert_eq!(run["seed"], 5);
}

#[test]
fn slices_make_one_database_whoever_ends_last() {
    let place = Place::new();
    let url = place.sqlite();
    let first = json(&["load", "--url", &url, "--warehouses", "1", "--total-warehouses", "2"]);
    assert_eq!(first["complete"], false);
    assert_eq!(say(&["run", "--url", &url]).status, 1, "a half-loaded database is not driven");
    let second = ["load", "--url", &url, "--warehouses", "1", "--first-warehouse", "2", "--total-warehouses", "2"];
    assert_eq!(json(&second)["complete"], true);
    assert_eq!(say(&second).status, 1, "a slice is not loaded twice");
    assert_eq!(json(&["check", "--url", &url])["passed"], true);
}

#[test]
fn a_run_on_postgres_finds_every_page_marked_as_visible_to_all() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("visible").unwrap();
    let url = server.url("visible");
    done(&["load", "--url", &url, "--warehouses", "1", "--jobs", "4"]);
    let url = target::Url::parse(&url).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let hidden = runtime.block_on(async {
        let mut session = target::Session::connect(&url).await.unwrap();
        let sql = "SELECT string_agg(relname || ': ' || relallvisible || ' of ' || relpages, ', ') FROM pg_class \
            WHERE relkind = 'r' AND relnamespace = CAST('public' AS regnamespace) AND relname NOT LIKE 'weighbridge%' \
            AND (relallvisible <> relpages OR relpages = 0)";
        let answer = session.query(sql, &[]).await.unwrap();
        answer.only().unwrap().value(0).unwrap().to_string()
    });
    assert_eq!(hidden, target::OwnedValue::Null.to_string(), "pages that the run would have to mark");
}
