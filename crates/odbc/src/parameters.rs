//! Parameters of a statement: rows of values, kept by column, as ODBC takes arrays of them.

use crate::ffi::NULL;
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

/// Rows of parameters, for the statements of one connection.
#[derive(Debug)]
pub struct Parameters {
    columns: Vec<Column>,
    /// Values pushed; the next one's place.
    values: usize,
}

impl Parameters {
    /// No row yet, of parameters of these kinds; `wide` says whether the driver takes text as UTF-16, or as UTF-8.
    pub(crate) fn new(kinds: impl Iterator<Item = Kind>, wide: bool) -> Self {
        Self { columns: kinds.map(|kind| Column::new(kind, wide)).collect(), values: 0 }
    }

    /// One row.
    pub(crate) fn row(row: &[Parameter<'_>], wide: bool) -> Result<Self, Error> {
        let mut parameters = Self::new(row.iter().map(|value| value.kind()), wide);
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
    pub(crate) fn columns_of(&self, row: usize) -> Vec<Column> {
        self.columns.iter().map(|column| column.row(row)).collect()
    }
}

/// The cells of a parameter, one a row, all of the same width.
#[derive(Debug)]
pub(crate) enum Cells {
    Int(Vec<i64>),
    /// Decimals and dates as ODBC writes them, and text in UTF-8.
    Narrow(Vec<u8>),
    /// Text in UTF-16.
    Wide(Vec<u16>),
}

/// A parameter in every row.
#[derive(Debug)]
pub(crate) struct Column {
    kind: Kind,
    pub(crate) cells: Cells,
    /// Numbers, bytes or UTF-16 units a cell.
    pub(crate) width: usize,
    /// Bytes used of each cell, or [`NULL`].
    pub(crate) lengths: Vec<isize>,
    /// SQL_BIGINT, SQL_DECIMAL, SQL_VARCHAR or SQL_TYPE_TIMESTAMP.
    pub(crate) sql_type: i16,
    /// Characters of the longest value, without the digits behind the point.
    size: usize,
    /// Digits behind the point.
    pub(crate) scale: i16,
}

impl Column {
    fn new(kind: Kind, wide: bool) -> Self {
        let narrow = || Cells::Narrow(Vec::new());
        let (cells, width, sql_type, size, scale) = match kind {
            Kind::Int => (Cells::Int(Vec::new()), 1, -5, 19, 0),
            Kind::Decimal => (narrow(), 24, 3, 1, 0),
            Kind::Text if wide => (Cells::Wide(Vec::new()), 16, 12, 1, 0),
            Kind::Text => (narrow(), 16, 12, 1, 0),
            Kind::Timestamp => (narrow(), 32, 93, 20, 6),
        };
        Self { kind, cells, width, lengths: Vec::new(), sql_type, size, scale }
    }

    fn clear(&mut self) {
        self.lengths.clear();
        match &mut self.cells {
            Cells::Int(cells) => cells.clear(),
            Cells::Narrow(cells) => cells.clear(),
            Cells::Wide(cells) => cells.clear(),
        }
    }

    /// The column size that ODBC asks for: characters or digits in all.
    pub(crate) fn size(&self) -> usize {
        self.size + usize::from(self.scale.unsigned_abs())
    }

    fn push(&mut self, value: Parameter<'_>) -> Result<(), String> {
        match (self.kind, value) {
            (_, Parameter::Null) => {
                self.put_text("");
                self.lengths.pop();
                self.lengths.push(NULL);
            }
            (Kind::Int, Parameter::Int(number)) => {
                if let Cells::Int(cells) = &mut self.cells {
                    cells.push(number);
                }
                self.lengths.push(8);
            }
            (Kind::Decimal, Parameter::Decimal(digits)) => {
                let (whole, fraction) = decimal_digits(digits).ok_or_else(|| format!("`{digits}` is no decimal"))?;
                self.scale = self.scale.max(i16::try_from(fraction).unwrap_or(i16::MAX));
                self.size = self.size.max(whole);
                self.put_text(digits);
            }
            (Kind::Text, Parameter::Text(text)) => {
                let units = self.put_text(text);
                self.size = self.size.max(units);
            }
            (Kind::Timestamp, Parameter::Timestamp(time)) => {
                self.put_text(&time.to_string());
            }
            (_, other) => return Err(format!("{other:?} is of another kind than this parameter")),
        }
        Ok(())
    }

    /// Adds a cell of characters (of 0 to a column of numbers) and its length. Returns its units.
    fn put_text(&mut self, text: &str) -> usize {
        let (units, bytes) = match &mut self.cells {
            Cells::Int(cells) => {
                cells.push(0);
                (1, 8)
            }
            Cells::Narrow(cells) => {
                let units = put(cells, &mut self.width, text.bytes());
                (units, units)
            }
            Cells::Wide(cells) => {
                let units = put(cells, &mut self.width, text.encode_utf16());
                (units, units * 2)
            }
        };
        self.lengths.push(bytes as isize);
        units
    }

    fn row(&self, row: usize) -> Self {
        fn cell<T: Copy>(cells: &[T], row: usize, width: usize) -> Vec<T> {
            cells[row * width..][..width].to_vec()
        }
        let width = self.width;
        let cells = match &self.cells {
            Cells::Int(cells) => Cells::Int(cell(cells, row, width)),
            Cells::Narrow(cells) => Cells::Narrow(cell(cells, row, width)),
            Cells::Wide(cells) => Cells::Wide(cell(cells, row, width)),
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
        let mut parameters = Parameters::new([Kind::Text].into_iter(), true);
        let long = "ü".repeat(100);
        for text in ["a", "", long.as_str(), "b"] {
            parameters.push(Parameter::Text(text)).unwrap();
        }
        parameters.push(Parameter::Null).unwrap();
        assert_eq!(parameters.rows(), 5);
        let column = &parameters.columns[0];
        assert_eq!((column.width, column.size()), (128, 100));
        assert_eq!(column.lengths, [2, 0, 200, 2, NULL]);
        let Cells::Wide(cells) = &column.cells else { panic!("not wide") };
        assert_eq!(cells.len(), 5 * 128);
        let cell = |row: usize, units: usize| String::from_utf16(&cells[row * 128..][..units]).unwrap();
        assert_eq!((cell(0, 1), cell(2, 100), cell(3, 1)), ("a".into(), long, "b".into()));
        let Cells::Wide(one) = &column.row(3).cells else { panic!("not wide") };
        assert_eq!(one[0], u16::from(b'b'));
    }

    #[test]
    fn narrow_text_is_utf_8_and_its_lengths_are_bytes() {
        let parameters = Parameters::row(&[Parameter::Text("grüße"), Parameter::Int(1)], false).unwrap();
        let column = &parameters.columns[0];
        assert_eq!((column.lengths.as_slice(), column.size()), (&[7][..], 7));
        let Cells::Narrow(cells) = &column.cells else { panic!("not narrow") };
        assert_eq!(std::str::from_utf8(&cells[..7]).unwrap(), "grüße");
    }

    #[test]
    fn a_decimal_s_digits_are_counted_on_both_sides_of_the_point() {
        let mut parameters = Parameters::new([Kind::Decimal].into_iter(), true);
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
        let mut parameters = Parameters::new([Kind::Int, Kind::Timestamp].into_iter(), true);
        parameters.push(Parameter::Int(1)).unwrap();
        let error = parameters.push(Parameter::Text("today")).unwrap_err().to_string();
        assert!(error.contains("parameter 2"), "{error}");
        assert!(Parameters::new([].into_iter(), true).push(Parameter::Null).is_err());
    }
}
