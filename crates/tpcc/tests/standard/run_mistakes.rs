//! Mistakes of known implementations in inputs, mix and timing, each with a test that fails on it.

use std::collections::HashSet;

use tpcc::UNUSED_ITEM;
use tpcc::input::*;
use tpcc::mix::Mix;
use tpcc::nurand::{Constants, admissible_run};
use tpcc::terminal::Terminal;

use crate::sample::*;

const N: usize = 100_000;

fn terminal(number: u64) -> Terminal {
    Terminal::new(7, number, 3, 8, TEN_WAREHOUSES, run_constants(), Mix::standard())
}

fn inputs() -> Vec<Input> {
    let mut terminal = terminal(1);
    (0..N).map(|_| terminal.next_input()).collect()
}

fn new_orders() -> Vec<NewOrder> {
    let new_order = |input| if let Input::NewOrder(order) = input { Some(order) } else { None };
    inputs().into_iter().filter_map(new_order).collect()
}

fn payments() -> Vec<Payment> {
    let payment = |input| if let Input::Payment(payment) = input { Some(payment) } else { None };
    inputs().into_iter().filter_map(payment).collect()
}

#[test]
fn remote_warehouse_can_be_the_home_one() {
    let mut rng = stream(1);
    assert!((0..N).all(|_| TEN_WAREHOUSES.remote(&mut rng, 3) != 3));
}

#[test]
fn remote_warehouse_always_the_home_one() {
    assert!(new_orders().iter().any(|o| !o.all_local()));
    assert!(payments().iter().any(|p| p.c_w_id != p.w_id));
}

#[test]
fn remote_warehouse_always_the_next_one() {
    let mut rng = stream(1);
    for home in [1, 3, 10] {
        let remote: HashSet<i32> = (0..1000).map(|_| TEN_WAREHOUSES.remote(&mut rng, home)).collect();
        assert_eq!(remote.len(), 9);
    }
}

#[test]
fn items_forced_to_be_distinct_within_an_order() {
    let orders = new_orders();
    let repeats = orders.iter().filter(|o| {
        let distinct: HashSet<i32> = o.lines.iter().map(|l| l.i_id).collect();
        distinct.len() < o.lines.len()
    });
    assert_share(repeats.count(), orders.len(), 0.0089);
}

#[test]
fn items_and_customers_uniform() {
    let c = run_constants();
    let low_bit = |value: i32, c: i32, n: i32| (value - 1 - c).rem_euclid(n) & 1 == 1;
    let orders = new_orders();
    assert_share(orders.iter().filter(|o| low_bit(o.c_id, c.c_id, 3000)).count(), orders.len(), 0.75);
    let items: Vec<i32> = orders.iter().flat_map(|o| o.lines.iter().map(|l| l.i_id)).collect();
    let items: Vec<i32> = items.into_iter().filter(|&i_id| i_id != UNUSED_ITEM).collect();
    assert_share(items.iter().filter(|&&i_id| low_bit(i_id, c.ol_i_id, 100_000)).count(), items.len(), 0.75);
}

#[test]
fn constants_drawn_anew_by_every_terminal_or_call() {
    // Names of many terminals together collide as often as those of one constant.
    let mut counts = std::collections::HashMap::new();
    let mut names = 0.0;
    for number in 0..2000 {
        let mut terminal = terminal(number);
        for _ in 0..100 {
            if let Input::Payment(Payment { customer: CustomerBy::LastName(name), .. }) = terminal.next_input() {
                *counts.entry(name).or_insert(0.0) += 1.0;
                names += 1.0;
            }
        }
    }
    let pairs: f64 = counts.values().map(|n| n * (n - 1.0)).sum();
    let share = pairs / (names * (names - 1.0));
    assert!((share / 0.0056444 - 1.0).abs() < 0.05, "{share}; uniform names give 0.001");
}

#[test]
fn rollback_disabled() {
    let orders = new_orders();
    assert_share(orders.iter().filter(|o| o.rolls_back()).count(), orders.len(), 0.01);
}

#[test]
fn unused_item_on_another_line_than_the_last() {
    for order in new_orders() {
        let (_, others) = order.lines.split_last().unwrap();
        assert!(others.iter().all(|line| line.i_id != UNUSED_ITEM));
    }
}

