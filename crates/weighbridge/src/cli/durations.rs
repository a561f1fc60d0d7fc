//! Parsers of durations.

use std::time::Duration;

pub(crate) use drive::duration_or_zero;

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
