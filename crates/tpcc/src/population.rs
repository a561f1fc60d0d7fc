//! The initial population (4.3.3.1): any row of any table, by its key.
//!
//! A row depends only on the seed, the last-name constant, the load time, its table and its key,
//! so a database can be loaded in slices of any size and in any order. Keys start at 1.

mod rows;

pub use rows::{Customer, District, History, Item, Order, OrderLine, Stock, Warehouse};

use crate::money::dollars;
use crate::nurand::{A_C_LAST, nurand};
use crate::permutation::Permutation;
use crate::rng::{Domain, Stream, key};
use crate::text::{Text, a_string, draw_letters, last_name, letters, n_string, zip};
use crate::{
    CUSTOMERS_PER_DISTRICT, DISTRICTS_PER_WAREHOUSE, FIRST_UNDELIVERED_ORDER, ITEMS, LAST_NAMES, ORDERS_PER_DISTRICT,
};

/// The initial database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Population {
    /// Seed of all random values.
    pub seed: u64,
    /// The constant C for last names of the load, 0..=255 (2.1.6.1).
    pub c_last_load: i32,
    /// The instant that all dates hold, in microseconds since the Unix epoch, UTC.
    pub load_time_us: i64,
}

impl Population {
    /// Item `i_id` in 1..=100000.
    pub fn item(&self, i_id: i32) -> Item {
        let mut rng = Stream::for_row(self.seed, Domain::Item, i_id, 0, 0);
        let key = key(self.seed, Domain::OriginalItem, 0, 0, 0);
        Item {
            i_id,
            i_im_id: rng.uniform_i32(1, 10_000),
            i_name: a_string(&mut rng, 14, 24),
            i_price: rng.uniform(dollars(1), dollars(100)),
            i_data: data(&mut rng, one_in_ten(key, i_id - 1, ITEMS)),
        }
    }

    /// Warehouse `w_id`.
    pub fn warehouse(&self, w_id: i32) -> Warehouse {
        let mut rng = Stream::for_row(self.seed, Domain::Warehouse, w_id, 0, 0);
        let w_name = a_string(&mut rng, 6, 10);
        let address = Address::draw(&mut rng);
        Warehouse {
            w_id,
            w_name,
            w_street_1: address.street_1,
            w_street_2: address.street_2,
            w_city: address.city,
            w_state: address.state,
            w_zip: address.zip,
            w_tax: rng.uniform_i32(0, 2000),
            w_ytd: dollars(300_000),
        }
    }

    /// District `d_id` in 1..=10 of warehouse `w_id`.
    pub fn district(&self, w_id: i32, d_id: i32) -> District {
        let mut rng = Stream::for_row(self.seed, Domain::District, w_id, d_id, 0);
        let d_name = a_string(&mut rng, 6, 10);
        let address = Address::draw(&mut rng);
        District {
            d_id,
            d_w_id: w_id,
            d_name,
            d_street_1: address.street_1,
            d_street_2: address.street_2,
            d_city: address.city,
            d_state: address.state,
            d_zip: address.zip,
            d_tax: rng.uniform_i32(0, 2000),
            d_ytd: dollars(30_000),
            d_next_o_id: ORDERS_PER_DISTRICT + 1,
        }
    }

    /// The stock of item `i_id` in 1..=100000 at warehouse `w_id`.
    pub fn stock(&self, w_id: i32, i_id: i32) -> Stock {
        let mut rng = Stream::for_row(self.seed, Domain::Stock, w_id, 0, i_id);
        let key = key(self.seed, Domain::OriginalStock, w_id, 0, 0);
        let s_quantity = rng.uniform_i32(10, 100);
        let mut s_dist = [Text::EMPTY; 10];
        s_dist.iter_mut().for_each(|dist| draw_letters(&mut rng, dist));
        Stock {
            s_i_id: i_id,
            s_w_id: w_id,
            s_quantity,
            s_dist,
            s_ytd: 0,
            s_order_cnt: 0,
            s_remote_cnt: 0,
            s_data: data(&mut rng, one_in_ten(key, i_id - 1, ITEMS)),
        }
    }

    /// Customer `c_id` in 1..=3000 of district `d_id` of warehouse `w_id`.
    pub fn customer(&self, w_id: i32, d_id: i32, c_id: i32) -> Customer {
        let mut rng = Stream::for_row(self.seed, Domain::Customer, w_id, d_id, c_id);
        let key = key(self.seed, Domain::BadCredit, w_id, 0, 0);
        let in_warehouse = (d_id - 1) * CUSTOMERS_PER_DISTRICT + c_id - 1;
        let customers = DISTRICTS_PER_WAREHOUSE * CUSTOMERS_PER_DISTRICT;
        let bad_credit = one_in_ten(key, in_warehouse, customers);
        // The first thousand customers make sure that every name occurs (4.3.3.1).
        let name = match c_id {
            ..=LAST_NAMES => c_id - 1,
            _ => nurand(&mut rng, A_C_LAST, 0, LAST_NAMES - 1, self.c_last_load),
        };
        let c_first = a_string(&mut rng, 8, 16);
        let address = Address::draw(&mut rng);
        Customer {
            c_id,
            c_d_id: d_id,
            c_w_id: w_id,
            c_first,
            c_middle: Text::full(*b"OE"),
            c_last: last_name(name),
            c_street_1: address.street_1,
            c_street_2: address.street_2,
            c_city: address.city,
            c_state: address.state,
            c_zip: address.zip,
            c_phone: n_string(&mut rng, 16, 16),
            c_since_us: self.load_time_us,
            c_credit: Text::full(if bad_credit { *b"BC" } else { *b"GC" }),
            c_credit_lim: dollars(50_000),
            c_discount: rng.uniform_i32(0, 5000),
            c_balance: dollars(-10),
            c_ytd_payment: dollars(10),
            c_payment_cnt: 1,
            c_delivery_cnt: 0,
            c_data: a_string(&mut rng, 300, 500),
        }
    }

