//! The twelve consistency conditions (3.3.2).
//!
//! The standard's texts leave open what an empty group is; here a missing group or a NULL sum
//! never hides a violation. Condition 11 can't survive a Delivery as it is worded: it is checked
//! so on data as loaded, and always in the form that counts the deliveries (`C11g`).

use super::{Applies, Check, Scope};

pub(super) static CONDITIONS: &[Check] = &[
    Check {
        name: "C1",
        clause: "3.3.2.1",
        what: "W_YTD is the sum of the warehouse's D_YTD",
        scope: Scope::Range,
        sql: "
SELECT w_id, w_ytd, SUM(d_ytd) AS sum_d_ytd FROM warehouse LEFT JOIN district ON d_w_id = w_id
WHERE w_id BETWEEN $1 AND $2
GROUP BY w_id, w_ytd HAVING SUM(d_ytd) IS NULL OR w_ytd <> SUM(d_ytd)",
        ..Check::USUAL
    },
    Check {
        name: "C2",
        clause: "3.3.2.2",
        what: "D_NEXT_O_ID - 1 is the highest O_ID, and the highest NO_O_ID if there is one",
        sql: "
SELECT d_w_id, d_id, d_next_o_id, max_o_id, max_no_o_id FROM district
LEFT JOIN (SELECT o_d_id, MAX(o_id) AS max_o_id FROM orders WHERE o_w_id = $1 GROUP BY o_d_id) AS o ON o_d_id = d_id
LEFT JOIN (SELECT no_d_id, MAX(no_o_id) AS max_no_o_id FROM new_order WHERE no_w_id = $1 GROUP BY no_d_id) AS n
       ON no_d_id = d_id
WHERE d_w_id = $1 AND (max_o_id IS NULL OR d_next_o_id - 1 <> max_o_id
                       OR (max_no_o_id IS NOT NULL AND d_next_o_id - 1 <> max_no_o_id))",
        ..Check::USUAL
    },
    Check {
        name: "C3",
        clause: "3.3.2.3",
        what: "the NO_O_IDs of a district have no gap",
        sql: "
SELECT no_w_id, no_d_id, MIN(no_o_id) AS min_no_o_id, MAX(no_o_id) AS max_no_o_id, COUNT(*) AS new_orders
FROM new_order WHERE no_w_id = $1
GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)",
        ..Check::USUAL
    },
    Check {
        name: "C4",
        clause: "3.3.2.4",
        what: "the sum of a district's O_OL_CNT is its number of order lines",
        sql: "
SELECT d_w_id, d_id, sum_o_ol_cnt, order_lines FROM district
LEFT JOIN (SELECT o_d_id, SUM(o_ol_cnt) AS sum_o_ol_cnt FROM orders WHERE o_w_id = $1 GROUP BY o_d_id) AS o
       ON o_d_id = d_id
LEFT JOIN (SELECT ol_d_id, COUNT(*) AS order_lines FROM order_line WHERE ol_w_id = $1 GROUP BY ol_d_id) AS l
       ON ol_d_id = d_id
WHERE d_w_id = $1 AND COALESCE(sum_o_ol_cnt, 0) <> COALESCE(order_lines, 0)",
        ..Check::USUAL
    },
    Check {
        name: "C5",
        clause: "3.3.2.5",
        what: "an order has a carrier exactly if it has no row in NEW-ORDER",
        sql: "
SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, 'no carrier and no row in NEW-ORDER' AS fault FROM orders
WHERE o_w_id = $1 AND o_carrier_id IS NULL
  AND NOT EXISTS (SELECT 1 FROM new_order WHERE no_w_id = $1 AND no_d_id = o_d_id AND no_o_id = o_id)
UNION ALL
SELECT o_w_id, o_d_id, o_id, 'a carrier and a row in NEW-ORDER' FROM orders
WHERE o_w_id = $1 AND o_carrier_id IS NOT NULL
  AND EXISTS (SELECT 1 FROM new_order WHERE no_w_id = $1 AND no_d_id = o_d_id AND no_o_id = o_id)
UNION ALL
SELECT no_w_id, no_d_id, no_o_id, 'a row in NEW-ORDER without its order' FROM new_order
WHERE no_w_id = $1
  AND NOT EXISTS (SELECT 1 FROM orders WHERE o_w_id = $1 AND o_d_id = no_d_id AND o_id = no_o_id)",
        ..Check::USUAL
    },
    Check {
        name: "C6",
        clause: "3.3.2.6",
        what: "O_OL_CNT is the order's number of lines",
        sql: "
SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, o_ol_cnt, order_lines FROM orders
LEFT JOIN (SELECT ol_d_id, ol_o_id, COUNT(*) AS order_lines FROM order_line WHERE ol_w_id = $1
           GROUP BY ol_d_id, ol_o_id) AS l ON ol_d_id = o_d_id AND ol_o_id = o_id
WHERE o_w_id = $1 AND (order_lines IS NULL OR o_ol_cnt <> order_lines)
UNION ALL
SELECT ol_w_id, ol_d_id, ol_o_id, NULL, COUNT(*) FROM order_line
WHERE ol_w_id = $1
  AND NOT EXISTS (SELECT 1 FROM orders WHERE o_w_id = $1 AND o_d_id = ol_d_id AND o_id = ol_o_id)
GROUP BY ol_w_id, ol_d_id, ol_o_id",
        ..Check::USUAL
    },
    Check {
        name: "C7",
        clause: "3.3.2.7",
        what: "a line has a delivery date exactly if its order has a carrier",
        sql: "
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id FROM order_line
LEFT JOIN orders ON o_w_id = $1 AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE ol_w_id = $1 AND (o_id IS NULL OR (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL)
                        OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL))",
        ..Check::USUAL
    },
    Check {
        name: "C8",
        clause: "3.3.2.8",
        what: "W_YTD is the sum of the payments made at the warehouse",
        scope: Scope::Range,
        sql: "
SELECT w_id, w_ytd, sum_h_amount FROM warehouse
LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS sum_h_amount FROM history WHERE h_w_id BETWEEN $1 AND $2
           GROUP BY h_w_id) AS h ON h_w_id = w_id