#[test]
fn unused_item_that_exists() {
    assert!(items().all(|item| item.i_id != UNUSED_ITEM));
    assert_eq!(tpcc::ITEMS, 100_000);
}

#[test]
fn lines_sorted() {
    let orders = new_orders();
    let sorted = |order: &&NewOrder| order.lines.is_sorted_by_key(|line| line.i_id);
    // Five random lines are in order once in 120 times, more lines hardly ever.
    assert!(orders.iter().filter(sorted).count() < orders.len() / 200);
}

#[test]
fn integer_payments() {
    let payments = payments();
    assert_share(payments.iter().filter(|p| p.amount % 100 == 0).count(), payments.len(), 0.01);
    assert!(payments.iter().any(|p| p.amount > 4_990_00) && payments.iter().any(|p| p.amount < 11_00));
}

#[test]
fn warehouse_random_per_transaction() {
    assert!(inputs().iter().all(|input| match input {
        Input::NewOrder(input) => input.w_id == 3,
        Input::Payment(input) => input.w_id == 3,
        Input::OrderStatus(input) => input.w_id == 3,
        Input::Delivery(input) => input.w_id == 3,
        Input::StockLevel(input) => input.w_id == 3,
    }));
}

#[test]
fn district_restricted_to_that_of_the_terminal() {
    assert_uniform(&histogram(1..=10, new_orders().iter().map(|o| o.d_id)));
    assert_uniform(&histogram(1..=10, payments().iter().map(|p| p.d_id)));
}

#[test]
fn district_of_stock_level_random() {
    assert!(inputs().iter().all(|input| !matches!(input, Input::StockLevel(s) if s.d_id != 8)));
}

#[test]
fn remote_order_status() {
    // The input has no field for it; the customer is looked up at (w_id, d_id).
    assert!(inputs().iter().any(|input| matches!(input, Input::OrderStatus(o) if o.w_id == 3)));
}

#[test]
fn same_constant_for_load_and_run() {
    for seed in 0..10_000 {
        let load = Constants::for_load(seed);
        let run = Constants::for_run(seed, &load);
        assert!(admissible_run(load.c_last, run.c_last), "{load:?} {run:?}");
    }
}

#[test]
fn ranges_of_the_constants_exchanged_or_short() {
    let runs: Vec<Constants> = (0..100_000).map(|seed| Constants::for_run(seed, &Constants::for_load(1))).collect();
    assert_eq!(runs.iter().map(|c| c.c_id).max(), Some(1023));
    assert_eq!(runs.iter().map(|c| c.ol_i_id).max(), Some(8191));
}

#[test]
fn think_times_of_delivery_and_order_status_exchanged() {
    assert_eq!(Kind::OrderStatus.timing().mean_think_seconds, 10.0);
    assert_eq!(Kind::Delivery.timing().mean_think_seconds, 5.0);
}

#[test]
fn think_time_constant() {
    let mut terminal = terminal(1);
    let think: HashSet<u64> = (0..1000).map(|_| terminal.think_us(Kind::NewOrder, 1.0)).collect();
    assert!(think.len() > 990);
}

#[test]
fn ceiling_of_the_weights_used_for_the_deck() {
    assert!((Mix::standard().ceiling_per_warehouse() - 12.863).abs() < 0.0005);
    assert!((Mix::deck().ceiling_per_warehouse() - 12.605).abs() < 0.0005);
}

#[test]
fn generator_seeded_anew_for_every_transaction() {
    let mut terminal = terminal(1);
    let (mut previous, mut same) = (terminal.next_input(), 0);
    for _ in 0..10_000 {
        let next = terminal.next_input();
        if matches!(next, Input::NewOrder(_) | Input::Payment(_)) {
            assert_ne!(next, previous);
        }
        same += usize::from(next == previous);
        previous = next;
    }
    // Two Deliveries with one carrier, or two Stock-Levels with one threshold.
    assert!(same < 20);
}

#[test]
fn terminals_with_one_seed_enter_the_same() {
    let (mut first, mut second) = (terminal(1), terminal(2));
    let same = (0..1000).filter(|_| first.next_input() == second.next_input()).count();
    assert!(same < 5, "{same}");
}
