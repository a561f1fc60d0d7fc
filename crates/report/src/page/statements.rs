//! Where the time of each transaction goes, statement by statement.

use maud::{Markup, html};
use record::run::RunRecord;
use record::statements::StatementsSummary;
use record::summary::Summary;

use super::table::table;
use super::words::{count, grouped, ms, percent};
use crate::statements::what_is_timed;

/// A table a transaction type.
pub(super) fn statements(run: &RunRecord, summary: &Summary) -> Markup {
    html! {
        p {
            "Of the time that completed transactions spent with the database, attempts that were repeated included. "
            (what_is_timed(&run.plan.style))
            " The rest is the client's own work, and pauses before another attempt."
        }
        @for timed in summary.statements.iter().filter(|timed| timed.transactions > 0) { (transaction(timed)) }
    }
}

fn transaction(timed: &StatementsSummary) -> Markup {
    let mut rows: Vec<Vec<String>> = timed
        .parts
        .iter()
        .map(|part| {
            let mut row = vec![part.name.clone(), percent(part.share, 1), count(part.calls)];
            row.extend([grouped(part.calls_per_transaction, 2), grouped(part.time.mean, 3)]);
            row.extend([part.time.p50, part.time.p95, part.time.p99].map(|time| ms(part.time.count, time)));
            row
        })
        .collect();
    let mut rest = vec!["rest".to_owned(), percent(timed.rest_share, 1), String::new(), String::new()];
    rest.extend([grouped(timed.rest_mean, 3), String::new(), String::new(), String::new()]);
    rows.push(rest);
    let caption = format!(
        "{}: {} transactions, {} ms with the database on average",
        timed.title,
        count(timed.transactions),
        grouped(timed.service_mean, 3)
    );
    let header = ["<statement", "share", "calls", "a transaction", "mean, ms", "p50", "p95", "p99"];
    table(&caption, &header, &rows)
}
