//! Advice for statements, as `advise --json` prints it.

use std::path::Path;

use record::advice::Advice;
use serde::Deserialize;

use super::{Facts, Kind, Sign, read};

pub(super) const KIND: Kind = Kind {
    section: "advice",
    name: "advice",
    sign: Sign::Has(&["/statements/0/candidates"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|advised: Advised| report::advice_page(&advised.statements)),
};

const WHAT: &str = "advice for statements";

#[derive(Deserialize)]
struct Advised {
    statements: Vec<Advice>,
}

fn facts(path: &Path) -> Result<Facts, String> {
    let Advised { statements } = read(path, WHAT)?;
    let verdicts: Vec<String> = statements.iter().map(Advice::verdict).collect();
    let first = statements.into_iter().next().unwrap_or_default();
    Ok(Facts::of(&first.target, first.started_at, verdicts.join(" ")))
}
