//! The binary as a user meets it: commands, exit statuses, one-line errors, signals, crashes.

#![allow(clippy::unwrap_used)]

mod acid;
mod architecture;
mod bad_input;
mod crash;
mod custom_workload;
mod definitions;
mod docs;
mod docs_commands;
mod doctor;
mod end_to_end;
mod fleet;
mod folders;
mod forwarder;
mod gateways;
mod lab;
mod metrics;
mod movr;
mod null;
mod odbc;
#[cfg(feature = "otlp")]
mod otlp;
mod regions;
mod results;
mod same_data;
mod secrets;
mod serve;
mod set_aside;
mod sources;
mod statements;
mod support;
mod sweep_search_scenario;
mod time;
mod tuning;
mod view;
