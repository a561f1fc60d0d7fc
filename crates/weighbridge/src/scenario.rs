//! A published benchmark as a file: what it ran on, its steps, its figures, and where these can't be right.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Those that come with the program, by name.
const OURS: [(&str, &str); 5] = [
    ("cockroachdb", include_str!("../../../scenarios/cockroachdb.toml")),
    ("yugabytedb", include_str!("../../../scenarios/yugabytedb.toml")),
    ("tidb", include_str!("../../../scenarios/tidb.toml")),
    ("nuodb", include_str!("../../../scenarios/nuodb.toml")),
    ("movr", include_str!("../../../scenarios/movr.toml")),
];

/// A published benchmark.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// What it is called where it was published.
    pub(crate) title: String,
    /// What it was measured with.
    pub(crate) tool: String,
    /// What was done, in a sentence or two.
    pub(crate) summary: String,
    /// Where the published figures or words can't be right.
    #[serde(default)]
    pub(crate) slips: Vec<String>,
    /// Its cases, the usual one first.
    #[serde(rename = "case")]
    pub(crate) cases: Vec<Case>,
}

/// One set-up of a benchmark.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// What it was measured on.
    pub(crate) cluster: String,
    /// `{warehouses}` of the steps.
    pub(crate) warehouses: Option<u32>,
    /// `{connections}` of the steps: one number, or those of a sweep.
    #[serde(default)]
    pub(crate) connections: Vec<u32>,
    /// `{ramp}` of the steps, such as 30s.
    #[serde(default)]
    pub(crate) ramp: String,
    /// `{duration}` of the steps, such as 5m.
    #[serde(default)]
    pub(crate) duration: String,
    /// Names of the databases that are held against each other.
    #[serde(default)]
    pub(crate) targets: Vec<String>,
    /// Command lines of this program, without its name and without URLs. What stands in brackets may be left out where a
    /// database lacks what it needs.
    pub(crate) steps: Vec<String>,
    pub(crate) published: Published,
}

/// What was published.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Published {
    /// New-Orders a minute with the standard's waits.
    pub(crate) tpmc: Option<f64>,
    /// New-Orders a minute without.
    pub(crate) nopm: Option<f64>,
    /// As a fraction.
    pub(crate) efficiency: Option<f64>,
    pub(crate) measured_seconds: Option<f64>,
    /// Response times in milliseconds: `mean`, `p50`, `p90`, `p95`, `p99`, `max`.
    pub(crate) new_order: BTreeMap<Statistic, f64>,
    pub(crate) payment: BTreeMap<Statistic, f64>,
    pub(crate) order_status: BTreeMap<Statistic, f64>,
    pub(crate) delivery: BTreeMap<Statistic, f64>,
    pub(crate) stock_level: BTreeMap<Statistic, f64>,
    /// The lessons of a `tune run`, by their names.
    pub(crate) lessons: BTreeMap<String, PublishedLesson>,
    /// The points of a sweep.
    pub(crate) points: Vec<PublishedPoint>,
}

/// A figure of a response time.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Statistic {
    Mean,
    P50,
    P90,
    P95,
    P99,
    Max,
}

impl Statistic {
    /// As in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Statistic::Mean => "mean",
            Statistic::P50 => "p50",
            Statistic::P90 => "p90",
            Statistic::P95 => "p95",
            Statistic::P99 => "p99",
            Statistic::Max => "max",
        }
    }
}

/// A published lesson.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedLesson {
    pub(crate) before_ms: f64,
    pub(crate) after_ms: Option<f64>,
}

/// A point of a published sweep.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedPoint {
    pub(crate) target: String,
    pub(crate) nodes: Option<u32>,
    pub(crate) warehouses: Option<u32>,
    pub(crate) connections: Option<u32>,
    pub(crate) nopm: f64,
}

