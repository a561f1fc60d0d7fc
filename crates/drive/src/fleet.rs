//! A fleet: many processes, on many machines, that make one load or one run.
//!
//! A [`Worker`] is one of them. By default they find each other at a [`Rendezvous`] in the database under test, which they
//! all reach anyway; nothing of ours has to be served.

mod clock;
mod heartbeat;
mod rendezvous;

use std::time::Duration;

pub use clock::Clock;
pub use rendezvous::{FleetError, JoinRequest, Rendezvous};
pub use workload::Worker;

/// When a run begins, and with whom.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The worker of a fleet that this client is; none: it drives alone.
    pub worker: Option<Worker>,
    /// How long it waits for the others.
    pub wait: Duration,
    /// When the ramp begins by this machine's clock. None: at the instant that the fleet agrees on, or at once.
    pub at: Option<jiff::Timestamp>,
    /// How long after the ramp's beginning the terminals start; shorter than the ramp.
    pub initial_delay: Duration,
}

impl Start {
    /// The worker that has to meet the others in the database: a time that everybody knows makes that needless.
    pub fn meets(&self) -> Option<Worker> {
        self.worker.filter(|_| self.at.is_none())
    }
}
