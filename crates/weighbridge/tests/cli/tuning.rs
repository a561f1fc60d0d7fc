//! `tune` and `advise`: what they say, and that they leave everything as it was.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use target::{ScratchSchema, Session, Url};

use crate::bad_input::refused;
use crate::support::{Place, Said, done, json, say, signal, weighbridge};

const TABLES: [&str; 3] = ["users", "vehicles", "rides"];
const SCHEMAS: [&str; 2] = ["weighbridge_tuning", "weighbridge_advice"];

/// What a killed `advise` may leave on a table.
const LEFT: &str = "weighbridge_advice_";

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn query(url: &str, sql: &str) -> i64 {
    block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        session.query(sql, &[]).await.unwrap().only().unwrap().big(0).unwrap()
    })
}

/// The tables of MovR with their columns and indexes, all tables that there are, and our own schemas.
fn catalog(url: &str) -> Vec<String> {
    let url = Url::parse(url).unwrap();
    block_on(async {
        let mut session = Session::connect(&url).await.unwrap();
        let mut seen = Vec::new();
        for table in TABLES {
            seen.push(format!("{:?}", session.table_info(table).await.unwrap()));
        }
        let topology = target::topology::read(&mut session).await;
        let name = |part: &target::topology::Part| format!("{} {:?} {:?}", part.table, part.index, part.partition);
        seen.extend(topology.tables.iter().map(name));
        for schema in SCHEMAS {
            seen.push(format!("{schema} {}", ScratchSchema::for_url(&url, schema).unwrap().exists().await.unwrap()));
        }
        seen
    })
}

/// Starts the command, reads its standard error until `until` says that it is time, and sends it a signal.
fn signalled(args: &[&str], name: &str, until: impl FnMut(&str) -> bool) -> Said {
    disturbed(args, until, |child| signal(child, name))
}