impl Published {
    /// The response times by the name of their transaction.
    pub(crate) fn times(&self) -> [(&'static str, &BTreeMap<Statistic, f64>); 5] {
        [
            ("new_order", &self.new_order),
            ("payment", &self.payment),
            ("order_status", &self.order_status),
            ("delivery", &self.delivery),
            ("stock_level", &self.stock_level),
        ]
    }
}

/// Those that come with the program.
pub(crate) fn ours() -> impl Iterator<Item = (&'static str, Scenario)> {
    OURS.into_iter().map(|(name, text)| (name, read(name, text).expect("a test reads all of them")))
}

/// One of ours by its name, or a file.
///
/// # Errors
/// One line: neither, or where in the file the mistake is.
pub(crate) fn find(name: &str) -> Result<Scenario, String> {
    if let Some((name, text)) = OURS.into_iter().find(|(known, _)| *known == name) {
        return read(name, text);
    }
    if !Path::new(name).exists() {
        let known: Vec<&str> = OURS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no scenario and no file `{name}`: known are {}", known.join(", ")));
    }
    let text = std::fs::read_to_string(name).map_err(|e| format!("can't read {name}: {e}"))?;
    read(name, &text)
}

/// A scenario from its text.
///
/// # Errors
/// As [`find`], with `name` as the file.
pub(crate) fn read(name: &str, text: &str) -> Result<Scenario, String> {
    let scenario: Scenario = toml::from_str(text).map_err(|e| {
        let at = e.span().map_or(0, |span| span.start);
        let (line, column) = place(text, at);
        format!("{name}:{line}:{column}: {}", e.message().replace('\n', " "))
    })?;
    if scenario.cases.is_empty() {
        return Err(format!("{name}: no [[case]]"));
    }
    for (at, case) in scenario.cases.iter().enumerate() {
        let wrong = |e: String| format!("{name}: case {}: {e}", case.name);
        case.check().map_err(wrong)?;
        if case.name.is_empty() || scenario.cases[..at].iter().any(|earlier| earlier.name == case.name) {
            return Err(wrong("each case has a name of its own".to_owned()));
        }
    }
    Ok(scenario)
}

/// Line and column of a byte, from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A command line of a step, cut at its brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Words that are always there; none if the whole line stood in brackets.
    pub(crate) words: Vec<String>,
    /// Words that may be left out together.
    pub(crate) optional: Vec<Vec<String>>,
}

impl Case {
    /// Refuses what no run could be, whatever the database.
    fn check(&self) -> Result<(), String> {
        let published = &self.published;
        let rates = [published.tpmc, published.nopm, published.efficiency, published.measured_seconds];
        if rates.into_iter().flatten().any(|rate| !(rate > 0.0 && rate.is_finite())) {
            return Err("a published figure that is not above 0".to_owned());
        }
        if published.efficiency.is_some_and(|share| share > 2.0) {
            return Err("efficiency is a fraction: 0.988 for 98.8 %".to_owned());
        }
        if self.warehouses == Some(0) || self.connections.contains(&0) {
            return Err("warehouses and connections are at least 1".to_owned());
        }
        for step in &self.steps {
            let line = self.lines(step, 1.0)?;
            let words = || line.words.iter().chain(line.optional.iter().flatten());
            if let Some(flag) = words().find(|word| ["--url", "--target", "--out", "--json"].contains(&word.as_str())) {
                return Err(format!("`{step}`: {flag} is given by who runs it"));
            }
            // Of several databases each has its turn in a sweep alone.
            if !self.targets.is_empty() && words().next().is_some_and(|word| word != "sweep") {
                return Err(format!("`{step}`: the steps of a case with targets are sweeps"));
            }
        }
        Ok(())
    }

