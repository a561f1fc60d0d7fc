//! Comparisons, as `compare --json` prints them.

use std::path::Path;

use record::compare::Comparison;

use super::{Facts, Kind, Sign, read};

pub(super) const KIND: Kind = Kind {
    section: "comparisons",
    name: "comparison",
    sign: Sign::Has(&["/decisive", "/effects", "/differences"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|result| report::compare_page(&result)),
};

const WHAT: &str = "a comparison";

fn facts(path: &Path) -> Result<Facts, String> {
    let comparison: Comparison = read(path, WHAT)?;
    let note = format!("{} against {}", comparison.new.join(", "), comparison.base.join(", "));
    Ok(Facts { note, ..Facts::default() })
}