    /// The one payment in the history of customer `c_id` in 1..=3000 of district `d_id` of
    /// warehouse `w_id`.
    pub fn history(&self, w_id: i32, d_id: i32, c_id: i32) -> History {
        let mut rng = Stream::for_row(self.seed, Domain::History, w_id, d_id, c_id);
        History {
            h_c_id: c_id,
            h_c_d_id: d_id,
            h_c_w_id: w_id,
            h_d_id: d_id,
            h_w_id: w_id,
            h_date_us: self.load_time_us,
            h_amount: dollars(10),
            h_data: a_string(&mut rng, 12, 24),
        }
    }

    /// Order `o_id` in 1..=3000 of district `d_id` of warehouse `w_id`. Those from
    /// [`FIRST_UNDELIVERED_ORDER`] on have no carrier, and a row in NEW-ORDER.
    pub fn order(&self, w_id: i32, d_id: i32, o_id: i32) -> Order {
        let (mut rng, o_ol_cnt) = self.order_stream(w_id, d_id, o_id);
        let key = key(self.seed, Domain::OrderCustomer, w_id, d_id, 0);
        let customers = Permutation::new(key, CUSTOMERS_PER_DISTRICT as u32);
        let carrier = rng.uniform_i32(1, 10);
        Order {
            o_id,
            o_d_id: d_id,
            o_w_id: w_id,
            o_c_id: customers.at((o_id - 1) as u32) as i32 + 1,
            o_entry_d_us: self.load_time_us,
            o_carrier_id: delivered(o_id).then_some(carrier),
            o_ol_cnt,
            o_all_local: 1,
        }
    }

    /// The lines of order `o_id` in 1..=3000 of district `d_id` of warehouse `w_id`, as many as
    /// its `o_ol_cnt` says.
    pub fn order_lines(&self, w_id: i32, d_id: i32, o_id: i32) -> impl ExactSizeIterator<Item = OrderLine> + use<> {
        let (_, o_ol_cnt) = self.order_stream(w_id, d_id, o_id);
        let mut rng = Stream::for_row(self.seed, Domain::OrderLine, w_id, d_id, o_id);
        // The entry date of the order (4.3.3.1).
        let ol_delivery_d_us = delivered(o_id).then_some(self.load_time_us);
        (0..o_ol_cnt).map(move |line| OrderLine {
            ol_o_id: o_id,
            ol_d_id: d_id,
            ol_w_id: w_id,
            ol_number: line + 1,
            // Uniform, unlike the items of the orders of a run (4.3.3.1).
            ol_i_id: rng.uniform_i32(1, ITEMS),
            ol_supply_w_id: w_id,
            ol_delivery_d_us,
            ol_quantity: 5,
            ol_amount: if delivered(o_id) { 0 } else { rng.uniform(1, dollars(10_000) - 1) },
            ol_dist_info: letters(&mut rng),
        })
    }

    /// The stream of an order after its first draw, the number of its lines, which the lines
    /// need too.
    fn order_stream(&self, w_id: i32, d_id: i32, o_id: i32) -> (Stream, i32) {
        let mut rng = Stream::for_row(self.seed, Domain::Order, w_id, d_id, o_id);
        let o_ol_cnt = rng.uniform_i32(5, 15);
        (rng, o_ol_cnt)
    }
}

/// Whether the load delivers the order (4.3.3.1).
fn delivered(o_id: i32) -> bool {
    o_id < FIRST_UNDELIVERED_ORDER
}

/// Whether `index` in 0..n belongs to the tenth of the rows that `key` chooses. Exactly one in
/// ten: independent draws would miss the tolerance of 4.3.3.1 in one load out of 250.
#[inline]
fn one_in_ten(key: u64, index: i32, n: i32) -> bool {
    Permutation::new(key, n as u32).at(index as u32) < n as u32 / 10
}

/// `I_DATA` and `S_DATA`: a-string [26 .. 50], with `ORIGINAL` at a random position if wanted.
#[inline]
fn data(rng: &mut Stream, original: bool) -> Text<50> {
    const ORIGINAL: &[u8] = b"ORIGINAL";
    let mut data: Text<50> = a_string(rng, 26, 50);
    if original {
        let last = data.as_bytes().len() - ORIGINAL.len();
        data.overwrite(rng.uniform(0, last as i64) as usize, ORIGINAL);
    }
    data
}

/// The five address columns that WAREHOUSE, DISTRICT and CUSTOMER share.
struct Address {
    street_1: Text<20>,
    street_2: Text<20>,
    city: Text<20>,
    state: Text<2>,
    zip: Text<9>,
}

impl Address {
    #[inline]
    fn draw(rng: &mut Stream) -> Address {
        Address {
            street_1: a_string(rng, 10, 20),
            street_2: a_string(rng, 10, 20),
            city: a_string(rng, 10, 20),
            state: letters(rng),
            zip: zip(rng),
        }
    }
}
