//! Results as pages. One that is written to a file is self-contained: nothing in it is fetched, and everything but zoom and
//! cursor works without a script. A server may put the same page into a frame of its own.
//!
//! Words of the record (versions, settings, notes) are foreign input. They only ever come in through `maud`, which
//! escapes them, and through the charts' JSON, which can't end its element.

mod acid;
mod advice;
mod axis;
mod chart;
mod charts;
mod compare;
mod database;
mod distribution;
mod live;
mod outages;
mod regions;
mod repeat;
mod sections;
mod statements;
mod sweep;
pub(crate) mod table;
mod time_buckets;
mod timing;
mod tuning;
pub(crate) mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::query_plan::Plan;
use record::verdict::Verdict;
use record::{OpenedRun, Summary};

use chart::Chart;
use charts::RunCharts;

pub use acid::acid_page;
pub use advice::advice_page;
pub use compare::compare_page;
pub use live::{live_page, live_parts};
pub use regions::regions_page;
pub use repeat::quoted as shell_quoted;
pub use sweep::sweep_page;
pub use timing::time_page;
pub use tuning::tuning_page;

/// Nothing may be fetched from anywhere, whatever should have got into the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The style of every page.
pub const STYLE: &str = include_str!("page/style.css");

/// What adds zoom, cursor and tables of values to the charts of a page. Charts that come into the page later are taken
/// up at the event `drawn` of the document.
pub const SCRIPT: &str = include_str!("page/script.js");

/// A page in its parts.
#[derive(Debug)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// What stands above the content: what the page is about, and ways into it.
    pub header: Markup,
    /// What stands in `main`.
    pub content: Markup,
    /// What stands below it.
    pub footer: Markup,
}

impl Page {
    /// The page as a file: HTML, complete.
    #[must_use]
    pub fn file(&self) -> String {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    link rel="icon" href="data:,";
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    (self.body())
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
        .into_string()
    }

    /// What stands in `body`.
    #[must_use]
    pub fn body(&self) -> Markup {
        html! {
            a.skip href="#main" { "Skip to the content" }
            (self.header)
            main id="main" { (self.content) }
            footer { (self.footer) }
        }
    }
}

/// A section: its anchor, its heading, its content.
struct Section {
    id: &'static str,
    title: &'static str,
    content: Markup,
}

/// The page of a run.
#[must_use]
pub fn page(run: &OpenedRun, summary: &Summary, verdict: &Verdict) -> Page {
    let record = &run.record;
    let sections = sections(run, summary, verdict);
    Page {
        title: format!("{}: {}", sections::subject(record), verdict.status.name()),
        header: html! {
            (sections::headline(record, summary, verdict))
            nav aria-label="Sections" {
                ul { @for section in &sections { li { a href={ "#" (section.id) } { (section.title) } } } }
            }
        },
        content: html! {
            @for section in &sections {
                section id=(section.id) aria-labelledby={ (section.id) "-h" } {
                    h2 id={ (section.id) "-h" } { (section.title) }
                    (section.content)
                }
            }
        },
        footer: html! {
            p { (one_line(&record.plan.labels.disclaimer)) }
            p { "Derived from the run's folder alone, which holds every second and every histogram." }
        },
    }
}

/// A text without its line breaks, which a page sets itself.
fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

fn sections(run: &OpenedRun, summary: &Summary, verdict: &Verdict) -> Vec<Section> {
    let record = &run.record;
    let charts = RunCharts::for_run(run, summary);
    let timed = |content: &dyn Fn() -> Markup| {
        if charts.over_time() {
            content()
        } else {
            html! { p.note { "No second was recorded, so there is nothing to draw over time." } }
        }
    };
    let mut sections = vec![
        Section { id: "verdict", title: "Verdict", content: sections::verdict(verdict, &run.warnings) },
        Section {
            id: "throughput",
            title: "Throughput",
            content: html! {
                (sections::rates(record, summary))
                (timed(&|| html! { (charts.throughput().render()) (charts.all_types().render()) }))
            },
        },
        Section {
            id: "response-times",
            title: "Response times",
            content: html! {
                (sections::percentiles(summary))
                (sections::clocks(summary))
                (pairs(charts.distributions()))
                @if let Some(chart) = charts.response_over_time() { (chart.render()) }
                @match charts.response_against_throughput() {
                    Some(chart) => (chart.render()),
                    None => p.note {
                        "Response time against throughput (clause 5.6.2) has points at 50, 80 and 100 % of the rate, which are three runs. \
                         This is one, and completed too few a second for its seconds to stand in for them."
                    },
                }
            },
        },
        Section {
            id: "waits",
            title: "Keying and think times",
            content: html! {
                (sections::waits(record, summary))
                @if let Some(chart) = charts.think_times() { (chart.render()) }
            },
        },
        Section {
            id: "errors",
            title: "Errors, retries and queues",
            content: html! {
                (sections::errors(record))
                (timed(&|| html! {
                    (pairs([charts.errors(), charts.retries(), charts.waiting()]
                        .into_iter()
                        .chain(charts.backlog())
                        .chain([charts.queue()])))
                }))
            },
        },
    ];
    if !summary.statements.is_empty() {
        // Behind the response times, which they explain.
        let content = statements::statements(record, summary);
        sections.insert(3, Section { id: "statements", title: "Statements", content });
    }
    if !record.faults.is_empty() || !summary.outages.is_empty() {
        sections.push(Section {
            id: "trouble",
            title: "Faults and failover",
            content: outages::outages(record, summary),
        });
    }
    if !record.clients.is_empty() {
        sections.push(Section { id: "clients", title: "Clients", content: sections::clients(record) });
    }
    if !summary.gateways.is_empty() {
        sections.push(Section { id: "gateways", title: "Gateways", content: sections::gateways(summary) });
    }
    sections.extend([
        Section {
            id: "tool",
            title: "The tool's own weight",
            content: html! {
                (sections::tare(record, summary))
                (timed(&|| html! {
                    (pairs([charts.cpu(), charts.memory(), charts.lag()]))
                }))
            },
        },
        Section { id: "data", title: "The data after the run", content: sections::data(record) },
        Section { id: "database", title: "Database", content: database::database(record) },
        Section { id: "repeat", title: "Repeat this run", content: sections::repeat(record) },
        Section { id: "words", title: "Words", content: sections::glossary(&record.plan) },
    ]);
    sections
}

/// Charts beside each other; those that would be empty are named instead.
fn pairs(charts: impl IntoIterator<Item = Chart>) -> Markup {
    let (drawn, empty): (Vec<Chart>, Vec<Chart>) = charts.into_iter().partition(Chart::says_something);
    let empty: Vec<&str> = empty.iter().map(|chart| chart.title.as_str()).collect();
    html! {
        @if !drawn.is_empty() { div.pair { @for chart in &drawn { (chart.render()) } } }
        @if !empty.is_empty() { p.note { "0 from beginning to end, so not drawn: " (empty.join(", ")) "." } }
    }
}

/// A plan, closed.
fn plan(name: &str, plan: &Plan) -> Markup {
    html! {
        details {
            summary { (name) }
            pre { code { (plan.lines.join("\n")) } }
        }
    }
}

/// The class of the colour of a transaction type, the same all over the page.
fn colour(index: usize) -> String {
    format!("t{}", index % 5)
}
