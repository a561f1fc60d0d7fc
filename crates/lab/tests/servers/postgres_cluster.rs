//! PostgreSQL with synchronous standbys.

use std::process::{Command, Stdio};

use lab::PostgresCluster;

use crate::support::{address, eventually, leaves_nothing, listens, psql};

#[test]
fn what_was_acknowledged_outlives_the_primary() {
    let Some(cluster) = lab::postgres_cluster_or_skip() else { return };
    cluster.create_database("bench").unwrap();
    let urls = cluster.urls("bench");
    assert_eq!((urls.len(), cluster.primary()), (3, 0));
    psql(&cluster.url("bench"), "CREATE TABLE t (n INT); INSERT INTO t VALUES (1)").unwrap();
    let standbys = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'quorum'";
    eventually("two standbys count", || psql(&cluster.url("bench"), standbys).unwrap() == "2");
    let standby = &cluster.urls("postgres")[1];
    assert!(psql(standby, "CREATE TABLE t (n INT)").unwrap_err().contains("read-only"));

    cluster.kill(2).unwrap();
    psql(&cluster.url("bench"), "INSERT INTO t VALUES (2)").unwrap();
    cluster.kill(1).unwrap();
    commit_waits(&cluster.url("bench"), "INSERT INTO t VALUES (3)");
    cluster.restart(1).unwrap();
    cluster.restart(2).unwrap();
    eventually("two standbys count", || psql(&cluster.url("bench"), standbys).unwrap() == "2");

    cluster.kill(0).unwrap();
    cluster.promote(1).unwrap();
    assert_eq!(cluster.url("bench"), urls[1]);
    assert!(psql(&urls[1], "SELECT STRING_AGG(n::TEXT, ',' ORDER BY n) FROM t").unwrap().starts_with("1,2"));
    psql(&urls[1], "INSERT INTO t VALUES (4)").unwrap();
    eventually("the other standby follows", || psql(&urls[2], "SELECT MAX(n) FROM t").is_ok_and(|n| n == "4"));

    cluster.restart(0).unwrap();
    assert_eq!(psql(&urls[0], "SELECT pg_is_in_recovery()").unwrap(), "t");
    assert!(listens(&urls[0]) && address(&urls[0]) != address(&urls[1]));
    leaves_nothing(cluster, PostgresCluster::folder, &urls);
}

/// Without a standby a COMMIT must not be acknowledged: the server cancels it when the client's time is up, and says
/// what that means.
fn commit_waits(url: &str, sql: &str) {
    let mut client = Command::new("timeout");
    client.args(["--signal=INT", "2", "psql", "-Xq", "-c", sql, url]).stdin(Stdio::null());
    let said = String::from_utf8(client.output().unwrap().stderr).unwrap();
    assert!(said.contains("canceling wait for synchronous replication"), "{said}");
}
