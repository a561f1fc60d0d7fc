//! Where parameters take their values: generators, rows of a query, rows of a CSV file.

use std::collections::BTreeMap;
use std::fmt;

use target::{Answer, Decimal, Error, OwnedValue};
use tpcc::rng::Stream;

/// Makes values of one parameter, as `uniform(1, 100)` is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Generator {
    /// `uniform(low, high)`: a whole number, both ends included, each as likely.
    Uniform(i64, i64),
    /// `nurand(a, low, high)`: the non-uniform draw of clause 2.1.6, with C = 0.
    Nurand(i64, i64, i64),
    /// `zipf(n, exponent)`: a whole number from 1 to n, number k with a weight of 1/k^exponent.
    Zipf(i64, f64),
    /// `sequence(first)`: each number once, from `first` on.
    Sequence(i64),
    /// `uuid()`: a random UUID, as text.
    Uuid,
    /// `text(least, most)`: so many random letters and digits.
    Text(usize, usize),
    /// `decimal(low, high)`: an exact decimal of as many digits behind the point as `high` has.
    Decimal(Decimal, Decimal),
    /// `choice(a, b, ...)`: one of these texts, each as likely.
    Choice(Vec<String>),
    /// `now(seconds)`: the time of the draw plus so many seconds.
    Now(i64),
    /// `timestamp(first, last)`: a time between two, to the second, in microseconds since the Unix epoch.
    Timestamp(i64, i64),
}

/// The largest whole number, so that sums of a few stay numbers.
const MOST: i64 = 1_000_000_000_000_000_000;

/// Seconds of a hundred years.
const CENTURY_S: i64 = 3_155_760_000;

