//! `latency.hlog`: every histogram of every second, as an HdrHistogram interval log.
//!
//! The file is in the common log format (version 1.3, V2 compressed histograms), so other HdrHistogram
//! tools read it. Values are microseconds; the interval maximum of each line is in milliseconds.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriter, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use hdrhistogram::{Counter, Histogram as Hdr};
use jiff::Timestamp;

use crate::error::RecordError;
use crate::gateway;
use crate::histogram::{DIGITS, Histogram, MAX_US, Stats};
use crate::plan::Plan;
use crate::recorder::{Clock, Phase, Recorder};

/// Microseconds in the millisecond that the interval maximum is shown in.
const MAX_VALUE_DIVISOR: f64 = 1000.0;

/// The column legend that log readers expect.
const LEGEND: &str = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// The tag of a transaction's histogram: `new_order.response`, `outside.new_order.response`.
#[must_use]
pub fn tag(transaction: &str, phase: Phase, clock: Clock) -> String {
    format!("{}{transaction}.{}", prefix(phase), clock.name())
}

/// The tag of the histogram of the tool's own lag: `lag`, `outside.lag`.
#[must_use]
pub fn lag_tag(phase: Phase) -> String {
    format!("{}lag", prefix(phase))
}

/// The tag of the headline transaction's histogram at gateway `number` (from 1): `gateway_1.new_order.response`.
#[must_use]
pub fn gateway_tag(number: usize, headline: &str, phase: Phase, clock: Clock) -> String {
    format!("{}gateway_{number}.{headline}.{}", prefix(phase), clock.name())
}

/// The tag of a part of a transaction's time: `new_order.statement.new_order.district`, `new_order.statement.COMMIT`.
#[must_use]
pub fn statement_tag(transaction: &str, part: &str) -> String {
    format!("{transaction}.statement.{part}")
}

fn prefix(phase: Phase) -> &'static str {
    match phase {
        Phase::Measured => "",
        Phase::Outside => "outside.",
    }
}

/// Calls `visit` with the tag of every histogram of `recorder` that holds something.
fn visit(recorder: &Recorder, names: &Names, mut visit: impl FnMut(String, &Histogram<u32>)) {
    for (name, recorded) in names.transactions.iter().zip(recorder.statement_recorders()) {
        for (part, histogram) in recorded.histograms().filter(|(_, histogram)| !histogram.is_empty()) {
            visit(statement_tag(name, part), histogram);
        }
    }
    for phase in Phase::ALL {
        for (index, recorded) in recorder.gateways().iter().enumerate() {
            for (clock, histogram) in gateway::CLOCKS.into_iter().zip(recorded.histograms(phase)) {
                if !histogram.is_empty() {
                    visit(gateway_tag(index + 1, &names.headline, phase, clock), histogram);
                }
            }
        }
        for (index, name) in names.transactions.iter().enumerate() {
            for clock in Clock::ALL {
                let histogram = recorder.histogram(index, phase, clock);
                if !histogram.is_empty() {
                    visit(tag(name, phase, clock), histogram);
                }
            }
        }
        if !recorder.lag_histogram(phase).is_empty() {
            visit(lag_tag(phase), recorder.lag_histogram(phase));
        }
    }
}

/// The histograms of a whole run, summed per tag.
#[derive(Debug, Clone, Default)]
pub struct Histograms {
    by_tag: BTreeMap<String, Histogram<u64>>,
}

impl Histograms {
    /// Adds what one second's merged recorder holds.
    pub fn add(&mut self, interval: &Recorder, plan: &Plan) {
        visit(interval, &Names::for_plan(plan), |tag, histogram| {
            self.by_tag.entry(tag).or_default().merge_interval(histogram)
        });
    }

    /// Adds the histograms of another run.
    pub fn merge(&mut self, other: &Histograms) {
        for (tag, histogram) in &other.by_tag {
            self.insert(tag, histogram);
        }
    }

