//! The page of a comparison: the answer, every figure with its interval drawn, what was made differently.

use maud::{Markup, html};
use record::compare::{Comparison, Effect};

use super::table::table;
use super::{Page, one_line};
use crate::compare::{HOLM, all, conclusion, figures};

/// Width and height of a drawn interval.
const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 18.0;

/// The page of a comparison.
#[must_use]
pub fn compare_page(comparison: &Comparison) -> Page {
    let reach = reach(comparison);
    let differences: Vec<Vec<String>> =
        comparison.differences.iter().map(|d| vec![d.what.clone(), d.base.clone(), d.new.clone()]).collect();
    let header = html! {
        header {
            p.brand { "weighbridge" }
            h1 { (conclusion(comparison)) }
            @for objection in &comparison.objections { p.note { "Compared by force: " (objection) } }
            dl.facts {
                div { dt { "Base" } dd { (comparison.base.join(", ")) } }
                div { dt { "New" } dd { (comparison.new.join(", ")) } }
            }
        }
    };
    let content = html! {
        section id="figures" aria-labelledby="figures-h" {
            h2 id="figures-h" { "Figures" }
            p {
                "The ratio is new over base. The line is its 95 % interval, the upright one no change; "
                "where the two meet, no difference can be told."
            }
            p { (HOLM) }
            (effects(comparison, reach))
            @for caution in &comparison.cautions { p.note { (caution) } }
        }
        section id="differences" aria-labelledby="differences-h" {
            h2 id="differences-h" { "Made differently" }
            @if differences.is_empty() {
                p { "Nothing: the same plan, settings, versions and nodes." }
            } @else {
                (table("Facts of the runs that are not the same", &["<fact", "<base", "<new"], &differences))
            }
        }
    };
    Page {
        title: "Comparison of two sides".into(),
        header,
        content,
        footer: html! { p { (one_line(&comparison.note)) } },
    }
}

/// The greatest departure from no change that is to be drawn, as a logarithm.
fn reach(comparison: &Comparison) -> f64 {
    let logs = all(comparison).flat_map(|effect| {
        let [low, high] = effect.interval.unwrap_or([effect.ratio; 2]);
        [low.ln().abs(), high.ln().abs()]
    });
    logs.filter(|log| log.is_finite()).fold(0.05, f64::max).min(3.0)
}

fn effects(comparison: &Comparison, reach: f64) -> Markup {
    const CAPTION: &str = "Every figure, base against new";
    let header = ["figure", "base", "new", "ratio", "95 % interval", "drawn", ""];
    html! {
        div.scroll tabindex="0" role="region" aria-label=(CAPTION) {
            table {
                caption { (CAPTION) }
                thead { tr { @for name in header { th scope="col" { (name) } } } }
                tbody {
                    @for effect in all(comparison) {
                        @let cells = figures(effect);
                        tr {
                            th scope="row" { (cells[0]) }
                            @for cell in &cells[1..5] { td.figure { (cell) } }
                            td { (drawn(effect, reach)) }
                            td { (cells[5]) }
                        }
                    }
                }
            }
        }
    }
}

/// A ratio and its interval on a logarithmic scale, no change in the middle.
fn drawn(effect: &Effect, reach: f64) -> Markup {
    let x = |ratio: f64| (WIDTH / 2.0 * (1.0 + (ratio.ln() / reach).clamp(-1.0, 1.0)) * 10.0).round() / 10.0;
    let middle = HEIGHT / 2.0;
    let better = (effect.ratio > 1.0) == effect.more_is_better;
    let colour = match (effect.significant, better) {
        (true, true) => "effect good",
        (true, false) => "effect bad",
        (false, _) => "effect",
    };
    html! {
        svg.interval viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) aria-hidden="true" {
            line.grid x1=(WIDTH / 2.0) x2=(WIDTH / 2.0) y1="0" y2=(HEIGHT) {}
            g class=(colour) {
                @if let Some([low, high]) = effect.interval {
                    line x1=(x(low)) x2=(x(high)) y1=(middle) y2=(middle) {}
                }
                circle cx=(x(effect.ratio)) cy=(middle) r="4" {}
            }
        }
    }
}
