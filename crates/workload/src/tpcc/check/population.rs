//! The rules of the initial population (1.2.1, 4.2.2, 4.3.3.1).
//!
//! The tables of fixed size keep their rows for ever; everything else is checked while the data
//! are as loaded. What a condition or an invariant says of such data already is not said again:
//! I7 counts the orders, I12 to I14 see to `C_DATA`, the last names and the permutation of
//! `O_C_ID`, C5 and C7 to what goes with a carrier, and the sums over whole tables follow row by row.
//!
//! Where the standard draws one in ten with a tolerance of 5 %, our load draws exactly one in ten,
//! and that is what is checked.

use target::{Decimal, Value};

use super::{Applies, Check, Scope, cents, dollars};

const fn rate(ten_thousandths: i64) -> Value<'static> {
    Value::Decimal(Decimal { unscaled: ten_thousandths, scale: 4 })
}

/// What violates that a text has digits only: nothing may be left of it without them.
macro_rules! not_digits {
    ($text:literal) => {
        concat!(
            "REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(",
            $text,
            ", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') <> ''"
        )
    };
}

/// The syllable of a digit (4.3.2.3), which `$tail` makes a multiple of ten or a hundred.
macro_rules! syllable {
    ($digit:literal, $tail:literal) => {
        concat!(
            "CASE ",
            $digit,
            " WHEN 0 THEN 'BAR' WHEN 1",
            $tail,
            " THEN 'OUGHT' WHEN 2",
            $tail,
            " THEN 'ABLE' WHEN 3",
            $tail,
            " THEN 'PRI' WHEN 4",
            $tail,
            " THEN 'PRES' WHEN 5",
            $tail,
            " THEN 'ESE' WHEN 6",
            $tail,
            " THEN 'ANTI' WHEN 7",
            $tail,
            " THEN 'CALLY' WHEN 8",
            $tail,
            " THEN 'ATION' ELSE 'EING' END"
        )
    };
}

/// A rule that holds until the first transaction.
const LOADED: Check = Check { clause: "4.3.3.1", applies: Applies::AsLoaded, ..Check::USUAL };

