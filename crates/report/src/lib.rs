//! What people and programs look at: the result of a run as text, as JSON and as a page.
//!
//! Everything here is derived from a record; nothing is measured, judged or read from a file.

mod check;
mod columns;
mod doctor;
mod json;
mod page;
mod table;
mod targets;
mod topology;

pub use check::{check_json, check_table};
pub use doctor::{doctor_json, doctor_table};
pub use json::json;
pub use page::page;
pub use table::table;
pub use targets::{Capabilities, Target, targets_json, targets_table};
pub use topology::topology_table;

/// What every result says of itself, whatever its verdict.
pub const NOT_AUDITED: &str = "This workload is derived from the TPC-C standard. It is not an audited TPC-C result, does not meet all of\n\
the standard's requirements, and is not comparable with published TPC-C results.";
