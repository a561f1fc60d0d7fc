//! The page of statements repeated: the times, what two sides give, then each statement with its spread and its plan.

use maud::{Markup, html};
use record::timing::{TimeResult, Timed};

use super::table::{facts, table};
use super::{Page, plan};
use crate::timing::{HEADER, about, comparison, rows, spread};

/// The page of statements repeated.
#[must_use]
pub fn time_page(result: &TimeResult) -> Page {
    let header = html! {
        header {
            p.brand { "weighbridge" }
            h1 { "Times of statements" }
            (facts(&[
                ("How", about(result)),
                ("Where", result.target.url.clone()),
                ("Begun", result.started_at.map_or_else(String::new, |at| format!("{at:.0}"))),
            ]))
        }
    };
    let content = html! {
        section id="table" aria-labelledby="table-h" {
            h2 id="table-h" { "All statements" }
            (table("Milliseconds; the first execution is apart", &HEADER, &rows(result)))
            @for line in comparison(result).into_iter().flatten() { p { (line) } }
            @if result.interrupted { p { strong { "Interrupted: it did not come to its end." } } }
        }
        @for (at, timed) in result.statements.iter().enumerate() { (statement(at + 1, timed)) }
    };
    let footer = html! { p { "Measured with " (result.tool.name) " " (result.tool.version) "." } };
    Page { title: "Times of statements".into(), header, content, footer }
}

fn statement(number: usize, timed: &Timed) -> Markup {
    let id = format!("statement-{number}");
    let spread = spread(&timed.timing);
    html! {
        section id=(id) aria-labelledby={ (id) "-h" } {
            h2 id={ (id) "-h" } { (number) " " (timed.place) }
            pre { code { (timed.statement) } }
            @if !spread.is_empty() { pre { (spread) } }
            @if let Some(before) = &timed.plan_before { (plan("Plan", before)) }
            // Estimates and counts may differ; the way is what matters.
            @if let (Some(before), Some(after)) = (&timed.plan_before, &timed.plan_after)
                && before.summary() != after.summary() { (plan("Plan afterwards", after)) }
        }
    }
}