impl Generator {
    /// Reads a generator as it is written.
    ///
    /// # Errors
    /// What is wrong with it, in a line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |why: &str| format!("`{text}` is no generator: {why}");
        let known = "use uniform(1, 100), nurand(255, 1, 3000), zipf(1000, 0.99), sequence(1), uuid(), text(5, 10), \
            decimal(1.00, 99.99), choice(a, b), now(0) or timestamp(2026-01-01, 2026-12-31)";
        let (name, rest) = text.trim().split_once('(').ok_or_else(|| bad(known))?;
        let inside = rest.strip_suffix(')').ok_or_else(|| bad("its closing parenthesis is missing"))?;
        let parts = parts(inside).map_err(bad)?;
        let whole = |at: usize| {
            let part = parts.get(at).copied().unwrap_or("");
            let number = part.parse::<i64>().ok().filter(|number| (-MOST..=MOST).contains(number));
            number.ok_or_else(|| bad(&format!("`{part}` is no whole number, or one beyond {MOST}")))
        };
        let counted = |wanted: usize| match parts.len() == wanted {
            true => Ok(()),
            false => Err(bad(&format!("{name} takes {wanted} values, not {}", parts.len()))),
        };
        let ordered =
            |low: i64, high: i64| if low <= high { Ok(()) } else { Err(bad("its first end is the higher one")) };
        match name.trim() {
            "uniform" => {
                counted(2)?;
                ordered(whole(0)?, whole(1)?)?;
                Ok(Generator::Uniform(whole(0)?, whole(1)?))
            }
            "nurand" => {
                counted(3)?;
                ordered(whole(1)?, whole(2)?)?;
                ordered(0, whole(0)?)?;
                Ok(Generator::Nurand(whole(0)?, whole(1)?, whole(2)?))
            }
            "zipf" => {
                counted(2)?;
                let exponent: f64 = parts[1].parse().map_err(|_| bad("its exponent is no number"))?;
                if !(1..=1_000_000_000).contains(&whole(0)?) || !(0.0..=10.0).contains(&exponent) {
                    return Err(bad("it takes 1 to 1000000000 numbers and an exponent from 0 to 10"));
                }
                Ok(Generator::Zipf(whole(0)?, exponent))
            }
            "sequence" => counted(1).and_then(|()| Ok(Generator::Sequence(whole(0)?))),
            "uuid" => counted(0).map(|()| Generator::Uuid),
            "text" => {
                counted(2)?;
                ordered(whole(0)?, whole(1)?)?;
                let length = |at| {
                    whole(at).and_then(|n| match usize::try_from(n) {
                        Ok(n) if n <= 1_000_000 => Ok(n),
                        _ => Err(bad("a length is from 0 to 1000000")),
                    })
                };
                Ok(Generator::Text(length(0)?, length(1)?))
            }
            "decimal" => {
                counted(2)?;
                let read = |at: usize| decimal(parts[at]).ok_or_else(|| bad(&format!("`{}` is no decimal", parts[at])));
                let (low, high) = (read(0)?, read(1)?);
                let low =
                    low.at_scale(high.scale).ok_or_else(|| bad("its low end has more digits than its high end"))?;
                ordered(low, high.unscaled)?;
                Ok(Generator::Decimal(Decimal { unscaled: low, scale: high.scale }, high))
            }
            "choice" if !parts.is_empty() => {
                let texts = parts.iter().map(|part| unquoted(part)).collect::<Option<_>>();
                texts.map(Generator::Choice).ok_or_else(|| bad("a quote stands inside a text: write 'it''s'"))
            }
            "now" if whole(0).is_ok_and(|seconds| seconds.abs() > CENTURY_S) => Err(bad("that is more than a century")),
            "now" => counted(1).and_then(|()| Ok(Generator::Now(whole(0)?))),
            "timestamp" => {
                counted(2)?;
                let read = |at: usize| time(parts[at]).ok_or_else(|| bad(&format!("`{}` is no time", parts[at])));
                let (first, last) = (read(0)?, read(1)?);
                ordered(first, last).map(|()| Generator::Timestamp(first, last))
            }
            _ => Err(bad(known)),
        }
    }

    /// The next value; `drawn` counts those before it.
    pub(crate) fn draw(&self, rng: &mut Stream, drawn: &mut i64) -> OwnedValue {
        match self {
            Generator::Uniform(low, high) => OwnedValue::Int(rng.uniform(*low, *high)),
            Generator::Nurand(a, low, high) => {
                let (one, other) = (rng.uniform(0, *a), rng.uniform(*low, *high));
                OwnedValue::Int((one | other).rem_euclid(high - low + 1) + low)
            }
            Generator::Zipf(n, exponent) => OwnedValue::Int(zipf(rng, *n, *exponent)),
            Generator::Sequence(first) => {
                *drawn += 1;
                OwnedValue::Int(first + *drawn - 1)
            }
            Generator::Uuid => {
                let mut hex = || rng.uniform(0, 0xffff);
                let words: Vec<i64> = (0..8).map(|_| hex()).collect();
                OwnedValue::Text(format!(
                    "{:04x}{:04x}-{:04x}-4{:03x}-{:04x}-{:04x}{:04x}{:04x}",
                    words[0],
                    words[1],
                    words[2],
                    words[3] & 0xfff,
                    words[4] & 0x3fff | 0x8000,
                    words[5],
                    words[6],
                    words[7]
                ))
            }
            Generator::Text(least, most) => {
                let length = rng.uniform(*least as i64, *most as i64) as usize;
                let mut text = vec![0; length];
                rng.fill_alphanumeric(&mut text);
                OwnedValue::Text(String::from_utf8_lossy(&text).into_owned())
            }
            Generator::Decimal(low, high) => {
                OwnedValue::Decimal(Decimal { unscaled: rng.uniform(low.unscaled, high.unscaled), scale: high.scale })
            }
            Generator::Choice(texts) => {
                let at = rng.uniform(0, texts.len() as i64 - 1) as usize;
                OwnedValue::Text(texts[at].clone())
            }
            Generator::Now(seconds) => {
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                OwnedValue::Timestamp(now.as_micros() as i64 + seconds * 1_000_000)
            }
            Generator::Timestamp(first, last) => {
                OwnedValue::Timestamp(rng.uniform(first / 1_000_000, last / 1_000_000) * 1_000_000)
            }
        }
    }
}

