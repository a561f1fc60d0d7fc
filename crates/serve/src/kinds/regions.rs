//! The lesson of the regions, as `lab regions --json` prints it.

use std::path::Path;

use record::regions::RegionsResult;
use report::Page;

use super::{Facts, Kind, Sign, document};

pub(super) const KIND: Kind = Kind {
    section: "regions",
    name: "regions",
    sign: Sign::Has(&["regions", "delays", "lessons"]),
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
        note: result.regions.join(", "),
        ..Facts::default()
    })
}

fn read(path: &Path) -> Result<RegionsResult, String> {
    serde_json::from_value(document(path)?).map_err(|e| format!("not the result of the lesson of the regions: {e}"))
}

fn page(path: &Path) -> Result<Page, String> {
    read(path).map(|result| report::regions_page(&result))
}
