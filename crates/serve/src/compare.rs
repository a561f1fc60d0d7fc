//! Runs against each other: two sides, or several against one.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use record::compare::{CompareError, Compared, Comparison, compare};
use report::Page;
use report::html::{grouped, percent};

use crate::frame::{Breadcrumb, Width, escaped, framed, refused};
use crate::list::encoded;
use crate::site::Site;

/// Runs that are compared at once.
const MAX_RUNS: usize = 40;

const WAY: Breadcrumb<'static> = Breadcrumb { here: "Comparison", series: None };

/// The runs that were picked: as they come from the list, or as sides.
pub(crate) fn answer(site: &Site, fields: &[(String, String)]) -> Response {
    let of = |name: &str| -> Vec<&str> {
        fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str()).collect()
    };
    let picked = of("run");
    let base = of("base");
    let new = of("new");
    if picked.len() + base.len() + new.len() > MAX_RUNS {
        return message(&html! { p { "More than " (MAX_RUNS) " runs at once." } });
    }
    let open =
        |addresses: &[&str]| addresses.iter().map(|run| open(site, run)).collect::<Result<Vec<Compared>, String>>();
    let answered = if picked.is_empty() {
        open(&base).and_then(|base| Ok((base, open(&new)?))).map(|(base, new)| {
            let force = !of("force").is_empty();
            sides(&base, new, force)
        })
    } else {
        open(&picked).map(sided)
    };
    answered.unwrap_or_else(|why| message(&html! { p { (why) } }))
}

fn open(site: &Site, address: &str) -> Result<Compared, String> {
    let path = site.run(address).ok_or_else(|| format!("{address}: there is no such run"))?;
    site.root.examine(&path)?;
    Compared::open(&path).map(|run| run.named(address)).map_err(|e| site.root.without_place(&e.to_string()))
}

/// Sends the reader to the comparison of what was picked: the oldest run, with those that repeat it, is the base.
fn sided(mut runs: Vec<Compared>) -> Response {
    runs.sort_by_key(Compared::started_at);
    if runs.len() < 2 {
        return message(&html! { p { "Tick two runs at least." } });
    }
    let repeats: Vec<bool> = runs.iter().map(|run| run.repeats(&runs[0])).collect();
    // Where all repeat the first, it is held against the others.
    let all = repeats.iter().all(|repeats| *repeats);
    let side = |at: usize| if at == 0 || repeats[at] && !all { "base" } else { "new" };
    let said: Vec<String> =
        runs.iter().enumerate().map(|(at, run)| format!("{}={}", side(at), encoded(run.source()))).collect();
    Redirect::to(&format!("/compare?{}", said.join("&"))).into_response()
}

