//! A TiDB server of its own: its real SQL layer on its embedded store, in one process, without replication.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::programs::{cache, free_ports, program, run, succeeds};
use crate::site::{Site, on_free_ports, once_let_go};
use crate::{Kind, LabError};

/// The module that the server is built from, and its version.
const MODULE: &str = include_str!("../../../scripts/tidb/go.mod");

/// How long a start may take; the first also makes the system tables.
const START: Duration = Duration::from_secs(120);

/// A running server; dropping it stops it and removes its data.
///
/// Its user `root` has no password. What was committed survives a kill.
#[derive(Debug)]
pub struct TiDb {
    site: Site,
    programs: Programs,
}

/// The server, and the client that makes databases.
#[derive(Debug)]
pub(crate) struct Programs {
    server: PathBuf,
    client: PathBuf,
}

impl TiDb {
    /// Makes a server and starts it.
    ///
    /// # Errors
    /// [`LabError::Missing`] if `tidb-server` is neither on `PATH` nor in the cache, or there is no client; else what
    /// they say.
    pub fn start() -> Result<Self, LabError> {
        let programs = Programs::find()?;
        Self::start_in(Site::temporary(Kind::TiDb)?, programs)
    }

    pub(crate) fn start_in(site: Site, programs: Programs) -> Result<Self, LabError> {
        let server = Self { site, programs };
        server.site.add("tidb", None);
        on_free_ports(|| {
            let [port] = free_ports()?;
            server.launch(port)
        })?;
        Ok(server)
    }

    /// The URL of one of its databases; `test` is always there.
    pub fn url(&self, database: &str) -> String {
        self.site.url(0, database)
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If there is one of that name, or the server is down.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        let mut client = self.client();
        client.args(["-e", &format!("CREATE DATABASE `{name}`")]);
        run("mariadb", client).map(drop)
    }

    /// Kills it with SIGKILL, as a crash would (3.5.3.2): clients lose their connections.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self) -> Result<(), LabError> {
        self.site.kill(0)
    }

    /// Starts it again after [`TiDb::kill`], or stops it and starts it, on the same port, and returns when it
    /// has recovered.
    ///
    /// # Errors
    /// What the server says.
    pub fn restart(&self) -> Result<(), LabError> {
        self.site.stop(0, Signal::TERM);
        let port = self.site.node(0).port();
        once_let_go(|| self.launch(port))
    }

    /// Its folder, with its data and logs.
    pub fn folder(&self) -> &Path {
        self.site.folder()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    fn launch(&self, port: u16) -> Result<(), LabError> {
        let folder = self.site.folder();
        let mut server = self.site.program(&self.programs.server);
        server.args(["-store", "unistore", "-host", "127.0.0.1", "-P", &port.to_string()]);
        // Its status page would take a port that is the same for all.
        server.args(["-report-status=false", "-L", "warn"]);
        for (option, file) in [("-path", "store"), ("-temp-dir", "tmp"), ("-socket", "socket")] {
            server.arg(option).arg(folder.join(file));
        }
        self.site.launch(0, format!("127.0.0.1:{port}"), "tidb-server", server, START, || {
            let mut ping = self.client();
            ping.args(["-e", "SELECT 1"]);
            succeeds(ping)
        })
    }

    fn client(&self) -> Command {
        let mut client = self.site.program(&self.programs.client);
        client.args(["--no-defaults", "--user=root"]);
        client.arg(format!("--socket={}", self.site.folder().join("socket").display()));
        client
    }
}

impl Programs {
    pub(crate) fn find() -> Result<Self, LabError> {
        let cached = || Some(cache()?.join(format!("tidb-{}/tidb-server", version()?)));
        let server = program("tidb-server").or_else(|| cached().filter(|server| server.is_file()));
        let client = program("mariadb").or_else(|| program("mysql"));
        Ok(Self {
            server: server.ok_or(LabError::Missing { what: "TiDB", remedy: "try `scripts/build-tidb.sh`" })?,
            client: client.ok_or(LabError::Missing {
                what: "a client for TiDB",
                remedy: "try `apt-get install mariadb-client`",
            })?,
        })
    }
}

/// The version that the build script names its folder for.
fn version() -> Option<&'static str> {
    MODULE.lines().find_map(|line| line.trim().strip_prefix("github.com/pingcap/tidb "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_module_names_its_version() {
        assert!(super::version().is_some_and(|version| version.starts_with('v') && !version.contains(' ')));
    }
}
