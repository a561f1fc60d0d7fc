//! The list of results: what is asked of it, and its page.

use std::collections::BTreeSet;

use axum::http::{StatusCode, Uri};
use axum::response::Response;
use maud::{Markup, html};
use report::Page;
use report::html::{count, duration, percent, rate};

use crate::catalog::Entry;
use crate::frame::{Width, escaped, framed};
use crate::result_types::ListEntry;
use crate::tags::Tags;

/// Rows of a page.
const ROWS: usize = 200;

/// What is asked of the list.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Words that must all be found.
    q: String,
    verdict: String,
    database: String,
    kind: String,
    tag: String,
    /// Whether runs of series are listed too.
    inner: bool,
    /// Which page, from 1.
    page: usize,
}

impl Asked {
    pub(crate) fn from_fields(fields: &[(String, String)]) -> Self {
        let last = |name: &str| {
            let found = fields.iter().rfind(|(field, _)| field == name);
            found.map_or("", |(_, value)| value.trim()).to_owned()
        };
        Asked {
            q: last("q"),
            verdict: last("verdict"),
            database: last("database"),
            kind: last("kind"),
            tag: last("tag"),
            inner: !last("inner").is_empty(),
            page: last("page").parse().unwrap_or(1).max(1),
        }
    }

    fn wants(&self, entry: &Entry, tags: &[String]) -> bool {
        let is = |asked: &str, value: &str| asked.is_empty() || asked == value;
        let nothing = ListEntry::default();
        let facts = entry.facts.as_ref().unwrap_or(&nothing);
        let listed = self.inner || entry.series.is_empty() || entry.is_under_way();
        if !(listed
            && is(&self.verdict, entry.outcome())
            && is(&self.kind, entry.kind.section)
            && (self.database.is_empty() || facts.database.split(", ").any(|name| name == self.database))
            && (self.tag.is_empty() || tags.contains(&self.tag)))
        {
            return false;
        }
        let text =
            [&entry.address, entry.kind.name, &facts.database, &facts.words, &facts.note, entry.outcome()].join(" ");
        let text = format!("{text} {}", tags.join(" ")).to_lowercase();
        self.q.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    /// The same question for another page.
    fn link(&self, page: usize) -> String {
        let number = page.to_string();
        let inner = if self.inner { "on" } else { "" };
        let fields = [
            ("q", self.q.as_str()),
            ("verdict", &self.verdict),
            ("database", &self.database),
            ("kind", &self.kind),
            ("tag", &self.tag),
            ("inner", inner),
            ("page", &number),
        ];
        let said = fields.iter().filter(|(_, value)| !value.is_empty());
        format!("/?{}", said.map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&"))
    }
}

/// A value as it stands behind a question mark.
pub(crate) fn encoded(value: &str) -> String {
    escaped(value).replace('/', "%2F")
}

/// Where a result is shown.
pub(crate) fn link(entry: &Entry) -> String {
    format!("/{}/{}", entry.kind.section, escaped(&entry.address))
}

/// The list.
pub(crate) fn page(place: &str, asked: &Asked, entries: &[Entry], tags: &Tags, uri: &Uri) -> Response {
    let none = Vec::new();
    let of = |entry: &Entry| tags.get(&entry.address).unwrap_or(&none);
    let found: Vec<&Entry> = entries.iter().filter(|entry| asked.wants(entry, of(entry))).collect();
    let pages = found.len().div_ceil(ROWS).max(1);
    let number = asked.page.min(pages);
    let shown = &found[(number - 1) * ROWS..found.len().min(number * ROWS)];
    let is_filtered = uri.query().is_some_and(|query| !query.is_empty());
    let content = html! {
        (filter(asked, entries, tags))
        p role="status" {
            (said(found.len(), is_filtered, entries.len()))
            @if is_filtered { " " a href="/" { "Show all" } }
        }
        @if !shown.is_empty() { (table("Results, newest first", shown, tags, true)) }
        @if entries.is_empty() {
            p { "There is nothing here yet. A result comes here by " code { "weighbridge run" } ", or, with nothing to install, by " code { "weighbridge demo" } "." }
        }
        @if pages > 1 {
            nav aria-label="Pages" {
                ul {
                    @for page in 1..=pages {
                        li {
                            @if page == number { span aria-current="page" { "Page " (page) } }
                            @else { a href=(asked.link(page)) { "Page " (page) } }
                        }
                    }
                }
            }
        }
    };
    let page = Page {
        title: "Results".into(),
        header: html! { header { p.brand { "weighbridge" } h1.place { "Results" } p.note { "in " (place) } } },
        content,
        footer: html! {
            p { (report::NOT_AUDITED.replace('\n', " ")) }
            p { "Figures and verdicts of the list are those that each run kept; its page derives them anew." }
        },
    };
    framed(StatusCode::OK, &page, None, Width::Table, false)
}

fn said(found: usize, is_filtered: bool, all: usize) -> String {
    match (found, is_filtered) {
        (0, true) => format!("None of {} results is like that.", count(all as u64)),
        (1, _) => "1 result.".to_owned(),
        (found, _) => format!("{} results.", count(found as u64)),
    }
}

fn filter(asked: &Asked, entries: &[Entry], tags: &Tags) -> Markup {
    let known = || entries.iter().filter_map(|entry| entry.facts.as_ref().ok());
    let verdicts: BTreeSet<&str> = entries.iter().map(Entry::outcome).collect();
    let databases: BTreeSet<&str> = known().flat_map(|facts| facts.database.split(", ")).collect();
    let result_types: BTreeSet<(&str, &str)> =
        entries.iter().map(|entry| (entry.kind.section, entry.kind.name)).collect();
    let tags: BTreeSet<&str> = tags.values().flatten().map(String::as_str).collect();
    let plain = |values: BTreeSet<&str>| -> Vec<(String, String)> {
        values.into_iter().filter(|value| !value.is_empty()).map(|value| (value.to_owned(), value.to_owned())).collect()
    };
    let result_types = result_types.into_iter().map(|(section, name)| (section.to_owned(), name.to_owned())).collect();
    html! {
        form.filter method="get" action="/" role="search" {
            label.grow { "Search" input type="search" name="q" value=(asked.q) placeholder="name, database, version, tag"; }
            (choice("verdict", "Verdict", &asked.verdict, plain(verdicts)))
            (choice("database", "Database", &asked.database, plain(databases)))
            (choice("kind", "ResultType", &asked.kind, result_types))
            @if !tags.is_empty() { (choice("tag", "Tag", &asked.tag, plain(tags))) }
            @if entries.iter().any(|entry| entry.kind.is_series) {
                label.tick { input type="checkbox" name="inner" checked[asked.inner]; "Runs of series too" }
            }
            button { "Search" }
        }
    }
}

/// A choice that has something to choose from, or in which something was chosen.
fn choice(name: &str, title: &str, chosen: &str, mut values: Vec<(String, String)>) -> Markup {
    if !chosen.is_empty() && values.iter().all(|(value, _)| value != chosen) {
        values.push((chosen.to_owned(), chosen.to_owned()));
    }
    html! {
        @if values.len() > 1 || !chosen.is_empty() {
            label {
                (title)
                select name=(name) {
                    option value="" { "any" }
                    @for (value, said) in &values { option value=(value) selected[value == chosen] { (said) } }
                }
            }
        }
    }
}

/// A table of results; runs of it can be picked for a comparison.
pub(crate) fn table(caption: &str, entries: &[&Entry], tags: &Tags, of_all: bool) -> Markup {
    let comparable = |entry: &Entry| entry.kind.section == "runs" && entry.facts.is_ok() && !entry.is_under_way();
    let picks = entries.iter().filter(|entry| comparable(entry)).count() > 1;
    let rows = html! {
        div.scroll.list tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead {
                    tr {
                        @if picks { th.pick-one scope="col" { span.skip { "Compare" } } }
                        @for name in ["Result", "When, UTC", "Database"] { th scope="col" { (name) } }
                        @for name in ["Warehouses", "Rate", "Efficiency"] { th.figure scope="col" { (name) } }
                        th scope="col" { "Verdict" }
                        th.figure scope="col" { "Measured" }
                    }
                }
                tbody {
                    @for entry in entries {
                        tr {
                            @if picks {
                                td.pick-one {
                                    @if comparable(entry) {
                                        label { input type="checkbox" name="run" value=(entry.address) aria-label={ "Compare " (entry.address) }; }
                                    }
                                }
                            }
                            (cells(entry, tags, of_all))
                        }
                    }
                }
            }
        }
    };
    html! {
        @if picks {
            form method="get" action="/compare" {
                (rows)
                div.acts {
                    button { "Compare the runs that are ticked" }
                    p.note { "The oldest of them, with those that repeat it, is the base." }
                }
            }
        } @else { (rows) }
    }
}

