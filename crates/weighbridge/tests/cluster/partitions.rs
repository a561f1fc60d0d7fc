//! Partitions on real servers, foreign keys after the load, and what is refused where.

use target::{Session, Url};

use crate::support::{Place, done, files, json, say};

/// The tool refuses with one line that holds all of `words`.
fn refused(args: &[&str], status: i32, words: &[&str]) {
    let said = say(args);
    assert_eq!(said.status, status, "{args:?}: {}", said.stderr);
    assert!(words.iter().all(|word| said.stderr.contains(word)), "{args:?}: {}", said.stderr);
}

/// The rows of tables, as PostgreSQL counts them.
fn rows(url: &str, tables: &[&str]) -> Vec<i64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        let mut counts = Vec::new();
        for table in tables {
            let answer = session.query(&format!("SELECT COUNT(*) FROM {table}"), &[]).await.unwrap();
            counts.push(answer.only().unwrap().big(0).unwrap());
        }
        counts
    })
}

#[test]
fn postgres_partitions_hold_their_warehouses() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let (url, place) = (server.url("bench"), Place::new());
    let load = ["load", "--url", &url, "--warehouses", "4", "--foreign-keys"];
    assert_eq!(json(&[&load[..], &["--partitions", "3"]].concat())["complete"], true);
    // Slices of 1, 1 and 2 warehouses; ITEM is left whole.
    let tables = ["stock_p0", "stock_p1", "stock_p2", "customer_p2", "history_p0", "item", "weighbridge_load"];
    assert_eq!(rows(&url, &tables[..6]), [100_000, 100_000, 200_000, 60_000, 30_000, 100_000]);
    let keys = "pg_constraint WHERE contype = 'f' AND conparentid = 0 AND convalidated";
    let primary = "pg_constraint WHERE contype = 'p' AND conrelid = 'stock_p1'::regclass";
    assert_eq!(rows(&url, &[keys, primary, "pg_indexes WHERE tablename = 'customer_p1'"]), [10, 1, 2]);

    assert_eq!(json(&["check", "--url", &url])["passed"], true);
    for (round, style) in ["row", "batch"].iter().enumerate() {
        let out = place.text(&format!("run-{round}"));
        let run = ["run", "--url", &url, "--pacing", "none", "--connections", "4", "--ramp", "1s", "--duration", "3s"];
        let run = json(&[&run[..], &["--style", style, "--check", "--out", &out]].concat());
        assert_eq!(run["target"]["placement"], serde_json::json!({ "partitions": "3", "foreign_keys": "declared" }));
        assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
        assert!(run["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{run:#}");
    }
    refused(
        &["load", "--url", &url, "--resume", "--partitions", "2"],
        1,
        &["the placement partitions 3, not partitions 2"],
    );
    done(&["load", "--url", &url, "--replace"]);
    assert_eq!(rows(&url, &["pg_class WHERE relispartition AND relkind = 'r'"]), [0]);

    // Foreign keys of data that are there.
    done(&["load", "--url", &url, "--foreign-keys-only"]);
    assert_eq!(rows(&url, &[keys]), [10]);
    refused(&["load", "--url", &url, "--foreign-keys-only"], 1, &["there already"]);
}

#[test]
fn mariadb_partitions_hold_their_warehouses() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    server.create_database("bench").unwrap();
    partitions_hold_their_warehouses(&server.url("bench"));
}

#[test]
fn tidb_partitions_hold_their_warehouses() {
    let Some(server) = lab::tidb_or_skip() else { return };
    server.create_database("bench").unwrap();
    partitions_hold_their_warehouses(&server.url("bench"));
}

/// Two warehouses in a partition each, driven and checked.
fn partitions_hold_their_warehouses(url: &str) {
    let place = Place::new();
    assert_eq!(json(&["load", "--url", url, "--warehouses", "2", "--partitions", "2"])["complete"], true);
    let tables = ["stock PARTITION (p0)", "stock PARTITION (p1)", "customer PARTITION (p1)", "item"];
    assert_eq!(rows(url, &tables), [100_000, 100_000, 30_000, 100_000]);
    let out = place.text("run");
    let run = ["run", "--url", url, "--pacing", "none", "--connections", "4", "--ramp", "1s", "--duration", "3s"];
    let run = json(&[&run[..], &["--check", "--out", &out]].concat());
    assert_eq!(run["target"]["placement"], serde_json::json!({ "partitions": "2" }));
    assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
    assert!(run["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{run:#}");
}

#[test]
fn what_a_database_lacks_is_refused_before_anything_is_touched() {
    let place = Place::new();
    let sqlite = place.sqlite();
    // Nobody listens there: what is refused is refused without asking.
    let (postgres, cockroachdb) = ("postgres://me@127.0.0.1:1/db", "cockroachdb://me@127.0.0.1:1/db");
    let yugabytedb = "yugabytedb://me@127.0.0.1:1/db";
    let load = |url: &str, more: &[&str], words: &[&str]| {
        refused(&[&["load", "--url", url, "--warehouses", "4"][..], more].concat(), 2, words);
    };
    load(&sqlite, &["--partitions", "2"], &["sqlite has no partitions"]);
    load(&sqlite, &["--split"], &["sqlite has no splits"]);
    load(&sqlite, &["--tablets", "2"], &["sqlite has no tablets"]);
    load(&sqlite, &["--settle", "1m"], &["sqlite", "--settle"]);
    load(postgres, &["--partitions", "5"], &["--partitions 5 for 4 warehouses"]);
    load(postgres, &["--partitions", "2", "--localities", "rack=0,rack=1"], &["postgres has no localities"]);
    load(postgres, &["--scatter"], &["postgres has no scatter"]);
    load(postgres, &["--import-from", "s3://bucket"], &["postgres has no import"]);
    load(postgres, &["--snapshot-rate", "64MiB"], &["postgres has no snapshot rate"]);
    load(postgres, &["--copy-batch", "1000"], &["postgres has no copy"]);
    load(cockroachdb, &["--tablets", "2"], &["cockroachdb has no tablets"]);
    load(cockroachdb, &["--partitions", "2", "--localities", "rack=0"], &["1 places", "2 partitions"]);
    load(cockroachdb, &["--partitions", "2", "--localities", "rack=a'b,x=y"], &["no locality"]);
    load(cockroachdb, &["--localities", "rack=0"], &["--partitions"]);
    load(cockroachdb, &["--split", "5"], &["--split 5 for 4 warehouses"]);
    load(cockroachdb, &["--import-listen", "0.0.0.0:0"], &["--import-url"]);
    load(yugabytedb, &["--partitions", "2"], &["yugabytedb has no partitions"]);
    load(yugabytedb, &["--sharding", "range", "--tablets", "5"], &["--tablets 5 for 4 warehouses"]);
    load(yugabytedb, &["--sharding", "round"], &["hash", "range"]);
    refused(&["check", "--url", postgres, "--as-of", "-10s"], 2, &["postgres can't read the past"]);
    refused(&["check", "--url", cockroachdb, "--as-of", "10s"], 2, &["minus sign"]);
    assert!(files(place.folder.path()).is_empty(), "nothing was touched");
    done(&["load", "--url", &sqlite]);
    refused(&["load", "--url", &sqlite, "--foreign-keys-only"], 2, &["sqlite can't add foreign keys after the load"]);
}
