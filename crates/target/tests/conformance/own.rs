//! Statements of the user's own: how they travel, how they are shown, and how they are broken off.

use std::time::Duration;

use target::plan::How;
use target::{Access, OwnedValue, Protocol, ScratchSchema, Session, Url, Value};

use crate::{Case, cases};

pub(crate) const CASES: &[Case] = cases![
    a_text_means_the_same_as_a_literal_and_as_a_value,
    a_statement_commits_by_itself_and_a_transaction_can_be_rolled_back,
    types_that_the_workload_lacks_can_be_sent_and_read,
    a_plan_tells_a_seek_from_a_scan_and_counts_what_was_read,
    a_plan_of_a_change_changes_nothing,
    a_statement_that_does_not_end_can_be_broken_off,
    a_schema_of_our_own_leaves_nothing,
];

/// A session as the users' statements have it, in a schema of its own.
async fn session(url: &Url, name: &str) -> (ScratchSchema, Session) {
    let schema = ScratchSchema::for_url(url, name).unwrap();
    schema.create().await.unwrap();
    let session = schema.connect().await.unwrap();
    (schema, session)
}

async fn a_text_means_the_same_as_a_literal_and_as_a_value(url: &Url) {
    let (schema, mut session) = session(url, "own_texts").await;
    session.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR(80))").await.unwrap();
    let dialect = session.dialect();
    let texts =
        ["plain", "O'Hara", "'; DROP TABLE t; --", r"back\slash", r"\'", "$1 ?1 ? :name", "ünï ☃", "", "\"", "`"];
    for (k, text) in texts.iter().enumerate() {
        let by_value = format!("INSERT INTO t (k, v) VALUES ({}, {})", dialect.place(1), dialect.place(2));
        session.ask(&by_value, &[Value::Int(k as i64), (*text).into()], Protocol::Prepared).await.unwrap();
        let literal = dialect.literal(&OwnedValue::Text((*text).to_owned()));
        let same = format!("SELECT k FROM t WHERE v = {literal} AND k = {k}");
        let found = session.ask(&same, &[], Protocol::Simple).await.unwrap();
        assert_eq!(found.len(), 1, "{text}: {same}");
        let read = session.ask(&format!("SELECT v FROM t WHERE k = {k}"), &[], Protocol::Prepared).await.unwrap();
        assert_eq!(read.only().unwrap().value(0).unwrap().to_string(), *text);
    }
    schema.remove().await.unwrap();
}

async fn a_statement_commits_by_itself_and_a_transaction_can_be_rolled_back(url: &Url) {
    let (schema, mut session) = session(url, "own_commits").await;
    session.execute("CREATE TABLE t (k INTEGER PRIMARY KEY)").await.unwrap();
    for protocol in [Protocol::Simple, Protocol::Prepared] {
        let key = if protocol == Protocol::Simple { 1 } else { 2 };
        let inserted = session.ask(&format!("INSERT INTO t (k) VALUES ({key})"), &[], protocol).await.unwrap();
        assert_eq!(inserted.affected(), 1);
    }
    let level = session.dialect().default_isolation();
    session.begin(level, Access::ReadWrite);
    session.ask("DELETE FROM t", &[], Protocol::Prepared).await.unwrap();
    session.rollback().await.unwrap();
    let mut other = schema.connect().await.unwrap();
    let left = other.ask("SELECT k FROM t ORDER BY k", &[], Protocol::Simple).await.unwrap();
    assert_eq!(left.len(), 2);
    schema.remove().await.unwrap();
}

