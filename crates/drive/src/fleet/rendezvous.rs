//! The rendezvous: who is there, whether all mean the same, when it begins, and who was lost.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use record::run::LostWorker;
use target::{Error, Gateways, Session};
use workload::rendezvous::{self, Member, Phase};

use super::heartbeat::Heartbeat;
use super::{Clock, Worker};
use crate::Stop;
use crate::retry::{Jitter, with_retries};

/// A worker that has not been seen for so long is gone: five beats.
const GONE: Duration = Duration::from_secs(10);

/// Whoever stands in the way is watched for so long before it is believed to live: a little more than it takes to be gone.
const WATCHED: Duration = Duration::from_secs(12);

/// A worker that has ended, or left, keeps its place for so long: many looks of the others.
const SEEN_TO_END: Duration = Duration::from_secs(2);

/// Time between two looks at the others.
const LOOK: Duration = Duration::from_millis(250);

/// From the moment the last worker is ready to the start, so that each has learnt of it.
const LEAD: Duration = Duration::from_secs(3);

/// Why a fleet does not come about. One line.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// There is no way to meet.
    #[error("{0} can't be asked for its clock, so that a fleet can't meet there: give all workers the same --start-at")]
    NoClock(&'static str),
    /// Others use the rendezvous, and go on living.
    #[error("another fleet is at work on this database: {0}")]
    AnotherFleet(String),
    /// A living worker has the same number.
    #[error("there is such a worker already, and it lives: {0}")]
    Taken(String),
    /// It would do something else than the others.
    #[error("this worker does not fit the fleet: {0}")]
    Differs(String),
    /// Some did not come.
    #[error("{missing} of {of} did not come within {} s: start all, or let them wait longer with --fleet-wait", wait.as_secs())]
    Missing {
        /// Which ones.
        missing: String,
        /// How many there should be.
        of: u32,
        /// How long was waited.
        wait: Duration,
    },
    /// Somebody was there and went before the work began.
    #[error("{0} was lost before the start")]
    LostBeforeStart(String),
    /// The start was agreed on and learnt of too late.
    #[error("the start that the fleet agreed on was learnt of {} ms too late: the database answers too slowly", late.as_millis())]
    TooLate {
        /// How long ago it was.
        late: Duration,
    },
    /// Ctrl-C.
    #[error("interrupted while waiting for the other workers")]
    Interrupted,
    /// The machine refused a thread.
    #[error("can't start the heartbeat: {0}")]
    Machine(std::io::Error),
    /// The database refused.
    #[error(transparent)]
    Database(#[from] Error),
}

/// A worker among the others of its fleet. Dropped, it gives its place up.
#[derive(Debug)]
pub struct Rendezvous {
    gateways: Gateways,
    me: Member,
    /// All of the fleet, this one too, as they were when it was whole.
    fleet: Vec<Member>,
    heartbeat: Heartbeat,
    wait: Duration,
    stop: Stop,
}

/// What a worker comes with.
#[derive(Clone, Debug)]
pub struct JoinRequest {
    /// Who it is.
    pub worker: Worker,
    /// What the fleet is at: `load`, `run`.
    pub task: &'static str,
    /// What all must have in common, name and value.
    pub facts: Vec<(&'static str, String)>,
    /// The seed it would use; the fleet uses that of worker 1.
    pub seed: u64,
    /// How long it waits for the others.
    pub wait: Duration,
}

impl Rendezvous {
    /// Takes a place, and waits until the fleet is whole.
    ///
    /// # Errors
    /// Anything that keeps the fleet from meeting; the worker's row is removed then.
    pub async fn join(gateways: &Gateways, request: JoinRequest, stop: &Stop) -> Result<Self, FleetError> {
        let session = connect(gateways).await?;
        if session.dialect().clock().is_none() {
            return Err(FleetError::NoClock(session.dialect().name()));
        }
        let give_up = Instant::now() + request.wait;
        let me = Member {
            worker: request.worker.number(),
            workers: request.worker.count(),
            token: token(),
            task: request.task.to_owned(),
            host: here(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            facts: request.facts.iter().map(|(name, value)| format!("{name}: {value}\n")).collect(),
            seed: request.seed,
            ..Member::default()
        };
        let mut waiting = Waiting { session, jitter: Jitter::new(me.token.unsigned_abs()), stop: stop.clone() };
        waiting.attempt(rendezvous::open).await?;
        waiting.take_place(&me).await?;
        let heartbeat = Heartbeat::start(gateways.clone(), me.clone()).map_err(FleetError::Machine)?;
        let fleet = waiting.until_whole(&me, give_up, request.wait).await?;
        waiting.attempt(async |session| rendezvous::arrive(session, &me, Phase::Whole).await).await?;
        Ok(Self { gateways: gateways.clone(), me, fleet, heartbeat, wait: request.wait, stop: stop.clone() })
    }

    /// The seed of all: worker 1's.
    pub fn seed(&self) -> u64 {
        self.fleet.iter().find(|member| member.worker == 1).map_or(self.me.seed, |first| first.seed)
    }

    /// Says that this worker is ready.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn ready(&self) -> Result<(), FleetError> {
        let mut waiting = self.waiting().await?;
        waiting.attempt(async |session| rendezvous::arrive(session, &self.me, Phase::Ready).await).await
    }

    /// Waits until worker 1 is ready.
    ///
    /// # Errors
    /// If it is lost, or is not ready in time.
    pub async fn first_is_ready(&self) -> Result<(), FleetError> {
        let first: Vec<&Member> = self.fleet.iter().filter(|member| member.worker == 1).collect();
        self.waiting().await?.until_ready(&first, self.wait).await.map(|_| ())
    }

    /// Says that this worker is ready, waits until all are, and returns the instant at which all start, with the
    /// reading of the clock that it was found with.
    ///
    /// # Errors
    /// If one of them is lost, or is not ready in time.
    pub async fn start(&self) -> Result<(Instant, Clock), FleetError> {
        let mut waiting = self.waiting().await?;
        let clock = waiting.attempt(Clock::read).await?;
        self.ready().await?;
        let all: Vec<&Member> = self.fleet.iter().collect();
        let ready = waiting.until_ready(&all, self.wait).await?;
        // Everybody sees the same rows, and so comes to the same instant.
        let last = ready.iter().map(|member| member.arrived_us).max().unwrap_or(0);
        let start = clock.instant(last + microseconds(LEAD)).map_err(|late| FleetError::TooLate { late })?;
        Ok((start, clock))
    }

    /// Says that this worker has done its work, waits until the others have, at most for `limit`, and returns those that
    /// were lost. What the database can't tell any more is no loss.
    pub async fn end(self, limit: Option<Duration>) -> Vec<LostWorker> {
        let Self { gateways, me, fleet, heartbeat, stop, .. } = self;
        if let Err(e) = tokio::task::spawn_blocking(move || heartbeat.end()).await {
            tracing::warn!("the heartbeat failed: {e}");
        }
        let give_up = limit.map(|limit| Instant::now() + limit);
        let mut waiting = match Waiting::start(&gateways, &me, &stop).await {
            Ok(waiting) => waiting,
            Err(e) => {
                tracing::warn!("the other workers were not waited for: {e}");
                return Vec::new();
            }
        };
        let mut missing: Vec<Member> = fleet.into_iter().filter(|member| member.token != me.token).collect();
        let mut lost = Vec::new();
        loop {
            let there = match waiting.members().await {
                Ok(there) => there,
                Err(e) => {
                    tracing::warn!("the other workers were not waited for: {e}");
                    return lost;
                }
            };
            let out_of_time = give_up.is_some_and(|give_up| Instant::now() > give_up);
            missing.retain_mut(|member| match there.iter().find(|other| other.token == member.token) {
                Some(other) if other.phase == Phase::Ended => false,
                Some(other) if lives(other) && !out_of_time => {
                    member.seen_us = other.seen_us;
                    true
                }
                other => {
                    lost.push(lost_worker(other.unwrap_or(member)));
                    false
                }
            });
            if missing.is_empty() || waiting.pause().await.is_err() {
                lost.sort_by_key(|lost| lost.worker);
                return lost;
            }
        }
    }

    async fn waiting(&self) -> Result<Waiting, FleetError> {
        Ok(Waiting::start(&self.gateways, &self.me, &self.stop).await?)
    }
}

/// A session of a moment, with which a worker looks what the others do.
struct Waiting {
    session: Session,
    jitter: Jitter,
    stop: Stop,
}

impl Waiting {
    async fn start(gateways: &Gateways, me: &Member, stop: &Stop) -> Result<Self, Error> {
        let session = connect(gateways).await?;
        Ok(Self { session, jitter: Jitter::new(me.token.unsigned_abs()), stop: stop.clone() })
    }

    /// Does something at the rendezvous, again if the database asks for it.
    async fn attempt<T>(
        &mut self,
        attempt: impl AsyncFnMut(&mut Session) -> Result<T, Error>,
    ) -> Result<T, FleetError> {
        Ok(with_retries(&mut self.session, &self.jitter, attempt).await.0?)
    }

    async fn members(&mut self) -> Result<Vec<Member>, FleetError> {
        self.attempt(rendezvous::members).await
    }

    /// Waits until the next look.
    async fn pause(&mut self) -> Result<(), FleetError> {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => Ok(()),
            _ = self.stop.wait_for(|stop| *stop) => Err(FleetError::Interrupted),
        }
    }

    /// Takes the place of `me`, after whoever is gone.
    async fn take_place(&mut self, me: &Member) -> Result<(), FleetError> {
        let watched = Instant::now() + WATCHED;
        loop {
            let there = self.members().await?;
            match obstacle(me, &there) {
                Some(obstacle) if Instant::now() > watched => return Err(obstacle),
                Some(_) => self.pause().await?,
                None if there.iter().any(just_ended) => self.pause().await?,
                None => {
                    for gone in there.iter().filter(|other| !lives(other)) {
                        self.attempt(async |session| rendezvous::remove(session, gone).await).await?;
                    }
                    if self.attempt(async |session| rendezvous::join(session, me).await).await? {
                        return Ok(());
                    }
                    self.pause().await?;
                }
            }
        }
    }

    /// Waits until all are there who mean the same.
    async fn until_whole(&mut self, me: &Member, give_up: Instant, wait: Duration) -> Result<Vec<Member>, FleetError> {
        loop {
            let there = self.members().await?;
            let Some(mine) = there.iter().find(|other| other.token == me.token) else {
                return Err(FleetError::LostBeforeStart(described(me)));
            };
            let living = || there.iter().filter(|other| other.token != me.token && lives(other));
            // Of two that differ the later one goes.
            let earlier = living().filter(|other| (other.arrived_us, other.worker) < (mine.arrived_us, mine.worker));
            for other in earlier {
                if let Some(difference) = difference(me, other) {
                    return Err(FleetError::Differs(difference));
                }
            }
            let fleet: Vec<Member> =
                there.iter().filter(|other| lives(other) && difference(me, other).is_none()).cloned().collect();
            if fleet.len() == me.workers as usize {
                return Ok(fleet);
            }
            // The fleet was whole while this worker did not look.
            let left = |other: &&Member| other.phase == Phase::Left && other.arrived_us > mine.arrived_us;
            if let Some(left) = there.iter().filter(left).find(|other| difference(me, other).is_none()) {
                return Err(FleetError::LostBeforeStart(described(left)));
            }
            if Instant::now() > give_up {
                let here = |number: &u32| fleet.iter().any(|member| member.worker == *number);
                let missing: Vec<u32> = (1..=me.workers).filter(|number| !here(number)).collect();
                return Err(FleetError::Missing { missing: named(&missing), of: me.workers, wait });
            }
            self.pause().await?;
        }
    }

    /// Waits until each of these is ready, and returns them as they are then.
    async fn until_ready(&mut self, awaited: &[&Member], wait: Duration) -> Result<Vec<Member>, FleetError> {
        let give_up = Instant::now() + wait;
        loop {
            let there = self.members().await?;
            let mut ready = Vec::new();
            let mut late = Vec::new();
            for member in awaited {
                match there.iter().find(|other| other.token == member.token) {
                    Some(other) if matches!(other.phase, Phase::Ready | Phase::Ended) => ready.push(other.clone()),
                    Some(other) if lives(other) => late.push(other.worker),
                    _ => return Err(FleetError::LostBeforeStart(described(member))),
                }
            }
            if late.is_empty() {
                return Ok(ready);
            }
            if Instant::now() > give_up {
                let of = awaited.first().map_or(0, |member| member.workers);
                return Err(FleetError::Missing { missing: named(&late), of, wait });
            }
            self.pause().await?;
        }
    }
}

/// A session that sees what others have said through other gateways.
async fn connect(gateways: &Gateways) -> Result<Session, Error> {
    let mut session = Session::connect(gateways.living().await?.first()).await?;
    session.see_all_commits().await?;
    Ok(session)
}

fn lives(member: &Member) -> bool {
    member.phase.is_open() && member.silent_us < microseconds(GONE)
}

/// Whether the others of its fleet may not have seen its end yet.
fn just_ended(member: &Member) -> bool {
    !member.phase.is_open() && member.silent_us < microseconds(SEEN_TO_END)
}

/// What keeps `me` from taking its place, if it goes on to live.
fn obstacle(me: &Member, there: &[Member]) -> Option<FleetError> {
    let living = || there.iter().filter(|other| lives(other));
    let other_fleet = |other: &&Member| {
        (other.task.as_str(), other.workers) != (me.task.as_str(), me.workers) || other.phase != Phase::Waiting
    };
    if let Some(other) = living().find(other_fleet) {
        return Some(FleetError::AnotherFleet(described(other)));
    }
    let taken = living().find(|other| other.worker == me.worker);
    taken.map(|other| FleetError::Taken(described(other)))
}

/// In what `me` would do something else than `other`.
fn difference(me: &Member, other: &Member) -> Option<String> {
    let told =
        |what: &str, mine: &str, theirs: &str| Some(format!("{what} {mine} here, {theirs} at {}", described(other)));
    if me.version != other.version {
        return told("version", &me.version, &other.version);
    }
    if (me.task.as_str(), me.workers) != (other.task.as_str(), other.workers) {
        return told(
            "fleet:",
            &format!("{} of {}", me.task, me.workers),
            &format!("{} of {}", other.task, other.workers),
        );
    }
    let (mine, theirs) = me.facts.lines().zip(other.facts.lines()).find(|(mine, theirs)| mine != theirs)?;
    let (what, mine) = mine.split_once(": ").unwrap_or(("plan", mine));
    told(what, mine, theirs.split_once(": ").map_or(theirs, |(_, value)| value))
}

/// A worker, for people.
fn described(member: &Member) -> String {
    format!("worker {} of {} ({} on {})", member.worker, member.workers, member.task, member.host)
}

fn lost_worker(member: &Member) -> LostWorker {
    LostWorker {
        worker: member.worker,
        host: member.host.clone(),
        last_seen: jiff::Timestamp::from_microsecond(member.seen_us).ok(),
    }
}

/// `worker 2`, `workers 2, 3`.
fn named(workers: &[u32]) -> String {
    let numbers: Vec<String> = workers.iter().map(ToString::to_string).collect();
    format!("worker{} {}", if workers.len() == 1 { "" } else { "s" }, numbers.join(", "))
}

/// This machine and process.
fn here() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // As many characters as its column takes, however the machine is called.
    let name: String = name.trim().chars().take(150).collect();
    let name = if name.is_empty() { "an unnamed host".to_owned() } else { name };
    format!("{name}, process {}", std::process::id())
}

