//! A session's unit of work: a few bound statements sent together and answered together.

use std::borrow::Cow;

use crate::{Error, OwnedValue, Statement, Value};

/// Bound statements that don't wait for each other's answers.
///
/// The session decides whether the calls travel one by one or in one round trip. The answers have the order of the
/// calls.
#[derive(Debug, Default)]
pub struct StatementBatch<'a> {
    pub(crate) calls: Vec<Call>,
    pub(crate) values: Vec<Value<'a>>,
}

/// One bound statement of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) statement: &'static Statement,
    /// Repetitions of the statement's group; 1 for a plain statement.
    pub(crate) rows: usize,
    /// Its values, as a range of the batch's values.
    pub(crate) values: std::ops::Range<usize>,
}

impl<'a> StatementBatch<'a> {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a statement with its parameters.
    pub fn call(&mut self, statement: &'static Statement, values: &[Value<'a>]) -> &mut Self {
        self.push(statement, 1, |all| all.extend_from_slice(values))
    }

    /// Adds a multi-row statement: its `fixed` parameters, then those of each row.
    pub fn call_rows<const N: usize>(
        &mut self,
        statement: &'static Statement,
        fixed: &[Value<'a>],
        rows: impl ExactSizeIterator<Item = [Value<'a>; N]>,
    ) -> &mut Self {
        self.push(statement, rows.len(), |all| {
            all.extend_from_slice(fixed);
            rows.for_each(|row| all.extend_from_slice(&row));
        })
    }

    /// A batch of the call at `at` alone.
    pub(crate) fn alone(&self, at: usize) -> StatementBatch<'a> {
        let call = &self.calls[at];
        let values = self.values[call.values.clone()].to_vec();
        StatementBatch { calls: vec![Call { values: 0..values.len(), ..*call }], values }
    }

    /// How many statements it has.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    fn push(
        &mut self,
        statement: &'static Statement,
        rows: usize,
        fill: impl FnOnce(&mut Vec<Value<'a>>),
    ) -> &mut Self {
        let start = self.values.len();
        fill(&mut self.values);
        self.calls.push(Call { statement, rows, values: start..self.values.len() });
        self
    }
}

/// The answer to one call of a batch.
#[derive(Debug)]
pub struct Answer {
    pub(crate) statement: &'static str,
    pub(crate) rows: Rows,
    pub(crate) affected: u64,
}

/// Rows as their wire delivers them; decoded column by column when asked.
#[derive(Debug)]
pub(crate) enum Rows {
    Mysql(Vec<mysql_async::Row>),
    Postgres(crate::wire::pg::Rows),
    Owned {
        columns: std::sync::Arc<[String]>,
        rows: Vec<Vec<OwnedValue>>,
    },
    /// Made by the null target: the cells of all rows, one after the other.
    Made {
        columns: usize,
        cells: Vec<Value<'static>>,
    },
}

impl Answer {
    /// How many rows came back.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Mysql(rows) => rows.len(),
            Rows::Postgres(rows) => rows.len(),
            Rows::Owned { rows, .. } => rows.len(),
            Rows::Made { columns, cells } => cells.len() / columns.max(&1),
        }
    }

    /// Whether no row came back.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(move |index| Row { answer: self, index })
    }

    /// The only row.
    ///
    /// # Errors
    /// An integrity error if there is none, or more than one: every profile names rows that exist (2.3.6).
    pub fn only(&self) -> Result<Row<'_>, Error> {
        match self.len() {
            1 => Ok(Row { answer: self, index: 0 }),
            n => Err(Error::integrity(format!("{}: {n} rows where one must be", self.statement))),
        }
    }

    /// The row at `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<Row<'_>> {
        (index < self.len()).then_some(Row { answer: self, index })
    }

    /// Checks how many rows the statement changed (2.3.6).
    ///
    /// # Errors
    /// An integrity error if it was another number.
    pub fn expect_affected(&self, expected: usize) -> Result<(), Error> {
        if self.affected == expected as u64 {
            return Ok(());
        }
        Err(Error::integrity(format!("{}: {} rows changed where {expected} must be", self.statement, self.affected)))
    }

    /// How many rows the statement inserted, changed, deleted or returned.
    pub fn affected(&self) -> u64 {
        self.affected
    }
}

/// One row of an answer. Columns are counted from 0.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    answer: &'a Answer,
    index: usize,
}

impl<'a> Row<'a> {
    /// A whole number.
    ///
    /// # Errors
    /// If the column is NULL, of another type, or beyond 32 bits.
    pub fn int(&self, column: usize) -> Result<i32, Error> {
        self.opt_int(column)?.ok_or_else(|| self.fault(column, "NULL where a number must be"))
    }

    /// A whole number, or `None` for NULL.
    ///
    /// # Errors
    /// If the column is of another type or beyond 32 bits.
    pub fn opt_int(&self, column: usize) -> Result<Option<i32>, Error> {
        match self.opt_big(column)? {
            None => Ok(None),
            Some(v) => i32::try_from(v).map(Some).map_err(|_| self.fault(column, "a number beyond 32 bits")),
        }
    }

    /// A whole number of up to 64 bits.
    ///
    /// # Errors
    /// If the column is NULL or of another type.
    pub fn big(&self, column: usize) -> Result<i64, Error> {
        self.opt_big(column)?.ok_or_else(|| self.fault(column, "NULL where a number must be"))
    }

