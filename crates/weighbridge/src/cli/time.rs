//! Arguments of `time`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use target::{Isolation, Protocol};
use tuning::bench_case::Ending;
use tuning::time::PROTOCOLS;
use workload::values::Generator;

use super::{JsonArgs, TargetArgs, named, response};

#[derive(Debug, Args)]
#[command(
    after_help = "Parameters stand in a statement as :name (or $1, and ? where the database's own clients write it).\n\
    GENERATOR is one of uniform(1, 100), nurand(255, 1, 3000), zipf(1000, 0.99), sequence(1), uuid(), text(5, 10),\n\
    decimal(1.00, 99.99), choice(a, b), now(0).\n\nExamples:\n  \
    weighbridge time --url URL --statement \"SELECT * FROM users LIMIT 10\" --repeat 50 --times --cumulative\n  \
    weighbridge time --url URL --statement \"SELECT name FROM users WHERE id = :id\" --values \"id=uniform(1, 1000)\"\n  \
    weighbridge time --url URL --statement \"SELECT * FROM users\" --against \"SELECT name, city FROM users\"\n  \
    weighbridge time --url URL --file queries.sql --csv parameters.csv --explain"
)]
pub(crate) struct TimeArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Instead of --url: CockroachDB at this address, user root, database movr, without TLS
    #[arg(long, value_name = "ADDRESS", conflicts_with = "urls")]
    pub(crate) host: Option<String>,
    /// A statement to be repeated; may be given several times, each is measured by itself
    #[arg(long = "statement", short = 'e', value_name = "SQL")]
    pub(crate) statements: Vec<String>,
    /// A file of statements, separated by semicolons
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A statement of TPC-C in style row, such as order_status.lines, with values as its transaction draws them (on loaded
    /// data; what it changes is rolled back unless --transaction commit says otherwise)
    #[arg(long, value_name = "NAME")]
    pub(crate) tpcc: Option<String>,
    /// Executions of each statement; the first is told apart from the rest
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) repeat: u32,
    /// Show the time of each execution
    #[arg(long)]
    pub(crate) times: bool,
    /// Show the sum of all executions
    #[arg(long)]
    pub(crate) cumulative: bool,
    /// Rounds before those that count
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) warmup: u32,
    /// Sessions that repeat side by side
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) concurrency: u32,
    /// How statements travel: prepared once, or as text that is read and planned each time
    #[arg(long, default_value = "prepared", value_parser = named(PROTOCOLS))]
    pub(crate) protocol: Protocol,
    /// What a statement is part of: none (it commits by itself), or a transaction that ends in commit (timed with it) or
    /// rollback (not timed: nothing is left behind) [default: none]
    #[arg(long, value_parser = named(Ending::NAMES))]
    pub(crate) transaction: Option<Ending>,
    /// The transaction's isolation level
    #[arg(long, value_name = "LEVEL", value_parser = named(Isolation::NAMES))]
    pub(crate) isolation: Option<Isolation>,
    /// SQL for each session before anything else, such as "SET enable_seqscan = off"
    #[arg(long = "set", value_name = "SQL")]
    pub(crate) settings: Vec<String>,
    /// Another statement: both are run in pairs, the order within a pair drawn, and compared
    #[arg(long, value_name = "SQL")]
    pub(crate) against: Option<String>,
    /// Another database for the other side of the comparison; may be given several times
    #[arg(long = "against-url", value_name = "URL")]
    pub(crate) against_urls: Vec<String>,
    /// SQL for each session of the other side, instead of --set
    #[arg(long = "against-set", value_name = "SQL")]
    pub(crate) against_settings: Vec<String>,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Show the plan before the repetitions, and after them if it is another
    #[arg(long)]
    pub(crate) explain: bool,
    /// The same, with what the database counts as it runs the statement (in a transaction that is rolled back)
    #[arg(long)]
    pub(crate) explain_analyze: bool,
    /// Show the rows of the last execution, at most this many
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20")]
    pub(crate) rows: Option<usize>,
    /// Break off a statement that takes longer, such as 500ms or 5m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = response)]
    pub(crate) timeout: Duration,
    /// Seed of values and of the order within pairs [default: drawn, and shown]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

/// Where parameters take their values.
#[derive(Debug, Args)]
pub(crate) struct ValueArgs {
    /// Values for a parameter: NAME=GENERATOR; may be given several times
    #[arg(long, value_name = "NAME=GENERATOR", value_parser = generator)]
    pub(crate) values: Vec<(String, Generator)>,
    /// Values from the rows of a CSV file whose first line names the parameters: a row an execution, again and again
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Values from rows of a query: POOL=SQL gives each column as :POOL.column, any row each time
    #[arg(long, value_name = "POOL=SQL", value_parser = pool)]
    pub(crate) pool: Vec<(String, String)>,
}

fn generator(text: &str) -> Result<(String, Generator), String> {
    let (name, generator) = text.split_once('=').ok_or("write NAME=GENERATOR, such as id=uniform(1, 1000)")?;
    Ok((name.trim().to_owned(), Generator::parse(generator)?))
}

fn pool(text: &str) -> Result<(String, String), String> {
    let (name, sql) = text.split_once('=').ok_or("write POOL=SQL, such as user=SELECT city, id FROM users")?;
    Ok((name.trim().to_owned(), sql.trim().to_owned()))
}
