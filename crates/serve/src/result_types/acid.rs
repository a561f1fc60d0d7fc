//! ACID tests, as `acid --json` prints them.

use std::path::Path;

use record::acid::AcidResult;

use super::{Detect, ListEntry, Outcome, ResultType, read};

pub(super) const KIND: ResultType = ResultType {
    section: "acid",
    name: "ACID tests",
    detect: Detect::Has(&["/levels", "/checks_before", "/target"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|result| report::acid_page(&result)),
};

const WHAT: &str = "the result of ACID tests";

fn facts(path: &Path) -> Result<ListEntry, String> {
    let result: AcidResult = read(path, WHAT)?;
    let levels: Vec<&str> = result.levels.iter().map(|level| level.isolation.as_str()).collect();
    Ok(ListEntry {
        when: result.started_at,
        database: result.target.kind.clone(),
        words: result.target.version.clone(),
        note: levels.join(", "),
        outcome: Outcome::Passed(result.passes()),
        ..ListEntry::default()
    })
}
