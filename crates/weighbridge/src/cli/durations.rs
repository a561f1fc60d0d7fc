//! Parsers of times. The fuzz targets include this file, so it uses no other module.

use std::time::Duration;

/// The longest time that an option takes: 30 days.
const MAX_DURATION: Duration = Duration::from_secs(30 * 24 * 3600);

/// Parses a time of whole seconds.
///
/// # Errors
/// One line that says how to write it.
pub(crate) fn duration_or_zero(text: &str) -> Result<Duration, String> {
    let help = "write a whole number of seconds, minutes or hours, such as 30s, 5m, 1h30m";
    let parsed: jiff::SignedDuration = text.parse().map_err(|_| help.to_owned())?;
    let duration = Duration::try_from(parsed).map_err(|_| help.to_owned())?;
    if duration.subsec_nanos() != 0 {
        return Err(help.to_owned());
    }
    if duration > MAX_DURATION {
        return Err("more than 30 days".to_owned());
    }
    Ok(duration)
}

/// Parses a time of whole seconds, one at least.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match duration_or_zero(text)? {
        Duration::ZERO => Err("must be at least 1s".to_owned()),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_whole_seconds_within_reason() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        for bad in ["0s", "-5s", "1.5s", "five", "", "5", "400d", "99999999999999999999h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert_eq!(duration_or_zero("0s"), Ok(Duration::ZERO));
    }
}
