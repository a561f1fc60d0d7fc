//! Where the servers of one kind live: a folder, the processes in it, and who owns them.
//!
//! A temporary site ends with the value. A kept one outlives the program that made it, in a folder with a file
//! that describes it ([`Description`]), written before anything is waited for, so that nothing is ever forgotten.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Signal, geteuid};

use crate::network::Network;
use crate::persistent::Description;
use crate::process::{Process, end_all};
use crate::programs::{complaint, run, succeeds};
use crate::{Kind, LabError};

/// How often a starting server is asked whether it is ready.
const ASK: Duration = Duration::from_millis(50);

/// How long a server may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(30);

/// Another process can take a port between its choice and the server's start.
const STARTS: u32 = 5;

/// How long a killed server's last processes may take to let go of its port and memory.
const LET_GO: Duration = Duration::from_secs(20);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes every start of a server that is under way in this program fail soon with [`LabError::Interrupted`].
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

pub(crate) fn check_interrupt() -> Result<(), LabError> {
    if INTERRUPTED.load(Ordering::Relaxed) { Err(LabError::Interrupted) } else { Ok(()) }
}

/// One server of a site.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Node {
    /// Its name within the site.
    pub name: String,
    /// Host and port.
    pub address: String,
    /// Where it says it is, for databases that have regions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub region: Option<String>,
    /// Its first process; none before its first start.
    pub process: Option<Process>,
    /// The program that it was started with last, and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub command: Vec<String>,
}

impl Node {
    /// Whether its process runs.
    pub fn is_alive(&self) -> bool {
        self.process.as_ref().is_some_and(Process::is_alive)
    }

