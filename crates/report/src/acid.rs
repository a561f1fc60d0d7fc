//! The tests of clause 3: a row a test, a column a level, and how each result came about.

use record::acid::{AcidResult, LevelResult, Outcome, TestResult};
use serde_json::{Value, json};

use crate::columns::columns;

/// The result as text.
#[must_use]
pub fn acid_table(result: &AcidResult) -> String {
    let mut text = format!("{}\n\n", database(result));
    let mut header = vec!["<test".to_owned(), "<what".to_owned(), "<clause or paper".to_owned()];
    header.extend(result.levels.iter().map(|level| format!("<{}", level.isolation)));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    for (title, required) in [("What clause 3 asks for", true), ("Beyond the standard", false)] {
        text.push_str(&format!("{title}\n{}\n", columns(&header, rows(result, required))));
    }
    text.push_str(&format!("Consistency (3.3.2): {}\n", consistency(result)));
    for level in result.levels.iter().filter(|level| is_offered(level)) {
        text.push_str(&format!("\n{}: {}\n", level.isolation, conclusion(level)));
        for test in notable(level) {
            text.push_str(&format!("  {:<22} {}\n", test.name, test.seen));
        }
    }
    text
}

/// The result as JSON: `levels[].{isolation,judged,gives_clause_3_4,tests[].{name,title,source,required,outcome,case,seen}}`,
/// `consistent`, `passed`, and what was tested.
#[must_use]
pub fn acid_json(result: &AcidResult) -> Value {
    let mut document = json!(result);
    for (level, entry) in result.levels.iter().zip(document["levels"].as_array_mut().into_iter().flatten()) {
        entry["gives_clause_3_4"] = json!(is_offered(level).then(|| level.gives_clause_3_4()));
    }
    document["consistent"] = json!(result.is_consistent());
    document["passed"] = json!(result.passes());
    document
}

/// The database, without what it was compiled with.
pub(crate) fn database(result: &AcidResult) -> String {
    let version = &result.target.version;
    format!("{}: {}", result.target.kind, version.split(" on ").next().unwrap_or(version))
}

/// A row a test of one half of the table.
pub(crate) fn rows(result: &AcidResult, required: bool) -> Vec<Vec<String>> {
    let Some(first) = result.levels.first() else { return Vec::new() };
    let wanted = first.tests.iter().enumerate().filter(|(_, test)| test.required == required);
    let row = |(at, test): (usize, &TestResult)| {
        let mut cells = vec![test.name.clone(), test.title.clone(), test.source.clone()];
        cells.extend(result.levels.iter().map(|level| level.tests.get(at).map(outcome).unwrap_or_default()));
        cells
    };
    wanted.map(row).collect()
}

fn outcome(test: &TestResult) -> String {
    let said = match (test.outcome, test.required) {
        (Outcome::Passes, true) => "passes",
        (Outcome::Fails, true) => "FAILS",
        (Outcome::Passes, false) => "kept out",
        (Outcome::Fails, false) => "seen",
        (Outcome::NotOffered, _) => "not offered",
        (Outcome::Undecided, _) => "UNDECIDED",
    };
    test.case.map_or_else(|| said.to_owned(), |case| format!("{said} (case {case})"))
}

pub(crate) fn is_offered(level: &LevelResult) -> bool {
    level.tests.iter().any(|test| test.outcome != Outcome::NotOffered)
}

/// What a level is good for.
pub(crate) fn conclusion(level: &LevelResult) -> String {
    let failing: Vec<&str> = level
        .tests
        .iter()
        .filter(|test| test.required && test.outcome != Outcome::Passes)
        .map(|test| test.name.as_str())
        .collect();
    match failing.as_slice() {
        [] => "gives what clause 3.4 needs".to_owned(),
        names => format!("does NOT give what clause 3.4 needs: {}", names.join(", ")),
    }
}

/// The tests whose story is told: all that are asked for of a judged level, and whatever did not pass.
pub(crate) fn notable(level: &LevelResult) -> impl Iterator<Item = &TestResult> {
    level.tests.iter().filter(|test| test.outcome != Outcome::Passes || test.required && level.judged)
}

pub(crate) fn consistency(result: &AcidResult) -> String {
    let broken = |checks: &[record::run::CheckResult]| -> Vec<String> {
        checks.iter().filter(|check| !check.passed).map(|check| check.name.clone()).collect()
    };
    let (before, after) = (broken(&result.checks_before), broken(&result.checks_after));
    let count = result.checks_after.iter().filter(|check| check.skipped.is_none()).count();
    match (before.is_empty(), after.is_empty()) {
        (true, true) => format!("the {count} conditions hold before the tests and after them"),
        (false, _) => format!("VIOLATED before the tests: {}", before.join(", ")),
        (true, false) => format!("VIOLATED after the tests: {}", after.join(", ")),
    }
}
