//! Keying times, think times and limits (5.2.3, 5.2.5).

use tpcc::input::Kind;
use tpcc::timing::think_time_us;

use crate::sample::*;

#[test]
fn the_table_of_the_standard() {
    let table = Kind::ALL.map(|kind| {
        let timing = kind.timing();
        (timing.keying_seconds, timing.mean_think_seconds, timing.response_limit_seconds, timing.minimum_share)
    });
    let expected = [
        (18.0, 12.0, 5.0, None),
        (3.0, 12.0, 5.0, Some(0.43)),
        (2.0, 10.0, 5.0, Some(0.04)),
        (2.0, 5.0, 5.0, Some(0.04)),
        (2.0, 5.0, 20.0, Some(0.04)),
    ];
    assert_eq!(table, expected);
}

#[test]
fn keying_time_is_constant_and_follows_the_factor() {
    assert_eq!(Kind::NewOrder.timing().keying_us(1.0), 18_000_000);
    assert_eq!(Kind::NewOrder.timing().keying_us(0.1), 1_800_000);
    assert_eq!(Kind::NewOrder.timing().keying_us(0.0), 0);
}

#[test]
fn think_times_are_exponential_and_cut_at_ten_means() {
    const MEAN: u64 = 12_000_000;
    let mut rng = stream(1);
    let times: Vec<u64> = (0..1_000_000).map(|_| think_time_us(&mut rng, 12.0)).collect();
    assert_mean(times.iter().map(|&us| us as f64), MEAN as f64, MEAN as f64);
    let longer_than = |limit: u64| times.iter().filter(|&&us| us > limit).count();
    assert_share(longer_than(MEAN), times.len(), 0.36788);
    assert_share(longer_than(3 * MEAN), times.len(), 0.04979);
    assert_eq!(times.iter().max(), Some(&(10 * MEAN)));
    let cut = times.iter().filter(|&&us| us == 10 * MEAN).count();
    assert_share(cut, times.len(), 4.54e-5);
}

#[test]
fn no_mean_no_wait() {
    assert_eq!(think_time_us(&mut stream(1), 0.0), 0);
}
