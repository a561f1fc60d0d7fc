//! The page of advice: each statement with its candidates, and what each gave and costs.

use maud::{Markup, html};
use record::advice::Advice;
use record::timing::figure;

use super::table::{facts, table};
use super::{Page, plan};
use crate::advice::{HEADER, proposed, row};

/// The page of the advice for some statements.
#[must_use]
pub fn advice_page(all: &[Advice]) -> Page {
    let first = all.first();
    let fact = |of: fn(&Advice) -> String| first.map(of).unwrap_or_default();
    let header = html! {
        header {
            p.brand { "weighbridge" }
            h1 { "What may help a statement" }
            (facts(&[
                ("Database", fact(|advice| advice.target.version.clone())),
                ("Where", fact(|advice| advice.target.url.clone())),
                ("Begun", fact(|advice| advice.started_at.map_or_else(String::new, |at| format!("{at:.0}")))),
            ]))
        }
    };
    let content = html! { @for (at, advice) in all.iter().enumerate() { (statement(at + 1, advice)) } };
    let footer = html! {
        @if let Some(advice) = first { p { "Advised by " (advice.tool.name) " " (advice.tool.version) "." } }
    };
    Page { title: "Advice for statements".into(), header, content, footer }
}

fn statement(number: usize, advice: &Advice) -> Markup {
    let id = format!("statement-{number}");
    let proposed: Vec<String> = proposed(advice).map(|sql| format!("{sql};")).collect();
    html! {
        section id=(id) aria-labelledby={ (id) "-h" } {
            h2 id={ (id) "-h" } { "Statement " (number) }
            pre { code { (advice.statement) } }
            p { strong { (advice.verdict()) } }
            @if !proposed.is_empty() { pre { code { (proposed.join("\n")) } } }
            @if let Some(now) = advice.now_ms {
                p { "It takes " (figure(now)) " ms as things are; tried on " (advice.place) ", seed " (advice.seed) "." }
            }
            @if advice.tried && !advice.candidates.is_empty() {
                (table("Candidates, the best first", &HEADER, &advice.candidates.iter().map(row).collect::<Vec<_>>()))
            } @else {
                ul { @for candidate in &advice.candidates { li { (candidate.what) } } }
            }
            @if let Some(now) = &advice.plan { (plan("Plan as things are", now)) }
            @for note in &advice.notes { p.note { (note) } }
        }
    }
}
