//! The data format, pinned. A change of any of these values makes databases incomparable with
//! those loaded before, and runs with those of the same seed.
//!
//! The keys, streams, characters, permutations and the stock row were computed a second time by an independent program.

use std::fmt::Debug;

use tpcc::mix::Mix;
use tpcc::nurand::Constants;
use tpcc::permutation::Permutation;
use tpcc::rng::{Domain, Stream, key};
use tpcc::terminal::Terminal;

use crate::sample::*;

#[test]
fn keys() {
    assert_eq!(key(0, Domain::Item, 0, 0, 0), 0x33fe_8bd4_f9c5_7863);
    assert_eq!(key(42, Domain::Customer, 1, 2, 3), 0xe9f9_7ab7_f67e_ba78);
    assert_eq!(key(u64::MAX, Domain::RunConstants, -1, i32::MIN, i32::MAX), 0xd4d5_5ea2_6f1b_320a);
}

#[test]
fn streams() {
    let draws = |mut stream: Stream| [(); 4].map(|()| stream.uniform(0, 999_999_999_999));
    assert_eq!(
        draws(Stream::for_row(42, Domain::Stock, 1, 0, 1)),
        [166957224218, 245236504956, 294557523905, 607148568034]
    );
    assert_eq!(draws(Stream::for_terminal(42, 1)), [157376504925, 347398903428, 654940508939, 648644127299]);
}

#[test]
fn characters() {
    let mut rng = Stream::for_terminal(42, 2);
    let mut spell = |fill: fn(&mut Stream, &mut [u8])| {
        let mut text = [0; 20];
        fill(&mut rng, &mut text);
        String::from_utf8(text.to_vec()).unwrap()
    };
    assert_eq!(spell(Stream::fill_alphanumeric), "Zx9v4QHtyUYNIm7w7RkK");
    assert_eq!(spell(Stream::fill_letters), "dzksxUeGyHyjcDLKDoVy");
    assert_eq!(spell(Stream::fill_digits), "27943351538734728669");
}

#[test]
fn permutations() {
    let first = |n| (0..6).map(|i| Permutation::new(42, n).at(i)).collect::<Vec<_>>();
    assert_eq!(first(3_000), [1680, 1854, 1258, 2752, 2691, 773]);
    assert_eq!(first(30_000), [10253, 29486, 4741, 14533, 1677, 9732]);
    assert_eq!(first(100_000), [86031, 24941, 82311, 13211, 79703, 16860]);
}

#[test]
fn constants() {
    let load = Constants::for_load(42);
    assert_eq!(load, Constants { c_last: 9, c_id: 873, ol_i_id: 4186 });
    assert_eq!(Constants::for_run(42, &load), Constants { c_last: 97, c_id: 31, ol_i_id: 6057 });
}

#[test]
fn a_stock_row() {
    let stock = POPULATION.stock(1, 3);
    assert_eq!(stock.s_quantity, 16);
    assert_eq!(&*stock.s_dist[0], "StvEtPostmKfyRxkupAXctwF");
    assert_eq!(&*stock.s_dist[9], "aKSEEIrgChBxVgVVvazbwBxY");
    assert_eq!(&*stock.s_data, "B16AokXGxt47S6aT1pUNh1Eer8ChNFmU");
}

#[test]
fn a_customer_row() {
    let customer = POPULATION.customer(2, 3, 1234);
    assert_eq!((&*customer.c_first, &*customer.c_last), ("Z7Efulq0zOPcQ", "ANTIANTICALLY"));
    assert_eq!((&*customer.c_zip, &*customer.c_phone), ("090611111", "8238448357265731"));
    assert_eq!((&*customer.c_credit, customer.c_discount), ("GC", 268));
    assert_eq!(&customer.c_data[..20], "abn5GWd0LLMPmSS21294");
}

#[test]
fn all_tables() {
    let p = POPULATION;
    let lines = |o_id| p.order_lines(2, 3, o_id).collect::<Vec<_>>();
    let actual = [
        fingerprint((1..=1000).map(|id| p.item(id))),
        fingerprint((1..=1000).map(|id| p.warehouse(id))),
        fingerprint((1..=1000).map(|id| p.district(id, id % 10 + 1))),
        fingerprint((1..=1000).map(|id| p.stock(2, id))),
        fingerprint((501..=1500).map(|id| p.customer(2, 3, id))),
        fingerprint((1..=1000).map(|id| p.history(2, 3, id))),
        fingerprint((1601..=2600).map(|id| p.order(2, 3, id))),
        fingerprint((1601..=2600).map(lines)),
    ];
    assert_eq!(
        actual.map(|print| format!("{print:016x}")),
        [
            "d8491fdea354061b",
            "5cfd5e1e03259b36",
            "cc9a28ebcf78037d",
            "10e88f0159e44422",
            "6163b650dfe3bde1",
            "95ea52d6dfa5d4ca",
            "32c93169bf427a73",
            "591e42957f27c9eb"
        ]
    );
}

#[test]
fn inputs_of_a_terminal() {
    let inputs = |mix| {
        let mut terminal = Terminal::new(42, 17, 2, 7, TEN_WAREHOUSES, Constants::for_load(42), mix);
        fingerprint((0..1000).map(|_| terminal.next_input()))
    };
    let actual = [inputs(Mix::standard()), inputs(Mix::deck())];
    assert_eq!(actual.map(|print| format!("{print:016x}")), ["cb97a95682703e1a", "3cd50d63b68d779e"]);
}

/// FNV-1a of the values with the names of their columns.
fn fingerprint(values: impl Iterator<Item = impl Debug>) -> u64 {
    let fnv = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    values.fold(0xcbf2_9ce4_8422_2325, |hash, value| format!("{value:?}").bytes().fold(hash, fnv))
}