fn cells(entry: &Entry, tags: &Tags, of_all: bool) -> Markup {
    let nothing = ListEntry::default();
    let facts = entry.facts.as_ref().unwrap_or(&nothing);
    let series = if of_all { "" } else { entry.series.as_str() };
    let name = entry.address.strip_prefix(series).unwrap_or(&entry.address).trim_start_matches('/');
    let kind = (entry.kind.section != "runs").then_some(entry.kind.name);
    let note: Vec<&str> = kind.into_iter().chain([facts.note.as_str()]).filter(|part| !part.is_empty()).collect();
    let class = entry.facts.as_ref().map_or("damaged", |facts| facts.outcome.class());
    html! {
        th scope="row" {
            a href=(link(entry)) { (name) }
            @if let Err(why) = &entry.facts { span.note { (why) } }
            @else if !note.is_empty() { span.note { (note.join(": ")) } }
            @for tag in tags.get(&entry.address).into_iter().flatten() {
                a.tag href={ "/?tag=" (encoded(tag)) } { (tag) }
            }
        }
        td {
            @if let Some(when) = entry.when {
                time datetime=(when.strftime("%Y-%m-%dT%H:%M:%SZ")) { (when.strftime("%Y-%m-%d %H:%M")) }
            }
        }
        td { (facts.database) }
        td.figure { @if facts.warehouses > 0 { (count(facts.warehouses.into())) } }
        td.figure { @if let Some(figure) = &facts.rate { (if entry.kind.is_series { "up to " } else { "" }) strong { (rate(figure.value)) } " " (figure.name) } }
        td.figure { @if let Some(efficiency) = facts.efficiency { (percent(efficiency, 1)) } }
        td { @if !entry.outcome().is_empty() { span class={ "mark " (class) } { (entry.outcome()) } } }
        td.figure { @if let Some(seconds) = facts.seconds { (duration(seconds)) } }
    }
}