    /// Adds a histogram under a tag.
    pub fn insert(&mut self, tag: &str, histogram: &Histogram<u64>) {
        self.by_tag.entry(tag.to_owned()).or_default().merge(histogram);
    }

    /// The histogram of a tag; `None` if nothing was recorded under it.
    #[must_use]
    pub fn get(&self, tag: &str) -> Option<&Histogram<u64>> {
        self.by_tag.get(tag)
    }

    /// The statistics of a transaction's clock; all zero if nothing was recorded.
    #[must_use]
    pub fn stats(&self, transaction: &str, phase: Phase, clock: Clock) -> Stats {
        self.get(&tag(transaction, phase, clock)).map(Histogram::stats).unwrap_or_default()
    }

    /// Tags and histograms, by tag.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Histogram<u64>)> {
        self.by_tag.iter().map(|(tag, histogram)| (tag.as_str(), histogram))
    }
}

/// The names that tags are made of.
struct Names {
    transactions: Vec<String>,
    headline: String,
}

impl Names {
    fn for_plan(plan: &Plan) -> Self {
        let transactions: Vec<String> = plan.transactions.iter().map(|rule| rule.name.clone()).collect();
        let headline = plan.headline().map(|index| transactions[index].clone()).unwrap_or_default();
        Names { transactions, headline }
    }
}

/// What was measured in an interval.
#[derive(Debug, Clone, Copy)]
pub enum Interval<'a> {
    /// What the driver threads recorded, merged.
    Recorded(&'a Recorder),
    /// What was read from the logs of several runs, summed.
    Summed(&'a Histograms),
}

fn write<C: Counter>(
    writer: &mut IntervalLogWriter<'_, '_, Vec<u8>, V2DeflateSerializer>,
    tag: &str,
    histogram: &Hdr<C>,
    at: Duration,
    length: Duration,
) {
    let tag = Tag::new(tag).expect("names of transactions hold no comma and no blank");
    writer
        .write_histogram(histogram, at, length, Some(tag))
        .expect("histograms of the fixed bounds serialize, and writing to memory does not fail");
}

/// The log, open for appending.
pub struct LatencyLog {
    path: PathBuf,
    file: File,
    names: Names,
    serializer: V2DeflateSerializer,
}

impl LatencyLog {
    /// Starts a new log whose times count from `start`.
    pub fn create(path: &Path, start: Timestamp, plan: &Plan) -> Result<Self, RecordError> {
        let mut serializer = V2DeflateSerializer::new();
        let mut head = Vec::new();
        // The base time says that the stamps of the lines count from the start; without it, readers guess.
        IntervalLogWriterBuilder::new()
            .add_comment("[Histogram log format version 1.3]")
            .add_comment("[Values in microseconds, interval maximum in milliseconds]")
            .with_start_time(SystemTime::from(start))
            .with_base_time(SystemTime::from(start))
            .with_max_value_divisor(MAX_VALUE_DIVISOR)
            .begin_log_with(&mut head, &mut serializer)
            .expect("writing to memory does not fail");
        head.extend_from_slice(LEGEND.as_bytes());
        let mut file = File::create_new(path).map_err(|e| RecordError::io("create", path, e))?;
        file.write_all(&head).map_err(|e| RecordError::io("write", path, e))?;
        Ok(LatencyLog { path: path.to_path_buf(), file, names: Names::for_plan(plan), serializer })
    }

    /// Appends the histograms of one interval that began `at` after the log's start; empty ones are skipped.
    pub fn append(&mut self, at: Duration, length: Duration, interval: Interval<'_>) -> Result<(), RecordError> {
        let mut lines = Vec::new();
        // A log writer borrows its output, so each interval has one; the header that it begins with is cut off again.
        let mut writer = IntervalLogWriterBuilder::new()
            .with_max_value_divisor(MAX_VALUE_DIVISOR)
            .begin_log_with(&mut lines, &mut self.serializer)
            .expect("writing to memory does not fail");
        match interval {
            Interval::Recorded(recorder) => {
                visit(recorder, &self.names, |tag, histogram| write(&mut writer, &tag, histogram.hdr(), at, length));
            }
            Interval::Summed(sums) => {
                sums.iter().for_each(|(tag, histogram)| write(&mut writer, tag, histogram.hdr(), at, length));
            }
        }
        let header = lines.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        // One write, so that a crash cuts at most the last line.
        self.file.write_all(&lines[header..]).map_err(|e| RecordError::io("write", &self.path, e))
    }
}

/// Reads a log, summing each tag; what was tolerated is said in `warnings`.
pub fn read(path: &Path, warnings: &mut Vec<String>) -> Result<Histograms, RecordError> {
    let mut sums = Histograms::default();
    read_each(path, warnings, |_, tag, hdr| sums.by_tag.entry(tag).or_default().merge_hdr(hdr))?;
    Ok(sums)
}

/// The times of one second: upper edges of buckets in microseconds, each with its count. A histogram of every second
/// of a long run would not fit into memory.
pub type Second = Vec<(u64, u64)>;

/// The times of a run by the second in which they were logged, and by tag.
#[derive(Debug, Default)]
pub struct Seconds {
    by_second: BTreeMap<u64, BTreeMap<String, Second>>,
}

impl Seconds {
    /// Those of a tag, in the order of the seconds; a second without a time of the tag has none.
    #[must_use]
    pub fn for_tag(&self, tag: &str) -> Vec<&Second> {
        self.by_second.values().filter_map(|tags| tags.get(tag)).collect()
    }

    /// Adds those of another run, second by second.
    pub fn merge(&mut self, other: Seconds) {
        for (second, tags) in other.by_second {
            let mine = self.by_second.entry(second).or_default();
            tags.into_iter().for_each(|(tag, mut times)| mine.entry(tag).or_default().append(&mut times));
        }
    }

    /// Each second, from 0, with its histograms.
    pub fn histograms(&self) -> impl Iterator<Item = (u64, Histograms)> + '_ {
        self.by_second.iter().map(|(second, tags)| {
            let mut sums = Histograms::default();
            for (tag, times) in tags {
                let sum = sums.by_tag.entry(tag.clone()).or_default();
                times.iter().for_each(|(us, count)| sum.record_many(*us, *count));
            }
            (*second, sums)
        })
    }
}

