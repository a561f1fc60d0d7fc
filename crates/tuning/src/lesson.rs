//! Lessons: what is tried before and after a change, as data.

use serde::Deserialize;
use target::{Dialect, Isolation, Protocol};
use workload::per_database::PerDatabase;
use workload::template::Template;

use crate::Error;
use crate::bench_case::{BenchCase, Ending, Step};

/// A lesson, as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// Its name on the command line; that of its file.
    #[serde(skip)]
    pub name: String,
    /// What it is about, in a few words.
    pub title: String,
    /// What it shows.
    pub shows: String,
    /// Why that is so.
    pub why: String,
    /// Where it was published, if it was.
    pub published: Option<Published>,
    /// Why some databases can't have it, by name.
    #[serde(default)]
    pub not_offered: std::collections::BTreeMap<String, String>,
    /// Statements for tables of its own and the like, before anything is measured.
    #[serde(default)]
    pub setup: Option<PerDatabase<Vec<String>>>,
    /// What undoes `setup`.
    #[serde(default)]
    pub cleanup: Option<PerDatabase<Vec<String>>>,
    /// Rows to draw values from: a query each, asked after `setup`; `name.column` is then a parameter.
    #[serde(default)]
    pub pools: std::collections::BTreeMap<String, PerDatabase<String>>,
    /// Generators of other parameters, by name.
    #[serde(default)]
    pub values: std::collections::BTreeMap<String, String>,
    /// What is measured first.
    pub before: Side,
    /// What is measured after the change; what it leaves out is as before.
    pub after: Side,
    /// What is changed in between, and how that is undone. Without it both sides are run in turns.
    pub change: Option<Change>,
    /// A write whose cost is measured before and after the change.
    pub writes: Option<Side>,
    /// More sizes of the repeated part `{size|...}` between those of `before` and `after`.
    #[serde(default)]
    pub curve: Vec<u32>,
    /// What is certain in theory, whatever the clock says.
    #[serde(default)]
    pub certain: Vec<Certain>,
}

/// Figures of a published document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Which document.
    pub source: String,
    /// Milliseconds before.
    pub before_ms: f64,
    /// Milliseconds after.
    pub after_ms: f64,
    /// What is to be said of them.
    pub note: Option<String>,
}

/// What is certain in theory of the side after the change.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Certain {
    /// It reads fewer rows.
    ReadsLess,
    /// It looks for keys, where before it read all.
    Seeks,
    /// The index alone answers.
    Covers,
}

/// One side of a lesson.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// What it is, in a few words.
    pub label: PerDatabase<String>,
    /// Its only statement.
    pub sql: Option<PerDatabase<String>>,
    /// Or several.
    pub steps: Option<PerDatabase<Vec<StepText>>>,
    /// How often all of it is done for one time; the figure is that of one.
    pub times: Option<u32>,
    /// `commit`: its statements are one transaction; `alone`: each commits by itself.
    pub transaction: Option<EndingName>,
    /// The transaction's level.
    pub isolation: Option<PerDatabase<String>>,
    /// `prepared` or `simple`.
    pub protocol: Option<ProtocolName>,
    /// Whether all statements are sent at once.
    pub one_flight: Option<bool>,
    /// Sessions that do it side by side.
    pub connections: Option<u32>,
    /// Settings of its sessions.
    pub session: Option<PerDatabase<Vec<String>>>,
    /// Statements that undo it, not timed.
    pub undo: Option<PerDatabase<Vec<String>>>,
    /// Statements before each time, not timed.
    pub prepare: Option<PerDatabase<Vec<String>>>,
    /// Whether there is a plan worth showing; by itself that of the first statement.
    pub plan: Option<bool>,
    /// `{size|...}` is repeated so often.
    pub size: Option<u32>,
}

/// A statement of several.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct StepText {
    /// The statement.
    pub sql: String,
    /// How often, each time with other values.
    pub times: Option<u32>,
    /// The name by which its rows give values to the steps behind it.
    pub keep: Option<String>,
    /// The rows that it must change, or else the transaction is tried again.
    pub expect: Option<u64>,
}

/// [`Ending`] in a file.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum EndingName {
    /// Each commits by itself.
    Alone,
    /// One transaction.
    Commit,
}

/// [`Protocol`] in a file.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ProtocolName {
    /// Prepared.
    Prepared,
    /// As text.
    Simple,
}

/// A change between the sides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Makes it.
    pub make: PerDatabase<Vec<String>>,
    /// Undoes it.
    pub undo: PerDatabase<Vec<String>>,
    /// The tables whose statistics and size it concerns.
    pub tables: Vec<String>,
}

