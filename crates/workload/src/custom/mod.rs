//! A workload of the user's own: a TOML file with tables, transactions, checks, and what is held against the database.
//!
//! [`file`] is the file as it is written, checked (`checking`, with `reserved` words and what `statements` are) when it is read. [`tables`] makes its rows, [`catalog`] is what a load
//! leaves for later clients, [`transactions`] are drawn and carried out, [`conditions`] are its checks and its ledger.

pub mod catalog;
mod checking;
pub mod conditions;
pub mod file;
mod reserved;
mod statements;
pub mod tables;
pub mod transactions;
mod workload;

pub use catalog::{FactsError, load, loaded};
pub use file::Custom;
pub use tables::{Data, MAX_SCALE};
pub use transactions::{FileTransactions, Input, Output, Terminal};
pub use workload::CustomTransactions;

/// A number for a text, which another text hardly has: FNV-1a, the same in every version.
#[must_use]
pub fn hash(text: &str) -> String {
    format!("{:016x}", fnv(0, text))
}

/// The number itself, another one for another `seed`.
pub(crate) fn fnv(seed: u64, text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, add)
}

/// What `rows(TABLE)` is written as.
const ROWS: &str = "rows(";

/// A text with `rows(TABLE)` replaced by the table's number of rows.
///
/// # Errors
/// A table that is not one of the file's.
pub(crate) fn with_rows(text: &str, rows: impl Fn(&str) -> Option<u64>) -> Result<String, String> {
    let (mut done, mut rest) = (String::new(), text);
    // A text in quotes, or a longer word, may hold the same letters.
    let stands_alone = |at: usize, rest: &str| {
        let before = &text[..text.len() - rest.len() + at];
        before.matches('\'').count().is_multiple_of(2) && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    while let Some(at) = rest.find(ROWS) {
        if !stands_alone(at, rest) {
            done.push_str(&rest[..at + ROWS.len()]);
            rest = &rest[at + ROWS.len()..];
            continue;
        }
        let inside = &rest[at + ROWS.len()..];
        let end = inside.find(')').ok_or_else(|| format!("`{text}`: the parenthesis of rows( is not closed"))?;
        let table = inside[..end].trim();
        let count = rows(table).ok_or_else(|| format!("`{text}`: there is no table `{table}` in this file"))?;
        done.push_str(&rest[..at]);
        done.push_str(&count.to_string());
        rest = &inside[end + 1..];
    }
    done.push_str(rest);
    Ok(done)
}

/// `of(TABLE.COLUMN)` as its table and column, if a text is one.
pub(crate) fn reference(text: &str) -> Option<(&str, &str)> {
    let inside = text.trim().strip_prefix("of(")?.strip_suffix(')')?;
    let (table, column) = inside.split_once('.')?;
    Some((table.trim(), column.trim()))
}
