//! What an examination finds, and the settings of a server that are judged.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// A reading may be bent by it.
    Warn,
    /// A run would fail, or a reading would be wrong.
    Bad,
    /// It could not be found out.
    Unknown,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Bad => "BAD",
            Level::Unknown => "?",
        })
    }
}

/// One checked setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub status: Level,
    /// The name of what was checked.
    pub what: String,
    /// What was found.
    pub value: String,
    /// What to do, and why; empty if nothing is to be done.
    pub advice: String,
}

impl Finding {
    /// A finding with which something is to be done.
    pub fn new(status: Level, what: impl Into<String>, value: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { status, what: what.into(), value: value.into(), advice: advice.into() }
    }

    /// A finding that is as it should be.
    pub fn ok(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(Level::Ok, what, value, "")
    }
}

/// A setting of the server that is judged before a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    name: &'static str,
    wanted: Wanted,
    level: Level,
    why: &'static str,
    is_deviation: bool,
    when: Option<(&'static str, &'static str)>,
}

/// What a setting should be.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// One of these.
    OneOf(&'static [&'static str]),
    /// None of these.
    NoneOf(&'static [&'static str]),
    /// At least this number; sizes count in bytes, times in milliseconds.
    AtLeast(u64),
    /// At least the connections of the run, and a few to watch it.
    Connections,
    /// At least the statements that the run keeps prepared, over all its connections.
    PreparedStatements,
    /// At least this percentage of the data's bytes.
    PercentOfData(u64),
}

/// What the run to come needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// Connections of the run.
    pub connections: u64,
    /// Statements that each of them keeps prepared.
    pub statements_per_connection: u64,
    /// Bytes of the data; `None`: not known.
    pub data_bytes: Option<u64>,
}

/// Connections beside the terminals': the run's own, the server's reserve, a person who watches.
const MORE_CONNECTIONS: u64 = 5;

/// Judges the settings of a server by what is wanted of each.
///
/// Settings that this server does not tell of are named in one finding at the end.
pub fn judge(wanted: &[Setting], settings: &BTreeMap<String, String>, needs: &Needs) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut untold = Vec::new();
    for setting in wanted.iter().filter(|setting| setting.applies(settings)) {
        match settings.get(setting.name) {
            Some(value) => findings.push(setting.judge(value, needs)),
            None => untold.push(setting.name),
        }
    }
    if !untold.is_empty() {
        let advice = "this version does not have them, or hides them from this user";
        findings.push(Finding::new(Level::Unknown, "settings not told", untold.join(", "), advice));
    }
    findings
}

/// The settings that make a result deviate from the standard, in words.
pub fn departures(wanted: &[Setting], settings: &BTreeMap<String, String>) -> Vec<String> {
    let departing = wanted.iter().filter(|setting| setting.is_deviation && setting.applies(settings));
    let spoken = |setting: &Setting| {
        let value = settings.get(setting.name)?;
        let held = setting.judge(value, &Needs::default()).status == Level::Ok;
        (!held).then(|| format!("{} = {value}: {}", setting.name, setting.why))
    };
    departing.filter_map(spoken).collect()
}

impl Setting {
    /// A setting by its name, what it should be, how much it matters if it is not, and why (and what to do, where
    /// that does not follow from what it should be).
    pub const fn new(name: &'static str, wanted: Wanted, level: Level, why: &'static str) -> Self {
        Self { name, wanted, level, why, is_deviation: false, when: None }
    }

    /// A result with another value deviates from the standard.
    #[must_use]
    pub const fn is_deviation(self) -> Self {
        Self { is_deviation: true, ..self }
    }

