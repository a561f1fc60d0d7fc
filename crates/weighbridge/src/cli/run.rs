//! Arguments of `run`, and what other commands that run a workload take of them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use drive::{Affinity, OnError, Pacing};
use target::Isolation;
use workload::tpcc::Style;

use super::{
    FleetArgs, MetricsArgs, OutputArgs, StartArgs, TargetArgs, ViewArgs, duration, duration_or_zero, named, region,
    warehouse_count,
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge run --duration 5m                        at the standard's pace\n  \
    weighbridge run --pacing none --connections 8 --duration 60s --check\n  \
    weighbridge run --url postgres://me@localhost/bench --warehouses 10 --ramp 30s --duration 2h")]
pub(crate) struct RunArgs {
    /// The workload: tpcc, movr, bank, key-value, or a file of your own, such as mine.toml
    #[arg(default_value = "tpcc")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) drive: DriveArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// All that a run is asked to do.
#[derive(Debug, Args)]
pub(crate) struct DriveArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Warehouses to drive; with --shard those of the whole fleet [default: all that are loaded]
    #[arg(long, short = 'w', value_name = "N", value_parser = warehouse_count::<i32>())]
    pub(crate) warehouses: Option<i32>,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "shard", value_parser = warehouse_count::<i32>())]
    pub(crate) first_warehouse: i32,
    /// Warehouses driven by all clients together; remote ones are drawn from these [default: this client's]
    #[arg(long, value_name = "N", conflicts_with = "shard", value_parser = warehouse_count::<i32>())]
    pub(crate) total_warehouses: Option<i32>,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    #[command(flatten)]
    pub(crate) start: StartArgs,
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    /// Connections to the database [default: two a warehouse, 8 to 128; 8 for another workload than tpcc; 4 on SQLite]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,
    /// What binds terminals to gateways: nothing, or their warehouse (gateway i of n serves the i-th slice of them)
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = named(Affinity::NAMES))]
    pub(crate) affinity: Affinity,
    /// Terminals [default: ten a warehouse; with --pacing none: as many as connections]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) terminals: Option<u32>,
    /// How transactions are sent: row (a row a statement), batch (multi-row statements), pipeline (batch, and statements
    /// that don't wait for each other in one flight) or procedure (a call of a routine inside the server)
    #[arg(long, default_value = "batch", value_parser = named(Style::NAMES))]
    pub(crate) style: Style,
    /// The mix: standard (weights 45/43/4/4/4), deck (23 cards), or new_order=45,payment=43,...
    #[arg(long, default_value = "standard")]
    pub(crate) mix: tpcc::mix::Mix,
    /// Isolation level [default: the weakest that passes clause 3.4]
    #[arg(long, value_name = "LEVEL", value_parser = named(Isolation::NAMES))]
    pub(crate) isolation: Option<Isolation>,
    /// Seed of all inputs: the same seed makes the same terminals [default: drawn, and shown]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where this client stands, such as eu-west: `merge` has a figure for each region
    #[arg(long, value_name = "NAME", value_parser = region)]
    pub(crate) region: Option<String>,
    /// What to do about errors that would come again (refusals, rows missing): stop at the first, or go-on to the end
    /// [default: stop if nothing succeeds]. Lost connections and conflicts never stop a run
    #[arg(long, value_name = "WHAT", value_parser = named(OnError::NAMES))]
    pub(crate) on_error: Option<OnError>,
    /// Time each statement by itself, and say where the time of a transaction goes
    #[arg(long)]
    pub(crate) statements: bool,
    /// Check the consistency conditions after the run
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    /// The run's folder, which must not exist, or be empty [default: results/TIME-tpcc-DATABASE-Ww; of another workload
    /// results/TIME-WORKLOAD-DATABASE]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How long a run takes, and how fast its terminals are.
#[derive(Debug, Args)]
pub(crate) struct PaceArgs {
    /// Time before the measurement begins
    #[arg(long, value_parser = duration_or_zero, default_value = "30s", allow_hyphen_values = true)]
    pub(crate) ramp: Duration,
    /// How long to measure (the standard's interval is 2h)
    #[arg(long, value_parser = duration, default_value = "5m", allow_hyphen_values = true)]
    pub(crate) duration: Duration,
    /// Keying and think times: standard, none, or a factor that both are multiplied with
    #[arg(long, value_parser = pacing, default_value = "standard", allow_hyphen_values = true)]
    pub(crate) pacing: Pacing,
}

fn pacing(text: &str) -> Result<Pacing, String> {
    match text {
        "standard" => Ok(Pacing::Standard),
        "none" => Ok(Pacing::None),
        factor => match factor.parse::<f64>() {
            Ok(1.0) => Ok(Pacing::Standard),
            Ok(0.0) => Ok(Pacing::None),
            Ok(factor) if factor > 0.0 && factor <= 1000.0 => Ok(Pacing::Factor(factor)),
            _ => Err("use standard, none, or a factor such as 0.5 (up to 1000)".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_is_standard_none_or_a_factor() {
        assert_eq!(pacing("1"), Ok(Pacing::Standard));
        assert_eq!(pacing("0"), Ok(Pacing::None));
        assert_eq!(pacing("0.5"), Ok(Pacing::Factor(0.5)));
        for bad in ["-1", "NaN", "inf", "fast", "1001"] {
            assert!(pacing(bad).is_err(), "{bad}");
        }
    }
}
