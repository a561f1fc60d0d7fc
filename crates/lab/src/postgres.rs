//! A PostgreSQL server of its own, on a free port of the loopback interface.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::programs::{cache, find, free_ports, run, succeeds, versions};
use crate::site::{Site, on_free_ports, once_let_go};
use crate::{Kind, LabError};

const PROGRAMS: [&str; 6] = ["initdb", "postgres", "pg_isready", "createdb", "psql", "pg_basebackup"];

/// Where Debian and its kin keep the versions.
const VERSIONS: &str = "/usr/lib/postgresql";

/// How long a start may take, recovery included.
const START: Duration = Duration::from_secs(60);

/// A running server; dropping it stops it and removes its data.
///
/// It trusts every local connection. What it committed survives a kill of its processes, and of the machine unless it is temporary.
#[derive(Debug)]
pub struct Postgres {
    site: Site,
    bin: PathBuf,
}

impl Postgres {
    /// Makes a server and starts it.
    ///
    /// # Errors
    /// [`LabError::Missing`] if PostgreSQL is not installed; else what its programs say.
    pub fn start() -> Result<Self, LabError> {
        Self::start_with(&[])
    }

    /// As [`Postgres::start`], with settings of `postgresql.conf` that override ours.
    ///
    /// # Errors
    /// As [`Postgres::start`].
    pub fn start_with(settings: &[(&str, &str)]) -> Result<Self, LabError> {
        let bin = installed()?;
        Self::start_in(Site::temporary(Kind::Postgres)?, bin, settings)
    }

    /// As [`Postgres::start`], of the version that `scripts/fetch-postgres.sh` put into the cache.
    ///
    /// # Errors
    /// As [`Postgres::start`].
    pub fn start_newest() -> Result<Self, LabError> {
        let cached = cache().map(|cache| versions(&cache, "postgresql-")).unwrap_or_default().into_iter().next();
        let bin = cached
            .ok_or(LabError::Missing { what: "the newest PostgreSQL", remedy: "try `scripts/fetch-postgres.sh`" })?;
        let site = Site::temporary(Kind::Postgres)?;
        if !site.has_user() {
            return Self::start_in(site, bin, &[]);
        }
        // Root's cache is closed to the server's user.
        let programs = site.folder().join("postgresql");
        let mut copy = Command::new("cp");
        copy.arg("-R").arg(bin.with_file_name("")).arg(&programs);
        run("cp", copy)?;
        Self::start_in(site, programs.join("bin"), &[])
    }

    pub(crate) fn start_in(site: Site, bin: PathBuf, settings: &[(&str, &str)]) -> Result<Self, LabError> {
        let server = Self { site, bin };
        let node = server.site.add("postgres", None);
        init(&server.site, &server.bin, &server.data(), settings)?;
        on_free_ports(|| {
            let [port] = free_ports()?;
            launch(&server.site, &server.bin, node, &server.data(), port)
        })?;
        Ok(server)
    }

    /// The port where it listens.
    pub fn port(&self) -> u16 {
        self.site.node(0).port()
    }

    /// The URL of one of its databases; `postgres` is always there.
    pub fn url(&self, database: &str) -> String {
        self.site.url(0, database)
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If there is one of that name, or the server is down.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        create_database(&self.site, &self.bin, 0, name)
    }

    /// Kills it with SIGKILL, as a crash would (3.5.3.2): nothing is flushed, clients lose their connections.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self) -> Result<(), LabError> {
        self.site.kill(0)
    }

    /// Starts it again after [`Postgres::kill`], or stops it and starts it, on the same port, and
    /// returns when it has recovered.
    ///
    /// # Errors
    /// What the server says.
    pub fn restart(&self) -> Result<(), LabError> {
        restart(&self.site, &self.bin, 0, &self.data())
    }

    /// Its folder, with its data and logs.
    pub fn folder(&self) -> &Path {
        self.site.folder()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    fn data(&self) -> PathBuf {
        self.site.folder().join("data")
    }
}

/// The folder of the programs that the system or `PATH` has.
pub(crate) fn installed() -> Result<PathBuf, LabError> {
    find(&PROGRAMS, versions(Path::new(VERSIONS), ""))
        .ok_or(LabError::Missing { what: "PostgreSQL", remedy: "try `apt-get install postgresql`" })
}

/// Makes the data of a server.
pub(crate) fn init(site: &Site, bin: &Path, data: &Path, settings: &[(&str, &str)]) -> Result<(), LabError> {
    let mut initdb = site.program(bin.join("initdb"));
    initdb.args(["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C", "-D"]);
    initdb.arg(data);
    run("initdb", initdb)?;
    let folder = site.folder().display().to_string();
    let ours = [
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", &folder),
        ("shared_buffers", "256MB"),
        ("max_connections", "200"),
        ("fsync", if site.durable() { "on" } else { "off" }),
        ("synchronous_commit", "on"),
    ];
    // The last line of a name counts.
    let mut lines = String::new();
    for (name, value) in ours.iter().chain(settings) {
        let _ = writeln!(lines, "{name} = '{}'", value.replace('\'', "''"));
    }
    let file = data.join("postgresql.conf");
    let text = std::fs::read_to_string(&file)? + &lines;
    Ok(std::fs::write(&file, text)?)
}

/// Starts a server on its data and waits until it takes connections.
pub(crate) fn launch(site: &Site, bin: &Path, node: usize, data: &Path, port: u16) -> Result<(), LabError> {
    let port = port.to_string();
    let mut postgres = site.program(bin.join("postgres"));
    postgres.arg("-D").arg(data).args(["-p", &port]);
    site.launch(node, format!("127.0.0.1:{port}"), "postgres", postgres, START, || {
        // Its socket lies in the site's folder, where nobody else can answer.
        let mut ready = site.program(bin.join("pg_isready"));
        ready.arg("-h").arg(site.folder()).args(["-p", &port]);
        succeeds(ready)
    })
}

/// Stops a server if it runs, and starts it on the same port.
pub(crate) fn restart(site: &Site, bin: &Path, node: usize, data: &Path) -> Result<(), LabError> {
    site.stop(node, Signal::INT);
    let port = site.node(node).port();
    once_let_go(|| launch(site, bin, node, data, port))
}

pub(crate) fn create_database(site: &Site, bin: &Path, node: usize, name: &str) -> Result<(), LabError> {
    let mut createdb = site.program(bin.join("createdb"));
    createdb.arg("-h").arg(site.folder()).args(["-p", &site.node(node).port().to_string(), "-U", "postgres", name]);
    run("createdb", createdb).map(drop)
}
