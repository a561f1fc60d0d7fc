//! The initial rows, field by field in the order of their table's columns.

use ::tpcc::population::Population;
use ::tpcc::{CUSTOMERS_PER_DISTRICT, FIRST_UNDELIVERED_ORDER, ITEMS, ORDERS_PER_DISTRICT};
use target::bulk::RowSink;
use target::schema::Table;

use super::schema;

/// A hundredth of a warehouse's rows in a table: a tenth of a district (of ITEM, which belongs to
/// no warehouse, a hundredth of the whole). Small enough to be gathered before it is sent.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    w_id: i32,
    d_id: i32,
    tenth: i32,
}

/// Pieces of a warehouse's rows in a table.
pub const PIECES: u64 = 100;

/// The pieces of a warehouse's rows in a table, in the order of the key.
pub fn pieces(w_id: i32) -> impl Iterator<Item = Piece> {
    (0..PIECES).map(move |number| piece(w_id, number))
}

/// Piece `number`, from 0, of the rows from a warehouse on.
pub fn piece(first_warehouse: i32, number: u64) -> Piece {
    let in_warehouse = (number % PIECES) as i32;
    let w_id = first_warehouse + (number / PIECES) as i32;
    Piece { w_id, d_id: in_warehouse / 10 + 1, tenth: in_warehouse % 10 + 1 }
}

/// Writes the rows of a piece. Returns how many.
pub fn write(population: &Population, table: &Table, piece: Piece, sink: &mut impl RowSink) -> u64 {
    let Piece { w_id, d_id, tenth } = piece;
    let of_district = |n: i32| n / 10 * (tenth - 1) + 1..=n / 10 * tenth;
    let of_warehouse = |n: i32| {
        let size = n / 100;
        let before = (d_id - 1) * 10 + tenth - 1;
        size * before + 1..=size * (before + 1)
    };
    let mut rows = 0;
    match table.name {
        "warehouse" if (d_id, tenth) == (1, 1) => {
            warehouse(population, w_id, sink);
            rows += 1;
        }
        "district" if tenth == 1 => {
            district(population, w_id, d_id, sink);
            rows += 1;
        }
        "warehouse" | "district" => {}
        "item" => {
            for i_id in of_warehouse(ITEMS) {
                item(population, i_id, sink);
                rows += 1;
            }
        }
        "stock" => {
            for i_id in of_warehouse(ITEMS) {
                stock(population, w_id, i_id, sink);
                rows += 1;
            }
        }
        "customer" => {
            for c_id in of_district(CUSTOMERS_PER_DISTRICT) {
                customer(population, w_id, d_id, c_id, sink);
                rows += 1;
            }
        }
        "history" => {
            for c_id in of_district(CUSTOMERS_PER_DISTRICT) {
                history(population, w_id, d_id, c_id, sink);
                rows += 1;
            }
        }
        "orders" => {
            for o_id in of_district(ORDERS_PER_DISTRICT) {
                order(population, w_id, d_id, o_id, sink);
                rows += 1;
            }
        }
        "new_order" => {
            for o_id in of_district(ORDERS_PER_DISTRICT).filter(|o_id| *o_id >= FIRST_UNDELIVERED_ORDER) {
                new_order(w_id, d_id, o_id, sink);
                rows += 1;
            }
        }
        "order_line" => {
            for line in of_district(ORDERS_PER_DISTRICT).flat_map(|o_id| population.order_lines(w_id, d_id, o_id)) {
                order_line(&line, sink);
                rows += 1;
            }
        }
        other => unreachable!("no rows are defined for the table {other}"),
    }
    rows
}

/// About how many rows a warehouse has in a table (ITEM: in all), for progress.
pub fn expected(table: &Table) -> u64 {
    match table.name {
        "warehouse" => 1,
        "district" => 10,
        "new_order" => 9_000,
        "customer" | "history" | "orders" => 30_000,
        "order_line" => 300_000,
        _ => 100_000,
    }
}

/// Bytes of a warehouse's rows in a table, about (ITEM: of all), to begin with what takes longest.
pub fn weight(table: &Table) -> u64 {
    expected(table) * table.width()
}

/// Whether the table belongs to no warehouse and is loaded once.
pub fn global(table: &Table) -> bool {
    table.name == schema::ITEM.name
}

fn item(population: &Population, i_id: i32, sink: &mut impl RowSink) {
    let row = population.item(i_id);
    sink.start_row();
    sink.int(row.i_id);
    sink.int(row.i_im_id);
    sink.ascii(row.i_name.as_bytes());
    sink.decimal(row.i_price, 2);
    sink.ascii(row.i_data.as_bytes());
}

