//! `load movr`: the same rows on every database, with keys that hold; and what is refused.

use std::sync::LazyLock;

use movr::{Movr, Table as Name};
use target::bulk::Csv;
use target::{Class, Error, Session, Url};
use workload::data_set::{create, drop_tables, load};
use workload::movr::{Options, TABLES, rows};

use crate::same_data::{expect_same, export};
use crate::support::{Place, done, json, say};

const SEED: u64 = 5;
const SCALE: f64 = 0.021;

/// The rows of each table as CSV, by key: as they must be on every database.
static EXPECTED: LazyLock<[String; 3]> = LazyLock::new(|| {
    let movr = Movr::new(SEED, SCALE);
    Name::ALL.map(|name| {
        let mut csv = Csv::default();
        let mut positions: Vec<u64> = (0..movr.rows(name)).collect();
        positions.sort_by_key(|position| (movr::city(*position), movr.id(name, *position)));
        positions.into_iter().for_each(|position| rows::write(&movr, name, position, &mut csv));
        String::from_utf8(csv.rows().to_vec()).unwrap()
    })
});

/// The rows are those of the pure code.
async fn has_the_rows(session: &mut Session) {
    for (table, expected) in TABLES.iter().zip(EXPECTED.iter()) {
        expect_same(expected, &export(session, table).await, table.name);
    }
    session.commit().await.unwrap();
}

/// What the keys and the check must refuse.
async fn refuses_what_contradicts(session: &mut Session) {
    let id = Movr::new(SEED, SCALE).id(Name::Rides, 0);
    let stranger = "00000000-0000-4000-8000-000000000000";
    for (sql, why) in [
        (format!("UPDATE rides SET rider_id = '{stranger}' WHERE city = 'new york' AND id = '{id}'"), "no such rider"),
        (format!("UPDATE rides SET vehicle_id = '{stranger}' WHERE city = 'new york' AND id = '{id}'"), "no vehicle"),
        (format!("UPDATE rides SET vehicle_city = 'boston' WHERE city = 'new york' AND id = '{id}'"), "another city"),
        ("UPDATE vehicles SET owner_id = id".to_owned(), "no such owner"),
        ("DELETE FROM users".to_owned(), "users with rides"),
        (format!("INSERT INTO rides (city, id) VALUES ('new york', '{id}')"), "a ride twice"),
    ] {
        let refused: Result<_, Error> = session.query(&sql, &[]).await;
        assert_eq!(refused.expect_err(why).class(), Class::Permanent, "{why}");
        session.rollback().await.unwrap();
    }
    // What is legal is done.
    let sql = format!("UPDATE rides SET revenue = NULL, vehicle_id = NULL WHERE city = 'new york' AND id = '{id}'");
    session.query(&sql, &[]).await.unwrap().expect_affected(1).unwrap();
    session.rollback().await.unwrap();
}

/// Loads, looks, and loads again over it.
fn whole_way(url: &str) {
    let (seed, scale) = (SEED.to_string(), SCALE.to_string());
    let loading = ["load", "movr", "--url", url, "--seed", &seed, "--scale", &scale, "--jobs", "3"];
    let loaded = json(&loading);
    let expected: u64 = EXPECTED.iter().map(|table| table.lines().count() as u64).sum();
    assert_eq!(loaded["rows"], expected);
    assert_eq!(loaded["tables"]["rides"]["rows"], 21_000);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        has_the_rows(&mut session).await;
        refuses_what_contradicts(&mut session).await;
        session.execute("ALTER TABLE vehicles ADD COLUMN colour INTEGER").await.unwrap();
        session.commit().await.unwrap();
    });
    let again = say(&loading);
    assert_eq!(again.status, 1);
    assert!(again.stderr.contains("already holds a table users") && again.stderr.contains("--replace"));
    let foreign = say(&[&loading[..], &["--replace"]].concat());
    assert_eq!(foreign.status, 1, "{}", foreign.stderr);
    assert!(foreign.stderr.contains("vehicles is not MovR's"), "{}", foreign.stderr);
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        session.execute("ALTER TABLE vehicles DROP COLUMN colour").await.unwrap();
        session.commit().await.unwrap();
    });
    let smaller = json(&["load", "movr", "--url", url, "--scale", "0.0001", "--replace"]);
    assert_eq!(smaller["rows"], 390);
}

