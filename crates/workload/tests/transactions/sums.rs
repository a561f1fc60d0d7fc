//! After all cases: the sums of the tables against what was committed.

use crate::Case;
use crate::bench::Bench;

pub(crate) const CASES: &[Case] = crate::cases![
    order_numbers_count_the_new_orders,
    orders_count_the_new_orders_and_have_no_gap,
    the_queue_counts_orders_entered_less_delivered,
    history_and_customers_count_the_payments,
    customers_and_carriers_count_the_deliveries,
    money_received_agrees_in_four_tables,
    stock_counts_the_lines_entered,
    orders_with_a_remote_line_are_not_all_local,
];

const WAREHOUSES: i64 = 2;

async fn sum(bench: &mut Bench, sql: &str) -> i64 {
    bench.number(sql, &[]).await
}

async fn order_numbers_count_the_new_orders(bench: &mut Bench) {
    let orders = bench.book().orders;
    assert_eq!(sum(bench, "SELECT SUM(d_next_o_id) FROM district").await, 30_010 * WAREHOUSES + orders);
}

async fn orders_count_the_new_orders_and_have_no_gap(bench: &mut Bench) {
    let orders = bench.book().orders;
    assert_eq!(sum(bench, "SELECT COUNT(*) FROM orders").await, 30_000 * WAREHOUSES + orders);
    let districts = "SELECT COUNT(*) FROM district, \
                     (SELECT o_w_id, o_d_id, COUNT(*) AS n, MIN(o_id) AS low, MAX(o_id) AS high FROM orders \
                      GROUP BY o_w_id, o_d_id) AS o \
                     WHERE o_w_id = d_w_id AND o_d_id = d_id AND low = 1 AND high = d_next_o_id - 1 AND n = high";
    assert_eq!(sum(bench, districts).await, 10 * WAREHOUSES);
}

async fn the_queue_counts_orders_entered_less_delivered(bench: &mut Bench) {
    let book = bench.book();
    let wanted = 9_000 * WAREHOUSES + book.orders - book.delivered;
    assert_eq!(sum(bench, "SELECT COUNT(*) FROM new_order").await, wanted);
}

async fn history_and_customers_count_the_payments(bench: &mut Bench) {
    let wanted = 30_000 * WAREHOUSES + bench.book().payments;
    let counts =
        [sum(bench, "SELECT COUNT(*) FROM history").await, sum(bench, "SELECT SUM(c_payment_cnt) FROM customer").await];
    assert_eq!(counts, [wanted; 2]);
}

async fn customers_and_carriers_count_the_deliveries(bench: &mut Bench) {
    let delivered = bench.book().delivered;
    let counts = [
        sum(bench, "SELECT SUM(c_delivery_cnt) FROM customer").await,
        sum(bench, "SELECT COUNT(o_carrier_id) FROM orders").await - 21_000 * WAREHOUSES,
    ];
    assert_eq!(counts, [delivered; 2]);
}

async fn money_received_agrees_in_four_tables(bench: &mut Bench) {
    let wanted = 300_000_00 * WAREHOUSES + bench.book().paid;
    let queries = [
        "SELECT SUM(w_ytd) FROM warehouse",
        "SELECT SUM(d_ytd) FROM district",
        "SELECT SUM(h_amount) FROM history",
        "SELECT SUM(c_ytd_payment) FROM customer",
    ];
    for sql in queries {
        assert_eq!(bench.cents(sql, &[]).await, wanted, "{sql}");
    }
}

async fn stock_counts_the_lines_entered(bench: &mut Bench) {
    let pairs = [
        ("SUM(s_order_cnt)", "COUNT(*)"),
        ("SUM(s_ytd)", "SUM(ol_quantity)"),
        ("SUM(s_remote_cnt)", "SUM(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END)"),
    ];
    for (of_stock, of_lines) in pairs {
        let stock = sum(bench, &format!("SELECT {of_stock} FROM stock")).await;
        let lines = sum(bench, &format!("SELECT {of_lines} FROM order_line WHERE ol_o_id > 3000")).await;
        assert_eq!(stock, lines, "{of_stock}");
        assert!(lines > 0);
    }
}

async fn orders_with_a_remote_line_are_not_all_local(bench: &mut Bench) {
    let remote = bench.book().remote_orders;
    assert_eq!(sum(bench, "SELECT COUNT(*) FROM orders WHERE o_all_local = 0").await, remote);
}
