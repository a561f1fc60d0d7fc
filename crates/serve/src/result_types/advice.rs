//! Advice for statements, as `advise --json` prints it.

use std::path::Path;

use record::advice::Advice;
use serde::Deserialize;

use super::{Detect, ListEntry, ResultType, read};

pub(super) const KIND: ResultType = ResultType {
    section: "advice",
    name: "advice",
    detect: Detect::Has(&["/statements/0/candidates"]),
    is_series: false,
    facts,
    page: |path| read(path, WHAT).map(|advised: Advised| report::advice_page(&advised.statements)),
};

const WHAT: &str = "advice for statements";

#[derive(Deserialize)]
struct Advised {
    statements: Vec<Advice>,
}

fn facts(path: &Path) -> Result<ListEntry, String> {
    let Advised { statements } = read(path, WHAT)?;
    let verdicts: Vec<String> = statements.iter().map(Advice::verdict).collect();
    let first = statements.into_iter().next().unwrap_or_default();
    Ok(ListEntry::for_target(&first.target, first.started_at, verdicts.join(" ")))
}