    fn opt_big(&self, column: usize) -> Result<Option<i64>, Error> {
        if let Rows::Postgres(rows) = &self.answer.rows {
            return rows.int(self.index, column).map_err(|e| self.fault(column, &e));
        }
        match self.value(column)?.as_ref() {
            OwnedValue::Null => Ok(None),
            OwnedValue::Int(v) => Ok(Some(*v)),
            OwnedValue::Decimal(d) => match d.at_scale(0) {
                Some(v) => Ok(Some(v)),
                None => Err(self.fault(column, "a fraction where a whole number must be")),
            },
            _ => Err(self.fault(column, "not a number")),
        }
    }

    /// An exact decimal as its digits at `scale`; a database that stores scaled integers gives them as they are.
    ///
    /// # Errors
    /// If the column is NULL, of another type, or has digits beyond `scale`.
    pub fn decimal(&self, column: usize, scale: u8) -> Result<i64, Error> {
        match self.value(column)?.as_ref() {
            OwnedValue::Decimal(d) => {
                d.at_scale(scale).ok_or_else(|| self.fault(column, "more decimal digits than its column has"))
            }
            OwnedValue::Int(v) => Ok(*v),
            OwnedValue::Null => Err(self.fault(column, "NULL where an amount must be")),
            _ => Err(self.fault(column, "not an exact number")),
        }
    }

    /// Money in cents.
    ///
    /// # Errors
    /// As [`Row::decimal`].
    pub fn cents(&self, column: usize) -> Result<i64, Error> {
        self.decimal(column, 2)
    }

    /// Text, blank-padded if the column is of fixed length.
    ///
    /// # Errors
    /// If the column is NULL or of another type.
    pub fn text(&self, column: usize) -> Result<&'a str, Error> {
        let answer = self.answer;
        let text = match &answer.rows {
            Rows::Mysql(rows) => crate::wire::mysql::text(&rows[self.index], column),
            Rows::Postgres(rows) => rows.text(self.index, column),
            Rows::Owned { rows, .. } => match rows[self.index].get(column) {
                Some(OwnedValue::Text(text)) => Some(text.as_str()),
                _ => None,
            },
            Rows::Made { columns, cells } => match made(*columns, cells, self.index, column) {
                Some(Value::Text(text)) => Some(text),
                _ => None,
            },
        };
        text.ok_or_else(|| self.fault(column, "not text"))
    }

    /// A date and time, in microseconds since the Unix epoch; `None` for NULL.
    ///
    /// # Errors
    /// If the column is of another type.
    pub fn opt_timestamp(&self, column: usize) -> Result<Option<i64>, Error> {
        match self.value(column)?.as_ref() {
            OwnedValue::Null => Ok(None),
            OwnedValue::Timestamp(us) => Ok(Some(*us)),
            OwnedValue::Text(text) => match crate::value::timestamp_from_text(text) {
                Some(us) => Ok(Some(us)),
                None => Err(self.fault(column, "not a date")),
            },
            _ => Err(self.fault(column, "not a date")),
        }
    }

    /// A date and time that is never NULL.
    ///
    /// # Errors
    /// If the column is NULL or of another type.
    pub fn timestamp(&self, column: usize) -> Result<i64, Error> {
        self.opt_timestamp(column)?.ok_or_else(|| self.fault(column, "NULL where a date must be"))
    }

    /// The value of a column of any type.
    ///
    /// # Errors
    /// If there is no such column, or its type is unknown here.
    pub fn value(&self, column: usize) -> Result<Cow<'a, OwnedValue>, Error> {
        let answer = self.answer;
        match &answer.rows {
            Rows::Mysql(rows) => {
                crate::wire::mysql::value(&rows[self.index], column).map(Cow::Owned).map_err(|e| self.fault(column, &e))
            }
            Rows::Postgres(rows) => rows.value(self.index, column).map(Cow::Owned).map_err(|e| self.fault(column, &e)),
            Rows::Owned { rows, .. } => match rows[self.index].get(column) {
                Some(value) => Ok(Cow::Borrowed(value)),
                None => Err(self.fault(column, "no such column")),
            },
            Rows::Made { columns, cells } => match made(*columns, cells, self.index, column) {
                Some(value) => Ok(Cow::Owned(value.to_owned())),
                None => Err(self.fault(column, "no such column")),
            },
        }
    }

    /// The columns' names.
    pub fn columns(&self) -> Vec<String> {
        match &self.answer.rows {
            Rows::Mysql(rows) => rows[self.index].columns_ref().iter().map(|c| c.name_str().into_owned()).collect(),
            Rows::Postgres(rows) => rows.columns(),
            Rows::Owned { columns, .. } => columns.to_vec(),
            Rows::Made { columns, .. } => (1..=*columns).map(|number| number.to_string()).collect(),
        }
    }

    fn fault(&self, column: usize, what: &str) -> Error {
        Error::integrity(format!("{}, column {}: {what}", self.answer.statement, column + 1))
    }
}

/// A cell of rows that lie one after the other.
fn made(columns: usize, cells: &[Value<'static>], row: usize, column: usize) -> Option<Value<'static>> {
    cells.get(row * columns..(row + 1) * columns)?.get(column).copied()
}
