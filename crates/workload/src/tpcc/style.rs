//! Statement styles: the same transaction sent in several ways.

use std::fmt;
use std::str::FromStr;

use target::Dialect;

/// How a transaction is divided into statements. The style alone can change a result severalfold, so every result names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// One row a statement, read and then written, one round trip each.
    Row,
    /// Multi-row statements that write and return at once, one round trip each.
    Batch,
    /// As [`Style::Batch`], but statements that don't need each other's answers share a round trip.
    Pipeline,
    /// A routine inside the server runs the whole transaction in one round trip.
    Procedure,
}

impl Style {
    /// Each style with its name on the command line and in results.
    pub const NAMES: [(Style, &'static str); 4] =
        [(Style::Row, "row"), (Style::Batch, "batch"), (Style::Pipeline, "pipeline"), (Style::Procedure, "procedure")];

    /// The styles that a database has.
    pub fn of(dialect: &dyn Dialect) -> Vec<Style> {
        let has = |style: &Style| match style {
            Style::Row | Style::Batch => true,
            Style::Pipeline => dialect.pipelines(),
            Style::Procedure => dialect.routines().is_some(),
        };
        Self::NAMES.map(|(style, _)| style).into_iter().filter(has).collect()
    }

    /// Checks that a database has the style.
    ///
    /// # Errors
    /// One line that names the database and the styles it has.
    pub fn require(self, dialect: &dyn Dialect) -> Result<(), String> {
        let has = Self::of(dialect);
        if has.contains(&self) {
            return Ok(());
        }
        let names: Vec<String> = has.iter().map(ToString::to_string).collect();
        Err(format!("{} does not have the statement style {self}: it has {}", dialect.name(), names.join(", ")))
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES.iter().find(|(style, _)| style == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Style {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(_, name)| *name == text);
        found.map(|(style, _)| *style).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(_, name)| *name).collect();
            format!("`{text}` is no statement style: use {}", names.join(", "))
        })
    }
}
