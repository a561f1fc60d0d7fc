//! Order-Status (2.6).

use std::collections::BTreeSet;

use tpcc::input::{CustomerBy, Line, Payment};
use workload::tpcc::OrderStatusOutput;

use crate::Case;
use crate::bench::{Bench, HOME, away, home, order};

pub(crate) const CASES: &[Case] = crate::cases![
    the_order_shown_is_the_customers_own_latest,
    the_header_shows_customer_and_entry_date,
    the_balance_shown_is_the_newest,
    all_lines_are_shown_as_entered,
    the_lines_shown_are_those_of_the_order_alone,
    before_the_delivery_there_is_neither_carrier_nor_date,
    after_the_delivery_there_are_carrier_and_dates,
    by_name_the_customer_in_the_middle_is_shown,
    a_question_changes_nothing,
];

const D_ID: i32 = 2;

async fn status(bench: &mut Bench, c_id: i32) -> OrderStatusOutput {
    bench.order_status(D_ID, CustomerBy::Number(c_id)).await
}

fn five_lines(first: i32) -> [Line; 5] {
    [home(first, 1), away(first + 1, 2), home(first + 2, 3), home(first + 3, 4), home(first + 4, 5)]
}

/// Mistake: the newest order of the district, or of the whole table.
async fn the_order_shown_is_the_customers_own_latest(bench: &mut Bench) {
    bench.new_order(&order(D_ID, 61, five_lines(601))).await;
    let latest = bench.new_order(&order(D_ID, 61, five_lines(601))).await.o_id;
    bench.new_order(&order(D_ID, 62, five_lines(601))).await;
    bench.new_order(&order(D_ID + 1, 61, five_lines(601))).await;
    assert_eq!(status(bench, 61).await.o_id, latest);
}

async fn the_header_shows_customer_and_entry_date(bench: &mut Bench) {
    let entered = bench.new_order(&order(D_ID, 63, five_lines(601))).await;
    let shown = status(bench, 63).await;
    let customer = bench.customer(HOME, D_ID, 63).await;
    let texts = (shown.c_first.as_str(), shown.c_middle.as_str(), shown.c_last.as_str());
    assert_eq!(texts, (customer.text("c_first"), customer.text("c_middle"), customer.text("c_last")));
    let numbers = (shown.c_id, shown.c_balance, shown.o_entry_d_us);
    assert_eq!(numbers, (63, customer.long("c_balance"), entered.o_entry_d_us));
}

async fn the_balance_shown_is_the_newest(bench: &mut Bench) {
    let before = status(bench, 64).await.c_balance;
    let customer = CustomerBy::Number(64);
    let payment = Payment { w_id: HOME, d_id: 9, c_w_id: HOME, c_d_id: D_ID, customer, amount: 99_01 };
    bench.payment(&payment).await;
    assert_eq!(status(bench, 64).await.c_balance, before - 99_01);
}

/// Mistake: the lines of the order whose number is D_ID.
async fn all_lines_are_shown_as_entered(bench: &mut Bench) {
    for count in [5, 15] {
        let lines =
            (1..=count).map(|number| if number % 4 == 0 { away(700 + number, 3) } else { home(700 + number, 6) });
        let entered = bench.new_order(&order(D_ID, 65, lines)).await;
        let wanted = entered.lines.iter().map(|shown| (shown.line, shown.amount));
        let shown = status(bench, 65).await.lines.into_iter().map(|shown| {
            let line = Line { i_id: shown.i_id, supply_w_id: shown.supply_w_id, quantity: shown.quantity };
            (line, shown.amount)
        });
        // 2.6.2.2 leaves their order free.
        let sorted = |mut lines: Vec<(Line, i64)>| {
            lines.sort_by_key(|(line, _)| line.i_id);
            lines
        };
        assert_eq!(sorted(shown.collect()), sorted(wanted.collect()));
    }
}

async fn the_lines_shown_are_those_of_the_order_alone(bench: &mut Bench) {
    bench.new_order(&order(D_ID, 66, five_lines(621))).await;
    bench.new_order(&order(D_ID, 66, five_lines(631))).await;
    bench.new_order(&order(D_ID, 67, five_lines(641))).await;
    let shown: BTreeSet<i32> = status(bench, 66).await.lines.iter().map(|line| line.i_id).collect();
    assert_eq!(shown, (631..=635).collect());
}

async fn before_the_delivery_there_is_neither_carrier_nor_date(bench: &mut Bench) {
    bench.new_order(&order(D_ID, 68, five_lines(601))).await;
    let shown = status(bench, 68).await;
    assert_eq!(shown.o_carrier_id, None);
    assert!(shown.lines.iter().all(|line| line.delivery_d_us.is_none()));
}

async fn after_the_delivery_there_are_carrier_and_dates(bench: &mut Bench) {
    // Nothing else waits in the district, so that the next Delivery takes this order.
    bench.take_out("new_order", "no_w_id = 1 AND no_d_id = 2").await;
    let o_id = bench.new_order(&order(D_ID, 69, five_lines(601))).await.o_id;
    let delivered = bench.delivery(7).await;
    bench.put_back("new_order").await;
    assert_eq!(delivered.o_ids[1], Some(o_id));
    let shown = status(bench, 69).await;
    assert_eq!((shown.o_id, shown.o_carrier_id), (o_id, Some(7)));
    let mut stored = bench.order_lines(HOME, D_ID, o_id).await.into_iter().map(|line| line.time("ol_delivery_d"));
    let dates: BTreeSet<i64> = shown.lines.iter().map(|line| line.delivery_d_us.unwrap()).collect();
    assert!(stored.all(|date| dates.contains(&date)));
}

async fn by_name_the_customer_in_the_middle_is_shown(bench: &mut Bench) {
    let namesakes = bench.namesakes(HOME, D_ID).await;
    assert!((1..=4).all(|n| namesakes.contains_key(&n)), "{:?}", namesakes.keys());
    for (n, (name, numbers)) in namesakes {
        let by_name = bench.order_status(D_ID, CustomerBy::LastName(name)).await;
        let middle = numbers[(n - 1) / 2];
        assert_eq!(by_name.c_id, middle, "of {n}");
        assert_eq!(by_name, status(bench, middle).await, "of {n}");
    }
}

async fn a_question_changes_nothing(bench: &mut Bench) {
    let before = bench.sums().await;
    status(bench, 61).await;
    bench.low_stock(D_ID, 15).await;
    assert_eq!(bench.sums().await, before);
}
