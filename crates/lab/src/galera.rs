//! A Galera cluster of its own: MariaDB servers that certify each other's transactions, on free ports of the
//! loopback interface.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::mariadb::Programs;
use crate::programs::{free_ports, program, run};
use crate::site::{Site, check_interrupt, once_let_go};
use crate::{Kind, LabError};

/// Where distributions put Galera's provider.
const LIBRARIES: [&str; 3] =
    ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so"];

/// How long a node may take until it is synced; it may have to copy another's data.
const SYNC: Duration = Duration::from_secs(90);

/// Timeouts within which a dead node is noticed: not much shorter than Galera's own, since a busy machine, or a slow
/// disk, makes a node that is alive silent for seconds.
const TIMEOUTS: &str = "evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.5S;evs.suspect_timeout=PT5S;\
                        evs.inactive_timeout=PT10S;evs.install_timeout=PT10S";

/// Makes a node begin a cluster instead of joining one.
pub(crate) const BOOTSTRAP: &str = "--wsrep-new-cluster";

/// A running cluster; dropping it stops it and removes its data.
///
/// Every node takes writes; a conflict between nodes is error 1213, also at COMMIT. What one acknowledged the others
/// apply a little later: a session with `wsrep_sync_wait` waits for it.
#[derive(Debug)]
pub struct Galera {
    site: Site,
    programs: Programs,
    provider: &'static str,
    ports: Vec<Ports>,
}

/// What one node listens on.
#[derive(Clone, Copy, Debug)]
struct Ports {
    sql: u16,
    /// Between the nodes.
    group: u16,
    /// For the transactions that a returning node has missed.
    incremental: u16,
    /// For a copy of all data.
    snapshot: u16,
}

impl Galera {
    /// Makes a cluster of `nodes` nodes and starts it; all are synced when it returns.
    ///
    /// # Errors
    /// [`LabError::Missing`] if MariaDB, Galera or rsync is not installed; else what their programs say.
    pub fn start(nodes: usize) -> Result<Self, LabError> {
        let (programs, provider) = installed()?;
        Self::start_in(Site::temporary(Kind::Galera)?, programs, provider, nodes)
    }

    pub(crate) fn start_in(
        site: Site,
        programs: Programs,
        provider: &'static str,
        nodes: usize,
    ) -> Result<Self, LabError> {
        let mut cluster = Self { site, programs, provider, ports: Vec::new() };
        for node in 0..nodes {
            cluster.site.add(&format!("node{}", node + 1), None);
        }
        // A group can fail to form while its first nodes are still looking for each other.
        match cluster.form(nodes) {
            Err(LabError::Failed { .. }) => {
                for node in 0..nodes {
                    cluster.site.stop(node, Signal::KILL);
                }
                cluster.form(nodes)?;
            }
            formed => formed?,
        }
        Ok(cluster)
    }

    /// The URLs of one of its databases, one a node.
    pub fn urls(&self, database: &str) -> Vec<String> {
        (0..self.ports.len()).map(|node| self.site.url(node, database)).collect()
    }

