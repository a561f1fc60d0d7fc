//! Which workload: TPC-C, or one of a file; and what belongs to which.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Id, Subcommand};
use workload::custom::Custom;
use workload::{AnyWorkload, Command, RunFlags};

use super::{DriveArgs, JsonArgs};

/// The workloads that come with the program, besides TPC-C.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// List the workloads that come with the program
    List(WorkloadListArgs),
    /// Print the file of one, to begin your own with
    Show(WorkloadShowArgs),
    /// Read a file of your own and say what is in it, without a database
    Read(WorkloadReadArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadListArgs {
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge workload show bank >mine.toml")]
pub(crate) struct WorkloadShowArgs {
    /// The workload
    #[arg(value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(Custom::names()))]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge workload read mine.toml")]
pub(crate) struct WorkloadReadArgs {
    /// The file, or the name of one that comes with the program
    pub(crate) workload: String,
}

/// What a load of a file's workload takes that one of TPC-C doesn't.
#[derive(Debug, Args)]
pub(crate) struct CustomArgs {
    /// The size of a workload other than tpcc: its rows are multiplied with it (movr: 1 is a million rides) [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = custom_scale)]
    pub(crate) scale: Option<f64>,
}

impl DriveArgs {
    /// The workload with the flags that it takes.
    pub(crate) fn configure(&self, workload: AnyWorkload) -> AnyWorkload {
        workload.configure(&RunFlags {
            warehouses: self.warehouses,
            first_warehouse: self.first_warehouse,
            total_warehouses: self.total_warehouses,
            style: self.style,
            mix: self.mix,
        })
    }
}

/// Refuses flags on the command line that belong to another workload than the one that was named.
pub(crate) fn refuse_other_flags(matches: &ArgMatches) -> Result<(), String> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    let command = match name {
        "load" => Command::Load,
        "run" => Command::Run,
        "check" => Command::Check,
        _ => return Ok(()),
    };
    let Ok(Some(workload)) = matches.try_get_one::<String>("workload") else { return Ok(()) };
    let typed = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let flags: Vec<String> = matches.ids().map(Id::as_str).filter(typed).map(|id| id.replace('_', "-")).collect();
    AnyWorkload::read(workload)?.refuse_other_flags(command, flags.iter().map(String::as_str))
}

/// A scale of MovR.
pub(crate) fn scale(text: &str) -> Result<f64, String> {
    scale_up_to(text, movr::MAX_SCALE)
}

fn custom_scale(text: &str) -> Result<f64, String> {
    scale_up_to(text, workload::custom::MAX_SCALE)
}

fn scale_up_to(text: &str, largest: f64) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if scale > 0.0 && scale <= largest => Ok(scale),
        _ => Err(format!("use a number above 0, up to {largest}, such as 0.1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_a_number_above_zero() {
        assert_eq!(scale("0.01"), Ok(0.01));
        assert_eq!(scale("1000"), Ok(1000.0));
        for bad in ["0", "-1", "NaN", "inf", "1001", "ten", ""] {
            assert!(scale(bad).is_err(), "{bad}");
        }
    }
}
