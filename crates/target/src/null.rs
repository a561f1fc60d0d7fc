//! The null target: it stores no data and answers every statement at once or after a delay, to measure the tool alone.

use std::fmt;
use std::time::Duration;

use crate::ddl::Ddl;
use crate::dialect::{Dialect, Isolation, Verified};
use crate::introspection::Introspection;
use crate::placement::DataPlacement;
use crate::topology::TopologyQuery;
use crate::wire::WireKind;
use crate::{RoutineLanguage, UrlError};

/// The null target's dialect: statements stay as they are.
#[derive(Debug)]
pub struct Null;

/// The answer to `SELECT version()`.
pub(crate) const VERSION: &str = "null target";

impl Dialect for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn wire(&self) -> WireKind {
        WireKind::Null
    }

    fn verified(&self) -> Verified {
        Verified::RealServer("its answers are made by this program")
    }

    fn default_port(&self) -> u16 {
        0
    }

    fn stores_data(&self) -> bool {
        false
    }

    fn isolations(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable]
    }

    fn default_isolation(&self) -> Isolation {
        Isolation::RepeatableRead
    }

    fn passes_clause_3_4(&self, level: Isolation) -> bool {
        level != Isolation::ReadCommitted
    }
}

impl Ddl for Null {
    fn primary_key_after_load(&self) -> bool {
        false
    }

    fn transactional_ddl(&self) -> bool {
        false
    }

    fn routines(&self) -> Option<RoutineLanguage> {
        Some(RoutineLanguage::PlPgSql)
    }

    fn has_statistics(&self) -> bool {
        false
    }

    fn analyze(&self, _table: &str) -> String {
        String::new()
    }
}

impl DataPlacement for Null {}

impl Introspection for Null {
    fn recognises(&self, version: &str) -> bool {
        version == VERSION
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        &[TopologyQuery::Unsupported("the null target keeps no data: nothing lies anywhere")]
    }
}

/// How long a round trip takes: anything from `latency - spread` to `latency + spread`, each as likely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// The mean.
    pub latency: Duration,
    /// At most this much less or more.
    pub spread: Duration,
}

impl Delay {
    /// A delay whose spread is no greater than its latency.
    ///
    /// # Errors
    /// If it is greater.
    pub fn new(latency: Duration, spread: Duration) -> Result<Self, DelayError> {
        if spread > latency {
            return Err(DelayError::SpreadAboveLatency);
        }
        Ok(Self { latency, spread })
    }

    /// The delay of one round trip, for a random number from 0 to 1.
    pub fn at(&self, fraction: f64) -> Duration {
        self.latency - self.spread + self.spread.mul_f64(2.0 * fraction)
    }
}

/// A random number from 0 to 1. `rng` is the generator's state, which must not be 0.
pub fn fraction(rng: &mut u64) -> f64 {
    // xorshift64: any spread will do.
    *rng ^= *rng << 13;
    *rng ^= *rng >> 7;
    *rng ^= *rng << 17;
    (*rng >> 11) as f64 / (1_u64 << 53) as f64
}

/// A delay that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DelayError {
    /// The text is not a delay, or a delay beyond the limit.
    #[error("`{0}` is no delay: write for example 5ms or 250us, at most 1h")]
    Unreadable(String),
    /// An answer would come before its question.
    #[error("the spread is greater than the latency: an answer can't come before its question")]
    SpreadAboveLatency,
}

impl From<DelayError> for UrlError {
    fn from(e: DelayError) -> Self {
        e.to_string().into()
    }
}

/// As in a URL: nothing, or `?latency=5ms&spread=1ms`.
impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.latency.is_zero() {
            write!(f, "?latency={:?}", self.latency)?;
        }
        if !self.spread.is_zero() {
            write!(f, "&spread={:?}", self.spread)?;
        }
        Ok(())
    }
}

/// The longest delay that can be asked for.
const MAX_DELAY: Duration = Duration::from_secs(3600);

/// Reads a delay such as `5ms` or `250us`.
///
/// # Errors
/// One line that says how to write it.
pub fn parse_delay(text: &str) -> Result<Duration, DelayError> {
    let delay: Option<jiff::SignedDuration> = text.parse().ok();
    let delay = delay.and_then(|delay| Duration::try_from(delay).ok()).filter(|delay| *delay <= MAX_DELAY);
    delay.ok_or_else(|| DelayError::Unreadable(text.to_owned()))
}

/// Reads what follows `null:`.
pub(crate) fn parse(rest: &str) -> Result<Delay, UrlError> {
    let parameters = match rest.trim_start_matches('/') {
        "" => return Ok(Delay::default()),
        rest => rest.strip_prefix('?'),
    };
    let help = "the null URL is null: or null:?latency=5ms&spread=1ms";
    let mut latency = Duration::ZERO;
    let mut spread = Duration::ZERO;
    for parameter in parameters.ok_or(help)?.split('&') {
        match parameter.split_once('=') {
            Some(("latency", text)) => latency = parse_delay(text)?,
            Some(("spread", text)) => spread = parse_delay(text)?,
            _ => return Err(help.into()),
        }
    }
    Ok(Delay::new(latency, spread)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Url;

    #[test]
    fn the_url_may_name_a_delay_and_its_spread() {
        for (text, shown) in [
            ("null:", "null:"),
            ("null://", "null:"),
            ("null:?latency=5ms", "null:?latency=5ms"),
            ("null:?spread=250us&latency=1s", "null:?latency=1s&spread=250µs"),
        ] {
            assert_eq!(Url::parse(text).unwrap().to_string(), shown);
        }
        for bad in
            ["null:nosuch", "null:?latency", "null:?latency=5", "null:?latency=2h", "null:?spread=1ms", "null:?a=b"]
        {
            let message = Url::parse(bad).unwrap_err().to_string();
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }

    #[test]
    fn delays_lie_within_their_spread() {
        let ms = Duration::from_millis;
        let delay = Delay::new(ms(5), ms(1)).unwrap();
        assert_eq!([0.0, 0.5, 1.0].map(|fraction| delay.at(fraction)), [ms(4), ms(5), ms(6)]);
        assert!(Delay::default().at(0.7).is_zero());
    }
}
