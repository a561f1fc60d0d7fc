//! The run record: everything that a run measured, how it is kept, and what it proves.
//!
//! Samples go into a [`recorder::Recorder`] on each driver thread, are merged once a second, and are
//! appended to a [`folder::RunFolder`]. A [`summary::Summary`] and a [`verdict::Verdict`] are derived
//! from the folder alone, again and again: the rules, their limits and their clauses are data of the
//! [`plan::Plan`] inside `run.json`. This crate knows neither a database nor a terminal.

pub mod acid;
pub mod advice;
pub mod audit;
pub mod claim;
pub mod compare;
mod consistency;
pub mod error;
pub mod failover;
pub mod fault;
pub mod folder;
pub mod gateway;
pub mod histogram;
pub mod labels;
pub mod latency_log;
pub mod merge;
pub mod plan;
pub mod query_plan;
pub mod recorder;
pub mod regions;
pub mod run;
pub mod statements;
pub mod statistics;
pub mod summary;
pub mod sweep;
pub mod timeline;
pub mod timing;
pub mod tuning;
pub mod verdict;

pub use error::RecordError;
pub use folder::{OpenedRun, RunFolder};
pub use histogram::{Histogram, Stats};
pub use latency_log::{Histograms, LatencyLog};
pub use plan::Plan;
pub use recorder::{Clock, Failure, Outcome, Phase, Recorder, Sample};
pub use run::RunRecord;
pub use summary::Summary;
pub use timeline::{Timeline, TimelineRow};
pub use verdict::{Verdict, judge};