/// Reads those times of a log whose tag is `wanted`, second by second; what was tolerated is said in `warnings`.
pub fn read_seconds(
    path: &Path,
    wanted: impl Fn(&str) -> bool,
    warnings: &mut Vec<String>,
) -> Result<Seconds, RecordError> {
    let mut seconds = Seconds::default();
    read_each(path, warnings, |at, tag, hdr| {
        if wanted(&tag) {
            let buckets = hdr.iter_recorded();
            let times = buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_since_last_iteration()));
            let second = seconds.by_second.entry(at.as_secs_f64().round() as u64).or_default();
            second.entry(tag).or_default().extend(times);
        }
    })?;
    Ok(seconds)
}

/// Reads a log line by line: from when on its times are, its tag, and its histogram.
fn read_each(
    path: &Path,
    warnings: &mut Vec<String>,
    mut visit: impl FnMut(Duration, String, &Hdr<u64>),
) -> Result<(), RecordError> {
    let bytes = std::fs::read(path).map_err(|e| RecordError::io("read", path, e))?;
    let damaged = |line: usize, detail: &str| RecordError::Damaged {
        path: path.to_path_buf(),
        line: line as u64,
        detail: detail.to_owned(),
    };
    if bytes.is_empty() {
        warnings.push(format!("{}: empty; the run recorded no second", path.display()));
    } else if bytes[0] != b'#' {
        return Err(damaged(1, "not an HdrHistogram interval log: the first line is no `#` header"));
    }
    let mut deserializer = Deserializer::new();
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if matches!(line.first(), Some(b'#' | b'"' | b'\n' | b'\r')) {
            continue;
        }
        match parse(line, &mut deserializer) {
            Some((at, tag, hdr)) => visit(at, tag, &hdr),
            None if lines.peek().is_none() => {
                warnings.push(format!("{}:{}: the last line is cut off and was left out", path.display(), index + 1));
            }
            None => return Err(damaged(index + 1, "not a line of an HdrHistogram interval log; the file is damaged")),
        }
    }
    Ok(())
}