fn sides(base: &[Compared], new: Vec<Compared>, force: bool) -> Response {
    if base.is_empty() || new.is_empty() {
        return message(
            &html! { p { "A comparison has two sides, " code { "base" } " and " code { "new" } ", with a run each at least." } },
        );
    }
    let mut groups: Vec<Vec<Compared>> = Vec::new();
    for run in new {
        match groups.iter_mut().find(|group| run.repeats(&group[0])) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    if let [new] = groups.as_slice() {
        return one(base, new, force);
    }
    let answers: Vec<(&[Compared], Result<Comparison, CompareError>)> =
        groups.iter().map(|group| (group.as_slice(), compare(base, group, force))).collect();
    several(base, &answers)
}

/// Two sides.
fn one(base: &[Compared], new: &[Compared], force: bool) -> Response {
    match compare(base, new, force) {
        Ok(comparison) => {
            let mut page = report::compare_page(&comparison);
            page.content = html! { (page.content) (runs(base, new)) };
            framed(StatusCode::OK, &page, Some(&WAY), Width::Text, false)
        }
        Err(CompareError::Unlike(objections)) => message(&html! {
            p { "These runs are not alike enough:" }
            ul { @for objection in &objections { li { (objection) } } }
            p { a href={ (link(base, new)) "&force=on" } { "Compare them nevertheless" } ", which the page will say." }
            (runs(base, new))
        }),
        Err(nothing) => message(&html! { p { (nothing) } (runs(base, new)) }),
    }
}

/// The runs of both sides, each with its own page.
fn runs(base: &[Compared], new: &[Compared]) -> Markup {
    let list = |runs: &[Compared]| {
        html! { ul { @for run in runs { li { a href={ "/runs/" (escaped(run.source())) } { (run.source()) } } } } }
    };
    html! {
        section id="runs" aria-labelledby="runs-h" {
            h2 id="runs-h" { "Runs" }
            h3 { "Base" } (list(base))
            h3 { "New" } (list(new))
            p { a href=(link(new, base)) { "The other way round" } }
        }
    }
}

fn link(base: &[Compared], new: &[Compared]) -> String {
    let said = |side: &str, runs: &[Compared]| -> Vec<String> {
        runs.iter().map(|run| format!("{side}={}", encoded(run.source()))).collect()
    };
    format!("/compare?{}", [said("base", base), said("new", new)].concat().join("&"))
}

/// Several sides, each against the base.
fn several(base: &[Compared], answers: &[(&[Compared], Result<Comparison, CompareError>)]) -> Response {
    const CAPTION: &str = "What decides, of each against the base";
    let names = |runs: &[Compared]| runs.iter().map(Compared::source).collect::<Vec<_>>().join(", ");
    let page = Page {
        title: "Comparison of several runs".into(),
        header: html! {
            header {
                p.brand { "weighbridge" }
                h1 { (answers.len()) " sides against " (names(base)) }
            }
        },
        content: html! {
            p { "The ratio is new over base, with its 95 % interval. Runs that repeat each other stand in one row." }
            div.scroll tabindex="0" role="region" aria-label=(CAPTION) {
                table {
                    caption { (CAPTION) }
                    thead {
                        tr {
                            @for name in ["New", "What decides"] { th scope="col" { (name) } }
                            @for name in ["Base", "New", "Ratio", "95 % interval"] { th.figure scope="col" { (name) } }
                            th scope="col" { "Answer" }
                        }
                    }
                    tbody { @for (new, answer) in answers { (row(base, new, answer)) } }
                }
            }
        },
        footer: html! { p { (report::NOT_AUDITED.replace('\n', " ")) } },
    };
    framed(StatusCode::OK, &page, Some(&WAY), Width::Table, false)
}

fn row(base: &[Compared], new: &[Compared], answer: &Result<Comparison, CompareError>) -> Markup {
    let names = new.iter().map(Compared::source).collect::<Vec<_>>().join(", ");
    html! {
        tr {
            th scope="row" { a href=(link(base, new)) { (names) } }
            @match answer {
                Ok(comparison) => {
                    @let effect = &comparison.decisive;
                    td { (effect.name) }
                    td.figure { (grouped(effect.base.value, 1)) }
                    td.figure { (grouped(effect.new.value, 1)) }
                    td.figure { (grouped(effect.ratio, 3)) }
                    td.figure {
                        @if let Some([low, high]) = effect.interval { (change(low)) " to " (change(high)) } @else { "–" }
                    }
                    td { (verdict(effect)) }
                },
                Err(CompareError::Unlike(objections)) => td colspan="6" { "Not compared: " (objections.join("; ")) },
                Err(nothing) => td colspan="6" { (nothing) },
            }
        }
    }
}

fn change(ratio: f64) -> String {
    let sign = if ratio >= 1.0 { "+" } else { "" };
    format!("{sign}{}", percent(ratio - 1.0, 1))
}

fn verdict(effect: &record::compare::Effect) -> &'static str {
    match (effect.interval.is_some(), effect.significant, (effect.ratio > 1.0) == effect.more_is_better) {
        (false, ..) => "too short to tell",
        (_, false, _) => "no difference can be told",
        (_, true, true) => "better",
        (_, true, false) => "worse",
    }
}

fn message(why: &Markup) -> Response {
    refused(StatusCode::UNPROCESSABLE_ENTITY, "These runs are not compared", why)
}
