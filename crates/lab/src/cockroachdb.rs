//! A CockroachDB cluster of its own, on free ports of the loopback interface, for those who have its program.
//!
//! Written by its documentation and tried with a stand-in that records what it is called with; no CockroachDB has
//! run under it.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::programs::{free_ports, program, run, succeeds};
use crate::site::{Site, on_free_ports, once_let_go};
use crate::{Kind, LabError};

/// How long a node may take until it answers.
const START: Duration = Duration::from_secs(90);

/// A running cluster; dropping it stops it and removes its data.
///
/// It is insecure: its user `root` has no password. Node `i` is in the locality `region=R,zone=R-i,rack=i`, the racks
/// being counted from 0.
#[derive(Debug)]
pub struct CockroachDb {
    site: Site,
    program: PathBuf,
    ports: Vec<[u16; 2]>,
}

impl CockroachDb {
    /// Makes a cluster of `nodes` nodes, spread over `regions` in turn, and starts it.
    ///
    /// # Errors
    /// [`LabError::Missing`] if there is no `cockroach` on `PATH`; else what it says.
    pub fn start(nodes: usize, regions: &[&str]) -> Result<Self, LabError> {
        let program = installed()?;
        Self::start_in(Site::temporary(Kind::CockroachDb)?, program, nodes, regions)
    }

    pub(crate) fn start_in(site: Site, program: PathBuf, nodes: usize, regions: &[&str]) -> Result<Self, LabError> {
        let mut cluster = Self { site, program, ports: Vec::new() };
        for node in 0..nodes {
            cluster.site.add(&format!("node{}", node + 1), regions.get(node % regions.len().max(1)).copied());
        }
        on_free_ports(|| cluster.form(nodes))?;
        Ok(cluster)
    }

    /// The URLs of one of its databases, one a node; `defaultdb` is always there.
    pub fn urls(&self, database: &str) -> Vec<String> {
        (0..self.ports.len()).map(|node| self.site.url(node, database)).collect()
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If there is one of that name, or no node is up.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        let alive = (0..self.ports.len()).find(|node| self.site.node(*node).is_alive()).unwrap_or_default();
        run("cockroach", self.sql(alive, &format!("CREATE DATABASE \"{name}\""))).map(drop)
    }

    /// Kills a node (the first is 0) with SIGKILL, as a crash would.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self, node: usize) -> Result<(), LabError> {
        self.site.kill(node)
    }

    /// Starts a node again after [`CockroachDb::kill`], or drains it and starts it, on the same ports.
    ///
    /// # Errors
    /// What it says.
    pub fn restart(&self, node: usize) -> Result<(), LabError> {
        self.site.stop(node, Signal::TERM);
        once_let_go(|| {
            self.launch(node)?;
            self.wait(node)
        })
    }

    /// Its folder, with its data and logs.
    pub fn folder(&self) -> &Path {
        self.site.folder()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    fn form(&mut self, nodes: usize) -> Result<(), LabError> {
        for node in 0..self.ports.len() {
            self.site.stop(node, Signal::KILL);
            std::fs::remove_dir_all(self.store(node))?;
        }
        self.ports = (0..nodes).map(|_| free_ports()).collect::<Result<_, _>>()?;
        (0..nodes).try_for_each(|node| self.launch(node))?;
        let mut init = self.site.program(&self.program);
        init.args(["init", "--insecure", &format!("--host={}", self.address(0))]);
        run("cockroach", init)?;
        (0..nodes).try_for_each(|node| self.wait(node))
    }

    /// Starts a node, which listens before it has joined.
    fn launch(&self, node: usize) -> Result<(), LabError> {
        let address = self.address(node);
        let members = 0..self.ports.len();
        let members: Vec<String> = members.map(|node| self.address(node)).collect();
        let mut start = self.site.program(&self.program);
        start.args(["start", "--insecure", &format!("--listen-addr={address}")]);
        start.args([
            &format!("--http-addr=127.0.0.1:{}", self.ports[node][1]),
            &format!("--join={}", members.join(",")),
        ]);
        start.arg(format!("--store={}", self.store(node).display()));
        if let Some(region) = self.site.node(node).region {
            start.arg(format!("--locality=region={region},zone={region}-{node},rack={node}"));
        }
        start.args(["--cache=256MiB", "--max-sql-memory=256MiB"]);
        self.site.launch(node, address.clone(), "cockroach", start, START, || TcpStream::connect(&address).is_ok())
    }

    fn wait(&self, node: usize) -> Result<(), LabError> {
        self.site.wait(node, "cockroach", START, || succeeds(self.sql(node, "SELECT 1")))
    }

    fn sql(&self, node: usize, statement: &str) -> Command {
        let mut sql = self.site.program(&self.program);
        sql.args(["sql", "--insecure", &format!("--host={}", self.address(node)), "-e", statement]);
        sql
    }

    fn address(&self, node: usize) -> String {
        format!("127.0.0.1:{}", self.ports[node][0])
    }

    fn store(&self, node: usize) -> PathBuf {
        self.site.folder().join(self.site.node(node).name)
    }
}

