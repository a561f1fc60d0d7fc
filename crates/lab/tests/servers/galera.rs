//! Galera.

use lab::{Galera, LabError};

use crate::support::{eventually, leaves_nothing, listens, mariadb};

#[test]
fn a_cluster_outlives_a_node_and_takes_it_back() {
    let Some(cluster) = lab::galera_or_skip() else { return };
    cluster.create_database("bench").unwrap();
    let urls = cluster.urls("bench");
    assert_eq!(urls.len(), 3);
    // Every statement waits until its node has applied what the others acknowledged.
    let ask = |node: usize, sql: &str| mariadb(&urls[node], &format!("SET SESSION wsrep_sync_wait = 7; {sql}"));
    ask(0, "CREATE TABLE t (n INT PRIMARY KEY)").unwrap();
    for (node, _) in urls.iter().enumerate() {
        ask(node, &format!("INSERT INTO t VALUES ({node})")).unwrap();
    }
    assert_eq!(ask(2, "SELECT COUNT(*) FROM t").unwrap(), "3");

    cluster.kill(1).unwrap();
    assert!(!listens(&urls[1]));
    assert!(matches!(cluster.kill(1), Err(LabError::NotRunning(name)) if name == "node2"));
    eventually("the others go on", || ask(0, "INSERT INTO t VALUES (10)").is_ok());
    cluster.restart(1).unwrap();
    assert_eq!(ask(1, "SELECT COUNT(*) FROM t").unwrap(), "4", "it has what it missed");
    cluster.restart(0).unwrap();
    assert_eq!(ask(0, "SHOW STATUS LIKE 'wsrep_cluster_size'").unwrap(), "wsrep_cluster_size\t3");

    // All crash; the last to be killed has all that was acknowledged.
    for node in 0..3 {
        cluster.kill(node).unwrap();
    }
    for node in [2, 1, 0] {
        cluster.restart(node).unwrap();
    }
    assert_eq!(ask(0, "SELECT COUNT(*) FROM t").unwrap(), "4");
    leaves_nothing(cluster, Galera::folder, &urls);
}
