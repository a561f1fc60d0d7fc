//! Times of statements, as `time --json` prints them.

use std::path::Path;

use record::timing::TimeResult;
use report::html::several;

use super::{Detect, ListEntry, ResultType, read};

pub(super) const KIND: ResultType = ResultType {
    section: "times",
    name: "times",
    detect: Detect::Has(&["/statements", "/protocol", "/sittings"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|result| report::time_page(&result)),
};

const WHAT: &str = "times of statements";

fn facts(path: &Path) -> Result<ListEntry, String> {
    let result: TimeResult = read(path, WHAT)?;
    let note = match &result.comparison {
        Some(comparison) => comparison.words(),
        None => several(result.statements.len() as u64, "statement"),
    };
    Ok(ListEntry::for_target(&result.target, result.started_at, note))
}
