//! Payment (2.5).

use target::{Decimal, Value};
use tpcc::input::{CustomerBy, Payment};
use workload::tpcc::PaymentOutput;

use crate::Case;
use crate::bench::{AWAY, Bench, HOME};
use crate::record::Record;

pub(crate) const CASES: &[Case] = crate::cases![
    the_customer_pays_and_nothing_else_of_the_row_changes,
    every_cent_of_a_payment_counts,
    large_amounts_keep_their_cents,
    warehouse_and_district_receive_the_payment,
    other_warehouses_and_districts_receive_nothing,
    one_history_row_says_who_paid_what_where,
    history_names_warehouse_and_district_with_four_blanks_between,
    the_date_is_the_servers_clock_and_the_one_shown,
    the_new_balance_is_shown,
    the_screen_shows_customer_warehouse_and_district,
    by_name_the_customer_in_the_middle_pays,
    by_name_a_remote_customer_is_looked_up_where_they_live,
    a_remote_customer_pays_and_nobody_at_home,
    a_remote_payment_is_received_at_home,
    data_of_good_credit_are_neither_changed_nor_shown,
    data_of_bad_credit_begin_with_the_payment,
    data_of_bad_credit_shift_to_the_right_and_are_cut_at_500,
    short_data_of_bad_credit_are_kept_whole,
    two_payments_of_bad_credit_stand_newest_first,
    bad_credit_shows_the_first_200_characters,
];

const D_ID: i32 = 3;

/// A payment at home.
fn local(c_id: i32, amount: i64) -> Payment {
    let customer = CustomerBy::Number(c_id);
    Payment { w_id: HOME, d_id: D_ID, c_w_id: HOME, c_d_id: D_ID, customer, amount }
}

/// A payment of district 7 of the other warehouse.
fn remote(c_id: i32, amount: i64) -> Payment {
    Payment { c_w_id: AWAY, c_d_id: 7, ..local(c_id, amount) }
}

/// A customer after a payment.
fn paid(customer: Record, amount: i64) -> Record {
    customer.plus("c_balance", -amount).plus("c_ytd_payment", amount).plus("c_payment_cnt", 1)
}

/// The first customer of a credit rating in a district.
async fn rated(bench: &mut Bench, credit: &str, w_id: i32, d_id: i32) -> i32 {
    let sql = "SELECT MIN(c_id) FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_credit = $3 AND c_id > 40";
    bench.number(sql, &[w_id.into(), d_id.into(), credit.into()]).await.try_into().unwrap()
}

/// Mistakes: C_BALANCE raised; C_YTD_PAYMENT or C_PAYMENT_CNT left alone.
async fn the_customer_pays_and_nothing_else_of_the_row_changes(bench: &mut Bench) {
    let c_id = rated(bench, "GC", HOME, D_ID).await;
    let before = bench.customer(HOME, D_ID, c_id).await;
    bench.payment(&local(c_id, 1234_56)).await;
    assert_eq!(bench.customer(HOME, D_ID, c_id).await, paid(before, 1234_56));
}

/// Mistake: payments of whole amounts.
async fn every_cent_of_a_payment_counts(bench: &mut Bench) {
    let c_id = rated(bench, "GC", HOME, D_ID).await;
    for amount in [1_00, 1_01, 9_99, 100_10, 4999_99, 5000_00] {
        let before = bench.customer(HOME, D_ID, c_id).await;
        bench.payment(&local(c_id, amount)).await;
        assert_eq!(bench.customer(HOME, D_ID, c_id).await, paid(before, amount), "{amount} cents");
    }
}