macro_rules! lessons {
    ($($name:literal),+ $(,)?) => {
        /// The lessons that come with the program, in the order in which they are read.
        const OURS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../lessons/", $name, ".toml")))),+];
    };
}
lessons!(
    "two-columns",
    "full-scan",
    "secondary-index",
    "covering-index",
    "join-index",
    "in-list",
    "multi-row-insert",
    "multi-row-upsert",
    "multi-row-delete",
    "unused-index",
    "returning",
    "sort-index",
    "function-on-column",
    "keyset-paging",
    "prepared",
    "one-round-trip",
    "batch-size",
    "one-transaction",
    "hot-row",
    "random-keys",
    "optimistic",
    "stale-reads",
    "isolation-level",
);

impl Lesson {
    /// All that come with the program.
    ///
    /// # Errors
    /// A file that can't be read, with its name.
    pub fn all() -> Result<Vec<Lesson>, Error> {
        OURS.iter().map(|(name, text)| Self::parse(name, text)).collect()
    }

    /// Reads a lesson.
    ///
    /// # Errors
    /// What is wrong with it, with line and column.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let lesson: Lesson =
            toml::from_str(text).map_err(|e| Error::Usage(format!("lesson {name}: {}", e.to_string().trim_end())))?;
        Ok(Lesson { name: name.to_owned(), ..lesson })
    }

    /// Why this database can't have it, if it can't.
    #[must_use]
    pub fn refused_by(&self, dialect: &dyn Dialect) -> Option<&str> {
        self.not_offered.get(dialect.name()).map(String::as_str)
    }

    /// The statements around it in the database's own words.
    #[must_use]
    pub fn list(list: Option<&PerDatabase<Vec<String>>>, dialect: &dyn Dialect) -> Vec<String> {
        list.and_then(|list| list.of(dialect)).cloned().unwrap_or_default()
    }

    /// What is timed before the change, or without it.
    ///
    /// # Errors
    /// Nothing for this database, or what makes no sense.
    pub fn subject_before(&self, dialect: &dyn Dialect) -> Result<BenchCase, Error> {
        self.subject(&self.before, &self.before, self.before.size, dialect)
    }

    /// What is timed after the change, or with it.
    ///
    /// # Errors
    /// As [`Lesson::subject_before`].
    pub fn subject_after(&self, dialect: &dyn Dialect) -> Result<BenchCase, Error> {
        self.subject(&self.after, &self.before, self.after.size.or(self.before.size), dialect)
    }

    /// What is timed with another size of the repeated part.
    ///
    /// # Errors
    /// As [`Lesson::subject_before`].
    pub fn subject_of_size(&self, size: u32, dialect: &dyn Dialect) -> Result<BenchCase, Error> {
        self.subject(&self.after, &self.before, Some(size), dialect)
    }

    /// The write whose cost is measured.
    ///
    /// # Errors
    /// As [`Lesson::subject_before`].
    pub fn subject_of_writes(&self, dialect: &dyn Dialect) -> Result<Option<BenchCase>, Error> {
        self.writes.as_ref().map(|side| self.subject(side, side, side.size, dialect)).transpose()
    }

    /// The statements of a side as the file has them, for people; `{size|...}` and the like are not written out.
    ///
    /// # Errors
    /// As [`Lesson::subject_before`].
    pub fn written(&self, side: &Side, dialect: &dyn Dialect) -> Result<Vec<String>, Error> {
        let size = side.size.or(self.before.size);
        let line = |step: &StepText| match self.times(step, size) {
            1 => step.sql.clone(),
            times => format!("{times} times: {}", step.sql),
        };
        Ok(self.steps(side, &self.before, dialect)?.iter().map(line).collect())
    }

    fn bad(&self, what: &str) -> Error {
        Error::Usage(format!("lesson {}: {what}", self.name))
    }

    fn steps(&self, side: &Side, usual: &Side, dialect: &dyn Dialect) -> Result<Vec<StepText>, Error> {
        let own = side.sql.is_some() || side.steps.is_some();
        let said = if own { side } else { usual };
        match (&said.sql, &said.steps) {
            (Some(sql), _) => {
                let sql = sql.of(dialect).ok_or_else(|| self.bad("no statement for this database"))?;
                Ok(vec![StepText { sql: sql.clone(), times: None, keep: None, expect: None }])
            }
            (None, Some(steps)) => {
                steps.of(dialect).cloned().ok_or_else(|| self.bad("no statements for this database"))
            }
            (None, None) => Err(self.bad("no statement")),
        }
    }

    /// How often a step is run. A curve does the same work by statements of every size.
    fn times(&self, step: &StepText, size: Option<u32>) -> u32 {
        match (self.curve.is_empty(), self.after.size, size) {
            (false, Some(all), Some(size)) => all / size.max(1),
            _ => step.times.unwrap_or(1),
        }
    }

    fn subject(&self, side: &Side, usual: &Side, size: Option<u32>, dialect: &dyn Dialect) -> Result<BenchCase, Error> {
        let steps = self.steps(side, usual, dialect)?;
        let template = |sql: &str| Template::parse(&repeated(sql, size), dialect.wire());
        let list = |own: &Option<PerDatabase<Vec<String>>>, usual: &Option<PerDatabase<Vec<String>>>| {
            let texts = Self::list(own.as_ref().or(usual.as_ref()), dialect);
            texts.iter().map(|sql| template(sql)).collect::<Vec<_>>()
        };
        let level = side.isolation.as_ref().or(usual.isolation.as_ref()).and_then(|level| level.of(dialect));
        let isolation = level.map(|level| level.parse::<Isolation>()).transpose();
        let isolation = isolation.map_err(|e| self.bad(&e.to_string()))?;
        Ok(BenchCase {
            steps: steps
                .iter()
                .map(|step| Step {
                    statement: template(&step.sql),
                    times: self.times(step, size),
                    keep: step.keep.clone(),
                    expect: step.expect,
                })
                .collect(),
            ending: match side.transaction.or(usual.transaction) {
                Some(EndingName::Commit) => Ending::Commit,
                Some(EndingName::Alone) | None => Ending::Alone,
            },
            isolation,
            protocol: match side.protocol.or(usual.protocol) {
                Some(ProtocolName::Simple) => Protocol::Simple,
                Some(ProtocolName::Prepared) | None => Protocol::Prepared,
            },
            one_flight: side.one_flight.or(usual.one_flight).unwrap_or_default(),
            connections: side.connections.or(usual.connections).unwrap_or(1) as usize,
            times: side.times.or(usual.times).unwrap_or(1),
            prepare: list(&side.prepare, &usual.prepare),
            undo: list(&side.undo, &usual.undo),
        })
    }

    /// The settings of the sessions of a side.
    #[must_use]
    pub fn settings(&self, side: &Side, dialect: &dyn Dialect) -> Vec<String> {
        Self::list(side.session.as_ref(), dialect)
    }
}

