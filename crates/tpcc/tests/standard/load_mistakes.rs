//! Mistakes of known implementations in the initial population, each with a test that fails on it.

use crate::sample::*;

const ORIGINAL: &str = "ORIGINAL";

#[test]
fn original_in_one_ninth_of_the_items() {
    assert_eq!(items().filter(|i| i.i_data.contains(ORIGINAL)).count(), 10_000);
}

#[test]
fn original_in_one_ninth_of_the_stock() {
    for w_id in [1, 2, 1000] {
        assert_eq!(stocks(w_id).filter(|s| s.s_data.contains(ORIGINAL)).count(), 10_000);
    }
}

#[test]
fn original_in_the_same_rows_everywhere() {
    // Brand-generic is `B` for one line in a hundred only if the choices are independent.
    let item: Vec<bool> = items().map(|i| i.i_data.contains(ORIGINAL)).collect();
    let stock_1: Vec<bool> = stocks(1).map(|s| s.s_data.contains(ORIGINAL)).collect();
    let stock_2: Vec<bool> = stocks(2).map(|s| s.s_data.contains(ORIGINAL)).collect();
    for (a, b) in [(&item, &stock_1), (&item, &stock_2), (&stock_1, &stock_2)] {
        let both = a.iter().zip(b).filter(|(a, b)| **a && **b).count();
        assert_share(both, 100_000, 0.01);
    }
}

#[test]
fn original_in_the_first_rows_only() {
    let mut blocks = [0; 100];
    for item in items().filter(|i| i.i_data.contains(ORIGINAL)) {
        blocks[(item.i_id - 1) as usize / 1000] += 1;
    }
    assert_uniform(&blocks);
}

#[test]
fn original_always_at_the_same_position() {
    let mut positions = vec![0; 43];
    for data in items().map(|i| i.i_data).filter(|data| data.len() == 50) {
        if let Some(position) = data.find(ORIGINAL) {
            positions[position] += 1;
        }
    }
    assert_uniform(&positions);
}

#[test]
fn original_in_lower_case() {
    assert!(!items().any(|i| i.i_data.contains("original")));
}

#[test]
fn bad_credit_for_half_of_the_customers() {
    for w_id in [1, 2, 1000] {
        let bad = (1..=10).flat_map(|d_id| (1..=3000).map(move |c_id| POPULATION.customer(w_id, d_id, c_id)));
        assert_eq!(bad.filter(|c| &*c.c_credit == "BC").count(), 3_000);
    }
}

#[test]
fn bad_credit_in_one_district_only() {
    let mut districts = [0; 10];
    for customer in customers().filter(|c| &*c.c_credit == "BC") {
        districts[(customer.c_d_id - 1) as usize] += 1;
    }
    assert_uniform(&districts);
}

#[test]
fn a_shuffle_that_gives_some_customers_no_order() {
    let mut orders_of = vec![0; 30_000];
    for order in orders() {
        orders_of[((order.o_d_id - 1) * 3000 + order.o_c_id - 1) as usize] += 1;
    }
    assert!(orders_of.iter().all(|&orders| orders == 1));
}

#[test]
fn w_ytd_of_three_million() {
    assert_eq!(POPULATION.warehouse(1).w_ytd, 300_000_00);
}

#[test]
fn taxes_and_discounts_with_two_decimals() {
    assert!(customers().any(|c| c.c_discount % 100 != 0));
    assert!((1..=10).any(|d_id| POPULATION.district(1, d_id).d_tax % 100 != 0));
    assert!((1..=10).any(|w_id| POPULATION.warehouse(w_id).w_tax % 100 != 0));
}

#[test]
fn taxes_of_at_least_ten_percent() {
    assert!((1..=100).any(|w_id| POPULATION.warehouse(w_id).w_tax < 1000));
}

#[test]
fn discounts_from_0_0001() {
    assert!(customers().any(|c| c.c_discount == 0));
    assert!(customers().any(|c| c.c_discount == 5000));
}

#[test]
fn amounts_of_delivered_and_undelivered_lines_exchanged() {
    assert!(order_lines().all(|l| (l.ol_amount == 0) == l.ol_delivery_d_us.is_some()));
}

#[test]
fn amounts_up_to_100_or_1000_only() {
    let undelivered: Vec<i64> = order_lines().filter(|l| l.ol_o_id >= 2101).map(|l| l.ol_amount).collect();
    assert!(*undelivered.iter().max().unwrap() > 9_999_00);
    assert!(*undelivered.iter().min().unwrap() < 1_00);
    assert_mean(undelivered.iter().map(|&cents| cents as f64), 500_000.0, 288_675.0);
}

#[test]
fn delivery_date_other_than_the_entry_date_of_the_order() {
    for order in orders().filter(|o| o.o_id < 2101) {
        let mut lines = POPULATION.order_lines(1, order.o_d_id, order.o_id);
        assert!(lines.all(|l| l.ol_delivery_d_us == Some(order.o_entry_d_us)));
    }
}

#[test]
fn remote_supply_at_load() {
    assert!(POPULATION.order_lines(9, 1, 1).chain(POPULATION.order_lines(9, 2, 3000)).all(|l| l.ol_supply_w_id == 9));
}

#[test]
fn items_of_loaded_orders_by_nurand() {
    // NURand would give the most frequent item 195 times its share.
    let counts = histogram(1..=100_000, order_lines().map(|l| l.ol_i_id));
    assert!(*counts.iter().max().unwrap() < 20);
}

#[test]
fn one_delivery_counted_at_load() {
    assert!(customers().all(|c| c.c_delivery_cnt == 0 && c.c_payment_cnt == 1));
}

#[test]
fn nine_random_digits_as_zip() {
    for zip in customers().map(|c| c.c_zip) {
        assert!(zip.len() == 9 && zip.ends_with("11111"), "{zip}");
        assert!(zip.bytes().all(|b| b.is_ascii_digit()), "{zip}");
    }
    let distinct: std::collections::HashSet<_> = customers().map(|c| c.c_zip).collect();
    // 30,000 draws out of 10,000 zips leave 5 % of them out.
    assert!((9_400..=9_600).contains(&distinct.len()), "{} distinct zips", distinct.len());
}

#[test]
fn strings_of_one_repeated_character() {
    for data in customers().take(1000).map(|c| c.c_data) {
        let distinct: std::collections::HashSet<u8> = data.bytes().collect();
        assert!(distinct.len() > 50);
    }
}

#[test]
fn strings_with_fixed_prefixes() {
    let mut first = std::collections::HashSet::new();
    for item in items() {
        first.insert(item.i_name.as_bytes()[0]);
    }
    assert_eq!(first.len(), 62);
}

#[test]
fn strings_one_character_short() {
    assert!(histories().any(|h| h.h_data.len() == 24));
    assert!(items().any(|i| i.i_name.len() == 24));
    assert!(customers().any(|c| c.c_data.len() == 500));
}

#[test]
fn history_data_from_ten_characters() {
    assert!(histories().all(|h| h.h_data.len() >= 12));
}

#[test]
fn no_image_numbers() {
    assert!(items().any(|i| i.i_im_id == 1) && items().any(|i| i.i_im_id == 10_000));
}
