//! What people and programs look at: the result of a run as text, as JSON and as a page.
//!
//! Everything here is derived from a record; nothing is measured, judged or read from a file.
//!
//! # Adding a result type
//!
//! A result type is what a command prints with `--json`. Its module has the same NAME in each crate:
//!
//! 1. `record/src/NAME.rs` holds the data; declare it with `mod NAME;` in `record/src/lib.rs`.
//! 2. `report/src/NAME.rs` makes text and JSON; declare it with `mod NAME;` in `report/src/lib.rs`.
//! 3. `report/src/page/NAME.rs` makes the page; declare it with `mod NAME;` in `report/src/page.rs`.
//! 4. `serve/src/result_types/NAME.rs` recognises and lists it; add `NAME::KIND` to `serve/src/result_types.rs`.
//!
//! `tests/result_types.rs` checks these steps for every result type.

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
pub use record::labels::NOT_AUDITED;
pub use regions::{regions_json, regions_table};
pub use sweep::{ratios as sweep_ratios, sweep_json, sweep_markdown, sweep_table};
pub use table::{outages_text, table};
pub use targets::{Capabilities, Target, targets_json, targets_table};
pub use timing::{rows_table, time_json, time_table};
pub use topology::topology_table;
pub use tuning::{lessons_json, lessons_table, tuning_json, tuning_table};

/// What pages are made of, for pages that are made elsewhere.
pub mod html {
    pub use crate::page::table::{facts, table};
    pub use crate::page::words::{bytes, count, duration, grouped, ms, percent, rate, several};
}
