//! Bulk load: rows written field by field into the form their database takes fastest.

mod copy_binary;
mod csv;
mod text;

use crate::Error;
use crate::value::uuid_text;
use crate::wire::{mysql, odbc, pg, sqlite};

pub use copy_binary::CopyBinary;
pub(crate) use copy_binary::JSONB_VERSION;
pub use csv::Csv;
pub(crate) use text::{TimestampText, put_decimal, put_int};

/// Takes rows field by field, in the order of the table's columns.
pub trait RowSink {
    /// Starts a row.
    fn start_row(&mut self);
    /// A 16-bit number.
    fn small_int(&mut self, value: i32);
    /// A 32-bit number.
    fn int(&mut self, value: i32);
    /// A 64-bit number.
    fn big_int(&mut self, value: i64);
    /// An exact decimal: `unscaled / 10^scale`, with `scale` from 1 to 8.
    fn decimal(&mut self, unscaled: i64, scale: u8);
    /// Text.
    fn text(&mut self, value: &str);
    /// Text that is known to be ASCII, so that nobody need look for that again.
    fn ascii(&mut self, value: &[u8]) {
        self.text(str::from_utf8(value).unwrap_or_default());
    }
    /// A date and time, in microseconds since the Unix epoch, UTC.
    fn timestamp(&mut self, us: i64);
    /// A universally unique identifier.
    fn uuid(&mut self, value: [u8; 16]) {
        self.ascii(&uuid_text(value));
    }
    /// A JSON document.
    fn json(&mut self, value: &str) {
        self.text(value);
    }
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
pub struct Bulk<'s>(pub(crate) BulkWire<'s>);

/// A table being filled over one of the wires that store data.
#[derive(Debug)]
pub(crate) enum BulkWire<'s> {
    Mysql(mysql::Bulk<'s>),
    Odbc(odbc::Bulk<'s>),
    Postgres(pg::Bulk<'s>),
    Sqlite(sqlite::Bulk<'s>),
}

/// Evaluates an expression on the bulk load inside a [`BulkWire`].
macro_rules! dispatch {
    ($wire:expr, $bulk:ident => $result:expr) => {
        match $wire {
            BulkWire::Mysql($bulk) => $result,
            BulkWire::Odbc($bulk) => $result,
            BulkWire::Postgres($bulk) => $result,
            BulkWire::Sqlite($bulk) => $result,
        }
    };
}

impl Bulk<'_> {
    /// Sends the gathered rows if they are worth a round trip. To be called every few rows.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn flush_if_full(&mut self) -> Result<(), Error> {
        dispatch!(&mut self.0, bulk => bulk.flush_if_full().await)
    }

    /// Sends the rest and closes the table. Returns the rows and bytes sent.
    ///
    /// # Errors
    /// The database's refusal, or another number of rows stored than sent.
    pub async fn finish(self) -> Result<Loaded, Error> {
        dispatch!(self.0, bulk => bulk.finish().await)
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
                dispatch!(&mut self.0, bulk => bulk.$name($($arg),*))
            })*
        }
    };
}
forward!(start_row(), small_int(value: i32), int(value: i32), big_int(value: i64), decimal(unscaled: i64, scale: u8), text(value: &str), ascii(value: &[u8]), timestamp(us: i64), uuid(value: [u8; 16]), json(value: &str), null());
