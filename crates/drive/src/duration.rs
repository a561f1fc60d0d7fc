//! Durations, as people type them.

use std::time::Duration;

/// The longest duration: 30 days.
const MAX_DURATION: Duration = Duration::from_secs(30 * 24 * 3600);

/// Reads a duration of whole seconds, zero included: `90s`, `5m`, `1h30m`.
///
/// # Errors
/// One line that says how to write it.
pub fn duration_or_zero(text: &str) -> Result<Duration, String> {
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
