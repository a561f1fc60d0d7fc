//! Bulk load: rows written field by field into the form their database takes fastest.

use crate::Error;
use crate::wire::{mysql, odbc, pg, sqlite};

/// Takes rows field by field, in the order of the table's columns.
pub trait RowSink {
    /// Starts a row.
    fn start_row(&mut self);
    /// A 16-bit number.
    fn small_int(&mut self, value: i32);
    /// A 32-bit number.
    fn int(&mut self, value: i32);
    /// An exact decimal: `unscaled / 10^scale`.
    fn decimal(&mut self, unscaled: i64, scale: u8);
    /// Text.
    fn text(&mut self, value: &str);
    /// A date and time, in microseconds since the Unix epoch, UTC.
    fn timestamp(&mut self, us: i64);
    /// NULL.
    fn null(&mut self);
}

/// How a table is filled.
#[derive(Clone, Debug, Default)]
pub struct BulkOptions {
    /// The name under which its rows go in, if not its own: that of their partition.
    pub into: Option<String>,
    /// Rows that are committed at once, for databases that can; none: all in the session's open transaction.
    pub rows_per_commit: Option<u32>,
}

/// A table being filled, inside the session's open transaction.
///
/// Dropped before [`Bulk::finish`], it leaves a transaction that can only be rolled back.
#[derive(Debug)]
pub struct Bulk<'s> {
    wire: Wire<'s>,
}

#[derive(Debug)]
enum Wire<'s> {
    Mysql(mysql::Bulk<'s>),
    Odbc(odbc::Bulk<'s>),
    Postgres(pg::Bulk<'s>),
    Sqlite(sqlite::Bulk<'s>),
}

impl<'s> Bulk<'s> {
    pub(crate) fn mysql(bulk: mysql::Bulk<'s>) -> Self {
        Self { wire: Wire::Mysql(bulk) }
    }

    pub(crate) fn odbc(bulk: odbc::Bulk<'s>) -> Self {
        Self { wire: Wire::Odbc(bulk) }
    }

    pub(crate) fn postgres(bulk: pg::Bulk<'s>) -> Self {
        Self { wire: Wire::Postgres(bulk) }
    }

    pub(crate) fn sqlite(bulk: sqlite::Bulk<'s>) -> Self {
        Self { wire: Wire::Sqlite(bulk) }
    }

    /// Sends what has gathered, once it is worth a flight. To be called every few rows.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn flush_if_full(&mut self) -> Result<(), Error> {
        match &mut self.wire {
            Wire::Mysql(bulk) => bulk.flush_if_full().await,
            Wire::Odbc(bulk) => bulk.flush_if_full().await,
            Wire::Postgres(bulk) => bulk.flush_if_full().await,
            Wire::Sqlite(bulk) => bulk.flush_if_full().await,
        }
    }

    /// Sends the rest and closes the table. Returns the rows and bytes sent.
    ///
    /// # Errors
    /// The database's refusal, or another number of rows stored than sent.
    pub async fn finish(self) -> Result<Loaded, Error> {
        match self.wire {
            Wire::Mysql(bulk) => bulk.finish().await,
            Wire::Odbc(bulk) => bulk.finish().await,
            Wire::Postgres(bulk) => bulk.finish().await,
            Wire::Sqlite(bulk) => bulk.finish().await,
        }
    }
}

/// What a bulk load moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loaded {
    /// Rows stored.
    pub rows: u64,
    /// Bytes of their values as sent.
    pub bytes: u64,
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*)),*) => {
        impl RowSink for Bulk<'_> {
            $(#[inline]
            fn $name(&mut self, $($arg: $type),*) {
                match &mut self.wire {
                    Wire::Mysql(bulk) => bulk.$name($($arg),*),
                    Wire::Odbc(bulk) => bulk.$name($($arg),*),
                    Wire::Postgres(bulk) => bulk.$name($($arg),*),
                    Wire::Sqlite(bulk) => bulk.$name($($arg),*),
                }
            })*
        }
    };
}
forward!(start_row(), small_int(value: i32), int(value: i32), decimal(unscaled: i64, scale: u8), text(value: &str), timestamp(us: i64), null());

/// Appends a decimal's digits.
pub(crate) fn put_decimal(buffer: &mut Vec<u8>, unscaled: i64, scale: u8) {
    if unscaled < 0 {
        buffer.push(b'-');
    }
    let unit = 10_u64.pow(u32::from(scale));
    let digits = unscaled.unsigned_abs();
    let mut number = itoa::Buffer::new();
    buffer.extend_from_slice(number.format(digits / unit).as_bytes());
    buffer.push(b'.');
    let fraction = number.format(digits % unit).as_bytes();
    buffer.extend(std::iter::repeat_n(b'0', usize::from(scale) - fraction.len()));
    buffer.extend_from_slice(fraction);
}

/// Dates as text. All dates of a load are the same instant, so it is formatted once.
#[derive(Debug, Default)]
pub(crate) struct TimestampText(Option<(i64, String)>);

impl TimestampText {
    pub(crate) fn of(&mut self, us: i64) -> &str {
        if self.0.as_ref().is_none_or(|(last, _)| *last != us) {
            self.0 = Some((us, crate::value::timestamp_text(us)));
        }
        self.0.as_ref().map_or("", |(_, text)| text)
    }
}

/// Rows as CSV (RFC 4180): no header, NULL as an empty field, text quoted only where it must be.
#[derive(Debug, Default)]
pub struct Csv {
    buffer: Vec<u8>,
    at_row_start: bool,
    timestamp: TimestampText,
}

impl Csv {
    /// Ends the last row and hands out what has gathered.
    pub fn take(&mut self) -> Vec<u8> {
        if !self.buffer.is_empty() {
            self.buffer.push(b'\n');
        }
        std::mem::take(&mut self.buffer)
    }

    /// Bytes gathered so far.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether nothing has gathered.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.at_row_start) {
            self.buffer.push(b',');
        }
    }
}

impl RowSink for Csv {
    fn start_row(&mut self) {
        if !self.buffer.is_empty() {
            self.buffer.push(b'\n');
        }
        self.at_row_start = true;
    }

    fn small_int(&mut self, value: i32) {
        self.int(value);
    }

    fn int(&mut self, value: i32) {
        self.separate();
        self.buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        self.separate();
        put_decimal(&mut self.buffer, unscaled, scale);
    }

    fn text(&mut self, value: &str) {
        self.separate();
        // Empty text is quoted, so that it differs from NULL.
        if value.is_empty() || value.bytes().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r')) {
            self.buffer.push(b'"');
            self.buffer.extend_from_slice(value.replace('"', "\"\"").as_bytes());
            self.buffer.push(b'"');
        } else {
            self.buffer.extend_from_slice(value.as_bytes());
        }
    }

    fn timestamp(&mut self, us: i64) {
        self.separate();
        self.buffer.extend_from_slice(self.timestamp.of(us).as_bytes());
    }

    fn null(&mut self) {
        self.separate();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_tells_null_from_empty_text_and_quotes_what_it_must() {
        let mut csv = Csv::default();
        csv.start_row();
        csv.int(-7);
        csv.decimal(-1000, 2);
        csv.decimal(5, 4);
        csv.null();
        csv.text("");
        csv.text("a,\"b\"");
        csv.timestamp(0);
        csv.start_row();
        csv.small_int(1);
        let text = String::from_utf8(csv.take()).unwrap();
        assert_eq!(text, "-7,-10.00,0.0005,,\"\",\"a,\"\"b\"\"\",1970-01-01 00:00:00\n1\n");
        assert!(csv.take().is_empty());
    }
}
