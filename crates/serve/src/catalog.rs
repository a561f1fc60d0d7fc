//! What lies in the folder, newest first. What was read once is read again only when its file has changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use jiff::Timestamp;

use crate::result_types::{self, Detect, ListEntry, Outcome, ResultType};
use crate::root::{DEPTH, Root};

/// A result in the folder.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) kind: &'static ResultType,
    /// Its place below the folder.
    pub(crate) address: String,
    /// The series that it belongs to, by its address; empty: none.
    pub(crate) series: String,
    /// When it began, or its file was written.
    pub(crate) when: Option<Timestamp>,
    /// What is known of it, or why nothing is.
    pub(crate) facts: Result<ListEntry, String>,
}

impl Entry {
    /// Whether more is to come.
    pub(crate) fn is_under_way(&self) -> bool {
        self.facts.as_ref().is_ok_and(|facts| facts.outcome == Outcome::UnderWay)
    }

    /// What came of it, in a word.
    pub(crate) fn outcome(&self) -> &'static str {
        self.facts.as_ref().map_or("damaged", |facts| facts.outcome.name())
    }
}

/// When a file was written, and its length: whether it has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) written: SystemTime,
    length: u64,
}

impl Stamp {
    pub(crate) fn from_file(file: &Path) -> Option<Self> {
        let meta = fs::metadata(file).ok()?;
        Some(Stamp { written: meta.modified().ok()?, length: meta.len() })
    }
}

type Known = (Stamp, Option<&'static ResultType>, Result<ListEntry, String>);

/// What was read.
#[derive(Default)]
pub(crate) struct Catalog {
    known: Mutex<HashMap<PathBuf, Known>>,
}

impl Catalog {
    /// All results in the folder, newest first.
    pub(crate) fn list(&self, root: &Root) -> Vec<Entry> {
        let mut walk = Walk { catalog: self, root, entries: Vec::new(), seen: HashSet::new(), read: HashSet::new() };
        walk.folder(root.path(), "", DEPTH);
        let Walk { mut entries, read, .. } = walk;
        self.known().retain(|path, _| read.contains(path));
        // Twice: a scenario may hold a sweep.
        gather(&mut entries);
        gather(&mut entries);
        entries.sort_by(|a, b| b.when.cmp(&a.when).then_with(|| a.address.cmp(&b.address)));
        entries
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Known>> {
        // What was read stays true whoever panicked beside it.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kind and the facts of what lies at a path, whose file has this stamp.
    fn read(&self, root: &Root, path: &Path, file: &Path, stamp: Stamp, kind: Option<&'static ResultType>) -> Known {
        if let Some(known) = self.known().get(path).filter(|known| known.0 == stamp) {
            return known.clone();
        }
        let kind = kind.or_else(|| result_types::detect(path));
        let facts = match kind {
            Some(kind) => root
                .examine(if kind.is_series { file } else { path })
                .and_then(|()| (kind.facts)(path))
                .map_err(|why| root.without_place(&why)),
            None => Err(String::new()),
        };
        let lasts = match (&facts, kind.map(|kind| &kind.detect)) {
            // Time alone may change what is to be told.
            (Ok(facts), _) => facts.outcome != Outcome::UnderWay,
            // What is wrong may be another file of the folder, which is copied a moment later.
            (Err(_), Some(Detect::Holds(_))) => false,
            (Err(_), _) => true,
        };
        let known = (stamp, kind, facts);
        if lasts {
            self.known().insert(path.to_owned(), known.clone());
        }
        known
    }
}

/// A way through the folder.
struct Walk<'a> {
    catalog: &'a Catalog,
    root: &'a Root,
    entries: Vec<Entry>,
    /// Folders that were looked into, so that links don't lead in circles.
    seen: HashSet<PathBuf>,
    /// Paths whose facts are still of use.
    read: HashSet<PathBuf>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, series: &str, depth: usize) {
        let Some(real) = folder.canonicalize().ok().filter(|real| real.starts_with(self.root.path())) else { return };
        if depth == 0 || !self.seen.insert(real) {
            return;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // A name that is no text can't be asked for.
            if entry.file_name().to_str().is_some_and(|name| !name.starts_with('.')) {
                self.one(&entry.path(), series, depth);
            }
        }
    }

    fn one(&mut self, path: &Path, series: &str, depth: usize) {
        if !self.root.holds(path) {
            return;
        }
        let kind = if path.is_dir() { result_types::detect(path) } else { None };
        let file = match kind {
            Some(kind) => result_types::file(kind, path),
            None if path.is_dir() => return self.folder(path, series, depth - 1),
            None if path.extension().is_some_and(|end| end == "json") => path.to_owned(),
            None => return,
        };
        let Some(stamp) = Stamp::from_file(&file) else { return };
        let (_, kind, facts) = self.catalog.read(self.root, path, &file, stamp, kind);
        self.read.insert(path.to_owned());
        let Some(kind) = kind else { return };
        let address = self.root.address(path);
        if kind.is_series {
            self.folder(path, &address, depth - 1);
        }
        let begun = facts.as_ref().ok().and_then(|facts| facts.when);
        let when = begun.or_else(|| Timestamp::try_from(stamp.written).ok());
        self.entries.push(Entry { kind, address, series: series.to_owned(), when, facts });
    }
}

/// Gives each series what its runs tell: the database, and the most that any of them reached.
fn gather(entries: &mut [Entry]) {
    let mut series: HashMap<String, ListEntry> = HashMap::new();
    for entry in entries.iter().filter(|entry| !entry.series.is_empty()) {
        let Ok(facts) = &entry.facts else { continue };
        let all = series.entry(entry.series.clone()).or_default();
        if !all.database.split(", ").any(|known| known == facts.database) {
            let comma = if all.database.is_empty() { "" } else { ", " };
            all.database = format!("{}{comma}{}", all.database, facts.database);
        }
        if facts.outcome == Outcome::UnderWay {
            all.outcome = Outcome::UnderWay;
        }
        let valid = !matches!(facts.outcome, Outcome::Verdict(record::verdict::Status::Invalid));
        let value = |rate: &Option<result_types::Rate>| rate.as_ref().map_or(0.0, |rate| rate.value);
        if valid && value(&facts.rate) > value(&all.rate) {
            (all.rate, all.efficiency, all.warehouses) = (facts.rate.clone(), facts.efficiency, facts.warehouses);
        }
    }
    for entry in entries.iter_mut().filter(|entry| entry.kind.is_series) {
        let (Ok(facts), Some(all)) = (&mut entry.facts, series.get(&entry.address)) else { continue };
        facts.database.clone_from(&all.database);
        (facts.rate, facts.efficiency) = (all.rate.clone(), all.efficiency);
        if facts.warehouses == 0 {
            facts.warehouses = all.warehouses;
        }
        if all.outcome == Outcome::UnderWay {
            facts.outcome = Outcome::UnderWay;
        }
    }
}
