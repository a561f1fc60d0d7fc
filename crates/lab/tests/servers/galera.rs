//! Galera.

use std::path::Path;

use lab::{Control, DATABASE, Galera, Kind, LabError, Layout};

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

/// Ends kept servers, however a test ends.
struct Down<'a>(&'a Path);

impl Drop for Down<'_> {
    fn drop(&mut self) {
        if let Ok(Some(found)) = lab::find(Kind::Galera, self.0) {
            lab::down(&found, self.0).unwrap();
        }
    }
}

#[test]
fn a_cluster_that_is_down_begins_with_the_node_that_fell_last() {
    if lab::or_skip(Kind::Galera.installed()).is_none() {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    std::fs::set_permissions(base.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let _down = Down(base.path());
    lab::up(Kind::Galera, &Layout { nodes: 3, regions: &[], settings: &[], distance: None }, base.path()).unwrap();
    let control = Control::of(Kind::Galera, base.path()).unwrap().unwrap();
    let ask = |node: usize, sql: &str| mariadb(&Kind::Galera.url(&control.nodes()[node].address, DATABASE), sql);
    ask(0, "CREATE TABLE t (n INT PRIMARY KEY)").unwrap();
    control.kill(0).unwrap();
    eventually("the others go on", || ask(2, "REPLACE INTO t VALUES (1)").is_ok());
    control.kill(1).unwrap();
    control.kill(2).unwrap();
    assert_eq!(control.way_back(), [2, 1, 0]);
    assert!(matches!(control.restart(0), Err(LabError::NotLast { last, .. }) if last == "node3"));
    // At once, as a schedule may ask for it.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            eventually("another joins", || match control.restart(0) {
                Err(LabError::NotLast { .. }) => false,
                ended => ended.map(|()| true).unwrap(),
            });
        });
        control.restart(2).unwrap();
    });
    eventually("nothing is lost", || ask(0, "SELECT n FROM t").is_ok_and(|rows| rows == "1"));
}