/// What stands between commas that are in no quotes.
fn parts(inside: &str) -> Result<Vec<&str>, &'static str> {
    if inside.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut quoted = false;
    let at_comma = |c: char| {
        quoted ^= c == '\'';
        c == ',' && !quoted
    };
    let parts: Vec<&str> = inside.split(at_comma).map(str::trim).collect();
    if quoted {
        return Err("a quote is not closed");
    }
    match parts.iter().any(|part| part.is_empty()) {
        true => Err("a value between its commas is missing"),
        false => Ok(parts),
    }
}

/// A text with or without quotes around it; two quotes inside them stand for one.
fn unquoted(part: &str) -> Option<String> {
    let Some(inside) = part.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) else {
        return (!part.contains('\'')).then(|| part.to_owned());
    };
    let pieces: Vec<&str> = inside.split("''").collect();
    let clean = pieces.iter().all(|piece| !piece.contains('\''));
    clean.then(|| pieces.join("'"))
}

/// Rejection-inversion sampling (Hörmann and Derflinger 1996): no table, whatever n.
fn zipf(rng: &mut Stream, n: i64, s: f64) -> i64 {
    let h = |x: f64| if (s - 1.0).abs() < 1e-9 { x.ln() } else { (x.powf(1.0 - s) - 1.0) / (1.0 - s) };
    let inverse = |y: f64| {
        if (s - 1.0).abs() < 1e-9 {
            y.exp()
        } else {
            (1.0 + y * (1.0 - s)).max(f64::MIN_POSITIVE).powf(1.0 / (1.0 - s))
        }
    };
    let (low, high) = (h(1.5) - 1.0, h(n as f64 + 0.5));
    loop {
        let y = low + rng.unit() * (high - low);
        let x = inverse(y);
        let k = x.round().clamp(1.0, n as f64);
        if y >= h(k + 0.5) - k.powf(-s) {
            return k as i64;
        }
    }
}

/// A date, or a date and time, in UTC.
fn time(text: &str) -> Option<i64> {
    let datetime: jiff::civil::DateTime = text.parse().ok()?;
    Some(datetime.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

fn decimal(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let unscaled = format!("{whole}{fraction}").parse().ok()?;
    Some(Decimal { unscaled, scale: u8::try_from(fraction.len()).ok().filter(|scale| *scale <= 8)? })
}

/// Rows from which parameters are taken together: those of a query, or of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<OwnedValue>>,
    /// Whether they are taken in their order, again and again; else any of them each time.
    pub in_order: bool,
}

impl Rows {
    /// An answer's rows, for parameters to take their values from.
    ///
    /// # Errors
    /// A column that can't be read.
    pub fn of(answer: &Answer) -> Result<Self, Error> {
        let columns = answer.get(0).map(|row| row.columns()).unwrap_or_default();
        let cells = |row: target::Row<'_>| {
            (0..columns.len()).map(|at| Ok(parameter(row.value(at)?.into_owned()))).collect::<Result<Vec<_>, Error>>()
        };
        let rows = answer.rows().map(cells).collect::<Result<_, Error>>()?;
        Ok(Self { columns, rows, in_order: false })
    }
}

/// A value as a parameter: no parameter is a floating point number.
pub(crate) fn parameter(value: OwnedValue) -> OwnedValue {
    match value {
        OwnedValue::Float(number) => OwnedValue::Text(number.to_string()),
        value => value,
    }
}

/// Behind a parameter's name, before a number: a copy of the parameter that takes a value of its own, and of a pool a row
/// of its own.
pub const COPY: &str = "__";

/// A parameter's name without the number of its copy, and that number.
fn without_copy(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once(COPY) {
        Some((plain, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
            (plain, Some(number))
        }
        _ => (name, None),
    }
}

/// What a parameter takes its value from.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    Generator(usize),
    /// A column of the rows of this number.
    Column(usize, usize),
}

