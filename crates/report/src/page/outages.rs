//! Faults, failover and the audit on the page of a run.

use maud::{Markup, html};
use record::Summary;
use record::failover::Outage;
use record::run::RunRecord;

use super::table::table;
use crate::audit::audit_table;

/// What was done to the database, what it cost, and what of the acknowledged work is there.
pub(super) fn outages(run: &RunRecord, summary: &Summary) -> Markup {
    let title = run.plan.headline().map_or("", |index| run.plan.transactions[index].title.as_str());
    let lost = format!("{title}s lost");
    let header = [
        "<began, s",
        "<faults",
        "no success, s",
        "first success after, s",
        "steady after, s",
        lost.as_str(),
        "failed",
        "slowest, ms",
        "most waiting",
    ];
    html! {
        @if !run.faults.is_empty() {
            p { "Faults were made on purpose; times count from the start of the run." }
            ul { @for fault in &run.faults { li { (fault.line()) } } }
        }
        @if summary.outages.is_empty() {
            p.note { "No trouble was seen." }
        } @else {
            (table("Trouble, from its beginning until three seconds in succession are as those before it", &header, &summary.outages.iter().map(row).collect::<Vec<_>>()))
        }
        @if let Some(audit) = &run.audit {
            h3 { "Everything that was acknowledged, looked up" }
            pre { (audit_table(audit)) }
        }
    }
}

fn row(outage: &Outage) -> Vec<String> {
    let never = |seconds: Option<f64>| seconds.map_or_else(|| "never".to_owned(), |seconds| format!("{seconds:.1}"));
    vec![
        format!("{:.1}", outage.began_seconds),
        outage.faults.join(", "),
        format!("{:.1}", outage.silent_seconds),
        never(outage.first_success_seconds),
        never(outage.steady_seconds),
        format!("{:.0}", outage.headline_lost),
        outage.errors.to_string(),
        format!("{:.0}", outage.max_response_ms),
        outage.most_waiting.to_string(),
    ]
}
