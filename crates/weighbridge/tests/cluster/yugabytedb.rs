//! YugabyteDB: its own clauses are read by a parser of exactly these, and the rest of the conversation is held with
//! PostgreSQL.

use target::{Session, Url};

use crate::support::{Place, done, json};
use crate::tap::Tap;

/// A key as YugabyteDB writes it: `(a HASH, b ASC)`. Returns it in PostgreSQL's words, and whether it begins with a hash.
fn key(columns: &str) -> Result<(String, bool), String> {
    let mut plain = Vec::new();
    let mut hashes = Vec::new();
    for column in columns.split(", ") {
        let (name, how) = column.split_once(' ').ok_or(format!("the key column `{column}` has no order"))?;
        match how {
            "HASH" if plain.len() != hashes.iter().filter(|hash| **hash).count() => {
                return Err(format!("HASH behind another order: ({columns})"));
            }
            "HASH" | "ASC" | "DESC" => hashes.push(how == "HASH"),
            _ => return Err(format!("no order of a key column: {how}")),
        }
        plain.push(name);
    }
    Ok((plain.join(", "), hashes[0]))
}

/// SPLIT INTO n TABLETS for a key that begins with a hash, SPLIT AT VALUES for one that doesn't.
fn split(clause: &str, by_hash: bool) -> Result<(), String> {
    if clause.is_empty() {
        return Ok(());
    }
    if let Some(number) = clause.strip_prefix(" SPLIT INTO ").and_then(|rest| rest.strip_suffix(" TABLETS")) {
        let tablets: u32 = number.parse().map_err(|e| format!("{number} tablets: {e}"))?;
        return if by_hash && tablets > 0 { Ok(()) } else { Err("SPLIT INTO without a hashed key".to_owned()) };
    }
    let values = clause.strip_prefix(" SPLIT AT VALUES ((").and_then(|rest| rest.strip_suffix("))"));
    let values = values.ok_or_else(|| format!("no clause of a split:{clause}"))?;
    let points: Vec<i64> = values
        .split("), (")
        .map(|point| point.parse().map_err(|e| format!("split point {point}: {e}")))
        .collect::<Result<_, _>>()?;
    match points.is_sorted_by(|a, b| a < b) {
        _ if by_hash => Err("SPLIT AT with a hashed key".to_owned()),
        true => Ok(()),
        false => Err(format!("split points out of order: {values}")),
    }
}

/// Reads YugabyteDB's clauses and takes them away.
fn to_postgres(sql: &str) -> Result<String, String> {
    if sql.starts_with("CREATE TABLE") {
        let (table, clauses) = sql.split_once("\n)").ok_or("no closing parenthesis")?;
        let split_clause = clauses.strip_prefix(" WITH (COLOCATION = false)").ok_or("a table that may be colocated")?;
        let Some((columns, rest)) = table.split_once("PRIMARY KEY (") else {
            // Sharded by the hash of a hidden key.
            split(split_clause, true)?;
            return Ok(format!("{table}\n)"));
        };
        let (named, more) = rest.split_once(')').ok_or("no end of the key")?;
        let (plain, by_hash) = key(named)?;
        split(split_clause, by_hash)?;
        return Ok(format!("{columns}PRIMARY KEY ({plain}){more}\n)"));
    }
    if sql.starts_with("CREATE INDEX") {
        let (index, rest) = sql.split_once(" (").ok_or("an index without columns")?;
        let (named, clauses) = rest.split_once(')').ok_or("no end of the columns")?;
        let (plain, by_hash) = key(named)?;
        split(clauses, by_hash)?;
        return Ok(format!("{index} ({plain})"));
    }
    if let Some((copy, rows)) = sql.split_once(", ROWS_PER_TRANSACTION ") {
        let rows = rows.strip_suffix(')').ok_or("COPY: no end of the options")?;
        rows.parse::<u32>().map_err(|e| format!("ROWS_PER_TRANSACTION {rows}: {e}"))?;
        return Ok(format!("{copy})"));
    }
    if sql == "SET yb_disable_transactional_writes = on" {
        return Ok("SELECT 1".to_owned());
    }
    if sql == "SELECT version()" {
        return Ok("SELECT 'PostgreSQL 15.0-YB-0.0.0.0-b0 (PostgreSQL behind a tap)'".to_owned());
    }
    Ok(sql.to_owned())
}

