//! The lesson of the regions, as `lab regions --json` prints it.

use std::path::Path;

use record::regions::RegionsResult;

use super::{Detect, ListEntry, ResultType, read};

pub(super) const KIND: ResultType = ResultType {
    section: "regions",
    name: "regions",
    detect: Detect::Has(&["/regions", "/delays", "/lessons"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|result| report::regions_page(&result)),
};

const WHAT: &str = "the result of the lesson of the regions";

fn facts(path: &Path) -> Result<ListEntry, String> {
    let result: RegionsResult = read(path, WHAT)?;
    Ok(ListEntry::for_target(&result.target, result.started_at, result.regions.join(", ")))
}
