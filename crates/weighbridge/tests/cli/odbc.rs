//! The whole way over ODBC, and what is said where there is no way.

use crate::support::{Place, json, say, weighbridge};

#[test]
fn sqlite_goes_the_whole_way_over_its_driver() {
    let place = Place::new();
    // One writer at a time: more connections would only wait for each other.
    let url = format!("odbc:Driver={{SQLite3}};Database={};JournalMode=WAL;SyncPragma=NORMAL", place.text("bench.db"));
    whole_way(&url, &place, "1");
}

#[test]
fn postgres_goes_the_whole_way_over_its_driver() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let port = server.port();
    let attributes = format!("Server=127.0.0.1;Port={port};Database=bench;Uid=postgres;Protocol=7.4-1");
    whole_way(&format!("odbc:Driver={{PostgreSQL Unicode}};{attributes}"), &Place::new(), "4");
}

#[test]
fn mariadb_goes_the_whole_way_over_its_driver() {
    // The plain dialect names no collation: bytes must compare as bytes by the server's own default.
    let settings = [("character-set-server", "utf8mb4"), ("collation-server", "utf8mb4_bin")];
    let Some(server) = lab::or_skip(lab::MariaDb::start_with(&settings)) else { return };
    server.create_database("bench").unwrap();
    let port = server.port();
    let attributes = format!("Server=127.0.0.1;Port={port};Database=bench;Uid=root;Option=2");
    whole_way(&format!("odbc:Driver={{MariaDB Unicode}};{attributes}"), &Place::new(), "4");
}

fn whole_way(url: &str, place: &Place, connections: &str) {
    let loaded = json(&["load", "--url", url, "--warehouses", "1", "--jobs", connections]);
    assert_eq!((&loaded["complete"], &loaded["tables"]["customer"]["rows"]), (&true.into(), &30_000.into()));
    let fresh = json(&["check", "--url", url]);
    assert_eq!(fresh["passed"], true, "{fresh:#}");
    for style in ["row", "batch"] {
        let out = place.text(style);
        let args = ["run", "--url", url, "--pacing", "none", "--connections", connections, "--style", style];
        // A fleet of one meets itself, over this wire too.
        let time = ["--ramp", "1s", "--duration", "5s", "--shard", "1/1"];
        let run = json(&[args.as_slice(), &time, &["--check", "--out", &out]].concat());
        assert_eq!(run["verdict"]["status"], "unconstrained", "{run:#}");
        assert_eq!((&run["isolation"], &run["reconciliation"]["passed"]), (&"serializable".into(), &true.into()));
        for (name, figures) in run["transactions"].as_object().unwrap() {
            assert!(figures["count"].as_u64() > Some(0) && figures["errors"] == 0, "{name}: {run:#}");
        }
        assert!(run["checks"].as_array().is_some_and(|checks| checks.iter().all(|check| check["passed"] == true)));
    }
    // A second load is refused, and says how to go on.
    let again = say(&["load", "--url", url, "--warehouses", "1"]);
    assert!(again.status != 0 && again.stderr.contains("--replace"), "{}", again.stderr);
}

#[test]
fn without_a_driver_manager_the_program_runs_and_says_what_to_install() {
    let place = Place::new();
    // A file of the library's name that is none comes before the real one.
    std::fs::write(place.path("libodbc.so.2"), "").unwrap();
    let mut check = weighbridge(&["check", "--url", "odbc:Driver={SQLite3};Database=x.db;Pwd=s3cret"]);
    let output = check.env("LD_LIBRARY_PATH", place.folder.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("libodbc.so.2") && said.contains("apt-get install unixodbc"), "{said}");
    assert!(said.trim_end().lines().count() == 1 && !said.contains("s3cret"), "{said}");
}

#[test]
fn what_the_driver_says_comes_without_the_password() {
    for url in [
        "odbc:Driver={PostgreSQL Unicode};Server=127.0.0.1;Port=1;Database=x;Uid=me;Pwd=s3cret",
        "odbc:Driver={No Such Driver};Pwd=s3cret",
        "nuodb://me:s3cret@127.0.0.1:1/x?driver=/no/such/driver.so",
    ] {
        let said = say(&["check", "--url", url]);
        assert!(said.status != 0 && said.stderr.contains("can't connect"), "{}", said.stderr);
        assert!(said.stderr.trim_end().lines().count() == 1 && !said.stderr.contains("s3cret"), "{}", said.stderr);
    }
}