/// The same with something else than a signal.
fn disturbed(args: &[&str], mut until: impl FnMut(&str) -> bool, disturb: impl FnOnce(&Child)) -> Said {
    let mut child = weighbridge(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut stderr = String::new();
    while !until(&stderr) {
        assert!(reader.read_line(&mut stderr).unwrap() > 0, "{args:?} ended too early: {stderr}");
    }
    disturb(&child);
    reader.read_to_string(&mut stderr).unwrap();
    let mut said: Said = child.wait_with_output().unwrap().into();
    said.stderr = stderr;
    said
}

#[test]
fn lessons_are_listed_and_shown_in_each_databases_own_words() {
    let listed = json(&["tune", "list"]);
    let lessons = listed.as_array().unwrap();
    let text = done(&["tune", "list"]).stdout;
    assert!(lessons.len() > 20 && lessons.iter().all(|lesson| text.contains(lesson["name"].as_str().unwrap())));

    let show = |lesson: &str, url: &str| done(&["tune", "show", lesson, "--url", url]).stdout;
    for (lesson, url, words) in [
        ("covering-index", "cockroachdb://root@h/db", "STORING (credit_card)"),
        ("covering-index", "postgres://me@h/db", "INCLUDE (credit_card)"),
        ("covering-index", "yugabytedb://me@h/db", "INCLUDE (credit_card)"),
        ("covering-index", "mariadb://me@h/db", "ON users (name, credit_card)"),
        ("covering-index", "sqlite:never.db", "Published: 1.4 ms before, 0.88 ms after"),
        ("multi-row-upsert", "tidb://me@h/db", "ON DUPLICATE KEY UPDATE"),
        ("multi-row-upsert", "tidb://me@h/db", "VALUES {100|(:id, 'boston', :name, 'tuning')} ON DUPLICATE KEY UPDATE"),
        ("multi-row-upsert", "sqlite:never.db", "ON CONFLICT (city, id)"),
        ("batch-size", "sqlite:never.db", "200 times: INSERT INTO tuning_batch"),
        ("multi-row-upsert", "cockroachdb://root@h/db", "UPSERT INTO"),
        ("stale-reads", "tidb://me@h/db", "AS OF TIMESTAMP"),
        ("stale-reads", "sqlite:never.db", "Not offered on sqlite"),
    ] {
        assert!(show(lesson, url).contains(words), "{lesson} on {url}: {}", show(lesson, url));
    }
    // Each lesson has something to say on every database; that of the regions is told by its page.
    assert!(show("regions", "sqlite:never.db").contains("gateway"));
    refused(&["tune", "run", "regions", "prepared", "--url", "sqlite:never.db"], 2, &["alone"]);
    for lesson in lessons.iter().filter(|lesson| lesson["name"] != "regions") {
        for url in [
            "sqlite:never.db",
            "postgres://h/db",
            "mysql://h/db",
            "mariadb://h/db",
            "tidb://h/db",
            "cockroachdb://h/db",
        ] {
            let shown = show(lesson["name"].as_str().unwrap(), url);
            assert!(shown.contains("Before:") && shown.contains("After:") || shown.contains("Not offered"), "{shown}");
        }
    }
    for command in ["show", "run"] {
        refused(&["tune", command, "nosuch", "--url", "sqlite:never.db"], 2, &["`nosuch`", "covering-index"]);
    }
    refused(&["tune", "run", "--url", "sqlite:never.db"], 2, &["LESSONS"]);
    refused(&["tune", "run", "--all", "prepared", "--url", "sqlite:never.db"], 2, &["--all"]);
    refused(&["tune", "run", "--all", "--url", "null:"], 2, &["keeps no data"]);
    assert!(!std::path::Path::new("never.db").exists());
}

#[test]
fn a_lesson_is_measured_told_in_json_and_written_as_a_page() {
    let place = Place::new();
    let (url, page) = (place.sqlite(), place.text("tuning.html"));
    let run = ["tune", "run", "covering-index", "batch-size", "stale-reads", "--url", &url, "--scale", "0.005"];
    let run =
        [&run[..], &["--repeat", "6", "--rounds", "6", "--seed", "3", "--budget", "1s", "--html", &page]].concat();
    let result = json(&run);
    assert_eq!((&result["interrupted"], &result["seed"], &result["rides"]), (&false.into(), &3.into(), &5000.into()));
    let lessons = result["lessons"].as_array().unwrap();
    assert_eq!(
        lessons.iter().map(|lesson| &lesson["name"]).collect::<Vec<_>>(),
        ["covering-index", "batch-size", "stale-reads"]
    );
    for lesson in &lessons[..2] {
        assert_eq!(lesson["outcome"], "measured", "{lesson:#}");
        let [before, after] = ["before", "after"].map(|side| lesson[format!("{side}_ms")].as_f64().unwrap());
        assert_eq!(lesson["before"]["timing"]["median_ms"].as_f64(), Some(before));
        assert_eq!(lesson["after"]["timing"]["median_ms"].as_f64(), Some(after));
        let [low, factor, high] =
            [&lesson["interval"][0], &lesson["speedup"], &lesson["interval"][1]].map(Value::as_f64);
        assert!(low > Some(0.0) && low <= factor && factor <= high, "{lesson:#}");
    }
    let covering = &lessons[0];
    assert!(covering["plan"]["after"].as_str().unwrap().contains("users_name_card"), "{covering:#}");
    assert_eq!(covering["published"]["before_ms"], 1.4);
    assert_eq!(lessons[1]["curve"].as_array().unwrap().len(), 4, "{:#}", lessons[1]);
    assert_eq!((&lessons[2]["outcome"], &lessons[2]["before_ms"]), (&"not-offered".into(), &Value::Null));

    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    for lesson in lessons {
        assert!(html.contains(&format!("id=\"lesson-{}\"", lesson["name"].as_str().unwrap())));
    }
    for outside in ["href=\"http", " src=", "url(", "@import", "fetch("] {
        assert!(!html.contains(outside), "the page asks for something: {outside}");
    }
    assert!(!place.path("bench.db").exists(), "somebody's file was made");
}

/// Ctrl-C in the midst of all lessons, then a kill.
fn a_course_that_is_broken_off(url: &str) {
    done(&["load", "movr", "--url", url, "--scale", "0.0001"]);
    let before = catalog(url);
    let run =
        ["tune", "run", "--all", "--url", url, "--scale", "0.01", "--repeat", "6", "--rounds", "6", "--budget", "1s"];
    let said = signalled(&run, "-INT", |heard| heard.lines().count() >= 3);
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert!(said.stderr.contains("error: interrupted") && said.stdout.contains("two-columns"), "{}", said.stderr);
    assert_eq!(catalog(url), before, "left behind after Ctrl-C");

    signalled(&run, "-KILL", |heard| heard.lines().count() >= 2);
    assert_ne!(catalog(url), before);
    // Somebody else may be at work there: it is said, not removed.
    refused(&run, 2, &["weighbridge_tuning", "there already", "weighbridge tune clean"]);
    let cleaned = done(&["tune", "clean", "--url", url]).stdout;
    assert!(cleaned.starts_with("removed ") && cleaned.contains("weighbridge_tuning"), "{cleaned}");
    assert_eq!(catalog(url), before);
    assert!(done(&["tune", "clean", "--url", url]).stdout.starts_with("nothing to remove"));
}

#[test]
fn a_broken_off_course_is_cleaned_up_on_sqlite() {
    a_course_that_is_broken_off(&Place::new().sqlite());
}

#[test]
fn a_broken_off_course_is_cleaned_up_on_postgres() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    a_course_that_is_broken_off(&url);

    let run = ["tune", "run", "--all", "--url", &url, "--scale", "0.001", "--repeat", "6", "--budget", "1s"];
    let said = disturbed(&run, |heard| heard.lines().count() >= 2, |_| server.kill().unwrap());
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert!(said.stdout.contains("two-columns"), "what was measured is told: {}", said.stdout);
    let told = said.stderr.lines().filter(|line| line.contains("connect")).count();
    assert!(told == 1 && said.stderr.contains("`weighbridge tune clean` removes it"), "{}", said.stderr);
    let refused = say(&["tune", "clean", "--url", &url]).stderr;
    assert!(refused.contains("can't connect to") && refused.contains("refused"), "{refused}");
    assert!(!refused.contains("is lost"), "a connection that was never there: {refused}");
    server.restart().unwrap();
    assert!(done(&["tune", "clean", "--url", &url]).stdout.starts_with("removed "));
}

