//! Stock-Level (2.8).

use std::collections::BTreeSet;

use tpcc::input::NewOrder;

use crate::Case;
use crate::bench::{AWAY, Bench, HOME, away, home, order};

pub(crate) const CASES: &[Case] = crate::cases![
    the_count_is_that_of_the_tables,
    the_threshold_itself_is_not_low,
    an_item_ordered_often_counts_once,
    the_stock_counted_is_the_home_one_whoever_supplied,
    orders_count_from_the_twentieth_last_on,
    orders_of_other_districts_do_not_count,
];

const D_ID: i32 = 10;

/// Items of the last 20 orders of a district with a home stock below the threshold, counted here.
async fn counted(bench: &mut Bench, d_id: i32, threshold: i32) -> i32 {
    let next = bench.next_o_id(d_id).await;
    let mut items = BTreeSet::new();
    for o_id in next - 20..next {
        items.extend(bench.order_lines(HOME, d_id, o_id).await.iter().map(|line| line.int("ol_i_id")));
    }
    let mut low = 0;
    for i_id in items {
        low += i32::from(bench.stock(HOME, i_id).await.int("s_quantity") < threshold);
    }
    low
}

/// An order whose last item is `i_id`, supplied by the other warehouse.
fn order_of(d_id: i32, i_id: i32) -> NewOrder {
    order(d_id, 81, [home(901, 1), home(902, 1), home(903, 1), home(904, 1), away(i_id, 1)])
}

/// Sets the quantity of an item at home.
async fn set_home(bench: &mut Bench, i_id: i32, quantity: i32) {
    bench.set_quantities(&[home(i_id, 1)], &[quantity]).await;
}

async fn the_count_is_that_of_the_tables(bench: &mut Bench) {
    bench.new_order(&order_of(D_ID, 911)).await;
    for threshold in 10..=20 {
        let wanted = counted(bench, D_ID, threshold).await;
        assert_eq!(bench.low_stock(D_ID, threshold).await, wanted, "below {threshold}");
    }
}

async fn the_threshold_itself_is_not_low(bench: &mut Bench) {
    bench.new_order(&order_of(D_ID, 912)).await;
    set_home(bench, 912, 100).await;
    let others = bench.low_stock(D_ID, 15).await;
    for (quantity, low) in [(14, 1), (15, 0), (16, 0)] {
        set_home(bench, 912, quantity).await;
        assert_eq!(bench.low_stock(D_ID, 15).await, others + low, "{quantity} in stock");
    }
}

async fn an_item_ordered_often_counts_once(bench: &mut Bench) {
    set_home(bench, 913, 100).await;
    bench.new_order(&order_of(D_ID, 913)).await;
    bench.new_order(&order_of(D_ID, 913)).await;
    bench.new_order(&order(D_ID, 81, (1..=5).map(|_| away(913, 1)))).await;
    let others = bench.low_stock(D_ID, 15).await;
    set_home(bench, 913, 10).await;
    assert_eq!(bench.low_stock(D_ID, 15).await, others + 1);
}

async fn the_stock_counted_is_the_home_one_whoever_supplied(bench: &mut Bench) {
    bench.new_order(&order_of(D_ID, 914)).await;
    let set = async |bench: &mut Bench, at_home, remote| {
        bench.set_quantities(&[home(914, 1), away(914, 1)], &[at_home, remote]).await;
        bench.low_stock(D_ID, 15).await
    };
    let others = set(bench, 100, 100).await;
    assert_eq!(set(bench, 10, 100).await, others + 1, "low at warehouse {HOME}");
    assert_eq!(set(bench, 100, 10).await, others, "low at warehouse {AWAY}");
}

async fn orders_count_from_the_twentieth_last_on(bench: &mut Bench) {
    set_home(bench, 915, 10).await;
    bench.new_order(&order_of(D_ID, 915)).await;
    let mut low = async |more, quantity| {
        for _ in 0..more {
            bench.new_order(&order_of(D_ID, 916)).await;
        }
        set_home(bench, 915, quantity).await;
        low_without_companions(bench).await
    };
    let twentieth_last = [low(19, 100).await, low(0, 10).await];
    assert_eq!(twentieth_last[1], twentieth_last[0] + 1);
    assert_eq!(low(1, 10).await, low(0, 100).await, "the order before the last 20");
}

async fn orders_of_other_districts_do_not_count(bench: &mut Bench) {
    set_home(bench, 917, 10).await;
    let before = low_without_companions(bench).await;
    bench.new_order(&order_of(D_ID - 1, 917)).await;
    assert_eq!(low_without_companions(bench).await, before);
}

/// The low stock, once the other items of [`order_of`] have been filled up.
async fn low_without_companions(bench: &mut Bench) -> i32 {
    for i_id in [901, 902, 903, 904, 916] {
        set_home(bench, i_id, 100).await;
    }
    bench.low_stock(D_ID, 15).await
}
