//! Parsers of values that several commands take.

use std::fmt::Display;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, RangedI64ValueParser, TypedValueParser};

/// The most warehouses that a load or a run can have.
const MAX_WAREHOUSES: i64 = 10_000_000;

/// Parses a number of warehouses.
pub(crate) fn warehouse_count<N>() -> RangedI64ValueParser<N>
where
    N: TryFrom<i64, Error: Display + Send + Sync> + Clone + Send + Sync + 'static,
{
    RangedI64ValueParser::new().range(1..=MAX_WAREHOUSES)
}

/// Parses one of several names, which help, completions and errors then list.
pub(crate) fn named<T: Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = (T, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    let names: Vec<(T, &str)> = names.into_iter().collect();
    let value = |(value, _): &(T, &str)| value.clone();
    PossibleValuesParser::new(names.iter().map(|(_, name)| *name))
        .try_map(move |given| names.iter().find(|(_, name)| *name == given).map(value).ok_or("unknown value"))
}

/// Parses a time above zero, which may be a fraction of a second.
pub(crate) fn response(text: &str) -> Result<Duration, String> {
    let parsed: Option<jiff::SignedDuration> = text.parse().ok();
    let time = parsed.and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "write a time above 0, such as 250ms or 1.2s".to_owned())
}

/// Parses a name that can stand in a locality of any database.
pub(crate) fn region(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || !text.chars().all(fits) {
        return Err("use letters, digits, - and _, and commas between names".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_a_plain_name() {
        assert_eq!(region("eu-west_1"), Ok("eu-west_1".to_owned()));
        for bad in ["", "a b", "a.b", "a=b", "ü"] {
            assert!(region(bad).is_err(), "{bad}");
        }
    }
}
