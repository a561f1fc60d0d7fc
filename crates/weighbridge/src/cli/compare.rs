//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, SeriesFormat};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    weighbridge compare results/version-17 results/version-18\n  \
    weighbridge compare base/ new/ --fail-if-slower 5% --format markdown\n  \
    weighbridge compare base/ new/ --html difference.html")]
pub(crate) struct CompareArgs {
    /// A run's folder or an archive of it, or a folder of the runs that repeat it
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// Run folder, archive or folder of runs to compare with BASE
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
    #[command(flatten)]
    pub(crate) output: OutputArgs<SeriesFormat>,
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
}
