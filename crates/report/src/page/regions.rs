//! The page of the lesson of the regions.

use maud::{Markup, html};
use record::regions::RegionsResult;

use super::document;
use super::table::{facts, table};
use crate::regions::{
    DELAYS, DELAYS_TITLE, HOMES, HOMES_TITLE, LESSONS, MATRICES, MATRIX, NOTE, conclusion, delays, headline, homes,
    lessons, matrix,
};

/// The page of the lesson: HTML, complete.
#[must_use]
pub fn regions_page(result: &RegionsResult) -> String {
    let body = html! {
        header {
            p.brand { "weighbridge" }
            h1 { "What distance costs" }
            (facts(&[
                ("Where", headline(result)),
                ("Data", format!("MovR at scale {}, seed {}", result.scale, result.seed)),
                ("Begun", result.started_at.map_or_else(String::new, |at| format!("{at:.0}"))),
            ]))
        }
        main { (regions_section(result)) }
        footer { p { (NOTE.replace('\n', " ")) } }
    };
    document("Regions", &body)
}

/// The lesson as a part of a page.
pub(super) fn regions_section(result: &RegionsResult) -> Markup {
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
