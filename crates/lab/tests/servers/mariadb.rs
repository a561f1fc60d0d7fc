//! MariaDB.

use lab::{LabError, MariaDb};

use crate::support::{leaves_nothing, listens, mariadb};

#[test]
fn a_server_survives_a_kill_and_leaves_nothing_behind() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    let url = server.url("bench");
    assert!(url.starts_with("mariadb://root@127.0.0.1:") && url.ends_with("/bench"), "{url}");
    server.create_database("bench").unwrap();
    assert!(server.create_database("bench").unwrap_err().to_string().contains("database exists"));
    let settings = mariadb(&url, "SELECT @@local_infile, @@innodb_flush_log_at_trx_commit, USER()").unwrap();
    assert!(settings.starts_with("1\t1\troot@"), "{settings}");
    mariadb(&url, "CREATE TABLE t (n INT); INSERT INTO t VALUES (7)").unwrap();

    server.kill().unwrap();
    assert!(!listens(&url));
    assert!(matches!(server.kill(), Err(LabError::NotRunning(_))));
    server.restart().unwrap();
    assert_eq!(mariadb(&url, "SELECT n FROM t").unwrap(), "7", "it kept what was committed");
    server.restart().unwrap();
    assert_eq!(mariadb(&url, "SELECT n FROM t").unwrap(), "7");
    leaves_nothing(server, MariaDb::folder, &[url]);
}

#[test]
fn settings_override_ours_and_a_refused_one_is_one_line() {
    let Some(server) = lab::or_skip(MariaDb::start_with(&[("local-infile", "OFF")])) else { return };
    assert_eq!(mariadb(&server.url("mysql"), "SELECT @@local_infile").unwrap(), "0");
    let line = MariaDb::start_with(&[("no-such-option", "1")]).unwrap_err().to_string();
    assert!(line.contains("no-such-option") && !line.contains('\n'), "{line}");
}
