//! Non-uniform random numbers (2.1.6) and their constants (2.1.6.1).

use tpcc::nurand::{Constants, admissible_run, combine, nurand};
use tpcc::text::last_name;

use crate::sample::*;

#[test]
fn vectors() {
    for (a_draw, b_draw, c, x, y, expected) in [
        (200, 777, 100, 0, 999, 69),
        (255, 999, 0, 0, 999, 23),
        (255, 512, 223, 0, 999, 990),
        (0, 0, 255, 0, 999, 255),
        (512, 2500, 259, 1, 3000, 272),
        (1023, 3000, 1023, 1, 3000, 1095),
        (0, 1, 0, 1, 3000, 2),
        (8191, 100_000, 7911, 1, 100_000, 14_407),
        (4096, 65_535, 8191, 1, 100_000, 73_727),
    ] {
        assert_eq!(combine(a_draw, b_draw, c, x, y), expected);
    }
    for (n, name) in [(69, "BARANTIEING"), (23, "BARABLEPRI"), (990, "EINGEINGBAR"), (255, "ABLEESEESE")] {
        assert_eq!(&*last_name(n), name);
    }
}

/// The three uses of 2.1.6: A, x, y, a constant C, and the collision probability.
const USES: [(i32, i32, i32, i32, f64); 3] =
    [(255, 0, 999, 223, 0.0056444), (1023, 1, 3000, 259, 0.0029073), (8191, 1, 100_000, 7911, 0.00017945)];

#[test]
fn low_bits_are_mostly_one() {
    for (a, x, y, c, _) in USES {
        let mut rng = stream(1);
        let draws = 100_000;
        let (mut one, mut both) = (0, 0);
        for _ in 0..draws {
            let u = (nurand(&mut rng, a, x, y, c) - x - c).rem_euclid(y - x + 1);
            one += usize::from(u & 1 == 1);
            both += usize::from(u & 3 == 3);
        }
        assert_share(one, draws, 0.75);
        assert_share(both, draws, 0.5625);
    }
}

#[test]
fn pairs_collide_as_often_as_the_exact_distribution_says() {
    for (a, x, y, c, probability) in USES {
        let mut rng = stream(2);
        let draws = 400_000;
        let counts = histogram(x..=y, (0..draws).map(|_| nurand(&mut rng, a, x, y, c)));
        let pairs: f64 = counts.iter().map(|&n| n as f64 * (n as f64 - 1.0)).sum();
        let share = pairs / (f64::from(draws) * f64::from(draws - 1));
        assert!((share / probability - 1.0).abs() < 0.015, "{share}, expected {probability}");
    }
}

#[test]
fn mean_at_c_0() {
    for ((a, x, y, _, _), mean) in USES.into_iter().zip([487.39, 1464.24, 50_625.16]) {
        let mut rng = stream(3);
        let draws = (0..100_000).map(|_| f64::from(nurand(&mut rng, a, x, y, 0)));
        // No distribution on x..=y deviates by more than half its width.
        assert_mean(draws, mean, f64::from(y - x) / 2.0);
    }
}

#[test]
fn constants_of_the_load_cover_their_ranges() {
    let draws: Vec<Constants> = (0..200_000).map(Constants::for_load).collect();
    assert_uniform(&histogram(0..=255, draws.iter().map(|c| c.c_last)));
    assert_uniform(&histogram(0..=1023, draws.iter().map(|c| c.c_id)));
    assert_uniform(&histogram(0..=8191, draws.iter().map(|c| c.ol_i_id)));
}

#[test]
fn constants_of_a_run_cover_their_ranges() {
    let load = Constants::for_load(1);
    let draws: Vec<Constants> = (0..200_000).map(|seed| Constants::for_run(seed, &load)).collect();
    assert_uniform(&histogram(0..=1023, draws.iter().map(|c| c.c_id)));
    assert_uniform(&histogram(0..=8191, draws.iter().map(|c| c.ol_i_id)));
}

#[test]
fn every_load_admits_53_to_106_constants_and_a_run_draws_each_of_them() {
    for c_last in 0..=255 {
        let load = Constants { c_last, c_id: 0, ol_i_id: 0 };
        let admissible: Vec<i32> = (0..=255).filter(|&c_run| admissible_run(c_last, c_run)).collect();
        assert!((53..=106).contains(&admissible.len()));
        let mut drawn: Vec<i32> = (0..4000).map(|seed| Constants::for_run(seed, &load).c_last).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, admissible);
    }
}

#[test]
fn admissible_distances() {
    for (distance, admissible) in [
        (0, false),
        (64, false),
        (65, true),
        (95, true),
        (96, false),
        (97, true),
        (111, true),
        (112, false),
        (113, true),
        (119, true),
        (120, false),
        (255, false),
    ] {
        assert_eq!(admissible_run(0, distance), admissible, "{distance}");
        assert_eq!(admissible_run(distance, 0), admissible, "{distance}");
    }
}

#[test]
fn a_load_constant_out_of_range_does_no_harm() {
    assert_eq!(Constants::for_run(1, &Constants { c_last: 9999, c_id: 0, ol_i_id: 0 }).c_last, 0);
}

/// The mean number of customers that share a looked-up name, by the distance of the constants.
#[test]
fn customers_matched_by_name() {
    let mut probability = [0.0; 1000];
    for a_draw in 0..=255 {
        for b_draw in 0..=999 {
            probability[combine(a_draw, b_draw, 0, 0, 999) as usize] += 1.0 / 256_000.0;
        }
    }
    let matched = |distance: usize| -> f64 {
        let shared: f64 = (0..1000).map(|v| probability[v] * probability[(v + distance) % 1000]).sum();
        1.0 + 2000.0 * shared
    };
    for (distance, expected) in [(0, 12.29), (65, 3.38), (80, 3.87), (96, 4.86), (112, 4.30), (119, 2.41)] {
        assert!((matched(distance) - expected).abs() < 0.005, "{distance}: {}", matched(distance));
    }
    // The same on generated rows.
    let (load, run) = (POPULATION.c_last_load, POPULATION.c_last_load - 80);
    assert!(admissible_run(load, run));
    let mut customers_with = vec![0; 1000];
    let names: std::collections::HashMap<_, _> = (0..1000).map(|n| (last_name(n), n as usize)).collect();
    for customer in customers() {
        customers_with[names[&customer.c_last]] += 1;
    }
    let mut rng = stream(4);
    let draws = 100_000;
    let sum: i32 = (0..draws).map(|_| customers_with[nurand(&mut rng, 255, 0, 999, run) as usize]).sum();
    let mean = f64::from(sum) / 10.0 / f64::from(draws);
    assert!((mean - 3.87).abs() < 0.15, "{mean}");
}