/// Mistake: money in floating point of 32 bits, which loses 0.01 from 131,072.00 on.
async fn large_amounts_keep_their_cents(bench: &mut Bench) {
    let key = [HOME, D_ID, rated(bench, "GC", HOME, D_ID).await];
    let real = bench.customer(HOME, D_ID, key[2]).await;
    for (balance, received) in [(131_072_00, 131_072_00), (-9_999_994_999_99, 9_999_994_999_98)] {
        bench.set_customer("c_balance", Decimal::cents(balance).into(), key).await;
        bench.set_customer("c_ytd_payment", Decimal::cents(received).into(), key).await;
        let shown = bench.payment(&local(key[2], 1_01)).await;
        let after = bench.customer(HOME, D_ID, key[2]).await;
        let found = [shown.c_balance, after.long("c_balance"), after.long("c_ytd_payment")];
        // Two payments in all: the real sums are put back with them.
        let (balance_then, received_then) = (real.long("c_balance") - 2_02, real.long("c_ytd_payment") + 2_02);
        bench.set_customer("c_balance", Decimal::cents(balance_then).into(), key).await;
        bench.set_customer("c_ytd_payment", Decimal::cents(received_then).into(), key).await;
        assert_eq!(found, [balance - 1_01, balance - 1_01, received + 1_01]);
    }
}

async fn warehouse_and_district_receive_the_payment(bench: &mut Bench) {
    let before = (bench.warehouse(HOME).await, bench.district(HOME, D_ID).await);
    bench.payment(&local(51, 77_07)).await;
    let wanted = (before.0.plus("w_ytd", 77_07), before.1.plus("d_ytd", 77_07));
    assert_eq!((bench.warehouse(HOME).await, bench.district(HOME, D_ID).await), wanted);
}

async fn other_warehouses_and_districts_receive_nothing(bench: &mut Bench) {
    let others = "d_w_id = $1 AND d_id <> $2 OR d_w_id = $3 ORDER BY d_w_id, d_id";
    let values = [HOME.into(), D_ID.into(), AWAY.into()];
    let before = (bench.warehouse(AWAY).await, bench.records("district", others, &values).await);
    bench.payment(&local(51, 77_07)).await;
    bench.payment(&remote(51, 77_07)).await;
    assert_eq!((bench.warehouse(AWAY).await, bench.records("district", others, &values).await), before);
}

/// Makes a payment; returns the rows that HISTORY gained for its customer, and what was shown.
async fn history_of(bench: &mut Bench, payment: &Payment) -> (Vec<Record>, PaymentOutput) {
    let CustomerBy::Number(c_id) = payment.customer else { panic!("by name") };
    let key = "h_c_w_id = $1 AND h_c_d_id = $2 AND h_c_id = $3";
    let values = [payment.c_w_id.into(), payment.c_d_id.into(), c_id.into()];
    let before = bench.records("history", key, &values).await;
    let shown = bench.payment(payment).await;
    let mut after = bench.records("history", key, &values).await;
    for row in before {
        let at = after.iter().position(|other| *other == row).expect("an old row changed");
        after.remove(at);
    }
    (after, shown)
}

async fn one_history_row_says_who_paid_what_where(bench: &mut Bench) {
    for payment in [local(52, 4321_09), remote(52, 1_01)] {
        let (gained, shown) = history_of(bench, &payment).await;
        let (warehouse, district) = (bench.warehouse(HOME).await, bench.district(HOME, D_ID).await);
        let data = format!("{}    {}", warehouse.text("w_name"), district.text("d_name"));
        let wanted = Record::of(&[
            ("h_c_id", 52.into()),
            ("h_c_d_id", payment.c_d_id.into()),
            ("h_c_w_id", payment.c_w_id.into()),
            ("h_d_id", D_ID.into()),
            ("h_w_id", HOME.into()),
            ("h_date", Value::Timestamp(shown.h_date_us)),
            ("h_amount", payment.amount.into()),
            ("h_data", data.as_str().into()),
        ]);
        assert_eq!(gained, [wanted]);
    }
}

/// Mistakes: other separators; the blanks behind both names.
async fn history_names_warehouse_and_district_with_four_blanks_between(bench: &mut Bench) {
    let (gained, _) = history_of(bench, &local(53, 10_01)).await;
    let data = gained[0].text("h_data");
    let (of_warehouse, of_district) = data.split_once("    ").unwrap();
    let names = (bench.warehouse(HOME).await, bench.district(HOME, D_ID).await);
    assert_eq!((of_warehouse, of_district), (names.0.text("w_name"), names.1.text("d_name")));
}