/// Indexes that hold some rows only, or no column, are named, and stand in nobody's way.
fn names_what_is_no_plain_index(url: &str) {
    done(&["load", "movr", "--url", url, "--scale", "0.0001"]);
    block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        session.execute("CREATE INDEX some_names ON users (name) WHERE city = 'rome'").await.unwrap();
        session.execute("CREATE INDEX low_names ON users (lower(name), credit_card)").await.unwrap();
    });
    let advice = &advised(url, &[TWO_COLUMNS], &["--json"])[0];
    let notes = advice["notes"].to_string();
    for part in ["some_names on users is partial", "low_names on users is by an expression"] {
        assert!(notes.contains(part), "{notes}");
    }
    candidate(advice, "an index on users (name)");
}

#[test]
fn advise_names_partial_indexes_and_those_by_an_expression() {
    names_what_is_no_plain_index(&Place::new().sqlite());
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    names_what_is_no_plain_index(&server.url("bench"));
}

/// The documents' statements; the names are those of users that are there.
const ALL_COLUMNS: &str = "SELECT * FROM users WHERE name = :u.name";
const TWO_COLUMNS: &str = "SELECT name, credit_card FROM users WHERE name = :u.name";
const JOIN: &str = "SELECT COUNT(DISTINCT users.id) FROM users INNER JOIN rides ON rides.rider_id = users.id \
     WHERE start_time BETWEEN '2018-07-20 00:00:00' AND '2018-07-21 00:00:00'";
const ONE_DAY: &str =
    "SELECT rider_id FROM rides WHERE start_time BETWEEN '2018-07-20 00:00:00' AND '2018-07-21 00:00:00'";
const UPDATE: &str = "UPDATE rides SET revenue = 0 WHERE start_time = '2018-07-20 00:00:00'";

/// What is to be found for each.
const DOCUMENTS: [(&str, &str); 4] = [
    (ALL_COLUMNS, "an index on users (name)"),
    (TWO_COLUMNS, "an index on users (name), holding credit_card"),
    (UPDATE, "an index on rides (start_time)"),
    (JOIN, "an index on rides (start_time), holding rider_id"),
];

