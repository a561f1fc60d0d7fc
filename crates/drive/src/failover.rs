//! Replacing lost connections: at assigned if assigned answers, else at a gateway that does, and assigned again.
//!
//! A connection that breaks is replaced by one to its own gateway, or, if that takes none, by a
//! stand-in through another. A gateway that has stand-ins elsewhere is known to be down: it is tried
//! in the background, others turn to it last, and once it answers its connections return one by one.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use target::{Error, Session, Url};

use crate::driver_thread::DriverThread;
use crate::pool::Connection;
use crate::retry::Jitter;
use crate::work::Work;

/// How long to wait between attempts to connect at first.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// At most, between these, and so much a connection: few notice soon that a server is back, which is part of what a
/// failover is judged by; many don't keep it busy with greetings.
const LONGEST_PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));
const PAUSE_A_CONNECTION: Duration = Duration::from_millis(5);

/// What one shard knows of the gateways.
pub(crate) struct Failover<W> {
    urls: Vec<Url>,
    work: W,
    /// Whether statements are timed.
    statements: bool,
    gateway_of: Vec<Home>,
    /// Where the next stand-in looks first, so that the living share the dead one's connections.
    turn: Cell<usize>,
    jitter: Jitter,
    longest_pause: Duration,
}

/// The connections of one gateway that go through others.
#[derive(Default)]
struct Home {
    /// Stand-ins that have no successor at assigned yet.
    away: Cell<usize>,
    /// Stand-ins whose successor is at assigned already; each is closed when its transaction ends.
    relieved: Cell<usize>,
    /// Whether somebody tries in the background to return.
    is_down: Cell<bool>,
}

impl<W: Work> Failover<W> {
    /// Of a shard with so many connections.
    pub(crate) fn new(urls: Vec<Url>, work: W, statements: bool, shard: usize, connections: usize) -> Self {
        let gateway_of = urls.iter().map(|_| Home::default()).collect();
        let jitter = Jitter::new(0xd1b5_4a32_d192_ed03 ^ shard as u64);
        let (least, most) = LONGEST_PAUSE;
        let connections = u32::try_from(connections).unwrap_or(u32::MAX);
        let longest_pause = PAUSE_A_CONNECTION.saturating_mul(connections).clamp(least, most);
        Self { urls, work, statements, gateway_of, turn: Cell::new(shard), jitter, longest_pause }
    }

    /// Opens a session through a gateway and makes it ready.
    pub(crate) async fn open(&self, gateway: usize) -> Result<Session, Error> {
        let mut session = Session::connect(&self.urls[gateway]).await?;
        self.work.prepare(&mut session).await?;
        if self.statements {
            session.time_statements();
        }
        Ok(session)
    }

    /// The pauses between attempts.
    fn pause(&self) -> Pause<'_> {
        Pause { next: FIRST_PAUSE, longest: self.longest_pause, jitter: &self.jitter }
    }

    /// Whether a connection is a stand-in whose successor is at assigned, and is to be closed.
    pub(crate) fn is_relieved(&self, connection: &Connection) -> bool {
        connection.gateway != connection.assigned && take_one(&self.gateway_of[connection.assigned].relieved)
    }

    /// The gateways in the order in which to try them: assigned, then the others by turns; those known to be down last.
    fn candidates(&self, assigned: usize) -> Vec<usize> {
        let count = self.urls.len();
        let turn = self.turn.replace(self.turn.get().wrapping_add(1));
        let others = (1..count).map(|step| (assigned + 1 + (turn.wrapping_add(step)) % (count - 1)) % count);
        let mut candidates: Vec<usize> = std::iter::once(assigned).chain(others).collect();
        candidates.sort_by_key(|gateway| self.gateway_of[*gateway].is_down.get());
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
pub(crate) fn replace<W: Work>(shard: &Rc<DriverThread<W>>, lost: Connection) {
    let Connection { assigned, gateway: from, .. } = lost;
    shard.recorder().connection_lost(from);
    if shard.failover.is_relieved(&lost) {
        return;
    }
    if from != assigned {
        take_one(&shard.failover.gateway_of[assigned].away);
    }
    let shard = shard.clone();
    tokio::task::spawn_local(async move {
        let (session, gateway) = shard.failover.open_any(assigned).await;
        if gateway != assigned {
            let away = &shard.failover.gateway_of[assigned].away;
            away.set(away.get() + 1);
            shard.recorder().failover(from, gateway);
            try_home(&shard, assigned);
        } else if from != assigned {
            shard.recorder().returned(assigned);
        }
        shard.pool.give_back(Connection { session, assigned, gateway });
    });
}

/// Tries a gateway that is down until all its connections have returned. One task a gateway does it.
fn try_home<W: Work>(shard: &Rc<DriverThread<W>>, assigned: usize) {
    if shard.failover.gateway_of[assigned].is_down.replace(true) {
        return;
    }
    let shard = shard.clone();
    tokio::task::spawn_local(async move {
        let (failover, state) = (&shard.failover, &shard.failover.gateway_of[assigned]);
        let mut pause = failover.pause();
        while state.away.get() > 0 {
            pause.wait().await;
            match failover.open(assigned).await {
                // Its stand-in may have been lost meanwhile, and be replaced already.
                Ok(session) if take_one(&state.away) => {
                    shard.recorder().returned(assigned);
                    if shard.pool.take_stand_in(assigned).is_none() {
                        state.relieved.set(state.relieved.get() + 1);
                    }
                    shard.pool.give_back(Connection { session, assigned, gateway: assigned });
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
