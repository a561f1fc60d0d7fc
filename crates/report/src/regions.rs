//! The lesson of the regions: what was published and is measured here, the matrix, where the data live, the distances.

use record::regions::{Cell, Delay, Estimate, Home, Lesson, Operation, RegionsResult, Stage, city_name};
use record::timing::Timing;
use serde_json::{Value, json};

use crate::columns::columns;

/// The result as text.
#[must_use]
pub fn regions_table(result: &RegionsResult) -> String {
    let mut text = format!("{}\n\n", headline(result));
    text.push_str(&columns(&LESSONS, lessons(result)));
    text.push_str(&format!("\n{NOTE}\n"));
    for (title, operation) in MATRICES {
        text.push_str(&format!("\n{title}\n"));
        text.push_str(&columns(&MATRIX, matrix(result, operation)));
    }
    text.push_str(&format!("\n{}\n", HOMES_TITLE));
    text.push_str(&columns(&HOMES, homes(result)));
    text.push_str(&format!("\n{}\n", DELAYS_TITLE));
    text.push_str(&columns(&DELAYS, delays(result)));
    text.push_str(&format!("\n{}\n", conclusion(result)));
    text
}

/// The result as JSON: all that was measured, each execution's time included, and the sentence that follows from it.
#[must_use]
pub fn regions_json(result: &RegionsResult) -> Value {
    let mut document = json!(result);
    document["conclusion"] = json!(conclusion(result));
    document
}

pub(crate) const LESSONS: [&str; 6] =
    ["<statement", "before ms", "after ms", "times as fast", "published before", "published after"];

pub(crate) const NOTE: &str = "Medians, with their 95 % intervals in brackets. The published figures are means of CockroachDB on machines in these\n\
     regions, and include the first execution; they stand there for the shape of the effect, not for its size.";

/// The matrices: what they show, and of what.
pub(crate) const MATRICES: [(&str, Operation); 3] = [
    ("Reading a region's data through a gateway", Operation::Read),
    ("Inserting into a region's data through a gateway", Operation::Insert),
    ("Reading a region's data by asking its own gateway from afar", Operation::ReadThere),
];

pub(crate) const MATRIX: [&str; 10] = [
    "<gateway",
    "<data of",
    "<before in",
    "before ms",
    "of the way",
    "first",
    "<after in",
    "after ms",
    "of the way",
    "first",
];

pub(crate) const HOMES_TITLE: &str = "Where the data live, counted there";

pub(crate) const HOMES: [&str; 7] = ["<table", "<city", "<before", "rows", "<after", "rows", "gateways that say so"];

pub(crate) const DELAYS_TITLE: &str = "The distances, as round trips";

pub(crate) const DELAYS: [&str; 5] = ["<from", "<to", "asked for ms", "measured ms", "difference"];

pub(crate) fn headline(result: &RegionsResult) -> String {
    let version = result.target.version.split(" on ").next().unwrap_or_default();
    let RegionsResult { regions, lease, repeat, .. } = result;
    format!("{version} in {}; before, all data in {lease}; {repeat} times each", regions.join(", "))
}

pub(crate) fn lessons(result: &RegionsResult) -> Vec<Vec<String>> {
    let published = |ms: Option<f64>| ms.map_or("-".to_owned(), number);
    let row = |lesson: &Lesson| {
        vec![
            lesson.what.clone(),
            estimate(&lesson.before),
            estimate(&lesson.after),
            estimate(&lesson.speed_up),
            published(lesson.published_before_ms),
            published(lesson.published_after_ms),
        ]
    };
    result.lessons.iter().map(row).collect()
}