const POOL: [&str; 2] = ["--pool", "u=SELECT name FROM users"];

/// Few executions: what is looked at is what the database does with an index, not the clock.
const QUICK: [&str; 8] = ["--try", "--rounds", "6", "--repeat", "2", "--budget", "1s", "--json"];

fn candidate<'a>(advice: &'a Value, what: &str) -> &'a Value {
    let candidates = advice["candidates"].as_array().unwrap();
    candidates.iter().find(|candidate| candidate["what"] == what).unwrap_or_else(|| panic!("no {what} in {advice:#}"))
}

/// The candidate was made, and the statement was run by it.
fn expect_taken(advice: &Value, what: &str) {
    let candidate = candidate(advice, what);
    let tried = candidate["tried"].as_str().unwrap();
    assert!(["measured", "weaker"].contains(&tried), "{candidate:#}");
    let accesses = candidate["plan"]["accesses"].as_array().unwrap();
    let ours = accesses.iter().any(|access| access["index"].as_str().is_some_and(|index| index.starts_with(LEFT)));
    assert!(ours, "{candidate:#}");
}

fn advised(url: &str, statements: &[&str], more: &[&str]) -> Value {
    let mut args = vec!["advise", "--url", url];
    statements.iter().for_each(|sql| args.extend(["--statement", sql]));
    let said = done(&[&args[..], &POOL, more].concat());
    serde_json::from_str::<Value>(&said.stdout).unwrap()["statements"].take()
}

/// What `advise` finds, and that nothing is left of it. The last of the statements is one on rides, and slow.
fn finds_the_documents_indexes(url: &str, scale: &str, statements: &[(&str, &str)]) {
    done(&["load", "movr", "--url", url, "--scale", scale]);
    let before = catalog(url);
    let (texts, expected): (Vec<&str>, Vec<&str>) = statements.iter().copied().unzip();
    let proposed = advised(url, &texts, &["--json"]);
    for advice in proposed.as_array().unwrap() {
        let tried = advice["candidates"].as_array().unwrap().iter().map(|candidate| &candidate["tried"]);
        assert!(tried.clone().count() > 0 && tried.clone().all(|tried| tried == "not-tried"), "{advice:#}");
    }
    assert_eq!(catalog(url), before, "something was changed without --try");

    let sum = "SELECT CAST(SUM(revenue) AS DECIMAL(20)) FROM rides";
    let revenue = query(url, sum);
    let found = advised(url, &texts, &QUICK);
    for (advice, expected) in found.as_array().unwrap().iter().zip(expected) {
        expect_taken(advice, expected);
        for candidate in advice["candidates"].as_array().unwrap().iter().filter(|c| c["tried"] == "measured") {
            let pays = candidate["statements"][0].as_str().unwrap().starts_with("CREATE INDEX");
            assert!(!pays || candidate["writes"]["after_ms"].as_f64() > Some(0.0), "{candidate:#}");
            assert_eq!(candidate["reason"], Value::Null, "{candidate:#}");
            assert_eq!(candidate["comparison"]["pairs"], 6, "{candidate:#}");
        }
    }
    assert_eq!(catalog(url), before, "left behind");
    assert_eq!(query(url, sum), revenue, "an UPDATE was not rolled back");

    // Ctrl-C while candidates are tried; the statement before is told.
    let args = ["advise", "--url", url, "--try", "--statement", "SELECT * FROM users LIMIT 1", "--statement"];
    let said =
        signalled(&[&args[..], &texts[texts.len() - 1..]].concat(), "-INT", |heard| heard.contains("start_time"));
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert!(said.stderr.contains("error: interrupted") && said.stdout.contains("LIMIT 1"), "{}", said.stdout);
    assert_eq!(catalog(url), before, "left behind after Ctrl-C");
}

