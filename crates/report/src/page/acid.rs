//! The page of the ACID tests: the table first, then how each result came about.

use maud::{Markup, html};
use record::acid::{AcidResult, LevelResult};

use super::table::table;
use super::{Page, one_line};
use crate::acid::{conclusion, consistency, database, is_offered, notable, rows};

/// The page of the ACID tests.
#[must_use]
pub fn acid_page(result: &AcidResult) -> Page {
    let headline = if result.passes() { "ACID as clause 3 asks for it" } else { "Not ACID as clause 3 asks for it" };
    let header = html! {
        header {
            p.brand { "weighbridge" }
            h1 { (headline) }
            dl.facts {
                div { dt { "Database" } dd { (database(result)) } }
                div { dt { "Where" } dd { (result.target.url) } }
                div { dt { "Gateways" } dd { (result.gateways) } }
                div { dt { "Seed" } dd { (result.seed) } }
                @if let Some(at) = result.started_at { div { dt { "Begun" } dd { (format!("{at:.0}")) } } }
            }
        }
    };
    let content = html! {
        section id="asked" aria-labelledby="asked-h" {
            h2 id="asked-h" { "What clause 3 asks for" }
            (half(result, true))
            p { "Consistency (3.3.2): " (consistency(result)) "." }
        }
        section id="beyond" aria-labelledby="beyond-h" {
            h2 id="beyond-h" { "Beyond the standard" }
            (half(result, false))
        }
        @for level in result.levels.iter().filter(|level| is_offered(level)) { (stories(level)) }
    };
    Page { title: "ACID tests".into(), header, content, footer: html! { p { (one_line(crate::NOT_AUDITED)) } } }
}

fn half(result: &AcidResult, required: bool) -> Markup {
    let mut header = vec!["<test", "<what", "<clause or paper"];
    let levels: Vec<String> = result.levels.iter().map(|level| format!("<{}", level.isolation)).collect();
    header.extend(levels.iter().map(String::as_str));
    let caption = if required { "Tests of clause 3 by isolation level" } else { "Phenomena by isolation level" };
    table(caption, &header, &rows(result, required))
}

fn stories(level: &LevelResult) -> Markup {
    let id = format!("level-{}", level.isolation);
    let stories: Vec<Vec<String>> = notable(level).map(|test| vec![test.name.clone(), test.seen.clone()]).collect();
    html! {
        section id=(id) aria-labelledby={ (id) "-h" } {
            h2 id={ (id) "-h" } { (level.isolation) }
            p { "This level " (conclusion(level)) "." }
            @if !stories.is_empty() {
                (table(&format!("What was seen at {}", level.isolation), &["<test", "<seen"], &stories))
            }
        }
    }
}
