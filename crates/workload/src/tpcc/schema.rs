//! The nine tables (1.3, 1.4), and the two in which the tool keeps its own books.
//!
//! Counters are wider than the standard's minimum: a run without waits fills those within minutes.

use target::placement::LOCALITIES_CHARACTERS;
use target::schema::{
    Column,
    ColumnType::{BigInt, Char, Decimal, Int, SmallInt, Timestamp, Varchar},
    ForeignKey, Index, Table,
};

const RATE: target::schema::ColumnType = Decimal { precision: 4, scale: 4 };
const MONEY: target::schema::ColumnType = Decimal { precision: 12, scale: 2 };
const AMOUNT: target::schema::ColumnType = Decimal { precision: 6, scale: 2 };

/// WAREHOUSE.
pub static WAREHOUSE: Table = Table {
    name: "warehouse",
    columns: &[
        Column::new("w_id", Int),
        Column::new("w_name", Varchar(10)),
        Column::new("w_street_1", Varchar(20)),
        Column::new("w_street_2", Varchar(20)),
        Column::new("w_city", Varchar(20)),
        Column::new("w_state", Char(2)),
        Column::new("w_zip", Char(9)),
        Column::new("w_tax", RATE),
        Column::new("w_ytd", MONEY),
    ],
    primary_key: &["w_id"],
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
    spread_by: Some("w_id"),
};

/// DISTRICT.
pub static DISTRICT: Table = Table {
    name: "district",
    columns: &[
        Column::new("d_id", SmallInt),
        Column::new("d_w_id", Int),
        Column::new("d_name", Varchar(10)),
        Column::new("d_street_1", Varchar(20)),
        Column::new("d_street_2", Varchar(20)),
        Column::new("d_city", Varchar(20)),
        Column::new("d_state", Char(2)),
        Column::new("d_zip", Char(9)),
        Column::new("d_tax", RATE),
        Column::new("d_ytd", MONEY),
        Column::new("d_next_o_id", Int),
    ],
    primary_key: &["d_w_id", "d_id"],
    foreign_keys: &[ForeignKey {
        name: "district_warehouse_fk",
        columns: &["d_w_id"],
        parent: "warehouse",
        parent_columns: &["w_id"],
    }],
    checks: &[],
    indexes: &[],
    spread_by: Some("d_w_id"),
};

/// CUSTOMER.
pub static CUSTOMER: Table = Table {
    name: "customer",
    columns: &[
        Column::new("c_id", Int),
        Column::new("c_d_id", SmallInt),
        Column::new("c_w_id", Int),
        Column::new("c_first", Varchar(16)),
        Column::new("c_middle", Char(2)),
        Column::new("c_last", Varchar(16)),
        Column::new("c_street_1", Varchar(20)),
        Column::new("c_street_2", Varchar(20)),
        Column::new("c_city", Varchar(20)),
        Column::new("c_state", Char(2)),
        Column::new("c_zip", Char(9)),
        Column::new("c_phone", Char(16)),
        Column::new("c_since", Timestamp),
        Column::new("c_credit", Char(2)),
        Column::new("c_credit_lim", MONEY),
        Column::new("c_discount", RATE),
        Column::new("c_balance", MONEY),
        Column::new("c_ytd_payment", MONEY),
        Column::new("c_payment_cnt", Int),
        Column::new("c_delivery_cnt", Int),
        Column::new("c_data", Varchar(500)),
    ],
    primary_key: &["c_w_id", "c_d_id", "c_id"],
    foreign_keys: &[ForeignKey {
        name: "customer_district_fk",
        columns: &["c_w_id", "c_d_id"],
        parent: "district",
        parent_columns: &["d_w_id", "d_id"],
    }],
    checks: &[],
    indexes: &[Index { name: "customer_by_name", columns: &["c_w_id", "c_d_id", "c_last", "c_first"] }],
    spread_by: Some("c_w_id"),
};

/// HISTORY. It has no primary key.
pub static HISTORY: Table = Table {
    name: "history",
    columns: &[
        Column::new("h_c_id", Int),
        Column::new("h_c_d_id", SmallInt),
        Column::new("h_c_w_id", Int),
        Column::new("h_d_id", SmallInt),
        Column::new("h_w_id", Int),
        Column::new("h_date", Timestamp),
        Column::new("h_amount", AMOUNT),
        Column::new("h_data", Varchar(24)),
    ],
    primary_key: &[],
    foreign_keys: &[
        ForeignKey {
            name: "history_customer_fk",
            columns: &["h_c_w_id", "h_c_d_id", "h_c_id"],
            parent: "customer",
            parent_columns: &["c_w_id", "c_d_id", "c_id"],
        },
        ForeignKey {
            name: "history_district_fk",
            columns: &["h_w_id", "h_d_id"],
            parent: "district",
            parent_columns: &["d_w_id", "d_id"],
        },
    ],
    checks: &[],
    indexes: &[],
    spread_by: Some("h_w_id"),
};

