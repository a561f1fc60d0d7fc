//! The initial population of one warehouse (4.3.3.1): counts, sums, relations and value ranges.

use std::collections::{HashMap, HashSet};

use tpcc::population::{Order, Population};

use crate::sample::*;

#[test]
fn sums_of_one_warehouse() {
    let warehouse = POPULATION.warehouse(1);
    let districts: Vec<_> = (1..=10).map(|d_id| POPULATION.district(1, d_id)).collect();
    assert_eq!(warehouse.w_ytd, 300_000_00);
    assert_eq!(districts.iter().map(|d| d.d_ytd).sum::<i64>(), 300_000_00);
    assert_eq!(districts.iter().map(|d| d.d_next_o_id).sum::<i32>(), 30_010);
    assert_eq!(histories().map(|h| h.h_amount).sum::<i64>(), 300_000_00);
    assert_eq!(customers().map(|c| c.c_ytd_payment).sum::<i64>(), 300_000_00);
    assert_eq!(customers().map(|c| c.c_balance).sum::<i64>(), -300_000_00);
    assert_eq!(customers().map(|c| c.c_payment_cnt).sum::<i32>(), 30_000);
    assert_eq!(customers().map(|c| c.c_delivery_cnt).sum::<i32>(), 0);
    for stock in stocks(1) {
        assert_eq!((stock.s_ytd, stock.s_order_cnt, stock.s_remote_cnt), (0, 0, 0));
    }
}

#[test]
fn row_counts_of_orders() {
    let orders: Vec<Order> = orders().collect();
    assert_eq!(orders.iter().filter(|o| o.o_carrier_id.is_none()).count(), 9_000);
    let lines = order_lines().count();
    assert_eq!(orders.iter().map(|o| o.o_ol_cnt as usize).sum::<usize>(), lines);
    assert!(lines.abs_diff(300_000) <= 1_643, "{lines} order lines");
}

#[test]
fn amounts_of_undelivered_orders_sum_to_450_million() {
    let sum: i64 = order_lines().map(|l| l.ol_amount).sum();
    // 90,000 lines of 5,000.00 on average: sigma of the sum is 300 times 2,887 plus that of the
    // number of lines, 300 times 5,000 (of 9,000 orders).
    assert!((sum - 450_000_000_00).abs() <= 8_000_000_00, "{sum}");
}

#[test]
fn keys_are_those_asked_for() {
    let p = POPULATION;
    assert_eq!(p.item(77).i_id, 77);
    assert_eq!(p.warehouse(3).w_id, 3);
    let district = p.district(3, 4);
    assert_eq!((district.d_w_id, district.d_id), (3, 4));
    let stock = p.stock(3, 77);
    assert_eq!((stock.s_w_id, stock.s_i_id), (3, 77));
    let customer = p.customer(3, 4, 5);
    assert_eq!((customer.c_w_id, customer.c_d_id, customer.c_id), (3, 4, 5));
    let history = p.history(3, 4, 5);
    assert_eq!((history.h_c_w_id, history.h_c_d_id, history.h_c_id), (3, 4, 5));
    assert_eq!((history.h_w_id, history.h_d_id), (3, 4));
    let order = p.order(3, 4, 5);
    assert_eq!((order.o_w_id, order.o_d_id, order.o_id), (3, 4, 5));
    for (number, line) in (1..).zip(p.order_lines(3, 4, 5)) {
        assert_eq!((line.ol_w_id, line.ol_d_id, line.ol_o_id, line.ol_number), (3, 4, 5, number));
    }
}

#[test]
fn an_order_has_as_many_lines_as_it_says() {
    for order in orders() {
        let lines = POPULATION.order_lines(1, order.o_d_id, order.o_id);
        assert_eq!(lines.len(), order.o_ol_cnt as usize);
        assert_eq!(lines.count(), order.o_ol_cnt as usize);
    }
}

#[test]
fn line_counts_are_uniform_on_5_to_15() {
    assert_uniform(&histogram(5..=15, orders().map(|o| o.o_ol_cnt)));
}

#[test]
fn every_customer_of_a_district_has_exactly_one_order() {
    for (w_id, d_id) in [(1, 1), (1, 10), (2, 1), (70_000, 5)] {
        let customers: HashSet<i32> = (1..=3000).map(|o_id| POPULATION.order(w_id, d_id, o_id).o_c_id).collect();
        assert_eq!(customers.len(), 3000);
        assert!(customers.iter().all(|c_id| (1..=3000).contains(c_id)));
    }
}