async fn the_date_is_the_servers_clock_and_the_one_shown(bench: &mut Bench) {
    let before = bench.clock().await;
    let (gained, shown) = history_of(bench, &local(54, 10_01)).await;
    let after = bench.clock().await;
    assert!((before..=after).contains(&shown.h_date_us), "{before} {} {after}", shown.h_date_us);
    assert_eq!(gained[0].time("h_date"), shown.h_date_us);
}

async fn the_new_balance_is_shown(bench: &mut Bench) {
    let before = bench.customer(HOME, D_ID, 55).await.long("c_balance");
    assert_eq!(bench.payment(&local(55, 250_01)).await.c_balance, before - 250_01);
}

async fn the_screen_shows_customer_warehouse_and_district(bench: &mut Bench) {
    let shown = bench.payment(&remote(56, 10_01)).await;
    let customer = bench.customer(AWAY, 7, 56).await;
    let texts = [
        shown.c_first.as_str(),
        shown.c_middle.as_str(),
        shown.c_last.as_str(),
        shown.address.street_1.as_str(),
        shown.address.street_2.as_str(),
        shown.address.city.as_str(),
        shown.address.state.as_str(),
        shown.address.zip.as_str(),
        shown.c_phone.as_str(),
        shown.c_credit.as_str(),
    ];
    let columns = ["first", "middle", "last", "street_1", "street_2", "city", "state", "zip", "phone", "credit"];
    assert_eq!(texts, columns.map(|column| customer.text(&format!("c_{column}"))));
    let numbers = (shown.c_id, shown.c_credit_lim, shown.c_discount, shown.c_since_us);
    assert_eq!(numbers, (56, customer.long("c_credit_lim"), customer.int("c_discount"), customer.time("c_since")));

    let places =
        [(shown.warehouse, bench.warehouse(HOME).await, "w"), (shown.district, bench.district(HOME, D_ID).await, "d")];
    for (place, row, prefix) in places {
        let address = &place.address;
        let texts =
            [&*place.name, &*address.street_1, &*address.street_2, &*address.city, &*address.state, &*address.zip];
        let columns = ["name", "street_1", "street_2", "city", "state", "zip"];
        assert_eq!(texts, columns.map(|column| row.text(&format!("{prefix}_{column}"))));
    }
}

/// Mistakes: ⌊n/2⌋, which finds nobody for n = 1; a row too far.
async fn by_name_the_customer_in_the_middle_pays(bench: &mut Bench) {
    let namesakes = bench.namesakes(HOME, D_ID).await;
    assert!((1..=4).all(|n| namesakes.contains_key(&n)), "{:?}", namesakes.keys());
    for (n, (name, numbers)) in namesakes {
        let middle = numbers[(n - 1) / 2];
        let before = bench.customer(HOME, D_ID, middle).await;
        let input = Payment { customer: CustomerBy::LastName(name), ..local(0, 12_34) };
        let shown = bench.payment(&input).await;
        assert_eq!((shown.c_id, shown.c_last), (middle, name), "of {n}");
        let after = bench.customer(HOME, D_ID, middle).await;
        assert_eq!(after.long("c_balance"), before.long("c_balance") - 12_34, "of {n}");
    }
}

async fn by_name_a_remote_customer_is_looked_up_where_they_live(bench: &mut Bench) {
    for (n, (name, numbers)) in bench.namesakes(AWAY, 7).await {
        let input = Payment { customer: CustomerBy::LastName(name), ..remote(0, 12_34) };
        let middle = numbers[(n - 1) / 2];
        let before = bench.customer(AWAY, 7, middle).await;
        let shown = bench.payment(&input).await;
        assert_eq!(shown.c_id, middle, "of {n}");
        assert_eq!(shown.c_balance, before.long("c_balance") - 12_34, "of {n}");
    }
}

