//! The tuning lab, as `tune run --json` prints it.

use std::path::Path;

use record::tuning::TuningResult;
use report::Page;
use report::html::several;

use super::{Facts, Kind, Sign, document};

pub(super) const KIND: Kind = Kind {
    section: "tuning",
    name: "tuning",
    sign: Sign::Has(&["lessons", "rides", "target"]),
    is_series: false,
    facts,
    page,
};

fn facts(path: &Path) -> Result<Facts, String> {
    let result = read(path)?;
    Ok(Facts {
        when: result.started_at,
        database: result.target.kind.clone(),
        words: result.target.version.clone(),
        note: several(result.lessons.len() as u64, "lesson"),
        ..Facts::default()
    })
}

fn read(path: &Path) -> Result<TuningResult, String> {
    serde_json::from_value(document(path)?).map_err(|e| format!("not the result of a tuning lab: {e}"))
}

fn page(path: &Path) -> Result<Page, String> {
    read(path).map(|result| report::tuning_page(&result))
}
