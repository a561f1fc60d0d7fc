//! The plan of a load from what the command line says.

use target::placement::Placement;
use target::{Dialect, Gateways};

use super::{Existing, LoadPlan};
use crate::tpcc::catalog::Catalog;
use crate::workload::{LoadFlags, WorkloadError};

/// Refuses foreign keys after the load where the database can't add them.
///
/// # Errors
/// One line that says what to do instead.
pub fn require_late_foreign_keys(dialect: &dyn Dialect) -> Result<(), WorkloadError> {
    if dialect.foreign_keys_after_load() {
        return Ok(());
    }
    Err(WorkloadError::Usage(format!(
        "{} can't add foreign keys after the load: load with --foreign-keys",
        dialect.name()
    )))
}

/// The warehouses of the whole database, of which one client has a slice: `total`, or up to the slice's last.
///
/// # Errors
/// One line, if the slice goes beyond them.
pub fn total_warehouses(first: i32, warehouses: i32, total: Option<i32>) -> Result<i32, String> {
    let last = i64::from(first) + i64::from(warehouses) - 1;
    let total = total.unwrap_or(i32::try_from(last).unwrap_or(i32::MAX));
    if last > i64::from(total) {
        return Err(format!("warehouses {first} to {last} go beyond --total-warehouses {total}"));
    }
    Ok(total)
}

/// More ranges than this are not split off unless a number is asked for.
const DEFAULT_RANGES: u32 = 1000;

/// The plan of a load, where so many warehouses were begun with; refused if the database lacks something for it.
///
/// # Errors
/// One line of wrong usage.
pub fn plan_from_flags(gateways: &Gateways, flags: &LoadFlags, begun: Option<i32>) -> Result<LoadPlan, String> {
    let whole = begun.filter(|_| flags.warehouses.is_none() && flags.first_warehouse == 1);
    let warehouses = flags.warehouses.or(whole).unwrap_or(1);
    let (slice, total) = match flags.worker {
        Some(worker) => (worker.slice(warehouses)?, warehouses),
        None => {
            let first = flags.first_warehouse;
            let total = flags.total_warehouses.or(begun.filter(|_| flags.warehouses.is_none()));
            (first..=first.saturating_add(warehouses - 1), total_warehouses(first, warehouses, total)?)
        }
    };
    if flags.existing == Existing::Replace && *slice.start() > 1 && flags.worker.is_none() {
        return Err("--replace goes with the client that loads warehouse 1: the others join its load".to_owned());
    }
    let load_time = flags.load_time.unwrap_or_else(jiff::Timestamp::now);
    let mut catalog = Catalog::new(flags.seed, total, load_time.as_second() * 1_000_000, flags.foreign_keys);
    let dialect = gateways.dialect();
    let default_localities = || flags.partitions.map_or(Vec::new(), |partitions| dialect.usual_localities(partitions));
    catalog.placement = Placement {
        keys: total,
        partitions: flags.partitions,
        localities: flags.localities.clone().unwrap_or_else(default_localities),
        ranges: flags.split.map(|ranges| ranges.unwrap_or(DEFAULT_RANGES.min(total.unsigned_abs()))),
        scatter: flags.scatter,
        tablets: flags.tablets,
        sharding: flags.sharding,
    };
    let plan = LoadPlan {
        first_warehouse: *slice.start(),
        warehouses: slice.end() - slice.start() + 1,
        catalog,
        jobs: flags.sessions(gateways),
        existing: flags.existing,
        transport: flags.transport.clone(),
        snapshot_rate: flags.snapshot_rate.clone(),
        settle: flags.settle,
    };
    plan.check(dialect)?;
    Ok(plan)
}
