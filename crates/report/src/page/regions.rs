//! The page of the lesson of the regions.

use maud::{Markup, html};
use record::regions::RegionsResult;

use super::Page;
use super::table::{facts, table};
use crate::regions::{
    DELAYS, DELAYS_TITLE, HOMES, HOMES_TITLE, LESSONS, MATRICES, MATRIX, NOTE, conclusion, delays, headline, homes,
    lessons, matrix,
};

/// The page of the lesson.
#[must_use]
pub fn regions_page(result: &RegionsResult) -> Page {
    let header = html! {
        header {
            p.brand { "weighbridge" }
            h1 { "What distance costs" }
            (facts(&[
                ("Where", headline(result)),
                ("Data", format!("MovR at scale {}, seed {}", result.scale, result.seed)),
                ("Begun", result.started_at.map_or_else(String::new, |at| format!("{at:.0}"))),
            ]))
        }
    };
    let footer = html! { p { (NOTE.replace('\n', " ")) } };
    Page { title: "Regions".into(), header, content: regions_section(result), footer }
}

/// The lesson.
fn regions_section(result: &RegionsResult) -> Markup {
    html! {
        section id="lesson" aria-labelledby="lesson-h" {
            h2 id="lesson-h" { "Each region's own data, before and after" }
            (table("Medians with 95 % intervals; published means beside them", &LESSONS, &lessons(result)))
            @for line in conclusion(result).lines() { p { (line) } }
        }
        section id="matrix" aria-labelledby="matrix-h" {
            h2 id="matrix-h" { "Gateways and data" }
            @for (title, operation) in MATRICES { (table(title, &MATRIX, &matrix(result, operation))) }
            p.note { "Read: " code { (result.read_sql) } ". Insert: " code { (result.insert_sql) } "." }
        }
        section id="where" aria-labelledby="where-h" {
            h2 id="where-h" { "Where the data live" }
            (table(HOMES_TITLE, &HOMES, &homes(result)))
        }
        section id="distances" aria-labelledby="distances-h" {
            h2 id="distances-h" { "The distances" }
            (table(DELAYS_TITLE, &DELAYS, &delays(result)))
        }
    }
}
