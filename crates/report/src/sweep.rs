//! A sweep as text, Markdown and JSON.

use record::sweep::{Mean, Point, PointResult, Sweep};
use serde_json::{Value, json};

use crate::NOT_AUDITED;
use crate::columns::columns;
use crate::compare::{digits, words};

/// The sweep as text: a row a point, then what the targets are worth against each other.
#[must_use]
pub fn sweep_table(sweep: &Sweep) -> String {
    let (header, rows) = rows(sweep);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let facts: String = facts(sweep).iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let mut parts = vec![facts, columns(&header, rows)];
    if !sweep.ratios.is_empty() {
        parts.push(ratios(sweep).iter().map(|line| format!("{line}\n")).collect());
    }
    let conflicts: String = conflicts(sweep).iter().map(|line| format!("{line}\n")).collect();
    if !conflicts.is_empty() {
        parts.push(conflicts);
    }
    let deviations: String = deviations(sweep).iter().map(|line| format!("    - {line}\n")).collect();
    if !deviations.is_empty() {
        parts.push(format!("Deviations from the standard:\n{deviations}"));
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
    let mut text: String = facts(sweep).iter().map(|(name, value)| format!("{name}: {value}\n\n")).collect();
    text.push_str(&format!("| {} |\n|{}|\n", names.join(" | "), sides.join("|")));
    rows.iter().for_each(|row| text.push_str(&format!("| {} |\n", row.join(" | "))));
    ratios(sweep).iter().chain(&conflicts(sweep)).for_each(|line| text.push_str(&format!("\n{line}\n")));
    let deviations: String = deviations(sweep).iter().map(|line| format!("- {line}\n")).collect();
    if !deviations.is_empty() {
        text.push_str(&format!("\nDeviations from the standard:\n\n{deviations}"));
    }
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

/// What was measured: the databases, and what all runs have in common.
pub(crate) fn facts(sweep: &Sweep) -> Vec<(&'static str, String)> {
    let databases = sweep.results.iter().flat_map(|result| {
        let name = if result.point.target.is_empty() { String::new() } else { format!("{}: ", result.point.target) };
        result.runs.iter().map(move |run| format!("{name}{}", run.database))
    });
    let (_, shared): (Vec<_>, Vec<_>) = axes(&sweep.results).into_iter().partition(Axis::varies);
    let shared =
        shared.iter().filter_map(|axis| axis.values.first().filter(|value| is_told(value)).map(|v| axis.said(v)));
    let facts = [
        ("Databases", each_once(databases).join("; ")),
        ("Where", each_once(sweep.plan.databases.values().cloned()).join("; ")),
        ("Every run", shared.collect::<Vec<_>>().join(", ")),
        ("Measured with", format!("weighbridge {}", sweep.plan.tool_version)),
    ];
    facts.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// In what the runs deviate from the standard: lines that differ in nothing but their figures are told once.
pub(crate) fn deviations(sweep: &Sweep) -> Vec<String> {
    let without_figures = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "");
    let runs = || sweep.results.iter().flat_map(|result| &result.runs);
    let mut kinds: Vec<(&String, bool, usize)> = Vec::new();
    for line in runs().flat_map(|run| &run.deviations) {
        match kinds.iter_mut().find(|(first, ..)| without_figures(first) == without_figures(line)) {
            Some((first, alike, count)) => {
                *alike &= *first == line;
                *count += 1;
            }
            None => kinds.push((line, true, 1)),
        }
    }
    let all = runs().count();
    let said = |(line, alike, count): (&String, bool, usize)| match (alike, count == all) {
        (true, true) => line.clone(),
        (true, false) => format!("{line}: {count} of {all} runs"),
        (false, _) => format!("{line}, or other figures of this kind: {count} of {all} runs"),
    };
    kinds.into_iter().map(said).collect()
}

/// Names the points that are invalid because their runs had different settings, one line each.
pub(crate) fn conflicts(sweep: &Sweep) -> Vec<String> {
    let distinctions = distinctions(&sweep.results);
    let line = |(at, result): (usize, &PointResult)| {
        if result.conflict.is_empty() {
            return None;
        }
        let point: Vec<String> = distinctions.iter().map(|axis| axis.said(&axis.values[at])).collect();
        let conflict: Vec<String> = result.conflict.iter().map(ToString::to_string).collect();
        Some(format!("Invalid: runs of {} had different settings: {}", point.join(", "), conflict.join("; ")))
    };
    sweep.results.iter().enumerate().filter_map(line).collect()
}

fn each_once(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    values.for_each(|value| {
        if !all.contains(&value) {
            all.push(value);
        }
    });
    all
}

/// What a point of the grid is made of: a name, as a column's header, and a value for each point.
pub(crate) struct Axis {
    /// Its name; text begins with `<`.
    pub(crate) name: &'static str,
    /// Its values, in the order of the points.
    pub(crate) values: Vec<String>,
}

impl Axis {
    fn varies(&self) -> bool {
        self.values.iter().any(|value| *value != self.values[0])
    }

    /// A value in words: `32 connections`, `pipeline`.
    pub(crate) fn said(&self, value: &str) -> String {
        if self.name.starts_with('<') { value.to_owned() } else { format!("{value} {}", self.name) }
    }
}

/// Whether a value is known.
fn is_told(value: &str) -> bool {
    !["", "-", "0"].contains(&value)
}

fn axes(results: &[PointResult]) -> Vec<Axis> {
    let optional = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    let axis = |name: &'static str, value: &dyn Fn(&Point) -> String| Axis {
        name,
        values: results.iter().map(|result| value(&result.point)).collect(),
    };
    vec![
        axis("<target", &|point| point.target.clone()),
        axis("nodes", &|point| point.nodes.to_string()),
        axis("warehouses", &|point| optional(point.warehouses)),
        axis(CONNECTIONS, &|point| optional(point.connections)),
        axis("<style", &|point| text(&point.style)),
        axis("<isolation", &|point| text(&point.isolation)),
    ]
}

const CONNECTIONS: &str = "connections";

/// What distinguishes the points: what is not the same in all of them.
pub(crate) fn distinctions(results: &[PointResult]) -> Vec<Axis> {
    let (varied, shared): (Vec<Axis>, Vec<Axis>) = axes(results).into_iter().partition(Axis::varies);
    if varied.is_empty() { shared.into_iter().filter(|axis| axis.name == CONNECTIONS).collect() } else { varied }
}

/// Header and rows of the one table.
pub(crate) fn rows(sweep: &Sweep) -> (Vec<String>, Vec<Vec<String>>) {
    let distinctions = distinctions(&sweep.results);
    let metric = if sweep.is_standard() { "tpmC" } else { "NOPM" };
    let mut header: Vec<String> = distinctions.iter().map(|axis| axis.name.to_owned()).collect();
    let figures = ["runs", metric, "95 % interval", "efficiency", "p95 ms", "p99 ms", "errors", "<verdict"];
    header.extend(figures.map(str::to_owned));
    let row = |(at, result): (usize, &PointResult)| {
        let mut row: Vec<String> = distinctions.iter().map(|axis| axis.values[at].clone()).collect();
        row.extend(figures_of(result));
        row
    };
    (header, sweep.results.iter().enumerate().map(row).collect())
}

fn figures_of(result: &PointResult) -> Vec<String> {
    let invalid = result.runs.len() - result.valid as usize;
    if result.valid == 0 {
        let said = match (result.conflict.is_empty(), invalid) {
            (false, _) => "invalid: settings differ".to_owned(),
            (true, 0) => "not done".to_owned(),
            (true, invalid) => format!("{invalid} invalid"),
        };
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
            (Some(ends), significant) => {
                let [low, high] = ends.map(|end| digits(end, 2));
                let said = if significant { "" } else { ": no difference can be told" };
                format!("95 % interval {low} to {high} times{said}")
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
