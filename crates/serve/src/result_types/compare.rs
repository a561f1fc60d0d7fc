//! Comparisons, as `compare --json` prints them.

use std::path::Path;

use record::compare::Comparison;

use super::{Detect, ListEntry, ResultType, read};

pub(super) const KIND: ResultType = ResultType {
    section: "comparisons",
    name: "comparison",
    detect: Detect::Has(&["/decisive", "/effects", "/differences"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|result| report::compare_page(&result)),
};

const WHAT: &str = "a comparison";

fn facts(path: &Path) -> Result<ListEntry, String> {
    let comparison: Comparison = read(path, WHAT)?;
    let note = format!("{} against {}", comparison.new.join(", "), comparison.base.join(", "));
    Ok(ListEntry { note, ..ListEntry::default() })
}