    /// The case's value of a name in braces, at a scale: warehouses and connections never below 1.
    fn value(&self, name: &str, scale: f64) -> Option<String> {
        let scaled = |number: &u32| scaled(*number, scale).to_string();
        match name {
            "warehouses" => self.warehouses.as_ref().map(scaled),
            "connections" if !self.connections.is_empty() => {
                Some(self.connections.iter().map(scaled).collect::<Vec<_>>().join(","))
            }
            "ramp" => Some(self.ramp.clone()).filter(|ramp| !ramp.is_empty()),
            "duration" => Some(self.duration.clone()).filter(|duration| !duration.is_empty()),
            // As a size of MovR, of which 1 is the published one.
            "scale" => Some(scale.max(LEAST_MOVR).to_string()),
            _ => None,
        }
    }

    /// A step as words.
    ///
    /// # Errors
    /// A name in braces that the case doesn't have; brackets that don't match; an unknown command.
    pub(crate) fn lines(&self, step: &str, scale: f64) -> Result<Line, String> {
        let mut text = String::new();
        let mut rest = step;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, after) =
                behind.split_once('}').ok_or_else(|| format!("a brace that is not closed in `{step}`"))?;
            let value = self.value(name, scale).ok_or_else(|| format!("{{{name}}} of `{step}` has no value"))?;
            text.push_str(before);
            text.push_str(&value);
            rest = after;
        }
        text.push_str(rest);
        let mut line = Line { words: Vec::new(), optional: Vec::new() };
        for (at, part) in text.split('[').enumerate() {
            let (inside, outside) = match (at, part.split_once(']')) {
                (0, None) => ("", part),
                (0, Some(_)) | (_, None) => return Err(format!("brackets that don't match in `{step}`")),
                (_, Some((inside, outside))) => (inside, outside),
            };
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            line.optional.extend(Some(words(inside)).filter(|words| !words.is_empty()));
            line.words.extend(words(outside));
        }
        if line.words.first().is_some_and(|word| word == "tune") && line.words.get(1).is_none_or(|word| word != "run") {
            return Err(format!("`{step}`: of tune only `tune run` is a step"));
        }
        let command = line.words.first().or(line.optional.first().and_then(|words| words.first()));
        match command.map(String::as_str) {
            Some("load" | "run" | "check" | "sweep" | "tune") => Ok(line),
            _ => Err(format!("`{step}`: a step is load, run, check, sweep or tune run with its flags")),
        }
    }
}

/// The least size of MovR with which its lessons have enough rows.
const LEAST_MOVR: f64 = 0.01;

/// A number at a scale, at least 1.
pub(crate) fn scaled(number: u32, scale: f64) -> u32 {
    ((f64::from(number) * scale).round() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_ours_can_be_read_and_scaled() {
        for (name, scenario) in ours() {
            for case in &scenario.cases {
                for step in &case.steps {
                    for scale in [1.0, 0.01, 1e-6] {
                        let line = case.lines(step, scale).unwrap();
                        assert!(!line.words.concat().contains(['{', '[']), "{name}: {line:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn brackets_may_be_left_out() {
        let case = ours().next().unwrap().1.cases.remove(0);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line = case.lines("load --warehouses {warehouses} [--split] --jobs 2 [--partitions 10]", 0.0106).unwrap();
        assert_eq!(line.words, words("load --warehouses 11 --jobs 2"));
        assert_eq!(line.optional, [words("--split"), words("--partitions 10")]);
        for bad in ["load [--a", "load --a]", "load {nothing}", "load {ramp", "report x", "", "load [[--a]]"] {
            assert!(case.lines(bad, 1.0).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_mistake_is_told_by_line_and_column() {
        let text = OURS[0].1.replace("ramp = \"30s\"", "romp = \"30s\"");
        let said = read("mine.toml", &text).unwrap_err();
        assert!(said.starts_with("mine.toml:") && said.contains("romp") && said.lines().count() == 1, "{said}");
        let said = read("mine.toml", "title = \"x\"\ntool = 3\n").unwrap_err();
        assert!(said.starts_with("mine.toml:2:8: "), "{said}");
    }
}
