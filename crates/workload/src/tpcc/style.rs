//! Statement styles: the same transaction sent in several ways.

use std::fmt;
use std::str::FromStr;

use target::Dialect;

/// How a transaction's statements are cut. It alone can change a result several times over, so it is always named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// One row a statement, read and then written, one round trip each.
    Row,
    /// Multi-row statements that write and return at once, one round trip each.
    Batch,
    /// The whole transaction as a routine inside the server, one round trip.
    Procedure,
}

impl Style {
    const NAMES: [(Style, &'static str); 3] =
        [(Style::Row, "row"), (Style::Batch, "batch"), (Style::Procedure, "procedure")];

    /// The styles that a database has.
    pub fn of(dialect: &dyn Dialect) -> Vec<Style> {
        let has = |style: &Style| *style != Style::Procedure || dialect.routines().is_some();
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
        found
            .map(|(style, _)| *style)
            .ok_or_else(|| format!("`{text}` is no statement style: use row, batch or procedure"))
    }
}
