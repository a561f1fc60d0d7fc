//! Text and last names.

use proptest::prelude::*;
use tpcc::text::{NotText, Text, a_string, last_name, letters, n_string, zip};

use crate::sample::*;

#[test]
fn last_names_of_the_standard() {
    for (n, name) in [
        (371, "PRICALLYOUGHT"),
        (40, "BARPRESBAR"),
        (0, "BARBARBAR"),
        (7, "BARBARCALLY"),
        (123, "OUGHTABLEPRI"),
        (999, "EINGEINGEING"),
    ] {
        assert_eq!(&*last_name(n), name);
    }
}

#[test]
fn last_names_are_distinct_and_9_to_15_characters_long() {
    let names: std::collections::HashSet<_> = (0..1000).map(last_name).collect();
    assert_eq!(names.len(), 1000);
    assert_eq!(names.iter().map(|name| name.len()).min(), Some(9));
    assert_eq!(names.iter().map(|name| name.len()).max(), Some(15));
}

#[test]
fn zips_are_four_digits_and_11111() {
    let mut rng = stream(1);
    for _ in 0..10_000 {
        let zip = zip(&mut rng);
        assert_eq!(zip.len(), 9);
        assert_eq!(&zip[4..], "11111");
        assert!(zip.bytes().all(|b| b.is_ascii_digit()));
    }
}

#[test]
fn generators_keep_to_their_lengths() {
    let mut rng = stream(1);
    assert_uniform(&histogram(3..=7, (0..10_000).map(|_| a_string::<7>(&mut rng, 3, 7).len() as i32)));
    assert_uniform(&histogram(3..=7, (0..10_000).map(|_| n_string::<20>(&mut rng, 3, 7).len() as i32)));
    assert_eq!(letters::<24>(&mut rng).len(), 24);
}

#[test]
fn a_length_beyond_the_capacity_is_cut() {
    assert_eq!(a_string::<5>(&mut stream(1), 10, 10).len(), 5);
}

proptest! {
    #[test]
    fn ascii_survives(text in "[ -~]{0,16}") {
        let inline = Text::<16>::try_from(text.as_str()).unwrap();
        prop_assert_eq!(inline.as_str(), text.as_str());
        prop_assert_eq!(inline.as_bytes(), text.as_bytes());
        prop_assert_eq!(inline.to_string(), text.clone());
        prop_assert_eq!(format!("{inline:?}"), format!("{text:?}"));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    assert_eq!(Text::<4>::try_from("BARBAR"), Err(NotText { capacity: 4 }));
    assert_eq!(Text::<9>::try_from("Müller"), Err(NotText { capacity: 9 }));
    assert_eq!(NotText { capacity: 4 }.to_string(), "not ASCII text of at most 4 characters");
}

#[test]
fn equality_ignores_the_unused_part() {
    let short = Text::<16>::try_from("BAR").unwrap();
    assert_eq!(short, Text::try_from("BAR").unwrap());
    assert_ne!(short, Text::try_from("BARBAR").unwrap());
}