/// On copies of the tables.
fn advises_on_copies(url: &str) {
    let before = catalog(url);
    let copied = advised(url, &[JOIN], &[&QUICK[..], &["--copy", "5000"]].concat());
    expect_taken(&copied[0], "an index on rides (start_time), holding rider_id");
    assert!(copied[0]["place"].as_str().unwrap().contains("copy of the tables with at most 5000 rows"), "{copied:#}");
    assert_eq!(catalog(url), before, "left behind by copies");
}

/// An index that a killed `advise` left, and its schema, are removed by the next one.
fn clears_up_after_a_kill(url: &str) {
    let before = catalog(url);
    let left = || {
        block_on(async {
            let mut session = Session::connect(&Url::parse(url).unwrap()).await.ok()?;
            let rides = session.table_info("rides").await.ok()??;
            Some(rides.indexes.iter().any(|index| index.name.starts_with(LEFT)))
        })
        .unwrap_or_default()
    };
    let args = ["advise", "--url", url, "--try", "--repeat", "1000", "--statement", JOIN];
    let caught = (0..10).any(|_| {
        let mut child = weighbridge(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let give_up = Instant::now() + Duration::from_secs(60);
        while !left() && Instant::now() < give_up && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        signal(&child, "-KILL");
        child.wait().unwrap();
        left()
    });
    assert!(caught, "no index was left");
    let said = say(&["advise", "--url", url, "--statement", JOIN]);
    assert!(said.status == 0 && left(), "without --try nothing is dropped: {}", said.stderr);
    let said = done(&["advise", "--url", url, "--try", "--repeat", "1", "--budget", "1s", "--statement", JOIN]);
    for words in ["dropping the index weighbridge_advice_", "removing ", "left by an `advise` that was killed"] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    assert_eq!(catalog(url), before);
}

#[test]
fn advise_finds_indexes_on_sqlite() {
    let place = Place::new();
    let url = place.sqlite();
    refused(&["advise", "--url", &url, "--statement", "SELECT 1"], 1, &["no such file"]);
    finds_the_documents_indexes(&url, "0.02", &DOCUMENTS);
    advises_on_copies(&url);
    clears_up_after_a_kill(&url);

    let advise = |more: &[&str], words: &[&str]| refused(&[&["advise", "--url", &url], more].concat(), 2, words);
    advise(&[], &["--statement"]);
    advise(&["--statement", "SELECT FROM WHERE"], &["can't read the statement"]);
    advise(&["--statement", "CREATE TABLE a (k INT)"], &["SELECT, UPDATE and DELETE"]);
    advise(&["--statement", "SELECT k FROM nosuch WHERE k = 1"], &["none of the statement's tables"]);
    advise(&["--statement", ALL_COLUMNS], &["`u.name`"]);
    advise(&["--statement", JOIN, "--copy", "10"], &["--try"]);
    advise(&["--file", &place.text("nosuch.sql")], &["nosuch.sql"]);

    // What a person sees.
    let text =
        done(&["advise", "--url", &url, "--statement", "SELECT * FROM rides WHERE date(start_time) = '2018-07-20'"]);
    assert!(text.stdout.contains("note: `start_time` is compared inside an expression"), "{}", text.stdout);
    let text = done(&["advise", "--url", &url, "--statement", JOIN]).stdout;
    assert!(text.contains("nothing was tried (--try measures each)"), "{text}");
    assert!(text.contains("    CREATE INDEX rides_by_start_time ON rides (start_time);"), "{text}");
}

#[test]
fn advise_finds_indexes_on_postgres() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    finds_the_documents_indexes(&url, "0.02", &DOCUMENTS);
    advises_on_copies(&url);
    clears_up_after_a_kill(&url);
}

#[test]
fn advise_finds_indexes_on_mariadb() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    server.create_database("bench").unwrap();
    finds_the_documents_indexes(&server.url("bench"), "0.02", &DOCUMENTS);
    advises_on_copies(&server.url("bench"));
}

#[test]
fn advise_finds_indexes_on_tidb() {
    let Some(server) = lab::tidb_or_skip() else { return };
    server.create_database("bench").unwrap();
    // An index takes it half a second, so there are fewer.
    let statements = [DOCUMENTS[1], (ONE_DAY, "an index on rides (start_time), holding rider_id")];
    finds_the_documents_indexes(&server.url("bench"), "0.004", &statements);
}
