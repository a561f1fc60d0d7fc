//! A network between a client and a server that can be made to fail: a forwarder of TCP connections on the loopback
//! interface, which can be cut, slowed down, and made to lose what matters most.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::line::Line;

/// How often a held connection looks whether it may go on.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How long a server may take to accept a connection. One whose machine is gone never answers, and a proxy that waits
/// for it takes no other connection and can't be dropped.
const CONNECT: Duration = Duration::from_secs(2);

/// What ends a transaction, on any wire that sends SQL as text.
const COMMIT: &[u8] = b"COMMIT";

/// A forwarder to one server; dropping it closes all its connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    network: Arc<Network>,
    listening: Option<JoinHandle<()>>,
}

/// The state of the network.
#[derive(Debug, Default)]
struct Network {
    closed: AtomicBool,
    cut: AtomicBool,
    /// The way from one end to the other and back; half of it lies on either way.
    round_trip_us: AtomicU64,
    /// What is added to the way back.
    delay_us: AtomicU64,
    lost_answers: AtomicU32,
    lost_requests: AtomicU32,
    truncated: AtomicU32,
    garbled: AtomicU32,
    open: Mutex<Vec<Arc<Link>>>,
}

/// Both ends of one connection.
#[derive(Debug)]
struct Link {
    client: TcpStream,
    server: TcpStream,
    /// The next thing that the server says is lost, and the connection with it.
    loses_answer: AtomicBool,
    /// How COMMIT is called on this connection once it is prepared, between the zeros that end names.
    prepared: Mutex<Option<Vec<u8>>>,
}

impl Link {
    /// Whether something said to the server ends a transaction: SQL as text, or a statement that was prepared from it.
    fn commits(&self, said: &[u8]) -> bool {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = find(said, COMMIT) else {
            return prepared.as_ref().is_some_and(|name| find(said, name).is_some());
        };
        // PostgreSQL's Parse: a tag, a length, the name, zero, the text.
        let Some(name) = said[..at].strip_suffix(&[0]).filter(|before| before.len() > 5 && before[0] == b'P') else {
            return true;
        };
        *prepared = Some([&[0], &name[5..], &[0]].concat());
        false
    }

    fn close(&self) {
        // It may be closed already, which is what was wanted.
        let _ = (self.client.shutdown(Shutdown::Both), self.server.shutdown(Shutdown::Both));
    }
}

impl Network {
    fn open(&self) -> MutexGuard<'_, Vec<Arc<Link>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn round_trip(&self) -> Duration {
        Duration::from_micros(self.round_trip_us.load(Ordering::Relaxed))
    }

    /// How long what is said is on its way to the server.
    fn way_there(&self) -> Duration {
        self.round_trip() / 2
    }

    /// How long an answer is on its way to the client.
    fn way_back(&self) -> Duration {
        self.round_trip() / 2 + Duration::from_micros(self.delay_us.load(Ordering::Relaxed))
    }

    /// Waits out a cut; `false` if the proxy was closed meanwhile.
    fn passes(&self) -> bool {
        while self.cut.load(Ordering::Relaxed) && !self.closed.load(Ordering::Relaxed) {
            std::thread::sleep(POLL_INTERVAL);
        }
        !self.closed.load(Ordering::Relaxed)
    }
}

/// Where a piece begins in something said.
fn find(said: &[u8], piece: &[u8]) -> Option<usize> {
    said.windows(piece.len()).position(|window| window == piece)
}

/// Takes one of those that are still to come, if there is any.
fn take_one(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
}

impl Proxy {
    /// Listens on a free port and forwards every connection to `server`, a host with a port.
    ///
    /// # Errors
    /// If nothing can listen.
    pub fn to(server: &str) -> io::Result<Self> {
        Self::at((Ipv4Addr::LOCALHOST, 0).into(), server, Duration::ZERO)
    }

