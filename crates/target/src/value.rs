//! Values that travel to and from a database.

use std::fmt;

/// An exact decimal: `unscaled / 10^scale`. Money has scale 2, tax rates and discounts scale 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The digits as an integer.
    pub unscaled: i64,
    /// How many of them stand behind the point.
    pub scale: u8,
}

impl Decimal {
    /// An amount of money in cents.
    pub fn cents(cents: i64) -> Self {
        Self { unscaled: cents, scale: 2 }
    }

    /// Reads decimal digits with or without a point; `None` for anything else, or for too many digits.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let unscaled = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { unscaled, scale: u8::try_from(fraction.len()).ok()? })
    }

    /// The digits at another scale; `None` if a digit would be lost or the number is too large.
    pub fn at_scale(self, scale: u8) -> Option<i64> {
        if scale >= self.scale {
            self.unscaled.checked_mul(10_i64.checked_pow(u32::from(scale - self.scale))?)
        } else {
            let divisor = 10_i64.checked_pow(u32::from(self.scale - scale))?;
            (self.unscaled % divisor == 0).then(|| self.unscaled / divisor)
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scale == 0 {
            return write!(f, "{}", self.unscaled);
        }
        let unit = 10_u64.pow(u32::from(self.scale));
        let digits = self.unscaled.unsigned_abs();
        let sign = if self.unscaled < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:0width$}", digits / unit, digits % unit, width = usize::from(self.scale))
    }
}

/// A bound parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// Any whole number.
    Int(i64),
    /// An exact decimal.
    Decimal(Decimal),
    /// Text.
    Text(&'a str),
    /// Microseconds since the Unix epoch, UTC.
    Timestamp(i64),
}

impl Value<'_> {
    /// The same value, owning its text.
    pub fn to_owned(&self) -> OwnedValue {
        match *self {
            Value::Null => OwnedValue::Null,
            Value::Int(v) => OwnedValue::Int(v),
            Value::Decimal(v) => OwnedValue::Decimal(v),
            Value::Text(v) => OwnedValue::Text(v.to_owned()),
            Value::Timestamp(v) => OwnedValue::Timestamp(v),
        }
    }
}

impl From<i32> for Value<'_> {
    fn from(v: i32) -> Self {
        Value::Int(i64::from(v))
    }
}

impl From<i64> for Value<'_> {
    fn from(v: i64) -> Self {
        Value::Int(v)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(v: &'a str) -> Self {
        Value::Text(v)
    }
}

impl From<Decimal> for Value<'_> {
    fn from(v: Decimal) -> Self {
        Value::Decimal(v)
    }
}

/// A value read from a database.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
    /// SQL NULL.
    Null,
    /// Any whole number.
    Int(i64),
    /// An exact decimal.
    Decimal(Decimal),
    /// A floating point number; no TPC-C column is one, an expression of the user's may be.
    Float(f64),
    /// Text.
    Text(String),
    /// Microseconds since the Unix epoch, UTC.
    Timestamp(i64),
}

impl OwnedValue {
    /// The same value as a parameter. One that no parameter can be, a floating point number, is NULL: it is to be text.
    #[must_use]
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            OwnedValue::Null | OwnedValue::Float(_) => Value::Null,
            OwnedValue::Int(v) => Value::Int(*v),
            OwnedValue::Decimal(v) => Value::Decimal(*v),
            OwnedValue::Text(v) => Value::Text(v),
            OwnedValue::Timestamp(v) => Value::Timestamp(*v),
        }
    }
}

impl fmt::Display for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OwnedValue::Null => f.write_str("NULL"),
            OwnedValue::Int(v) => write!(f, "{v}"),
            OwnedValue::Decimal(v) => write!(f, "{v}"),
            OwnedValue::Float(v) => write!(f, "{v}"),
            OwnedValue::Text(v) => f.write_str(v),
            OwnedValue::Timestamp(v) => write!(f, "{}", timestamp_text(*v)),
        }
    }
}

/// `YYYY-MM-DD HH:MM:SS[.ffffff]` in UTC: what SQLite stores, CSV files carry and people read.
pub(crate) fn timestamp_text(us: i64) -> String {
    match jiff::Timestamp::from_microsecond(us) {
        Ok(t) => {
            let t = t.to_zoned(jiff::tz::TimeZone::UTC).datetime();
            let whole = t.strftime("%Y-%m-%d %H:%M:%S");
            match us.rem_euclid(1_000_000) {
                0 => whole.to_string(),
                fraction => format!("{whole}.{fraction:06}"),
            }
        }
        Err(_) => format!("{us} us"),
    }
}

/// Reads what [`timestamp_text`] writes.
pub(crate) fn timestamp_from_text(text: &str) -> Option<i64> {
    let datetime: jiff::civil::DateTime = text.parse().ok()?;
    Some(datetime.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

/// A universally unique identifier as people write it: `8-4-4-4-12` hexadecimal digits.
pub(crate) fn uuid_text(uuid: [u8; 16]) -> [u8; 36] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let mut at = 0;
    for byte in uuid {
        if matches!(at, 8 | 13 | 18 | 23) {
            at += 1;
        }
        text[at] = DIGITS[usize::from(byte >> 4)];
        text[at + 1] = DIGITS[usize::from(byte & 15)];
        at += 2;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_every_digit_and_the_sign() {
        let parsed = |text| Decimal::from_text(text).map(|d| (d.unscaled, d.scale));
        assert_eq!(parsed("-0.05"), Some((-5, 2)));
        assert_eq!(parsed("300000.00"), Some((30_000_000, 2)));
        assert_eq!(parsed("7"), Some((7, 0)));
        assert_eq!(parsed("1e3"), None);
        assert_eq!(parsed("99999999999999999999"), None);
    }

    #[test]
    fn decimals_print_every_digit_and_the_sign() {
        let text = |unscaled, scale| Decimal { unscaled, scale }.to_string();
        assert_eq!(text(-1000, 2), "-10.00");
        assert_eq!(text(5, 2), "0.05");
        assert_eq!(text(-5, 4), "-0.0005");
        assert_eq!(text(30_000_000, 2), "300000.00");
        assert_eq!(text(7, 0), "7");
    }

    #[test]
    fn rescaling_never_loses_a_digit() {
        assert_eq!(Decimal { unscaled: 10, scale: 0 }.at_scale(2), Some(1000));
        assert_eq!(Decimal { unscaled: 1230, scale: 3 }.at_scale(2), Some(123));
        assert_eq!(Decimal { unscaled: 1231, scale: 3 }.at_scale(2), None);
        assert_eq!(Decimal { unscaled: i64::MAX, scale: 0 }.at_scale(2), None);
    }

    #[test]
    fn an_identifier_is_written_in_five_groups() {
        let uuid = [0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x42, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0x0f];
        assert_eq!(&uuid_text(uuid), b"123e4567-e89b-42d3-a456-42661417400f");
    }

    #[test]
    fn timestamps_survive_the_way_through_text() {
        for us in [0, 1_790_000_000_000_000, 1_790_000_000_123_456, -1_000_000] {
            assert_eq!(timestamp_from_text(&timestamp_text(us)), Some(us));
        }
        assert_eq!(timestamp_text(0), "1970-01-01 00:00:00");
        assert_eq!(timestamp_from_text("yesterday"), None);
    }
}
