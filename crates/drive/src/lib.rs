//! Driving a run: terminals, pacing, phases, connections, retries and recording.
//!
//! The main path: [`run`] connects, starts one [`shard`] a thread, each with its own terminals,
//! connections and recorder (nothing is shared on a transaction's way), and a [`collector`] that
//! merges what the shards hand over once a second. Several processes may do so together, as a [`fleet`].

mod assignment;
pub mod calibrate;
mod collector;
mod custom;
mod delivery;
pub mod doctor;
mod driver_thread;
mod failover;
pub mod fleet;
mod phase;
mod pool;
mod retry;
mod run;
mod tare;
mod terminal;
mod tpcc;
mod work;

pub use assignment::Affinity;
pub use collector::{OnError, Second};
pub use run::{Event, Options, Pacing, RunError, Stop, Workload, run};
pub use tare::{CpuMeter, memory_bytes};
pub use tpcc::Tpcc;
