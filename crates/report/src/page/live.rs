//! A run while it goes: what is known of it by now, drawn by the same charts as when it will have ended.

use maud::{Markup, html};
use record::run::Ended;
use record::timeline::Stage;
use record::{OpenedRun, Summary};

use super::charts::RunCharts;
use super::sections::subject;
use super::table::facts;
use super::words::{duration, ms, percent, rate, several};
use super::{Page, one_line};

/// The page of a run that is under way. Where `events` is an address, a script that listens there for [`live_parts`] may
/// put them in the place of what the page's element with `data-events` holds.
#[must_use]
pub fn live_page(run: &OpenedRun, summary: &Summary, events: &str) -> Page {
    let record = &run.record;
    Page {
        title: format!("{}: under way", subject(record)),
        header: html! {
            header.hero {
                p.brand { "weighbridge" }
                h1 { (subject(record)) }
                p.note { (record.target.version) }
            }
        },
        content: html! {
            // What changes every second is not read out; that the run has come further is.
            p.stage role="status" id="stage" { (stage(run)) }
            div id="live" data-events=(events) { (parts(run, summary)) }
        },
        footer: html! { p { (one_line(&record.plan.labels.disclaimer)) } },
    }
}

/// What changes from second to second, each element with an id.
#[must_use]
pub fn live_parts(run: &OpenedRun, summary: &Summary) -> String {
    html! { p id="stage" { (stage(run)) } (parts(run, summary)) }.into_string()
}

/// Where a run is, in a sentence.
fn stage(run: &OpenedRun) -> &'static str {
    let measured = run.timeline.iter().any(|row| row.stage == Stage::Measured);
    match (&run.record.ended, run.timeline.last().map(|row| row.stage)) {
        (Ended::Running, None) => "The run is about to begin.",
        (Ended::Running, Some(Stage::Ramp)) => "The ramp: nothing is measured yet.",
        (Ended::Running, Some(Stage::Measured)) => "The measurement is under way.",
        (Ended::Running, Some(Stage::Drain)) => "The last transactions are coming to their end.",
        (_, _) if measured => {
            "The run has ended. What was acknowledged is held against the database, then comes the verdict."
        }
        (_, _) => "The run has ended before anything was measured.",
    }
}

fn parts(run: &OpenedRun, summary: &Summary) -> Markup {
    let plan = &run.record.plan;
    let charts = RunCharts::under_way(run, summary);
    let elapsed = run.timeline.last().map_or(0.0, |row| row.elapsed_s);
    let planned = plan.ramp_seconds + plan.duration_seconds;
    let title = plan.headline().map_or("", |index| plan.transactions[index].title.as_str());
    let (number, metric) = match summary.tpmc {
        Some(_) => (summary.nopm, "tpmC so far".to_owned()),
        None => (summary.nopm, format!("{} so far", plan.labels.metric)),
    };
    let last = run.timeline.last().cloned().unwrap_or_default();
    let errors: u64 = summary.transactions.iter().map(|figures| figures.errors).sum();
    let retries: u64 = summary.transactions.iter().map(|figures| figures.retries).sum();
    html! {
        div id="now" {
            div.result {
                p.number { strong { (if summary.measured_seconds > 0.0 { rate(number) } else { "–".to_owned() }) } " " (metric) }
                p.badge.running { "verdict: " strong { "pending" } }
            }
            progress max=(planned.max(1.0)) value=(elapsed.min(planned)) aria-label="How far the run has come" {}
            (facts(&[
                ("Gone by", format!("{} of {}", duration(elapsed.round()), duration(planned))),
                ("Efficiency so far", summary.efficiency.filter(|_| summary.measured_seconds > 0.0)
                    .map_or_else(String::new, |efficiency| percent(efficiency, 1))),
                (&format!("{title} response time in the last second"), format!("median {} ms, 90\u{a0}% within {} ms, 99\u{a0}% within {} ms",
                    ms(1, last.p50_ms), ms(1, last.p90_ms), ms(1, last.p99_ms))),
                ("In the interval so far", format!("{} measured; {}, {}", duration(summary.measured_seconds.round()),
                    several(errors, "error"), several(retries, "retry"))),
                ("Waiting now", match plan.transactions.iter().find(|rule| rule.deferred_limit_seconds.is_some()) {
                    Some(deferred) => format!("{} for a connection, {} to be carried out", several(last.waiting, "terminal"),
                        several(last.backlog, &deferred.title)),
                    None => format!("{} for a connection", several(last.waiting, "terminal")),
                }),
                ("Load", format!("{}, {}, style {}", several(plan.terminals.into(), "terminal"),
                    several(plan.connections.into(), "connection"), plan.style)),
            ]))
        }
        @if charts.over_time() {
            h2 { "Over time" }
            (charts.throughput().render())
            (charts.all_types().render())
            @if let Some(chart) = charts.response_over_time() { (chart.render()) }
            (super::pairs(vec![charts.errors(), charts.retries(), charts.waiting(), charts.cpu()]))
        }
    }
}