    /// Listens at an address and forwards every connection to `server`, over a distance: what is said arrives half a
    /// round trip later, and so does each answer. A new connection waits for one round trip first, as for TCP's greeting.
    ///
    /// # Errors
    /// If nothing can listen there.
    pub fn at(address: SocketAddr, server: &str, round_trip: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let network = Arc::new(Network::default());
        network.round_trip_us.store(micros(round_trip), Ordering::Relaxed);
        let server = server.to_owned();
        let shared = network.clone();
        let listening = std::thread::spawn(move || {
            for client in listener.incoming() {
                if shared.closed.load(Ordering::Relaxed) {
                    return;
                }
                // A server that is down, or a client that is gone already, has no connection.
                let _ = client.and_then(|client| connect(client, reach(&server)?, &shared));
            }
        });
        Ok(Self { address, network, listening: Some(listening) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections open now.
    pub fn open(&self) -> usize {
        self.network.open().len()
    }

    /// Cuts the network: connections stay, and nothing passes in either way until [`Proxy::heal`].
    pub fn cut(&self) {
        self.network.cut.store(true, Ordering::Relaxed);
    }

    /// Ends a cut and what [`Proxy::delay`] added; what was sent meanwhile arrives now.
    pub fn heal(&self) {
        self.network.cut.store(false, Ordering::Relaxed);
        self.delay(Duration::ZERO);
    }

    /// From now on makes each answer so much later.
    pub fn delay(&self, delay: Duration) {
        self.network.delay_us.store(micros(delay), Ordering::Relaxed);
    }

    /// Closes all connections that are open; new ones are taken.
    pub fn reset(&self) {
        self.network.open().iter().for_each(|link| link.close());
    }

    /// Loses the answers to the next `count` COMMITs, which the server has carried out, and their connections.
    pub fn lose_answers_to_commit(&self, count: u32) {
        self.network.lost_answers.store(count, Ordering::Relaxed);
    }

    /// Loses the next `count` COMMITs on their way to the server, and their connections.
    pub fn lose_commits(&self, count: u32) {
        self.network.lost_requests.store(count, Ordering::Relaxed);
    }

    /// Ends connections in the middle of the next `count` things that the server says.
    pub fn truncate(&self, count: u32) {
        self.network.truncated.store(count, Ordering::Relaxed);
    }

    /// Garbles the beginning of the next `count` things that the server says.
    pub fn garble(&self, count: u32) {
        self.network.garbled.store(count, Ordering::Relaxed);
    }

    /// How many of the losses and damages that were asked for are still to come.
    pub fn pending(&self) -> u32 {
        let Network { lost_answers, lost_requests, truncated, garbled, .. } = &*self.network;
        [lost_answers, lost_requests, truncated, garbled].map(|left| left.load(Ordering::Relaxed)).iter().sum()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.network.closed.store(true, Ordering::Relaxed);
        self.reset();
        // Only a connection wakes the listener.
        let _ = TcpStream::connect(self.address);
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
    }
}

/// Connects to a host with a port, at any of its addresses.
fn reach(server: &str) -> io::Result<TcpStream> {
    let mut failed = io::ErrorKind::AddrNotAvailable.into();
    for address in server.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(e) => failed = e,
        }
    }
    Err(failed)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Forwards both ways until either end closes.
fn connect(client: TcpStream, server: TcpStream, network: &Arc<Network>) -> io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let open = Instant::now() + network.round_trip();
    let ways = [
        (
            Line::from(client.try_clone()?, open),
            server.try_clone()?,
            Network::way_there as fn(&Network) -> Duration,
            ask as Transfer,
        ),
        (Line::from(server.try_clone()?, open), client.try_clone()?, Network::way_back, answer),
    ];
    let link = Arc::new(Link { client, server, loses_answer: AtomicBool::new(false), prepared: Mutex::default() });
    network.open().push(link.clone());
    for (line, to, delay, way) in ways {
        let network = network.clone();
        let link = link.clone();
        std::thread::spawn(move || {
            let _ = forward(&line, to, || delay(&network), |said| way(said, &network, &link));
            link.close();
            network.open().retain(|other| !Arc::ptr_eq(other, &link));
        });
    }
    Ok(())
}

/// What becomes of something said: how many bytes of it arrive, and whether the connection lasts.
type Transfer = fn(&mut [u8], &Network, &Link) -> Option<(usize, bool)>;

fn forward(
    line: &Line,
    mut to: TcpStream,
    delay: impl Fn() -> Duration,
    way: impl Fn(&mut [u8]) -> Option<(usize, bool)>,
) -> io::Result<()> {
    while let Some(mut said) = line.next(&delay) {
        let Some((arrives, lasts)) = way(&mut said) else { break };
        to.write_all(&said[..arrives])?;
        if !lasts {
            break;
        }
    }
    Ok(())
}

/// On the way to the server.
fn ask(said: &mut [u8], network: &Network, link: &Link) -> Option<(usize, bool)> {
    if !network.passes() {
        return None;
    }
    if link.commits(said) {
        if take_one(&network.lost_requests) {
            return None;
        }
        if take_one(&network.lost_answers) {
            link.loses_answer.store(true, Ordering::SeqCst);
        }
    }
    Some((said.len(), true))
}

/// On the way to the client.
fn answer(said: &mut [u8], network: &Network, link: &Link) -> Option<(usize, bool)> {
    if link.loses_answer.load(Ordering::SeqCst) || !network.passes() {
        return None;
    }
    if take_one(&network.truncated) {
        return Some((said.len() / 2, false));
    }
    if take_one(&network.garbled) {
        said.iter_mut().take(4).for_each(|byte| *byte ^= 0xa5);
    }
    Some((said.len(), true))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    /// A server that answers each thing said with the same.
    fn echo() -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let mut buffer = [0; 1024];
                    while let Ok(length @ 1..) = stream.read(&mut buffer) {
                        if stream.write_all(&buffer[..length]).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        address
    }

    fn say(stream: &mut TcpStream, what: &[u8]) -> io::Result<Vec<u8>> {
        stream.write_all(what)?;
        let mut buffer = [0; 1024];
        let length = stream.read(&mut buffer)?;
        Ok(buffer[..length].to_vec())
    }

    #[test]
    fn a_cut_holds_everything_until_it_is_healed() {
        let proxy = Proxy::to(&echo()).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(say(&mut client, b"one").unwrap(), b"one");
        proxy.cut();
        client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(say(&mut client, b"two").is_err(), "nothing passes");
        proxy.heal();
        client.set_read_timeout(None).unwrap();
        let mut late = [0; 3];
        client.read_exact(&mut late).unwrap();
        assert_eq!(&late, b"two");
    }

    #[test]
    fn only_what_was_asked_for_is_lost() {
        let proxy = Proxy::to(&echo()).unwrap();
        let connect = || TcpStream::connect(proxy.address()).unwrap();
        let gone = |answer: io::Result<Vec<u8>>| answer.map_or(true, |bytes| bytes.is_empty());
        proxy.lose_answers_to_commit(1);
        let mut client = connect();
        assert_eq!(say(&mut client, b"SELECT 1").unwrap(), b"SELECT 1");
        assert!(gone(say(&mut client, b"COMMIT")));
        assert_eq!((proxy.pending(), say(&mut connect(), b"COMMIT").unwrap()), (0, b"COMMIT".to_vec()));
        proxy.lose_commits(1);
        assert!(gone(say(&mut connect(), b"x COMMIT y")));
        proxy.lose_commits(1);
        let mut client = connect();
        for passes in [&b"P\0\0\0\x10s7\0COMMIT\0\0\0"[..], b"B\0\0\0\x10\0s70\0"] {
            assert_eq!(say(&mut client, passes).unwrap(), passes);
        }
        assert!(gone(say(&mut client, b"B\0\0\0\x10\0s7\0")), "prepared, it goes by its name");
        proxy.truncate(1);
        let mut client = connect();
        assert_eq!(say(&mut client, b"12345678").unwrap(), b"1234");
        assert!(gone(say(&mut client, b"more")));
        proxy.garble(1);
        assert_ne!(say(&mut connect(), b"12345678").unwrap(), b"12345678");
        assert_eq!(say(&mut connect(), b"12345678").unwrap(), b"12345678");
    }

    #[test]
    fn a_reset_closes_what_is_open_and_takes_what_comes() {
        let proxy = Proxy::to(&echo()).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(say(&mut client, b"one").unwrap(), b"one");
        proxy.reset();
        assert!(say(&mut client, b"two").map_or(true, |answer| answer.is_empty()));
        assert_eq!(say(&mut TcpStream::connect(proxy.address()).unwrap(), b"three").unwrap(), b"three");
    }

    #[test]
    fn a_round_trip_takes_what_was_asked_for_within_a_tenth() {
        let far = Duration::from_millis(60);
        let proxy = Proxy::at((Ipv4Addr::LOCALHOST, 0).into(), &echo(), far).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        let mut trip = |_| {
            let begun = Instant::now();
            assert_eq!(say(&mut client, b"there and back").unwrap(), b"there and back");
            begun.elapsed()
        };
        let mut trips: Vec<Duration> = (0..21).map(&mut trip).collect();
        trips.remove(0);
        trips.sort();
        assert!(trips[0] >= far, "{trips:?}");
        assert!(trips[10] < far + far / 10, "{trips:?}");
    }

    #[test]
    fn what_is_said_and_answered_takes_its_way_once_however_much_it_is() {
        let far = Duration::from_millis(40);
        let proxy = Proxy::at((Ipv4Addr::LOCALHOST, 0).into(), &echo(), far).unwrap();
        let begun = Instant::now();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(say(&mut client, b"one").unwrap(), b"one");
        assert!(begun.elapsed() >= 2 * far, "the connection's own round trip, and that of what was said");
        let begun = Instant::now();
        let much = vec![7; 1 << 20];
        let mut writer = client.try_clone().unwrap();
        let saying = std::thread::spawn({
            let much = much.clone();
            move || writer.write_all(&much)
        });
        let mut answer = vec![0; much.len()];
        client.read_exact(&mut answer).unwrap();
        saying.join().unwrap().unwrap();
        assert!(answer == much && begun.elapsed() >= far);
    }
}