/// Writes each part `{100|...}` out so often, with commas between; `{size|...}` as often as the side says. Parameters in
/// it get the number of their copy behind their name, so that each copy has values of its own.
fn repeated(sql: &str, size: Option<u32>) -> String {
    let mut text = String::new();
    let mut rest = sql;
    while let Some((before, behind)) = rest.split_once('{') {
        let group = behind.split_once('}').and_then(|(group, after)| {
            let (count, body) = group.split_once('|')?;
            let count = if count == "size" { size? } else { count.parse().ok()? };
            Some((count, body, after))
        });
        text.push_str(before);
        let Some((count, body, after)) = group else {
            text.push('{');
            rest = behind;
            continue;
        };
        let copies: Vec<String> = (0..count).map(|copy| numbered(body, copy)).collect();
        text.push_str(&copies.join(", "));
        rest = after;
    }
    text.push_str(rest);
    text
}

fn numbered(body: &str, copy: u32) -> String {
    let mut text = String::new();
    let mut parts = body.split(':');
    text.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(part.len());
        let (name, behind) = part.split_at(end);
        text.push(':');
        text.push_str(name);
        if !name.is_empty() {
            text.push_str(&format!("{}{copy}", workload::values::COPY));
        }
        text.push_str(behind);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::DATABASES;

    #[test]
    fn copies_have_parameters_of_their_own() {
        assert_eq!(repeated("VALUES {2|(:id, 'x')}", None), "VALUES (:id__0, 'x'), (:id__1, 'x')");
        assert_eq!(repeated("IN ({size|:r.id})", Some(3)), "IN (:r.id__0, :r.id__1, :r.id__2)");
        assert_eq!(repeated(r#"'{"a": 1}'"#, None), r#"'{"a": 1}'"#);
    }

    #[test]
    fn every_lesson_reads_and_is_whole_for_every_database() {
        let lessons = Lesson::all().unwrap_or_else(|e| panic!("{e}"));
        for lesson in &lessons {
            for dialect in DATABASES.iter().filter(|dialect| dialect.stores_data() && dialect.name() != "odbc") {
                if lesson.refused_by(*dialect).is_some() {
                    continue;
                }
                let at = format!("{} on {}", lesson.name, dialect.name());
                let before = lesson.subject_before(*dialect).unwrap_or_else(|e| panic!("{at}: {e}"));
                let after = lesson.subject_after(*dialect).unwrap_or_else(|e| panic!("{at}: {e}"));
                assert!(!before.steps.is_empty() && !after.steps.is_empty(), "{at}");
                lesson.subject_of_writes(*dialect).unwrap_or_else(|e| panic!("{at}: {e}"));
                if let Some(change) = &lesson.change {
                    assert!(change.make.of(*dialect).is_some() && change.undo.of(*dialect).is_some(), "{at}");
                    assert!(!change.tables.is_empty(), "{at}");
                }
            }
        }
    }
}