/// A row a gateway and region, as far as it was measured.
pub(crate) fn matrix(result: &RegionsResult, operation: Operation) -> Vec<Vec<String>> {
    let regions = &result.regions;
    let pairs = regions.iter().flat_map(|gateway| regions.iter().map(move |data| (gateway, data)));
    let row = |(gateway, data): (&String, &String)| {
        let of = |stage: &Stage| cells(stage.cell(gateway, data, operation));
        let after = result.after.cell(gateway, data, operation)?;
        let place = vec![gateway.clone(), format!("{data} ({})", city_name(&after.city))];
        Some([place, of(&result.before), of(&result.after)].concat())
    };
    pairs.filter_map(row).collect()
}

/// Where it is, how long it took, how much of that the way must take, and how long the first time took.
fn cells(cell: Option<&Cell>) -> Vec<String> {
    let Some(cell) = cell else { return vec!["-".to_owned(); 4] };
    let home = if cell.home == cell.gateway { "here".to_owned() } else { cell.home.clone() };
    let first = cell.timed.first_ms.map_or("-".to_owned(), number);
    vec![home, timing(&cell.timed), number(cell.predicted_ms), first]
}

pub(crate) fn homes(result: &RegionsResult) -> Vec<Vec<String>> {
    let gateways = result.regions.len() as u64;
    let row = |after: &Home| {
        let before = result.before.homes.iter().find(|home| home.table == after.table && home.city == after.city);
        let answered = before.map_or(after.told_by, |before| before.told_by.min(after.told_by));
        vec![
            after.table.clone(),
            city_name(&after.city),
            before.map_or("-".to_owned(), |home| home.region.clone()),
            before.map_or("-".to_owned(), |home| home.rows.to_string()),
            after.region.clone(),
            after.rows.to_string(),
            if answered == gateways { "all".to_owned() } else { format!("{answered} of {gateways}") },
        ]
    };
    result.after.homes.iter().map(row).collect()
}

pub(crate) fn delays(result: &RegionsResult) -> Vec<Vec<String>> {
    let row = |delay: &Delay| {
        let off = |asked: f64| format!("{:+.1} %", 100.0 * (delay.measured.median_ms / asked - 1.0));
        vec![
            delay.from.clone(),
            delay.to.clone(),
            delay.configured_ms.map_or("-".to_owned(), number),
            timing(&delay.measured),
            delay.configured_ms.filter(|asked| *asked > 0.0).map_or("-".to_owned(), off),
        ]
    };
    result.delays.iter().map(row).collect()
}

/// What follows from the figures.
pub(crate) fn conclusion(result: &RegionsResult) -> String {
    let is = |holds: fn(&Estimate) -> bool| result.lessons.iter().filter(move |lesson| holds(&lesson.speed_up));
    let faster: Vec<&Lesson> = is(|times| times.low > 1.0).collect();
    let slower: Vec<&Lesson> = is(|times| times.high < 1.0).collect();
    let mut sentences = Vec::new();
    let by_times = |a: &&&Lesson, b: &&&Lesson| a.speed_up.value.total_cmp(&b.speed_up.value);
    if let (Some(least), Some(most)) = (faster.iter().min_by(by_times), faster.iter().max_by(by_times)) {
        let trips =
            |stage: &Stage| stage.cell(&most.region, &most.region, most.operation).map_or(0, |cell| cell.round_trips);
        let between = if least.what == most.what {
            String::new()
        } else {
            format!("{} times ({}) to ", number(least.speed_up.value), least.what)
        };
        sentences.push(format!(
            "With each city's data in its own region {} of {} statements {} {between}{} times ({}) as fast: they wait for {} round \
             trips between servers, and waited for {} before.",
            faster.len(),
            result.lessons.len(),
            if faster.len() == 1 { "is" } else { "are" },
            number(most.speed_up.value),
            most.what,
            trips(&result.after),
            trips(&result.before),
        ));
    }
    for lesson in slower {
        let (before, after) = (number(lesson.before.value), number(lesson.after.value));
        sentences.push(format!("Slower, {after} ms after {before} ms: {}.", lesson.what));
    }
    let untold: Vec<&str> =
        is(|times| times.low <= 1.0 && times.high >= 1.0).map(|lesson| lesson.what.as_str()).collect();
    if !untold.is_empty() {
        sentences.push(format!("No difference can be told: {}.", untold.join("; ")));
    }
    sentences.extend(price(result));
    sentences.join("\n")
}

