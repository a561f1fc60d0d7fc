//! A MariaDB server of its own, on a free port of the loopback interface.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::LabError;
use crate::programs::{find, one_line, owned_by_root, run};

const PROGRAMS: [&str; 2] = ["mariadb-install-db", "mariadb-admin"];

/// The server's own program, which distributions keep out of a user's `PATH`.
const SERVERS: [&str; 3] = ["/usr/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/local/sbin/mariadbd"];

/// The operating system's user for a server started by root.
const USER: &str = "mysql";

/// How long a server may take to answer.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A running server; dropping it stops it and removes its data. Its user `root` has no password.
#[derive(Debug)]
pub struct MariaDb {
    folder: TempDir,
    bin: PathBuf,
    port: u16,
    server: Child,
}

impl MariaDb {
    /// Makes a server and starts it.
    ///
    /// # Errors
    /// [`LabError::Missing`] if MariaDB is not installed; else what its programs say.
    pub fn start() -> Result<Self, LabError> {
        let missing = LabError::Missing { what: "MariaDB", install: "apt-get install mariadb-server" };
        let (Some(bin), Some(program)) =
            (find(&PROGRAMS, Path::new("/usr/lib/mysql")), SERVERS.iter().find(|path| Path::new(path).is_file()))
        else {
            return Err(missing);
        };
        let folder = tempfile::Builder::new().prefix("weighbridge-mariadb-").tempdir()?;
        let as_user = owned_by_root(folder.path())?.then(|| format!("--user={USER}"));
        if as_user.is_some() {
            let mut chown = Command::new("chown");
            chown.arg(USER).arg(folder.path());
            run("chown", chown)?;
        }
        let path = |name: &str| folder.path().join(name).display().to_string();
        let mut install = Command::new(bin.join("mariadb-install-db"));
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        install.args(&as_user).arg(format!("--datadir={}", path("data")));
        // Several at once would meet in the common folder.
        install.env("TMPDIR", folder.path());
        run("mariadb-install-db", install)?;

        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut start = Command::new(program);
        start.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-log-bin", "--local-infile=1"]);
        // Bytes compare as bytes, as in the tables of the tool's own dialect.
        start.args(["--character-set-server=utf8mb4", "--collation-server=utf8mb4_bin"]);
        start.arg("--innodb-buffer-pool-size=256M").args(&as_user);
        start.arg(format!("--port={port}"));
        for (option, name) in
            [("datadir", "data"), ("socket", "socket"), ("pid-file", "pid"), ("log-error", "log"), ("tmpdir", "")]
        {
            start.arg(format!("--{option}={}", path(name)));
        }
        let server = start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut server = Self { folder, bin, port, server };
        server.wait_until_it_answers()?;
        Ok(server)
    }

    /// The port where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of one of its databases.
    pub fn url(&self, database: &str) -> String {
        format!("mariadb://root@127.0.0.1:{}/{database}", self.port)
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// If there is one of that name, or the server is down.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        run("mariadb-admin", self.admin(&["create", name]))
    }

    fn wait_until_it_answers(&mut self) -> Result<(), LabError> {
        let deadline = Instant::now() + START_LIMIT;
        while let Err(e) = run("mariadb-admin", self.admin(&["ping"])) {
            if Instant::now() > deadline || self.server.try_wait()?.is_some() {
                let said = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                let error = said.lines().rfind(|line| line.contains("[ERROR]")).map(one_line);
                return Err(error.map_or(e, |reason| LabError::Failed { program: "mariadbd", reason }));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn admin(&self, what: &[&str]) -> Command {
        let mut admin = Command::new(self.bin.join("mariadb-admin"));
        admin.args(["--no-defaults", "--user=root", "--socket"]).arg(self.folder.path().join("socket")).args(what);
        admin
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        // Its data go with it, so there is nothing to save, and nobody to tell.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
