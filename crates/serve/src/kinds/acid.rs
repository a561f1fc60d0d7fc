//! ACID tests, as `acid --json` prints them.

use std::path::Path;

use record::acid::AcidResult;
use report::Page;

use super::{Facts, Kind, Outcome, Sign, document};

pub(super) const KIND: Kind = Kind {
    section: "acid",
    name: "ACID tests",
    sign: Sign::Has(&["levels", "checks_before", "target"]),
    is_series: false,
    facts,
    page,
};

fn facts(path: &Path) -> Result<Facts, String> {
    let result = read(path)?;
    let levels: Vec<&str> = result.levels.iter().map(|level| level.isolation.as_str()).collect();
    Ok(Facts {
        when: result.started_at,
        database: result.target.kind.clone(),
        words: result.target.version.clone(),
        note: levels.join(", "),
        outcome: Outcome::Passed(result.passes()),
        ..Facts::default()
    })
}

fn read(path: &Path) -> Result<AcidResult, String> {
    serde_json::from_value(document(path)?).map_err(|e| format!("not the result of ACID tests: {e}"))
}

fn page(path: &Path) -> Result<Page, String> {
    read(path).map(|result| report::acid_page(&result))
}
