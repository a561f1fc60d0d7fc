//! Arguments of `verify`.

use std::time::Duration;

use clap::Args;

use super::{JsonArgs, duration, response};

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
    #[command(flatten)]
    pub(crate) json: JsonArgs,
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
    fn rates_are_positive_numbers() {
        assert_eq!((rate("25646"), rate("1,283,804.18")), (Ok(25646.0), Ok(1_283_804.18)));
        for bad in ["0", "-5", "inf", "many", ""] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }
}
