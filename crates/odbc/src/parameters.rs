//! Parameters of a statement: rows of values, kept by column, as ODBC takes arrays of them.

use crate::ffi::{NULL, TimestampStruct};
use crate::{Error, Timestamp};

/// What a parameter holds in every row, unless it is NULL there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of up to 64 bits.
    Int,
    /// An exact decimal.
    Decimal,
    /// Text.
    Text,
    /// A date and time.
    Timestamp,
}

/// A value to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter<'a> {
    /// SQL NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// An exact decimal: digits with an optional sign and point.
    Decimal(&'a str),
    /// Text.
    Text(&'a str),
    /// A date and time.
    Timestamp(Timestamp),
}

impl Parameter<'_> {
    /// The kind of its column; NULL alone doesn't tell, and is sent as text.
    fn kind(self) -> Kind {
        match self {
            Parameter::Int(_) => Kind::Int,
            Parameter::Decimal(_) => Kind::Decimal,
            Parameter::Text(_) | Parameter::Null => Kind::Text,
            Parameter::Timestamp(_) => Kind::Timestamp,
        }
    }
}

/// Rows of parameters.
#[derive(Debug)]
pub struct Parameters {
    columns: Vec<Column>,
    /// Values pushed; the next one's place.
    values: usize,
}

impl Parameters {
    /// No row yet, of parameters of these kinds.
    pub fn new(kinds: &[Kind]) -> Self {
        Self { columns: kinds.iter().map(|kind| Column::new(*kind)).collect(), values: 0 }
    }

    /// One row.
    ///
    /// # Errors
    /// As [`Parameters::push`].
    pub fn of(row: &[Parameter<'_>]) -> Result<Self, Error> {
        let mut parameters = Self { columns: row.iter().map(|value| Column::new(value.kind())).collect(), values: 0 };
        row.iter().try_for_each(|value| parameters.push(*value))?;
        Ok(parameters)
    }

    /// Adds the next value: the first of a row after the last of the row before.
    ///
    /// # Errors
    /// If the value is not of its column's kind, or not a number where digits are promised.
    pub fn push(&mut self, value: Parameter<'_>) -> Result<(), Error> {
        let at = self.values % self.columns.len().max(1);
        let Some(column) = self.columns.get_mut(at) else {
            return Err(Error::Value("a value for a statement without parameters".into()));
        };
        column.push(value).map_err(|reason| Error::Value(format!("parameter {}: {reason}", at + 1)))?;
        self.values += 1;
        Ok(())
    }

    /// Whole rows pushed; 1 without parameters, for a statement that has none runs once.
    pub fn rows(&self) -> usize {
        if self.columns.is_empty() { 1 } else { self.values / self.columns.len() }
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Column::clear);
        self.values = 0;
    }

    pub(crate) fn columns(&mut self) -> &mut [Column] {
        &mut self.columns
    }

    /// The values of one row, in columns of their own.
    pub(crate) fn row(&self, row: usize) -> Vec<Column> {
        self.columns.iter().map(|column| column.row(row)).collect()
    }
}

/// The cells of a parameter, one a row, all of the same width.
#[derive(Debug)]
pub(crate) enum Cells {
    Int(Vec<i64>),
    /// ASCII digits.
    Decimal(Vec<u8>),
    /// UTF-16.
    Text(Vec<u16>),
    Timestamp(Vec<TimestampStruct>),
}

/// A parameter in every row.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) cells: Cells,
    /// Units (numbers, digits, UTF-16 units, dates) a cell.
    pub(crate) width: usize,
    /// Bytes used of each cell, or [`NULL`].
    pub(crate) lengths: Vec<isize>,
    /// Characters of the longest value, without the digits behind the point.
    size: usize,
    /// Digits behind the point.
    pub(crate) scale: i16,
}

impl Column {
    fn new(kind: Kind) -> Self {
        let (cells, width, size, scale) = match kind {
            Kind::Int => (Cells::Int(Vec::new()), 1, 19, 0),
            Kind::Decimal => (Cells::Decimal(Vec::new()), 24, 1, 0),
            Kind::Text => (Cells::Text(Vec::new()), 16, 1, 0),
            Kind::Timestamp => (Cells::Timestamp(Vec::new()), 1, 20, 6),
        };
        Self { cells, width, lengths: Vec::new(), size, scale }
    }

    fn clear(&mut self) {
        self.lengths.clear();
        match &mut self.cells {
            Cells::Int(cells) => cells.clear(),
            Cells::Decimal(cells) => cells.clear(),
            Cells::Text(cells) => cells.clear(),
            Cells::Timestamp(cells) => cells.clear(),
        }
    }

    /// The column size that ODBC asks for: characters or digits in all.
    pub(crate) fn size(&self) -> usize {
        self.size + usize::from(self.scale.unsigned_abs())
    }

    /// SQL_BIGINT, SQL_DECIMAL, SQL_VARCHAR, SQL_TYPE_TIMESTAMP.
    pub(crate) fn sql_type(&self) -> i16 {
        match self.cells {
            Cells::Int(_) => -5,
            Cells::Decimal(_) => 3,
            Cells::Text(_) => 12,
            Cells::Timestamp(_) => 93,
        }
    }