WHERE w_id BETWEEN $1 AND $2 AND w_ytd <> COALESCE(sum_h_amount, 0)",
        ..Check::USUAL
    },
    Check {
        name: "C9",
        clause: "3.3.2.9",
        what: "D_YTD is the sum of the payments made at the district",
        scope: Scope::Range,
        sql: "
SELECT d_w_id, d_id, d_ytd, sum_h_amount FROM district
LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS sum_h_amount FROM history WHERE h_w_id BETWEEN $1 AND $2
           GROUP BY h_w_id, h_d_id) AS h ON h_w_id = d_w_id AND h_d_id = d_id
WHERE d_w_id BETWEEN $1 AND $2 AND d_ytd <> COALESCE(sum_h_amount, 0)",
        ..Check::USUAL
    },
    Check {
        name: "C10",
        clause: "3.3.2.10",
        what: "C_BALANCE is the customer's delivered lines less the customer's payments",
        scope: Scope::Range,
        sql: "
SELECT c_w_id, c_d_id, c_id, c_balance, sum_ol_amount, sum_h_amount FROM customer
LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS sum_ol_amount FROM orders
           JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
           WHERE o_w_id BETWEEN $1 AND $2 AND ol_w_id BETWEEN $1 AND $2 AND ol_delivery_d IS NOT NULL
           GROUP BY o_w_id, o_d_id, o_c_id) AS l ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS sum_h_amount FROM history
           WHERE h_c_w_id BETWEEN $1 AND $2
           GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
WHERE c_w_id BETWEEN $1 AND $2 AND c_balance <> COALESCE(sum_ol_amount, 0) - COALESCE(sum_h_amount, 0)",
        ..Check::USUAL
    },
    Check {
        name: "C11",
        clause: "3.3.2.11",
        what: "a district has 2,100 orders more than rows in NEW-ORDER, until the first Delivery",
        applies: Applies::AsLoaded,
        sql: "
SELECT d_w_id, d_id, orders, new_orders FROM district
LEFT JOIN (SELECT o_d_id, COUNT(*) AS orders FROM orders WHERE o_w_id = $1 GROUP BY o_d_id) AS o ON o_d_id = d_id
LEFT JOIN (SELECT no_d_id, COUNT(*) AS new_orders FROM new_order WHERE no_w_id = $1 GROUP BY no_d_id) AS n
       ON no_d_id = d_id
WHERE d_w_id = $1 AND COALESCE(orders, 0) - COALESCE(new_orders, 0) <> 2100",
        ..Check::USUAL
    },
    Check {
        name: "C11g",
        clause: "3.3.2.11",
        what: "a district has 2,100 and its deliveries more orders than rows in NEW-ORDER, at any time",
        sql: "
SELECT d_w_id, d_id, orders, new_orders, sum_c_delivery_cnt FROM district
LEFT JOIN (SELECT o_d_id, COUNT(*) AS orders FROM orders WHERE o_w_id = $1 GROUP BY o_d_id) AS o ON o_d_id = d_id
LEFT JOIN (SELECT no_d_id, COUNT(*) AS new_orders FROM new_order WHERE no_w_id = $1 GROUP BY no_d_id) AS n
       ON no_d_id = d_id
LEFT JOIN (SELECT c_d_id, SUM(c_delivery_cnt) AS sum_c_delivery_cnt FROM customer WHERE c_w_id = $1
           GROUP BY c_d_id) AS c ON c_d_id = d_id
WHERE d_w_id = $1
  AND COALESCE(orders, 0) - COALESCE(new_orders, 0) <> 2100 + COALESCE(sum_c_delivery_cnt, 0)",
        ..Check::USUAL
    },
    Check {
        name: "C12",
        clause: "3.3.2.12",
        what: "C_BALANCE and C_YTD_PAYMENT together are the customer's delivered lines",
        sql: "
SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, sum_ol_amount FROM customer
LEFT JOIN (SELECT o_d_id, o_c_id, SUM(ol_amount) AS sum_ol_amount FROM orders
           JOIN order_line ON ol_w_id = $1 AND ol_d_id = o_d_id AND ol_o_id = o_id
           WHERE o_w_id = $1 AND ol_delivery_d IS NOT NULL
           GROUP BY o_d_id, o_c_id) AS l ON o_d_id = c_d_id AND o_c_id = c_id
WHERE c_w_id = $1 AND c_balance + c_ytd_payment <> COALESCE(sum_ol_amount, 0)",
        ..Check::USUAL
    },
];
