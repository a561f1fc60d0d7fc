//! Terminals: selection, reproducibility, and a steady rate from the start (5.2.4, 5.5.1.1).

use tpcc::input::{Input, Kind};
use tpcc::mix::Mix;
use tpcc::terminal::{Start, Terminal};

use crate::sample::*;

fn terminal(number: u64, mix: Mix) -> Terminal {
    Terminal::new(7, number, 3, 8, TEN_WAREHOUSES, run_constants(), mix)
}

#[test]
fn weights_give_their_shares() {
    let mut terminal = terminal(1, Mix::standard());
    let mut counts = [0; 5];
    for _ in 0..200_000 {
        counts[terminal.next_input().kind().index()] += 1;
    }
    for kind in Kind::ALL {
        assert_share(counts[kind.index()], 200_000, Mix::standard().share(kind));
    }
}

#[test]
fn weights_of_zero_are_never_chosen() {
    let mut terminal = terminal(1, "payment=1,delivery=3".parse().unwrap());
    let kinds: Vec<Kind> = (0..10_000).map(|_| terminal.next_input().kind()).collect();
    assert_share(kinds.iter().filter(|&&kind| kind == Kind::Delivery).count(), 10_000, 0.75);
    assert!(kinds.iter().all(|kind| matches!(kind, Kind::Payment | Kind::Delivery)));
}

#[test]
fn every_pass_of_a_deck_has_all_cards_in_another_order() {
    let mut terminal = terminal(1, Mix::deck());
    let mut passes = std::collections::HashSet::new();
    for _ in 0..1000 {
        let pass: Vec<Kind> = (0..23).map(|_| terminal.next_input().kind()).collect();
        let count = |kind| pass.iter().filter(|&&card| card == kind).count();
        assert_eq!(Kind::ALL.map(count), [10, 10, 1, 1, 1]);
        passes.insert(pass);
    }
    assert!(passes.len() > 990);
}

#[test]
fn a_card_is_equally_likely_at_every_place_of_a_deck() {
    let mut terminal = terminal(2, Mix::deck());
    let mut places = vec![0; 23];
    for _ in 0..5000 {
        for place in &mut places {
            *place += usize::from(terminal.next_input().kind() == Kind::Delivery);
        }
    }
    assert_uniform(&places);
}

#[test]
fn a_start_meets_a_deck_anywhere_in_its_pass() {
    let (mut starts, mut whole_passes) = (0.0, 0.0);
    for number in 0..5000 {
        let mut terminal = terminal(number, Mix::deck());
        if let Start::Keying { input, .. } = terminal.start(1.0) {
            let mut counts = [0; 5];
            counts[input.kind().index()] += 1;
            for _ in 0..22 {
                counts[terminal.next_input().kind().index()] += 1;
            }
            starts += 1.0;
            whole_passes += f64::from(u8::from(counts == [10, 10, 1, 1, 1]));
        }
    }
    // Certain for one place in 23, a matter of chance for the others.
    assert!(whole_passes / starts < 0.25, "{whole_passes} of {starts}");
}

#[test]
fn same_seed_and_number_same_life() {
    for mix in [Mix::standard(), Mix::deck()] {
        let (mut first, mut second) = (terminal(5, mix), terminal(5, mix));
        assert_eq!(first.start(1.0), second.start(1.0));
        for _ in 0..1000 {
            let input = first.next_input();
            assert_eq!(input, second.next_input());
            assert_eq!(first.think_us(input.kind(), 1.0), second.think_us(input.kind(), 1.0));
        }
    }
}

#[test]
fn another_seed_another_life() {
    let other = Terminal::new(8, 5, 3, 8, TEN_WAREHOUSES, run_constants(), Mix::standard());
    assert_ne!(format!("{other:?}"), format!("{:?}", terminal(5, Mix::standard())));
}

#[test]
fn a_hundred_thousand_terminals_fit_into_16_megabytes() {
    assert!(size_of::<Terminal>() <= 160);
}

#[test]
fn think_time_follows_kind_and_factor() {
    let mut terminal = terminal(1, Mix::standard());
    for (kind, mean) in Kind::ALL.into_iter().zip([12e6, 12e6, 10e6, 5e6, 5e6]) {
        for factor in [1.0, 0.1] {
            let times = (0..50_000).map(|_| terminal.think_us(kind, factor) as f64);
            assert_mean(times.collect::<Vec<_>>(), mean * factor, mean * factor);
        }
    }
}

#[test]
fn without_pacing_a_terminal_starts_at_once() {
    assert_eq!(terminal(1, Mix::standard()).start(0.0), Start::Thinking { remaining_us: 0 });
    assert_eq!(terminal(1, Mix::standard()).think_us(Kind::Payment, 0.0), 0);
}

#[test]
fn what_is_left_at_the_start() {
    let starts: Vec<Start> = (0..100_000).map(|number| terminal(number, Mix::standard()).start(1.0)).collect();
    let keying = |kind: Kind| -> Vec<f64> {
        let left = |start: &Start| match start {
            Start::Keying { input, remaining_us } if input.kind() == kind => Some(*remaining_us as f64),
            _ => None,
        };
        starts.iter().filter_map(left).collect()
    };
    for kind in Kind::ALL {
        let (left, whole) = (keying(kind), kind.timing().keying_seconds * 1e6);
        let probability = Mix::standard().share(kind) * kind.timing().keying_seconds / 20.99;
        assert_share(left.len(), starts.len(), probability);
        assert!(left.iter().all(|&us| us <= whole));
        assert_mean(left, whole / 2.0, whole / 12.0_f64.sqrt());
    }
}

/// Terminals that start anywhere in their cycle enter as many transactions in the first seconds
/// as in any later ones.
#[test]
fn steady_rate_from_the_first_second() {
    for mix in [Mix::standard(), Mix::deck()] {
        for factor in [1.0, 0.05] {
            steady(mix, factor);
        }
    }
}

fn steady(mix: Mix, factor: f64) {
    const TERMINALS: u64 = 20_000;
    const WINDOWS: usize = 60;
    let window_us = (2e6 * factor) as u64;
    let mut entered = [[0.0; 5]; WINDOWS];
    for number in 0..TERMINALS {
        let mut terminal = terminal(number, mix);
        let (mut input, mut now): (Input, u64) = match terminal.start(factor) {
            Start::Keying { input, remaining_us } => (input, remaining_us),
            Start::Thinking { remaining_us } => {
                let input = terminal.next_input();
                let keying = input.kind().timing().keying_us(factor);
                (input, remaining_us + keying)
            }
        };
        while let Some(window) = entered.get_mut((now / window_us) as usize) {
            window[input.kind().index()] += 1.0;
            now += terminal.think_us(input.kind(), factor);
            input = terminal.next_input();
            now += input.kind().timing().keying_us(factor);
        }
    }
    let all = TERMINALS as f64 * 2.0 / mix.mean_cycle_seconds(1.0);
    for (number, window) in entered.iter().enumerate() {
        for kind in Kind::ALL {
            let (count, expected) = (window[kind.index()], all * mix.share(kind));
            let tolerance = 4.5 * expected.sqrt();
            assert!(
                (count - expected).abs() < tolerance,
                "{mix}, factor {factor}, window {number}: {count} {}, expected {expected} +- {tolerance}",
                kind.title()
            );
        }
        let count: f64 = window.iter().sum();
        assert!((count - all).abs() < 4.5 * all.sqrt(), "{mix}, window {number}: {count}, expected {all}");
    }
}
