//! Searches: the most warehouses that a database holds.

use std::path::Path;

use maud::html;
use report::Page;
use report::html::{grouped, percent, table};
use serde_json::Value;

use super::{Detect, ListEntry, Outcome, ResultType, figure, read_series, rows, series_page, text, texts};

/// The document of a search, in its folder.
const SEARCH_JSON: &str = "search.json";

pub(super) const KIND: ResultType = ResultType {
    section: "searches",
    name: "search",
    detect: Detect::Holds(SEARCH_JSON),
    is_series: true,
    facts,
    page,
};

fn facts(path: &Path) -> Result<ListEntry, String> {
    let document = read(path)?;
    let holds = document["warehouses"].as_u64();
    Ok(ListEntry {
        note: conclusion(&document),
        warehouses: holds.and_then(|holds| u32::try_from(holds).ok()).unwrap_or_default(),
        outcome: Outcome::Passed(holds.is_some()),
        ..ListEntry::default()
    })
}

fn read(path: &Path) -> Result<Value, String> {
    read_series(path, SEARCH_JSON, "trials")
}

fn conclusion(document: &Value) -> String {
    match (document["warehouses"].as_u64(), document["fails_at"].as_u64()) {
        (Some(holds), Some(fails)) => format!("holds {holds} warehouses; {fails} it does not"),
        (Some(holds), None) => format!("holds {holds} warehouses, all that were tried"),
        (None, Some(fails)) => format!("does not hold {fails} warehouses, and fewer were not tried"),
        (None, None) => "nothing was tried".to_owned(),
    }
}

fn page(path: &Path) -> Result<Page, String> {
    let document = read(path)?;
    let row = |trial: &Value| {
        let grouped = |field, decimals| figure(trial, field, |value| grouped(value, decimals));
        vec![
            grouped("warehouses", 0),
            grouped("tpmc", 0),
            figure(trial, "efficiency", |share| percent(share, 1)),
            grouped("new_order_p90_ms", 1),
            text(trial, "verdict").to_owned(),
            texts(&trial["reasons"]).join("; "),
        ]
    };
    let rows = rows(&document, "trials", row);
    let header = ["warehouses", "tpmC", "efficiency", "New-Order p90 ms", "<verdict", "<why"];
    let content = html! {
        section id="trials" aria-labelledby="trials-h" {
            h2 id="trials-h" { "Trials" }
            (table("What each number of warehouses gave", &header, &rows))
            p.note { "One run each: near the limit chance decides. Repeat what matters, for as long as it matters." }
        }
    };
    let heading = format!("The database {}", conclusion(&document));
    Ok(series_page("Search for the most warehouses".to_owned(), &heading, content))
}