#[test]
fn orders_of_districts_are_permuted_differently() {
    let permutation = |d_id| (1..=3000).map(move |o_id| POPULATION.order(1, d_id, o_id).o_c_id);
    let same = permutation(1).zip(permutation(2)).filter(|(a, b)| a == b).count();
    assert!(same < 10, "{same} orders of districts 1 and 2 have the same customer");
    let fixed = permutation(1).zip(1..).filter(|(c_id, o_id)| c_id == o_id).count();
    assert!(fixed < 10, "{fixed} orders have the number of their customer");
}

#[test]
fn delivery_of_the_load_ends_before_order_2101() {
    for order in orders() {
        assert_eq!(order.o_carrier_id.is_some(), order.o_id < 2101);
        assert_eq!(order.o_entry_d_us, LOAD_TIME_US);
        assert_eq!(order.o_all_local, 1);
    }
    assert_uniform(&histogram(1..=10, orders().filter_map(|o| o.o_carrier_id)));
    for line in order_lines() {
        assert_eq!(line.ol_delivery_d_us, (line.ol_o_id < 2101).then_some(LOAD_TIME_US));
        assert_eq!(line.ol_amount == 0, line.ol_o_id < 2101);
        assert!((0..=9_999_99).contains(&line.ol_amount));
        assert_eq!((line.ol_quantity, line.ol_supply_w_id), (5, 1));
    }
}

#[test]
fn every_district_has_all_last_names() {
    for d_id in [1, 10] {
        let mut customers_with = HashMap::new();
        for c_id in 1..=3000 {
            *customers_with.entry(POPULATION.customer(1, d_id, c_id).c_last).or_insert(0) += 1;
        }
        assert_eq!(customers_with.len(), 1000);
        let most = *customers_with.values().max().unwrap();
        assert!((40..=90).contains(&most), "the most frequent name occurs {most} times");
    }
}

#[test]
fn the_first_thousand_customers_have_the_names_in_turn() {
    for c_id in 1..=1000 {
        assert_eq!(POPULATION.customer(1, 7, c_id).c_last, tpcc::text::last_name(c_id - 1));
    }
}

#[test]
fn the_load_constant_shapes_only_the_names() {
    let other = Population { c_last_load: 20, ..POPULATION };
    let mut names_differ = 0;
    for c_id in 1..=3000 {
        let (a, b) = (POPULATION.customer(1, 1, c_id), other.customer(1, 1, c_id));
        names_differ += usize::from(a.c_last != b.c_last);
        assert_eq!(a, tpcc::population::Customer { c_last: a.c_last, ..b });
    }
    assert_eq!(names_differ, 2000);
}

#[test]
fn constant_columns() {
    for customer in customers() {
        assert_eq!(&*customer.c_middle, "OE");
        assert_eq!(customer.c_credit_lim, 50_000_00);
        assert_eq!(customer.c_since_us, LOAD_TIME_US);
        assert!(["GC", "BC"].contains(&&*customer.c_credit));
    }
    assert!(histories().all(|h| h.h_date_us == LOAD_TIME_US));
}

#[test]
fn numbers_are_uniform_over_their_whole_range() {
    assert_uniform(&histogram(1..=10_000, items().map(|i| i.i_im_id)));
    assert_uniform(&histogram(100..=10_000, items().map(|i| i.i_price as i32)));
    assert_uniform(&histogram(10..=100, stocks(1).map(|s| s.s_quantity)));
    assert_uniform(&histogram(0..=5000, customers().map(|c| c.c_discount)));
    assert_uniform(&histogram(0..=2000, (1..=40_000).map(|w_id| POPULATION.warehouse(w_id).w_tax)));
    assert_uniform(&histogram(0..=2000, (1..=40_000).map(|w_id| POPULATION.district(w_id, 1).d_tax)));
    assert_uniform(&histogram(1..=100_000, order_lines().map(|l| l.ol_i_id)));
}

