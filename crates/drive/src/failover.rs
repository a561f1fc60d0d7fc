//! Replacing lost connections: through the assigned gateway if it answers, else through another until it does.
//!
//! A connection that breaks is replaced by one to its own gateway, or, if that takes none, by a
//! stand-in through another. A gateway that has stand-ins elsewhere is known to be down: it is tried
//! in the background, others turn to it last, and once it answers its connections return one by one.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use target::{Error, Session, Url};
use workload::Transactions;

use crate::driver_thread::DriverThread;
use crate::pool::Connection;
use crate::retry::Jitter;

/// How long to wait between attempts to connect at first.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// At most, between these, and so much a connection: few notice soon that a server is back, which is part of what a
/// failover is judged by; many don't keep it busy with greetings.
const LONGEST_PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));
const PAUSE_A_CONNECTION: Duration = Duration::from_millis(5);

/// The gateways as one driver thread knows them.
pub(crate) struct Failover<T> {
    urls: Vec<Url>,
    transactions: T,
    /// Whether statements are timed.
    statements: bool,
    gateways: Vec<AssignedGateway>,
    /// Where the next stand-in looks first, so that the living share the dead one's connections.
    turn: Cell<usize>,
    jitter: Jitter,
    longest_pause: Duration,
}

/// The connections of one gateway that go through others.
#[derive(Default)]
struct AssignedGateway {
    /// Stand-ins that have no successor at their own gateway yet.
    away: Cell<usize>,
    /// Stand-ins whose successor is at their own gateway already; each is closed when its transaction ends.
    relieved: Cell<usize>,
    /// Whether somebody tries in the background to return.
    is_down: Cell<bool>,
}

impl<T: Transactions> Failover<T> {
    /// For a driver thread with so many connections.
    pub(crate) fn new(urls: Vec<Url>, transactions: T, statements: bool, thread: usize, connections: usize) -> Self {
        let gateways = urls.iter().map(|_| AssignedGateway::default()).collect();
        let jitter = Jitter::new(0xd1b5_4a32_d192_ed03 ^ thread as u64);
        let (least, most) = LONGEST_PAUSE;
        let connections = u32::try_from(connections).unwrap_or(u32::MAX);
        let longest_pause = PAUSE_A_CONNECTION.saturating_mul(connections).clamp(least, most);
        Self { urls, transactions, statements, gateways, turn: Cell::new(thread), jitter, longest_pause }
    }

    /// Opens a session through a gateway and makes it ready.
    pub(crate) async fn open(&self, gateway: usize) -> Result<Session, Error> {
        let mut session = Session::connect(&self.urls[gateway]).await?;
        self.transactions.prepare(&mut session).await?;
        if self.statements {
            session.time_statements();
        }
        Ok(session)
    }

    /// The pauses between attempts.
    fn pause(&self) -> Pause<'_> {
        Pause { next: FIRST_PAUSE, longest: self.longest_pause, jitter: &self.jitter }
    }

    /// Whether a connection is a stand-in whose successor is at its own gateway, and is to be closed.
    pub(crate) fn is_relieved(&self, connection: &Connection) -> bool {
        connection.gateway != connection.assigned && take_one(&self.gateways[connection.assigned].relieved)
    }

    /// The gateways in the order in which to try them: the assigned one, then the others by turns; those known to be down last.
    fn candidates(&self, assigned: usize) -> Vec<usize> {
        let count = self.urls.len();
        let turn = self.turn.replace(self.turn.get().wrapping_add(1));
        let others = (1..count).map(|step| (assigned + 1 + (turn.wrapping_add(step)) % (count - 1)) % count);
        let mut candidates: Vec<usize> = std::iter::once(assigned).chain(others).collect();
        candidates.sort_by_key(|gateway| self.gateways[*gateway].is_down.get());
        candidates
    }

    /// Connects through the first gateway that answers, for as long as it takes.
    async fn open_any(&self, assigned: usize) -> (Session, usize) {
        let mut pause = self.pause();
        loop {
            for gateway in self.candidates(assigned) {
                match self.open(gateway).await {
                    Ok(session) => return (session, gateway),
                    Err(e) => tracing::debug!("replacing a connection: {e}"),
                }
            }
            pause.wait().await;
        }
    }
}

/// Replaces a connection that broke.
pub(crate) fn replace<T: Transactions>(thread: &Rc<DriverThread<T>>, lost: Connection) {
    let Connection { assigned, gateway: from, .. } = lost;
    thread.recorder().connection_lost(from);
    if thread.failover.is_relieved(&lost) {
        return;
    }
    if from != assigned {
        take_one(&thread.failover.gateways[assigned].away);
    }
    let thread = thread.clone();
    tokio::task::spawn_local(async move {
        let (session, gateway) = thread.failover.open_any(assigned).await;
        if gateway != assigned {
            let away = &thread.failover.gateways[assigned].away;
            away.set(away.get() + 1);
            thread.recorder().failover(from, gateway);
            return_to_assigned(&thread, assigned);
        } else if from != assigned {
            thread.recorder().returned(assigned);
        }
        thread.pool.give_back(Connection { session, assigned, gateway });
    });
}

/// Tries a gateway that is down until all its connections have returned. One task a gateway does it.
fn return_to_assigned<T: Transactions>(thread: &Rc<DriverThread<T>>, assigned: usize) {
    if thread.failover.gateways[assigned].is_down.replace(true) {
        return;
    }
    let thread = thread.clone();
    tokio::task::spawn_local(async move {
        let (failover, state) = (&thread.failover, &thread.failover.gateways[assigned]);
        let mut pause = failover.pause();
        while state.away.get() > 0 {
            pause.wait().await;
            match failover.open(assigned).await {
                // Its stand-in may have been lost meanwhile, and be replaced already.
                Ok(session) if take_one(&state.away) => {
                    thread.recorder().returned(assigned);
                    if thread.pool.take_stand_in(assigned).is_none() {
                        state.relieved.set(state.relieved.get() + 1);
                    }
                    thread.pool.give_back(Connection { session, assigned, gateway: assigned });
                    pause = failover.pause();
                }
                Ok(_) => {}
                Err(e) => tracing::debug!("trying to return: {e}"),
            }
        }
        state.is_down.set(false);
    });
}

/// Counts one down, if there is one.
fn take_one(count: &Cell<usize>) -> bool {
    let there = count.get();
    count.set(there.saturating_sub(1));
    there > 0
}

/// Pauses that double, each between half of its length and the whole, so that many don't come at once.
struct Pause<'a> {
    next: Duration,
    longest: Duration,
    jitter: &'a Jitter,
}

impl Pause<'_> {
    async fn wait(&mut self) {
        tokio::time::sleep(self.next.mul_f64(0.5 + 0.5 * self.jitter.fraction())).await;
        self.next = (self.next * 2).min(self.longest);
    }
}
