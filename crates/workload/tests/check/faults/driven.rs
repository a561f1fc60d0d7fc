//! Faults of data with transactions in them.

use super::{Change, Fault, HISTORY, STOCK, set};

const NEW_LINE: &str = "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 3001 AND ol_number = 1";

/// The smallest payment of the run.
const PAYMENT: &str = "h_w_id = 1 AND h_amount = (SELECT MIN(paid) FROM (SELECT h_amount AS paid FROM history WHERE h_w_id = 1) AS h \
     WHERE paid <> {10.00})";

pub(crate) static DRIVEN: &[Fault] = &[
    Fault {
        what: "OL_AMOUNT + 0.01",
        changes: &[set("order_line", NEW_LINE, "ol_amount = ol_amount + {0.01}")],
        violates: &["I9"],
        violations: 1,
        example: "ol_w_id=1, ol_d_id=2, ol_o_id=3001, ol_number=1",
    },
    Fault {
        what: "OL_QUANTITY + 1",
        changes: &[set("order_line", NEW_LINE, "ol_quantity = ol_quantity + 1")],
        violates: &["I9", "I5"],
        violations: 1,
        example: "ol_w_id=1, ol_d_id=2, ol_o_id=3001, ol_number=1",
    },
    Fault {
        what: "OL_DIST_INFO",
        changes: &[set("order_line", NEW_LINE, "ol_dist_info = 'of another district.....'")],
        violates: &["I10"],
        violations: 1,
        example: "ol_w_id=1, ol_d_id=2, ol_o_id=3001, ol_number=1",
    },
    Fault {
        what: "an item that is none",
        changes: &[set("order_line", NEW_LINE, "ol_i_id = 100001")],
        violates: &["I9", "I5", "I10"],
        violations: 1,
        example: "ol_number=1, ol_i_id=100001",
    },
    Fault {
        what: "H_DATA",
        changes: &[set("history", PAYMENT, "h_data = 'somewhere'")],
        violates: &["I11"],
        violations: 1,
        example: "h_data=somewhere",
    },
    Fault {
        what: "S_REMOTE_CNT + 1",
        changes: &[set("stock", STOCK, "s_remote_cnt = s_remote_cnt + 1")],
        violates: &["I5"],
        violations: 1,
        example: "s_w_id=1, s_i_id=9",
    },
    Fault {
        what: "O_ALL_LOCAL flipped",
        changes: &[set("orders", "o_w_id = 1 AND o_d_id = 2 AND o_id = 3001", "o_all_local = 1 - o_all_local")],
        violates: &["I6"],
        violations: 1,
        example: "o_w_id=1, o_d_id=2, o_id=3001",
    },
    Fault {
        what: "a middle NEW-ORDER row deleted",
        changes: &[Change::delete("new_order", "no_w_id = 1 AND no_d_id = 2 AND no_o_id = 2500")],
        violates: &["C3", "C5", "C11g"],
        violations: 1,
        example: "no_w_id=1, no_d_id=2",
    },
    Fault {
        what: "a HISTORY row deleted",
        changes: &[Change::delete("history", HISTORY)],
        violates: &["C10", "C8", "C9", "I2", "I3"],
        violations: 1,
        example: "c_w_id=1, c_d_id=3, c_id=7",
    },
];
