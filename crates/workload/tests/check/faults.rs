//! Deliberate faults, and exactly which checks each of them must fail.

/// A fault in warehouse 1 (or in ITEM).
pub(crate) struct Fault {
    pub(crate) what: &'static str,
    pub(crate) changes: &'static [Change],
    /// The checks that must fail, and no others.
    pub(crate) violates: &'static [&'static str],
    /// Violations of the first of them.
    pub(crate) violations: u64,
    /// What one of its examples must contain.
    pub(crate) example: &'static str,
}

/// What is done to the rows of a table that `rows` names, before and after the change.
pub(crate) struct Change {
    table: &'static str,
    rows: &'static str,
    how: How,
}

enum How {
    Set(&'static str),
    Delete,
    Insert(&'static str),
}

impl Change {
    pub(crate) const fn set(table: &'static str, rows: &'static str, to: &'static str) -> Change {
        Change { table, rows, how: How::Set(to) }
    }

    const fn delete(table: &'static str, rows: &'static str) -> Change {
        Change { table, rows, how: How::Delete }
    }

    const fn insert(table: &'static str, rows: &'static str, values: &'static str) -> Change {
        Change { table, rows, how: How::Insert(values) }
    }

    /// SQL that keeps the rows aside and changes them.
    pub(crate) fn spoil(&self, number: usize) -> String {
        let Change { table, rows, .. } = self;
        let change = match self.how {
            How::Set(to) => format!("UPDATE {table} SET {to} WHERE {rows}"),
            How::Delete => format!("DELETE FROM {table} WHERE {rows}"),
            How::Insert(values) => format!("INSERT INTO {table} VALUES ({values})"),
        };
        format!("CREATE TABLE saved_{number} AS SELECT * FROM {table} WHERE {rows}; {change}")
    }

    /// SQL that puts the rows back.
    pub(crate) fn mend(&self, number: usize) -> String {
        let Change { table, rows, .. } = self;
        format!(
            "DELETE FROM {table} WHERE {rows}; INSERT INTO {table} SELECT * FROM saved_{number}; \
             DROP TABLE saved_{number}"
        )
    }
}

const fn set(table: &'static str, rows: &'static str, to: &'static str) -> Change {
    Change::set(table, rows, to)
}

const CUSTOMER: &str = "c_w_id = 1 AND c_d_id = 3 AND c_id = 7";
const DISTRICT: &str = "d_w_id = 1 AND d_id = 4";
const STOCK: &str = "s_w_id = 1 AND s_i_id = 9";
const HISTORY: &str = "h_c_w_id = 1 AND h_c_d_id = 3 AND h_c_id = 7";
const OLD_ORDER: &str = "o_w_id = 1 AND o_d_id = 2 AND o_id = 5";
const OLD_LINES: &str = "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 5";
const OLD_LINE: &str = "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 5 AND ol_number = 1";
const OPEN_ORDER: &str = "o_w_id = 1 AND o_d_id = 2 AND o_id = 2500";
const OPEN_LINE: &str = "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 2500 AND ol_number = 1";

/// Faults of fresh data.
pub(crate) static AS_LOADED: &[Fault] = &[
    Fault {
        what: "W_YTD + 1",
        changes: &[set("warehouse", "w_id = 1", "w_ytd = w_ytd + {1.00}")],
        violates: &["C1", "C8", "I2", "warehouse-values"],
        violations: 1,
        example: "w_id=1, w_ytd=30000",
    },
    Fault {
        what: "D_YTD + 0.01",
        changes: &[set("district", DISTRICT, "d_ytd = d_ytd + {0.01}")],
        violates: &["C9", "C1", "district-values"],
        violations: 1,
        example: "d_w_id=1, d_id=4",
    },
    Fault {
        what: "D_NEXT_O_ID + 1",
        changes: &[set("district", DISTRICT, "d_next_o_id = d_next_o_id + 1")],
        violates: &["C2", "I7"],
        violations: 1,
        example: "d_w_id=1, d_id=4, d_next_o_id=3002, max_o_id=3000, max_no_o_id=3000",
    },
    Fault {
        what: "a middle NEW-ORDER row deleted",
        changes: &[Change::delete("new_order", "no_w_id = 1 AND no_d_id = 2 AND no_o_id = 2500")],
        violates: &["C3", "C5", "C11", "C11g", "new-order-rows"],
        violations: 1,
        example: "no_w_id=1, no_d_id=2, min_no_o_id=2101, max_no_o_id=3000, new_orders=899",
    },
    Fault {
        what: "the last NEW-ORDER row deleted",
        changes: &[Change::delete("new_order", "no_w_id = 1 AND no_d_id = 2 AND no_o_id = 3000")],
        violates: &["C2", "C5", "C11", "C11g", "new-order-rows"],
        violations: 1,
        example: "max_no_o_id=2999",
    },
    Fault {
        what: "a NEW-ORDER row without an order",
        changes: &[Change::insert("new_order", "no_w_id = 1 AND no_d_id = 2 AND no_o_id = 3001", "3001, 2, 1")],
        violates: &["C5", "C2", "C11", "C11g", "new-order-rows"],
        violations: 1,
        example: "d_id=2, o_id=3001, fault=a row in NEW-ORDER without its order",
    },
    Fault {
        what: "all NEW-ORDER rows of a district deleted",
        changes: &[Change::delete("new_order", "no_w_id = 1 AND no_d_id = 2")],
        violates: &["C5", "C11", "C11g", "new-order-rows"],
        violations: 900,
        example: "w_id=1, d_id=2",
    },
    Fault {
        what: "a first line deleted",
        changes: &[Change::delete("order_line", OLD_LINE)],
        violates: &["C6", "C4", "I8"],
        violations: 1,
        example: "w_id=1, d_id=2, o_id=5",
    },
    Fault {
        what: "O_OL_CNT shifted between two orders",
        changes: &[set(
            "orders",
            "o_w_id = 1 AND o_d_id = 2 AND o_id IN (2, 5)",
            "o_ol_cnt = CASE WHEN o_id = 2 THEN o_ol_cnt + 1 ELSE o_ol_cnt - 1 END",
        )],
        violates: &["C6"],
        violations: 2,
        example: "w_id=1, d_id=2, o_id=5",
    },
    Fault {
        what: "an order without its lines",
        changes: &[Change::delete("order_line", OLD_LINES)],
        violates: &["C6", "C4"],
        violations: 1,
        example: "w_id=1, d_id=2, o_id=5",
    },
    Fault {
        what: "lines without their order",
        changes: &[Change::delete("orders", OLD_ORDER)],
        violates: &["C6", "C4", "C7", "C11", "C11g", "I4", "I7", "I14"],
        violations: 1,
        example: "w_id=1, d_id=2, o_id=5, o_ol_cnt=NULL",
    },
    Fault {
        what: "a whole old order deleted",
        changes: &[Change::delete("orders", OLD_ORDER), Change::delete("order_line", OLD_LINES)],
        violates: &["I7", "C11", "C11g", "I4", "I14"],
        violations: 1,
        example: "d_w_id=1, d_id=2, d_next_o_id=3001, orders=2999, min_o_id=1",
    },
    Fault {
        what: "all orders of a district deleted",
        changes: &[
            Change::delete("orders", "o_w_id = 1 AND o_d_id = 2"),
            Change::delete("order_line", "ol_w_id = 1 AND ol_d_id = 2"),
            Change::delete("new_order", "no_w_id = 1 AND no_d_id = 2"),
        ],
        violates: &["C2", "C11", "C11g", "I4", "I7", "I14", "new-order-rows", "order-line-rows", "order-line-amounts"],
        violations: 1,
        example: "d_w_id=1, d_id=2, d_next_o_id=3001, max_o_id=NULL, max_no_o_id=NULL",
    },
    Fault {
        what: "a carrier without a delivery",
        changes: &[set("orders", OPEN_ORDER, "o_carrier_id = 5")],
        violates: &["C5", "C7", "I4"],
        violations: 1,
        example: "w_id=1, d_id=2, o_id=2500, fault=a carrier and a row in NEW-ORDER",
    },
    Fault {
        what: "a carrier taken away",
        changes: &[set("orders", OLD_ORDER, "o_carrier_id = NULL")],
        violates: &["C5", "C7", "I4", "order-values"],
        violations: 1,
        example: "w_id=1, d_id=2, o_id=5, fault=no carrier and no row in NEW-ORDER",
    },
    Fault {
        what: "OL_DELIVERY_D cleared",
        changes: &[set("order_line", OLD_LINE, "ol_delivery_d = NULL")],
        violates: &["C7", "order-line-delivery"],
        violations: 1,
        example: "ol_w_id=1, ol_d_id=2, ol_o_id=5, ol_number=1, ol_delivery_d=NULL",
    },
    Fault {
        what: "OL_DELIVERY_D of an open line",
        changes: &[set("order_line", OPEN_LINE, "ol_delivery_d = '2026-01-01 00:00:00'")],
        violates: &["C7", "C10", "C12", "order-line-delivery"],
        violations: 1,
        example: "ol_o_id=2500, ol_number=1, ol_delivery_d=2026-01-01 00:00:00, o_carrier_id=NULL",
    },
    Fault {
        what: "another OL_DELIVERY_D than O_ENTRY_D",
        changes: &[set("order_line", OLD_LINE, "ol_delivery_d = '2026-01-01 00:00:00'")],
        violates: &["order-line-delivery"],
        violations: 1,
        example: "ol_w_id=1, ol_d_id=2, ol_o_id=5, ol_number=1",
    },
    Fault {
        what: "a HISTORY row deleted",
        changes: &[Change::delete("history", HISTORY)],
        violates: &["C10", "C8", "C9", "I2", "I3", "history-rows"],
        violations: 1,
        example: "c_w_id=1, c_d_id=3, c_id=7",
    },
    Fault {
        what: "a HISTORY row too many",
        changes: &[Change::insert(
            "history",
            "h_w_id = 1 AND h_data = 'one row too many'",
            "7, 3, 1, 3, 1, '2026-01-01 00:00:00', {10.00}, 'one row too many'",
        )],
        violates: &["C10", "C8", "C9", "I2", "I3"],
        violations: 1,
        example: "c_w_id=1, c_d_id=3, c_id=7",
    },
    Fault {
        what: "H_AMOUNT + 0.01",
        changes: &[set("history", HISTORY, "h_amount = h_amount + {0.01}")],
        violates: &["history-values", "C8", "C9", "C10", "I2", "I11"],
        violations: 1,
        example: "h_c_w_id=1, h_c_d_id=3, h_c_id=7",
    },
    Fault {
        what: "a payment at another district",
        changes: &[set("history", HISTORY, "h_d_id = 1")],
        violates: &["C9", "history-rows"],
        violations: 2,
        example: "d_w_id=1, d_id=3",
    },
    Fault {
        what: "a payment at another warehouse",
        changes: &[set("history", HISTORY, "h_w_id = 2")],
        violates: &["history-rows", "C8", "C9", "I2"],
        violations: 1,
        example: "c_w_id=1, c_d_id=3, c_id=7, payments=1, elsewhere=1",
    },
    Fault {
        what: "C_BALANCE + 0.01",
        changes: &[set("customer", CUSTOMER, "c_balance = c_balance + {0.01}")],
        violates: &["C10", "C12", "customer-values"],
        violations: 1,
        example: "c_w_id=1, c_d_id=3, c_id=7",
    },
    Fault {
        what: "C_YTD_PAYMENT + 1",
        changes: &[set("customer", CUSTOMER, "c_ytd_payment = c_ytd_payment + {1.00}")],
        violates: &["C12", "I2", "customer-values"],
        violations: 1,
        example: "c_w_id=1, c_d_id=3, c_id=7",
    },
    Fault {
        what: "C_DELIVERY_CNT + 1",
        changes: &[set("customer", CUSTOMER, "c_delivery_cnt = c_delivery_cnt + 1")],
        violates: &["C11g", "I4", "customer-values"],
        violations: 1,
        example: "d_w_id=1, d_id=3, orders=3000, new_orders=900, sum_c_delivery_cnt=1",
    },
    Fault {
        what: "C_PAYMENT_CNT + 1",
        changes: &[set("customer", CUSTOMER, "c_payment_cnt = c_payment_cnt + 1")],
        violates: &["I3", "customer-values"],
        violations: 1,
        example: "w_id=1, sum_c_payment_cnt=30001, payments=30000",
    },
    Fault {
        what: "counters of STOCK",
        changes: &[
            set("stock", "s_w_id = 1 AND s_i_id = 1", "s_ytd = 1"),
            set("stock", "s_w_id = 1 AND s_i_id = 2", "s_order_cnt = 1"),
            set("stock", "s_w_id = 1 AND s_i_id = 3", "s_remote_cnt = 1"),
        ],
        violates: &["I5", "stock-values"],
        violations: 3,
        example: "s_w_id=1, s_i_id=3",
    },
    Fault {
        what: "S_QUANTITY out of 10 to 100",
        changes: &[
            set("stock", STOCK, "s_quantity = 101"),
            set("stock", "s_w_id = 1 AND s_i_id = 100000", "s_quantity = 9"),
        ],
        violates: &["I1"],
        violations: 2,
        example: "s_w_id=1, s_i_id=9, s_quantity=101",
    },
    Fault {
        what: "O_ALL_LOCAL = 0",
        changes: &[set("orders", OPEN_ORDER, "o_all_local = 0")],
        violates: &["I6", "order-values"],
        violations: 1,
        example: "o_w_id=1, o_d_id=2, o_id=2500, o_all_local=0",
    },
    Fault {
        what: "a remote line",
        changes: &[set("order_line", OPEN_LINE, "ol_supply_w_id = 2")],
        violates: &["I6", "order-line-values"],
        violations: 1,
        example: "o_w_id=1, o_d_id=2, o_id=2500, o_all_local=1, remote_lines=1",
    },
    Fault {
        what: "OL_NUMBERs from 21",
        changes: &[set("order_line", OLD_LINES, "ol_number = ol_number + 20")],
        violates: &["I8"],
        violations: 1,
        example: "ol_w_id=1, ol_d_id=2, ol_o_id=5, min_ol_number=21",
    },
    Fault {
        what: "C_DATA",
        changes: &[set("customer", CUSTOMER, "c_data = 'short'")],
        violates: &["I12"],
        violations: 1,
        example: "c_w_id=1, c_d_id=3, c_id=7, characters=5",
    },
    Fault {
        what: "a last name that is none",
        changes: &[set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 2000", "c_last = 'BARBARBAZ'")],
        violates: &["I13"],
        violations: 1,
        example: "d_w_id=1, d_id=3, last_names=1001",
    },
    Fault {
        what: "a customer's order given to another",
        changes: &[set("orders", OLD_ORDER, "o_c_id = CASE WHEN o_c_id = 9 THEN 10 ELSE 9 END")],
        violates: &["I14"],
        violations: 1,
        example: "d_w_id=1, d_id=2, customers=2999",
    },
    Fault {
        what: "the WAREHOUSE row deleted",
        changes: &[Change::delete("warehouse", "w_id = 1")],
        violates: &["fixed-rows", "I11"],
        violations: 1,
        example: "w_id=1, table_name=WAREHOUSE, found=0, wanted=1",
    },
    Fault {
        what: "a DISTRICT row deleted",
        changes: &[Change::delete("district", DISTRICT)],
        violates: &["fixed-rows", "C1", "I11"],
        violations: 1,
        example: "w_id=1, table_name=DISTRICT, found=9, wanted=10",
    },
    Fault {
        what: "a CUSTOMER row deleted",
        changes: &[Change::delete("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 2000")],
        violates: &["fixed-rows", "I2", "I3"],
        violations: 1,
        example: "w_id=1, table_name=CUSTOMER, found=29999, wanted=30000",
    },
    Fault {
        what: "a STOCK row deleted",
        changes: &[Change::delete("stock", STOCK)],
        violates: &["fixed-rows"],
        violations: 1,
        example: "w_id=1, table_name=STOCK, found=99999, wanted=100000",
    },
    Fault {
        what: "an ITEM row deleted",
        changes: &[Change::delete("item", "i_id = 100000")],
        violates: &["item-rows"],
        violations: 1,
        example: "items=99999, min_i_id=1, max_i_id=99999",
    },
    Fault {
        what: "values of ITEM",
        changes: &[
            set("item", "i_id = 1", "i_im_id = 10001"),
            set("item", "i_id = 2", "i_name = 'thirteen char'"),
            set("item", "i_id = 3", "i_price = {0.99}"),
            set("item", "i_id = 4", "i_price = {100.01}"),
            set("item", "i_id = 5", "i_data = 'twenty-five characters...'"),
        ],
        violates: &["item-values"],
        violations: 5,
        example: "i_id=4, fault=I_PRICE",
    },
    Fault {
        what: "values of WAREHOUSE",
        changes: &[set("warehouse", "w_id = 1", "w_tax = {0.2001}")],
        violates: &["warehouse-values"],
        violations: 1,
        example: "w_id=1, fault=W_TAX",
    },
    Fault {
        what: "W_ZIP",
        changes: &[set("warehouse", "w_id = 1", "w_zip = '1O3411111'")],
        violates: &["warehouse-values"],
        violations: 1,
        example: "w_id=1, fault=W_ZIP",
    },
    Fault {
        what: "values of DISTRICT",
        changes: &[
            set("district", "d_w_id = 1 AND d_id = 1", "d_name = 'short'"),
            set("district", "d_w_id = 1 AND d_id = 2", "d_street_1 = 'short'"),
            set("district", "d_w_id = 1 AND d_id = 3", "d_street_2 = 'short'"),
            set("district", "d_w_id = 1 AND d_id = 4", "d_city = 'short'"),
            set("district", "d_w_id = 1 AND d_id = 5", "d_state = 'A'"),
            set("district", "d_w_id = 1 AND d_id = 6", "d_zip = '123411112'"),
            set("district", "d_w_id = 1 AND d_id = 7", "d_zip = 'a23411111'"),
            set("district", "d_w_id = 1 AND d_id = 8", "d_tax = {0.2001}"),
            set("district", "d_w_id = 1 AND d_id = 9", "d_tax = -{0.0001}"),
        ],
        violates: &["district-values"],
        violations: 9,
        example: "d_w_id=1, d_id=",
    },
    Fault {
        what: "values of STOCK",
        changes: &[
            set("stock", "s_w_id = 1 AND s_i_id = 1", "s_dist_01 = 'short'"),
            set("stock", "s_w_id = 1 AND s_i_id = 2", "s_dist_10 = 'short'"),
            set("stock", "s_w_id = 1 AND s_i_id = 3", "s_data = 'twenty-five characters...'"),
        ],
        violates: &["stock-values"],
        violations: 3,
        example: "s_w_id=1, s_i_id=2, fault=S_DIST_xx",
    },
    Fault {
        what: "values of CUSTOMER",
        changes: &[
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 1", "c_first = 'short'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 2", "c_middle = 'oe'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 3", "c_street_1 = 'short'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 4", "c_street_2 = 'short'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 5", "c_city = 'short'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 6", "c_state = 'A'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 7", "c_zip = '12x411111'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 8", "c_phone = '12345678901234'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 9", "c_phone = '1234567-90123456'"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 10", "c_credit_lim = {50000.01}"),
            set("customer", "c_w_id = 1 AND c_d_id = 3 AND c_id = 11", "c_discount = {0.5001}"),
        ],
        violates: &["customer-values"],
        violations: 11,
        example: "c_w_id=1, c_d_id=3, c_id=",
    },
    Fault {
        what: "C_CREDIT",
        changes: &[set(
            "customer",
            "c_w_id = 1 AND c_credit = 'BC' AND c_d_id = 3 OR c_credit = 'B?'",
            "c_credit = 'B?'",
        )],
        violates: &["customer-credit", "customer-values"],
        violations: 1,
        example: "w_id=1, bad_credit=",
    },
    Fault {
        what: "a last name out of turn",
        changes: &[set("customer", CUSTOMER, "c_last = 'EINGEINGEING'")],
        violates: &["customer-names"],
        violations: 1,
        example: "c_w_id=1, c_d_id=3, c_id=7, c_last=EINGEINGEING, wanted=BARBARANTI",
    },
    Fault {
        what: "ORIGINAL once too often",
        changes: &[
            set("item", "i_id = 1", "i_data = 'This is no ORIGINAL item data.'"),
            set("stock", "s_w_id = 1 AND s_i_id = 1", "s_data = 'This is no ORIGINAL stock data.'"),
        ],
        violates: &["item-original", "stock-original"],
        violations: 1,
        example: "originals=10001",
    },
    Fault {
        what: "H_DATA",
        changes: &[set("history", HISTORY, "h_data = 'eleven char'")],
        violates: &["history-values"],
        violations: 1,
        example: "h_c_w_id=1, h_c_d_id=3, h_c_id=7",
    },
    Fault {
        what: "a carrier that is none",
        changes: &[set("orders", OLD_ORDER, "o_carrier_id = 11")],
        violates: &["order-values"],
        violations: 1,
        example: "o_w_id=1, o_d_id=2, o_id=5, fault=O_CARRIER_ID",
    },
    Fault {
        what: "O_OL_CNT of 4",
        changes: &[set("orders", OLD_ORDER, "o_ol_cnt = 4")],
        violates: &["order-values", "C4", "C6"],
        violations: 1,
        example: "o_w_id=1, o_d_id=2, o_id=5, fault=O_OL_CNT",
    },
    Fault {
        what: "no lines in a district",
        changes: &[Change::delete("order_line", "ol_w_id = 1 AND ol_d_id = 10")],
        violates: &["order-line-rows", "C4", "C6", "order-line-amounts"],
        violations: 1,
        example: "first_w_id=1, last_w_id=1, found=2",
    },
    Fault {
        what: "small amounts in a district",
        changes: &[set("order_line", "ol_w_id = 1 AND ol_d_id = 10 AND ol_o_id >= 2101", "ol_amount = {0.01}")],
        violates: &["order-line-amounts"],
        violations: 1,
        example: "first_w_id=1, last_w_id=1, found=",
    },
    Fault {
        what: "values of open lines",
        changes: &[
            set("order_line", "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 2500 AND ol_number = 1", "ol_i_id = 100001"),
            set("order_line", "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 2500 AND ol_number = 2", "ol_quantity = 4"),
            set("order_line", "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 2500 AND ol_number = 3", "ol_amount = {0.00}"),
            set("order_line", "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 2500 AND ol_number = 4", "ol_dist_info = 'x'"),
        ],
        violates: &["order-line-values"],
        violations: 4,
        example: "ol_w_id=1, ol_d_id=2, ol_o_id=2500, ol_number=3, fault=OL_AMOUNT",
    },
    Fault {
        what: "an amount of a delivered line",
        changes: &[set("order_line", OLD_LINE, "ol_amount = {0.01}")],
        violates: &["order-line-values", "C10", "C12"],
        violations: 1,
        example: "ol_w_id=1, ol_d_id=2, ol_o_id=5, ol_number=1, fault=OL_AMOUNT",
    },
];

const NEW_LINE: &str = "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 3001 AND ol_number = 1";

/// Faults that only data with transactions in them can have.
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
        changes: &[set("history", "h_w_id = 1 AND h_d_id = 2 AND h_amount <> {10.00}", "h_data = 'somewhere'")],
        violates: &["I11"],
        violations: 0,
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