async fn types_that_the_workload_lacks_can_be_sent_and_read(url: &Url) {
    let (schema, mut session) = session(url, "own_types").await;
    let (uuid, json) = match session.dialect().name() {
        "postgres" => ("UUID", "JSONB"),
        "sqlite" => ("TEXT", "TEXT"),
        _ => ("CHAR(36)", "JSON"),
    };
    let sql = format!("CREATE TABLE t (k INTEGER PRIMARY KEY, u {uuid}, j {json}, f DOUBLE PRECISION, d DATE)");
    session.execute(&sql).await.unwrap();
    let places: Vec<String> = (1..=5).map(|number| session.dialect().place(number)).collect();
    let sql = format!("INSERT INTO t (k, u, j, f, d) VALUES ({})", places.join(", "));
    let key = "01234567-89ab-4def-8123-456789abcdef";
    // As a CSV has them: all texts.
    let values = ["1", key, r#"{"a": 1}"#, "0.5", "2026-11-21"].map(Value::Text);
    session.ask(&sql, &values, Protocol::Prepared).await.unwrap();
    for protocol in [Protocol::Simple, Protocol::Prepared] {
        let read = session.ask("SELECT k, u, j, f FROM t", &[], protocol).await.unwrap();
        let row = read.only().unwrap();
        let cells: Vec<String> = (0..4).map(|at| row.value(at).unwrap().to_string()).collect();
        assert_eq!(cells, ["1", key, r#"{"a": 1}"#, "0.5"], "{protocol:?}");
    }
    schema.remove().await.unwrap();
}

/// A thousand rows, a key, and an index on a column that repeats.
async fn numbers(session: &mut Session) {
    session.execute("CREATE TABLE numbers (k INTEGER PRIMARY KEY, g INTEGER, t VARCHAR(20))").await.unwrap();
    for hundred in 0..10 {
        let rows: Vec<String> =
            (hundred * 100..hundred * 100 + 100).map(|k| format!("({k}, {}, 'x')", k % 50)).collect();
        session.execute(&format!("INSERT INTO numbers (k, g, t) VALUES {}", rows.join(", "))).await.unwrap();
    }
    let analyze = session.dialect().analyze("numbers");
    session.execute(&analyze).await.unwrap();
}

async fn a_plan_tells_a_seek_from_a_scan_and_counts_what_was_read(url: &Url) {
    let (schema, mut session) = session(url, "own_plans").await;
    numbers(&mut session).await;
    let sql = "SELECT g FROM numbers WHERE g = 7";
    let scan = session.plan(sql, true).await.unwrap().unwrap();
    assert_eq!(scan.accesses.len(), 1, "{scan:#?}");
    assert_ne!(scan.accesses[0].how, How::Seek, "{scan:#?}");
    session.execute("CREATE INDEX numbers_g ON numbers (g)").await.unwrap();
    let analyze = session.dialect().analyze("numbers");
    session.execute(&analyze).await.unwrap();
    for run in [false, true] {
        let seek = session.plan(sql, run).await.unwrap().unwrap();
        assert_eq!((seek.accesses.len(), seek.accesses[0].how), (1, How::Seek), "{seek:#?}");
        assert_eq!(seek.accesses[0].index.as_deref(), Some("numbers_g"), "{seek:#?}");
        assert_eq!(seek.work.is_some(), run, "{seek:#?}");
        if run {
            assert!(seek.work < scan.work, "{seek:#?} against {scan:#?}");
        }
    }
    schema.remove().await.unwrap();
}

async fn a_plan_of_a_change_changes_nothing(url: &Url) {
    let (schema, mut session) = session(url, "own_changes").await;
    numbers(&mut session).await;
    for run in [false, true] {
        let plan = session.plan("DELETE FROM numbers WHERE g = 7", run).await.unwrap().unwrap();
        assert!(!plan.lines.is_empty());
    }
    let left = session.ask("SELECT COUNT(*) FROM numbers", &[], Protocol::Prepared).await.unwrap();
    assert_eq!(left.only().unwrap().big(0).unwrap(), 1000);
    schema.remove().await.unwrap();
}

async fn a_statement_that_does_not_end_can_be_broken_off(url: &Url) {
    let (schema, mut session) = session(url, "own_endless").await;
    numbers(&mut session).await;
    let canceller = session.canceller(schema.url()).await.unwrap().expect("a way to break a statement off");
    let endless = "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d WHERE a.g + b.g + c.g + d.g = 1000";
    {
        let mut waiting = std::pin::pin!(session.ask(endless, &[], Protocol::Prepared));
        assert!(tokio::time::timeout(Duration::from_millis(300), &mut waiting).await.is_err(), "it ended by itself");
        canceller.cancel().await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it goes on");
        assert!(ended.is_err());
    }
    let again = session.ask("SELECT 1", &[], Protocol::Prepared).await.unwrap();
    assert_eq!(again.len(), 1);
    schema.remove().await.unwrap();
}

async fn a_schema_of_our_own_leaves_nothing(url: &Url) {
    let schema = ScratchSchema::for_url(url, "own_nothing").unwrap();
    assert!(!schema.exists().await.unwrap());
    schema.create().await.unwrap();
    assert!(schema.exists().await.unwrap());
    let mut session = schema.connect().await.unwrap();
    session.execute("CREATE TABLE only_there (k INTEGER PRIMARY KEY)").await.unwrap();
    let mut outside = Session::connect(url).await.unwrap();
    assert!(!outside.has_table("only_there").await.unwrap());
    drop(session);
    schema.remove().await.unwrap();
    assert!(!schema.exists().await.unwrap());
}
