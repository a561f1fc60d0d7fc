//! How fast the initial rows are made: each table and all nine, into CSV, into COPY BINARY, and into nothing.
//!
//! A round is a warehouse; ITEM, which belongs to no warehouse, is made whole.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use target::bulk::{CopyBinary, Csv, RowSink};
use target::schema::Table;
use tpcc::population::Population;
use workload::tpcc::catalog::Catalog;
use workload::tpcc::rows;
use workload::tpcc::schema::{self, TABLES};

fn main() {
    divan::main();
}

const TABLE_NAMES: [&str; 9] =
    ["warehouse", "district", "item", "customer", "history", "stock", "orders", "new_order", "order_line"];

/// Counts fields and looks at nothing else.
#[derive(Default)]
struct Count(u64);

impl RowSink for Count {
    fn start_row(&mut self) {}

    fn small_int(&mut self, value: i32) {
        self.int(value);
    }

    fn int(&mut self, value: i32) {
        self.big_int(value.into());
    }

    fn big_int(&mut self, value: i64) {
        divan::black_box(value);
        self.0 += 1;
    }

    fn decimal(&mut self, unscaled: i64, _scale: u8) {
        divan::black_box(unscaled);
        self.0 += 1;
    }

    fn text(&mut self, value: &str) {
        self.ascii(value.as_bytes());
    }

    fn ascii(&mut self, value: &[u8]) {
        divan::black_box(value);
        self.0 += 1;
    }

    fn timestamp(&mut self, us: i64) {
        divan::black_box(us);
        self.0 += 1;
    }

    fn null(&mut self) {
        self.0 += 1;
    }
}

fn tables(name: &str) -> Vec<&'static Table> {
    TABLES.into_iter().filter(|table| table.name == name).collect()
}

/// Makes the rows of a warehouse; `taken` empties the sink piece by piece. Returns rows and bytes.
fn make<S: RowSink>(tables: &[&Table], sink: &mut S, taken: impl Fn(&mut S) -> usize) -> (u64, usize) {
    let population: Population = Catalog::new(1, 1, 1_795_262_400_000_000, false).population();
    let (mut rows, mut bytes) = (0, 0);
    for table in tables {
        let w_id = if rows::global(table) { 0 } else { 1 };
        for piece in rows::pieces(w_id) {
            rows += rows::write(&population, table, piece, sink);
            bytes += taken(sink);
        }
    }
    (rows, bytes)
}

fn csv(tables: &[&Table]) -> (u64, usize) {
    make(tables, &mut Csv::default(), |csv| {
        let bytes = csv.rows().len();
        csv.clear();
        bytes
    })
}

fn copy_binary(tables: &[&Table]) -> (u64, usize) {
    let (mut rows, mut bytes) = (0, 0);
    for table in tables {
        let (made, sent) = make(&[table], &mut CopyBinary::new(table.columns.len()), |copy| {
            let bytes = copy.bytes().len();
            copy.clear();
            bytes
        });
        rows += made;
        bytes += sent;
    }
    (rows, bytes)
}

fn count(tables: &[&Table]) -> (u64, usize) {
    make(tables, &mut Count::default(), |_| 0)
}

fn bench(bencher: Bencher<'_, '_>, tables: &[&Table], way: fn(&[&Table]) -> (u64, usize)) {
    let (rows, bytes) = way(tables);
    bencher.counter(ItemsCount::new(rows)).counter(BytesCount::new(bytes)).bench(|| way(tables));
}

#[divan::bench(args = TABLE_NAMES)]
fn table_into_csv(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, &tables(name), csv);
}

#[divan::bench(args = TABLE_NAMES)]
fn table_into_copy_binary(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, &tables(name), copy_binary);
}

#[divan::bench(args = TABLE_NAMES)]
fn table_into_nothing(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, &tables(name), count);
}

#[divan::bench(sample_count = 20)]
fn all_into_csv(bencher: Bencher<'_, '_>) {
    bench(bencher, &schema::TABLES, csv);
}

#[divan::bench(sample_count = 20)]
fn all_into_copy_binary(bencher: Bencher<'_, '_>) {
    bench(bencher, &schema::TABLES, copy_binary);
}

#[divan::bench(sample_count = 20)]
fn all_into_nothing(bencher: Bencher<'_, '_>) {
    bench(bencher, &schema::TABLES, count);
}
