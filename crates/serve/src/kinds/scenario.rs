//! Scenarios: a published benchmark, repeated, beside what was published.

use std::path::Path;

use maud::{Markup, html};
use report::Page;
use report::html::{grouped, table};
use serde_json::Value;

use super::{Facts, Kind, Sign, document, text, texts};

/// The document of a scenario, in its folder.
const SCENARIO_JSON: &str = "scenario.json";

pub(super) const KIND: Kind =
    Kind { section: "scenarios", name: "scenario", sign: Sign::Holds(SCENARIO_JSON), is_series: true, facts, page };

fn facts(path: &Path) -> Result<Facts, String> {
    let document = read(path)?;
    Ok(Facts { note: title(&document), ..Facts::default() })
}

fn read(path: &Path) -> Result<Value, String> {
    let document = document(&path.join(SCENARIO_JSON))?;
    match document["figures"].is_array() {
        true => Ok(document),
        false => Err(format!("{SCENARIO_JSON}: not the answer of a scenario: it has no figures")),
    }
}

fn title(document: &Value) -> String {
    let scale = document["scale"].as_f64().filter(|scale| *scale != 1.0);
    let scale = scale.map_or_else(String::new, |scale| format!(", at {scale} of its size"));
    format!("{}, case {}{scale}", text(document, "scenario"), text(document, "case"))
}

fn page(path: &Path) -> Result<Page, String> {
    let document = read(path)?;
    let row = |figure: &Value| {
        let value = |field: &str, decimals| {
            figure[field].as_f64().map_or_else(|| "–".to_owned(), |value| grouped(value, decimals))
        };
        vec![text(figure, "name").to_owned(), value("published", 1), value("measured", 1), value("ratio", 3)]
    };
    let rows: Vec<Vec<String>> = document["figures"].as_array().into_iter().flatten().map(row).collect();
    Ok(Page {
        title: format!("Scenario {}", title(&document)),
        header: html! {
            header {
                p.brand { "weighbridge" }
                h1 { "Scenario " (title(&document)) }
            }
        },
        content: html! {
            section id="figures" aria-labelledby="figures-h" {
                h2 id="figures-h" { "Published and measured" }
                (table("Each published figure beside the measured one", &["<figure", "published", "measured", "ratio"], &rows))
            }
            (list("differences", "Differences, which the figures carry", &texts(&document["differences"])))
            (list("impossible", "Published, but can't be", &texts(&document["published_cannot_be"])))
        },
        footer: super::not_audited(),
    })
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
