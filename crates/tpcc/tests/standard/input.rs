//! Inputs of the five transactions: ranges and distributions (2.4.1-2.8.1).

use proptest::prelude::*;
use tpcc::input::*;
use tpcc::{UNUSED_ITEM, limits};

use crate::sample::*;

const N: usize = 100_000;

fn new_orders(active: Warehouses) -> Vec<NewOrder> {
    let (mut rng, constants) = (stream(1), run_constants());
    (0..N).map(|_| NewOrder::draw(&mut rng, &constants, 3, active)).collect()
}

fn payments(active: Warehouses) -> Vec<Payment> {
    let (mut rng, constants) = (stream(2), run_constants());
    (0..N).map(|_| Payment::draw(&mut rng, &constants, 3, active)).collect()
}

fn order_statuses() -> Vec<OrderStatus> {
    let (mut rng, constants) = (stream(3), run_constants());
    (0..N).map(|_| OrderStatus::draw(&mut rng, &constants, 3)).collect()
}

fn by_name(customer: &CustomerBy) -> bool {
    matches!(customer, CustomerBy::LastName(_))
}

#[test]
fn new_order() {
    let orders = new_orders(TEN_WAREHOUSES);
    assert!(orders.iter().all(|o| o.w_id == 3));
    assert_uniform(&histogram(1..=10, orders.iter().map(|o| o.d_id)));
    assert_uniform(&histogram(5..=15, orders.iter().map(|o| o.lines.len() as i32)));
    histogram(1..=3000, orders.iter().map(|o| o.c_id));
    assert_share(orders.iter().filter(|o| o.rolls_back()).count(), N, 0.01);

    let lines: Vec<&Line> = orders.iter().flat_map(|o| o.lines.iter()).collect();
    assert_uniform(&histogram(1..=10, lines.iter().map(|l| l.quantity)));
    histogram(1..=100_001, lines.iter().map(|l| l.i_id));
    let remote: Vec<i32> = lines.iter().map(|l| l.supply_w_id).filter(|&w_id| w_id != 3).collect();
    assert_share(remote.len(), lines.len(), 0.01);
    assert_uniform_over_others(&remote);
    assert_share(orders.iter().filter(|o| !o.all_local()).count(), N, 0.09516);
}

#[test]
fn payment() {
    let payments = payments(TEN_WAREHOUSES);
    assert!(payments.iter().all(|p| p.w_id == 3));
    assert_uniform(&histogram(1..=10, payments.iter().map(|p| p.d_id)));
    assert_share(payments.iter().filter(|p| by_name(&p.customer)).count(), N, 0.60);
    assert_mean(payments.iter().map(|p| p.amount as f64), 250_050.0, 144_309.0);
    assert!(payments.iter().all(|p| (1_00..=5_000_00).contains(&p.amount)));

    let (remote, home): (Vec<&Payment>, Vec<&Payment>) = payments.iter().partition(|p| p.c_w_id != 3);
    assert_share(remote.len(), N, 0.15);
    assert!(home.iter().all(|p| p.c_d_id == p.d_id));
    assert_uniform_over_others(&remote.iter().map(|p| p.c_w_id).collect::<Vec<_>>());
    assert_uniform(&histogram(1..=10, remote.iter().map(|p| p.c_d_id)));
    // By name or by number does not depend on home or remote (2.5.1.2).
    assert_share(remote.iter().filter(|p| by_name(&p.customer)).count(), remote.len(), 0.60);
}

#[test]
fn order_status() {
    let inputs = order_statuses();
    assert!(inputs.iter().all(|o| o.w_id == 3));
    assert_uniform(&histogram(1..=10, inputs.iter().map(|o| o.d_id)));
    assert_share(inputs.iter().filter(|o| by_name(&o.customer)).count(), N, 0.60);
}

#[test]
fn delivery() {
    let mut rng = stream(4);
    let inputs: Vec<Delivery> = (0..N).map(|_| Delivery::draw(&mut rng, 3)).collect();
    assert!(inputs.iter().all(|d| d.w_id == 3));
    assert_uniform(&histogram(1..=10, inputs.iter().map(|d| d.carrier_id)));
}

#[test]
fn stock_level() {
    let mut rng = stream(5);
    let inputs: Vec<StockLevel> = (0..N).map(|_| StockLevel::draw(&mut rng, 3, 8)).collect();
    assert!(inputs.iter().all(|s| (s.w_id, s.d_id) == (3, 8)));
    assert_uniform(&histogram(10..=20, inputs.iter().map(|s| s.threshold)));
}

