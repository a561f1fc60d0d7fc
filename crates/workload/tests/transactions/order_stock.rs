//! New-Order (2.4): what it does to the stock.

use tpcc::input::{Line, NewOrder};

use crate::Case;
use crate::bench::{AWAY, Bench, HOME, away, home, left_of, order};
use crate::record::Record;

pub(crate) const CASES: &[Case] = crate::cases![
    quantities_follow_the_clause,
    every_quantity_follows_the_clause,
    the_new_quantity_is_shown,
    counters_count_every_line,
    nothing_else_of_the_stock_changes,
    large_counters_keep_counting,
    the_second_line_of_an_item_sees_what_the_first_one_left,
    a_repeated_item_counts_every_line,
    an_order_of_one_item_alone_counts_fifteen_lines,
    an_item_of_two_suppliers_has_two_stocks,
    items_repeated_at_both_suppliers_are_all_counted,
    a_remote_line_takes_its_suppliers_stock_and_not_the_home_one,
    only_remote_lines_count_as_remote,
];

/// S_QUANTITY, OL_QUANTITY and the S_QUANTITY that must come of them.
const VECTORS: [(i32, i32, i32); 7] =
    [(20, 10, 10), (19, 10, 100), (10, 1, 100), (10, 10, 91), (100, 10, 90), (14, 5, 100), (15, 5, 10)];

fn vector_order() -> NewOrder {
    order(1, 5, VECTORS.iter().zip(201..).map(|((_, quantity, _), i_id)| home(i_id, *quantity)))
}

async fn set_vector_stock(bench: &mut Bench) {
    bench.set_quantities(&vector_order().lines, &VECTORS.map(|(before, _, _)| before)).await;
}

fn quantities(stocks: &[Record]) -> Vec<i32> {
    stocks.iter().map(|stock| stock.int("s_quantity")).collect()
}

/// Mistakes: S_QUANTITY > OL_QUANTITY instead of a rest of 10; 91 added without the quantity taken off.
async fn quantities_follow_the_clause(bench: &mut Bench) {
    set_vector_stock(bench).await;
    bench.new_order(&vector_order()).await;
    let after = quantities(&bench.stocks(&vector_order().lines).await);
    assert_eq!(after, VECTORS.map(|(_, _, after)| after));
}

async fn every_quantity_follows_the_clause(bench: &mut Bench) {
    // All of 10..=100, in orders of 13 lines, with quantities that run through 1..=10.
    for first in (10..=100).step_by(13) {
        let before: Vec<i32> = (first..first + 13).collect();
        let lines: Vec<Line> = before.iter().map(|quantity| home(300 + quantity, quantity % 10 + 1)).collect();
        bench.set_quantities(&lines, &before).await;
        bench.new_order(&order(1, 5, lines.iter().copied())).await;
        let wanted: Vec<i32> = before.iter().zip(&lines).map(|(s, line)| left_of(*s, line.quantity)).collect();
        assert_eq!(quantities(&bench.stocks(&lines).await), wanted);
    }
}

/// Mistake: the old S_QUANTITY displayed.
async fn the_new_quantity_is_shown(bench: &mut Bench) {
    set_vector_stock(bench).await;
    let shown = bench.new_order(&vector_order()).await;
    let shown: Vec<i32> = shown.lines.iter().map(|line| line.s_quantity).collect();
    assert_eq!(shown, VECTORS.map(|(_, _, after)| after));
}

/// Mistake: S_YTD, S_ORDER_CNT and S_REMOTE_CNT never updated.
async fn counters_count_every_line(bench: &mut Bench) {
    let before = bench.stocks(&vector_order().lines).await;
    bench.new_order(&vector_order()).await;
    let after = bench.stocks(&vector_order().lines).await;
    for ((before, after), (_, quantity, _)) in before.iter().zip(&after).zip(VECTORS) {
        let gained = |column| after.int(column) - before.int(column);
        assert_eq!([gained("s_ytd"), gained("s_order_cnt"), gained("s_remote_cnt")], [quantity, 1, 0]);
    }
}

async fn nothing_else_of_the_stock_changes(bench: &mut Bench) {
    let before = bench.stocks(&vector_order().lines).await;
    bench.new_order(&vector_order()).await;
    let wanted: Vec<Record> = before.into_iter().zip(VECTORS).map(|(stock, (_, q, _))| ordered(stock, q, 0)).collect();
    assert_eq!(bench.stocks(&vector_order().lines).await, wanted);
}

/// A stock row after a line of `quantity`.
fn ordered(stock: Record, quantity: i32, remote: i32) -> Record {
    let left = left_of(stock.int("s_quantity"), quantity);
    let stock = stock.with("s_quantity", left).plus("s_ytd", quantity);
    stock.plus("s_order_cnt", 1).plus("s_remote_cnt", remote)
}

/// Mistake: S_YTD with six digits; without waits even the eight of 1.3.1 are used up some day.
async fn large_counters_keep_counting(bench: &mut Bench) {
    let input = vector_order();
    let lines = &input.lines[..1];
    let before = bench.stocks(lines).await.remove(0);
    set_counters(bench, lines[0], [99_999_995, 9_999]).await;
    bench.new_order(&input).await;
    let after = bench.stocks(lines).await.remove(0);
    // What the order has added stays.
    set_counters(bench, lines[0], [before.int("s_ytd") + lines[0].quantity, before.int("s_order_cnt") + 1]).await;
    let counters = (after.int("s_ytd"), after.int("s_order_cnt"));
    assert_eq!(counters, (99_999_995 + lines[0].quantity, 10_000));
}