pub(super) static POPULATION: &[Check] = &[
    Check {
        name: "fixed-rows",
        clause: "1.2.1",
        what: "a warehouse has 10 districts, 30,000 customers and 100,000 stocks",
        sql: "
SELECT CAST($1 AS INTEGER) AS w_id, 'WAREHOUSE' AS table_name, COUNT(*) AS found, 1 AS wanted
FROM warehouse WHERE w_id = $1 HAVING COUNT(*) <> 1
UNION ALL
SELECT CAST($1 AS INTEGER), 'DISTRICT', COUNT(*), 10 FROM district WHERE d_w_id = $1 HAVING COUNT(*) <> 10
UNION ALL
SELECT CAST($1 AS INTEGER), 'CUSTOMER', COUNT(*), 30000 FROM customer WHERE c_w_id = $1 HAVING COUNT(*) <> 30000
UNION ALL
SELECT CAST($1 AS INTEGER), 'STOCK', COUNT(*), 100000 FROM stock WHERE s_w_id = $1 HAVING COUNT(*) <> 100000",
        ..Check::USUAL
    },
    Check {
        name: "item-rows",
        clause: "1.2.1",
        what: "ITEM has 100,000 rows, numbered from 1",
        scope: Scope::Items,
        sql: "
SELECT COUNT(*) AS items, MIN(i_id) AS min_i_id, MAX(i_id) AS max_i_id FROM item
HAVING COUNT(*) <> 100000 OR MIN(i_id) <> 1 OR MAX(i_id) <> 100000",
        ..Check::USUAL
    },
    Check {
        name: "item-values",
        what: "I_IM_ID, I_NAME, I_PRICE and I_DATA are in their ranges",
        scope: Scope::Items,
        bound: &[dollars(1), dollars(100)],
        sql: "
SELECT * FROM (SELECT i_id, CASE
  WHEN i_im_id NOT BETWEEN 1 AND 10000 THEN 'I_IM_ID'
  WHEN LENGTH(i_name) NOT BETWEEN 14 AND 24 THEN 'I_NAME'
  WHEN i_price NOT BETWEEN $1 AND $2 THEN 'I_PRICE'
  WHEN LENGTH(i_data) NOT BETWEEN 26 AND 50 THEN 'I_DATA'
  END AS fault FROM item) AS i WHERE fault IS NOT NULL",
        ..LOADED
    },
    Check {
        name: "item-original",
        what: "10,000 items have ORIGINAL in I_DATA",
        scope: Scope::Items,
        sql: "
SELECT COUNT(*) AS originals FROM item WHERE REPLACE(i_data, 'ORIGINAL', '') <> i_data HAVING COUNT(*) <> 10000",
        ..LOADED
    },
    Check {
        name: "warehouse-values",
        what: "W_NAME, the address, W_TAX and W_YTD are as the load makes them",
        scope: Scope::Range,
        bound: &[rate(2000), dollars(300_000)],
        sql: concat!(
            "
SELECT * FROM (SELECT w_id, CASE
  WHEN LENGTH(w_name) NOT BETWEEN 6 AND 10 THEN 'W_NAME'
  WHEN LENGTH(w_street_1) NOT BETWEEN 10 AND 20 THEN 'W_STREET_1'
  WHEN LENGTH(w_street_2) NOT BETWEEN 10 AND 20 THEN 'W_STREET_2'
  WHEN LENGTH(w_city) NOT BETWEEN 10 AND 20 THEN 'W_CITY'
  WHEN LENGTH(w_state) <> 2 THEN 'W_STATE'
  WHEN w_zip NOT LIKE '____11111' OR ",
            not_digits!("w_zip"),
            " THEN 'W_ZIP'
  WHEN w_tax NOT BETWEEN 0 AND $3 THEN 'W_TAX'
  WHEN w_ytd <> $4 THEN 'W_YTD'
  END AS fault FROM warehouse WHERE w_id BETWEEN $1 AND $2) AS w WHERE fault IS NOT NULL"
        ),
        ..LOADED
    },
    Check {
        name: "district-values",
        what: "D_ID, D_NAME, the address, D_TAX and D_YTD are as the load makes them",
        scope: Scope::Range,
        bound: &[rate(2000), dollars(30_000)],
        sql: concat!(
            "
SELECT * FROM (SELECT d_w_id, d_id, CASE
  WHEN d_id NOT BETWEEN 1 AND 10 THEN 'D_ID'
  WHEN LENGTH(d_name) NOT BETWEEN 6 AND 10 THEN 'D_NAME'
  WHEN LENGTH(d_street_1) NOT BETWEEN 10 AND 20 THEN 'D_STREET_1'
  WHEN LENGTH(d_street_2) NOT BETWEEN 10 AND 20 THEN 'D_STREET_2'
  WHEN LENGTH(d_city) NOT BETWEEN 10 AND 20 THEN 'D_CITY'
  WHEN LENGTH(d_state) <> 2 THEN 'D_STATE'
  WHEN d_zip NOT LIKE '____11111' OR ",
            not_digits!("d_zip"),
            " THEN 'D_ZIP'
  WHEN d_tax NOT BETWEEN 0 AND $3 THEN 'D_TAX'
  WHEN d_ytd <> $4 THEN 'D_YTD'
  END AS fault FROM district WHERE d_w_id BETWEEN $1 AND $2) AS d WHERE fault IS NOT NULL"
        ),
        ..LOADED
    },
    Check {
        name: "stock-values",
        what: "S_I_ID, S_DIST_xx, the counters and S_DATA are as the load makes them",
        sql: "
SELECT * FROM (SELECT s_w_id, s_i_id, CASE
  WHEN s_i_id NOT BETWEEN 1 AND 100000 THEN 'S_I_ID'
  WHEN LENGTH(s_dist_01) <> 24 OR LENGTH(s_dist_02) <> 24 OR LENGTH(s_dist_03) <> 24 OR LENGTH(s_dist_04) <> 24
    OR LENGTH(s_dist_05) <> 24 OR LENGTH(s_dist_06) <> 24 OR LENGTH(s_dist_07) <> 24 OR LENGTH(s_dist_08) <> 24
    OR LENGTH(s_dist_09) <> 24 OR LENGTH(s_dist_10) <> 24 THEN 'S_DIST_xx'
  WHEN s_ytd <> 0 THEN 'S_YTD'
  WHEN s_order_cnt <> 0 THEN 'S_ORDER_CNT'
  WHEN s_remote_cnt <> 0 THEN 'S_REMOTE_CNT'
  WHEN LENGTH(s_data) NOT BETWEEN 26 AND 50 THEN 'S_DATA'
  END AS fault FROM stock WHERE s_w_id = $1) AS s WHERE fault IS NOT NULL",
        ..LOADED
    },
    Check {
        name: "stock-original",
        what: "10,000 stocks of a warehouse have ORIGINAL in S_DATA",
        sql: "
SELECT CAST($1 AS INTEGER) AS w_id, COUNT(*) AS originals FROM stock
WHERE s_w_id = $1 AND REPLACE(s_data, 'ORIGINAL', '') <> s_data HAVING COUNT(*) <> 10000",
        ..LOADED
    },
    Check {
        name: "customer-values",
        what: "C_ID, C_FIRST, C_MIDDLE, the address, C_PHONE, C_CREDIT, amounts and counters are as the load makes them",
        bound: &[dollars(50_000), rate(5000), dollars(-10), dollars(10)],
        sql: concat!(
            "
SELECT * FROM (SELECT c_w_id, c_d_id, c_id, CASE
  WHEN c_id NOT BETWEEN 1 AND 3000 THEN 'C_ID'
  WHEN LENGTH(c_first) NOT BETWEEN 8 AND 16 THEN 'C_FIRST'
  WHEN c_middle <> 'OE' THEN 'C_MIDDLE'
  WHEN LENGTH(c_street_1) NOT BETWEEN 10 AND 20 THEN 'C_STREET_1'
  WHEN LENGTH(c_street_2) NOT BETWEEN 10 AND 20 THEN 'C_STREET_2'
  WHEN LENGTH(c_city) NOT BETWEEN 10 AND 20 THEN 'C_CITY'
  WHEN LENGTH(c_state) <> 2 THEN 'C_STATE'
  WHEN c_zip NOT LIKE '____11111' OR ",
            not_digits!("c_zip"),
            " THEN 'C_ZIP'
  WHEN LENGTH(c_phone) <> 16 OR ",
            not_digits!("c_phone"),
            " THEN 'C_PHONE'
  WHEN c_credit NOT IN ('GC', 'BC') THEN 'C_CREDIT'
  WHEN c_credit_lim <> $2 THEN 'C_CREDIT_LIM'
  WHEN c_discount NOT BETWEEN 0 AND $3 THEN 'C_DISCOUNT'
  WHEN c_balance <> $4 THEN 'C_BALANCE'
  WHEN c_ytd_payment <> $5 THEN 'C_YTD_PAYMENT'
  WHEN c_payment_cnt <> 1 THEN 'C_PAYMENT_CNT'
  WHEN c_delivery_cnt <> 0 THEN 'C_DELIVERY_CNT'
  END AS fault FROM customer WHERE c_w_id = $1) AS c WHERE fault IS NOT NULL"
        ),
        ..LOADED
    },
    Check {
        name: "customer-names",
        what: "customers 1 to 1,000 of a district bear the 1,000 last names in turn",
        sql: concat!(
            "
SELECT * FROM (SELECT c_w_id, c_d_id, c_id, c_last, ",
            syllable!("(c_id - 1) - (c_id - 1) % 100", "00"),
            " AS first_syllable, ",
            syllable!("(c_id - 1) % 100 - (c_id - 1) % 10", "0"),
            " AS second_syllable, ",
            syllable!("(c_id - 1) % 10", ""),
            " AS third_syllable FROM customer WHERE c_w_id = $1 AND c_id <= 1000) AS c
WHERE SUBSTR(c_last, 1, LENGTH(first_syllable)) <> first_syllable
   OR SUBSTR(c_last, LENGTH(first_syllable) + 1, LENGTH(second_syllable)) <> second_syllable
   OR SUBSTR(c_last, LENGTH(first_syllable) + LENGTH(second_syllable) + 1) <> third_syllable"
        ),
        ..LOADED
    },
    Check {
        name: "customer-credit",
        what: "3,000 customers of a warehouse have bad credit",
        sql: "
SELECT CAST($1 AS INTEGER) AS w_id, COUNT(*) AS bad_credit FROM customer WHERE c_w_id = $1 AND c_credit = 'BC'
HAVING COUNT(*) <> 3000",
        ..LOADED
    },
    Check {
        name: "history-rows",
        what: "every customer has one row in HISTORY, at the customer's own district",
        scope: Scope::Range,
        sql: "
SELECT c_w_id, c_d_id, c_id, payments, elsewhere FROM customer
LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, COUNT(*) AS payments,
                  SUM(CASE WHEN h_w_id <> h_c_w_id OR h_d_id <> h_c_d_id THEN 1 ELSE 0 END) AS elsewhere
           FROM history WHERE h_c_w_id BETWEEN $1 AND $2 GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h
       ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
WHERE c_w_id BETWEEN $1 AND $2 AND (payments IS NULL OR payments <> 1 OR elsewhere <> 0)",
        ..LOADED
    },
    Check {
        name: "history-values",
        what: "H_AMOUNT is 10.00 and H_DATA has 12 to 24 characters",
        scope: Scope::Range,
        bound: &[dollars(10)],
        sql: "
SELECT h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount, h_data FROM history
WHERE h_w_id BETWEEN $1 AND $2 AND (h_amount <> $3 OR LENGTH(h_data) NOT BETWEEN 12 AND 24)",
        ..LOADED
    },
    Check {
        name: "order-values",
        what: "O_OL_CNT is 5 to 15, O_ALL_LOCAL 1, and O_CARRIER_ID 1 to 10 before order 2,101 and NULL from there on",
        sql: "
SELECT * FROM (SELECT o_w_id, o_d_id, o_id, CASE
  WHEN o_ol_cnt NOT BETWEEN 5 AND 15 THEN 'O_OL_CNT'
  WHEN o_all_local <> 1 THEN 'O_ALL_LOCAL'
  WHEN o_id < 2101 AND (o_carrier_id IS NULL OR o_carrier_id NOT BETWEEN 1 AND 10) THEN 'O_CARRIER_ID'
  WHEN o_id >= 2101 AND o_carrier_id IS NOT NULL THEN 'O_CARRIER_ID'
  END AS fault FROM orders WHERE o_w_id = $1) AS o WHERE fault IS NOT NULL",
        ..LOADED
    },
    Check {
        name: "new-order-rows",
        what: "a district has 900 rows in NEW-ORDER, for its orders 2,101 to 3,000",
        sql: "
SELECT d_w_id, d_id, new_orders, min_no_o_id, max_no_o_id FROM district
LEFT JOIN (SELECT no_d_id, COUNT(*) AS new_orders, MIN(no_o_id) AS min_no_o_id, MAX(no_o_id) AS max_no_o_id
           FROM new_order WHERE no_w_id = $1 GROUP BY no_d_id) AS n ON no_d_id = d_id
WHERE d_w_id = $1 AND (new_orders IS NULL OR new_orders <> 900 OR min_no_o_id <> 2101 OR max_no_o_id <> 3000)",
        ..LOADED
    },
    Check {
        name: "order-line-rows",
        what: "the order lines are as many as orders of 5 to 15 lines make, within 4 standard deviations",
        scope: Scope::Range,
        // The mean of a warehouse's lines is 300,000; so is their variance: 30,000 orders of variance 10.
        sql: "
SELECT CAST($1 AS INTEGER) AS first_w_id, CAST($2 AS INTEGER) AS last_w_id, found, wanted FROM
 (SELECT COUNT(*) AS found, 300000 * CAST(CAST($2 AS INTEGER) - CAST($1 AS INTEGER) + 1 AS BIGINT) AS wanted
  FROM order_line WHERE ol_w_id BETWEEN CAST($1 AS INTEGER) AND CAST($2 AS INTEGER)) AS l
WHERE 1.0 * (found - wanted) * (found - wanted) > 16.0 * wanted",
        ..LOADED
    },
    Check {
        name: "order-line-amounts",
        what: "the sum of OL_AMOUNT is what uniform amounts make, within 4 standard deviations",
        scope: Scope::Range,
        // A warehouse's 9,000 undelivered orders: mean 9,000 × 10 × 5,000.00, standard deviation
        // √(9,000 × (10 × 5,000² + 10 × 9,999.98² / 12)) = 1,732,049.
        bound: &[dollars(450_000_000), dollars(4 * 1_732_049)],
        sql: "
SELECT CAST($1 AS INTEGER) AS first_w_id, CAST($2 AS INTEGER) AS last_w_id, found, wanted FROM
 (SELECT COALESCE(SUM(ol_amount), 0) AS found,
         CAST($3 AS DECIMAL(14,2)) * (CAST($2 AS INTEGER) - CAST($1 AS INTEGER) + 1) AS wanted
  FROM order_line WHERE ol_w_id BETWEEN CAST($1 AS INTEGER) AND CAST($2 AS INTEGER)) AS l
WHERE 1.0 * (found - wanted) * (found - wanted)
    > 1.0 * CAST($4 AS DECIMAL(14,2)) * CAST($4 AS DECIMAL(14,2)) * (CAST($2 AS INTEGER) - CAST($1 AS INTEGER) + 1)",
        ..LOADED
    },
    Check {
        name: "order-line-values",
        what: "OL_I_ID, OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT and OL_DIST_INFO are as the load makes them",
        bound: &[cents(1), cents(999_999)],
        sql: "
SELECT * FROM (SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, CASE
  WHEN ol_i_id NOT BETWEEN 1 AND 100000 THEN 'OL_I_ID'
  WHEN ol_supply_w_id <> ol_w_id THEN 'OL_SUPPLY_W_ID'
  WHEN ol_quantity <> 5 THEN 'OL_QUANTITY'
  WHEN ol_o_id < 2101 AND ol_amount <> 0 THEN 'OL_AMOUNT'
  WHEN ol_o_id >= 2101 AND ol_amount NOT BETWEEN $2 AND $3 THEN 'OL_AMOUNT'
  WHEN LENGTH(ol_dist_info) <> 24 THEN 'OL_DIST_INFO'
  END AS fault FROM order_line WHERE ol_w_id = $1) AS l WHERE fault IS NOT NULL",
        ..LOADED
    },
    Check {
        name: "order-line-delivery",
        what: "OL_DELIVERY_D is O_ENTRY_D before order 2,101 and NULL from there on",
        sql: "
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_entry_d FROM order_line
JOIN orders ON o_w_id = $1 AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE ol_w_id = $1 AND ((ol_o_id < 2101 AND (ol_delivery_d IS NULL OR ol_delivery_d <> o_entry_d))
                        OR (ol_o_id >= 2101 AND ol_delivery_d IS NOT NULL))",
        ..LOADED
    },
];
