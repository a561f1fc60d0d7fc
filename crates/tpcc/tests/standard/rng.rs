//! Streams: ranges, alphabets, independence.

use proptest::prelude::*;
use tpcc::rng::{Domain, Stream};

use crate::sample::*;

proptest! {
    #[test]
    fn uniform_stays_in_range(number: u64, a: i64, b: i64) {
        let (lo, hi) = (a.min(b), a.max(b));
        let draw = stream(number).uniform(lo, hi);
        prop_assert!((lo..=hi).contains(&draw));
    }
}

#[test]
fn uniform_over_a_single_value() {
    assert_eq!(stream(1).uniform(7, 7), 7);
}

#[test]
fn uniform_includes_both_ends_equally() {
    let mut rng = stream(1);
    assert_uniform(&histogram(-3..=7, (0..100_000).map(|_| rng.uniform_i32(-3, 7))));
}

#[test]
fn unit_is_above_0_and_at_most_1() {
    let mut rng = stream(1);
    let draws: Vec<f64> = (0..100_000).map(|_| rng.unit()).collect();
    assert!(draws.iter().all(|&draw| draw > 0.0 && draw <= 1.0));
    assert_uniform(&histogram(0..=99, draws.iter().map(|draw| ((draw * 100.0).ceil() - 1.0) as i32)));
}

/// All characters of an alphabet at all eight positions of a draw are equally frequent.
#[test]
fn alphabets_are_uniform_at_every_position() {
    type Fill = fn(&mut Stream, &mut [u8]);
    let alphanumeric: Vec<u8> = (b'0'..=b'9').chain(b'A'..=b'Z').chain(b'a'..=b'z').collect();
    let fills: [(Fill, &[u8]); 3] = [
        (Stream::fill_alphanumeric, &alphanumeric),
        (Stream::fill_letters, &alphanumeric[10..]),
        (Stream::fill_digits, &alphanumeric[..10]),
    ];
    for (fill, alphabet) in fills {
        let mut rng = stream(1);
        let mut counts = [[0; 256]; 8];
        for _ in 0..50_000 {
            let mut eight = [0; 8];
            fill(&mut rng, &mut eight);
            for (position, character) in eight.into_iter().enumerate() {
                counts[position][usize::from(character)] += 1;
            }
        }
        for counts in counts {
            let used: Vec<usize> = alphabet.iter().map(|&c| counts[usize::from(c)]).collect();
            assert_eq!(used.iter().sum::<usize>(), 50_000, "a character outside of the alphabet");
            assert_uniform(&used);
        }
    }
}

#[test]
fn neighbouring_characters_are_independent() {
    let mut rng = stream(1);
    let mut digits = vec![0; 200_000];
    rng.fill_digits(&mut digits);
    let pairs = digits.windows(2).map(|pair| i32::from(pair[0] - b'0') * 10 + i32::from(pair[1] - b'0'));
    assert_uniform(&histogram(0..=99, pairs));
}

#[test]
fn fills_of_any_length_fill_everything() {
    for len in 0..40 {
        let mut text = vec![0; len];
        stream(1).fill_letters(&mut text);
        assert!(text.iter().all(u8::is_ascii_alphabetic));
    }
}

#[test]
fn positions_and_domains_do_not_share_streams() {
    let mut keys = std::collections::HashSet::new();
    let mut positions = 0;
    for domain in [Domain::Item, Domain::Stock, Domain::Customer, Domain::History, Domain::OrderCustomer] {
        for a in 0..20 {
            for b in 0..20 {
                for c in 0..20 {
                    keys.insert(tpcc::rng::key(1, domain, a, b, c));
                    positions += 1;
                }
            }
        }
    }
    assert_eq!(keys.len(), positions);
}
