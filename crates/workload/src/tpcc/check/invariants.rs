//! What the transactions' profiles keep true for ever, beyond the twelve conditions.
//!
//! A defect that is applied consistently escapes the conditions (tax inside `OL_AMOUNT` stands on
//! both sides of condition 12), and so do counters that no condition mentions. Sums over all
//! warehouses are taken per warehouse or district here, so that they hold for a slice too.

use super::{Check, Scope, dollars};

pub(super) static INVARIANTS: &[Check] = &[
    Check {
        name: "I1",
        clause: "2.4.2.2",
        what: "S_QUANTITY stays within 10 and 100",
        sql: "
SELECT s_w_id, s_i_id, s_quantity FROM stock WHERE s_w_id = $1 AND s_quantity NOT BETWEEN 10 AND 100",
        ..Check::USUAL
    },
    Check {
        name: "I2",
        clause: "2.5.2.2",
        what: "money received agrees in WAREHOUSE and HISTORY, money paid in CUSTOMER and HISTORY",
        scope: Scope::Range,
        sql: "
WITH payments AS (SELECT h_w_id, h_c_w_id, SUM(h_amount) AS amount FROM history
                  WHERE h_w_id BETWEEN $1 AND $2 OR h_c_w_id BETWEEN $1 AND $2 GROUP BY h_w_id, h_c_w_id)
SELECT w_id, w_ytd, received, sum_c_ytd_payment, paid FROM warehouse
LEFT JOIN (SELECT h_w_id, SUM(amount) AS received FROM payments GROUP BY h_w_id) AS r ON h_w_id = w_id
LEFT JOIN (SELECT h_c_w_id, SUM(amount) AS paid FROM payments GROUP BY h_c_w_id) AS p ON h_c_w_id = w_id
LEFT JOIN (SELECT c_w_id, SUM(c_ytd_payment) AS sum_c_ytd_payment FROM customer WHERE c_w_id BETWEEN $1 AND $2
           GROUP BY c_w_id) AS c ON c_w_id = w_id
WHERE w_id BETWEEN $1 AND $2
  AND (w_ytd <> COALESCE(received, 0) OR COALESCE(sum_c_ytd_payment, 0) <> COALESCE(paid, 0))",
        ..Check::USUAL
    },
    Check {
        name: "I3",
        clause: "2.5.2.2",
        what: "the customers' C_PAYMENT_CNT add up to their rows in HISTORY",
        scope: Scope::Range,
        sql: "
SELECT w_id, sum_c_payment_cnt, payments FROM warehouse
LEFT JOIN (SELECT c_w_id, SUM(c_payment_cnt) AS sum_c_payment_cnt FROM customer WHERE c_w_id BETWEEN $1 AND $2
           GROUP BY c_w_id) AS c ON c_w_id = w_id
LEFT JOIN (SELECT h_c_w_id, COUNT(*) AS payments FROM history WHERE h_c_w_id BETWEEN $1 AND $2
           GROUP BY h_c_w_id) AS h ON h_c_w_id = w_id
WHERE w_id BETWEEN $1 AND $2 AND COALESCE(sum_c_payment_cnt, 0) <> COALESCE(payments, 0)",
        ..Check::USUAL
    },
    Check {
        name: "I4",
        clause: "2.7.4.2",
        what: "a district's C_DELIVERY_CNT add up to its orders with a carrier, 2,100 of the load left out",
        sql: "
SELECT d_w_id, d_id, sum_c_delivery_cnt, carried FROM district
LEFT JOIN (SELECT c_d_id, SUM(c_delivery_cnt) AS sum_c_delivery_cnt FROM customer WHERE c_w_id = $1
           GROUP BY c_d_id) AS c ON c_d_id = d_id
LEFT JOIN (SELECT o_d_id, COUNT(*) AS carried FROM orders WHERE o_w_id = $1 AND o_carrier_id IS NOT NULL
           GROUP BY o_d_id) AS o ON o_d_id = d_id
WHERE d_w_id = $1 AND COALESCE(sum_c_delivery_cnt, 0) <> COALESCE(carried, 0) - 2100",
        ..Check::USUAL
    },
    Check {
        name: "I5",
        clause: "2.4.2.2",
        what: "S_YTD, S_ORDER_CNT and S_REMOTE_CNT count the lines entered since the load",
        scope: Scope::Range,
        sql: "
SELECT s_w_id, s_i_id, s_ytd, ordered, s_order_cnt, order_lines, s_remote_cnt, remote_lines FROM stock
LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, SUM(ol_quantity) AS ordered, COUNT(*) AS order_lines,
                  SUM(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote_lines
           FROM order_line WHERE ol_supply_w_id BETWEEN $1 AND $2 AND ol_o_id > 3000
           GROUP BY ol_supply_w_id, ol_i_id) AS l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id
WHERE s_w_id BETWEEN $1 AND $2
  AND (s_ytd <> COALESCE(ordered, 0) OR s_order_cnt <> COALESCE(order_lines, 0)
       OR s_remote_cnt <> COALESCE(remote_lines, 0))",
        ..Check::USUAL
    },
    Check {
        name: "I6",
        clause: "2.4.2.2",
        what: "O_ALL_LOCAL is 1 exactly if all lines are supplied by the order's own warehouse",
        sql: "
SELECT o_w_id, o_d_id, o_id, o_all_local, remote_lines FROM orders
LEFT JOIN (SELECT ol_d_id, ol_o_id, COUNT(*) AS remote_lines FROM order_line
           WHERE ol_w_id = $1 AND ol_supply_w_id <> $1
           GROUP BY ol_d_id, ol_o_id) AS l ON ol_d_id = o_d_id AND ol_o_id = o_id
WHERE o_w_id = $1 AND o_all_local <> CASE WHEN remote_lines IS NULL THEN 1 ELSE 0 END",
        ..Check::USUAL
    },
    Check {
        name: "I7",
        clause: "2.4.2.2",
        what: "the O_IDs of a district have no gap, from 1 to D_NEXT_O_ID - 1",
        sql: "
SELECT d_w_id, d_id, d_next_o_id, orders, min_o_id FROM district
LEFT JOIN (SELECT o_d_id, COUNT(*) AS orders, MIN(o_id) AS min_o_id FROM orders WHERE o_w_id = $1
           GROUP BY o_d_id) AS o ON o_d_id = d_id
WHERE d_w_id = $1 AND (orders IS NULL OR min_o_id <> 1 OR orders <> d_next_o_id - 1)",
        ..Check::USUAL
    },
    Check {
        name: "I8",
        clause: "2.4.2.2",
        what: "the OL_NUMBERs of an order have no gap, from 1",
        sql: "
SELECT ol_w_id, ol_d_id, ol_o_id, MIN(ol_number) AS min_ol_number, MAX(ol_number) AS max_ol_number,
       COUNT(*) AS order_lines
FROM order_line WHERE ol_w_id = $1
GROUP BY ol_w_id, ol_d_id, ol_o_id HAVING MIN(ol_number) <> 1 OR MAX(ol_number) <> COUNT(*)",
        ..Check::USUAL
    },
    Check {
        name: "I9",
        clause: "2.4.2.2",
        what: "OL_AMOUNT of a line entered since the load is its quantity times the item's price",
        sql: "
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_amount, ol_quantity, i_price FROM order_line
LEFT JOIN item ON i_id = ol_i_id
WHERE ol_w_id = $1 AND ol_o_id > 3000 AND (i_id IS NULL OR ol_amount <> ol_quantity * i_price)",
        ..Check::USUAL
    },
    Check {
        name: "I10",
        clause: "2.4.2.2",
        what: "OL_DIST_INFO of a line entered since the load is the stock's S_DIST_xx of the order's district",
        sql: "
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_supply_w_id, ol_i_id, ol_dist_info FROM order_line
LEFT JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
WHERE ol_w_id = $1 AND ol_o_id > 3000
  AND (s_i_id IS NULL OR ol_dist_info <> CASE ol_d_id
       WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
       WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END)",
        ..Check::USUAL
    },
    Check {
        name: "I11",
        clause: "2.5.2.2",
        what: "H_DATA of a payment since the load is W_NAME, four blanks and D_NAME",
        scope: Scope::Range,
        // A payment of 10.00 is taken for one of the load (4.3.3.1). In parts, since not all databases join text alike,
        // and with the length, since to some a blank more is no difference.
        bound: &[dollars(10)],
        sql: "
SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount, h_data, w_name, d_name FROM history
LEFT JOIN warehouse ON w_id = h_w_id
LEFT JOIN district ON d_w_id = h_w_id AND d_id = h_d_id
WHERE h_w_id BETWEEN $1 AND $2
  AND (w_id IS NULL OR d_id IS NULL OR (h_amount <> $3
       AND (LENGTH(h_data) <> LENGTH(w_name) + 4 + LENGTH(d_name) OR SUBSTR(h_data, 1, LENGTH(w_name)) <> w_name
            OR SUBSTR(h_data, LENGTH(w_name) + 1, 4) <> '    ' OR SUBSTR(h_data, LENGTH(w_name) + 5) <> d_name)))",
        ..Check::USUAL
    },
    Check {
        name: "I12",
        clause: "2.5.2.2",
        what: "C_DATA has 300 to 500 characters",
        sql: "
SELECT c_w_id, c_d_id, c_id, LENGTH(c_data) AS characters FROM customer
WHERE c_w_id = $1 AND LENGTH(c_data) NOT BETWEEN 300 AND 500",
        ..Check::USUAL
    },
    Check {
        name: "I13",
        clause: "4.3.3.1",
        what: "all 1,000 last names occur in a district",
        sql: "
SELECT d_w_id, d_id, last_names FROM district
LEFT JOIN (SELECT c_d_id, COUNT(DISTINCT c_last) AS last_names FROM customer WHERE c_w_id = $1
           GROUP BY c_d_id) AS c ON c_d_id = d_id
WHERE d_w_id = $1 AND COALESCE(last_names, 0) <> 1000",
        ..Check::USUAL
    },
    Check {
        name: "I14",
        clause: "4.3.3.1",
        what: "the first 3,000 orders of a district are those of its 3,000 customers",
        sql: "
SELECT d_w_id, d_id, customers, min_o_c_id, max_o_c_id FROM district
LEFT JOIN (SELECT o_d_id, COUNT(DISTINCT o_c_id) AS customers, MIN(o_c_id) AS min_o_c_id, MAX(o_c_id) AS max_o_c_id
           FROM orders WHERE o_w_id = $1 AND o_id <= 3000 GROUP BY o_d_id) AS o ON o_d_id = d_id
WHERE d_w_id = $1 AND (customers IS NULL OR customers <> 3000 OR min_o_c_id <> 1 OR max_o_c_id <> 3000)",
        ..Check::USUAL
    },
];
