//! The deferred part of Delivery (2.7.4).

use target::Value;
use workload::tpcc::Delivered;

use crate::Case;
use crate::bench::{AWAY, Bench, HOME, home, order};
use crate::record::Record;

pub(crate) const CASES: &[Case] = crate::cases![
    the_oldest_order_of_each_district_is_delivered,
    the_oldest_order_is_the_one_of_the_lowest_number,
    only_the_delivered_orders_leave_the_queue,
    only_the_delivered_orders_get_the_carrier,
    every_line_of_a_delivered_order_gets_the_servers_clock,
    no_other_line_gets_a_date,
    the_customers_owe_the_sum_of_the_lines,
    an_order_entered_before_is_delivered_with_its_own_sum,
    an_empty_district_is_skipped_and_no_other,
    a_district_whose_last_order_is_delivered_is_skipped_next,
    a_warehouse_without_orders_is_skipped_whole,
    stock_and_the_other_warehouse_are_not_touched,
];

/// The oldest waiting order of every home district.
async fn oldest(bench: &mut Bench) -> Delivered {
    let waiting = bench.records("new_order", "no_w_id = $1 ORDER BY no_o_id DESC", &[HOME.into()]).await;
    let mut oldest = Delivered::default();
    for row in waiting {
        oldest.o_ids[row.int("no_d_id") as usize - 1] = Some(row.int("no_o_id"));
    }
    oldest
}

/// (D_ID, O_ID) of what was delivered.
fn keys(delivered: &Delivered) -> Vec<(i32, i32)> {
    (1..).zip(delivered.o_ids).filter_map(|(d_id, o_id)| Some((d_id, o_id?))).collect()
}

async fn the_oldest_order_of_each_district_is_delivered(bench: &mut Bench) {
    for _ in 0..3 {
        let wanted = oldest(bench).await;
        assert_eq!(wanted.skipped(), 0);
        assert_eq!(bench.delivery(3).await, wanted);
    }
}

/// Mistake: no ORDER BY when taking the oldest order.
async fn the_oldest_order_is_the_one_of_the_lowest_number(bench: &mut Bench) {
    let wanted = oldest(bench).await;
    for (d_id, o_id) in keys(&wanted) {
        // Written last, it stands behind all others wherever a table keeps the order of its writes.
        bench.take_out("new_order", &format!("no_w_id = 1 AND no_d_id = {d_id} AND no_o_id = {o_id}")).await;
        bench.put_back("new_order").await;
    }
    assert_eq!(bench.delivery(3).await, wanted);
}

async fn only_the_delivered_orders_leave_the_queue(bench: &mut Bench) {
    let queue = "no_w_id > $1 ORDER BY no_w_id, no_d_id, no_o_id";
    let mut wanted = bench.records("new_order", queue, &[0.into()]).await;
    let delivered = bench.delivery(3).await;
    let taken = |row: &Record| delivered.o_ids[row.int("no_d_id") as usize - 1] == Some(row.int("no_o_id"));
    wanted.retain(|row| row.int("no_w_id") != HOME || !taken(row));
    assert_eq!(bench.records("new_order", queue, &[0.into()]).await, wanted);
}

async fn only_the_delivered_orders_get_the_carrier(bench: &mut Bench) {
    let undelivered = "o_w_id = $1 AND o_carrier_id IS NULL ORDER BY o_d_id, o_id";
    let before = bench.records("orders", undelivered, &[HOME.into()]).await;
    let delivered = bench.delivery(9).await;
    let is_delivered = |row: &Record| delivered.o_ids[row.int("o_d_id") as usize - 1] == Some(row.int("o_id"));
    let (now_delivered, still_open): (Vec<_>, Vec<_>) = before.into_iter().partition(is_delivered);
    assert_eq!(now_delivered.len(), 10);
    for row in now_delivered {
        let now = bench.order(HOME, row.int("o_d_id"), row.int("o_id")).await;
        assert_eq!(now, row.with("o_carrier_id", 9));
    }
    assert_eq!(bench.records("orders", undelivered, &[HOME.into()]).await, still_open);
}

async fn every_line_of_a_delivered_order_gets_the_servers_clock(bench: &mut Bench) {
    let mut before = Vec::new();
    for (d_id, o_id) in keys(&oldest(bench).await) {
        before.push(bench.order_lines(HOME, d_id, o_id).await);
    }
    let start = bench.clock().await;
    let delivered = bench.delivery(3).await;
    let end = bench.clock().await;
    for ((d_id, o_id), before) in keys(&delivered).into_iter().zip(before) {
        let after = bench.order_lines(HOME, d_id, o_id).await;
        assert!(after.iter().all(|line| (start..=end).contains(&line.time("ol_delivery_d"))));
        let date = |line: &Record| Value::Timestamp(line.time("ol_delivery_d"));
        let wanted: Vec<_> = before.into_iter().zip(&after).map(|(b, a)| b.with("ol_delivery_d", date(a))).collect();
        assert_eq!(after, wanted);
    }
}