/// A number that no other process has.
fn token() -> i64 {
    use std::hash::{BuildHasher, Hasher};
    // Its keys are random in every process.
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    hasher.write_u128(now.as_nanos() ^ u128::from(std::process::id()));
    (hasher.finish() >> 1) as i64
}

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(worker: u32, task: &str, phase: Phase) -> Member {
        let facts = "style: batch\npacing: none\n".to_owned();
        let (task, version) = (task.to_owned(), "1.2.3".to_owned());
        Member { worker, workers: 3, task, version, facts, host: "a, process 7".to_owned(), phase, ..Member::default() }
    }

    #[test]
    fn whoever_does_something_else_is_told_in_what_and_from_whom() {
        let (me, mut other) = (member(2, "run", Phase::Waiting), member(1, "run", Phase::Waiting));
        assert_eq!(difference(&me, &other), None);
        other.facts = "style: batch\npacing: standard\n".to_owned();
        let told = difference(&me, &other);
        assert_eq!(told.as_deref(), Some("pacing none here, standard at worker 1 of 3 (run on a, process 7)"));
        other.version = "1.2.4".to_owned();
        assert!(difference(&me, &other).unwrap().starts_with("version 1.2.3 here, 1.2.4 at worker 1"));
        other = Member { workers: 4, ..member(1, "run", Phase::Waiting) };
        assert!(difference(&me, &other).unwrap().starts_with("fleet: run of 3 here, run of 4 at"));
    }

    #[test]
    fn the_living_stand_in_the_way_and_the_dead_do_not() {
        let me = member(2, "run", Phase::Waiting);
        let obstacle = |other: Member| obstacle(&me, &[other]);
        assert!(obstacle(member(1, "run", Phase::Waiting)).is_none(), "one of the same fleet");
        for other in [member(1, "load", Phase::Waiting), member(1, "run", Phase::Whole), member(3, "run", Phase::Ready)]
        {
            assert!(matches!(obstacle(other.clone()), Some(FleetError::AnotherFleet(_))), "{other:?}");
            let silent_us = microseconds(GONE);
            assert!(obstacle(Member { silent_us, ..other }).is_none(), "it is gone");
        }
        assert!(matches!(obstacle(member(2, "run", Phase::Waiting)), Some(FleetError::Taken(_))));
        for ended in [member(2, "run", Phase::Ended), member(2, "run", Phase::Left)] {
            assert!(obstacle(ended.clone()).is_none() && just_ended(&ended));
            assert!(!just_ended(&Member { silent_us: microseconds(SEEN_TO_END), ..ended }));
        }
    }
}
