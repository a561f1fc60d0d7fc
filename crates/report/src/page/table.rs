//! Tables of a page: a caption, headers of columns and rows, figures to the right.

use maud::{Markup, html};

/// A table; columns whose header starts with `<` are text, others figures. The first cell of a row is its header.
#[must_use]
pub fn table(caption: &str, header: &[&str], rows: &[Vec<String>]) -> Markup {
    let side = |at: usize| if header.get(at).is_some_and(|name| name.starts_with('<')) { "text" } else { "figure" };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead {
                    tr { @for (at, name) in header.iter().enumerate() { th scope="col" class=(side(at)) { (name.trim_start_matches('<')) } } }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at == 0 { th scope="row" class=(side(at)) { (cell) } }
                                @else { td class=(side(at)) { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Facts: a name and a value each.
#[must_use]
pub fn facts(facts: &[(&str, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts {
                @if !value.is_empty() { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}