#[test]
fn sqlite_has_the_rows_and_their_keys() {
    whole_way(&Place::new().sqlite());
}

#[test]
fn postgres_has_the_rows_and_their_keys() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("movr").unwrap();
    let url = server.url("movr");
    whole_way(&url);

    // One session, in a schema of its own, beside the tables of `public`.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(&url).unwrap()).await.unwrap();
        session.execute("CREATE SCHEMA lesson").await.unwrap();
        session.execute("SET search_path = lesson").await.unwrap();
        let options = Options { scale: SCALE, seed: SEED, foreign_keys: true };
        create(&mut session, &options).await.unwrap();
        let mut told = 0;
        let loaded = load(&mut session, &options, |_, rows| told += rows).await.unwrap();
        assert_eq!(told, loaded.rows);
        has_the_rows(&mut session).await;
        drop_tables(&mut session, &options).await.unwrap();
        // Those of the other schema are still there.
        session.execute("SET search_path = public").await.unwrap();
        let rides = session.query("SELECT COUNT(*) FROM rides", &[]).await.unwrap();
        assert_eq!(rides.only().unwrap().big(0).unwrap(), 300);
    });
}

#[test]
fn mariadb_has_the_rows_and_their_keys() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    server.create_database("movr").unwrap();
    whole_way(&server.url("movr"));
}

#[test]
fn tidb_has_the_rows_and_their_keys() {
    let Some(server) = lab::tidb_or_skip() else { return };
    server.create_database("movr").unwrap();
    let url = server.url("movr");
    // It reads CHECK and forgets it unless told otherwise.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(&url).unwrap()).await.unwrap();
        session.execute("SET GLOBAL tidb_enable_check_constraint = ON").await.unwrap();
    });
    whole_way(&url);
}

#[test]
fn options_of_one_workload_are_refused_by_the_other() {
    let place = Place::new();
    let url = place.sqlite();
    let refused = |args: &[&str], words: &[&str]| {
        let said = say(&[args, &["--url", &url]].concat());
        assert_eq!(said.status, 2, "{args:?}: {}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{args:?}: {}", said.stderr);
        assert!(words.iter().all(|word| said.stderr.contains(word)), "{args:?}: {}", said.stderr);
    };
    for option in [["--warehouses", "2"], ["--first-warehouse", "2"], ["--shard", "1/2"], ["--partitions", "3"]] {
        refused(&[&["load", "movr"], &option[..]].concat(), &[option[0], "for tpcc", "--scale"]);
    }
    for option in ["--resume", "--foreign-keys", "--foreign-keys-only", "--scatter"] {
        refused(&["load", "movr", option], &[option, "for tpcc"]);
    }
    refused(&["load", "--scale", "0.1"], &["--scale is for other workloads", "--warehouses"]);
    refused(&["load", "tpcc", "--scale", "1"], &["--scale is for other workloads"]);
    refused(&["sweep", "movr"], &["movr", "a sweep is of tpcc"]);
    assert!(!place.path("bench.db").exists(), "something was touched");
    assert_eq!(say(&["load", "movr", "--scale", "0", "--url", &url]).status, 2);
}

#[test]
fn a_table_of_somebody_else_is_left_alone() {
    let place = Place::new();
    let url = place.sqlite();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let query = |sql: &'static str| {
        runtime.block_on(async {
            let mut session = Session::connect(&Url::parse(&url).unwrap()).await.unwrap();
            let answer = session.query(sql, &[]).await.unwrap();
            answer.get(0).map(|row| row.text(0).unwrap().to_owned())
        })
    };
    query("CREATE TABLE users (login TEXT)");
    query("INSERT INTO users VALUES ('root')");
    for more in [&[][..], &["--replace"]] {
        let said = say(&[&["load", "movr", "--url", &url, "--scale", "0.0001"], more].concat());
        assert_eq!((said.status, said.stderr.lines().count()), (1, 1), "{}", said.stderr);
    }
    assert_eq!(query("SELECT login FROM users").as_deref(), Some("root"));
    query("DROP TABLE users");
    done(&["load", "movr", "--url", &url, "--scale", "0.0001"]);
}
