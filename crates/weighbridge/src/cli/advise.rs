//! Arguments of `advise`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{JsonArgs, TargetArgs, ValueArgs, duration, response};

#[derive(Debug, Args)]
#[command(
    after_help = "Without --try nothing is changed. With it each candidate is built, looked at, measured in turns with things as\n\
    they are, and dropped; statements that change rows are rolled back. What writes pay is measured on a copy of the table,\n\
    in a schema of its own (weighbridge_advice). Building an index may hold up others: on a database that is in use, try\n\
    with --copy.\n\nExamples:\n  \
    weighbridge advise --url URL --statement \"SELECT name, credit_card FROM users WHERE name = 'Anna Smith'\"\n  \
    weighbridge advise --url URL --statement \"SELECT ...\" --try\n  \
    weighbridge advise --url URL --file queries.sql --try --copy 100000"
)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// The statement; may be given several times
    #[arg(long = "statement", short = 'e', value_name = "SQL")]
    pub(crate) statements: Vec<String>,
    /// A file of statements, separated by semicolons
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A statement of TPC-C in style row, such as order_status.last_order, with values as its transaction draws them
    #[arg(long, value_name = "NAME")]
    pub(crate) tpcc: Option<String>,
    /// Try each candidate
    #[arg(long = "try")]
    pub(crate) try_them: bool,
    /// Try on copies of the tables, with at most so many rows of each
    #[arg(long, value_name = "ROWS", requires = "try_them", num_args = 0..=1, default_missing_value = "1000000")]
    pub(crate) copy: Option<u64>,
    /// Pairs of blocks
    #[arg(long, value_name = "N", default_value_t = 10, requires = "try_them", value_parser = clap::value_parser!(u32).range(6..=1000))]
    pub(crate) rounds: u32,
    /// Executions of a block
    #[arg(long, value_name = "N", default_value_t = 10, requires = "try_them", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) repeat: u32,
    /// The longest that the blocks of one candidate may take, all in all
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) budget: Duration,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Break off a statement that takes longer
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = response)]
    pub(crate) timeout: Duration,
    /// Seed of values and orders [default: drawn, and shown]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
