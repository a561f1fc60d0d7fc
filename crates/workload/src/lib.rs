//! Workloads against a session: schema, load, transactions and checks; and where the clients of a fleet meet.
//!
//! [`tpcc`] is the TPC-C derived workload, [`custom`] is whatever a file of the user's says, [`movr`] a data set to try statements on. Nothing here knows a driver's type, and nothing here
//! asks which database it talks to: that is the session's business.

pub mod custom;
pub mod data_set;
pub mod movr;
pub mod per_database;
mod registry;
pub mod rendezvous;
pub mod template;
pub mod tpcc;
pub mod values;
mod worker;
mod workload;

pub use registry::{AnyWorkload, RunFlags};
pub use tpcc::check::CheckProgress;
pub use tpcc::load::{Existing, LoadProgress, Transport};
pub use worker::Worker;
pub use workload::{
    Capability, CheckRequest, Command, CommitRecord, Keys, LoadFlags, Loaded, ResultFile, RunRequest, Settled, Start,
    Transactions, Workload, WorkloadError, require_isolation,
};
