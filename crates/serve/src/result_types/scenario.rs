//! Scenarios: a published benchmark, repeated, beside what was published.

use std::path::Path;

use maud::{Markup, html};
use report::Page;
use report::html::{grouped, table};
use serde_json::Value;

use super::{Detect, ListEntry, ResultType, figure, read_series, rows, series_page, text, texts};

/// The document of a scenario, in its folder.
const SCENARIO_JSON: &str = "scenario.json";

pub(super) const KIND: ResultType = ResultType {
    section: "scenarios",
    name: "scenario",
    detect: Detect::Holds(SCENARIO_JSON),
    is_series: true,
    facts,
    page,
};

fn facts(path: &Path) -> Result<ListEntry, String> {
    let document = read(path)?;
    Ok(ListEntry { note: title(&document), ..ListEntry::default() })
}

fn read(path: &Path) -> Result<Value, String> {
    read_series(path, SCENARIO_JSON, "figures")
}

fn title(document: &Value) -> String {
    let scale = document["scale"].as_f64().filter(|scale| *scale != 1.0);
    let scale = scale.map_or_else(String::new, |scale| format!(", at {scale} of its size"));
    format!("{}, case {}{scale}", text(document, "scenario"), text(document, "case"))
}

fn page(path: &Path) -> Result<Page, String> {
    let document = read(path)?;
    let row = |entry: &Value| {
        let grouped = |field, decimals| figure(entry, field, |value| grouped(value, decimals));
        vec![text(entry, "name").to_owned(), grouped("published", 1), grouped("measured", 1), grouped("ratio", 3)]
    };
    let rows = rows(&document, "figures", row);
    let content = html! {
        section id="figures" aria-labelledby="figures-h" {
            h2 id="figures-h" { "Published and measured" }
            (table("Each published figure beside the measured one", &["<figure", "published", "measured", "ratio"], &rows))
        }
        (list("differences", "Differences, which the figures carry", &texts(&document["differences"])))
        (list("impossible", "Published, but can't be", &texts(&document["published_cannot_be"])))
    };
    let title = format!("Scenario {}", title(&document));
    Ok(series_page(title.clone(), &title, content))
}

fn list(id: &str, title: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            section id=(id) aria-labelledby={ (id) "-h" } {
                h2 id={ (id) "-h" } { (title) }
                ul { @for line in lines { li { (line) } } }
            }
        }
    }
}
