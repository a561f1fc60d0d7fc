//! What is said once for all databases, or once for each.

use std::collections::BTreeMap;

use serde::Deserialize;
use target::{Dialect, WireKind};

/// A value for every database, or one for some: `any`, a family (`postgres`, `mysql`), or a name (`tidb`).
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(
    untagged,
    expecting = "a value for all databases, or a table with one for each, such as { any = ..., mysql = ... }"
)]
pub enum PerDatabase<T> {
    /// The same for all.
    Same(T),
    /// By name.
    Each(BTreeMap<String, T>),
}

impl<T> PerDatabase<T> {
    /// The database's own value, its family's, or that of any; `None`: it has none.
    pub fn of(&self, dialect: &dyn Dialect) -> Option<&T> {
        match self {
            PerDatabase::Same(value) => Some(value),
            PerDatabase::Each(values) => names(dialect).iter().find_map(|name| values.get(*name)),
        }
    }

    /// All values, whichever database each is for.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        let (same, each) = match self {
            PerDatabase::Same(value) => (Some(value), None),
            PerDatabase::Each(values) => (None, Some(values.values())),
        };
        same.into_iter().chain(each.into_iter().flatten())
    }

    /// The names under which values are given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let named = match self {
            PerDatabase::Same(_) => None,
            PerDatabase::Each(values) => Some(values.keys().map(String::as_str)),
        };
        named.into_iter().flatten()
    }
}

/// The names that a database answers to, its own first.
pub fn names(dialect: &dyn Dialect) -> [&'static str; 3] {
    let family = match dialect.wire() {
        WireKind::Postgres => "postgres",
        WireKind::Mysql => "mysql",
        WireKind::Null | WireKind::Odbc | WireKind::Sqlite => dialect.name(),
    };
    [dialect.name(), family, "any"]
}
