//! Rows that must exist and don't (2.3.6): an error, never a result, and nothing is left behind.

use target::Class;
use tpcc::UNUSED_ITEM;
use tpcc::input::{CustomerBy, Delivery, Input, NewOrder, OrderStatus, Payment, StockLevel};
use tpcc::text::Text;

use crate::Case;
use crate::bench::{AWAY, Bench, HOME, away, home, order};

pub(crate) const CASES: &[Case] = crate::cases![
    a_missing_item_is_an_error_and_no_rollback,
    a_missing_item_beside_the_unused_one_is_an_error_and_no_rollback,
    missing_stock_is_an_error,
    missing_remote_stock_is_an_error,
    a_missing_district_is_an_error,
    a_missing_warehouse_is_an_error,
    a_missing_customer_is_an_error,
    a_missing_remote_customer_is_an_error,
    a_last_name_that_nobody_has_is_an_error,
    a_customer_without_orders_is_an_error,
    an_order_without_lines_is_an_error_when_asked_for,
    a_queued_order_that_does_not_exist_is_an_error,
    a_delivery_to_a_missing_customer_is_an_error,
    the_session_serves_on_after_an_error,
    a_delivery_of_an_order_without_lines_is_an_error,
];

const D_ID: i32 = 6;
const C_ID: i32 = 31;

fn an_order() -> NewOrder {
    order(D_ID, C_ID, [home(501, 1), home(502, 2), home(503, 3), away(504, 4), home(505, 5)])
}

fn a_payment(customer: CustomerBy) -> Payment {
    Payment { w_id: HOME, d_id: D_ID, c_w_id: HOME, c_d_id: D_ID, customer, amount: 100_00 }
}

fn a_status(customer: CustomerBy) -> Input {
    Input::OrderStatus(OrderStatus { w_id: HOME, d_id: D_ID, customer })
}

fn new_order() -> Input {
    Input::NewOrder(an_order())
}

fn payment() -> Input {
    Input::Payment(a_payment(CustomerBy::Number(C_ID)))
}

fn order_status() -> Input {
    a_status(CustomerBy::Number(C_ID))
}

fn delivery() -> Input {
    Input::Delivery(Delivery { w_id: HOME, carrier_id: 4 })
}

fn stock_level() -> Input {
    Input::StockLevel(StockLevel { w_id: HOME, d_id: D_ID, threshold: 15 })
}

/// Runs transactions while rows are gone: each must fail, for good, and change nothing.
async fn refused(bench: &mut Bench, table: &str, rows: &str, inputs: &[Input]) {
    bench.take_out(table, rows).await;
    let before = bench.sums().await;
    let mut outcomes = Vec::new();
    for input in inputs {
        outcomes.push(bench.run(input).await);
    }
    let after = bench.sums().await;
    bench.put_back(table).await;
    for (input, outcome) in inputs.iter().zip(outcomes) {
        let class = outcome.as_ref().map_err(|e| e.class());
        assert_eq!(class.err(), Some(Class::Integrity), "{input:?} without {rows}: {outcome:?}");
    }
    assert_eq!(after, before, "without {rows}");
}

async fn a_missing_item_is_an_error_and_no_rollback(bench: &mut Bench) {
    refused(bench, "item", "i_id = 503", &[new_order()]).await;
    refused(bench, "item", "i_id = 505", &[new_order()]).await;
}

async fn a_missing_item_beside_the_unused_one_is_an_error_and_no_rollback(bench: &mut Bench) {
    let lines = an_order().lines;
    let input = order(D_ID, C_ID, lines.iter().take(4).copied().chain([home(UNUSED_ITEM, 1)]));
    refused(bench, "item", "i_id = 503", &[Input::NewOrder(input)]).await;
}

async fn missing_stock_is_an_error(bench: &mut Bench) {
    refused(bench, "stock", "s_w_id = 1 AND s_i_id = 503", &[new_order()]).await;
}

