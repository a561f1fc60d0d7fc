//! Driving a run: terminals, pacing, phases, connections, retries, recording, faults, and the way from the first
//! connection to the verdict.
//!
//! [`run`] is the pipeline that every command uses. It prepares the database and the plan (`prepare`), measures
//! (`measure`: one `driver_thread` a core, each with terminals, connections and a recorder of its own, and a
//! `collector`), reconciles, audits (`recovery`), checks, and judges. Several processes may run together as a [`fleet`].
//!
//! Invariant: nothing here knows a workload or a database by name. (`calibrate` weighs the tool with TPC-C.)

mod assignment;
pub mod calibrate;
mod collector;
pub mod doctor;
mod driver_thread;
mod duration;
mod error_policy;
mod failover;
pub mod faults;
pub mod fleet;
mod measure;
mod options;
mod phase;
mod pool;
mod prepare;
mod recovery;
mod retry;
mod run;
mod tare;
mod terminal;

pub use assignment::Affinity;
pub use collector::Second;
pub use duration::duration_or_zero;
pub use error_policy::OnError;
pub use options::{Event, Options, RESULTS, RunError, Stop, results_folder};
pub use record::plan::Pacing;
pub use recovery::{audit_ledger, await_recovery, read_ledger};
pub use run::{Finished, run};
pub use tare::{CpuMeter, memory_bytes};
