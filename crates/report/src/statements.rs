//! Where the time of each transaction goes, statement by statement.

use record::run::RunRecord;
use record::statements::StatementsSummary;
use record::summary::Summary;

use crate::columns::{columns, ms};

/// What a part is in the style of the run, in a sentence.
pub(crate) fn what_is_timed(style: &str) -> &'static str {
    match style {
        "pipeline" => "Statements that travel in one flight are timed together.",
        "procedure" => "The call of the routine is timed: its statements run inside the server.",
        _ => "BEGIN travels with the first statement and is timed with it.",
    }
}

/// A table a transaction type; nothing where statements were not timed.
pub(crate) fn statements(run: &RunRecord, summary: &Summary) -> String {
    let timed: Vec<&StatementsSummary> = summary.statements.iter().filter(|timed| timed.transactions > 0).collect();
    if timed.is_empty() {
        return String::new();
    }
    let mut rows = Vec::new();
    for timed in timed {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let mut row = vec![timed.title.clone(), timed.transactions.to_string(), "1.00".to_owned()];
        row.extend([format!("{:.3}", timed.service_mean), String::new(), String::new(), String::new(), percent(1.0)]);
        rows.push(row);
        for part in &timed.parts {
            let mut row = vec![format!("  {}", part.name), part.calls.to_string()];
            row.push(format!("{:.2}", part.calls_per_transaction));
            row.push(format!("{:.3}", part.time.mean));
            row.extend([part.time.p50, part.time.p95, part.time.p99].map(|time| ms(part.time.count, time)));
            row.push(percent(part.share));
            rows.push(row);
        }
        let mut row = vec!["  rest: client, pauses".to_owned(), String::new(), String::new()];
        row.extend([format!("{:.3}", timed.rest_mean), String::new(), String::new(), String::new()]);
        row.push(percent(timed.rest_share));
        rows.push(row);
    }
    let header = ["<time with the database, ms", "calls", "a transaction", "mean", "p50", "p95", "p99", "share %"];
    format!("{}{}\n", columns(&header, rows), what_is_timed(&run.plan.style))
}