pub(crate) fn installed() -> Result<PathBuf, LabError> {
    program("cockroach").ok_or(LabError::Missing { what: "CockroachDB", remedy: "put its program `cockroach` on PATH" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::tests::stand_in;

    #[test]
    fn it_is_called_as_its_documentation_has_it() {
        // It listens, as the real one does before it has joined.
        let listen = r#"note "$@"; [ "$1" = start ] || exit 0; for a; do case $a in --listen-addr=*) port=${a##*:};; esac; done
            exec socat TCP-LISTEN:"$port",bind=127.0.0.1,reuseaddr,fork /dev/null"#;
        let Some(_) = crate::or_skip(
            program("socat").ok_or(LabError::Missing { what: "socat", remedy: "try `apt-get install socat`" }),
        ) else {
            return;
        };
        let stand_in = stand_in(&["cockroach"], listen);
        let site = Site::temporary(Kind::CockroachDb).unwrap();
        let cluster = CockroachDb::start_in(site, stand_in.path().join("cockroach"), 3, &["east", "west"]).unwrap();
        cluster.create_database("bench").unwrap();
        cluster.kill(1).unwrap();
        cluster.restart(1).unwrap();

        let address = |node: usize| cluster.address(node);
        let folder = cluster.folder().display();
        let all = format!("{},{},{}", address(0), address(1), address(2));
        let start = |node: usize, locality: &str| {
            format!(
                "cockroach start --insecure --listen-addr={} --http-addr=127.0.0.1:{} --join={all} \
                 --store={folder}/node{} --locality={locality} --cache=256MiB --max-sql-memory=256MiB",
                address(node),
                cluster.ports[node][1],
                node + 1
            )
        };
        let sql = |node: usize, sql: &str| format!("cockroach sql --insecure --host={} -e {sql}", address(node));
        let calls = std::fs::read_to_string(stand_in.path().join("calls")).unwrap();
        let expected = [
            start(0, "region=east,zone=east-0,rack=0"),
            start(1, "region=west,zone=west-1,rack=1"),
            start(2, "region=east,zone=east-2,rack=2"),
            format!("cockroach init --insecure --host={}", address(0)),
            sql(0, "SELECT 1"),
            sql(1, "SELECT 1"),
            sql(2, "SELECT 1"),
            sql(0, "CREATE DATABASE \"bench\""),
            start(1, "region=west,zone=west-1,rack=1"),
            sql(1, "SELECT 1"),
        ];
        assert_eq!(calls.lines().collect::<Vec<_>>(), expected);
        assert_eq!(cluster.urls("bench")[2], format!("cockroachdb://root@{}/bench?sslmode=disable", address(2)));
    }
}