fn warehouse(population: &Population, w_id: i32, sink: &mut impl RowSink) {
    let row = population.warehouse(w_id);
    sink.start_row();
    sink.int(row.w_id);
    sink.ascii(row.w_name.as_bytes());
    sink.ascii(row.w_street_1.as_bytes());
    sink.ascii(row.w_street_2.as_bytes());
    sink.ascii(row.w_city.as_bytes());
    sink.ascii(row.w_state.as_bytes());
    sink.ascii(row.w_zip.as_bytes());
    sink.decimal(row.w_tax.into(), 4);
    sink.decimal(row.w_ytd, 2);
}

fn district(population: &Population, w_id: i32, d_id: i32, sink: &mut impl RowSink) {
    let row = population.district(w_id, d_id);
    sink.start_row();
    sink.small_int(row.d_id);
    sink.int(row.d_w_id);
    sink.ascii(row.d_name.as_bytes());
    sink.ascii(row.d_street_1.as_bytes());
    sink.ascii(row.d_street_2.as_bytes());
    sink.ascii(row.d_city.as_bytes());
    sink.ascii(row.d_state.as_bytes());
    sink.ascii(row.d_zip.as_bytes());
    sink.decimal(row.d_tax.into(), 4);
    sink.decimal(row.d_ytd, 2);
    sink.int(row.d_next_o_id);
}

fn stock(population: &Population, w_id: i32, i_id: i32, sink: &mut impl RowSink) {
    let row = population.stock(w_id, i_id);
    sink.start_row();
    sink.int(row.s_i_id);
    sink.int(row.s_w_id);
    sink.small_int(row.s_quantity);
    row.s_dist.iter().for_each(|dist| sink.ascii(dist.as_bytes()));
    sink.int(row.s_ytd);
    sink.int(row.s_order_cnt);
    sink.int(row.s_remote_cnt);
    sink.ascii(row.s_data.as_bytes());
}

fn customer(population: &Population, w_id: i32, d_id: i32, c_id: i32, sink: &mut impl RowSink) {
    let row = population.customer(w_id, d_id, c_id);
    sink.start_row();
    sink.int(row.c_id);
    sink.small_int(row.c_d_id);
    sink.int(row.c_w_id);
    sink.ascii(row.c_first.as_bytes());
    sink.ascii(row.c_middle.as_bytes());
    sink.ascii(row.c_last.as_bytes());
    sink.ascii(row.c_street_1.as_bytes());
    sink.ascii(row.c_street_2.as_bytes());
    sink.ascii(row.c_city.as_bytes());
    sink.ascii(row.c_state.as_bytes());
    sink.ascii(row.c_zip.as_bytes());
    sink.ascii(row.c_phone.as_bytes());
    sink.timestamp(row.c_since_us);
    sink.ascii(row.c_credit.as_bytes());
    sink.decimal(row.c_credit_lim, 2);
    sink.decimal(row.c_discount.into(), 4);
    sink.decimal(row.c_balance, 2);
    sink.decimal(row.c_ytd_payment, 2);
    sink.int(row.c_payment_cnt);
    sink.int(row.c_delivery_cnt);
    sink.ascii(row.c_data.as_bytes());
}

fn history(population: &Population, w_id: i32, d_id: i32, c_id: i32, sink: &mut impl RowSink) {
    let row = population.history(w_id, d_id, c_id);
    sink.start_row();
    sink.int(row.h_c_id);
    sink.small_int(row.h_c_d_id);
    sink.int(row.h_c_w_id);
    sink.small_int(row.h_d_id);
    sink.int(row.h_w_id);
    sink.timestamp(row.h_date_us);
    sink.decimal(row.h_amount, 2);
    sink.ascii(row.h_data.as_bytes());
}

fn order(population: &Population, w_id: i32, d_id: i32, o_id: i32, sink: &mut impl RowSink) {
    let row = population.order(w_id, d_id, o_id);
    sink.start_row();
    sink.int(row.o_id);
    sink.small_int(row.o_d_id);
    sink.int(row.o_w_id);
    sink.int(row.o_c_id);
    sink.timestamp(row.o_entry_d_us);
    match row.o_carrier_id {
        Some(carrier_id) => sink.small_int(carrier_id),
        None => sink.null(),
    }
    sink.small_int(row.o_ol_cnt);
    sink.small_int(row.o_all_local);
}

fn new_order(w_id: i32, d_id: i32, o_id: i32, sink: &mut impl RowSink) {
    sink.start_row();
    sink.int(o_id);
    sink.small_int(d_id);
    sink.int(w_id);
}

fn order_line(row: &::tpcc::population::OrderLine, sink: &mut impl RowSink) {
    sink.start_row();
    sink.int(row.ol_o_id);
    sink.small_int(row.ol_d_id);
    sink.int(row.ol_w_id);
    sink.small_int(row.ol_number);
    sink.int(row.ol_i_id);
    sink.int(row.ol_supply_w_id);
    match row.ol_delivery_d_us {
        Some(us) => sink.timestamp(us),
        None => sink.null(),
    }
    sink.small_int(row.ol_quantity);
    sink.decimal(row.ol_amount, 2);
    sink.ascii(row.ol_dist_info.as_bytes());
}