async fn missing_remote_stock_is_an_error(bench: &mut Bench) {
    refused(bench, "stock", "s_w_id = 2 AND s_i_id = 504", &[new_order()]).await;
}

async fn a_missing_district_is_an_error(bench: &mut Bench) {
    refused(bench, "district", "d_w_id = 1 AND d_id = 6", &[new_order(), payment(), stock_level()]).await;
}

async fn a_missing_warehouse_is_an_error(bench: &mut Bench) {
    refused(bench, "warehouse", "w_id = 1", &[new_order(), payment()]).await;
}

async fn a_missing_customer_is_an_error(bench: &mut Bench) {
    let rows = "c_w_id = 1 AND c_d_id = 6 AND c_id = 31";
    refused(bench, "customer", rows, &[new_order(), payment(), order_status()]).await;
}

async fn a_missing_remote_customer_is_an_error(bench: &mut Bench) {
    let input = Payment { c_w_id: AWAY, c_d_id: 9, ..a_payment(CustomerBy::Number(C_ID)) };
    refused(bench, "customer", "c_w_id = 2 AND c_d_id = 9 AND c_id = 31", &[Input::Payment(input)]).await;
}

/// Every district has all 1,000 names from the load on.
async fn a_last_name_that_nobody_has_is_an_error(bench: &mut Bench) {
    let nobody = CustomerBy::LastName(Text::try_from("NOBODY").unwrap());
    let inputs = [Input::Payment(a_payment(nobody)), a_status(nobody)];
    refused(bench, "customer", "c_w_id = 1 AND c_d_id = 6 AND c_last = 'NOBODY'", &inputs).await;
}

/// Every customer has an order from the load on.
async fn a_customer_without_orders_is_an_error(bench: &mut Bench) {
    refused(bench, "orders", "o_w_id = 1 AND o_d_id = 6 AND o_c_id = 31", &[order_status()]).await;
}

async fn an_order_without_lines_is_an_error_when_asked_for(bench: &mut Bench) {
    let of_customer = "SELECT MAX(o_id) FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3";
    let o_id = bench.number(of_customer, &[HOME.into(), D_ID.into(), C_ID.into()]).await;
    let rows = format!("ol_w_id = 1 AND ol_d_id = 6 AND ol_o_id = {o_id}");
    refused(bench, "order_line", &rows, &[order_status()]).await;
}

async fn a_queued_order_that_does_not_exist_is_an_error(bench: &mut Bench) {
    let o_id = oldest(bench).await;
    let rows = format!("o_w_id = 1 AND o_d_id = 6 AND o_id = {o_id}");
    refused(bench, "orders", &rows, &[delivery()]).await;
}

async fn a_delivery_to_a_missing_customer_is_an_error(bench: &mut Bench) {
    let o_id = oldest(bench).await;
    let c_id = bench.order(HOME, D_ID, o_id).await.int("o_c_id");
    let rows = format!("c_w_id = 1 AND c_d_id = 6 AND c_id = {c_id}");
    refused(bench, "customer", &rows, &[delivery()]).await;
}

async fn oldest(bench: &mut Bench) -> i32 {
    let sql = "SELECT MIN(no_o_id) FROM new_order WHERE no_w_id = $1 AND no_d_id = $2";
    bench.number(sql, &[HOME.into(), D_ID.into()]).await.try_into().unwrap()
}

async fn the_session_serves_on_after_an_error(bench: &mut Bench) {
    let next = bench.next_o_id(D_ID).await;
    refused(bench, "stock", "s_w_id = 1 AND s_i_id = 505", &[new_order()]).await;
    assert_eq!(bench.new_order(&an_order()).await.o_id, next);
}

async fn a_delivery_of_an_order_without_lines_is_an_error(bench: &mut Bench) {
    let o_id = oldest(bench).await;
    let rows = format!("ol_w_id = 1 AND ol_d_id = 6 AND ol_o_id = {o_id}");
    refused(bench, "order_line", &rows, &[delivery()]).await;
}
