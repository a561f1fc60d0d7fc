//! TiDB.

use lab::{LabError, TiDb};

use crate::support::{leaves_nothing, listens, mariadb};

#[test]
fn a_server_survives_a_kill_and_leaves_nothing_behind() {
    let Some(server) = lab::tidb_or_skip() else { return };
    let url = server.url("bench");
    assert!(url.starts_with("tidb://root@127.0.0.1:") && url.ends_with("/bench"), "{url}");
    server.create_database("bench").unwrap();
    assert!(server.create_database("bench").unwrap_err().to_string().contains("database exists"));
    assert!(mariadb(&url, "SELECT VERSION()").unwrap().contains("TiDB"));
    mariadb(&url, "CREATE TABLE t (n INT); INSERT INTO t VALUES (7)").unwrap();

    server.kill().unwrap();
    assert!(!listens(&url));
    assert!(matches!(server.kill(), Err(LabError::NotRunning(_))));
    server.restart().unwrap();
    assert_eq!(mariadb(&url, "SELECT n FROM t").unwrap(), "7", "it kept what was committed");
    server.restart().unwrap();
    assert_eq!(mariadb(&url, "SELECT n FROM t").unwrap(), "7");
    leaves_nothing(server, TiDb::folder, &[url]);
}