    /// Makes an empty database on every node.
    ///
    /// # Errors
    /// If there is one of that name, or no node is up.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        let alive = (0..self.ports.len()).find(|node| self.site.node(*node).is_alive()).unwrap_or_default();
        self.query(alive, &format!("CREATE DATABASE `{name}`")).map(drop)
    }

    /// Kills a node (the first is 0) with SIGKILL, as a crash would: the others go on within five seconds.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self, node: usize) -> Result<(), LabError> {
        self.site.kill(node)
    }

    /// Starts a node again after [`Galera::kill`], or stops it and starts it, on the same ports, and returns when
    /// it has caught up. Where all are down it begins the cluster anew from its own data, so the one that was
    /// killed last must be the first to come back.
    ///
    /// # Errors
    /// What the server says.
    pub fn restart(&self, node: usize) -> Result<(), LabError> {
        self.site.stop(node, Signal::TERM);
        let alone = self.site.nodes().iter().all(|node| !node.is_alive());
        if alone {
            allow_bootstrap(&self.node_folder(node).join("data/grastate.dat"))?;
        }
        once_let_go(|| self.launch(node, alone))
    }

    /// Its folder, with its data and logs.
    pub fn folder(&self) -> &Path {
        self.site.folder()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    /// Makes every node's data, and starts the nodes one after the other.
    fn form(&mut self, nodes: usize) -> Result<(), LabError> {
        check_interrupt()?;
        self.ports.clear();
        for node in 0..nodes {
            let [sql, group, incremental, snapshot] = free_ports()?;
            self.ports.push(Ports { sql, group, incremental, snapshot });
            let folder = self.node_folder(node);
            let mut make = self.site.program("sh");
            make.args(["-c", r#"rm -rf "$1" && mkdir "$1""#, "sh"]).arg(&folder);
            run("mkdir", make)?;
            if node == 0 {
                self.programs.install(&self.site, &folder)?;
            } else {
                let mut copy = self.site.program("cp");
                copy.arg("-R").arg(self.node_folder(0).join("data")).arg(folder);
                run("cp", copy)?;
            }
        }
        (0..nodes).try_for_each(|node| self.launch(node, node == 0))
    }

    fn launch(&self, node: usize, bootstrap: bool) -> Result<(), LabError> {
        let port = self.ports[node].sql;
        self.site.launch(node, format!("127.0.0.1:{port}"), "mariadbd", self.server(node, bootstrap), SYNC, || {
            let state = self.query(node, "SHOW STATUS LIKE 'wsrep_local_state_comment'");
            state.is_ok_and(|state| state.trim_end().ends_with("Synced"))
        })
    }

    fn server(&self, node: usize, bootstrap: bool) -> Command {
        let Ports { sql, group, incremental, snapshot } = self.ports[node];
        let members: Vec<String> = self.ports.iter().map(|ports| format!("127.0.0.1:{}", ports.group)).collect();
        let provider = format!(
            "base_host=127.0.0.1;base_port={group};gmcast.listen_addr=tcp://127.0.0.1:{group};\
             ist.recv_addr=127.0.0.1:{incremental};ist.recv_bind=127.0.0.1:{incremental};gcache.size=64M;{TIMEOUTS}"
        );
        let mut server = self.programs.server(&self.site, &self.node_folder(node), sql);
        server.args(["--binlog-format=ROW", "--default-storage-engine=InnoDB", "--innodb-autoinc-lock-mode=2"]);
        server.args(["--wsrep-on=ON", "--wsrep-cluster-name=weighbridge", "--wsrep-slave-threads=2"]);
        server.args(["--wsrep-sst-method=rsync", &format!("--wsrep-sst-receive-address=127.0.0.1:{snapshot}")]);
        server.args([
            format!("--server-id={}", node + 1),
            format!("--wsrep-node-name={}", self.site.node(node).name),
            format!("--wsrep-node-address=127.0.0.1:{group}"),
            format!("--wsrep-node-incoming-address=127.0.0.1:{sql}"),
            format!("--wsrep-provider={}", self.provider),
            format!("--wsrep-provider-options={provider}"),
            format!("--wsrep-cluster-address=gcomm://{}", members.join(",")),
        ]);
        if bootstrap {
            server.arg(BOOTSTRAP);
        }
        server
    }

    fn query(&self, node: usize, sql: &str) -> Result<String, LabError> {
        self.programs.query(&self.site, &self.node_folder(node).join("socket"), sql)
    }

    fn node_folder(&self, node: usize) -> PathBuf {
        self.site.folder().join(self.site.node(node).name)
    }
}

/// MariaDB's programs and Galera's provider on this machine.
pub(crate) fn installed() -> Result<(Programs, &'static str), LabError> {
    let missing =
        || LabError::Missing { what: "Galera", remedy: "try `apt-get install mariadb-server galera-4 rsync`" };
    let programs = Programs::find()?;
    let provider = LIBRARIES.into_iter().find(|provider| Path::new(provider).is_file()).ok_or_else(missing)?;
    // New nodes are filled by it.
    program("rsync").ok_or_else(missing)?;
    Ok((programs, provider))
}

/// Lets a node that was killed begin the cluster anew, which Galera refuses unless told that its data are the latest.
pub(crate) fn allow_bootstrap(file: &Path) -> Result<(), LabError> {
    let state = std::fs::read_to_string(file)?;
    Ok(std::fs::write(file, state.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1"))?)
}
