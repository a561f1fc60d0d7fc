//! What people and programs look at: the result of a run as text, as JSON and as a page.
//!
//! Everything here is derived from a record; nothing is measured, judged or read from a file.

mod acid;
mod advice;
mod audit;
mod calibration;
mod check;
mod claim;
mod columns;
mod compare;
mod compat;
mod doctor;
mod json;
mod markdown;
mod metrics;
mod page;
mod regions;
mod statements;
mod sweep;
mod table;
mod targets;
mod timing;
mod topology;
mod tuning;

pub use acid::{acid_json, acid_table};
pub use advice::{advice_json, advice_table};
pub use audit::audit_table;
pub use calibration::{Calibration, Path, calibration_json, calibration_table};
pub use check::{check_json, check_table};
pub use claim::{claim_json, claim_table};
pub use columns::columns;
pub use compare::{compare_json, compare_markdown, compare_table};
pub use compat::{cockroach_lines, yugabyte_block};
pub use doctor::{doctor_json, doctor_table};
pub use json::json;
pub use markdown::markdown;
pub use metrics::{Families, Metrics, PROTOBUF_FORMAT, TEXT_FORMAT, otlp};
pub use page::{
    Page, SCRIPT, STYLE, acid_page, advice_page, compare_page, live_page, live_parts, page, regions_page, shell_quoted,
    sweep_page, time_page, tuning_page,
};
pub use regions::{regions_json, regions_table};
pub use sweep::{ratios as sweep_ratios, sweep_json, sweep_markdown, sweep_table};
pub use table::{table, trouble_text};
pub use targets::{Capabilities, Target, targets_json, targets_table};
pub use timing::{rows_table, time_json, time_table};
pub use topology::topology_table;
pub use tuning::{lessons_json, lessons_table, tuning_json, tuning_table};

/// What pages are made of, for pages that are made elsewhere.
pub mod html {
    pub use crate::page::table::{facts, table};
    pub use crate::page::words::{bytes, count, duration, grouped, ms, percent, rate, several};
}

/// What every result says of itself, whatever its verdict.
pub const NOT_AUDITED: &str = "This workload is derived from the TPC-C standard. It is not an audited TPC-C result, does not meet all of\n\
the standard's requirements, and is not comparable with published TPC-C results.";

/// The last words of a run's result: what it is not.
pub(crate) fn disclaimer(workload: &str) -> &'static str {
    match record::plan::is_tpcc(workload) {
        true => NOT_AUDITED,
        false => {
            "This is not TPC-C but a workload of its own: its figures compare with runs of the same file on the same data\n\
             and with nothing else."
        }
    }
}
