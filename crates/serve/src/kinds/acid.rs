//! ACID tests, as `acid --json` prints them.

use std::path::Path;

use record::acid::AcidResult;

use super::{Facts, Kind, Outcome, Sign, read};

pub(super) const KIND: Kind = Kind {
    section: "acid",
    name: "ACID tests",
    sign: Sign::Has(&["/levels", "/checks_before", "/target"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|result| report::acid_page(&result)),
};

const WHAT: &str = "the result of ACID tests";

fn facts(path: &Path) -> Result<Facts, String> {
    let result: AcidResult = read(path, WHAT)?;
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
