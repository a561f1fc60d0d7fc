//! The null target's answers: declared beside a statement's SQL, and made from its parameters.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Decimal, Statement, Value};

/// The type of a parameter, or of a column that comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of 16 bits.
    SmallInt,
    /// A whole number of 32 bits.
    Int,
    /// A whole number of 64 bits.
    BigInt,
    /// An exact decimal.
    Numeric,
    /// Text of fixed length.
    Char,
    /// Text up to a length.
    Varchar,
    /// Text of any length.
    Text,
    /// A date and time of day.
    Timestamp,
}

/// Where the value of a cell comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The call's parameter `$n`, a whole number.
    Fixed(usize),
    /// The row's own parameter `#n`, a whole number.
    PerRow(usize),
    /// The row's number, from 1.
    Number,
    /// Always the same.
    Always(Value<'static>),
    /// One text where parameter `$n` is a number, and another elsewhere.
    Where { fixed: usize, is: i64, then: &'static str, otherwise: &'static str },
    /// The clock.
    Now,
}

/// A column of the returned rows: its type, and its values.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    kind: Kind,
    source: Source,
}

impl Column {
    /// The call's parameter `$n`, a whole number.
    pub const fn fixed(kind: Kind, n: usize) -> Self {
        Self { kind, source: Source::Fixed(n) }
    }

    /// The row's own parameter `#n`, a whole number.
    pub const fn per_row(kind: Kind, n: usize) -> Self {
        Self { kind, source: Source::PerRow(n) }
    }

    /// The row's number, from 1.
    pub const fn number(kind: Kind) -> Self {
        Self { kind, source: Source::Number }
    }

    /// A whole number, always the same.
    pub const fn int(kind: Kind, value: i64) -> Self {
        Self { kind, source: Source::Always(Value::Int(value)) }
    }

    /// An exact decimal, always the same.
    pub const fn decimal(unscaled: i64, scale: u8) -> Self {
        Self { kind: Kind::Numeric, source: Source::Always(Value::Decimal(Decimal { unscaled, scale })) }
    }

    /// A text, always the same.
    pub const fn text(kind: Kind, text: &'static str) -> Self {
        Self { kind, source: Source::Always(Value::Text(text)) }
    }

    /// `then` where the call's parameter `$n` is a certain number, `otherwise` elsewhere.
    pub const fn text_where(kind: Kind, n: usize, is: i64, then: &'static str, otherwise: &'static str) -> Self {
        Self { kind, source: Source::Where { fixed: n, is, then, otherwise } }
    }

    /// The clock.
    pub const fn now() -> Self {
        Self { kind: Kind::Timestamp, source: Source::Now }
    }

    /// NULL.
    pub const fn null(kind: Kind) -> Self {
        Self { kind, source: Source::Always(Value::Null) }
    }

    /// Its type.
    pub const fn kind(&self) -> Kind {
        self.kind
    }
}

/// How many rows a call touches.
#[derive(Clone, Copy, Debug)]
enum Count {
    /// So many.
    Fixed(usize),
    /// So many for each row of the call.
    Each(usize),
    /// One for each row of the list of lists of numbers, `[[1,2],[3,4]]`, that the parameter `$n` holds.
    Listed(usize),
}

/// The null target's answer to a statement. By default each row of the call was changed, and no row is returned.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    columns: &'static [Column],
    count: Count,
    /// A row whose own parameter (of a call without rows: whose parameter) `n` is this number is not there.
    missing: Option<(usize, i64)>,
}

impl Reply {
    /// Each row of the call was changed, and none comes back.
    pub const CHANGED: Reply = Reply { columns: &[], count: Count::Each(1), missing: None };

    /// So many rows were changed, and none comes back.
    pub const fn changed(rows: usize) -> Self {
        Self { count: Count::Fixed(rows), ..Self::CHANGED }
    }

    /// So many rows.
    pub const fn rows(rows: usize, columns: &'static [Column]) -> Self {
        Self { columns, count: Count::Fixed(rows), missing: None }
    }

