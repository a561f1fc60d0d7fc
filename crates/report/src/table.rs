//! The result of a run as text, for a terminal or a log: plain ASCII, no meaning in colour.

use record::Stats;
use record::gateway::Moves;
use record::merge::{ClientPart, RegionPart};
use record::run::{CheckCounts, RunRecord};
use record::summary::{RateMethod, Summary, TransactionSummary};
use record::verdict::{Finding, Judgement, Verdict};

use crate::audit::audit_table;
use crate::columns::{columns, ms};
use crate::statements::statements;

/// The whole result; every line ends, and columns are at most about 120 wide.
#[must_use]
pub fn table(run: &RunRecord, summary: &Summary, verdict: &Verdict) -> String {
    let parts = [
        headline(run, summary, verdict),
        rates(run, summary),
        transactions(summary),
        failures(summary),
        clocks(summary),
        statements(run, summary),
        gateways(run, summary),
        outages_text(run, summary),
        clients(run),
        regions(run),
        tare(run, summary),
        conclusion(run, verdict),
        format!("{}\n", run.plan.labels.disclaimer),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The line that the field knows.
fn headline(run: &RunRecord, summary: &Summary, verdict: &Verdict) -> String {
    let response = summary.headline(&run.plan).map(|figures| figures.response).unwrap_or_default();
    let (metric, rate) = rate(run, summary);
    let mut row = vec![
        format!("{:.1}s", summary.measured_seconds),
        rate,
        summary.efficiency.map_or("n/a".into(), |efficiency| format!("{:.1}%", efficiency * 100.0)),
    ];
    let times = [response.mean, response.p50, response.p90, response.p95, response.p99, response.max];
    row.extend(times.map(|time| ms(response.count, time)));
    row.push(verdict.status.name().to_owned());
    let header = [
        "elapsed",
        metric.as_str(),
        "efficiency",
        "avg ms",
        "p50 ms",
        "p90 ms",
        "p95 ms",
        "p99 ms",
        "max ms",
        "<verdict",
    ];
    columns(&header, vec![row])
}

/// The name of the headline rate, and the rate: only a run that keeps to the standard has a tpmC.
pub(crate) fn rate(run: &RunRecord, summary: &Summary) -> (String, String) {
    match summary.tpmc {
        Some(tpmc) => ("tpmC".to_owned(), tpmc.to_string()),
        None => (run.plan.labels.metric.clone(), format!("{:.1}", summary.nopm)),
    }
}

/// The rate in the other ways of counting.
fn rates(run: &RunRecord, summary: &Summary) -> String {
    let interval = summary.nopm_interval;
    let method = match interval.method {
        RateMethod::BatchMeans => format!("means of {} batches", interval.batches),
        RateMethod::Poisson => "from the count alone, too short for the rate's own swings".to_owned(),
    };
    let plan = &run.plan;
    let mut text = format!(
        "Terminals {}, connections {}, pacing {}, style {}, isolation {}\n",
        plan.terminals, plan.connections, plan.pacing, plan.style, plan.isolation
    );
    text.push_str(&format!(
        "{}s a minute: {:.1} with designed rollbacks, {:.1} without; 95 % interval {:.1} to {:.1} ({method})\n",
        plan.labels.counted, summary.nopm, summary.nopm_committed, interval.low, interval.high
    ));
    if summary.efficiency.is_some() {
        // The ceiling is that of the mix and the waits, with answers that take no time.
        let full = run.plan.scale.max_per_warehouse * f64::from(run.plan.warehouses);
        let percent = |rate: f64| 100.0 * rate / full;
        let ceiling = run.plan.ceiling_per_warehouse * f64::from(run.plan.warehouses);
        text.push_str(&format!(
            "Efficiency: 95 % interval {:.1} % to {:.1} %; the mix and the waits allow {:.1} %\n",
            percent(interval.low),
            percent(interval.high),
            percent(ceiling)
        ));
    }
    text.push_str(&format!("All transactions a minute: {:.1}", summary.total_per_minute));
    if plan.labels.per_second {
        text.push_str(&format!("; a second: {:.1}", summary.total_per_minute / 60.0));
    }
    text.push('\n');
    text
}

/// One row a client of a merged run.
fn clients(run: &RunRecord) -> String {
    if run.clients.is_empty() {
        return String::new();
    }
    let row = |client: &ClientPart| {
        let last = client.first_warehouse + client.warehouses.saturating_sub(1);
        vec![
            client.folder.clone(),
            format!("{}-{last}", client.first_warehouse),
            client.connections.to_string(),
            format!("{:.1}", client.start_skew_seconds),
            format!("{:.1}", client.measured_seconds),
            format!("{:.1}", client.nopm),
            ms(client.response.count, client.response.p90),
            ms(client.response.count, client.response.p99),
            client.errors.to_string(),
            format!("{:.1}", client.cpu_share_of_threads * 100.0),
            ms(client.lag.count, client.lag.p99),
        ]
    };
    let header = [
        "<client",
        "warehouses",
        "connections",
        "start +s",
        "measured s",
        "NOPM",
        "p90 ms",
        "p99 ms",
        "errors",
        "cpu %",
        "lag p99 ms",
    ];
    columns(&header, run.clients.iter().map(row).collect())
}

/// One row a region of a merged run.
fn regions(run: &RunRecord) -> String {
    if run.regions.is_empty() {
        return String::new();
    }
    let row = |region: &RegionPart| {
        let times = [region.response.mean, region.response.p50, region.response.p90, region.response.p99];
        let mut row = vec![region.region.clone(), region.clients.to_string(), region.warehouses.to_string()];
        row.push(format!("{:.1}", region.nopm));
        row.extend(times.map(|time| ms(region.response.count, time)));
        row.push(region.errors.to_string());
        row
    };
    let header = ["<region", "clients", "warehouses", "NOPM", "mean ms", "p50 ms", "p90 ms", "p99 ms", "errors"];
    columns(&header, run.regions.iter().map(row).collect())
}

/// Counts and response times per transaction type.
fn transactions(summary: &Summary) -> String {
    let mut rows = Vec::new();
    for figures in &summary.transactions {
        let mut row = vec![
            figures.title.clone(),
            figures.count.to_string(),
            format!("{:.2}", figures.share * 100.0),
            figures.rolled_back.to_string(),
            figures.errors.to_string(),
            figures.retries.to_string(),
        ];
        row.extend(times(&figures.response));
        rows.push(row);
        if let Some(deferred) = &figures.deferred {
            let mut row = vec![
                "  deferred".to_owned(),
                deferred.completed.to_string(),
                String::new(),
                String::new(),
                deferred.failures.total().to_string(),
                deferred.retries.to_string(),
            ];
            row.extend(times(&deferred.response));
            rows.push(row);
        }
    }
    let header = [
        "<response time, ms",
        "count",
        "share %",
        "rolled back",
        "errors",
        "retries",
        "mean",
        "p50",
        "p90",
        "p95",
        "p99",
        "p99.9",
        "max",
    ];
    let mut text = columns(&header, rows);
    for figures in &summary.transactions {
        if let Some(deferred) = &figures.deferred {
            text.push_str(&format!(
                "{}: {} skipped ({} districts), {} deferred too long\n",
                figures.title, deferred.skipped, deferred.skipped_parts, deferred.late
            ));
        }
    }
    text
}

fn times(stats: &Stats) -> [String; 7] {
    let times = [stats.mean, stats.p50, stats.p90, stats.p95, stats.p99, stats.p999, stats.max];
    times.map(|time| ms(stats.count, time))
}

/// Why transactions were not completed; nothing where all were.
fn failures(summary: &Summary) -> String {
    let failures = &summary.failures;
    if failures.total() == 0 {
        return String::new();
    }
    format!(
        "Not completed: {} conflicts with retries used up, {} not committed (connection lost),\n\
         \x20   {} unknown (COMMIT without an answer), {} refused, {} with rows missing\n",
        failures.exhausted,
        failures.connection - failures.unknown.min(failures.connection),
        failures.unknown,
        failures.other,
        failures.integrity
    )
}

/// Faults, and what trouble cost; nothing where there was none.
#[must_use]
pub fn outages_text(run: &RunRecord, summary: &Summary) -> String {
    let title = run.plan.headline().map_or("", |index| run.plan.transactions[index].title.as_str());
    let faults = run.faults.iter().map(|fault| format!("Fault at {}\n", fault.line()));
    let outages =
        summary.outages.iter().map(|outage| format!("Trouble {}\n", outage.line(title).replace("; ", ";\n    ")));
    faults.chain(outages).collect()
}

/// Where the response time went.
fn clocks(summary: &Summary) -> String {
    let row = |figures: &TransactionSummary| {
        let mut row = vec![figures.title.clone()];
        for stats in [figures.service, figures.queue] {
            let times = [stats.mean, stats.p50, stats.p90, stats.p99, stats.max];
            row.extend(times.map(|time| ms(stats.count, time)));
        }
        row
    };
    let header = ["<ms", "service mean", "p50", "p90", "p99", "max", "queue mean", "p50", "p90", "p99", "max"];
    columns(&header, summary.transactions.iter().map(row).collect())
}

/// What went through each gateway; nothing where there is only one.
fn gateways(run: &RunRecord, summary: &Summary) -> String {
    if summary.gateways.is_empty() {
        return String::new();
    }
    let mut rows = Vec::new();
    let mut notes = String::new();
    for (figures, number) in summary.gateways.iter().zip(1..) {
        let (plan, moves) = (&figures.plan, &figures.moves);
        let last = (plan.first_warehouse + plan.warehouses).saturating_sub(1);
        let mut row = vec![number.to_string(), format!("{}-{last}", plan.first_warehouse)];
        let counts = [figures.transactions, figures.headline, figures.errors, figures.retries];
        row.extend(counts.map(|count| count.to_string()));
        for stats in [figures.response, figures.service] {
            row.extend([stats.p50, stats.p90, stats.p99].map(|time| ms(stats.count, time)));
        }
        rows.push(row);
        notes.push_str(&format!("Gateway {number}: {}, {} connections", plan.url, plan.connections));
        if *moves != Moves::default() {
            notes.push_str(&format!(
                "; {} lost, {} moved to others, {} taken over, {} returned",
                moves.lost, moves.failovers_from, moves.failovers_to, moves.returned
            ));
        }
        notes.push('\n');
    }
    let title = run.plan.headline().map_or("", |index| run.plan.transactions[index].title.as_str());
    let header = [
        "<gateway",
        "warehouses",
        "transactions",
        title,
        "errors",
        "retries",
        "response p50",
        "p90",
        "p99",
        "service p50",
        "p90",
        "p99",
    ];
    columns(&header, rows) + &notes
}

/// What the tool itself weighed.
fn tare(run: &RunRecord, summary: &Summary) -> String {
    let (tare, lag) = (&run.tare, &summary.lag);
    format!(
        "Tare: {:.1} s of CPU, {:.0} us a {}, {:.1} % of its threads, {:.1} MiB at most\n\
         Timer lag: {}\n",
        tare.cpu_seconds,
        tare.cpu_us_per_headline,
        run.plan.headline_title(),
        tare.cpu_share_of_threads * 100.0,
        tare.peak_rss_bytes as f64 / 1024.0 / 1024.0,
        match lag.count {
            0 => "none, as there were no waits".to_owned(),
            n => format!("p50 {} ms, p99 {} ms, max {} ms", ms(n, lag.p50), ms(n, lag.p99), ms(n, lag.max)),
        },
    )
}

/// The verdict with all that bears on it.
fn conclusion(run: &RunRecord, verdict: &Verdict) -> String {
    let mut text = format!("Verdict: {}\n", verdict.status.name());
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("  {title}:\n"));
            lines.iter().for_each(|line| text.push_str(&format!("    - {line}\n")));
        }
    };
    let not_judged = verdict.findings.iter().filter(|finding| finding.outcome == Judgement::NotJudged);
    list("failed", verdict.reasons.iter().map(line).collect());
    list("deviations", verdict.deviations.clone());
    list("not judged", not_judged.map(line).collect());
    if let Some(checks) = &run.checks {
        text.push_str(&format!("Checks of the data: {}\n", CheckCounts::from_checks(checks)));
    }
    if let Some(reconciliation) = &run.reconciliation {
        let outcome = if reconciliation.passed { "passed" } else { "FAILED" };
        text.push_str(&format!("Reconciliation: {outcome}; {}\n", reconciliation.detail));
        for item in &reconciliation.checked {
            text.push_str(&format!(
                "    {}: {} acknowledged, {} found, {} unknown, {} missing\n",
                item.name, item.acknowledged, item.gained, item.unknown, item.missing
            ));
        }
    }
    if let Some(audit) = &run.audit {
        text.push('\n');
        text.push_str(&audit_table(audit));
    }
    text
}

/// A finding in one line: rule, figure, limit, why, clause.
pub(crate) fn line(finding: &Finding) -> String {
    let mut line = finding.rule.clone();
    let limit = if finding.limit.is_empty() { String::new() } else { format!("limit {}", finding.limit) };
    let parts: Vec<&str> =
        [finding.figure.as_str(), &limit, &finding.why].into_iter().filter(|part| !part.is_empty()).collect();
    if !parts.is_empty() {
        line.push_str(": ");
        line.push_str(&parts.join("; "));
    }
    if !finding.clause.is_empty() {
        line.push_str(&format!(" (clause {})", finding.clause));
    }
    line
}
