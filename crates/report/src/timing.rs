//! Statements repeated: their times, how these are spread, and how two of them compare.

use record::query_plan::Plan;
use record::timing::{TimeResult, Timed, Timing, figure};
use serde_json::{Value, json};

use crate::columns::columns;

/// Bars of a histogram.
const BARS: usize = 12;

/// What is told of each statement.
pub(crate) const HEADER: [&str; 12] =
    ["<", "first ms", "median ms", "<95 % interval", "mean", "min", "p90", "p95", "p99", "max", "count", "rows"];

/// The longest bar, in characters.
const MAX_BAR_CHARS: f64 = 40.0;

/// Fewest executions whose spread is drawn.
const MIN_COUNT_FOR_SPREAD: usize = 8;

/// The result as text; with each time, and with their sum, if asked for.
#[must_use]
pub fn time_table(result: &TimeResult, times: bool, cumulative: bool) -> String {
    let mut text = format!("{}\n", about(result));
    for (at, timed) in result.statements.iter().enumerate() {
        text.push_str(&format!("\n{} {}\n    {}\n", at + 1, timed.place, one_line(&timed.statement)));
        if times {
            text.push_str(&format!("{}\n", each(&timed.timing)));
        }
        text.push_str(&spread(&timed.timing));
        text.push_str(&plans(timed));
    }
    text.push_str(&format!("\n{}", columns(&HEADER, rows(result))));
    if cumulative {
        for (at, timed) in result.statements.iter().enumerate() {
            text.push_str(&format!("\n{} cumulative: {} ms\n", at + 1, figure(timed.timing.sum_ms)));
        }
    }
    if let Some(lines) = comparison(result) {
        text.push_str(&format!("\n{}\n", lines.join("\n")));
    }
    text
}

/// Which side is faster, and by how many pairs; `None` for one side.
pub(crate) fn comparison(result: &TimeResult) -> Option<[String; 2]> {
    let comparison = result.comparison.as_ref()?;
    let pairs = if result.sittings > 1 { "pairs of medians, each in new sessions" } else { "pairs" };
    let chance = match comparison.chance {
        chance if chance < 1e-4 => "below 0.0001".to_owned(),
        chance => format!("{chance:.4}"),
    };
    let how =
        format!("{} {pairs}, the order within each drawn; chance that equals differ so: {chance}", comparison.pairs);
    Some([format!("against base: {}", comparison.words()), how])
}

/// The result as JSON.
#[must_use]
pub fn time_json(result: &TimeResult) -> Value {
    json!(result)
}

/// Rows of an answer below their columns' names, and how many there are in all.
#[must_use]
pub fn rows_table(cells: &[Vec<String>], all: usize) -> String {
    let Some((names, rows)) = cells.split_first() else { return "no rows".to_owned() };
    let header: Vec<String> = names.iter().map(|name| format!("<{name}")).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let more = match all - rows.len() {
        0 => String::new(),
        more => format!("... and {more} more\n"),
    };
    format!("{}{more}", columns(&header, rows.to_vec()))
}

pub(crate) fn about(result: &TimeResult) -> String {
    let version = result.target.version.split(" on ").next().unwrap_or_default();
    let transaction = match result.transaction.as_str() {
        "none" => "each commits by itself".to_owned(),
        ending => format!("each in a transaction that ends in {ending}"),
    };
    let sessions = match result.concurrency {
        1 => String::new(),
        sessions => format!(", {sessions} sessions"),
    };
    let warmup = if result.warmup > 0 { format!(", after {} rounds of warm-up", result.warmup) } else { String::new() };
    format!("{version}; {} statements, {transaction}{sessions}{warmup}; seed {}", result.protocol, result.seed)
}

fn one_line(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn rows(result: &TimeResult) -> Vec<Vec<String>> {
    let row = |(at, timed): (usize, &Timed)| {
        let timing = &timed.timing;
        let interval = timing.interval_ms.map_or("too few".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"));
        let mut cells =
            vec![(at + 1).to_string(), timing.first_ms.map_or("-".to_owned(), |first| format!("{first:.3}"))];
        cells.push(format!("{:.3}", timing.median_ms));
        cells.push(interval);
        let others = [timing.mean_ms, timing.min_ms, timing.p90_ms, timing.p95_ms, timing.p99_ms, timing.max_ms];
        cells.extend(others.iter().map(|value| format!("{value:.3}")));
        cells.push(timing.count.to_string());
        cells.push(timed.rows.to_string());
        cells
    };
    result.statements.iter().enumerate().map(row).collect()
}

fn each(timing: &Timing) -> String {
    let times: Vec<String> = timing.times_ms.iter().map(|time| format!("{time:.3}")).collect();
    let lines: Vec<String> = times.chunks(10).map(|line| format!("    {}", line.join(" "))).collect();
    format!("    times (ms):\n{}", lines.join("\n"))
}

/// A small histogram, its classes equal on a logarithmic scale.
pub(crate) fn spread(timing: &Timing) -> String {
    if timing.count < MIN_COUNT_FOR_SPREAD || timing.min_ms <= 0.0 || timing.max_ms <= timing.min_ms {
        return String::new();
    }
    let (low, high) = (timing.min_ms.ln(), timing.max_ms.ln());
    let width = (high - low) / BARS as f64;
    let mut counts = [0_usize; BARS];
    let behind = timing.times_ms.len() - timing.count;
    for time in &timing.times_ms[behind..] {
        let bar = ((time.ln() - low) / width).max(0.0) as usize;
        counts[bar.min(BARS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1) as f64;
    let line = |(at, count): (usize, &usize)| {
        let from = (low + width * at as f64).exp();
        let length = (*count as f64 / most * MAX_BAR_CHARS).ceil() as usize;
        format!("    {from:>10.3} ms {count:>7} {}\n", "#".repeat(length))
    };
    counts.iter().enumerate().map(line).collect()
}

fn plans(timed: &Timed) -> String {
    let Some(before) = &timed.plan_before else { return String::new() };
    let mut text = plan_text("plan", before);
    match &timed.plan_after {
        // Estimates and counts may differ; the way is what matters.
        Some(after) if after.summary() != before.summary() => text.push_str(&plan_text("plan afterwards", after)),
        _ => {}
    }
    text
}

/// A plan for people, indented.
pub(crate) fn plan_text(name: &str, plan: &Plan) -> String {
    let mut text = format!("    {name}:\n");
    for line in &plan.lines {
        text.push_str(&format!("      {line}\n"));
    }
    if !plan.accesses.is_empty() {
        text.push_str(&format!("    in short: {}\n", plan.summary()));
    }
    if let Some(work) = plan.work {
        text.push_str(&format!("    {}: {work:.0}\n", plan.unit));
    }
    text
}
