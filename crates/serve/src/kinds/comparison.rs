//! Comparisons, as `compare --json` prints them.

use std::path::Path;

use record::compare::Comparison;
use report::Page;

use super::{Facts, Kind, Sign, document};

pub(super) const KIND: Kind = Kind {
    section: "comparisons",
    name: "comparison",
    sign: Sign::Has(&["decisive", "effects", "differences"]),
    is_series: false,
    facts,
    page,
};

fn facts(path: &Path) -> Result<Facts, String> {
    let comparison = read(path)?;
    let note = format!("{} against {}", comparison.new.join(", "), comparison.base.join(", "));
    Ok(Facts { note, ..Facts::default() })
}

fn read(path: &Path) -> Result<Comparison, String> {
    serde_json::from_value(document(path)?).map_err(|e| format!("not a comparison: {e}"))
}

fn page(path: &Path) -> Result<Page, String> {
    read(path).map(|comparison| report::compare_page(&comparison))
}
