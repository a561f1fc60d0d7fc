//! `time`: a statement repeated, and two held against each other.

use std::io::{BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use target::{Session, Url};

use crate::bad_input::refused;
use crate::support::{Place, Said, done, json, signal, weighbridge};

/// Text that would end a string, a statement or a comment if it were not quoted.
const HOSTILE: &str = r#"O'Hara"; DROP TABLE t; -- \' \\ /* $1 :id ? é"#;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Runs statements one after the other, as a script would.
fn execute(url: &str, statements: &[&str]) {
    block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        session.commit_each().await.unwrap();
        for sql in statements {
            session.execute(sql).await.unwrap_or_else(|e| panic!("{e} in {sql}"));
        }
    });
}

/// The number that a query returns.
fn number(url: &str, sql: &str) -> i64 {
    block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        session.query(sql, &[]).await.unwrap().only().unwrap().big(0).unwrap()
    })
}

/// Waits until a query returns this number.
fn wait_for(url: &str, sql: &str, wanted: i64) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while number(url, sql) != wanted {
        assert!(Instant::now() < give_up, "{sql} never returned {wanted}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A small table with an index.
fn table(url: &str) {
    let rows: Vec<String> = (1..=300).map(|k| format!("({k}, 'name {}')", k % 100)).collect();
    let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
    execute(url, &["CREATE TABLE t (k INTEGER PRIMARY KEY, name VARCHAR(200))", &insert]);
}

fn times(statement: &Value) -> Vec<f64> {
    statement["timing"]["times_ms"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect()
}

/// What holds on every database.
fn whole_way(url: &str) {
    table(url);
    let place = Place::new();
    // A file, with semicolons in strings and in comments.
    let file = place.text("queries.sql");
    let queries =
        "-- the first; not a statement\nSELECT name FROM t WHERE k = :id; /* ; */\n\nSELECT 'a;b' AS c;\n-- end;\n";
    std::fs::write(&file, queries).unwrap();
    let csv = place.text("parameters.csv");
    std::fs::write(&csv, "id\n7\n8\n").unwrap();
    let timed = json(&["time", "--url", url, "--file", &file, "--csv", &csv, "--repeat", "4"]);
    let statements = timed["statements"].as_array().unwrap();
    assert_eq!(statements.len(), 2, "{timed:#}");
    assert_eq!(statements.iter().map(|s| s["rows"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 1]);
    assert!(statements.iter().all(|s| times(s).len() == 4 && s["timing"]["count"] == 3), "{timed:#}");

    // Text that is hostile comes back as it was, by either protocol, from a file and from a generator.
    execute(url, &["CREATE TABLE said (what VARCHAR(200))"]);
    std::fs::write(&csv, format!("what\n\"{}\"\n", HOSTILE.replace('"', "\"\""))).unwrap();
    for protocol in ["prepared", "simple"] {
        let insert = ["--statement", "INSERT INTO said (what) VALUES (:what)", "--repeat", "3", "--protocol", protocol];
        let timed = json(&[&["time", "--url", url, "--csv", &csv], &insert[..]].concat());
        assert_eq!((&timed["protocol"], &timed["statements"][0]["rows"]), (&protocol.into(), &1.into()));
        let found =
            ["time", "--url", url, "--csv", &csv, "--protocol", protocol, "--repeat", "1", "--rows", "--statement"];
        let said = done(&[&found[..], &["SELECT DISTINCT what FROM said WHERE what = :what"]].concat()).stdout;
        assert!(said.contains(HOSTILE), "{protocol}: {said}");
    }
    assert_eq!(number(url, "SELECT COUNT(*) FROM said"), 6);
    assert_eq!(number(url, "SELECT COUNT(*) FROM t"), 300);

    // Values of generators, and from the rows of a query.
    let drawn = ["--values", "id=uniform(1, 300)", "--pool", "some=SELECT k, name FROM t WHERE k <= 20"];
    let sql = "SELECT k FROM t WHERE k = :id OR (k = :some.k AND name = :some.name)";
    let timed = json(&[&["time", "--url", url, "--statement", sql, "--seed", "7"], &drawn[..]].concat());
    assert_eq!((times(&timed["statements"][0]).len(), &timed["seed"]), (20, &7.into()));
    assert!((1..=2).contains(&timed["statements"][0]["rows"].as_u64().unwrap()), "{timed:#}");

    // Rolled back, nothing is left; committed, everything.
    let delete = ["time", "--url", url, "--statement", "DELETE FROM said", "--repeat", "3", "--transaction"];
    let timed = json(&[&delete[..], &["rollback"]].concat());
    assert_eq!((&timed["transaction"], &timed["statements"][0]["rows"]), (&"rollback".into(), &6.into()));
    assert_eq!(number(url, "SELECT COUNT(*) FROM said"), 6);
    json(&[&delete[..], &["commit"]].concat());
    assert_eq!(number(url, "SELECT COUNT(*) FROM said"), 0);

    // A statement that fails: the database's reason, in a line.
    refused(&["time", "--url", url, "--statement", "SELECT nosuch FROM t"], 1, &["nosuch"]);
    refused(&["time", "--url", url, "--statement", "SELECT k FROM t", "--set", "SELECT nonsense"], 1, &["nonsense"]);
}

#[test]
fn sqlite_repeats_statements() {
    let url = Place::new().sqlite();
    refused(&["time", "--url", &url, "--statement", "SELECT 1"], 1, &["no such file"]);
    let place = Place::new();
    let url = place.sqlite();
    whole_way(&url);

    // The published client's flags, and what a person sees of them.
    let text = done(&[
        "time",
        "--url",
        &url,
        "--statement",
        "SELECT k FROM t LIMIT 2",
        "--repeat",
        "9",
        "--times",
        "--cumulative",
        "--rows",
        "1",
    ])
    .stdout;
    let (_, listed) = text.split_once("times (ms):\n").unwrap();
    let shown: Vec<f64> = listed.lines().next().unwrap().split_whitespace().map(|time| time.parse().unwrap()).collect();
    assert_eq!(shown.len(), 9, "{text}");
    let sum: f64 = text.split_once("1 cumulative: ").unwrap().1.split_once(" ms").unwrap().0.parse().unwrap();
    assert!((sum - shown.iter().sum::<f64>()).abs() <= 0.01 * sum + 0.01, "{text}");
    assert!(text.contains("... and 1 more"), "{text}");
    assert!(!done(&["time", "--url", &url, "--statement", "SELECT 1"]).stdout.contains("times (ms)"));

    // With a warm-up there is no first to be set apart.
    let warm = json(&["time", "--url", &url, "--statement", "SELECT 1", "--warmup", "2", "--repeat", "8"]);
    let timing = &warm["statements"][0]["timing"];
    assert_eq!((&timing["first_ms"], &timing["count"]), (&Value::Null, &8.into()));

    // A statement that never returns.
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    let limited = ["time", "--url", &url, "--statement", endless, "--timeout", "500ms"];
    refused(&limited, 1, &["took longer than 500ms", "WITH RECURSIVE"]);
    refused(&[&limited[..], &["--explain-analyze"]].concat(), 1, &["took longer than 500ms"]);
}

#[test]
fn a_comparison_is_of_pairs() {
    let place = Place::new();
    let url = place.sqlite();
    table(&url);
    let count =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :most) SELECT COUNT(*) FROM n";
    let (few, many) = (count.replace(":most", "10"), count.replace(":most", "100000"));
    let compared = json(&["time", "--url", &url, "--statement", &many, "--against", &few, "--repeat", "12"]);
    let comparison = &compared["comparison"];
    // The first pair, in which both are prepared, is not among them.
    assert_eq!((&comparison["pairs"], compared["statements"].as_array().unwrap().len()), (&11.into(), 2));
    assert!(comparison["factor"].as_f64() > Some(1.0) && comparison["chance"].as_f64() < Some(0.05), "{compared:#}");
    assert!(comparison["interval"][0].as_f64() > Some(1.0), "{compared:#}");
    let text = done(&["time", "--url", &url, "--statement", &many, "--against", &few, "--repeat", "12"]).stdout;
    assert!(text.contains("times as fast (") && text.contains("11 pairs, the order within each drawn"), "{text}");

    // Equals, in the same session: a false alarm is a matter of one in twenty, so half of these have one in a run of
    // thousands. In sessions of their own most of them would.
    let alarms = (1..=8).filter(|seed| {
        let seed = seed.to_string();
        let args =
            ["time", "--url", &url, "--statement", "SELECT COUNT(*) FROM t", "--against", "SELECT COUNT(*) FROM t"];
        let compared = json(&[&args[..], &["--repeat", "40", "--warmup", "5", "--seed", &seed]].concat());
        assert_eq!(compared["comparison"]["pairs"], 40);
        compared["comparison"]["chance"].as_f64() < Some(0.05)
    });
    assert!(alarms.count() < 4);

    // Two databases, and two set-ups.
    let (other, set) = (Place::new(), "PRAGMA cache_size = 100");
    table(&other.sqlite());
    let sql = ["time", "--url", &url, "--statement", "SELECT k FROM t", "--repeat", "21"];
    let against = json(&[&sql[..], &["--against-url", &other.sqlite()]].concat());
    assert_eq!(against["statements"][1]["place"], format!("against: {}", other.sqlite()));
    // In new sessions again and again; a pair is one of medians, and of each session the first is apart.
    let against = json(&[&sql[..], &["--against-set", set]].concat());
    assert_eq!((&against["comparison"]["pairs"], &against["sittings"]), (&10.into(), &10.into()));
    for side in against["statements"].as_array().unwrap() {
        assert_eq!((&side["timing"]["count"], times(side).len(), &side["rows"]), (&11.into(), 21, &300.into()));
    }
    let drawn =
        ["--warmup", "1", "--values", "k=sequence(1000)", "--set", "PRAGMA cache_size = 90", "--against-set", set];
    let insert = ["time", "--url", &url, "--statement", "INSERT INTO t VALUES (:k, 'new')", "--repeat", "10"];
    json(&[&insert[..], &drawn].concat());
    assert_eq!(number(&url, "SELECT COUNT(*) FROM t WHERE name = 'new'"), 40, "10 and 10 of warm-up, on either side");
}

#[test]
fn bad_input_is_known_before_anything_is_run() {
    let place = Place::new();
    let url = place.sqlite();
    table(&url);
    let time = |more: &[&str], words: &[&str]| refused(&[&["time", "--url", &url], more].concat(), 2, words);
    time(&[], &["--statement"]);
    time(&["--statement", "  "], &["--statement"]);
    time(&["--file", &place.text("nosuch.sql")], &["nosuch.sql"]);
    std::fs::write(place.path("empty.sql"), "-- nothing;\n ; \n").unwrap();
    time(&["--file", &place.text("empty.sql")], &["--statement"]);
    let parameter = ["--statement", "DELETE FROM t", "--statement", "SELECT k FROM t WHERE k = :id"];
    time(&parameter, &["`id`"]);
    assert_eq!(number(&url, "SELECT COUNT(*) FROM t"), 300, "a statement was run before all were known");
    let one = ["--statement", "SELECT k FROM t WHERE k = :id"];
    let with = |more: &[&'static str]| [&one[..], more].concat();
    for generator in ["id", "id=nosuch(1)", "id=uniform(2, 1)", "id=uniform(1"] {
        time(&with(&["--values", generator]), &["--values"]);
    }
    time(&[&one[..], &["--csv", &place.text("nosuch.csv")]].concat(), &["nosuch.csv"]);
    for (text, why) in [("id\n", "no rows"), ("", "no rows"), ("id,k\n1\n", "fields")] {
        std::fs::write(place.path("bad.csv"), text).unwrap();
        time(&[&one[..], &["--csv", &place.text("bad.csv")]].concat(), &["bad.csv", why]);
    }
    time(&with(&["--pool", "SELECT"]), &["--pool"]);
    time(&["--statement", "SELECT 1", "--isolation", "serializable"], &["--transaction"]);
    time(&["--statement", "SELECT 1", "--isolation", "dirty"], &["serializable"]);
    time(&["--statement", "SELECT 1", "--isolation", "read-committed", "--transaction", "commit"], &["read-committed"]);
    time(&["--statement", "SELECT 1", "--statement", "SELECT 2", "--against", "SELECT 3"], &["--statement once"]);
    let two = ["--against-url", "postgres://one/db", "--against-url", "postgres://two/db"];
    let one_against_two = ["time", "--url", "postgres://one/db", "--statement", "SELECT 1"];
    refused(&[&one_against_two[..], &two].concat(), 2, &["as many gateways"]);
    time(&["--statement", "SELECT 1", "--repeat", "0"], &["--repeat"]);
    time(&["--statement", "SELECT 1", "--host", "localhost:26257"], &["--host"]);
    refused(&["time", "--url", "null:", "--statement", "SELECT 1"], 2, &["keeps no data"]);
    // The published client's address is one of CockroachDB.
    let host = ["time", "--host", "127.0.0.1:1", "--statement", "SELECT 1", "--repeat", "5", "--times", "--cumulative"];
    refused(&host, 1, &["cockroachdb://root@127.0.0.1:1/movr", "refused"]);
}

/// Starts the command, waits until the server runs the statement `marked` so, interrupts it, and returns what it said.
fn interrupted(url: &str, running: &str, args: &[&str]) -> Said {
    let mut child = weighbridge(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(url, running, 1);
    signal(&child, "-INT");
    let mut stderr = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_to_string(&mut stderr).unwrap();
    let mut said: Said = child.wait_with_output().unwrap().into();
    said.stderr = stderr;
    said
}

#[test]
fn postgres_repeats_statements() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    whole_way(&url);

    // Each gateway in its turn.
    let other = url.replace("127.0.0.1", "localhost");
    let (first, second) = if other == url { (url.as_str(), url.as_str()) } else { (url.as_str(), other.as_str()) };
    let timed =
        json(&["time", "--url", first, "--url", second, "--statement", "SELECT $1 + 1", "--values", "1=uniform(1, 9)"]);
    assert_eq!(timed["statements"].as_array().unwrap().len(), 2, "{timed:#}");
    // Side by side: the times of all sessions, the first of each apart.
    let side_by_side =
        ["--concurrency", "3", "--repeat", "5", "--transaction", "commit", "--isolation", "serializable"];
    let timed = json(&[&["time", "--url", &url, "--statement", "SELECT 1"], &side_by_side[..]].concat());
    assert_eq!((times(&timed["statements"][0]).len(), &timed["statements"][0]["timing"]["count"]), (15, &12.into()));

    // A plan that has become another by the end is shown again; otherwise once.
    let sql = "SELECT name FROM t WHERE name = 'name 7'";
    execute(&url, &["INSERT INTO t SELECT k, 'n' || k FROM generate_series(1000, 20000) k", "ANALYZE t"]);
    let explain = ["time", "--url", &url, "--statement", sql, "--explain", "--repeat", "2"];
    let text = done(&explain).stdout;
    assert!(text.contains("plan:") && !text.contains("plan afterwards:"), "{text}");
    let body = "BEGIN CREATE INDEX IF NOT EXISTS t_by_name ON t (name); RETURN 1; END";
    let make = format!("CREATE FUNCTION make_index() RETURNS INT LANGUAGE plpgsql AS $$ {body} $$");
    execute(&url, &[&make]);
    let text = done(&[&explain[..], &["--statement", "SELECT make_index()"]].concat()).stdout;
    let (before, after) = text.split_once("plan afterwards:").unwrap_or_else(|| panic!("{text}"));
    assert!(!before.contains("t_by_name") && after.contains("t_by_name"), "{text}");

    // A million rows are read and counted, and as many are shown as asked for.
    let million = "SELECT i FROM generate_series(1, 1000000) i";
    let text = done(&["time", "--url", &url, "--statement", million, "--repeat", "1", "--rows", "3"]).stdout;
    assert!(text.contains("... and 999997 more") && text.contains(" 1000000\n"), "{text}");

    // A statement that never returns is broken off, at the server too.
    let running = |mark: &str| {
        format!(
            "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%sleeping {mark}%' AND pid <> pg_backend_pid()"
        )
    };
    for (mark, more) in
        [("plainly", &[][..]), ("simply", &["--protocol", "simple"]), ("explained", &["--explain-analyze"])]
    {
        let sql = format!("SELECT pg_sleep(3600) /* sleeping {mark} */");
        let limited = ["time", "--url", &url, "--timeout", "500ms", "--statement", &sql];
        refused(&[&limited[..], more].concat(), 1, &["took longer than 500ms", "pg_sleep"]);
        assert_eq!(number(&url, &running(mark)), 0, "{mark}");
    }

    // Ctrl-C: what was done is shown. The second statement hangs, the first was done.
    let sleeping = "SELECT pg_sleep(3600) /* sleeping until told */";
    let args = ["time", "--url", &url, "--statement", "SELECT 1 + 1", "--statement", sleeping];
    let said = interrupted(&url, &running("until"), &args);
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert!(said.stderr.contains("error: interrupted") && said.stdout.contains("SELECT 1 + 1"), "{}", said.stdout);
    assert_eq!(number(&url, &running("until")), 0);
    let said = interrupted(&url, &running("until"), &[&args[..], &["--json"]].concat());
    let timed: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&timed["interrupted"], times(&timed["statements"][0]).len()), (&true.into(), 1));
    assert_eq!(times(&timed["statements"][1]).len(), 0);
}

#[test]
fn mariadb_repeats_statements() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    whole_way(&url);
    let running = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(3600)%'";
    let limited = ["time", "--url", &url, "--timeout", "500ms", "--statement", "SELECT SLEEP(3600)"];
    refused(&limited, 1, &["took longer than 500ms", "SLEEP"]);
    assert_eq!(number(&url, running), 0);
    let said = interrupted(&url, running, &["time", "--url", &url, "--statement", "SELECT SLEEP(3600)"]);
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert_eq!(number(&url, running), 0);
}

#[test]
fn tidb_repeats_statements() {
    let Some(server) = lab::tidb_or_skip() else { return };
    server.create_database("bench").unwrap();
    whole_way(&server.url("bench"));
}
