//! A PostgreSQL primary with synchronous standbys, on free ports of the loopback interface.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;

use crate::programs::{free_ports, run};
use crate::site::{Site, on_free_ports};
use crate::{Kind, LabError, postgres};

/// How long standbys may take until the primary counts on them.
const ATTACH: Duration = Duration::from_secs(60);

/// A running primary and its standbys; dropping it stops them and removes their data.
///
/// COMMIT waits for one of the standbys, so one dead standby is no matter, and with all of them dead COMMIT waits.
#[derive(Debug)]
pub struct PostgresCluster {
    site: Site,
    bin: PathBuf,
    primary: AtomicUsize,
}

impl PostgresCluster {
    /// Makes a primary and `nodes - 1` standbys and starts them.
    ///
    /// # Errors
    /// [`LabError::Missing`] if PostgreSQL is not installed; else what its programs say.
    pub fn start(nodes: usize) -> Result<Self, LabError> {
        let bin = postgres::installed()?;
        Self::start_in(Site::temporary(Kind::Postgres)?, bin, nodes, &[])
    }

    pub(crate) fn start_in(
        site: Site,
        bin: PathBuf,
        nodes: usize,
        settings: &[(&str, &str)],
    ) -> Result<Self, LabError> {
        let cluster = Self { site, bin, primary: AtomicUsize::new(0) };
        for node in 1..=nodes {
            cluster.site.add(&format!("node{node}"), None);
        }
        // A standby that comes back finds what it missed, and looks for it at once.
        let ours = [("wal_keep_size", "256MB"), ("wal_retrieve_retry_interval", "200ms")];
        let settings = [&ours[..], settings].concat();
        postgres::init(&cluster.site, &cluster.bin, &cluster.data(0), &settings)?;
        for node in 0..nodes {
            if node > 0 {
                cluster.copy_primary(node)?;
            }
            on_free_ports(|| {
                let [port] = free_ports()?;
                cluster.launch(node, port)
            })?;
        }
        cluster.expect_standbys()?;
        Ok(cluster)
    }

    /// The URL of one of the primary's databases; `postgres` is always there.
    pub fn url(&self, database: &str) -> String {
        self.site.url(self.primary(), database)
    }

    /// The URLs of one of its databases, one a node; the standbys' are for reading.
    pub fn urls(&self, database: &str) -> Vec<String> {
        (0..self.site.nodes().len()).map(|node| self.site.url(node, database)).collect()
    }

    /// The number of the primary among its nodes; the first is 0.
    pub fn primary(&self) -> usize {
        self.primary.load(Ordering::Relaxed)
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If there is one of that name, or the primary is down.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        postgres::create_database(&self.site, &self.bin, self.primary(), name)
    }

    /// Kills a node with SIGKILL, as a crash would.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self, node: usize) -> Result<(), LabError> {
        self.site.kill(node)
    }

    /// Starts a node again after [`PostgresCluster::kill`], or stops it and starts it, on the same port. A node that
    /// was the primary before another was promoted comes back as a standby, with a fresh copy.
    ///
    /// # Errors
    /// What the server says.
    pub fn restart(&self, node: usize) -> Result<(), LabError> {
        if node != self.primary() && !self.data(node).join("standby.signal").exists() {
            self.site.stop(node, Signal::INT);
            std::fs::remove_dir_all(self.data(node))?;
            self.copy_primary(node)?;
        }
        postgres::restart(&self.site, &self.bin, node, &self.data(node))
    }

    /// Makes a standby the primary, after stopping the old one if it still runs; the other standbys follow it.
    ///
    /// # Errors
    /// What the servers say.
    pub fn promote(&self, node: usize) -> Result<(), LabError> {
        let old = self.primary();
        if node == old {
            return Ok(());
        }
        self.site.stop(old, Signal::INT);
        self.query(node, "SELECT pg_promote()")?;
        self.primary.store(node, Ordering::Relaxed);
        for other in self.standbys() {
            self.query(other, &format!("ALTER SYSTEM SET primary_conninfo = '{}'", self.conninfo(other)))?;
            self.query(other, "SELECT pg_reload_conf()")?;
        }
        self.expect_standbys()
    }

    /// Its folder, with its data and logs.
    pub fn folder(&self) -> &Path {
        self.site.folder()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    /// The living nodes other than the primary.
    fn standbys(&self) -> Vec<usize> {
        let nodes = self.site.nodes();
        (0..nodes.len()).filter(|node| *node != self.primary() && nodes[*node].is_alive()).collect()
    }

    /// Makes COMMIT wait for one of the living standbys, once all of them are attached.
    fn expect_standbys(&self) -> Result<(), LabError> {
        let primary = self.primary();
        let standbys = self.standbys();
        let wait_for = |state: &str| {
            let attached = format!("SELECT COUNT(*) FROM pg_stat_replication WHERE {state}");
            self.site.wait(primary, "postgres", ATTACH, || {
                self.query(primary, &attached).is_ok_and(|count| count.trim() == standbys.len().to_string())
            })
        };
        wait_for("state = 'streaming'")?;
        let names: Vec<String> = standbys.iter().map(|node| self.site.node(*node).name).collect();
        let rule = if names.is_empty() { String::new() } else { format!("ANY 1 ({})", names.join(",")) };
        self.query(primary, &format!("ALTER SYSTEM SET synchronous_standby_names = '{rule}'"))?;
        self.query(primary, "SELECT pg_reload_conf()")?;
        // Each sender of WAL reads the rule when it gets to it.
        wait_for("sync_state = 'quorum'")
    }

    /// Makes a standby's data from the primary's.
    fn copy_primary(&self, node: usize) -> Result<(), LabError> {
        let mut backup = self.site.program(self.bin.join("pg_basebackup"));
        backup.arg("-D").arg(self.data(node)).args([
            "-d",
            &self.conninfo(node),
            "-X",
            "stream",
            "-c",
            "fast",
            "-R",
            "--no-sync",
        ]);
        run("pg_basebackup", backup)?;
        // The primary's own rule must not come with its data, and the last line of a name counts.
        let settings = format!("synchronous_standby_names = ''\nprimary_conninfo = '{}'\n", self.conninfo(node));
        let mut file = OpenOptions::new().append(true).open(self.data(node).join("postgresql.auto.conf"))?;
        Ok(file.write_all(settings.as_bytes())?)
    }

    /// How a standby reaches the primary, and by what name it is known there.
    fn conninfo(&self, node: usize) -> String {
        let primary = self.site.node(self.primary());
        let name = self.site.node(node).name;
        format!("host=127.0.0.1 port={} user=postgres application_name={name}", primary.port())
    }

    fn launch(&self, node: usize, port: u16) -> Result<(), LabError> {
        postgres::launch(&self.site, &self.bin, node, &self.data(node), port)
    }

    fn query(&self, node: usize, sql: &str) -> Result<String, LabError> {
        let mut psql = self.site.program(self.bin.join("psql"));
        psql.args(["-XAtq", "-U", "postgres", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", sql, "-h"]);
        psql.arg(self.site.folder()).args(["-p", &self.site.node(node).port().to_string()]);
        run("psql", psql)
    }

    fn data(&self, node: usize) -> PathBuf {
        self.site.folder().join(self.site.node(node).name)
    }
}
