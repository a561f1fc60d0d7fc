//! The rows of eight of the nine tables, with the columns of 1.3.1 in its order. The ninth,
//! NEW-ORDER, holds only keys: orders 2101 to 3000 of each district.

use crate::money::{Cents, Rate};
use crate::text::Text;

/// A row of ITEM (1.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Item number, 1..=100000.
    pub i_id: i32,
    /// Image number, 1..=10000.
    pub i_im_id: i32,
    /// Name, 14 to 24 characters.
    pub i_name: Text<24>,
    /// Price, 1.00 to 100.00.
    pub i_price: Cents,
    /// Brand information, 26 to 50 characters; `ORIGINAL` in a tenth of the rows.
    pub i_data: Text<50>,
}

/// A row of WAREHOUSE (1.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warehouse {
    /// Warehouse number, from 1.
    pub w_id: i32,
    /// Name, 6 to 10 characters.
    pub w_name: Text<10>,
    /// First line of the street, 10 to 20 characters.
    pub w_street_1: Text<20>,
    /// Second line of the street, 10 to 20 characters.
    pub w_street_2: Text<20>,
    /// City, 10 to 20 characters.
    pub w_city: Text<20>,
    /// State, two letters.
    pub w_state: Text<2>,
    /// Zip code, nine digits that end in 11111 (4.3.2.7).
    pub w_zip: Text<9>,
    /// Sales tax, 0 to 0.2000.
    pub w_tax: Rate,
    /// Payments of the year to date: 300,000.00, the sum over its districts.
    pub w_ytd: Cents,
}

/// A row of DISTRICT (1.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct District {
    /// District number, 1..=10.
    pub d_id: i32,
    /// Its warehouse.
    pub d_w_id: i32,
    /// Name, 6 to 10 characters.
    pub d_name: Text<10>,
    /// First line of the street, 10 to 20 characters.
    pub d_street_1: Text<20>,
    /// Second line of the street, 10 to 20 characters.
    pub d_street_2: Text<20>,
    /// City, 10 to 20 characters.
    pub d_city: Text<20>,
    /// State, two letters.
    pub d_state: Text<2>,
    /// Zip code, nine digits that end in 11111 (4.3.2.7).
    pub d_zip: Text<9>,
    /// Sales tax, 0 to 0.2000.
    pub d_tax: Rate,
    /// Payments of the year to date: 30,000.00, the sum over its customers.
    pub d_ytd: Cents,
    /// The next order number: 3001.
    pub d_next_o_id: i32,
}

/// A row of STOCK (1.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stock {
    /// Item number, 1..=100000.
    pub s_i_id: i32,
    /// Its warehouse.
    pub s_w_id: i32,
    /// Quantity in stock, 10 to 100.
    pub s_quantity: i32,
    /// `S_DIST_01` to `S_DIST_10`, 24 letters each.
    pub s_dist: [Text<24>; 10],
    /// Quantity ordered in the year to date: 0.
    pub s_ytd: i32,
    /// Order lines: 0.
    pub s_order_cnt: i32,
    /// Order lines of other warehouses: 0.
    pub s_remote_cnt: i32,
    /// Brand information, 26 to 50 characters; `ORIGINAL` in a tenth of the rows.
    pub s_data: Text<50>,
}

/// A row of CUSTOMER (1.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Customer {
    /// Customer number, 1..=3000.
    pub c_id: i32,
    /// The district.
    pub c_d_id: i32,
    /// The warehouse.
    pub c_w_id: i32,
    /// First name, 8 to 16 characters.
    pub c_first: Text<16>,
    /// Middle initials: `OE`.
    pub c_middle: Text<2>,
    /// Last name (4.3.2.3).
    pub c_last: Text<16>,
    /// First line of the street, 10 to 20 characters.
    pub c_street_1: Text<20>,
    /// Second line of the street, 10 to 20 characters.
    pub c_street_2: Text<20>,
    /// City, 10 to 20 characters.
    pub c_city: Text<20>,
    /// State, two letters.
    pub c_state: Text<2>,
    /// Zip code, nine digits that end in 11111 (4.3.2.7).
    pub c_zip: Text<9>,
    /// Telephone number, 16 digits.
    pub c_phone: Text<16>,
    /// Since when a customer: the load time, in microseconds since the Unix epoch.
    pub c_since_us: i64,
    /// `GC` for good credit, `BC` for bad, which a tenth of the rows has.
    pub c_credit: Text<2>,
    /// Credit limit: 50,000.00.
    pub c_credit_lim: Cents,
    /// Discount, 0 to 0.5000.
    pub c_discount: Rate,
    /// Balance: -10.00.
    pub c_balance: Cents,
    /// Payments of the year to date: 10.00.
    pub c_ytd_payment: Cents,
    /// Number of payments: 1.
    pub c_payment_cnt: i32,
    /// Number of deliveries: 0.
    pub c_delivery_cnt: i32,
    /// Miscellaneous information, 300 to 500 characters.
    pub c_data: Text<500>,
}

/// A row of HISTORY (1.3.1), which has no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// The customer who paid.
    pub h_c_id: i32,
    /// The customer's district.
    pub h_c_d_id: i32,
    /// The customer's warehouse.
    pub h_c_w_id: i32,
    /// The district where the payment was made.
    pub h_d_id: i32,
    /// The warehouse where the payment was made.
    pub h_w_id: i32,
    /// When: the load time, in microseconds since the Unix epoch.
    pub h_date_us: i64,
    /// How much: 10.00.
    pub h_amount: Cents,
    /// Miscellaneous information, 12 to 24 characters.
    pub h_data: Text<24>,
}

/// A row of ORDER (1.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Order number within the district, 1..=3000.
    pub o_id: i32,
    /// The district.
    pub o_d_id: i32,
    /// The warehouse.
    pub o_w_id: i32,
    /// The customer, each of the 3000 exactly once.
    pub o_c_id: i32,
    /// When it was entered: the load time, in microseconds since the Unix epoch.
    pub o_entry_d_us: i64,
    /// Who delivered it, 1..=10; none from order 2101 on.
    pub o_carrier_id: Option<i32>,
    /// Number of lines, 5..=15.
    pub o_ol_cnt: i32,
    /// 1 if all lines are supplied by the home warehouse, as at load, else 0.
    pub o_all_local: i32,
}

/// A row of ORDER-LINE (1.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderLine {
    /// The order.
    pub ol_o_id: i32,
    /// The district.
    pub ol_d_id: i32,
    /// The warehouse.
    pub ol_w_id: i32,
    /// Line number within the order, from 1.
    pub ol_number: i32,
    /// The item, 1..=100000.
    pub ol_i_id: i32,
    /// The supplying warehouse, at load always the home one.
    pub ol_supply_w_id: i32,
    /// When it was delivered, in microseconds since the Unix epoch: at the entry of the
    /// order; none from order 2101 on.
    pub ol_delivery_d_us: Option<i64>,
    /// Quantity: 5.
    pub ol_quantity: i32,
    /// Amount: 0.00, from order 2101 on 0.01 to 9,999.99.
    pub ol_amount: Cents,
    /// District information, 24 letters.
    pub ol_dist_info: Text<24>,
}
