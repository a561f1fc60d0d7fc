//! Which workload: TPC-C, or one of a file; and what belongs to which.

use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use tpcc::mix::Mix;
use workload::custom::Custom;
use workload::tpcc::Style;

use super::{CheckArgs, ClusterArgs, DriveArgs, FleetArgs, LoadArgs, RunArgs, ShardArgs, SweepArgs};

/// A workload that was named on the command line, or its file, as it was read.
#[derive(Clone, Debug)]
pub(crate) enum Workload {
    /// The TPC-C derived one.
    Tpcc,
    /// One of a file, the program's or the user's.
    Custom(Arc<Custom>),
}

impl Workload {
    /// Finds a workload by its name, or reads its file.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if text == "tpcc" {
            return Ok(Workload::Tpcc);
        }
        let custom = match Custom::built_in(text) {
            Some(custom) => custom,
            None if Path::new(text).extension().is_some_and(|extension| extension == "toml") => {
                let read = std::fs::read_to_string(text);
                let custom = read.map_err(|e| format!("can't read it: {e}")).and_then(|read| Custom::parse(&read));
                custom.map(|custom| Custom { called: text.to_owned(), ..custom })
            }
            None => {
                let names: Vec<&str> = Custom::names().collect();
                Err(format!("no workload has this name: use tpcc, {}, or a file such as mine.toml", names.join(", ")))
            }
        };
        custom.map(|custom| Workload::Custom(Arc::new(custom))).map_err(|why| format!("{text}: {why}"))
    }
}

impl SweepArgs {
    /// Refuses another workload than TPC-C, whose dimensions a sweep has.
    pub(crate) fn require_tpcc(&self) -> Result<(), String> {
        match Workload::read(&self.workload)? {
            Workload::Tpcc => Ok(()),
            Workload::Custom(custom) => {
                Err(format!("{}: a sweep is of tpcc; other workloads are run one by one", custom.name))
            }
        }
    }
}

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
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
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

impl LoadArgs {
    /// Reads the workload, and refuses options of the other one.
    pub(crate) fn read_workload(&self) -> Result<Workload, String> {
        // All fields by name, so that a new one is not forgotten.
        #[rustfmt::skip]
        let LoadArgs {
            workload, custom, warehouses, first_warehouse, total_warehouses, fleet, resume, foreign_keys, foreign_keys_only,
            cluster, load_time, target: _, jobs: _, replace: _, seed: _, view: _, json: _,
        } = self;
        let CustomArgs { scale } = custom;
        let workload = Workload::read(workload)?;
        let Workload::Custom(custom) = &workload else {
            return match scale {
                Some(_) => Err("--scale is for other workloads: the size of tpcc is --warehouses".to_owned()),
                None => Ok(workload),
            };
        };
        let FleetArgs { part: ShardArgs { shard }, fleet_wait: _ } = fleet;
        #[rustfmt::skip]
        let ClusterArgs {
            partitions, localities, split, scatter, tablets, sharding, import_listen, import_url, import_from, copy_batch,
            snapshot_rate, settle,
        } = cluster;
        let given = [
            ("--warehouses", warehouses.is_some()),
            ("--first-warehouse", *first_warehouse != 1),
            ("--total-warehouses", total_warehouses.is_some()),
            ("--shard", shard.is_some()),
            ("--resume", *resume),
            ("--foreign-keys", *foreign_keys),
            ("--foreign-keys-only", *foreign_keys_only),
            ("--load-time", load_time.is_some()),
            ("--partitions", partitions.is_some()),
            ("--localities", localities.is_some()),
            ("--split", split.is_some()),
            ("--scatter", *scatter),
            ("--tablets", tablets.is_some()),
            ("--sharding", sharding.is_some()),
            ("--import-listen", import_listen.is_some()),
            ("--import-url", import_url.is_some()),
            ("--import-from", import_from.is_some()),
            ("--copy-batch", copy_batch.is_some()),
            ("--snapshot-rate", snapshot_rate.is_some()),
            ("--settle", settle.is_some()),
        ];
        refuse(&given, || {
            format!("a load of {} takes --url, --scale, --seed, --jobs, --replace and --json", custom.name)
        })?;
        Ok(workload)
    }
}

impl RunArgs {
    /// Reads the workload, and refuses options of TPC-C where it is another one.
    pub(crate) fn read_workload(&self) -> Result<Workload, String> {
        let workload = Workload::read(&self.workload)?;
        let Workload::Custom(custom) = &workload else { return Ok(workload) };
        #[rustfmt::skip]
        let DriveArgs {
            warehouses, first_warehouse, total_warehouses, fleet, affinity, style, mix, target: _, start: _, pace: _,
            connections: _, terminals: _, isolation: _, seed: _, region: _, on_error: _, statements: _, check: _, metrics: _,
            out: _, output: _,
        } = &self.drive;
        let FleetArgs { part: ShardArgs { shard }, fleet_wait: _ } = fleet;
        let given = [
            ("--warehouses", warehouses.is_some()),
            ("--first-warehouse", *first_warehouse != 1),
            ("--total-warehouses", total_warehouses.is_some()),
            ("--shard", shard.is_some()),
            ("--affinity", *affinity != drive::Affinity::None),
            ("--style", *style != Style::Batch),
            ("--mix", *mix != Mix::standard()),
        ];
        refuse(&given, || format!("what {} sends, and how often, stands in its file", custom.name))?;
        Ok(workload)
    }
}

impl CheckArgs {
    /// Reads the workload, and refuses options of TPC-C where it is another one.
    pub(crate) fn read_workload(&self) -> Result<Workload, String> {
        let workload = Workload::read(&self.workload)?;
        let Workload::Custom(custom) = &workload else { return Ok(workload) };
        let CheckArgs { workload: _, target: _, warehouses, first_warehouse, part, jobs, as_of, json: _ } = self;
        let given = [
            ("--warehouses", warehouses.is_some()),
            ("--first-warehouse", *first_warehouse != 1),
            ("--shard", part.shard.is_some()),
            ("--jobs", jobs.is_some()),
            ("--as-of", as_of.is_some()),
        ];
        refuse(&given, || format!("a check of {} takes --url and --json", custom.name))?;
        Ok(workload)
    }
}

/// Refuses the first option that was given.
fn refuse(given: &[(&str, bool)], instead: impl FnOnce() -> String) -> Result<(), String> {
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(format!("{option} is for tpcc: {}", instead())),
        None => Ok(()),
    }
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

    #[test]
    fn a_workload_has_a_name_or_a_file() {
        assert!(matches!(Workload::read("tpcc"), Ok(Workload::Tpcc)));
        assert!(matches!(Workload::read("movr"), Ok(Workload::Custom(custom)) if custom.name == "movr"));
        assert!(Workload::read("nothing").unwrap_err().contains("bank"));
        assert!(Workload::read("/nowhere/mine.toml").unwrap_err().starts_with("/nowhere/mine.toml: can't read it"));
    }
}