    fn push(&mut self, value: Parameter<'_>) -> Result<(), String> {
        match (&mut self.cells, value) {
            (Cells::Int(cells), Parameter::Int(number)) => {
                cells.push(number);
                self.lengths.push(8);
            }
            (Cells::Int(cells), Parameter::Null) => cells.push(0),
            (Cells::Timestamp(cells), Parameter::Timestamp(time)) => {
                cells.push(time.into());
                self.lengths.push(size_of::<TimestampStruct>() as isize);
            }
            (Cells::Timestamp(cells), Parameter::Null) => cells.push(TimestampStruct::default()),
            (Cells::Decimal(cells), Parameter::Decimal(digits)) => {
                let (whole, fraction) = decimal_digits(digits).ok_or_else(|| format!("`{digits}` is no decimal"))?;
                self.scale = self.scale.max(i16::try_from(fraction).unwrap_or(i16::MAX));
                self.size = self.size.max(whole);
                self.lengths.push(digits.len() as isize);
                put(cells, &mut self.width, digits.bytes());
            }
            (Cells::Decimal(cells), Parameter::Null) => {
                put(cells, &mut self.width, [].into_iter());
            }
            (Cells::Text(cells), Parameter::Text(text)) => {
                let units = put(cells, &mut self.width, text.encode_utf16());
                self.size = self.size.max(units);
                self.lengths.push((units * 2) as isize);
            }
            (Cells::Text(cells), Parameter::Null) => {
                put(cells, &mut self.width, [].into_iter());
            }
            (_, other) => return Err(format!("{other:?} is of another kind than this parameter")),
        }
        if value == Parameter::Null {
            self.lengths.push(NULL);
        }
        Ok(())
    }

    fn row(&self, row: usize) -> Self {
        fn cell<T: Copy>(cells: &[T], row: usize, width: usize) -> Vec<T> {
            cells[row * width..][..width].to_vec()
        }
        let width = self.width;
        let cells = match &self.cells {
            Cells::Int(cells) => Cells::Int(cell(cells, row, width)),
            Cells::Decimal(cells) => Cells::Decimal(cell(cells, row, width)),
            Cells::Text(cells) => Cells::Text(cell(cells, row, width)),
            Cells::Timestamp(cells) => Cells::Timestamp(cell(cells, row, width)),
        };
        Self { cells, lengths: vec![self.lengths[row]], ..*self }
    }
}

/// Adds a cell, widening all if it needs more than `width` units. Returns how many it has.
fn put<T: Copy + Default>(cells: &mut Vec<T>, width: &mut usize, units: impl Iterator<Item = T>) -> usize {
    let start = cells.len();
    cells.extend(units);
    let used = cells.len() - start;
    if used > *width {
        // In steps, so that a column of growing texts is not copied each time.
        let wider = used.next_multiple_of(64);
        let mut widened = Vec::with_capacity((start / *width + 1) * wider);
        for cell in cells[..start].chunks_exact(*width).chain([&cells[start..]]) {
            widened.extend_from_slice(cell);
            widened.resize(widened.len().next_multiple_of(wider), T::default());
        }
        *cells = widened;
        *width = wider;
    } else {
        cells.resize(start + *width, T::default());
    }
    used
}

/// Digits before and behind the point; `None` if it is no decimal.
fn decimal_digits(text: &str) -> Option<(usize, usize)> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    (digits(whole) && digits(fraction) && !unsigned.is_empty() && unsigned != ".")
        .then_some((whole.len(), fraction.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_text_widens_the_cells_before_it() {
        let mut parameters = Parameters::new(&[Kind::Text]);
        let long = "ü".repeat(100);
        for text in ["a", "", long.as_str(), "b"] {
            parameters.push(Parameter::Text(text)).unwrap();
        }
        parameters.push(Parameter::Null).unwrap();
        assert_eq!(parameters.rows(), 5);
        let column = &parameters.columns[0];
        assert_eq!((column.width, column.size), (128, 100));
        assert_eq!(column.lengths, [2, 0, 200, 2, NULL]);
        let Cells::Text(cells) = &column.cells else { panic!("not text") };
        assert_eq!(cells.len(), 5 * 128);
        let cell = |row: usize, units: usize| String::from_utf16(&cells[row * 128..][..units]).unwrap();
        assert_eq!((cell(0, 1), cell(2, 100), cell(3, 1)), ("a".into(), long, "b".into()));
        let Cells::Text(one) = &column.row(3).cells else { panic!("not text") };
        assert_eq!(one[0], u16::from(b'b'));
    }

    #[test]
    fn a_decimal_s_digits_are_counted_on_both_sides_of_the_point() {
        let mut parameters = Parameters::new(&[Kind::Decimal]);
        for digits in ["-10.00", "123456", "0.0005"] {
            parameters.push(Parameter::Decimal(digits)).unwrap();
        }
        assert_eq!((parameters.columns[0].size(), parameters.columns[0].scale), (10, 4));
        for bad in ["", "-", ".", "1e5", "0x1", "1.2.3", "ten"] {
            assert!(parameters.push(Parameter::Decimal(bad)).is_err(), "{bad}");
        }
        assert_eq!(parameters.rows(), 3);
    }

    #[test]
    fn a_value_of_another_kind_is_refused() {
        let mut parameters = Parameters::new(&[Kind::Int, Kind::Timestamp]);
        parameters.push(Parameter::Int(1)).unwrap();
        let error = parameters.push(Parameter::Text("today")).unwrap_err().to_string();
        assert!(error.contains("parameter 2"), "{error}");
        assert!(Parameters::new(&[]).push(Parameter::Null).is_err());
    }
}
