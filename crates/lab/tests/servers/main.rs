//! Local servers: up, asked, killed, up again, gone.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod galera;
mod mariadb;
mod postgres;
mod postgres_cluster;
mod support;
mod tidb;
