//! Servers that outlive the command that started them: one folder a kind, with a file that describes it.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::network::Network;
use crate::process::Process;
use crate::site::{Site, check_interrupt, demolish};
use crate::{CockroachDb, Delays, Galera, Kind, LabError, MariaDb, Node, TiDb, YugabyteDb};
use crate::{Postgres, PostgresCluster, PostgresRegions};
use crate::{cockroachdb, galera, mariadb, postgres, tidb, yugabytedb};

/// The file in a kept site's folder.
const FILE: &str = "lab.json";

/// The empty database that every kept server has.
pub const DATABASE: &str = "bench";

/// What a kept site's file says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Description {
    /// The kind.
    pub kind: Kind,
    /// The process that is starting it; none once everything is up.
    starter: Option<Process>,
    /// The servers, the first being the one to connect to.
    pub nodes: Vec<Node>,
    /// The network between the servers, where they are at a distance from each other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub network: Option<Network>,
}

impl Description {
    pub(crate) fn new(kind: Kind, nodes: Vec<Node>, network: Option<Network>, complete: bool) -> Self {
        let starter = if complete { None } else { Process::this() };
        Self { kind, starter, nodes, network }
    }

    /// Writes it in one step, so that a reader finds the old or the new one.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        let partial = folder.join(format!("{FILE}.partial"));
        std::fs::write(&partial, text + "\n")?;
        Ok(std::fs::rename(partial, folder.join(FILE))?)
    }

    /// How it is with the servers now.
    pub fn condition(&self) -> Condition {
        let alive = self.nodes.iter().filter(|node| node.is_alive()).count();
        let connected = self.network.as_ref().is_none_or(Network::is_alive);
        match &self.starter {
            Some(starter) if starter.is_alive() => Condition::Starting,
            Some(_) => Condition::Unfinished,
            None if alive == self.nodes.len() && connected => Condition::Up,
            None if alive > 0 => Condition::Degraded,
            None => Condition::Stale,
        }
    }

    /// The URLs of the database that every kept server has, one a node.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(|node| self.kind.url(&node.address, DATABASE)).collect()
    }
}

/// How it is with kept servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// Another command is starting them.
    Starting,
    /// All run.
    Up,
    /// Some are down.
    Degraded,
    /// None runs, but the folder is left.
    Stale,
    /// The start was cut short; some may run.
    Unfinished,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Starting => "starting",
            Condition::Up => "up",
            Condition::Degraded => "degraded",
            Condition::Stale => "stale",
            Condition::Unfinished => "unfinished",
        })
    }
}

/// What servers are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// How many.
    pub nodes: usize,
    /// The regions that they say they are in, in turn.
    pub regions: &'a [&'a str],
    /// Settings by name, where the kind takes them ([`Kind::takes_settings`]).
    pub settings: &'a [(&'a str, &'a str)],
    /// How far the servers are from each other, each being in a region of its own ([`Kind::has_distance`]).
    pub distance: Option<Distance<'a>>,
}

/// What lies between servers.
#[derive(Clone, Copy, Debug)]
pub struct Distance<'a> {
    /// The regions, and the round trips between them.
    pub delays: &'a Delays,
    /// The program, with its arguments, that is left behind to hold the network: it calls [`hold`](crate::hold).
    pub holder: &'a [String],
}

/// Starts servers of a kind in a folder of their own below `base`, where they stay after the end of this program.
///
/// # Errors
/// What the kind's `start` says; nothing of it is left then. [`LabError::Folder`] if the folder exists.
pub fn up(kind: Kind, layout: &Layout<'_>, base: &Path) -> Result<Description, LabError> {
    let ended = start(kind, layout, &folder(kind, base));
    // Whatever failed, it failed because of that.
    ended.map_err(|e| check_interrupt().err().unwrap_or(e))
}

fn start(kind: Kind, layout: &Layout<'_>, folder: &Path) -> Result<Description, LabError> {
    let Layout { nodes, regions, settings, distance } = *layout;
    /// Gives a server its database and keeps it.
    macro_rules! keep {
        ($server:expr) => {{
            let server = $server?;
            server.create_database(DATABASE)?;
            check_interrupt()?;
            server.site().keep()?;
            Ok(server.site().description())
        }};
    }
    // What is installed is found before the folder is made.
    match kind {
        Kind::Postgres => {
            let bin = postgres::installed()?;
            let site = Site::kept(kind, folder)?;
            if let Some(Distance { delays, holder }) = distance {
                keep!(PostgresRegions::start_in(site, bin, delays, settings, Some(holder)))
            } else if nodes == 1 {
                keep!(Postgres::start_in(site, bin, settings))
            } else {
                keep!(PostgresCluster::start_in(site, bin, nodes, settings))
            }
        }
        Kind::MariaDb => {
            let programs = mariadb::Programs::find()?;
            let site = Site::kept(kind, folder)?;
            keep!(MariaDb::start_in(site, programs, settings))
        }
        Kind::Galera => {
            let ((programs, provider), site) = (galera::installed()?, Site::kept(kind, folder)?);
            keep!(Galera::start_in(site, programs, provider, nodes))
        }
        Kind::TiDb => {
            let programs = tidb::Programs::find()?;
            let site = Site::kept(kind, folder)?;
            keep!(TiDb::start_in(site, programs))
        }
        Kind::CockroachDb => {
            let program = cockroachdb::installed()?;
            let site = Site::kept(kind, folder)?;
            keep!(CockroachDb::start_in(site, program, nodes, regions))
        }
        Kind::YugabyteDb => {
            let bin = yugabytedb::installed()?;
            let site = Site::kept(kind, folder)?;
            keep!(YugabyteDb::start_in(site, bin, nodes, regions))
        }
    }
}

/// What is kept of a kind below `base`, if anything.
///
/// # Errors
/// If its folder is there, but doesn't say what runs in it.
pub fn find(kind: Kind, base: &Path) -> Result<Option<Description>, LabError> {
    let folder = folder(kind, base);
    let undescribed = |reason| LabError::Undescribed { path: folder.clone(), reason };
    if !folder.try_exists()? {
        return Ok(None);
    }
    let text = std::fs::read_to_string(folder.join(FILE)).map_err(|e| {
        undescribed(format!("can't read its file {FILE}, without which nobody knows what runs here: {e}"))
    })?;
    let found: Description =
        serde_json::from_str(&text).map_err(|e| undescribed(format!("its file {FILE} is damaged: {e}")))?;
    if found.kind == kind { Ok(Some(found)) } else { Err(undescribed(format!("its file {FILE} is of {}", found.kind))) }
}

/// Ends all processes of a kind that [`find`] has found below `base`, and removes its folder.
///
/// # Errors
/// If a process can't be ended or the folder can't be removed; what is left stays described.
pub fn down(found: &Description, base: &Path) -> Result<(), LabError> {
    demolish(found, &folder(found.kind, base))
}

/// The folder of a kind below `base`.
pub fn folder(kind: Kind, base: &Path) -> PathBuf {
    base.join(kind.name())
}