#[test]
fn with_one_warehouse_everything_is_local() {
    let one = Warehouses { first: 3, count: 1 };
    assert!(new_orders(one).iter().all(NewOrder::all_local));
    let payments = payments(one);
    assert!(payments.iter().all(|p| p.c_w_id == 3));
    // Of the 15 % that would be remote, a tenth draws its own district again.
    assert_share(payments.iter().filter(|p| p.c_d_id != p.d_id).count(), N, 0.135);
}

#[test]
fn large_samples_lie_in_the_windows_of_the_limits() {
    let orders = new_orders(TEN_WAREHOUSES);
    let share = |hits: usize, of: usize| hits as f64 / of as f64;
    assert!(limits::ROLLBACK_SHARE.contains(share(orders.iter().filter(|o| o.rolls_back()).count(), N)));
    let lines: Vec<&Line> = orders.iter().flat_map(|o| o.lines.iter()).collect();
    assert!(limits::LINES_PER_ORDER.contains(share(lines.len(), N)));
    let remote = lines.iter().filter(|l| l.supply_w_id != 3).count();
    assert!(limits::REMOTE_LINES.contains(share(remote, lines.len())));
    let payments = payments(TEN_WAREHOUSES);
    assert!(limits::REMOTE_PAYMENTS.contains(share(payments.iter().filter(|p| p.c_w_id != 3).count(), N)));
    let named = payments.iter().filter(|p| by_name(&p.customer)).count();
    assert!(limits::PAYMENTS_BY_NAME.contains(share(named, N)));
    let named = order_statuses().iter().filter(|o| by_name(&o.customer)).count();
    assert!(limits::ORDER_STATUS_BY_NAME.contains(share(named, N)));
}

/// The samples of the windows follow from their widths: (3 sigma / half width) squared.
#[test]
fn samples_of_the_limits() {
    for window in limits::WINDOWS {
        let variance = if window == limits::LINES_PER_ORDER { 10.0 } else { window.expected * (1.0 - window.expected) };
        let half_width = (window.high - window.low) / 2.0;
        let sample = 9.0 * variance / (half_width * half_width);
        assert!((sample - window.sample_for_3_sigma as f64).abs() < 1e-6 * sample, "{}: {sample}", window.name);
        assert!((window.low + half_width - window.expected).abs() < 1e-12, "{}", window.name);
    }
    assert_eq!(limits::skipped_deliveries_allowed(0), 1);
    assert_eq!(limits::skipped_deliveries_allowed(199), 1);
    assert_eq!(limits::skipped_deliveries_allowed(1_000), 10);
}

#[test]
fn lines_hold_fifteen() {
    let line = |i_id| Line { i_id, supply_w_id: 1, quantity: 1 };
    let lines: Lines = (1..=20).map(line).collect();
    assert_eq!(*lines, (1..=15).map(line).collect::<Vec<_>>()[..]);
    assert_eq!(lines, (1..=15).map(line).collect());
    assert_ne!(lines, (1..=14).map(line).collect());
}

#[test]
fn rolls_back_looks_at_the_last_line_only() {
    let order = |items: [i32; 2]| NewOrder {
        w_id: 1,
        d_id: 1,
        c_id: 1,
        lines: items.into_iter().map(|i_id| Line { i_id, supply_w_id: 1, quantity: 1 }).collect(),
    };
    assert!(order([1, UNUSED_ITEM]).rolls_back());
    assert!(!order([1, 2]).rolls_back());
}

#[test]
fn kinds_have_names() {
    for (index, kind) in Kind::ALL.into_iter().enumerate() {
        assert_eq!(kind.index(), index);
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
        assert_eq!(kind.title().to_lowercase().replace('-', "_"), kind.name());
    }
    assert_eq!(Kind::from_name("New-Order"), None);
}

proptest! {
    #[test]
    fn remote_is_active_and_not_home(number: u64, first in 1..50_000, count in 2..1000, offset in 0..1000) {
        let active = Warehouses { first, count };
        let home = first + offset % count;
        let remote = active.remote(&mut stream(number), home);
        prop_assert!(remote != home && (first..first + count).contains(&remote));
    }
}

/// The nine warehouses other than 3, each equally often.
#[track_caller]
pub(crate) fn assert_uniform_over_others(remote: &[i32]) {
    let mut counts = histogram(1..=10, remote.iter().copied());
    assert_eq!(counts.remove(2), 0, "the home warehouse is not remote");
    assert_uniform(&counts);
}
