//! A YugabyteDB cluster of its own, on the loopback addresses 127.0.0.1, 127.0.0.2 and so on, for those who have its
//! programs.
//!
//! Written by its documentation and tried with a stand-in that records what it is called with; no YugabyteDB has run
//! under it. Its nodes listen on the database's usual ports, so there is one such cluster on a machine, and macOS
//! needs the further addresses set up.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::programs::{find, run, succeeds};
use crate::site::{Site, once_let_go};
use crate::{Kind, LabError};

/// How long a node may take until it answers.
const START: Duration = Duration::from_secs(180);

/// The port of its PostgreSQL-compatible layer.
const PORT: u16 = 5433;

/// A running cluster; dropping it stops it and removes its data.
///
/// Its user `yugabyte` has no password. Node `i`, counted from 0, is in the cloud location `lab.R.R-i`.
#[derive(Debug)]
pub struct YugabyteDb {
    site: Site,
    bin: PathBuf,
}

impl YugabyteDb {
    /// Makes a cluster of `nodes` nodes, spread over `regions` in turn, and starts it.
    ///
    /// # Errors
    /// [`LabError::Missing`] if there is no folder on `PATH` with `yugabyted` and `ysqlsh`; else what they say.
    pub fn start(nodes: usize, regions: &[&str]) -> Result<Self, LabError> {
        let bin = installed()?;
        Self::start_in(Site::temporary(Kind::YugabyteDb)?, bin, nodes, regions)
    }

    pub(crate) fn start_in(site: Site, bin: PathBuf, nodes: usize, regions: &[&str]) -> Result<Self, LabError> {
        let cluster = Self { site, bin };
        for node in 0..nodes {
            cluster.site.add(&format!("node{}", node + 1), regions.get(node % regions.len().max(1)).copied());
        }
        (0..nodes).try_for_each(|node| cluster.launch(node))?;
        let mut place = cluster.yugabyted(&["configure", "data_placement"], 0);
        place.arg("--fault_tolerance=zone");
        run("yugabyted", place)?;
        Ok(cluster)
    }

    /// The URLs of one of its databases, one a node; `yugabyte` is always there.
    pub fn urls(&self, database: &str) -> Vec<String> {
        (0..self.site.nodes().len()).map(|node| self.site.url(node, database)).collect()
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If there is one of that name, or no node is up.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        let alive = self.site.nodes().iter().position(crate::Node::is_alive).unwrap_or_default();
        run("ysqlsh", self.sql(alive, &format!("CREATE DATABASE \"{name}\""))).map(drop)
    }

    /// Kills a node (the first is 0) with SIGKILL, as a crash would.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self, node: usize) -> Result<(), LabError> {
        self.site.kill(node)
    }

    /// Starts a node again after [`YugabyteDb::kill`], or stops it and starts it.
    ///
    /// # Errors
    /// What it says.
    pub fn restart(&self, node: usize) -> Result<(), LabError> {
        self.site.stop(node, Signal::TERM);
        once_let_go(|| self.launch(node))
    }

    /// Its folder, with its data and logs.
    pub fn folder(&self) -> &Path {
        self.site.folder()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    fn launch(&self, node: usize) -> Result<(), LabError> {
        let mut start = self.yugabyted(&["start"], node);
        // In the foreground, so that the process that was started is the one to end.
        start.args([&format!("--advertise_address={}", host(node)), "--background=false"]);
        if let Some(region) = self.site.node(node).region {
            start.arg(format!("--cloud_location=lab.{region}.{region}-{node}"));
        }
        if node > 0 {
            start.arg(format!("--join={}", host(0)));
        }
        self.site.launch(node, format!("{}:{PORT}", host(node)), "yugabyted", start, START, || {
            succeeds(self.sql(node, "SELECT 1"))
        })
    }

    /// A command of `yugabyted` for a node.
    fn yugabyted(&self, command: &[&str], node: usize) -> Command {
        let folder = self.site.folder().join(self.site.node(node).name);
        let mut yugabyted = self.site.program(self.bin.join("yugabyted"));
        yugabyted.args(command).arg(format!("--base_dir={}", folder.display()));
        yugabyted
    }

    fn sql(&self, node: usize, statement: &str) -> Command {
        let mut sql = self.site.program(self.bin.join("ysqlsh"));
        sql.args(["-h", &host(node), "-p", &PORT.to_string(), "-U", "yugabyte", "-d", "yugabyte", "-c", statement]);
        sql
    }
}

fn host(node: usize) -> String {
    format!("127.0.0.{}", node + 1)
}

pub(crate) fn installed() -> Result<PathBuf, LabError> {
    find(&["yugabyted", "ysqlsh"], [])
        .ok_or(LabError::Missing { what: "YugabyteDB", remedy: "put its folder `bin` on PATH" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::tests::stand_in;

    #[test]
    fn it_is_called_as_its_documentation_has_it() {
        // A node answers once it was started, and its first answer is noted after the start.
        let act = r#"case "$*" in
            start*) note "$@"; for a; do case $a in --advertise*) touch "$home/${a#*=}";; esac; done; exec sleep 1000;;
            *SELECT*) rm "$home/$2" && note "$@";;
            *) note "$@";;
            esac"#;
        let stand_in = stand_in(&["yugabyted", "ysqlsh"], act);
        let site = Site::temporary(Kind::YugabyteDb).unwrap();
        let cluster = YugabyteDb::start_in(site, stand_in.path().to_owned(), 3, &["a", "b", "c"]).unwrap();
        cluster.create_database("bench").unwrap();
        cluster.kill(2).unwrap();
        cluster.restart(2).unwrap();

        let folder = cluster.folder().display();
        let start = |node: usize, more: &str| {
            let address = format!("127.0.0.{node}");
            format!(
                "yugabyted start --base_dir={folder}/node{node} --advertise_address={address} --background=false {more}"
            )
        };
        let sql = |node: usize, sql: &str| format!("ysqlsh -h 127.0.0.{node} -p 5433 -U yugabyte -d yugabyte -c {sql}");
        let calls = std::fs::read_to_string(stand_in.path().join("calls")).unwrap();
        let expected = [
            start(1, "--cloud_location=lab.a.a-0"),
            sql(1, "SELECT 1"),
            start(2, "--cloud_location=lab.b.b-1 --join=127.0.0.1"),
            sql(2, "SELECT 1"),
            start(3, "--cloud_location=lab.c.c-2 --join=127.0.0.1"),
            sql(3, "SELECT 1"),
            format!("yugabyted configure data_placement --base_dir={folder}/node1 --fault_tolerance=zone"),
            sql(1, "CREATE DATABASE \"bench\""),
            start(3, "--cloud_location=lab.c.c-2 --join=127.0.0.1"),
            sql(3, "SELECT 1"),
        ];
        assert_eq!(calls.lines().collect::<Vec<_>>(), expected);
        assert_eq!(cluster.urls("bench")[1], "yugabytedb://yugabyte@127.0.0.2:5433/bench");
    }
}
