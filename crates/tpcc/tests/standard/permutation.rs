//! Permutations with random access: bijections that look random.

use proptest::prelude::*;
use tpcc::permutation::Permutation;

use crate::sample::*;

fn is_bijection(permutation: Permutation, n: u32) -> bool {
    let mut seen = vec![false; n as usize];
    for i in 0..n {
        seen[permutation.at(i) as usize] = true;
    }
    seen.into_iter().all(|seen| seen)
}

#[test]
fn bijection_for_the_sizes_in_use() {
    for n in [3_000, 30_000, 100_000] {
        for number in 0..5 {
            assert!(is_bijection(Permutation::new(key(number), n), n));
        }
    }
}

proptest! {
    #[test]
    fn bijection_for_any_size_and_key(key: u64, n in 1_u32..5_000) {
        prop_assert!(is_bijection(Permutation::new(key, n), n));
    }
}

#[test]
fn the_largest_size_and_arguments_out_of_range() {
    let permutation = Permutation::new(key(1), u32::MAX);
    assert!(permutation.at(0) < u32::MAX && permutation.at(u32::MAX - 1) < u32::MAX);
    assert_eq!(Permutation::new(key(1), 10).at(10), 10);
    assert_eq!(Permutation::new(key(1), 0).at(0), 0);
}

#[test]
fn the_image_of_any_position_is_uniform_over_keys() {
    for position in [0, 1, 1500, 2999] {
        let images = (0..60_000).map(|number| Permutation::new(key(number), 3_000).at(position) as i32);
        assert_uniform(&histogram(0..=2_999, images));
    }
}

#[test]
fn images_of_neighbours_are_independent() {
    for n in [3_000, 30_000, 100_000] {
        let mut pairs = vec![0; 400];
        for number in 0..(300_000 / n as i32) {
            let permutation = Permutation::new(key(number), n);
            for i in 0..n - 1 {
                let (a, b) = (permutation.at(i) * 20 / n, permutation.at(i + 1) * 20 / n);
                pairs[(a * 20 + b) as usize] += 1;
            }
        }
        assert_uniform(&pairs);
    }
}

#[test]
fn the_first_tenth_comes_from_everywhere() {
    for n in [30_000, 100_000] {
        for number in 0..20 {
            let permutation = Permutation::new(key(number), n);
            let mut blocks = [0; 50];
            for i in (0..n).filter(|&i| permutation.at(i) < n / 10) {
                blocks[(i * 50 / n) as usize] += 1;
            }
            assert_eq!(blocks.iter().sum::<usize>(), n as usize / 10);
            assert_uniform(&blocks);
        }
    }
}

#[test]
fn small_permutations_reach_every_arrangement() {
    let mut seen = std::collections::HashSet::new();
    for number in 0..10_000 {
        let permutation = Permutation::new(key(number), 5);
        seen.insert((0..5).map(|i| permutation.at(i)).collect::<Vec<_>>());
    }
    assert_eq!(seen.len(), 120);
}