    /// So many rows for each row of the call.
    pub const fn each(times: usize, columns: &'static [Column]) -> Self {
        Self { columns, count: Count::Each(times), missing: None }
    }

    /// A row for each list of numbers, `[[1,2],[3,4]]`, in the parameter `$n`; the numbers are the row's own parameters.
    pub const fn listed(n: usize, columns: &'static [Column]) -> Self {
        Self { columns, count: Count::Listed(n), missing: None }
    }

    /// The same without the row whose own parameter `#n` (where the call has no rows: the parameter `$n`) is `number`.
    #[must_use]
    pub const fn without(self, n: usize, number: i64) -> Self {
        Self { missing: Some((n, number)), ..self }
    }

    /// The columns of the rows that come back; none if no row does.
    pub const fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// How many rows come back at most of a call with `rows` rows; of a listed one as many as a usual list has.
    pub(crate) fn most(&self, rows: usize) -> usize {
        match self.count {
            Count::Fixed(count) => count,
            Count::Each(times) => times * rows,
            Count::Listed(_) => 16,
        }
    }

    /// Makes the answer to a call of `statement` with `rows` rows: each row that comes back is given to `take`.
    /// Returns how many rows were touched.
    pub fn make(
        &self,
        statement: &Statement,
        rows: usize,
        parameters: &impl Parameters,
        mut take: impl FnMut(Cells<'_, '_>),
    ) -> u64 {
        let mut touched = 0;
        let mut touch = |per_row: RowParameters<'_>| {
            let place = RowContext { parameters, per_row };
            if self.missing.is_some_and(|(n, number)| place.per_row(n) == number) {
                return;
            }
            touched += 1;
            if !self.columns.is_empty() {
                take(Cells { columns: self.columns.iter(), place, number: touched });
            }
        };
        match self.count {
            Count::Fixed(count) => (0..count).for_each(|_| touch(RowParameters::From(0))),
            Count::Each(times) => {
                // A call without rows of its per_row is one row, and its parameters are that row's.
                let (fixed, per_row) = if statement.per_row.is_empty() {
                    (0, 0)
                } else {
                    (statement.fixed.len(), statement.per_row.len())
                };
                for row in 0..rows {
                    (0..times).for_each(|_| touch(RowParameters::From(fixed + row * per_row)));
                }
            }
            Count::Listed(n) => {
                let list = parameters.text(n - 1).unwrap_or("");
                list.trim_matches(['[', ']']).split("],[").for_each(|row| touch(RowParameters::Listed(row)));
            }
        }
        touched
    }
}

/// The parameters of a call, counted from 0.
pub trait Parameters {
    /// The whole number at a position; `None` for anything else.
    fn int(&self, at: usize) -> Option<i64>;
    /// The text at a position; `None` for anything else.
    fn text(&self, at: usize) -> Option<&str>;
}

impl Parameters for &[Value<'_>] {
    fn int(&self, at: usize) -> Option<i64> {
        match self.get(at) {
            Some(Value::Int(v)) => Some(*v),
            _ => None,
        }
    }

    fn text(&self, at: usize) -> Option<&str> {
        match self.get(at) {
            Some(Value::Text(v)) => Some(v),
            _ => None,
        }
    }
}

/// A row's own parameters.
#[derive(Clone, Copy)]
enum RowParameters<'a> {
    /// Among those of the call, from here on.
    From(usize),
    /// Numbers between commas.
    Listed(&'a str),
}

/// Where the values of a row are looked up.
#[derive(Clone, Copy)]
struct RowContext<'a> {
    parameters: &'a dyn Parameters,
    per_row: RowParameters<'a>,
}

impl RowContext<'_> {
    fn per_row(&self, n: usize) -> i64 {
        let value = match self.per_row {
            RowParameters::From(start) => self.parameters.int(start + n - 1),
            RowParameters::Listed(row) => row.split(',').nth(n - 1).and_then(|number| number.parse().ok()),
        };
        value.unwrap_or(0)
    }
}

