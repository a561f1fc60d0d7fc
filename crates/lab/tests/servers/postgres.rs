//! PostgreSQL.

use lab::{LabError, Postgres};

use crate::support::{leaves_nothing, listens, psql};

fn lives(server: Postgres, version: &str) {
    let url = server.url("bench");
    assert!(url.starts_with("postgres://postgres@127.0.0.1:") && url.ends_with("/bench"), "{url}");
    server.create_database("bench").unwrap();
    assert!(server.create_database("bench").unwrap_err().to_string().contains("already exists"));
    assert!(psql(&url, "SHOW server_version").unwrap().starts_with(version));
    psql(&url, "CREATE TABLE t (n INT); INSERT INTO t VALUES (7)").unwrap();

    server.kill().unwrap();
    assert!(!listens(&url));
    assert!(matches!(server.kill(), Err(LabError::NotRunning(_))));
    server.restart().unwrap();
    assert_eq!(psql(&url, "SELECT n FROM t").unwrap(), "7", "it kept what was committed");
    server.restart().unwrap();
    assert_eq!(psql(&url, "SELECT n FROM t").unwrap(), "7");
    leaves_nothing(server, Postgres::folder, &[url]);
}

#[test]
fn a_server_survives_a_kill_and_leaves_nothing_behind() {
    let Some(server) = lab::postgres_or_skip() else { return };
    lives(server, "");
}

#[test]
fn the_newest_version_does_so_too() {
    let Some(server) = lab::newest_postgres_or_skip() else { return };
    lives(server, "18.");
}

#[test]
fn a_setting_that_the_server_refuses_is_one_line() {
    match Postgres::start_with(&[("shared_buffers", "none")]) {
        Ok(_) => panic!("it started"),
        Err(LabError::Missing { .. }) => {}
        Err(e) => {
            let line = e.to_string();
            assert!(line.contains("shared_buffers") && !line.contains('\n'), "{line}");
        }
    }
}
