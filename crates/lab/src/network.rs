//! The network between regions: a proxy for each way from one to another, so that what a server asks of another goes
//! through the proxy between the two and takes as long as it would over the distance.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::persistent::{Description, find};
use crate::process::Process;
use crate::programs::free_ports;
use crate::site::check_interrupt;
use crate::{Delays, Kind, LabError, Node, Proxy};

/// How a failure of it is called.
const NAME: &str = "the network between regions";

/// Where the process that holds it says what is wrong, in the site's folder.
const SAYS: &str = "network.out";

/// How long it may take until it can be used.
const START: Duration = Duration::from_secs(10);

const ASK: Duration = Duration::from_millis(10);

/// How often the process that holds it looks whether it is still wanted, and how often it finds that it isn't before it
/// ends: all servers may be down for a moment, and be started again.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const POLLS_BEFORE_END: u32 = 5;

/// The way of what one region asks of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionLink {
    /// The region that asks.
    pub from: String,
    /// The region that answers.
    pub to: String,
    /// Host and port at which the other region is reached from the first.
    pub address: SocketAddr,
    /// Host and port of the other region's server.
    pub server: String,
    /// The round trip, in microseconds.
    pub round_trip_us: u64,
}

/// The network between the regions of a kept site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The process that holds it; none before its start.
    pub process: Option<Process>,
    /// All ways.
    pub ways: Vec<RegionLink>,
}

impl Network {
    /// Whether its process runs.
    pub fn is_alive(&self) -> bool {
        self.process.as_ref().is_some_and(Process::is_alive)
    }
}

/// The ways between servers, each in a region of its own, on any ports.
pub(crate) fn ways(servers: &[Node], delays: &Delays) -> Vec<RegionLink> {
    let numbers = 0..servers.len();
    let pairs = numbers.clone().flat_map(|from| numbers.clone().map(move |to| (from, to)));
    let way = |(from, to): (usize, usize)| RegionLink {
        from: delays.regions()[from].clone(),
        to: delays.regions()[to].clone(),
        address: SocketAddr::from(([127, 0, 0, 1], 0)),
        server: servers[to].address.clone(),
        round_trip_us: u64::try_from(delays.round_trip(from, to).as_micros()).unwrap_or(u64::MAX),
    };
    pairs.filter(|(from, to)| from != to).map(way).collect()
}

/// Opens all ways in this process, and says at which ports.
pub(crate) fn open(ways: &mut [RegionLink]) -> Result<Vec<Proxy>, LabError> {
    let open = |way: &mut RegionLink| {
        let proxy = Proxy::at(way.address, &way.server, Duration::from_micros(way.round_trip_us))
            .map_err(|e| LabError::Failed { program: NAME, reason: e.to_string() })?;
        way.address = proxy.address();
        Ok(proxy)
    };
    ways.iter_mut().map(open).collect()
}

/// Chooses ports that are free now, for another process to open.
pub(crate) fn choose_ports(ways: &mut [RegionLink]) -> Result<(), LabError> {
    for way in ways {
        let [port] = free_ports()?;
        way.address.set_port(port);
    }
    Ok(())
}

/// Starts the process that holds the ways of the site in `folder`, which describes them.
pub(crate) fn launch(holder: &[String], folder: &Path) -> Result<Process, LabError> {
    let failed = |reason: String| LabError::Failed { program: NAME, reason };
    let (program, arguments) = holder.split_first().ok_or_else(|| failed("no program is named for it".to_owned()))?;
    let says = std::fs::File::create(folder.join(SAYS))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(says.try_clone()?).stderr(says);
    Process::spawn(&mut command).map_err(|e| failed(e.to_string()))
}

/// Waits until every way can be gone.
pub(crate) fn wait(process: &Process, ways: &[RegionLink], folder: &Path) -> Result<(), LabError> {
    let deadline = Instant::now() + START;
    while !ways.iter().all(|way| TcpStream::connect(way.address).is_ok()) {
        check_interrupt()?;
        if !process.is_alive() || Instant::now() > deadline {
            let said = std::fs::read_to_string(folder.join(SAYS)).unwrap_or_default();
            let reason = said.lines().last().unwrap_or("it is not there in time").to_owned();
            return Err(LabError::Failed { program: NAME, reason });
        }
        std::thread::sleep(ASK);
    }
    Ok(())
}

/// Holds the network of the kept servers of a kind below `base`, until they are gone: what the program does that
/// [`Layout`](crate::Layout) names for it.
///
/// # Errors
/// If there is none, or an address is taken.
pub fn hold(kind: Kind, base: &Path) -> Result<(), LabError> {
    let network = |found: Option<Description>| found.and_then(|found| Some((found.network?, found.nodes)));
    let failed = |reason: String| LabError::Failed { program: NAME, reason };
    let (mut held, _) = network(find(kind, base)?).ok_or_else(|| failed(format!("{kind} has none here")))?;
    let _proxies = open(&mut held.ways)?;
    let is_wanted = || {
        let now = network(find(kind, base).ok().flatten());
        now.is_some_and(|(now, servers)| now.ways == held.ways && servers.iter().any(Node::is_alive))
    };
    let mut unwanted = 0;
    while unwanted < POLLS_BEFORE_END {
        std::thread::sleep(POLL_INTERVAL);
        unwanted = if is_wanted() { 0 } else { unwanted + 1 };
    }
    Ok(())
}
