//! A MariaDB server of its own, on a free port of the loopback interface.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::programs::{free_ports, program, run, succeeds};
use crate::site::{Site, on_free_ports, once_let_go};
use crate::{Kind, LabError};

/// How long a start may take, recovery included.
const START: Duration = Duration::from_secs(60);

/// A running server; dropping it stops it and removes its data.
///
/// Its user `root` has no password. It takes `LOAD DATA LOCAL`. What it committed
/// survives a kill of its processes, and of the machine unless it is temporary.
#[derive(Debug)]
pub struct MariaDb {
    site: Site,
    programs: Programs,
    settings: Vec<String>,
}

impl MariaDb {
    /// Makes a server and starts it.
    ///
    /// # Errors
    /// [`LabError::Missing`] if MariaDB is not installed; else what its programs say.
    pub fn start() -> Result<Self, LabError> {
        Self::start_with(&[])
    }

    /// As [`MariaDb::start`], with options of `mariadbd` (without the dashes) that override ours.
    ///
    /// # Errors
    /// As [`MariaDb::start`].
    pub fn start_with(settings: &[(&str, &str)]) -> Result<Self, LabError> {
        let programs = Programs::find()?;
        Self::start_in(Site::temporary(Kind::MariaDb)?, programs, settings)
    }

    pub(crate) fn start_in(site: Site, programs: Programs, settings: &[(&str, &str)]) -> Result<Self, LabError> {
        let settings = settings.iter().map(|(name, value)| format!("--{name}={value}")).collect();
        let server = Self { site, programs, settings };
        server.site.add("mariadb", None);
        server.programs.install(&server.site, server.site.folder())?;
        on_free_ports(|| {
            let [port] = free_ports()?;
            server.launch(port)
        })?;
        Ok(server)
    }

    /// The port where it listens.
    pub fn port(&self) -> u16 {
        self.site.node(0).port()
    }

    /// The URL of one of its databases.
    pub fn url(&self, database: &str) -> String {
        self.site.url(0, database)
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If there is one of that name, or the server is down.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        self.programs.query(&self.site, &self.socket(), &format!("CREATE DATABASE `{name}`")).map(drop)
    }

    /// Kills it with SIGKILL, as a crash would (3.5.3.2): nothing is flushed, clients lose their connections.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self) -> Result<(), LabError> {
        self.site.kill(0)
    }

    /// Starts it again after [`MariaDb::kill`], or stops it and starts it, on the same port, and
    /// returns when it has recovered.
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
        let mut mariadbd = self.programs.server(&self.site, self.site.folder(), port);
        mariadbd.arg("--skip-log-bin").args(&self.settings);
        self.site.launch(0, format!("127.0.0.1:{port}"), "mariadbd", mariadbd, START, || {
            let mut ping = self.programs.client(&self.site, &self.socket());
            ping.args(["-e", "SELECT 1"]);
            succeeds(ping)
        })
    }

    fn socket(&self) -> PathBuf {
        self.site.folder().join("socket")
    }
}

/// MariaDB's programs on this machine.
#[derive(Debug)]
pub(crate) struct Programs {
    install: PathBuf,
    server: PathBuf,
    client: PathBuf,
}

impl Programs {
    pub(crate) fn find() -> Result<Self, LabError> {
        let program = |name| {
            program(name).ok_or(LabError::Missing { what: "MariaDB", remedy: "try `apt-get install mariadb-server`" })
        };
        Ok(Self { install: program("mariadb-install-db")?, server: program("mariadbd")?, client: program("mariadb")? })
    }

    /// Makes the data of a server in `folder`.
    pub(crate) fn install(&self, site: &Site, folder: &Path) -> Result<(), LabError> {
        let mut install = site.program(&self.install);
        // Several at once would meet in the common folder.
        install.env("TMPDIR", site.folder());
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        install.arg(format!("--datadir={}", folder.join("data").display()));
        // A server that starts removes all temporary tables in the folder for them, those of others too.
        install.arg(format!("--tmpdir={}", folder.display()));
        run("mariadb-install-db", install).map(drop)
    }

    /// A server whose data, socket and temporary files are in `folder`.
    pub(crate) fn server(&self, site: &Site, folder: &Path, port: u16) -> Command {
        let mut server = site.program(&self.server);
        server.arg("--no-defaults");
        for (option, file) in [("datadir", "data"), ("socket", "socket"), ("pid-file", "pid"), ("tmpdir", "")] {
            server.arg(format!("--{option}={}", folder.join(file).display()));
        }
        server.args([
            &format!("--port={port}"),
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            "--local-infile=ON",
        ]);
        server.args(["--innodb-buffer-pool-size=256M", "--innodb-flush-log-at-trx-commit=1", "--max-connections=200"]);
        if !site.durable() {
            server.arg("--innodb-flush-method=nosync");
        }
        server
    }

    pub(crate) fn client(&self, site: &Site, socket: &Path) -> Command {
        let mut client = site.program(&self.client);
        client.args(["--no-defaults", "--user=root", "--batch", "--skip-column-names"]);
        client.arg(format!("--socket={}", socket.display()));
        client
    }

    pub(crate) fn query(&self, site: &Site, socket: &Path, sql: &str) -> Result<String, LabError> {
        let mut client = self.client(site, socket);
        client.args(["-e", sql]);
        run("mariadb", client)
    }
}