/// A parameter that nothing gives a value.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub struct Unknown(String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nothing gives the parameter `{}` a value", self.0)
    }
}

/// Draws values for parameters by their names.
#[derive(Clone, Debug)]
pub struct Values {
    rng: Stream,
    generators: Vec<(Generator, i64)>,
    rows: Vec<(Rows, usize)>,
    sources: BTreeMap<String, Source>,
}

impl Values {
    /// Nothing yet; the same seed draws the same values.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let rng = Stream::for_terminal(seed, 0);
        Self { rng, generators: Vec::new(), rows: Vec::new(), sources: BTreeMap::new() }
    }

    /// Has a parameter take its values from a generator.
    pub fn generate(&mut self, parameter: &str, generator: Generator) {
        self.sources.insert(parameter.to_owned(), Source::Generator(self.generators.len()));
        self.generators.push((generator, 0));
    }

    /// Has parameters named as the columns of `rows` (`pool.column` with the name of a pool) take theirs from there, all
    /// of a statement from the same row.
    pub fn take_from(&mut self, pool: Option<&str>, rows: Rows) {
        for (at, column) in rows.columns.iter().enumerate() {
            let name = pool.map_or_else(|| column.clone(), |pool| format!("{pool}.{column}"));
            self.sources.insert(name, Source::Column(self.rows.len(), at));
        }
        self.rows.push((rows, 0));
    }

    /// Other values from now on than those of the same seed elsewhere: for one of several sessions.
    #[must_use]
    pub fn for_session(&self, seed: u64, session: u64) -> Self {
        let mut other = self.clone();
        other.rng = Stream::for_terminal(seed, session);
        // Far apart, so that no two sessions make the same number of a sequence.
        other.generators.iter_mut().for_each(|(_, drawn)| *drawn += session as i64 * 1_000_000_000);
        other
    }

    /// Draws the values of a statement, in the order of `names`.
    ///
    /// # Errors
    /// The first parameter that nothing gives a value.
    pub fn draw(&mut self, names: &[String]) -> Result<Vec<OwnedValue>, Unknown> {
        let Self { rng, generators, rows, sources } = self;
        let mut taken: BTreeMap<(usize, Option<&str>), usize> = BTreeMap::new();
        let mut values = Vec::with_capacity(names.len());
        for name in names {
            let (plain, copy) = without_copy(name);
            let value = match sources.get(plain).ok_or_else(|| Unknown(plain.to_owned()))? {
                Source::Generator(at) => {
                    let (generator, drawn) = &mut generators[*at];
                    generator.draw(rng, drawn)
                }
                Source::Column(of, column) => {
                    let (pool, next) = &mut rows[*of];
                    if pool.rows.is_empty() {
                        return Err(Unknown(format!("{name} (there are no rows to take it from)")));
                    }
                    let row = *taken.entry((*of, copy)).or_insert_with(|| {
                        if !pool.in_order {
                            return rng.uniform(0, pool.rows.len() as i64 - 1) as usize;
                        }
                        let row = *next % pool.rows.len();
                        *next += 1;
                        row
                    });
                    pool.rows[row].get(*column).cloned().unwrap_or(OwnedValue::Null)
                }
            };
            values.push(value);
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn generators_read_as_they_are_written() {
        assert_eq!(Generator::parse("uniform(1, 10)"), Ok(Generator::Uniform(1, 10)));
        assert_eq!(Generator::parse(" uuid() "), Ok(Generator::Uuid));
        let low = Decimal { unscaled: 100, scale: 2 };
        assert_eq!(
            Generator::parse("decimal(1, 9.99)"),
            Ok(Generator::Decimal(low, Decimal { unscaled: 999, scale: 2 }))
        );
        assert_eq!(Generator::parse("choice(a, 'b')"), Ok(Generator::Choice(names(&["a", "b"]))));
        let choices = Generator::parse("choice('New York, NY', x, '', 'O''Hara')");
        assert_eq!(choices, Ok(Generator::Choice(names(&["New York, NY", "x", "", "O'Hara"]))));
        for bad in ["", "uniform", "uniform(1", "uniform(2, 1)", "uniform(1)", "zipf(0, 1)", "normal(1, 2)", "choice()"]
        {
            assert!(Generator::parse(bad).is_err(), "{bad}");
        }
        for (bad, why) in [
            ("choice('New York, NY, x)", "a quote is not closed"),
            ("choice(it's, x)", "a quote is not closed"),
            ("choice('a'b', 'c)", "a quote stands inside"),
            ("choice(a'b'c)", "a quote stands inside"),
            ("choice(a, )", "is missing"),
            ("uniform(1,,9)", "is missing"),
        ] {
            let refused = Generator::parse(bad).unwrap_err();
            assert!(refused.contains(why), "{bad}: {refused}");
        }
    }

    #[test]
    fn draws_stay_in_their_range_and_the_seed_repeats_them() {
        let written =
            ["uniform(5, 7)", "nurand(7, 1, 20)", "zipf(50, 1.0)", "sequence(3)", "text(2, 4)", "decimal(0.50, 0.70)"];
        let drawn = |seed| {
            let mut values = Values::new(seed);
            written.iter().for_each(|text| values.generate(text, Generator::parse(text).unwrap()));
            (0..500).map(|_| values.draw(&names(&written)).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        for (at, row) in drawn(3).iter().enumerate() {
            let within =
                |value: &OwnedValue, low, high| matches!(value, OwnedValue::Int(v) if (low..=high).contains(v));
            assert!(within(&row[0], 5, 7) && within(&row[1], 1, 20) && within(&row[2], 1, 50), "{row:?}");
            assert_eq!(row[3], OwnedValue::Int(3 + at as i64));
            assert!(matches!(&row[4], OwnedValue::Text(text) if (2..=4).contains(&text.len())), "{row:?}");
            assert!(matches!(row[5], OwnedValue::Decimal(d) if (50..=70).contains(&d.unscaled)), "{row:?}");
        }
    }

    #[test]
    fn zipf_has_the_weights_that_its_name_says() {
        for exponent in [0.5, 1.0, 1.5] {
            let mut rng = Stream::for_terminal(1, 1);
            let draws = 200_000;
            let mut counts = [0_f64; 10];
            for _ in 0..draws {
                counts[zipf(&mut rng, 10, exponent) as usize - 1] += 1.0;
            }
            let total: f64 = (1..=10).map(|k| f64::from(k).powf(-exponent)).sum();
            for (at, count) in counts.iter().enumerate() {
                let expected = (at as f64 + 1.0).powf(-exponent) / total * f64::from(draws);
                let error = (count - expected).abs() / expected.sqrt();
                assert!(error < 5.0, "{exponent}: number {} came {count} times, not {expected:.0}", at + 1);
            }
        }
    }

    #[test]
    fn parameters_of_one_pool_come_from_one_row() {
        let row = |n: i64| vec![OwnedValue::Int(n), OwnedValue::Int(-n)];
        let rows = |in_order| Rows { columns: names(&["a", "b"]), rows: (1..=5).map(row).collect(), in_order };
        let mut values = Values::new(1);
        values.take_from(Some("p"), rows(false));
        values.take_from(None, rows(true));
        for n in 0..20 {
            let drawn = values.draw(&names(&["p.a", "p.b", "a", "b"])).unwrap();
            let int = |at: usize| if let OwnedValue::Int(v) = drawn[at] { v } else { 0 };
            assert_eq!((int(0), int(2), int(3)), (-int(1), n % 5 + 1, -(n % 5 + 1)));
        }
        assert_eq!(values.draw(&names(&["c"])).unwrap_err().to_string(), "nothing gives the parameter `c` a value");
    }
}
