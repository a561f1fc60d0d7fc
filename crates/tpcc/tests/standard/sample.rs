//! The data under test, and what counts as agreement with a distribution.

use tpcc::input::Warehouses;
use tpcc::nurand::Constants;
use tpcc::population::{Customer, History, Item, Order, OrderLine, Population, Stock};
use tpcc::rng::{Domain, Stream};

pub(crate) const LOAD_TIME_US: i64 = 1_795_225_447_000_000;

/// A population of which the tests look at warehouse 1.
pub(crate) const POPULATION: Population = Population { seed: 42, c_last_load: 157, load_time_us: LOAD_TIME_US };

pub(crate) const TEN_WAREHOUSES: Warehouses = Warehouses { first: 1, count: 10 };

pub(crate) fn items() -> impl Iterator<Item = Item> {
    (1..=100_000).map(|i_id| POPULATION.item(i_id))
}

pub(crate) fn stocks(w_id: i32) -> impl Iterator<Item = Stock> {
    (1..=100_000).map(move |i_id| POPULATION.stock(w_id, i_id))
}

pub(crate) fn customers() -> impl Iterator<Item = Customer> {
    positions().map(|(d_id, c_id)| POPULATION.customer(1, d_id, c_id))
}

pub(crate) fn histories() -> impl Iterator<Item = History> {
    positions().map(|(d_id, c_id)| POPULATION.history(1, d_id, c_id))
}

pub(crate) fn orders() -> impl Iterator<Item = Order> {
    positions().map(|(d_id, o_id)| POPULATION.order(1, d_id, o_id))
}

pub(crate) fn order_lines() -> impl Iterator<Item = OrderLine> {
    positions().flat_map(|(d_id, o_id)| POPULATION.order_lines(1, d_id, o_id))
}

/// All (district, customer or order) pairs of a warehouse.
fn positions() -> impl Iterator<Item = (i32, i32)> {
    (1..=10).flat_map(|d_id| (1..=3000).map(move |id| (d_id, id)))
}

pub(crate) fn stream(number: u64) -> Stream {
    Stream::for_terminal(7, number)
}

pub(crate) fn run_constants() -> Constants {
    Constants::for_run(7, &Constants::for_load(42))
}

/// A key for permutations, one for each number.
pub(crate) fn key(number: i32) -> u64 {
    tpcc::rng::key(7, Domain::OrderCustomer, number, 0, 0)
}

/// Fails unless `hits` out of `trials` agree with probability `p`: 4 standard deviations (10.7).
#[track_caller]
pub(crate) fn assert_share(hits: usize, trials: usize, p: f64) {
    let share = hits as f64 / trials as f64;
    let tolerance = 4.0 * (p * (1.0 - p) / trials as f64).sqrt();
    assert!((share - p).abs() <= tolerance, "share {share}, expected {p} +- {tolerance}");
}

/// Fails unless `values` average `mean`, given their standard deviation: 4 standard errors.
#[track_caller]
pub(crate) fn assert_mean(values: impl IntoIterator<Item = f64>, mean: f64, deviation: f64) {
    let (mut sum, mut n) = (0.0, 0.0_f64);
    for value in values {
        sum += value;
        n += 1.0;
    }
    let tolerance = 4.0 * deviation / n.sqrt();
    assert!((sum / n - mean).abs() <= tolerance, "mean {}, expected {mean} +- {tolerance}", sum / n);
}

/// Fails unless all `counts` look like draws with equal probability: chi-squared within five
/// standard deviations of its expectation, and not suspiciously even either.
#[track_caller]
pub(crate) fn assert_uniform(counts: &[usize]) {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let chi_squared: f64 = counts.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
    let freedom = (counts.len() - 1) as f64;
    let tolerance = 5.0 * (2.0 * freedom).sqrt();
    assert!((chi_squared - freedom).abs() <= tolerance, "chi-squared {chi_squared} with {freedom} degrees of freedom");
}

/// How often each number in `range` occurs; fails on any other number.
#[track_caller]
pub(crate) fn histogram(range: std::ops::RangeInclusive<i32>, values: impl IntoIterator<Item = i32>) -> Vec<usize> {
    let mut counts = vec![0; (range.end() - range.start() + 1) as usize];
    for value in values {
        assert!(range.contains(&value), "{value} is not in {range:?}");
        counts[(value - range.start()) as usize] += 1;
    }
    counts
}
