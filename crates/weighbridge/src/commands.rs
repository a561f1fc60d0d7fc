//! The commands, one file each.

pub(crate) mod acid;
pub(crate) mod advise;
pub(crate) mod calibrate;
pub(crate) mod chaos;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod durability;
mod fetch;
pub(crate) mod generate;
pub(crate) mod lab;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod null_server;
mod regions;
pub(crate) mod report;
mod restoring;
pub(crate) mod run;
pub(crate) mod scenario;
pub(crate) mod search;
pub(crate) mod serve;
mod step;
pub(crate) mod sweep;
pub(crate) mod targets;
pub(crate) mod time;
pub(crate) mod topology;
pub(crate) mod tune;
mod values;
pub(crate) mod verify;
pub(crate) mod workload;

use std::time::Duration;

use ::workload::WorkloadError;
use drive::RunError;
use drive::faults::FaultError;
use drive::fleet::Worker;
use target::{Gateways, Url};

use crate::cli::TargetArgs;

/// How a command ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done.
    Done,
    /// Done, but the verdict is `invalid` or a check failed.
    NotBelieved,
}

/// How a command ended badly.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong usage, known before anything was touched.
    Usage(String),
    /// Anything else.
    Failed(String),
    /// Nobody reads standard output any more.
    OutputClosed,
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Failed(error.to_string())
    }
}

impl Failure {
    /// A run that did not come about.
    fn from_run(error: RunError) -> Self {
        match error {
            RunError::Usage(message) => Failure::Usage(message),
            other => other.into(),
        }
    }

    /// A workload that can't be run or checked.
    fn from_workload(error: WorkloadError) -> Self {
        match error {
            WorkloadError::Usage(message) => Failure::Usage(message),
            other => other.into(),
        }
    }

    /// Faults that can't be made.
    fn from_faults(error: FaultError) -> Self {
        match error {
            FaultError::Usage(message) => Failure::Usage(message),
            other => other.into(),
        }
    }
}

/// The result of a command.
pub(crate) type Ended = Result<Status, Failure>;

fn gateways(args: &TargetArgs) -> Result<Gateways, Failure> {
    Gateways::parse(&args.urls).map_err(|e| Failure::Usage(e.to_string()))
}

/// The program as it was called, for advice that can be pasted.
pub(crate) fn me() -> String {
    std::env::args().next().unwrap_or_else(|| "weighbridge".to_owned())
}

/// Cores of this machine.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A runtime on which sessions work side by side.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::Failed(format!("can't start a runtime: {e}")))
}

/// Says for whom a worker of a fleet is about to wait.
fn announce(worker: Worker, wait: Duration) {
    say!("{worker}: waiting for the others, at most {}", human(wait));
}

fn human(duration: Duration) -> String {
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    format!("{:#}", jiff::SignedDuration::from_secs(seconds))
}

/// Refuses a target without data, with which there is nothing to do.
fn require_data(gateways: &Gateways, what: &str) -> Result<(), Failure> {
    if gateways.dialect().stores_data() { Ok(()) } else { Err(without_data(gateways, what)) }
}

fn without_data(gateways: &Gateways, what: &str) -> Failure {
    Failure::Usage(format!("{gateways} keeps no data: there is nothing to {what}"))
}

/// A file that SQLite would create silently where there is nothing to work on.
fn require_file(url: &Url) -> Result<(), Failure> {
    match url.file() {
        Some(file) if !file.exists() => {
            Err(Failure::Failed(format!("{url}: there is no such file; `weighbridge load` makes one")))
        }
        _ => Ok(()),
    }
}