async fn no_other_line_gets_a_date(bench: &mut Bench) {
    let open = "SELECT COUNT(*) FROM order_line WHERE ol_delivery_d IS NULL AND ol_w_id > $1";
    let before = bench.number(open, &[0.into()]).await;
    let mut lines = 0;
    for (d_id, o_id) in keys(&bench.delivery(3).await) {
        lines += bench.order_lines(HOME, d_id, o_id).await.len() as i64;
    }
    assert_eq!(bench.number(open, &[0.into()]).await, before - lines);
}

/// Mistake: C_DELIVERY_CNT left alone.
async fn the_customers_owe_the_sum_of_the_lines(bench: &mut Bench) {
    let mut wanted = Vec::new();
    for (d_id, o_id) in keys(&oldest(bench).await) {
        let lines = bench.order_lines(HOME, d_id, o_id).await;
        let sum: i64 = lines.iter().map(|line| line.long("ol_amount")).sum();
        let c_id = bench.order(HOME, d_id, o_id).await.int("o_c_id");
        wanted.push(bench.customer(HOME, d_id, c_id).await.plus("c_balance", sum).plus("c_delivery_cnt", 1));
    }
    bench.delivery(3).await;
    for row in wanted {
        assert_eq!(bench.customer(HOME, row.int("c_d_id"), row.int("c_id")).await, row);
    }
}

async fn an_order_entered_before_is_delivered_with_its_own_sum(bench: &mut Bench) {
    bench.take_out("new_order", "no_w_id = 1 AND no_d_id = 8").await;
    let entered = bench.new_order(&order(8, 71, (1..=15).map(|number| home(800 + number, 10)))).await;
    let before = bench.customer(HOME, 8, 71).await.long("c_balance");
    let delivered = bench.delivery(3).await;
    bench.put_back("new_order").await;
    assert_eq!(delivered.o_ids[7], Some(entered.o_id));
    let sum: i64 = entered.lines.iter().map(|line| line.amount).sum();
    assert_eq!(bench.customer(HOME, 8, 71).await.long("c_balance"), before + sum);
}

/// Mistake: everything given up when a district is empty.
async fn an_empty_district_is_skipped_and_no_other(bench: &mut Bench) {
    for d_id in [1, 4, 10] {
        let mut wanted = oldest(bench).await;
        wanted.o_ids[d_id - 1] = None;
        bench.take_out("new_order", &format!("no_w_id = 1 AND no_d_id = {d_id}")).await;
        let delivered = bench.delivery(3).await;
        bench.put_back("new_order").await;
        assert_eq!(delivered, wanted);
        assert_eq!(delivered.skipped(), 1);
    }
}

async fn a_district_whose_last_order_is_delivered_is_skipped_next(bench: &mut Bench) {
    let o_id = oldest(bench).await.o_ids[4].unwrap();
    bench.take_out("new_order", &format!("no_w_id = 1 AND no_d_id = 5 AND no_o_id <> {o_id}")).await;
    let both = [bench.delivery(3).await, bench.delivery(3).await];
    bench.put_back("new_order").await;
    assert_eq!(both.map(|delivered| delivered.o_ids[4]), [Some(o_id), None]);
}

async fn a_warehouse_without_orders_is_skipped_whole(bench: &mut Bench) {
    bench.take_out("new_order", "no_w_id = 1").await;
    let before = bench.sums().await;
    let delivered = bench.delivery(3).await;
    let after = bench.sums().await;
    bench.put_back("new_order").await;
    assert_eq!((delivered, delivered.skipped()), (Delivered::default(), 10));
    assert_eq!(after, before);
}

async fn stock_and_the_other_warehouse_are_not_touched(bench: &mut Bench) {
    let remote = "SELECT SUM(c_balance) AS balance, SUM(c_delivery_cnt) AS deliveries FROM customer WHERE c_w_id = $1";
    let stock = "SELECT SUM(s_quantity) AS quantity, SUM(s_ytd) AS ytd, SUM(s_order_cnt) AS orders FROM stock \
                 WHERE s_w_id > $1";
    let queries = [(remote, AWAY), (stock, 0)];
    let mut before = Vec::new();
    for (sql, value) in queries {
        before.push(Record::read(bench.query(sql, &[value.into()]).await.only().unwrap()));
    }
    bench.delivery(3).await;
    for ((sql, value), before) in queries.into_iter().zip(before) {
        assert_eq!(Record::read(bench.query(sql, &[value.into()]).await.only().unwrap()), before);
    }
}
