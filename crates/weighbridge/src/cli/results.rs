//! Arguments of the commands that work on results alone.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{duration, response};

#[derive(Debug, Args)]
#[command(after_help = "Example, of two machines that drove 500 warehouses each:\n  \
    weighbridge merge results/client-1 results/client-2 --out results/both")]
pub(crate) struct MergeArgs {
    /// The clients' runs: folders, archives of them (.tar, .tar.gz), or URLs of object stores (s3://, gs://, az://, https://)
    ///
    /// Accounts and secrets of object stores come from the environment (AWS_ACCESS_KEY_ID and the like).
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(crate) runs: Vec<String>,
    /// The folder for the merged run, which reads like any other; it must not exist, or be empty
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Merge runs that differ in plan, data or version too, and say so in the result
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How the result of a run is printed.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// How to print the result
    #[arg(long, value_enum, default_value_t = ResultFormat::Table)]
    format: ResultFormat,
    /// The same as --format json: one document on standard output, and nothing else there
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl OutputArgs {
    /// What was asked for, in either way.
    pub(crate) fn format(&self) -> ResultFormat {
        if self.json { ResultFormat::Json } else { self.format }
    }
}

/// The forms of a run's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// Text in columns
    Table,
    /// One JSON document
    Json,
    /// Markdown, for a review or a chat
    Markdown,
    /// The last lines of `cockroach workload run tpcc`, for scripts that read them
    Cockroach,
    /// The results block of YugabyteDB's `tpccbenchmark`, for scripts that read it
    Yugabyte,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    weighbridge compare results/version-17 results/version-18\n  \
    weighbridge compare base/ new/ --fail-if-slower 5% --format markdown\n  \
    weighbridge compare base/ new/ --html difference.html")]
pub(crate) struct CompareArgs {
    /// A run's folder or an archive of it, or a folder of the runs that repeat it
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// The same of what is compared with it
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// End with status 3 if NEW is worse by more than this and chance does not explain it, or if the runs are too short
    /// to tell
    ///
    /// Without waits the New-Orders a minute count; with the standard's waits, which hold the rate, the 90th
    /// percentile of New-Order's response time.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) fail_if_slower: Option<Share>,
    /// Compare what should not be compared too, and say so in the result
    #[arg(long)]
    pub(crate) force: bool,
    /// Also write a page: one file that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    format: CompareFormat,
    /// The same as --format json: one document on standard output, and nothing else there
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl CompareArgs {
    /// What was asked for, in either way.
    pub(crate) fn format(&self) -> CompareFormat {
        if self.json { CompareFormat::Json } else { self.format }
    }
}

/// How a comparison is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CompareFormat {
    /// Text in columns
    Table,
    /// One JSON document
    Json,
    /// Markdown tables
    Markdown,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge verify --warehouses 500 --tpmc 25646")]
pub(crate) struct VerifyArgs {
    /// The claimed New-Orders a minute
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) tpmc: f64,
    /// The warehouses that were driven
    #[arg(long, short = 'w', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) warehouses: u32,
    /// The warehouses in the database, if more than were driven
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) configured: Option<u32>,
    /// The terminals, if they are told
    #[arg(long, value_name = "N")]
    pub(crate) terminals: Option<u32>,
    /// The mean response time of all transactions, if it is told, such as 250ms
    #[arg(long, value_name = "TIME", value_parser = response)]
    pub(crate) response: Option<Duration>,
    /// The measurement interval, if it is told
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

/// A share from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

fn share(text: &str) -> Result<Share, String> {
    let percent: Option<f64> = text.trim_end().strip_suffix('%').and_then(|number| number.trim().parse().ok());
    match percent {
        Some(percent) if (0.0..100.0).contains(&percent) => Ok(Share(percent / 100.0)),
        _ => Err("write a percentage below 100, such as 5%".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.replace(['_', ','], "").parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate.is_finite() => Ok(rate),
        _ => Err("write a number above 0, such as 25646".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages() {
        assert_eq!(share("5%"), Ok(Share(0.05)));
        assert_eq!(share("0.5 %"), Ok(Share(0.005)));
        for bad in ["5", "100%", "-1%", "five%", "%", "NaN%"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rates_are_positive_numbers() {
        assert_eq!((rate("25646"), rate("1,283,804.18")), (Ok(25646.0), Ok(1_283_804.18)));
        for bad in ["0", "-5", "inf", "many", ""] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }
}
