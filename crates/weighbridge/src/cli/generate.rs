//! Arguments of `generate`.

use std::path::PathBuf;

use clap::Args;
use workload::tpcc::schema::TABLES;

use super::{JsonArgs, warehouse_count};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated, no header, NULL as an empty field
    Csv,
    /// Apache Parquet, in a program that was built with it
    Parquet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge generate --warehouses 10 --out csv\n  \
    weighbridge generate --warehouses 50 --first-warehouse 51 --total-warehouses 100 --out csv\n  \
    weighbridge generate --warehouses 10 --table stock --out - | zstd >stock.csv.zst")]
pub(crate) struct GenerateArgs {
    /// Warehouses to generate (about 100 MB each)
    #[arg(long, short = 'w', value_name = "N", default_value_t = 1, value_parser = warehouse_count::<i32>())]
    pub(crate) warehouses: i32,
    /// The first of them; the item table comes with warehouse 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = warehouse_count::<i32>())]
    pub(crate) first_warehouse: i32,
    /// Warehouses of the whole database [default: up to the last of this slice]
    #[arg(long, value_name = "N", value_parser = warehouse_count::<i32>())]
    pub(crate) total_warehouses: Option<i32>,
    /// The files' format
    #[arg(long, value_enum, default_value = "csv")]
    pub(crate) format: Format,
    /// The folder for the files, one a table; `-` is standard output, which takes one table
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// This table alone
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(TABLES.map(|table| table.name)))]
    pub(crate) table: Option<String>,
    /// Threads [default: the machine's cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Seed of all rows: the same as in `load` makes the same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The date in the rows, as 2026-11-21T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) load_time: Option<jiff::Timestamp>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
