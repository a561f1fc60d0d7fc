//! A sweep as text, Markdown and JSON.

use record::sweep::{Mean, Point, PointResult, Sweep};
use serde_json::{Value, json};

use crate::NOT_AUDITED;
use crate::columns::columns;
use crate::compare::words;

/// The sweep as text: a row a point, then what the targets are worth against each other.
#[must_use]
pub fn sweep_table(sweep: &Sweep) -> String {
    let (header, rows) = rows(sweep);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut parts = vec![columns(&header, rows)];
    if !sweep.ratios.is_empty() {
        parts.push(ratios(sweep).iter().map(|line| format!("{line}\n")).collect());
    }
    parts.push(format!("{}\n", conduct(sweep)));
    parts.push(format!("{NOT_AUDITED}\n"));
    parts.join("\n")
}

/// The sweep as Markdown.
#[must_use]
pub fn sweep_markdown(sweep: &Sweep) -> String {
    let (header, rows) = rows(sweep);
    let names: Vec<&str> = header.iter().map(|name| name.trim_start_matches('<')).collect();
    let sides: Vec<&str> = header.iter().map(|name| if name.starts_with('<') { "---" } else { "---:" }).collect();
    let mut text = format!("| {} |\n|{}|\n", names.join(" | "), sides.join("|"));
    rows.iter().for_each(|row| text.push_str(&format!("| {} |\n", row.join(" | "))));
    ratios(sweep).iter().for_each(|line| text.push_str(&format!("\n{line}\n")));
    text + "\n" + &conduct(sweep) + "\n\n" + NOT_AUDITED + "\n"
}

/// The sweep as JSON.
#[must_use]
pub fn sweep_json(sweep: &Sweep) -> Value {
    let mut document = serde_json::to_value(sweep).unwrap_or_default();
    for (value, ratio) in document["ratios"].as_array_mut().into_iter().flatten().zip(&sweep.ratios) {
        value["words"] = words(&ratio.effect).into();
    }
    document["note"] = json!(NOT_AUDITED);
    document
}

/// How the runs were made.
pub(crate) fn conduct(sweep: &Sweep) -> String {
    let restored = match sweep.plan.restore.as_str() {
        "none" => "on data that every run left older than it found them".to_owned(),
        "command" => "each after a command of the user's own".to_owned(),
        how => format!("each from the same state of the data (by {how})"),
    };
    let done: usize = sweep.results.iter().map(|result| result.runs.len()).sum();
    format!(
        "{done} of {} runs, {restored}, in an order drawn by chance; every run with {}",
        sweep.plan.runs.len(),
        sweep.plan.arguments.join(" ")
    )
}

/// What distinguishes the points: names and values of what is not the same in all of them.
pub(crate) fn distinctions(results: &[PointResult]) -> Vec<(&'static str, Vec<String>)> {
    let optional = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let points = || results.iter().map(|result| &result.point);
    let all: [(&str, Vec<String>); 6] = [
        ("<target", points().map(|point| point.target.clone()).collect()),
        ("nodes", points().map(|point| point.nodes.to_string()).collect()),
        ("warehouses", points().map(|point| optional(point.warehouses)).collect()),
        ("connections", points().map(|point| optional(point.connections)).collect()),
        ("<style", points().map(|point| text(&point.style)).collect()),
        ("<isolation", points().map(|point| text(&point.isolation)).collect()),
    ];
    let mut varied: Vec<_> = all.into_iter().filter(|(_, values)| values.iter().any(|v| *v != values[0])).collect();
    if varied.is_empty() {
        varied.push(("connections", points().map(|point| optional(point.connections)).collect()));
    }
    varied
}

/// Header and rows of the one table.
pub(crate) fn rows(sweep: &Sweep) -> (Vec<String>, Vec<Vec<String>>) {
    let distinctions = distinctions(&sweep.results);
    let metric = if sweep.is_standard() { "tpmC" } else { "NOPM" };
    let mut header: Vec<String> = distinctions.iter().map(|(name, _)| (*name).to_owned()).collect();
    let figures = ["runs", metric, "95 % interval", "efficiency", "p95 ms", "p99 ms", "errors", "<verdict"];
    header.extend(figures.map(str::to_owned));
    let row = |(at, result): (usize, &PointResult)| {
        let mut row: Vec<String> = distinctions.iter().map(|(_, values)| values[at].clone()).collect();
        row.extend(figures_of(result));
        row
    };
    (header, sweep.results.iter().enumerate().map(row).collect())
}

fn figures_of(result: &PointResult) -> Vec<String> {
    let invalid = result.runs.len() - result.valid as usize;
    if result.valid == 0 {
        let said = if invalid == 0 { "not done".to_owned() } else { format!("{invalid} invalid") };
        return ["0", "-", "-", "-", "-", "-", "-"].map(str::to_owned).into_iter().chain([said]).collect();
    }
    let interval =
        |mean: &Mean| mean.interval.map_or_else(|| "-".to_owned(), |[low, high]| format!("{low:.0} to {high:.0}"));
    let valid = result.runs.iter().map(|run| run.verdict.name()).filter(|name| *name != "invalid");
    let mut verdicts: Vec<String> = valid.map(str::to_owned).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    verdicts.extend((invalid > 0).then(|| format!("{invalid} invalid left out")));
    vec![
        result.valid.to_string(),
        format!("{:.1}", result.nopm.value),
        interval(&result.nopm),
        result.efficiency.map_or_else(|| "n/a".to_owned(), |share| format!("{:.1}%", share.value * 100.0)),
        format!("{:.1}", result.p95_ms.value),
        format!("{:.1}", result.p99_ms.value),
        result.runs.iter().map(|run| run.errors).sum::<u64>().to_string(),
        verdicts.join(", "),
    ]
}

/// What every other target is worth against the first, a sentence each.
#[must_use]
pub fn ratios(sweep: &Sweep) -> Vec<String> {
    let where_all_else = |point: &Point| {
        let said = [
            point.warehouses.map(|n| format!("{n} warehouses")),
            point.connections.map(|n| format!("{n} connections")),
            point.style.clone(),
            point.isolation.clone(),
        ];
        said.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    let say = |ratio: &record::sweep::Ratio| {
        let (base, new) = (&sweep.plan.points[ratio.base], &sweep.plan.points[ratio.new]);
        let place = where_all_else(new);
        let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
        let certainty = match (ratio.effect.interval, ratio.effect.significant) {
            (None, _) => "too short to tell chance from it".to_owned(),
            (Some([low, high]), true) => format!("95 % interval {low:.2} to {high:.2} times"),
            (Some([low, high]), false) => {
                format!("95 % interval {low:.2} to {high:.2} times: no difference can be told")
            }
        };
        format!(
            "{} against {}{place}: {} {} ({certainty})",
            new.target,
            base.target,
            words(&ratio.effect),
            ratio.effect.name
        )
    };
    sweep.ratios.iter().map(say).collect()
}