    /// The port of its address; 0 before its first start.
    pub(crate) fn port(&self) -> u16 {
        self.address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct Site {
    kind: Kind,
    folder: PathBuf,
    /// Whom its programs run as, if not as the caller.
    user: Option<(u32, u32)>,
    kept: bool,
    /// Nothing is stopped or removed at the end.
    outlives: AtomicBool,
    nodes: Mutex<Vec<Node>>,
    /// What another process holds between the nodes.
    network: Mutex<Option<Network>>,
}

impl Site {
    /// A folder that is gone, with its processes, when the site is dropped.
    pub(crate) fn temporary(kind: Kind) -> Result<Self, LabError> {
        let folder = tempfile::Builder::new().prefix(&format!("weighbridge-{kind}-")).tempdir()?.keep();
        Self::new(kind, folder, false)
    }

    /// A folder that stays once [`Site::keep`] has been called; it must not exist.
    pub(crate) fn kept(kind: Kind, folder: &Path) -> Result<Self, LabError> {
        if let Some(parent) = folder.parent() {
            std::fs::create_dir_all(parent)?;
        }
        DirBuilder::new().mode(0o700).create(folder)?;
        Self::new(kind, std::path::absolute(folder)?, true)
    }

    fn new(kind: Kind, folder: PathBuf, kept: bool) -> Result<Self, LabError> {
        let outlives = AtomicBool::new(false);
        let mut site =
            Self { kind, folder, user: None, kept, outlives, nodes: Mutex::default(), network: Mutex::default() };
        site.record()?;
        if let Some(user) = kind.user().filter(|_| geteuid().is_root()) {
            site.user = Some((id("-u", user)?, id("-g", user)?));
            chown(&site.folder, site.user.map(|user| user.0), site.user.map(|user| user.1))?;
            let mut test = site.program("test");
            test.args(["-x"]).arg(&site.folder).current_dir("/");
            if !succeeds(test) {
                return Err(LabError::Closed { path: site.folder.clone(), user });
            }
        }
        Ok(site)
    }

    /// The site of servers that another program has kept, and that stay when this one ends.
    pub(crate) fn attach(found: Description, folder: &Path) -> Result<Self, LabError> {
        let user = match found.kind.user().filter(|_| geteuid().is_root()) {
            Some(user) => Some((id("-u", user)?, id("-g", user)?)),
            None => None,
        };
        let folder = std::path::absolute(folder)?;
        let outlives = AtomicBool::new(true);
        let nodes = Mutex::new(found.nodes);
        Ok(Self { kind: found.kind, folder, user, kept: true, outlives, nodes, network: Mutex::new(found.network) })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether what it commits must outlast the machine too. A temporary site goes with it anyhow, and tests that wait
    /// for a busy disk learn nothing from it; a killed server's data are safe with the kernel.
    pub(crate) fn durable(&self) -> bool {
        self.kept
    }

    /// Whether its programs run as another user than the caller.
    pub(crate) fn has_user(&self) -> bool {
        self.user.is_some()
    }

    /// A command in the site's folder, as the site's user, without the caller's own settings of clients.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        let settings = ["PG", "MYSQL_", "MARIADB_", "COCKROACH_"];
        for (name, _) in std::env::vars_os() {
            if settings.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.current_dir(&self.folder).env("LC_ALL", "C");
        command
    }

    /// Adds a server that is still to be started, and returns its number.
    pub(crate) fn add(&self, name: &str, region: Option<&str>) -> usize {
        let mut nodes = self.lock();
        let region = region.map(str::to_owned);
        nodes.push(Node { name: name.to_owned(), address: String::new(), region, process: None, command: Vec::new() });
        nodes.len() - 1
    }

    pub(crate) fn node(&self, node: usize) -> Node {
        self.lock()[node].clone()
    }

    pub(crate) fn nodes(&self) -> Vec<Node> {
        self.lock().clone()
    }

    pub(crate) fn url(&self, node: usize, database: &str) -> String {
        self.kind.url(&self.lock()[node].address, database)
    }

    /// Starts a server's process, which logs to `<name>.log`, and waits until it is ready.
    pub(crate) fn launch(
        &self,
        node: usize,
        address: String,
        program: &'static str,
        mut command: Command,
        limit: Duration,
        ready: impl FnMut() -> bool,
    ) -> Result<(), LabError> {
        check_interrupt()?;
        let log = File::create(self.log(node))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let process = Process::spawn(&mut command).map_err(|e| LabError::Failed { program, reason: e.to_string() })?;
        {
            let mut nodes = self.lock();
            nodes[node].address = address;
            nodes[node].process = Some(process.clone());
            nodes[node].command = words(&command);
        }
        self.record()?;
        self.wait(node, program, limit, ready)
    }

    /// Waits until a server that was launched is ready.
    pub(crate) fn wait(
        &self,
        node: usize,
        program: &'static str,
        limit: Duration,
        mut ready: impl FnMut() -> bool,
    ) -> Result<(), LabError> {
        let deadline = Instant::now() + limit;
        loop {
            let alive = self.node(node).is_alive();
            if alive && ready() {
                return Ok(());
            }
            check_interrupt()?;
            if !alive || Instant::now() > deadline {
                let why =
                    if alive { format!("not ready after {} s: ", limit.as_secs()) } else { "it ended: ".to_owned() };
                let log = std::fs::read(self.log(node)).unwrap_or_default();
                let said = complaint(&String::from_utf8_lossy(&log), self.kind.complaint());
                return Err(LabError::Failed { program, reason: why + &said });
            }
            std::thread::sleep(ASK);
        }
    }

    /// Kills a server with SIGKILL, as a crash would.
    pub(crate) fn kill(&self, node: usize) -> Result<(), LabError> {
        let node = self.node(node);
        match node.process.filter(Process::is_alive) {
            Some(process) if process.kill() => Ok(()),
            Some(process) => Err(LabError::Immortal { name: node.name, pid: process.pid }),
            None => Err(LabError::NotRunning(node.name)),
        }
    }

    /// Stops a server with a signal, if it runs.
    pub(crate) fn stop(&self, node: usize, signal: Signal) {
        end_all(self.node(node).process.iter(), signal, GRACE);
    }

    /// Lets the servers outlive this value; the file in its folder describes them.
    pub(crate) fn keep(&self) -> Result<(), LabError> {
        self.outlives.store(true, Ordering::Relaxed);
        self.record().inspect_err(|_| self.outlives.store(false, Ordering::Relaxed))
    }

    /// Has a network between its nodes from now on, in place of the one that it may have had.
    pub(crate) fn set_network(&self, network: Network) -> Result<(), LabError> {
        let former = lock(&self.network).replace(network);
        end_all(former.iter().filter_map(|network| network.process.as_ref()), Signal::TERM, GRACE);
        self.record()
    }

    /// What is there.
    pub(crate) fn description(&self) -> Description {
        let complete = self.outlives.load(Ordering::Relaxed);
        Description::new(self.kind, self.nodes(), lock(&self.network).clone(), complete)
    }

    /// Writes down what is there.
    fn record(&self) -> Result<(), LabError> {
        if self.kept { self.description().write(&self.folder) } else { Ok(()) }
    }

    fn log(&self, node: usize) -> PathBuf {
        self.folder.join(format!("{}.log", self.node(node).name))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Node>> {
        lock(&self.nodes)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if !self.outlives.load(Ordering::Relaxed) {
            // The data go with the servers, so there is nobody to tell.
            let _ = demolish(&self.description(), &self.folder);
        }
    }
}

/// Ends the processes and removes the folder, in this order, so that a process that goes on stays described.
pub(crate) fn demolish(found: &Description, folder: &Path) -> Result<(), LabError> {
    let servers = found.nodes.iter().filter_map(|node| Some((node.name.as_str(), node.process.as_ref()?)));
    let network = found.network.iter().filter_map(|network| Some(("network", network.process.as_ref()?)));
    end_all(servers.clone().map(|(_, process)| process), found.kind.end(), GRACE);
    end_all(network.clone().map(|(_, process)| process), Signal::TERM, GRACE);
    for (name, process) in servers.chain(network) {
        if process.is_alive() {
            return Err(LabError::Immortal { name: name.to_owned(), pid: process.pid });
        }
    }
    let deadline = Instant::now() + LET_GO;
    loop {
        // A server's other processes end soon after the first, and may still write.
        match std::fs::remove_dir_all(folder) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(_) if Instant::now() < deadline => std::thread::sleep(ASK),
            ended => return Ok(ended?),
        }
    }
}

/// A panic elsewhere must not keep the processes from being ended.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts on ports that are free when they are chosen, and once more on others if one was taken meanwhile.
pub(crate) fn on_free_ports(mut start: impl FnMut() -> Result<(), LabError>) -> Result<(), LabError> {
    let taken = |e: &LabError| e.to_string().to_lowercase().contains("address already in use");
    for _ in 1..STARTS {
        match start() {
            Err(e) if taken(&e) => {}
            ended => return ended,
        }
    }
    start()
}

/// Starts again what was killed or stopped, whose port and memory may be held a little longer.
pub(crate) fn once_let_go(mut start: impl FnMut() -> Result<(), LabError>) -> Result<(), LabError> {
    let deadline = Instant::now() + LET_GO;
    loop {
        match start() {
            Err(LabError::Failed { .. }) if Instant::now() < deadline => std::thread::sleep(2 * ASK),
            ended => return ended,
        }
    }
}

/// A command's program and arguments.
fn words(command: &Command) -> Vec<String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}

fn id(which: &str, user: &str) -> Result<u32, LabError> {
    let mut id = Command::new("id");
    id.args([which, user]);
    let text = run("id", id)?;
    text.trim().parse().map_err(|_| LabError::Failed { program: "id", reason: text })
}
