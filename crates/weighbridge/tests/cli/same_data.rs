//! The same seed makes the same bytes: in CSV files, on SQLite and on PostgreSQL.

use target::bulk::{Csv, RowSink};
use target::schema::{ColumnType, Table};
use target::{Session, Url};
use workload::tpcc::schema::TABLES;

use crate::support::{Place, done};

const LOAD_TIME: &str = "2026-11-21T12:00:00Z";

/// The rows of a table as CSV, in the order of their key.
pub(crate) async fn export(session: &mut Session, table: &Table) -> String {
    let key = match table.name {
        "history" => "h_c_w_id, h_c_d_id, h_c_id".to_owned(),
        _ => table.primary_key.join(", "),
    };
    let sql = format!("SELECT {} FROM {} ORDER BY {key}", table.column_list(), table.name);
    let answer = session.query(&sql, &[]).await.unwrap();
    let mut csv = Csv::default();
    for row in answer.rows() {
        csv.start_row();
        for (at, column) in table.columns.iter().enumerate() {
            if column.nullable && matches!(*row.value(at).unwrap(), target::OwnedValue::Null) {
                csv.null();
                continue;
            }
            match column.kind {
                ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt => csv.int(row.int(at).unwrap()),
                ColumnType::Decimal { scale, .. } => csv.decimal(row.decimal(at, scale).unwrap(), scale),
                ColumnType::Char(_) | ColumnType::Varchar(_) => csv.text(row.text(at).unwrap()),
                ColumnType::Timestamp => csv.timestamp(row.timestamp(at).unwrap()),
                ColumnType::Uuid | ColumnType::Json => csv.text(&row.value(at).unwrap().to_string()),
            }
        }
    }
    String::from_utf8(csv.rows().to_vec()).unwrap()
}

fn compare(url: &str, csv: &std::path::Path) {
    let url = Url::parse(url).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut session = runtime.block_on(Session::connect(&url)).unwrap();
    for table in TABLES {
        let expected = std::fs::read_to_string(csv.join(format!("{}.csv", table.name))).unwrap();
        let found = runtime.block_on(export(&mut session, table));
        expect_same(&expected, &found, &format!("{} on {url}", table.name));
    }
}

/// Not assert_eq: nobody wants to read 30 MB of difference.
pub(crate) fn expect_same(expected: &str, found: &str, what: &str) {
    let differs = expected.lines().zip(found.lines()).find(|(a, b)| a != b);
    assert!(differs.is_none(), "{what}: {differs:?}");
    assert_eq!(expected.lines().count(), found.lines().count(), "{what}");
}

#[test]
fn the_same_seed_loads_the_same_bytes_everywhere() {
    let place = Place::new();
    let csv = place.text("csv");
    done(&["generate", "--warehouses", "1", "--seed", "42", "--load-time", LOAD_TIME, "--out", &csv]);
    let sqlite = place.sqlite();
    done(&["load", "--url", &sqlite, "--seed", "42", "--load-time", LOAD_TIME]);
    compare(&sqlite, &place.path("csv"));

    if let Some(server) = lab::postgres_or_skip() {
        server.create_database("same").unwrap();
        let url = server.url("same");
        done(&["load", "--url", &url, "--seed", "42", "--load-time", LOAD_TIME, "--jobs", "3", "--foreign-keys"]);
        compare(&url, &place.path("csv"));
    }
}

#[test]
fn a_slice_is_the_same_bytes_as_its_part_of_the_whole() {
    let place = Place::new();
    let (whole, part) = (place.text("whole"), place.text("part"));
    let common = ["--seed", "7", "--load-time", LOAD_TIME];
    done(&[&["generate", "--warehouses", "2", "--out", &whole], common.as_slice()].concat());
    let slice = ["generate", "--warehouses", "1", "--first-warehouse", "2", "--out", &part];
    done(&[slice.as_slice(), &common].concat());
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap();
    for table in ["warehouse", "district", "stock", "customer", "history", "orders", "new_order", "order_line"] {
        let whole = read(place.path("whole").join(format!("{table}.csv")));
        let part = read(place.path("part").join(format!("{table}.2-2.csv")));
        assert!(whole.ends_with(&part) && whole.len() > part.len(), "{table}");
    }
    assert!(!place.path("part").join("item.csv").exists(), "items come with warehouse 1");
}

#[test]
fn standard_output_has_the_bytes_of_the_file() {
    let place = Place::new();
    let files = place.text("files");
    let common = ["generate", "--warehouses", "3", "--seed", "3", "--load-time", LOAD_TIME, "--table", "orders"];
    done(&[common.as_slice(), &["--out", &files, "--jobs", "1"]].concat());
    let file = std::fs::read_to_string(place.path("files").join("orders.csv")).unwrap();
    let said = done(&[common.as_slice(), &["--out", "-", "--jobs", "4"]].concat());
    assert!(said.stdout == file && !file.is_empty(), "rows in another order, or others");
    assert!(said.stderr.contains("90000 rows"), "{}", said.stderr);
    let names: Vec<_> =
        std::fs::read_dir(place.path("files")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["orders.csv"], "one table was asked for");
}