async fn a_remote_customer_pays_and_nobody_at_home(bench: &mut Bench) {
    let all = "SELECT SUM(c_balance) AS balance, SUM(c_ytd_payment) AS paid, SUM(c_payment_cnt) AS payments \
               FROM customer WHERE c_w_id = $1";
    let c_id = rated(bench, "GC", AWAY, 7).await;
    let at_home = Record::read(bench.query(all, &[HOME.into()]).await.only().unwrap());
    let before = bench.customer(AWAY, 7, c_id).await;
    bench.payment(&remote(c_id, 33_33)).await;
    assert_eq!(bench.customer(AWAY, 7, c_id).await, paid(before, 33_33));
    assert_eq!(Record::read(bench.query(all, &[HOME.into()]).await.only().unwrap()), at_home);
}

async fn a_remote_payment_is_received_at_home(bench: &mut Bench) {
    let before = (bench.warehouse(HOME).await, bench.district(HOME, D_ID).await);
    bench.payment(&remote(57, 44_44)).await;
    let wanted = (before.0.plus("w_ytd", 44_44), before.1.plus("d_ytd", 44_44));
    assert_eq!((bench.warehouse(HOME).await, bench.district(HOME, D_ID).await), wanted);
}

async fn data_of_good_credit_are_neither_changed_nor_shown(bench: &mut Bench) {
    let c_id = rated(bench, "GC", HOME, D_ID).await;
    let before = bench.customer(HOME, D_ID, c_id).await;
    let shown = bench.payment(&local(c_id, 10_01)).await;
    assert_eq!(shown.c_data, None);
    assert_eq!(bench.customer(HOME, D_ID, c_id).await.text("c_data"), before.text("c_data"));
}

/// Gives a remote customer of bad credit C_DATA of `length` characters, and has them pay 1,234.05.
/// Returns C_DATA before, C_DATA after, what was shown of it, and what it must begin with.
async fn bad_credit(bench: &mut Bench, length: usize) -> (String, String, String, String) {
    let c_id = rated(bench, "BC", AWAY, 7).await;
    let old: String = ('a'..='z').cycle().take(length).collect();
    bench.set_customer("c_data", old.as_str().into(), [AWAY, 7, c_id]).await;
    let shown = bench.payment(&remote(c_id, 1234_05)).await;
    let new = bench.customer(AWAY, 7, c_id).await.text("c_data").to_owned();
    // C_ID, C_D_ID, C_W_ID, D_ID, W_ID, H_AMOUNT.
    (old, new, shown.c_data.unwrap(), format!("{c_id} 7 {AWAY} {D_ID} {HOME} 1234.05"))
}

async fn data_of_bad_credit_begin_with_the_payment(bench: &mut Bench) {
    let (_, new, _, payment) = bad_credit(bench, 400).await;
    assert!(new.starts_with(&payment), "{new} does not begin with {payment}");
}

async fn data_of_bad_credit_shift_to_the_right_and_are_cut_at_500(bench: &mut Bench) {
    for length in [490, 500] {
        let (old, new, _, payment) = bad_credit(bench, length).await;
        assert_eq!(new.len(), 500);
        let rest = new.strip_prefix(&payment).unwrap().trim_start();
        assert!(rest.len() > 460 && old.starts_with(rest), "{rest} is not how {old} begins");
    }
}

async fn short_data_of_bad_credit_are_kept_whole(bench: &mut Bench) {
    let (old, new, _, payment) = bad_credit(bench, 300).await;
    assert_eq!(new.strip_prefix(&payment).unwrap().trim_start(), old);
}

async fn two_payments_of_bad_credit_stand_newest_first(bench: &mut Bench) {
    let (_, first, _, payment) = bad_credit(bench, 300).await;
    let c_id = rated(bench, "BC", AWAY, 7).await;
    bench.payment(&remote(c_id, 2_50)).await;
    let second = bench.customer(AWAY, 7, c_id).await.text("c_data").to_owned();
    let newest = payment.replace("1234.05", "2.50");
    assert_eq!(second.strip_prefix(&newest).unwrap().trim_start(), first);
}

async fn bad_credit_shows_the_first_200_characters(bench: &mut Bench) {
    let (_, new, shown, _) = bad_credit(bench, 350).await;
    assert_eq!(shown, new[..200]);
}
