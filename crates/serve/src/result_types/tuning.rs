//! The tuning lab, as `tune run --json` prints it.

use std::path::Path;

use record::tuning::TuningResult;
use report::html::several;

use super::{Detect, ListEntry, ResultType, read};

pub(super) const KIND: ResultType = ResultType {
    section: "tuning",
    name: "tuning",
    detect: Detect::Has(&["/lessons", "/rides", "/target"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|result| report::tuning_page(&result)),
};

const WHAT: &str = "the result of a tuning lab";

fn facts(path: &Path) -> Result<ListEntry, String> {
    let result: TuningResult = read(path, WHAT)?;
    Ok(ListEntry::for_target(&result.target, result.started_at, several(result.lessons.len() as u64, "lesson")))
}