#[test]
fn neighbouring_rows_are_independent() {
    let quantities: Vec<i32> = stocks(1).map(|s| s.s_quantity - 10).collect();
    assert_uniform(&histogram(0..=91 * 91 - 1, quantities.windows(2).map(|pair| pair[0] * 91 + pair[1])));
    let warehouses = quantities.iter().zip(stocks(2).map(|s| s.s_quantity - 10));
    assert_uniform(&histogram(0..=91 * 91 - 1, warehouses.map(|(a, b)| a * 91 + b)));
}

#[test]
fn lengths_of_strings_reach_both_ends() {
    #[track_caller]
    fn check(range: std::ops::RangeInclusive<i32>, lengths: impl Iterator<Item = usize>) {
        assert_uniform(&histogram(range, lengths.map(|len| len as i32)));
    }
    check(14..=24, items().map(|i| i.i_name.len()));
    check(26..=50, items().map(|i| i.i_data.len()));
    check(26..=50, stocks(1).map(|s| s.s_data.len()));
    check(8..=16, customers().map(|c| c.c_first.len()));
    check(10..=20, customers().map(|c| c.c_street_1.len()));
    check(10..=20, customers().map(|c| c.c_street_2.len()));
    check(10..=20, customers().map(|c| c.c_city.len()));
    check(300..=500, customers().map(|c| c.c_data.len()));
    check(12..=24, histories().map(|h| h.h_data.len()));
    check(6..=10, (1..=2000).map(|w_id| POPULATION.warehouse(w_id).w_name.len()));
    check(6..=10, (1..=2000).map(|w_id| POPULATION.district(w_id, 3).d_name.len()));
    check(10..=20, (1..=2000).map(|w_id| POPULATION.warehouse(w_id).w_city.len()));
    check(10..=20, (1..=2000).map(|w_id| POPULATION.district(w_id, 3).d_street_1.len()));
}

#[test]
fn strings_of_fixed_length() {
    for stock in stocks(1).take(2000) {
        for text in stock.s_dist {
            assert!(text.len() == 24 && text.bytes().all(|b| b.is_ascii_alphabetic()));
        }
    }
    for line in order_lines().take(10_000) {
        assert!(line.ol_dist_info.len() == 24 && line.ol_dist_info.bytes().all(|b| b.is_ascii_alphabetic()));
    }
    for customer in customers() {
        assert!(customer.c_phone.len() == 16 && customer.c_phone.bytes().all(|b| b.is_ascii_digit()));
        assert!(customer.c_state.len() == 2 && customer.c_state.bytes().all(|b| b.is_ascii_alphabetic()));
    }
}

#[test]
fn any_order_of_generation_gives_the_same_rows() {
    let forwards: Vec<_> = (1..=500).map(|id| rows(POPULATION, id)).collect();
    let mut backwards: Vec<_> = (1..=500).rev().map(|id| rows(POPULATION, id)).collect();
    backwards.reverse();
    assert!(forwards == backwards);
}

#[test]
fn another_seed_gives_other_rows() {
    let other = Population { seed: 43, ..POPULATION };
    assert!((1..=500).all(|id| rows(POPULATION, id) != rows(other, id)));
    assert_ne!(POPULATION.warehouse(1), other.warehouse(1));
    assert_ne!(POPULATION.district(1, 1), other.district(1, 1));
    let same = (1..=3000).filter(|&o_id| POPULATION.order(1, 1, o_id).o_c_id == other.order(1, 1, o_id).o_c_id);
    assert!(same.count() < 10);
}

#[test]
fn the_load_time_shapes_only_the_dates() {
    let later = Population { load_time_us: LOAD_TIME_US + 1, ..POPULATION };
    let customer = later.customer(1, 2, 3);
    assert_eq!(customer.c_since_us, LOAD_TIME_US + 1);
    assert_eq!(tpcc::population::Customer { c_since_us: LOAD_TIME_US, ..customer }, POPULATION.customer(1, 2, 3));
}

/// All rows with that last part of the key, as text.
fn rows(p: Population, id: i32) -> String {
    let lines: Vec<_> = p.order_lines(1, 1, id).collect();
    let (item, stock, customer) = (p.item(id), p.stock(1, id), p.customer(1, 1, id));
    let (history, order) = (p.history(1, 1, id), p.order(1, 1, id));
    format!("{item:?} {stock:?} {customer:?} {history:?} {order:?} {lines:?}")
}
