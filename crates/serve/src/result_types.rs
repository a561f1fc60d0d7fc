//! The result types: how each is recognised, what the list shows of it, and its page.
//!
//! The documentation of the crate `report` lists the steps of adding one.

mod acid;
mod advice;
mod compare;
mod regions;
mod run;
mod scenario;
mod search;
mod sweep;
mod timing;
mod tuning;

use std::path::Path;

use jiff::Timestamp;
use maud::{Markup, html};
use record::RecordError;
use record::run::Target;
use record::verdict::Status;
use report::Page;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::root::largest;

pub(crate) use run::under_way;

/// A kind of result.
pub(crate) struct ResultType {
    /// The first part of its addresses: `runs`.
    pub(crate) section: &'static str,
    /// What one is called.
    pub(crate) name: &'static str,
    /// How it is recognised.
    pub(crate) detect: Detect,
    /// Whether its folder holds runs of its own.
    pub(crate) is_series: bool,
    /// What the list tells of it.
    pub(crate) facts: fn(&Path) -> Result<ListEntry, String>,
    /// Its page.
    pub(crate) page: fn(&Path) -> Result<Page, String>,
}

/// How a kind is recognised.
pub(crate) enum Detect {
    /// A folder with a file of this name.
    Holds(&'static str),
    /// A JSON document that has something at these places (RFC 6901).
    Has(&'static [&'static str]),
}

/// All result types.
pub(crate) static RESULT_TYPES: [ResultType; 10] = [
    run::KIND,
    sweep::KIND,
    search::KIND,
    scenario::KIND,
    acid::KIND,
    compare::KIND,
    tuning::KIND,
    regions::KIND,
    timing::KIND,
    advice::KIND,
];

/// What the list tells of a result.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListEntry {
    /// When it began; none: when its file was written is taken instead.
    pub(crate) when: Option<Timestamp>,
    /// The database, without its version.
    pub(crate) database: String,
    /// What else is to be found by the search: the version, the style.
    pub(crate) words: String,
    /// What stands below its name.
    pub(crate) note: String,
    /// Warehouses that were driven; 0: not told.
    pub(crate) warehouses: u32,
    /// New-Orders a minute, and whether they are tpmC.
    pub(crate) rate: Option<Rate>,
    /// Efficiency, as a fraction.
    pub(crate) efficiency: Option<f64>,
    /// The verdict, or what takes its place.
    pub(crate) outcome: Outcome,
    /// How long was measured.
    pub(crate) seconds: Option<f64>,
}

impl ListEntry {
    /// Of what was measured statement by statement.
    fn for_target(target: &Target, when: Option<Timestamp>, note: String) -> Self {
        ListEntry { when, database: target.kind.clone(), words: target.version.clone(), note, ..ListEntry::default() }
    }
}

/// A rate as it may be called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rate {
    /// A minute.
    pub(crate) value: f64,
    /// What it is called.
    pub(crate) name: String,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing that is judged.
    #[default]
    None,
    /// The verdict of a run.
    Verdict(Status),
    /// Tests that pass, or don't.
    Passed(bool),
    /// It is under way.
    UnderWay,
}

impl Outcome {
    /// As in addresses and for people.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Outcome::None => "",
            Outcome::Verdict(status) => status.name(),
            Outcome::Passed(true) => "passes",
            Outcome::Passed(false) => "fails",
            Outcome::UnderWay => "under way",
        }
    }

    /// The class of its colour.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Outcome::None => "",
            Outcome::Verdict(status) => status.name(),
            Outcome::Passed(true) => "standard",
            Outcome::Passed(false) => "invalid",
            Outcome::UnderWay => "running",
        }
    }
}

/// The kind whose addresses begin so.
pub(crate) fn of_section(section: &str) -> Option<&'static ResultType> {
    RESULT_TYPES.iter().find(|kind| kind.section == section)
}

/// The kind of a folder, or of a file.
pub(crate) fn detect(path: &Path) -> Option<&'static ResultType> {
    if path.is_dir() {
        return RESULT_TYPES.iter().find(|kind| matches!(kind.detect, Detect::Holds(file) if path.join(file).exists()));
    }
    if path.extension().is_none_or(|end| end != "json") {
        return None;
    }
    let document = document(path).ok()?;
    RESULT_TYPES.iter().find(
        |kind| matches!(kind.detect, Detect::Has(places) if places.iter().all(|at| document.pointer(at).is_some())),
    )
}

/// The file of a result that tells whether it has changed.
pub(crate) fn file(kind: &ResultType, path: &Path) -> std::path::PathBuf {
    match kind.detect {
        Detect::Holds(file) => path.join(file),
        Detect::Has(_) => path.to_owned(),
    }
}

/// Reads a JSON document.
fn document(path: &Path) -> Result<Value, String> {
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let meta = std::fs::metadata(path).map_err(|e| failed(&e))?;
    if !meta.is_file() || meta.len() > largest(path) {
        return Err(failed(&"not a file of a size that is read"));
    }
    let text = std::fs::read(path).map_err(|e| failed(&e))?;
    serde_json::from_slice(&text).map_err(|e| failed(&format!("not a JSON document: {e}")))
}

/// Reads what a command printed; `what` it is.
fn read<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T, String> {
    serde_json::from_value(document(path)?).map_err(|e| format!("not {what}: {e}"))
}

/// Reads the document of a series of runs, which has a list of `entries`.
fn read_series(folder: &Path, file: &str, entries: &str) -> Result<Value, String> {
    let document = document(&folder.join(file))?;
    if document[entries].is_array() {
        Ok(document)
    } else {
        Err(format!("{file}: not what it should be: it has no {entries}"))
    }
}

/// The page of a series of runs.
fn series_page(title: String, heading: &str, content: Markup) -> Page {
    let header = html! {
        header {
            p.brand { "weighbridge" }
            h1 { (heading) }
        }
    };
    Page { title, header, content, footer: html! { p { (report::NOT_AUDITED.replace('\n', " ")) } } }
}

/// The rows of a table: one for each entry of the list.
fn rows(document: &Value, entries: &str, row: impl Fn(&Value) -> Vec<String>) -> Vec<Vec<String>> {
    document[entries].as_array().into_iter().flatten().map(row).collect()
}

/// A figure of an entry; a dash where there is none.
fn figure(entry: &Value, field: &str, shown: impl Fn(f64) -> String) -> String {
    entry[field].as_f64().map_or_else(|| "–".to_owned(), shown)
}

fn words(error: &RecordError) -> String {
    error.to_string()
}

/// Takes the place on this machine, which is nobody's business, out of warnings.
fn bare(path: &Path, warnings: &mut [String]) {
    let place = format!("{}/", path.display());
    warnings.iter_mut().for_each(|warning| *warning = warning.replace(&place, ""));
}

/// The text of a field; empty where there is none.
fn text<'a>(document: &'a Value, field: &str) -> &'a str {
    document[field].as_str().unwrap_or_default()
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|line| line.as_str().map(str::to_owned)).collect()
}