/// What became slower for the region that had everything.
fn price(result: &RegionsResult) -> Option<String> {
    let at_hand =
        |cell: &&Cell| cell.gateway == result.lease && cell.data != result.lease && cell.operation == Operation::Read;
    let (before, after) = result
        .before
        .cells
        .iter()
        .filter(at_hand)
        .filter_map(|before| Some((before, result.after.cell(&before.gateway, &before.data, before.operation)?)))
        .filter(|(before, after)| Estimate::speed_up(&before.timed, &after.timed).is_some_and(|times| times.high < 1.0))
        .max_by(|(_, a), (_, b)| a.timed.median_ms.total_cmp(&b.timed.median_ms))?;
    Some(format!(
        "It has its price in {}, which had everything: reading {}'s bikes in use takes {} ms there now, {} ms before.",
        result.lease,
        city_name(&before.city),
        number(after.timed.median_ms),
        number(before.timed.median_ms)
    ))
}

fn timing(timing: &Timing) -> String {
    Estimate::from_timing(timing).map_or_else(|| number(timing.median_ms), |median| estimate(&median))
}

fn estimate(estimate: &Estimate) -> String {
    format!("{} [{}, {}]", number(estimate.value), number(estimate.low), number(estimate.high))
}

/// With three digits that count.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 1.0 => format!("{value:.3}"),
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use record::regions::lessons;

    use super::*;

    fn cell(gateway: &str, data: &str, home: &str, ms: f64) -> Cell {
        let times = (0..21).map(|n| ms + f64::from(n) / 1000.0).collect();
        Cell {
            gateway: gateway.to_owned(),
            data: data.to_owned(),
            city: format!("city of {data}"),
            home: home.to_owned(),
            round_trips: if gateway == home { 0 } else { 5 },
            timed: Timing::from_sessions(vec![times]),
            ..Cell::default()
        }
    }

    fn result() -> RegionsResult {
        let stage = |cells: Vec<Cell>| Stage { cells, ..Stage::default() };
        let before = [
            cell("a", "a", "b", 100.0),
            cell("b", "b", "b", 1.0),
            cell("b", "a", "b", 1.0),
            cell("a", "b", "b", 100.0),
        ];
        let after = [
            cell("a", "a", "a", 1.0),
            cell("b", "b", "b", 1.0),
            cell("b", "a", "a", 100.0),
            cell("a", "b", "b", 100.0),
        ];
        let regions = vec!["a".to_owned(), "b".to_owned()];
        let (before, after) = (stage(before.to_vec()), stage(after.to_vec()));
        RegionsResult {
            lease: "b".to_owned(),
            lessons: lessons(&regions, &before, &after),
            regions,
            before,
            after,
            ..RegionsResult::default()
        }
    }

    #[test]
    fn the_sentence_says_what_the_figures_say() {
        let said = conclusion(&result());
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].contains("1 of 2 statements is 99.") && lines[0].contains("City Of A's"), "{said}");
        assert!(lines[0].contains("wait for 0 round trips between servers, and waited for 5 before"), "{said}");
        assert_eq!(lines[1], "No difference can be told: read City Of B's bikes in use from b.");
        assert!(
            lines[2].contains("in b, which had everything: reading City Of A's bikes in use takes 100 ms"),
            "{said}"
        );
        assert_eq!(lines.len(), 3, "{said}");
    }

    #[test]
    fn a_matrix_has_a_row_for_each_gateway_and_region() {
        let rows = matrix(&result(), Operation::Read);
        assert_eq!(rows.len(), 4);
        assert_eq!((rows[0][2].as_str(), rows[0][6].as_str()), ("b", "here"));
        assert!(matrix(&result(), Operation::ReadThere).is_empty());
    }
}
