//! Rows with all their columns, comparable across databases.

use std::collections::BTreeMap;

use target::{OwnedValue, Row, Value};

/// Columns that hold a date.
const DATES: [&str; 4] = ["c_since", "h_date", "o_entry_d", "ol_delivery_d"];

/// A row by column. Amounts are in cents, rates in ten-thousandths, dates in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record(BTreeMap<String, OwnedValue>);

impl Record {
    pub(crate) fn read(row: Row<'_>) -> Record {
        let columns = row.columns().into_iter().enumerate().map(|(at, name)| {
            let value = match DATES.contains(&name.as_str()) {
                true => row.opt_timestamp(at).unwrap().map_or(OwnedValue::Null, OwnedValue::Timestamp),
                false => digits(row.value(at).unwrap().into_owned()),
            };
            (name, value)
        });
        Record(columns.collect())
    }

    /// A row as it should be.
    pub(crate) fn of(columns: &[(&str, Value<'_>)]) -> Record {
        Record(columns.iter().map(|(name, value)| ((*name).to_owned(), digits(value.to_owned()))).collect())
    }

    /// The same with another value in a column.
    pub(crate) fn with<'a>(mut self, column: &str, value: impl Into<Value<'a>>) -> Record {
        *self.0.get_mut(column).unwrap() = digits(value.into().to_owned());
        self
    }

    /// The same with `more` in a column.
    pub(crate) fn plus(self, column: &str, more: impl Into<i64>) -> Record {
        let sum = self.long(column) + more.into();
        self.with(column, sum)
    }

    pub(crate) fn int(&self, column: &str) -> i32 {
        self.long(column).try_into().unwrap()
    }

    pub(crate) fn long(&self, column: &str) -> i64 {
        match self.0[column] {
            OwnedValue::Int(value) => value,
            ref other => panic!("{column} is {other:?}"),
        }
    }

    pub(crate) fn text(&self, column: &str) -> &str {
        match &self.0[column] {
            OwnedValue::Text(text) => text,
            other => panic!("{column} is {other:?}"),
        }
    }

    pub(crate) fn time(&self, column: &str) -> i64 {
        match self.0[column] {
            OwnedValue::Timestamp(us) => us,
            ref other => panic!("{column} is {other:?}"),
        }
    }

    pub(crate) fn is_null(&self, column: &str) -> bool {
        self.0[column] == OwnedValue::Null
    }
}

/// Decimals as their digits: what a database without decimals stores.
fn digits(value: OwnedValue) -> OwnedValue {
    match value {
        OwnedValue::Decimal(decimal) => OwnedValue::Int(decimal.unscaled),
        other => other,
    }
}
