//! The New-Order that must roll back (2.4.1.4, 2.4.2.3): an unused item on its last line.

use tpcc::UNUSED_ITEM;
use tpcc::input::{Line, NewOrder};

use crate::Case;
use crate::bench::{Bench, HOME, away, home, left_of, order};

pub(crate) const CASES: &[Case] = crate::cases![
    an_unused_item_rolls_the_order_back,
    a_rolled_back_order_shows_customer_and_number,
    all_valid_lines_are_processed_before_the_rollback,
    remote_lines_are_processed_before_the_rollback,
    repeated_items_are_processed_before_the_rollback,
    a_rollback_leaves_every_table_as_it_was,
    a_rollback_leaves_every_row_it_touched_as_it_was,
    a_rollback_returns_its_number_to_the_next_order,
    orders_of_5_and_15_lines_roll_back_alike,
];

/// Four valid lines, remote and repeated ones among them, and the unused item.
fn doomed(d_id: i32) -> NewOrder {
    let lines = [home(401, 4), away(402, 8), home(403, 2), home(401, 10), home(UNUSED_ITEM, 3)];
    order(d_id, 21, lines)
}

async fn an_unused_item_rolls_the_order_back(bench: &mut Bench) {
    assert!(doomed(2).rolls_back());
    assert!(bench.new_order(&doomed(2)).await.rolled_back);
}

/// 2.4.3.4: the number proves that the work was done.
async fn a_rolled_back_order_shows_customer_and_number(bench: &mut Bench) {
    let next = bench.next_o_id(2).await;
    let customer = bench.customer(HOME, 2, 21).await;
    let shown = bench.new_order(&doomed(2)).await;
    assert_eq!(shown.o_id, next);
    let wanted = (customer.text("c_last"), customer.text("c_credit"));
    assert_eq!((shown.c_last.as_str(), shown.c_credit.as_str()), wanted);
}

/// Mistake: the rollback detected before stock and order lines are processed.
async fn all_valid_lines_are_processed_before_the_rollback(bench: &mut Bench) {
    let input = doomed(2);
    let valid = &input.lines[..4];
    let before = bench.stocks(valid).await;
    let shown = bench.new_order(&input).await;
    assert_eq!(shown.lines.iter().map(|shown| shown.line).collect::<Vec<_>>(), valid);
    for (at, shown) in shown.lines.iter().enumerate().take(3) {
        assert_eq!(shown.s_quantity, left_of(before[at].int("s_quantity"), valid[at].quantity));
        let price = bench.item(shown.line.i_id).await.long("i_price");
        assert_eq!(shown.amount, i64::from(shown.line.quantity) * price);
    }
}

/// Mistake: lines sorted by warehouse and item, so that remote ones come after the unused item and are never reached.
async fn remote_lines_are_processed_before_the_rollback(bench: &mut Bench) {
    let remote: Vec<Line> = (411..=414).map(|i_id| away(i_id, 5)).collect();
    let input = order(3, 21, remote.iter().copied().chain([home(UNUSED_ITEM, 1)]));
    let shown = bench.new_order(&input).await;
    assert_eq!(shown.lines.iter().map(|shown| shown.line).collect::<Vec<_>>(), remote);
}

async fn repeated_items_are_processed_before_the_rollback(bench: &mut Bench) {
    let input = doomed(2);
    let before = bench.stock(HOME, 401).await.int("s_quantity");
    let shown = bench.new_order(&input).await;
    assert_eq!(shown.lines[3].s_quantity, left_of(left_of(before, 4), 10));
}

async fn a_rollback_leaves_every_table_as_it_was(bench: &mut Bench) {
    let before = bench.sums().await;
    bench.new_order(&doomed(2)).await;
    assert_eq!(bench.sums().await, before);
}

async fn a_rollback_leaves_every_row_it_touched_as_it_was(bench: &mut Bench) {
    let input = doomed(2);
    let valid = &input.lines[..4];
    let stocks = bench.stocks(valid).await;
    let others = (bench.warehouse(HOME).await, bench.district(HOME, 2).await, bench.customer(HOME, 2, 21).await);
    let o_id = bench.new_order(&input).await.o_id;
    assert_eq!(bench.stocks(valid).await, stocks);
    let after = (bench.warehouse(HOME).await, bench.district(HOME, 2).await, bench.customer(HOME, 2, 21).await);
    assert_eq!(after, others);
    assert!(bench.order_lines(HOME, 2, o_id).await.is_empty());
}

async fn a_rollback_returns_its_number_to_the_next_order(bench: &mut Bench) {
    let rolled_back = bench.new_order(&doomed(2)).await.o_id;
    let valid = order(2, 22, doomed(2).lines.iter().take(4).copied().chain([home(404, 1)]));
    assert_eq!(bench.new_order(&valid).await.o_id, rolled_back);
    assert_eq!(bench.order(HOME, 2, rolled_back).await.int("o_c_id"), 22);
}

async fn orders_of_5_and_15_lines_roll_back_alike(bench: &mut Bench) {
    for count in [5, 15] {
        for last in [home(UNUSED_ITEM, 10), away(UNUSED_ITEM, 10)] {
            let next = bench.next_o_id(4).await;
            let input = order(4, 21, (1..count).map(|number| home(420 + number, 1)).chain([last]));
            let shown = bench.new_order(&input).await;
            assert!(shown.rolled_back);
            assert_eq!(shown.lines.len() as i32, count - 1);
            assert_eq!(bench.next_o_id(4).await, next);
        }
    }
}
