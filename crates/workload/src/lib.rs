//! Workloads against a session: schema, load, transactions and checks; and where the clients of a fleet meet.
//!
//! [`tpcc`] is the TPC-C derived workload, [`movr`] a data set to try statements on. Nothing here knows a driver's type, and nothing here
//! asks which database it talks to: that is the session's business.

pub mod meeting;
pub mod movr;
pub mod template;
pub mod tpcc;
pub mod values;
