//! Parquet files hold what CSV files hold, value by value, as types that a database takes over.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int16Type, Int32Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit as Unit};
use target::bulk::{Csv, RowSink};
use target::schema::{ColumnType, Table};
use workload::tpcc::catalog::Catalog;
use workload::tpcc::generate::{Destination, Format, GeneratePlan, GenerateProgress, Generated, generate};
use workload::tpcc::schema::{CUSTOMER, ORDER_LINE, TABLES};

fn make(folder: &Path, format: Format, jobs: usize) -> Vec<Generated> {
    let plan = GeneratePlan {
        population: Catalog::new(5, 3, 1_795_262_400_000_000, false).population(),
        first_warehouse: 1,
        warehouses: 3,
        whole: true,
        table: None,
        format,
        jobs,
    };
    generate(&plan, &Destination::Folder(folder.to_owned()), &GenerateProgress::default()).expect("files")
}

fn open(path: &Path) -> ParquetRecordBatchReaderBuilder<File> {
    ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("a file")).expect("a Parquet file")
}

/// The rows of a batch, as the generator would have written them into CSV.
fn write(table: &Table, batch: &RecordBatch, csv: &mut Csv) {
    for row in 0..batch.num_rows() {
        csv.start_row();
        for (column, array) in table.columns.iter().zip(batch.columns()) {
            if array.is_null(row) {
                csv.null();
                continue;
            }
            match column.kind {
                ColumnType::SmallInt => csv.small_int(array.as_primitive::<Int16Type>().value(row).into()),
                ColumnType::Int => csv.int(array.as_primitive::<Int32Type>().value(row)),
                ColumnType::Decimal { precision, scale } => {
                    assert_eq!(*array.data_type(), DataType::Decimal128(precision, scale as i8));
                    let unscaled = array.as_primitive::<Decimal128Type>().value(row);
                    csv.decimal(unscaled.try_into().expect("at most 12 digits"), scale);
                }
                ColumnType::Char(_) | ColumnType::Varchar(_) => csv.text(array.as_string::<i32>().value(row)),
                ColumnType::Timestamp => csv.timestamp(array.as_primitive::<TimestampMicrosecondType>().value(row)),
                ColumnType::BigInt | ColumnType::Uuid | ColumnType::Json => unreachable!("no such column"),
            }
        }
    }
}

#[test]
fn parquet_holds_every_value_of_the_csv_files_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let files = make(folder.path(), Format::Parquet, 3);
    make(folder.path(), Format::Csv, 2);
    assert_eq!(files.len(), TABLES.len());
    for table in TABLES {
        let path = folder.path().join(format!("{}.parquet", table.name));
        let file = files.iter().find(|file| file.table == table.name).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), file.bytes, "{}", table.name);

        let mut csv = Csv::default();
        for batch in open(&path).build().unwrap() {
            write(table, &batch.unwrap(), &mut csv);
        }
        let expected = std::fs::read(folder.path().join(format!("{}.csv", table.name))).unwrap();
        assert!(csv.rows() == expected && !expected.is_empty(), "{}: other values, or in another order", table.name);
        assert_eq!(file.rows, expected.iter().filter(|byte| **byte == b'\n').count() as u64);
    }
}

#[test]
fn the_types_are_those_of_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), Format::Parquet, 2);
    let reader = open(&folder.path().join("customer.parquet"));
    let logical = |name: &str| {
        let at = CUSTOMER.columns.iter().position(|column| column.name == name).unwrap();
        reader.parquet_schema().column(at)
    };
    let limit = logical("c_credit_lim");
    assert_eq!((limit.type_precision(), limit.type_scale()), (12, 2));
    assert_eq!(limit.converted_type(), ConvertedType::DECIMAL);
    let since = logical("c_since").logical_type_ref().cloned();
    let Some(LogicalType::Timestamp(since)) = since else { panic!("c_since is {since:?}") };
    assert_eq!((since.is_adjusted_to_u_t_c, since.unit), (false, Unit::MICROS));
    let since = reader.schema().field_with_name("c_since").unwrap().clone();
    assert_eq!(*since.data_type(), DataType::Timestamp(TimeUnit::Microsecond, None));

    let lines = open(&folder.path().join("order_line.parquet"));
    let nullable: Vec<bool> = lines.schema().fields().iter().map(|field| field.is_nullable()).collect();
    assert_eq!(nullable, ORDER_LINE.columns.iter().map(|column| column.nullable).collect::<Vec<_>>());
    assert!(lines.metadata().num_row_groups() > 1, "a row group a chunk, which threads make side by side");
}
