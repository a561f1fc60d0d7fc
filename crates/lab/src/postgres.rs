//! A PostgreSQL server of its own, on a free port of the loopback interface.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::LabError;
use crate::programs::{find, one_line, owned_by_root, run};

const PROGRAMS: [&str; 4] = ["initdb", "postgres", "pg_ctl", "createdb"];

/// Where Debian and its kin keep the versions.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The operating system's user for a server started by root, whom PostgreSQL refuses.
const USER: &str = "postgres";

/// Another process can take the port between its choice and the server's start.
const STARTS: u32 = 5;

/// How long a killed server's last processes may take to let go of its memory.
const LET_GO: Duration = Duration::from_secs(20);

/// A running server; dropping it stops it and removes its data.
///
/// It trusts every local connection and commits durably (`fsync`, `synchronous_commit`).
#[derive(Debug)]
pub struct Postgres {
    folder: TempDir,
    bin: PathBuf,
    as_user: bool,
    port: u16,
    running: AtomicBool,
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
        let bin = find(&PROGRAMS, Path::new(VERSIONS))
            .ok_or(LabError::Missing { what: "PostgreSQL", install: "apt-get install postgresql" })?;
        let folder = tempfile::Builder::new().prefix("weighbridge-postgres-").tempdir()?;
        let as_user = owned_by_root(folder.path())?;
        let mut server = Self { folder, bin, as_user, port: 0, running: AtomicBool::new(false) };
        if as_user {
            let mut chown = Command::new("chown");
            chown.arg(USER).arg(server.folder.path());
            run("chown", chown)?;
        }
        server.init(settings)?;
        for start in 1.. {
            server.port = free_port()?;
            match server.launch() {
                Ok(()) => break,
                Err(e) if start == STARTS || !server.port_was_taken() => return Err(e),
                Err(_) => {}
            }
        }
        Ok(server)
    }

    /// The port where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of one of its databases; `postgres` is always there.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If there is one of that name, or the server is down.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        let mut createdb = self.program("createdb");
        createdb.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "postgres", name]);
        run("createdb", createdb)
    }

    /// Kills it with SIGKILL, as a crash would (3.5.3.2): nothing is flushed, clients lose their connections.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self) -> Result<(), LabError> {
        // Its first line is the process id of the server's first process; the others end when it is gone.
        let text = std::fs::read_to_string(self.data().join("postmaster.pid"))?;
        let mut kill = Command::new("kill");
        kill.args(["-KILL", text.lines().next().unwrap_or_default()]);
        run("kill", kill)?;
        self.running.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Starts it again after [`Postgres::kill`], or stops it and starts it, on the same port, and
    /// returns when it has recovered.
    ///
    /// # Errors
    /// What the server says.
    pub fn restart(&mut self) -> Result<(), LabError> {
        if self.running.load(Ordering::Relaxed) {
            self.stop("fast")?;
        }
        let deadline = Instant::now() + LET_GO;
        loop {
            match self.launch() {
                Ok(()) => return Ok(()),
                Err(e) if Instant::now() > deadline => return Err(e),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    fn init(&self, settings: &[(&str, &str)]) -> Result<(), LabError> {
        let mut initdb = self.program("initdb");
        initdb.args(["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C", "-D"]);
        initdb.arg(self.data());
        run("initdb", initdb)?;
        let folder = self.folder.path().display().to_string();
        let ours = [
            ("listen_addresses", "127.0.0.1"),
            ("unix_socket_directories", &folder),
            ("shared_buffers", "256MB"),
            ("max_connections", "200"),
            ("fsync", "on"),
            ("synchronous_commit", "on"),
        ];
        // The last line of a name counts.
        let mut lines = String::new();
        for (name, value) in ours.iter().chain(settings) {
            let _ = writeln!(lines, "{name} = '{}'", value.replace('\'', "''"));
        }
        let file = self.data().join("postgresql.conf");
        let text = std::fs::read_to_string(&file)? + &lines;
        Ok(std::fs::write(&file, text)?)
    }

    /// Starts the server and waits until it takes connections.
    fn launch(&self) -> Result<(), LabError> {
        let _ = std::fs::remove_file(self.log());
        let mut start = self.program("pg_ctl");
        start.arg("-D").arg(self.data()).arg("-l").arg(self.log());
        start.args(["-w", "-t", "60", "-o", &format!("-p {}", self.port), "start"]);
        run("pg_ctl", start).map_err(|e| {
            let said = one_line(&std::fs::read_to_string(self.log()).unwrap_or_default());
            if said.is_empty() { e } else { LabError::Failed { program: "postgres", reason: said } }
        })?;
        self.running.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn stop(&self, mode: &str) -> Result<(), LabError> {
        let mut stop = self.program("pg_ctl");
        stop.arg("-D").arg(self.data()).args(["-m", mode, "-w", "stop"]);
        run("pg_ctl", stop)?;
        self.running.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn port_was_taken(&self) -> bool {
        std::fs::read_to_string(self.log()).is_ok_and(|log| log.contains("Address already in use"))
    }

    /// One of its programs, as the server's user, without the caller's libpq settings.
    fn program(&self, name: &str) -> Command {
        let path = self.bin.join(name);
        let mut command = if self.as_user {
            let mut runuser = Command::new("runuser");
            runuser.args(["-u", USER, "--"]).arg(path);
            runuser
        } else {
            Command::new(path)
        };
        for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(variable);
        }
        // The caller's folder may be closed to that user.
        command.current_dir(self.folder.path()).env("LC_ALL", "C");
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.running.load(Ordering::Relaxed) {
            // Its data go with it, so there is nothing to save, and nobody to tell.
            let _ = self.stop("immediate");
        }
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