/// The cells of a row that comes back, column by column.
pub struct Cells<'a, 'c> {
    columns: std::slice::Iter<'c, Column>,
    place: RowContext<'a>,
    number: u64,
}

impl Iterator for Cells<'_, '_> {
    type Item = (Kind, Value<'static>);

    fn next(&mut self) -> Option<Self::Item> {
        let Column { kind, source } = *self.columns.next()?;
        let fixed = |n: usize| self.place.parameters.int(n - 1).unwrap_or(0);
        let value = match source {
            Source::Fixed(n) => Value::Int(fixed(n)),
            Source::PerRow(n) => Value::Int(self.place.per_row(n)),
            Source::Number => Value::Int(self.number as i64),
            Source::Always(value) => value,
            Source::Where { fixed: n, is, then, otherwise } => {
                Value::Text(if fixed(n) == is { then } else { otherwise })
            }
            Source::Now => Value::Timestamp(now_us()),
        };
        Some((kind, value))
    }
}

/// Microseconds since the Unix epoch.
fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(statement: &Statement, rows: usize, parameters: &[Value<'_>]) -> (u64, Vec<Vec<Value<'static>>>) {
        let mut made = Vec::new();
        let touched = statement.reply.make(statement, rows, &parameters, |cells| {
            made.push(cells.map(|(_, value)| value).collect());
        });
        (touched, made)
    }

    const INT: Kind = Kind::Int;

    #[test]
    fn what_declares_nothing_changes_each_row_of_its_call() {
        assert_eq!(made(&Statement::new("s", "UPDATE t SET a = $1"), 1, &[5.into()]), (1, vec![]));
        let rows = Statement::multi_row("s", "INSERT INTO t VALUES {($1, #1)}", 1, 9);
        assert_eq!(made(&rows, 3, &[]), (3, vec![]));
        assert_eq!(made(&Statement::new("s", "UPDATE t SET a = 1").replies(Reply::changed(7)), 1, &[]), (7, vec![]));
    }

    #[test]
    fn rows_echo_their_parameters_but_for_the_missing_one() {
        static COLUMNS: &[Column] = &[Column::fixed(INT, 1), Column::per_row(INT, 2), Column::number(INT)];
        let statement = Statement::multi_row("s", "SELECT $1 {(#1, #2)}", 1, 9)
            .takes(&[INT])
            .takes_a_row(&[INT, INT])
            .replies(Reply::each(1, COLUMNS).without(2, 99));
        let values = [7, 1, 10, 2, 99, 3, 30].map(Value::from);
        let row = |numbers: [i32; 3]| numbers.map(Value::from).to_vec();
        assert_eq!(made(&statement, 3, &values), (2, vec![row([7, 10, 1]), row([7, 30, 2])]));

        let single = Statement::new("s", "SELECT").takes(&[INT]).replies(Reply::each(1, COLUMNS).without(1, 99));
        assert_eq!(made(&single, 1, &[99.into()]).0, 0);
        assert_eq!(made(&single, 1, &[98.into()]).0, 1);
    }

    #[test]
    fn a_list_in_a_text_is_as_good_as_rows() {
        static COLUMNS: &[Column] =
            &[Column::per_row(INT, 1), Column::text_where(Kind::Char, 1, 7, "seven", "another"), Column::decimal(5, 2)];
        let statement = Statement::new("s", "SELECT $1, $2").replies(Reply::listed(2, COLUMNS).without(2, 99));
        let cents = Value::Decimal(Decimal::cents(5));
        let values = [7.into(), "[[1,10],[2,99],[3,30]]".into()];
        let row = |number: i32, text: &'static str| vec![number.into(), Value::Text(text), cents];
        assert_eq!(made(&statement, 1, &values), (2, vec![row(1, "seven"), row(3, "seven")]));
        assert_eq!(made(&statement, 1, &[8.into(), "[[1,1]]".into()]), (1, vec![row(1, "another")]));
    }
}
