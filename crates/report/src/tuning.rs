//! What techniques were worth: a row a lesson, and what follows from each.

use record::timing::{Speedup, figure};
use record::tuning::{LessonResult, Outcome, Side, TuningResult};
use serde_json::{Value, json};

use crate::columns::columns;

/// The columns of the table.
pub(crate) const HEADER: [&str; 8] =
    ["<lesson", "before ms", "after ms", "times as fast", "<95 % interval", "<a write", "<space", "<published"];

/// The lessons that there are, as text: name, title, what each shows.
#[must_use]
pub fn lessons_table(lessons: &[(String, String, String)]) -> String {
    let rows = lessons.iter().map(|(name, title, _)| vec![name.clone(), title.clone()]).collect();
    columns(&["<lesson", "<what"], rows)
}

/// The same as JSON: `[{name,title,shows}]`.
#[must_use]
pub fn lessons_json(lessons: &[(String, String, String)]) -> Value {
    lessons.iter().map(|(name, title, shows)| json!({"name": name, "title": title, "shows": shows})).collect()
}

/// The result as text.
#[must_use]
pub fn tuning_table(result: &TuningResult) -> String {
    let mut text = format!("{}\n\n{}", about(result), columns(&HEADER, rows(result)));
    for lesson in &result.lessons {
        text.push_str(&format!("\n{}: {}\n", lesson.name, lesson.verdict));
        for side in [&lesson.before, &lesson.after] {
            if let Some(way) = way(side) {
                text.push_str(&format!("    {}: {way}\n", side.label));
            }
        }
    }
    text
}

/// The result as JSON: `lessons[].{name,title,outcome,before_ms,after_ms,speedup,interval,plan.{before,after},…}`, with all
/// that was measured.
#[must_use]
pub fn tuning_json(result: &TuningResult) -> Value {
    let mut document = json!(result);
    for (lesson, entry) in result.lessons.iter().zip(document["lessons"].as_array_mut().into_iter().flatten()) {
        let measured = lesson.outcome == Outcome::Measured;
        entry["before_ms"] = json!(measured.then_some(lesson.before.timing.median_ms));
        entry["after_ms"] = json!(measured.then_some(lesson.after.timing.median_ms));
        entry["speedup"] = json!(lesson.comparison.map(|speedup| speedup.factor));
        entry["interval"] = json!(lesson.comparison.and_then(|speedup| speedup.interval));
        entry["plan"] = json!({"before": way(&lesson.before), "after": way(&lesson.after)});
    }
    document
}

/// Which database, and with what data.
pub(crate) fn about(result: &TuningResult) -> String {
    let version = result.target.version.split(" on ").next().unwrap_or_default();
    format!("{version}; MovR at scale {} ({} rides), seed {}", result.scale, result.rides, result.seed)
}

/// A row a lesson.
pub(crate) fn rows(result: &TuningResult) -> Vec<Vec<String>> {
    result.lessons.iter().map(row).collect()
}

fn row(lesson: &LessonResult) -> Vec<String> {
    let said = |text: &str| text.to_owned();
    let published = lesson.published.as_ref().map_or(said(""), |published| {
        let factor = published.before_ms / published.after_ms;
        format!("{} to {} ms: {}", figure(published.before_ms), figure(published.after_ms), figure(factor))
    });
    let mut cells = vec![lesson.name.clone()];
    match lesson.outcome {
        Outcome::NotOffered => cells.extend(["", "", "not offered", "", "", ""].map(said)),
        Outcome::Failed => cells.extend(["", "", "NOT MEASURED", "", "", ""].map(said)),
        Outcome::Measured => cells.extend([
            figure(lesson.before.timing.median_ms),
            figure(lesson.after.timing.median_ms),
            lesson.comparison.map_or(said("-"), |speedup| figure(speedup.factor)),
            lesson.comparison.as_ref().map_or(said("-"), interval),
            lesson
                .writes
                .as_ref()
                .map_or(said(""), |writes| format!("{} to {} ms", figure(writes.before_ms), figure(writes.after_ms))),
            lesson.space.map_or(said(""), |space| {
                format!("{} to {}", megabytes(space.before_bytes), megabytes(space.after_bytes))
            }),
        ]),
    }
    cells.push(published);
    cells
}

/// A factor's interval, and a mark where chance explains the difference.
pub(crate) fn interval(speedup: &Speedup) -> String {
    let Some([low, high]) = speedup.interval else { return "too few".to_owned() };
    let doubt = if speedup.is_significant() { "" } else { " (chance)" };
    format!("{} to {}{doubt}", figure(low), figure(high))
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", figure(bytes as f64 / 1e6))
}

/// How a side reaches its tables, and what it read.
pub(crate) fn way(side: &Side) -> Option<String> {
    let plan = side.plan.as_ref()?;
    let work = plan.work.map_or(String::new(), |work| format!(" ({work:.0} {})", plan.unit));
    (!plan.accesses.is_empty()).then(|| format!("{}{work}", plan.summary()))
}
