//! CockroachDB: every statement that a command sends passes CockroachDB's own parser, and the whole conversation works
//! against PostgreSQL at SERIALIZABLE, whose refusals (40001) are of the same kind.
//!
//! What PostgreSQL has no words for (splits, zones, cluster settings) is answered emptily, behind the tap; an IMPORT is
//! done as a COPY from the same addresses. So the fetching of rows is real, and the spreading is a matter of grammar.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use target::{Session, Url};

use crate::support::{Place, done, json, say};
use crate::tap::Tap;

/// PostgreSQL's way of an IMPORT.
const IMPORT: &str = "
CREATE FUNCTION import_csv(relation TEXT, columns TEXT, urls TEXT[])
RETURNS TABLE (job_id BIGINT, status TEXT, fraction_completed FLOAT8, rows BIGINT) AS $$
DECLARE url TEXT; fetched BIGINT; total BIGINT := 0;
BEGIN
  FOREACH url IN ARRAY urls LOOP
    EXECUTE format('COPY %s (%s) FROM PROGRAM %L WITH (FORMAT csv)', relation, columns, format('curl -sSf %s', url));
    GET DIAGNOSTICS fetched = ROW_COUNT;
    total := total + fetched;
  END LOOP;
  RETURN QUERY SELECT 1::BIGINT, 'succeeded', 1::FLOAT8, total;
END $$ LANGUAGE plpgsql";

fn to_postgres(sql: &str) -> Result<String, String> {
    let begins = |words: &str| sql.starts_with(words);
    let alters_spread =
        begins("ALTER TABLE") && [" SPLIT AT ", " SCATTER", " PARTITION BY "].iter().any(|clause| sql.contains(clause));
    Ok(if alters_spread || begins("ALTER INDEX") || begins("ALTER PARTITION") || begins("SET CLUSTER SETTING") {
        "SELECT 1".to_owned()
    } else if begins("SHOW CLUSTER SETTING") {
        "SELECT '32 MiB'".to_owned()
    } else if sql.contains("[SHOW CLUSTER SETTINGS]") {
        "SELECT name, setting FROM pg_settings WHERE name = 'fsync'".to_owned()
    } else if sql.contains("[SHOW TABLES]") {
        "SELECT CAST(tablename AS TEXT) AS table_name FROM pg_tables WHERE schemaname = 'public'".to_owned()
    } else if sql.contains("crdb_internal.kv_store_status") {
        "SELECT CAST(0 AS INT8)".to_owned()
    } else if sql == "SELECT version()" {
        "SELECT 'CockroachDB CCL v0.0.0 (PostgreSQL behind a tap)'".to_owned()
    } else if let Some(import) = sql.strip_prefix("IMPORT INTO ") {
        let (table, rest) = import.split_once(" (").unwrap();
        let (columns, rest) = rest.split_once(") CSV DATA (").unwrap();
        let (urls, _) = rest.split_once(") WITH nullif = ''").unwrap();
        format!("SELECT * FROM import_csv('{table}', '{columns}', ARRAY[{urls}])")
    } else if let Some((begin, _)) = sql.split_once(", AS OF SYSTEM TIME ") {
        begin.to_owned()
    } else {
        sql.replace(" NOT VISIBLE", "")
    })
}

/// The program around CockroachDB's parser, or `None` (with the reason) where there is no Go.
///
/// # Panics
/// If it can't be built with `CI=true`, where a test must not be skipped.
fn parser() -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/cockroachdb-parser.sh");
    let built = Command::new(script).output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    match built.status.success() {
        true => Some(String::from_utf8(built.stdout).unwrap().trim().to_owned()),
        false if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("CockroachDB's parser: {said}"),
        false => {
            eprintln!("skipped: CockroachDB's parser: {said}");
            None
        }
    }
}

/// Whether the parser takes all texts, and what it said.
fn parse(parser: &str, texts: &BTreeSet<String>) -> (bool, String) {
    let mut child = Command::new(parser).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: String = texts.iter().map(|text| serde_json::to_string(text).unwrap() + "\n").collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_parser_refuses_what_cockroachdb_does_not_know() {
    let Some(parser) = parser() else { return };
    for refused in ["VACUUM (ANALYZE) warehouse", "CREATE TABLE t (k INT PRIMARY KEY) SPLIT INTO 3 TABLETS"] {
        let texts = ["SELECT 1", refused].map(str::to_owned).into();
        let (taken, said) = parse(&parser, &texts);
        assert!(!taken && said.contains(refused) && said.contains("2 parsed, 1 refused"), "{said}");
    }
}

/// A query's only number, asked of the server itself.
fn number(url: &str, sql: &str) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        session.query(sql, &[]).await.unwrap().only().unwrap().big(0).unwrap()
    })
}

/// Runs SQL at the server itself.
fn execute(url: &str, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        Session::connect(&Url::parse(url).unwrap()).await.unwrap().execute(sql).await.unwrap();
    });
}

/// Commands that take a URL, beside those that the test calls itself: whatever they send is heard, too.
fn other_commands() -> Vec<String> {
    let help = done(&["--help"]).stdout;
    let commands = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    // A command's line is indented by two; what its description needs more, by more.
    let lines = commands.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    let known = ["demo", "load", "run", "check", "help"];
    let others = names.filter(|name| !known.contains(name));
    others.filter(|name| done(&["help", name]).stdout.contains("--url")).map(str::to_owned).collect()
}