#[test]
fn the_parser_refuses_what_yugabytedb_does_not_know() {
    let table = |key: &str, clauses: &str| {
        to_postgres(&format!("CREATE TABLE t (\n  a INT,\n  PRIMARY KEY ({key})\n){clauses}"))
    };
    let colocation = " WITH (COLOCATION = false)";
    assert_eq!(
        table("a HASH, b ASC", &format!("{colocation} SPLIT INTO 3 TABLETS")).unwrap(),
        "CREATE TABLE t (\n  a INT,\n  PRIMARY KEY (a, b)\n)"
    );
    assert!(table("a ASC", &format!("{colocation} SPLIT AT VALUES ((2), (5))")).is_ok());
    for (key, clauses) in [
        ("a HASH", ""),
        ("a ASC, b HASH", colocation),
        ("a", colocation),
        ("a ASC", " WITH (COLOCATION = false) SPLIT INTO 3 TABLETS"),
        ("a HASH", " WITH (COLOCATION = false) SPLIT AT VALUES ((2), (5))"),
        ("a ASC", " WITH (COLOCATION = false) SPLIT AT VALUES ((5), (2))"),
        ("a HASH", " WITH (COLOCATION = false) SPLIT INTO 0 TABLETS"),
        ("a HASH", " SPLIT INTO 3 TABLETS WITH (COLOCATION = false)"),
    ] {
        assert!(table(key, clauses).is_err(), "{key}{clauses}");
    }
    assert!(to_postgres("CREATE INDEX i ON t (a HASH, b ASC) SPLIT INTO x TABLETS").is_err());
}

#[test]
fn the_whole_conversation_holds_without_yugabytedbs_own_clauses() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let tap = Tap::start(&server, "bench", to_postgres);
    let (url, place) = (tap.url("yugabytedb"), Place::new());
    let load = ["load", "--url", &url, "--warehouses", "2"];
    let said = done(&[&load[..], &["--tablets", "6", "--sharding", "hash"]].concat());
    assert!(said.stderr.contains("change_leader_blacklist"), "{}", said.stderr);
    done(&["load", "--url", &url, "--foreign-keys-only"]);
    assert_eq!(json(&["check", "--url", &url])["passed"], true);
    for (round, style) in ["row", "batch", "procedure"].iter().enumerate() {
        let out = place.text(&format!("run-{round}"));
        let run = ["run", "--url", &url, "--pacing", "none", "--connections", "8", "--ramp", "1s", "--duration", "3s"];
        let run = json(&[&run[..], &["--style", style, "--shard", "1/1", "--check", "--out", &out]].concat());
        let asked = serde_json::json!({ "tablets": "6", "sharding": "hash", "foreign_keys": "declared" });
        assert_eq!(run["target"]["placement"], asked);
        assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
        assert!(run["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{run:#}");
    }

    // By range, in commits on the way; a step without its record is done anew, however, and its rows are there once.
    let batch = ["--tablets", "2", "--sharding", "range", "--copy-batch", "5000", "--replace"];
    done(&[&load[..], &batch].concat());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(&server.url("bench")).unwrap()).await.unwrap();
        let forget = "DELETE FROM weighbridge_load WHERE (step = 'history' AND w_id = 2) OR step = 'item'; \
                      DELETE FROM weighbridge WHERE name = 'complete'";
        session.execute(forget).await.unwrap();
    });
    done(&["load", "--url", &url, "--resume"]);
    let fresh = json(&["check", "--url", &url]);
    assert_eq!(fresh["passed"], true, "{fresh:#}");

    assert_eq!(tap.refused(), Vec::<String>::new());
    let texts = tap.texts();
    for clause in
        ["SPLIT INTO 6 TABLETS", "SPLIT AT VALUES ((2))", "ROWS_PER_TRANSACTION 5000", "s_w_id HASH, s_i_id ASC"]
    {
        assert!(texts.iter().any(|text| text.contains(clause)), "no {clause} was heard");
    }
}
