//! The tuning lab, as `tune run --json` prints it.

use std::path::Path;

use record::tuning::TuningResult;
use report::html::several;

use super::{Facts, Kind, Sign, read};

pub(super) const KIND: Kind = Kind {
    section: "tuning",
    name: "tuning",
    sign: Sign::Has(&["/lessons", "/rides", "/target"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|result| report::tuning_page(&result)),
};

const WHAT: &str = "the result of a tuning lab";

fn facts(path: &Path) -> Result<Facts, String> {
    let result: TuningResult = read(path, WHAT)?;
    Ok(Facts::of(&result.target, result.started_at, several(result.lessons.len() as u64, "lesson")))
}