async fn set_counters(bench: &mut Bench, line: Line, [ytd, order_cnt]: [i32; 2]) {
    let sql = "UPDATE stock SET s_ytd = $3, s_order_cnt = $4 WHERE s_w_id = $1 AND s_i_id = $2";
    bench.query(sql, &[line.supply_w_id.into(), line.i_id.into(), ytd.into(), order_cnt.into()]).await;
}

/// Mistakes: the row read once and an absolute quantity written later; a set-based UPDATE that touches it once.
async fn the_second_line_of_an_item_sees_what_the_first_one_left(bench: &mut Bench) {
    let repeated = home(211, 5);
    let input = order(1, 5, [repeated, home(212, 1), home(211, 7), home(213, 1), home(211, 3)]);
    bench.set_quantities(&[repeated], &[20]).await;
    let shown = bench.new_order(&input).await;
    let shown: Vec<i32> = [0, 2, 4].map(|at| shown.lines[at].s_quantity).into();
    // 20 - 5; 15 - 7 is below 10, so 91 more; 99 - 3.
    assert_eq!(shown, [15, 99, 96]);
    assert_eq!(bench.stock(HOME, 211).await.int("s_quantity"), 96);
}

async fn a_repeated_item_counts_every_line(bench: &mut Bench) {
    let input = order(1, 5, [home(211, 5), home(212, 1), home(211, 7), home(213, 1), home(211, 3)]);
    let before = bench.stock(HOME, 211).await;
    bench.new_order(&input).await;
    let wanted = [5, 7, 3].into_iter().fold(before, |stock, quantity| ordered(stock, quantity, 0));
    assert_eq!(bench.stock(HOME, 211).await, wanted);
}

async fn an_order_of_one_item_alone_counts_fifteen_lines(bench: &mut Bench) {
    let input = order(1, 5, (1..=15).map(|number| away(221, number % 10 + 1)));
    let mut stock = bench.stock(AWAY, 221).await;
    let shown = bench.new_order(&input).await;
    for (shown, line) in shown.lines.iter().zip(input.lines.iter()) {
        stock = ordered(stock, line.quantity, 1);
        assert_eq!(shown.s_quantity, stock.int("s_quantity"));
    }
    assert_eq!(bench.stock(AWAY, 221).await, stock);
    assert_eq!(bench.order_lines(HOME, 1, shown.o_id).await.len(), 15);
}

async fn an_item_of_two_suppliers_has_two_stocks(bench: &mut Bench) {
    let input = order(1, 5, [home(231, 4), away(231, 9), home(232, 1), home(233, 1), home(234, 1)]);
    let before = bench.stocks(&input.lines[..2]).await;
    let shown = bench.new_order(&input).await;
    let wanted = [ordered(before[0].clone(), 4, 0), ordered(before[1].clone(), 9, 1)];
    assert_eq!(bench.stocks(&input.lines[..2]).await, wanted);
    assert_eq!([0, 1].map(|at| shown.lines[at].s_quantity), [0, 1].map(|at: usize| wanted[at].int("s_quantity")));
}

async fn items_repeated_at_both_suppliers_are_all_counted(bench: &mut Bench) {
    let lines = [home(241, 4), away(241, 9), home(242, 1), away(241, 2), home(241, 8), away(242, 3), home(242, 10)];
    let before = bench.stocks(&lines).await;
    bench.new_order(&order(1, 5, lines)).await;
    let after = bench.stocks(&lines).await;
    let twice = |at: usize, first, second, remote| ordered(ordered(before[at].clone(), first, remote), second, remote);
    assert_eq!(after[0], twice(0, 4, 8, 0));
    assert_eq!(after[1], twice(1, 9, 2, 1));
    assert_eq!(after[2], twice(2, 1, 10, 0));
    assert_eq!(after[5], ordered(before[5].clone(), 3, 1));
}

/// Mistake: the stock always taken from the home warehouse.
async fn a_remote_line_takes_its_suppliers_stock_and_not_the_home_one(bench: &mut Bench) {
    let input = order(1, 5, [away(251, 6), home(252, 1), home(253, 1), home(254, 1), home(255, 1)]);
    let (at_home, remote) = (bench.stock(HOME, 251).await, bench.stock(AWAY, 251).await);
    bench.new_order(&input).await;
    assert_eq!(bench.stock(HOME, 251).await, at_home);
    assert_eq!(bench.stock(AWAY, 251).await, ordered(remote, 6, 1));
}

async fn only_remote_lines_count_as_remote(bench: &mut Bench) {
    let input = order(1, 5, [home(261, 1), away(262, 1), home(263, 1), away(264, 1), home(265, 1)]);
    let before = bench.stocks(&input.lines).await;
    bench.new_order(&input).await;
    let after = bench.stocks(&input.lines).await;
    let gained =
        before.iter().zip(&after).map(|(before, after)| after.int("s_remote_cnt") - before.int("s_remote_cnt"));
    assert_eq!(gained.collect::<Vec<_>>(), [0, 1, 0, 1, 0]);
}
