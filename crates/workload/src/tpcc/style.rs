//! Statement styles: the same transaction sent in several ways.

use std::fmt;
use std::str::FromStr;

/// How a transaction's statements are cut. It alone can change a result several times over, so it is always named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// One row a statement, read and then written, one round trip each.
    Row,
    /// Multi-row statements that write and return at once, one round trip each.
    Batch,
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Style::Row => "row",
            Style::Batch => "batch",
        })
    }
}

impl FromStr for Style {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "row" => Ok(Style::Row),
            "batch" => Ok(Style::Batch),
            _ => Err(format!("`{text}` is no statement style: use row or batch")),
        }
    }
}
