//! Figures as people read them.

/// A number with commas between its thousands and so many decimals.
#[must_use]
pub fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), ""), |(whole, fraction)| (whole, fraction));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        out.push('-');
    }
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A whole number with commas.
#[must_use]
pub fn count(value: u64) -> String {
    grouped(value as f64, 0)
}

/// A rate: whole above a thousand, else with one decimal.
#[must_use]
pub fn rate(value: f64) -> String {
    grouped(value, usize::from(value < 1000.0))
}

/// A fraction as a percentage.
#[must_use]
pub fn percent(fraction: f64, decimals: usize) -> String {
    format!("{}\u{a0}%", grouped(fraction * 100.0, decimals))
}

/// Milliseconds with the digits that their size deserves; a dash for a time of nothing.
#[must_use]
pub fn ms(count: u64, value: f64) -> String {
    match value {
        _ if count == 0 => "–".into(),
        value if value < 1.0 => grouped(value, 3),
        value if value < 100.0 => grouped(value, 2),
        value if value < 10_000.0 => grouped(value, 1),
        value => grouped(value, 0),
    }
}

/// Bytes in the unit that suits them.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0x4000_0000.. => (0x4000_0000, "GiB"),
        0x10_0000.. => (0x10_0000, "MiB"),
        _ => (0x400, "KiB"),
    };
    format!("{} {name}", grouped(bytes as f64 / f64::from(unit), 1))
}

/// A length of time: `45.3 s`, `5 min`, `1 h 30 min`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        let decimals = usize::from(seconds.fract() > 0.05);
        return format!("{} s", grouped(seconds, decimals));
    }
    let whole = seconds.round() as u64;
    let parts = [(whole / 3600, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")];
    let said: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    said.join(" ")
}

/// A number with its noun: `1 rule`, `2 rules`, `3 retries`.
#[must_use]
pub fn several(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) if !noun.ends_with("ay") => format!("{} {stem}ies", count(number)),
        _ => format!("{} {noun}s", count(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let words = [0.0, 999.4, 1_000.0, 1_234_567.0, -1_234.0, -0.2].map(|value| grouped(value, 0));
        assert_eq!(words, ["0", "999", "1,000", "1,234,567", "-1,234", "0"]);
        assert_eq!(grouped(-1_234.56, 1), "-1,234.6");
    }

    #[test]
    fn times_in_the_units_that_suit_them() {
        assert_eq!(
            [8.0, 45.34, 60.0, 300.0, 5_430.0, 7_200.0].map(duration),
            ["8 s", "45.3 s", "1 min", "5 min", "1 h 30 min 30 s", "2 h"]
        );
        assert_eq!(
            [(0, 3.0), (1, 0.0061), (1, 3.0), (1, 234.56), (1, 12_345.6)].map(|(n, value)| ms(n, value)),
            ["–", "0.006", "3.00", "234.6", "12,346"]
        );
        assert_eq!([40_960, 48 << 20, 24 << 30].map(bytes), ["40.0 KiB", "48.0 MiB", "24.0 GiB"]);
    }
}