#[test]
fn every_statement_of_every_command_passes_the_official_parser() {
    let Some(parser) = parser() else { return };
    let Some(server) = lab::postgres_or_skip() else { return };
    let tap = Tap::start(&server, "bench", to_postgres);
    let (url, direct, place) = (tap.url("cockroachdb"), server.url("bench"), Place::new());
    execute(&direct, IMPORT);

    // COPY, with all that can be asked of the cluster.
    let spread = ["--partitions", "2", "--split", "--scatter", "--snapshot-rate", "64MiB", "--settle", "5m"];
    let load = ["load", "--url", &url, "--warehouses", "2", "--foreign-keys"];
    assert_eq!(json(&[&load[..], &spread].concat())["complete"], true);
    assert_eq!(json(&["check", "--url", &url])["passed"], true);
    assert_eq!(json(&["check", "--url", &url, "--as-of", "-1s"])["passed"], true);
    assert_eq!(number(&direct, "SELECT COUNT(DISTINCT row_id) FROM history"), 60_000);

    // Every style, at SERIALIZABLE, with conflicts; and at the other level on offer.
    let targets = json(&["targets"]);
    let cockroachdb =
        targets["targets"].as_array().unwrap().iter().find(|target| target["name"] == "cockroachdb").unwrap();
    let styles = cockroachdb["styles"].as_array().unwrap().iter().map(|style| style.as_str().unwrap());
    let mut retries = 0;
    for (round, style) in styles.enumerate() {
        let out = place.text(&format!("run-{round}"));
        let run = ["run", "--url", &url, "--pacing", "none", "--connections", "8", "--ramp", "1s", "--duration", "4s"];
        let run = json(&[&run[..], &["--style", style, "--check", "--out", &out]].concat());
        assert_eq!((&run["isolation"], &run["target"]["kind"]), (&"serializable".into(), &"cockroachdb".into()));
        assert_eq!(run["target"]["placement"]["localities"], "rack=0,rack=1");
        assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
        assert!(run["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{run:#}");
        for figures in run["transactions"].as_object().unwrap().values() {
            assert_eq!(figures["errors"], 0, "{run:#}");
            retries += figures["retries"].as_u64().unwrap();
        }
    }
    assert!(retries > 0, "PostgreSQL refused nothing at SERIALIZABLE");
    let out = place.text("run-rc");
    let weaker =
        ["--isolation", "read-committed", "--pacing", "none", "--ramp", "1s", "--duration", "2s", "--out", &out];
    done(&[&["run", "--url", &url, "--shard", "1/1"][..], &weaker].concat());

    // IMPORT from this client; the second client's slice; foreign keys afterwards.
    let import = ["--import-listen", "127.0.0.1:0", "--partitions", "2", "--localities", "region=a,region=b"];
    let first = ["load", "--url", &url, "--warehouses", "1", "--total-warehouses", "2", "--replace"];
    assert_eq!(json(&[&first[..], &import].concat())["complete"], false);
    let second = ["load", "--url", &url, "--warehouses", "1", "--first-warehouse", "2", "--total-warehouses", "2"];
    let loaded = json(&[&second[..], &["--import-listen", "127.0.0.1:0"]].concat());
    assert_eq!((&loaded["complete"], &loaded["tables"]["stock"]["rows"]), (&true.into(), &100_000.into()));
    done(&["load", "--url", &url, "--foreign-keys-only"]);
    assert_eq!(json(&["check", "--url", &url])["passed"], true);

    // A load that died between an import and its record.
    execute(
        &direct,
        "DELETE FROM weighbridge_load WHERE step = 'history'; DELETE FROM weighbridge WHERE name = 'complete'",
    );
    done(&["load", "--url", &url, "--resume", "--import-listen", "127.0.0.1:0"]);
    assert_eq!(number(&direct, "SELECT COUNT(*) FROM history"), 60_000);

    // IMPORT from files.
    let folder = place.text("csv");
    let data = ["--warehouses", "2", "--seed", "7", "--load-time", "2026-11-21T12:00:00Z"];
    done(&[&["generate", "--out", &folder][..], &data].concat());
    for folder in [place.folder.path(), Path::new(&folder)] {
        std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let from = format!("file://{folder}");
    done(&[&["load", "--url", &url, "--replace", "--split", "2", "--import-from", &from][..], &data].concat());
    assert_eq!(json(&["check", "--url", &url])["passed"], true);

    for command in other_commands() {
        say(&[&command, "--url", &url]);
    }

    let texts = tap.texts();
    for kind in [
        "COPY ",
        "IMPORT ",
        "SPLIT AT",
        "SCATTER",
        "PARTITION BY RANGE",
        "CONFIGURE ZONE",
        "AS OF SYSTEM TIME",
        "SET CLUSTER SETTING",
        "INDEX customer@customer_by_name SPLIT",
        "crdb_internal.gossip_nodes",
        "[SHOW RANGES FROM CURRENT_CATALOG WITH INDEXES, DETAILS]",
        "[SHOW RANGES FROM TABLE customer]",
        "[SHOW PARTITIONS FROM TABLE customer]",
        "[SHOW ZONE CONFIGURATIONS]",
        "FOREIGN KEY",
        "weighbridge_fleet SET seen_us",
        "COMMIT",
        "ROLLBACK",
    ] {
        assert!(texts.iter().any(|text| text.contains(kind)), "no {kind} was heard");
    }
    let (taken, said) = parse(&parser, &texts);
    assert!(taken, "{said}");
    eprintln!("CockroachDB's parser: {said}");
}
