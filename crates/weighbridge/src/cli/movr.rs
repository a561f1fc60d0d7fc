//! Arguments of the data set MovR, and what belongs to which workload.

use clap::Args;

use super::{ClusterArgs, FleetArgs, LoadArgs, ShardArgs, Workload};

/// What a load of MovR takes that one of TPC-C doesn't.
#[derive(Debug, Args)]
pub(crate) struct MovrArgs {
    /// The size of the data set movr: 1 is a million rides [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = scale)]
    pub(crate) scale: Option<f64>,
}

impl Workload {
    /// Refuses a data set where transactions are to be run or checked.
    pub(crate) fn require_transactions(self) -> Result<(), String> {
        match self {
            Workload::Tpcc => Ok(()),
            Workload::Movr => {
                Err("movr is a data set to try statements on: it can be loaded, not run or checked".into())
            }
        }
    }
}

impl LoadArgs {
    /// Refuses options of the other workload.
    pub(crate) fn fit_workload(&self) -> Result<(), String> {
        // All fields by name, so that a new one is not forgotten.
        #[rustfmt::skip]
        let LoadArgs {
            workload, movr, warehouses, first_warehouse, total_warehouses, fleet, resume, foreign_keys, foreign_keys_only,
            cluster, load_time, target: _, jobs: _, replace: _, seed: _, json: _,
        } = self;
        let MovrArgs { scale } = movr;
        if *workload == Workload::Tpcc {
            return match scale {
                Some(_) => Err("--scale is for movr: the size of tpcc is --warehouses".to_owned()),
                None => Ok(()),
            };
        }
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
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(format!(
                "{option} is for tpcc: a load of movr takes --url, --scale, --seed, --jobs, --replace and --json"
            )),
            None => Ok(()),
        }
    }
}

pub(crate) fn scale(text: &str) -> Result<f64, String> {
    let largest = movr::MAX_SCALE;
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
