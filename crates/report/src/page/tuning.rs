//! The page of the tuning lab: the table, a chart of the factors, then each lesson with its statements and plans.

use maud::{Markup, html};
use record::timing::figure;
use record::tuning::{LessonResult, Outcome, Side, TuningResult};

use super::table::table;
use super::{Page, plan};
use crate::tuning::{HEADER, about, rows, way};

/// The page of the tuning lab.
#[must_use]
pub fn tuning_page(result: &TuningResult) -> Page {
    let measured = result.lessons.iter().filter(|lesson| lesson.outcome == Outcome::Measured).count();
    let header = html! {
        header {
            p.brand { "weighbridge" }
            h1 { "What tuning is worth here: " (measured) " lessons" }
            dl.facts {
                div { dt { "Database" } dd { (about(result)) } }
                div { dt { "Where" } dd { (result.target.url) } }
                @if let Some(at) = result.started_at { div { dt { "Begun" } dd { (format!("{at:.0}")) } } }
            }
        }
    };
    let content = html! {
        section id="table" aria-labelledby="table-h" {
            h2 id="table-h" { "All lessons" }
            p {
                "Times are medians. The factor is the median of pairs whose order was drawn, with its 95 % interval; "
                "(chance) marks a difference that chance can explain."
            }
            (table("Lessons, before and after", &HEADER, &rows(result)))
            @if let Some(why) = &result.stopped { p { strong { "It ended early, " (why) "." } } }
        }
        @for lesson in &result.lessons { (story(lesson)) }
    };
    let footer = html! { p { "Measured with " (result.tool) "." } };
    Page { title: "Tuning lab".into(), header, content, footer }
}

fn story(lesson: &LessonResult) -> Markup {
    let id = format!("lesson-{}", lesson.name);
    html! {
        section id=(id) aria-labelledby={ (id) "-h" } {
            h2 id={ (id) "-h" } { (lesson.title) }
            p { strong { (lesson.verdict) } }
            p { (lesson.shows) " " (lesson.why) }
            @if lesson.outcome == Outcome::Measured {
                (side("Before", &lesson.before))
                @if !lesson.change.is_empty() {
                    h3 { "Change" }
                    pre { code { (lesson.change.join(";\n")) } }
                }
                (side("After", &lesson.after))
                @if !lesson.curve.is_empty() { (curve(lesson)) }
                @if !lesson.certain.is_empty() { (certain(lesson)) }
            }
            @if let Some(published) = &lesson.published {
                p {
                    "Published (" (published.source) "): " (figure(published.before_ms)) " ms before, "
                    (figure(published.after_ms)) " ms after."
                    @if let Some(note) = &published.note { " " (note) "." }
                }
            }
        }
    }
}

fn side(name: &str, side: &Side) -> Markup {
    let timing = &side.timing;
    html! {
        h3 { (name) ": " (side.label) }
        pre { code { (side.statements.join(";\n")) } }
        p {
            (figure(timing.median_ms)) " ms"
            @if let Some([low, high]) = timing.interval_ms { " (95 % interval " (figure(low)) " to " (figure(high)) ")" }
            ", p95 " (figure(timing.p95_ms)) " ms, " (timing.count) " executions"
            @if side.retries > 0 { ", " (side.retries) " transactions tried again" }
            "."
            @if let Some(way) = way(side) { " " (way) "." }
        }
        @if let Some(found) = &side.plan { (plan("Plan", found)) }
    }
}

fn curve(lesson: &LessonResult) -> Markup {
    let rows: Vec<Vec<String>> = lesson
        .curve
        .iter()
        .map(|point| {
            let interval = point
                .interval_ms
                .map_or("too few".to_owned(), |[low, high]| format!("{} to {}", figure(low), figure(high)));
            vec![point.size.to_string(), figure(point.median_ms), interval]
        })
        .collect();
    table("The same rows by statements of several sizes", &["rows a statement", "ms", "<95 % interval"], &rows)
}

fn certain(lesson: &LessonResult) -> Markup {
    html! {
        p { "Certain in theory, whatever the clock says:" }
        ul {
            @for certainty in &lesson.certain {
                li {
                    (certainty.what) ": " @if certainty.holds { "so it is" } @else { strong { "NOT so" } }
                    " (" (certainty.seen) ")"
                }
            }
        }
    }
}