/// The begin, the tag and the histogram of one line with its line end; `None` if it is none.
fn parse(line: &[u8], deserializer: &mut Deserializer) -> Option<(Duration, String, Hdr<u64>)> {
    let Some(Ok(LogEntry::Interval(entry))) = IntervalLogIterator::new(line).next() else {
        return None;
    };
    let payload = inflated(&BASE64_STANDARD.decode(entry.encoded_histogram()).ok()?)?;
    let hdr = deserializer.deserialize(&mut payload.as_slice()).ok()?;
    Some((entry.start_timestamp(), entry.tag().map(|tag| tag.as_str().to_owned()).unwrap_or_default(), hdr))
}

/// What begins a histogram in the V2 format, compressed and not.
const COMPRESSED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
const PLAIN: [u8; 4] = 0x1c84_9313_u32.to_be_bytes();

/// The most that a histogram of this tool's bounds takes: some 20,000 counts of up to nine bytes.
const MAX_BYTES: u64 = 1 << 19;

/// A compressed histogram as a plain one, if it is one of this tool's. The library believes what the head says of its
/// size and bounds: forty bytes of a damaged file would make it take gigabytes.
fn inflated(payload: &[u8]) -> Option<Vec<u8>> {
    let compressed = payload.strip_prefix(&COMPRESSED)?.get(4..)?;
    let mut plain = Vec::new();
    ZlibDecoder::new(compressed).take(MAX_BYTES).read_to_end(&mut plain).ok()?;
    // Cookie, length of the counts, offset, digits, lowest, highest, ratio.
    let (head, counts) = plain.split_at_checked(40)?;
    let digits = u32::from(DIGITS).to_be_bytes();
    let is_ours = head[..4] == PLAIN
        && head[4..8] == u32::try_from(counts.len()).ok()?.to_be_bytes()
        && head[12..16] == digits
        && head[16..24] == 1_u64.to_be_bytes()
        && head[24..32] == MAX_US.to_be_bytes();
    is_ours.then_some(plain)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use hdrhistogram::serialization::Serializer;

    use super::*;

    fn compressed(plain: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(plain).unwrap();
        let body = encoder.finish().unwrap();
        [&COMPRESSED[..], &u32::try_from(body.len()).unwrap().to_be_bytes(), &body].concat()
    }

    #[test]
    fn a_head_is_not_believed() {
        let mut own = Hdr::<u32>::new_with_bounds(1, MAX_US, DIGITS).unwrap();
        own += 1_234;
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&own, &mut bytes).unwrap();
        let plain = inflated(&bytes).unwrap();
        assert_eq!(Deserializer::new().deserialize::<u64, _>(&mut plain.as_slice()).unwrap().len(), 1);
        assert!(inflated(&compressed(&plain)).is_some());
        assert!(inflated(&plain).is_none(), "never written so");
        // The length of the counts, the digits, the highest value.
        for (at, byte) in [(4, 0xff), (15, 5), (24, 0x7f)] {
            let mut hostile = plain.clone();
            hostile[at] = byte;
            assert!(inflated(&compressed(&hostile)).is_none(), "{at}");
        }
        assert!(inflated(&compressed(&plain[..39])).is_none() && inflated(&bytes[..10]).is_none());
        assert!(inflated(&compressed(&vec![0; 1 << 24])).is_none());
    }
}