/// ORDER, under a name that SQL does not reserve.
pub static ORDERS: Table = Table {
    name: "orders",
    columns: &[
        Column::new("o_id", Int),
        Column::new("o_d_id", SmallInt),
        Column::new("o_w_id", Int),
        Column::new("o_c_id", Int),
        Column::new("o_entry_d", Timestamp),
        Column::new("o_carrier_id", SmallInt).nullable(),
        Column::new("o_ol_cnt", SmallInt),
        Column::new("o_all_local", SmallInt),
    ],
    primary_key: &["o_w_id", "o_d_id", "o_id"],
    foreign_keys: &[ForeignKey {
        name: "orders_customer_fk",
        columns: &["o_w_id", "o_d_id", "o_c_id"],
        parent: "customer",
        parent_columns: &["c_w_id", "c_d_id", "c_id"],
    }],
    checks: &[],
    indexes: &[Index { name: "orders_by_customer", columns: &["o_w_id", "o_d_id", "o_c_id", "o_id"] }],
    spread_by: Some("o_w_id"),
};

/// NEW-ORDER.
pub static NEW_ORDER: Table = Table {
    name: "new_order",
    columns: &[Column::new("no_o_id", Int), Column::new("no_d_id", SmallInt), Column::new("no_w_id", Int)],
    primary_key: &["no_w_id", "no_d_id", "no_o_id"],
    foreign_keys: &[ForeignKey {
        name: "new_order_orders_fk",
        columns: &["no_w_id", "no_d_id", "no_o_id"],
        parent: "orders",
        parent_columns: &["o_w_id", "o_d_id", "o_id"],
    }],
    checks: &[],
    indexes: &[],
    spread_by: Some("no_w_id"),
};

/// ITEM.
pub static ITEM: Table = Table {
    name: "item",
    columns: &[
        Column::new("i_id", Int),
        Column::new("i_im_id", Int),
        Column::new("i_name", Varchar(24)),
        Column::new("i_price", Decimal { precision: 5, scale: 2 }),
        Column::new("i_data", Varchar(50)),
    ],
    primary_key: &["i_id"],
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
    spread_by: None,
};

/// STOCK.
pub static STOCK: Table = Table {
    name: "stock",
    columns: &[
        Column::new("s_i_id", Int),
        Column::new("s_w_id", Int),
        Column::new("s_quantity", SmallInt),
        Column::new("s_dist_01", Char(24)),
        Column::new("s_dist_02", Char(24)),
        Column::new("s_dist_03", Char(24)),
        Column::new("s_dist_04", Char(24)),
        Column::new("s_dist_05", Char(24)),
        Column::new("s_dist_06", Char(24)),
        Column::new("s_dist_07", Char(24)),
        Column::new("s_dist_08", Char(24)),
        Column::new("s_dist_09", Char(24)),
        Column::new("s_dist_10", Char(24)),
        Column::new("s_ytd", Int),
        Column::new("s_order_cnt", Int),
        Column::new("s_remote_cnt", Int),
        Column::new("s_data", Varchar(50)),
    ],
    primary_key: &["s_w_id", "s_i_id"],
    foreign_keys: &[
        ForeignKey { name: "stock_warehouse_fk", columns: &["s_w_id"], parent: "warehouse", parent_columns: &["w_id"] },
        ForeignKey { name: "stock_item_fk", columns: &["s_i_id"], parent: "item", parent_columns: &["i_id"] },
    ],
    checks: &[],
    indexes: &[],
    spread_by: Some("s_w_id"),
};

/// ORDER-LINE.
pub static ORDER_LINE: Table = Table {
    name: "order_line",
    columns: &[
        Column::new("ol_o_id", Int),
        Column::new("ol_d_id", SmallInt),
        Column::new("ol_w_id", Int),
        Column::new("ol_number", SmallInt),
        Column::new("ol_i_id", Int),
        Column::new("ol_supply_w_id", Int),
        Column::new("ol_delivery_d", Timestamp).nullable(),
        Column::new("ol_quantity", SmallInt),
        Column::new("ol_amount", AMOUNT),
        Column::new("ol_dist_info", Char(24)),
    ],
    primary_key: &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
    foreign_keys: &[
        ForeignKey {
            name: "order_line_orders_fk",
            columns: &["ol_w_id", "ol_d_id", "ol_o_id"],
            parent: "orders",
            parent_columns: &["o_w_id", "o_d_id", "o_id"],
        },
        ForeignKey {
            name: "order_line_stock_fk",
            columns: &["ol_supply_w_id", "ol_i_id"],
            parent: "stock",
            parent_columns: &["s_w_id", "s_i_id"],
        },
    ],
    checks: &[],
    indexes: &[],
    spread_by: Some("ol_w_id"),
};

/// The nine tables, parents first.
pub static TABLES: [&Table; 9] =
    [&WAREHOUSE, &DISTRICT, &ITEM, &CUSTOMER, &HISTORY, &STOCK, &ORDERS, &NEW_ORDER, &ORDER_LINE];

/// What every client must know of the load: its seed, constants, size and date.
pub static CATALOG: Table = Table {
    name: "weighbridge",
    columns: &[Column::new("name", Varchar(40)), Column::new("value", Varchar(LOCALITIES_CHARACTERS))],
    primary_key: &["name"],
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
    spread_by: None,
};

/// The steps of the load that are done, each recorded in the transaction that did it.
pub static PROGRESS: Table = Table {
    name: "weighbridge_load",
    columns: &[Column::new("step", Varchar(80)), Column::new("w_id", Int), Column::new("rows_loaded", BigInt)],
    primary_key: &["step", "w_id"],
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
    spread_by: None,
};