    /// It matters only while another setting has this value.
    #[must_use]
    pub const fn when(self, name: &'static str, value: &'static str) -> Self {
        Self { when: Some((name, value)), ..self }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    fn applies(&self, settings: &BTreeMap<String, String>) -> bool {
        self.when.is_none_or(|(name, value)| settings.get(name).is_some_and(|found| found.eq_ignore_ascii_case(value)))
    }

    fn judge(&self, value: &str, needs: &Needs) -> Finding {
        let is_one_of = |values: &[&str]| values.iter().any(|known| known.eq_ignore_ascii_case(value));
        let at_least = |least: u64| amount(value).map(|amount| amount >= least);
        let needs_at_least = |least: u64| (at_least(least), format!("{value} (this run needs {least})"));
        let (held, value) = match self.wanted {
            Wanted::OneOf(values) => (Some(is_one_of(values)), value.to_owned()),
            Wanted::NoneOf(values) => (Some(!is_one_of(values)), value.to_owned()),
            Wanted::AtLeast(least) => (at_least(least), value.to_owned()),
            Wanted::Connections => needs_at_least(needs.connections + MORE_CONNECTIONS),
            Wanted::PreparedStatements => needs_at_least(needs.connections * needs.statements_per_connection),
            Wanted::PercentOfData(percent) => match needs.data_bytes {
                Some(bytes) => {
                    (at_least(bytes / 100 * percent), format!("{value} (the data have {} MiB)", bytes >> 20))
                }
                None => (None, format!("{value} (the size of the data is not known)")),
            },
        };
        let advice = match self.wanted {
            Wanted::OneOf(values) => format!("set {} = {}: {}", self.name, values[0], self.why),
            _ => self.why.to_owned(),
        };
        match held {
            Some(true) => Finding::ok(self.name, value),
            Some(false) => Finding::new(self.level, self.name, value, advice),
            None => Finding::new(Level::Unknown, self.name, value, advice),
        }
    }
}

/// A number with a unit of size or time, in bytes or milliseconds; negative numbers mean "no limit".
fn amount(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.starts_with('-') {
        return Some(u64::MAX);
    }
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (number, unit) = text.split_at(digits);
    let factor: f64 = match unit.trim() {
        "" | "B" | "ms" => 1.0,
        "kB" | "KiB" => 1024.0,
        "MB" | "MiB" => 1024.0 * 1024.0,
        "GB" | "GiB" => 1024.0 * 1024.0 * 1024.0,
        "TB" | "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "s" => 1000.0,
        "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    Some((number.parse::<f64>().ok()? * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_with_their_units() {
        for (text, wanted) in [("128MB", 128 << 20), ("8kB", 8192), ("1GB", 1 << 30), ("5min", 300_000), ("200", 200)] {
            assert_eq!(amount(text), Some(wanted), "{text}");
        }
        assert_eq!(
            (amount("0.9"), amount("-1"), amount("on"), amount("3 apples")),
            (Some(0), Some(u64::MAX), None, None)
        );
    }

    fn level(wanted: Wanted, value: &str, needs: &Needs) -> Level {
        let finding = Setting::new("s", wanted, Level::Bad, "why").judge(value, needs);
        assert_eq!(finding.advice.is_empty(), finding.status == Level::Ok, "{finding:?}");
        finding.status
    }

    #[test]
    fn settings_are_held_against_what_the_run_needs() {
        let needs = Needs { connections: 95, statements_per_connection: 50, data_bytes: Some(1 << 30) };
        assert_eq!(level(Wanted::OneOf(&["on"]), "ON", &needs), Level::Ok);
        assert_eq!(level(Wanted::OneOf(&["on"]), "off", &needs), Level::Bad);
        assert_eq!(level(Wanted::NoneOf(&["0"]), "0", &needs), Level::Bad);
        assert_eq!(level(Wanted::Connections, "100", &needs), Level::Ok);
        assert_eq!(level(Wanted::Connections, "99", &needs), Level::Bad);
        assert_eq!(level(Wanted::PreparedStatements, "4750", &needs), Level::Ok);
        assert_eq!(level(Wanted::PreparedStatements, "4749", &needs), Level::Bad);
        assert_eq!(level(Wanted::PercentOfData(25), "256MB", &needs), Level::Ok);
        assert_eq!(level(Wanted::PercentOfData(25), "128MB", &needs), Level::Bad);
        assert_eq!(level(Wanted::PercentOfData(25), "128MB", &Needs::default()), Level::Unknown);
        assert_eq!(level(Wanted::AtLeast(10), "many", &needs), Level::Unknown);
    }

    #[test]
    fn what_the_server_does_not_tell_is_named() {
        let wanted = [Setting::new("nosuch", Wanted::AtLeast(1), Level::Bad, "why")];
        let findings = judge(&wanted, &BTreeMap::new(), &Needs::default());
        assert_eq!((findings.len(), findings[0].status, findings[0].value.as_str()), (1, Level::Unknown, "nosuch"));
    }

    #[test]
    fn a_setting_that_does_not_matter_is_not_judged() {
        let settings = |log: &str| BTreeMap::from([("log".into(), log.into()), ("sync".into(), "0".into())]);
        let wanted = [Setting::new("sync", Wanted::OneOf(&["1"]), Level::Warn, "why").is_deviation().when("log", "ON")];
        assert_eq!(departures(&wanted, &settings("ON")), ["sync = 0: why"]);
        assert!(departures(&wanted, &settings("OFF")).is_empty());
        assert!(judge(&wanted, &settings("OFF"), &Needs::default()).is_empty());
    }
}
