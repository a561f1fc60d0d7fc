//! Values read from a result.

use std::fmt;
use std::str::FromStr;

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

impl fmt::Display for Timestamp {
    /// ODBC's own form: `yyyy-mm-dd hh:mm:ss`, with millionths of a second if there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, nanosecond } = self;
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")?;
        match nanosecond / 1000 {
            0 => Ok(()),
            microsecond => write!(f, ".{microsecond:06}"),
        }
    }
}

impl FromStr for Timestamp {
    type Err = ();

    /// Reads what `Display` writes, a date alone, and any number of digits behind the second.
    fn from_str(text: &str) -> Result<Self, ()> {
        fn part<T: FromStr>(text: Option<&str>) -> Result<T, ()> {
            let digits = text.filter(|text| text.bytes().all(|b| b.is_ascii_digit())).ok_or(())?;
            digits.parse().map_err(drop)
        }
        let (date, time) = text.trim_end().split_once([' ', 'T']).unwrap_or((text.trim_end(), "00:00:00"));
        let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
        let (mut date, mut time) = (date.split('-'), time.split(':'));
        let nanosecond = part(Some(&format!("{fraction:0<9.9}")))?;
        let timestamp = Self {
            year: part(date.next())?,
            month: part(date.next())?,
            day: part(date.next())?,
            hour: part(time.next())?,
            minute: part(time.next())?,
            second: part(time.next())?,
            nanosecond,
        };
        if date.next().is_some() || time.next().is_some() { Err(()) } else { Ok(timestamp) }
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

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn dates_are_read_in_all_the_forms_that_drivers_write() {
        let at = |text: &str| text.parse::<Timestamp>().map(|t| t.to_string()).ok();
        assert_eq!(at("2026-11-21 23:59:58").as_deref(), Some("2026-11-21 23:59:58"));
        assert_eq!(at("2026-11-21 23:59:58.5").as_deref(), Some("2026-11-21 23:59:58.500000"));
        assert_eq!(at("2026-11-21T23:59:58.123456789").as_deref(), Some("2026-11-21 23:59:58.123456"));
        assert_eq!(at("0001-01-01").as_deref(), Some("0001-01-01 00:00:00"));
        for bad in ["", "yesterday", "2026-11", "2026-11-21 23:59", "2026-11-21 23:59:58+01", "2026-11-21-01"] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }
}
