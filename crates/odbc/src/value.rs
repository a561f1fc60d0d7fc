//! Values read from a result.

use crate::ffi::TimestampStruct;

/// A date and time of day, without a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// The year.
    pub year: i16,
    /// The month, from 1.
    pub month: u16,
    /// The day of the month, from 1.
    pub day: u16,
    /// The hour, from 0.
    pub hour: u16,
    /// The minute.
    pub minute: u16,
    /// The second.
    pub second: u16,
    /// Billionths of a second.
    pub nanosecond: u32,
}

impl From<TimestampStruct> for Timestamp {
    fn from(t: TimestampStruct) -> Self {
        let TimestampStruct { year, month, day, hour, minute, second, fraction } = t;
        Self { year, month, day, hour, minute, second, nanosecond: fraction }
    }
}

impl From<Timestamp> for TimestampStruct {
    fn from(t: Timestamp) -> Self {
        let Timestamp { year, month, day, hour, minute, second, nanosecond } = t;
        Self { year, month, day, hour, minute, second, fraction: nanosecond }
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// An exact decimal, as its digits.
    Decimal(String),
    /// A floating point number.
    Float(f64),
    /// Text; and anything else, as the driver writes it.
    Text(String),
    /// A date with or without a time of day.
    Timestamp(Timestamp),
}
