//! How data are spread over a cluster: PostgreSQL's partitions on a real server, and the CockroachDB and YugabyteDB
//! dialects in conversation with PostgreSQL, behind a tap that reads along.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod cockroachdb;
mod partitions;
#[path = "../cli/support.rs"]
#[allow(dead_code, reason = "each test binary uses its share")]
mod support;
mod tap;
mod yugabytedb;
