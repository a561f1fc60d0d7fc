//! Mutated seeds through the fuzz targets: a fixed number of them, the same ones each time.
//!
//! `cargo fuzz` looks farther, but needs a nightly compiler: see `fuzz/README.md`.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../../../fuzz/targets.rs"]
mod targets;

use std::path::Path;

/// Inputs for each target, unless FUZZ_ITERATIONS says otherwise.
const ITERATIONS: u64 = 500;

/// A generator of the test's own (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Any number below `end`; 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Values that readers stumble over.
const AWKWARD: [&str; 22] = [
    "0",
    "-1",
    "1",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "-9223372036854775808",
    "1e308",
    "-1e-308",
    "0.5",
    "NaN",
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
    "\u{0}",
    "\n",
    "%",
    "\u{fffd}",
    "'",
    "\u{1f600}",
];

/// One change: bytes flipped, cut out, doubled, moved in from another seed; a number or a word made awkward.
fn change(data: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(data.len() + 1);
    let end = (at + random.below(16)).min(data.len());
    let awkward = AWKWARD[random.below(AWKWARD.len())].bytes();
    match random.below(8) {
        0 if !data.is_empty() => {
            let at = at.min(data.len() - 1);
            data[at] ^= 1 << random.below(8);
        }
        1 => drop(data.drain(at..end)),
        2 => data.truncate(at),
        3 => {
            let doubled = data[at..end].to_vec();
            drop(data.splice(at..at, doubled));
        }
        4 => {
            let from = random.below(other.len() + 1);
            let to = (from + random.below(64)).min(other.len());
            drop(data.splice(at..end, other[from..to].iter().copied()));
        }
        5 => drop(data.splice(at..at, awkward)),
        // The number at or behind the place, which is what most fields are.
        _ => {
            let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            let Some(start) = data[at..].iter().position(is_number).map(|from| at + from) else { return };
            let length = data[start..].iter().take_while(|byte| is_number(byte)).count();
            drop(data.splice(start..start + length, awkward));
        }
    }
}

/// Says what brought a target down.
struct Input<'a> {
    target: &'static str,
    number: u64,
    data: &'a [u8],
}

impl Drop for Input<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("target {}, input {}: {}", self.target, self.number, self.data.escape_ascii());
        }
    }
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| std::fs::read(file).unwrap()).collect()
}

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |value| value.parse().unwrap())
}

fn fuzz(name: &str) {
    let (target, run) = *targets::ALL.iter().find(|(target, _)| *target == name).unwrap();
    let seeds = seeds(target);
    assert!(!seeds.is_empty());
    seeds.iter().for_each(|seed| run(seed));
    let first = number("FUZZ_SEED", 1);
    for number in 0..number("FUZZ_ITERATIONS", ITERATIONS) {
        let mut random = Random(first.wrapping_mul(1_000_003).wrapping_add(number));
        let mut data = seeds[random.below(seeds.len())].clone();
        let other = &seeds[random.below(seeds.len())];
        for _ in 0..=random.below(4) {
            change(&mut data, other, &mut random);
        }
        let input = Input { target, number, data: &data };
        run(input.data);
    }
}

#[test]
fn urls() {
    fuzz("url");
}

#[test]
fn scenarios() {
    fuzz("scenario");
}

#[test]
fn run_records() {
    fuzz("run");
}

#[test]
fn latency_logs() {
    fuzz("latency");
}

#[test]
fn timelines() {
    fuzz("timeline");
}

#[test]
fn sweeps() {
    fuzz("sweep");
}

#[test]
fn ledgers() {
    fuzz("ledger");
}

#[test]
fn faults() {
    fuzz("faults");
}
