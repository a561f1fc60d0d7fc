//! Asking the queries: several sessions side by side, each taking the next (check, warehouses) that is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use target::{Class, Error, Gateways, Row, Session, Value};

use super::loaded::done_since;
use super::{Applies, Check, CheckError, CheckOptions, CheckProgress, CheckResult, Scope, checks};
use crate::tpcc::catalog::Catalog;

/// Examples kept of a check's violations.
const EXAMPLES: usize = 5;

/// Fewer warehouses than this are not worth a scan of their own.
const RANGE: usize = 100;

/// A check of some warehouses: one query.
#[derive(Clone, Copy, Debug)]
struct Unit {
    check: &'static Check,
    /// The check's place among the results.
    place: usize,
    first: i32,
    last: i32,
}

/// What a unit found.
#[derive(Debug)]
struct Found {
    unit: Unit,
    violations: u64,
    examples: Vec<String>,
}

/// Checks a loaded database, and returns one result a check in the order of [`checks`].
///
/// # Errors
/// If there is no complete load, the load has no such warehouses, or the database refuses.
pub async fn check(
    gateways: &Gateways,
    options: CheckOptions,
    progress: Arc<CheckProgress>,
) -> Result<Vec<CheckResult>, CheckError> {
    check_these(&checks().collect::<Vec<_>>(), gateways, options, progress).await
}

/// As [`check`], of the checks of these names.
///
/// # Errors
/// As [`check`].
pub async fn check_only(
    names: &[&str],
    gateways: &Gateways,
    options: CheckOptions,
    progress: Arc<CheckProgress>,
) -> Result<Vec<CheckResult>, CheckError> {
    let wanted: Vec<_> = checks().filter(|check| names.contains(&check.name)).collect();
    check_these(&wanted, gateways, options, progress).await
}

async fn check_these(
    wanted: &[&'static Check],
    gateways: &Gateways,
    options: CheckOptions,
    progress: Arc<CheckProgress>,
) -> Result<Vec<CheckResult>, CheckError> {
    let mut session = Session::connect(gateways.first()).await?;
    session.see_all_commits().await?;
    let catalog = Catalog::read_complete(&mut session).await?;
    let (first, last) = (options.first_warehouse, options.last_warehouse());
    if first < 1 || last < first || last > catalog.warehouses {
        return Err(CheckError::NoSuchWarehouses { first, last, loaded: catalog.warehouses });
    }
    let instant = match options.seconds_ago {
        None => None,
        Some(seconds) => Some(session.instant(seconds).await?.ok_or(CheckError::NoPast(session.dialect().name()))?),
    };
    let instant: Option<Arc<str>> = instant.map(Arc::from);
    open(&mut session, instant.as_deref());
    let done_since = done_since(&mut session, &options).await?;
    session.commit().await?;
    drop(session);

    let skipped = |check: &Check| done_since.filter(|_| check.applies == Applies::AsLoaded);
    let mut units: Vec<Unit> = wanted
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, check)| skipped(check).is_none())
        .flat_map(|(place, check)| units_of(check, place, &options))
        .collect();
    // The longest first, so that no session is left with a long one at the end.
    units.sort_by_key(|unit| unit.check.scope != Scope::Range);
    progress.total.store(units.len() as u64, Ordering::Relaxed);
    let mut found = ask_all(gateways, options.jobs, units, instant, &progress).await?;
    found.sort_by_key(|found| (found.unit.place, found.unit.first));

    let mut results: Vec<CheckResult> = wanted.iter().map(|check| result(check, skipped(check))).collect();
    for found in found {
        let result = &mut results[found.unit.place];
        result.passed &= found.violations == 0;
        result.violations += found.violations;
        result.examples.extend(found.examples);
        result.examples.truncate(EXAMPLES);
    }
    Ok(results)
}

/// Opens a transaction in the past, if that is where to look.
fn open(session: &mut Session, instant: Option<&str>) {
    if let Some(instant) = instant {
        session.begin_at(instant);
    }
}

/// A result before anything was found.
fn result(check: &Check, done_since: Option<&str>) -> CheckResult {
    CheckResult {
        name: check.name,
        clause: check.clause,
        what: check.what,
        passed: true,
        violations: 0,
        examples: Vec::new(),
        skipped: done_since.map(|done| format!("the data are no longer as loaded: {done}")),
    }
}

/// The queries of a check.
fn units_of(check: &'static Check, place: usize, options: &CheckOptions) -> Vec<Unit> {
    let (first, last) = (options.first_warehouse, options.last_warehouse());
    let warehouses = (last - first) as usize + 1;
    let each = match check.scope {
        Scope::Warehouse => 1,
        Scope::Items => warehouses,
        // At most one scan a session, however many warehouses there are.
        Scope::Range => RANGE.max(warehouses.div_ceil(options.jobs.max(1))),
    };
    let starts = (first..=last).step_by(each);
    starts
        .map(|start| Unit { check, place, first: start, last: last.min(start.saturating_add(each as i32 - 1)) })
        .collect()
}

/// Asks all units in order, `jobs` at a time, through all gateways by turns. The first error ends them all.
async fn ask_all(
    gateways: &Gateways,
    jobs: usize,
    units: Vec<Unit>,
    instant: Option<Arc<str>>,
    progress: &Arc<CheckProgress>,
) -> Result<Vec<Found>, CheckError> {
    let jobs = jobs.clamp(1, units.len().max(1));
    let units: Arc<[Unit]> = units.into();
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for number in 0..jobs {
        let url = gateways.dealt(number).clone();
        let (units, next, progress) = (units.clone(), next.clone(), progress.clone());
        let instant = instant.clone();
        workers.spawn(async move {
            let mut session = Session::connect(&url).await?;
            session.see_all_commits().await?;
            let mut found = Vec::new();
            while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                if progress.stop.load(Ordering::Relaxed) {
                    return Err(CheckError::Interrupted);
                }
                let asked = ask_again(&mut session, *unit, instant.as_deref()).await;
                found.push(asked.map_err(|e| e.context(format_args!("check {}", unit.check.name)))?);
                progress.done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(found)
        });
    }
    let mut all = Vec::with_capacity(units.len());
    while let Some(ended) = workers.join_next().await {
        all.extend(ended.map_err(|e| Error::permanent(format!("a session of the check failed: {e}")))??);
    }
    Ok(all)
}

/// Attempts at a query that a database under load refuses with the wish for another try.
const ATTEMPTS: u32 = 20;

/// Asks a unit, in the past if that is where to look, and again if the database wants that.
async fn ask_again(session: &mut Session, unit: Unit, instant: Option<&str>) -> Result<Found, Error> {
    let mut attempt = 1;
    loop {
        open(session, instant);
        match ask(session, unit).await {
            Err(e) if e.class() == Class::Retry && attempt < ATTEMPTS => {
                session.rollback().await?;
                attempt += 1;
            }
            Err(e) => return Err(e),
            Ok(found) => return session.commit().await.map(|()| found),
        }
    }
}

/// Counts the violations of a unit, and fetches a few if there are any.
///
/// The count comes first and alone: a LIMIT would make the planner bet on finding some soon.
async fn ask(session: &mut Session, unit: Unit) -> Result<Found, Error> {
    let sql = unit.check.sql;
    let values = unit.values();
    let count = session.query(&format!("SELECT COUNT(*) FROM ({sql}) AS v"), &values).await?;
    let violations = u64::try_from(count.only()?.big(0)?).unwrap_or(0);
    let mut examples = Vec::new();
    if violations > 0 {
        let rows = session.query(&format!("SELECT * FROM ({sql}) AS v LIMIT {EXAMPLES}"), &values).await?;
        examples = rows.rows().map(example).collect::<Result<_, _>>()?;
    }
    Ok(Found { unit, violations, examples })
}

impl Unit {
    /// The values of the query's parameters, in order.
    fn values(&self) -> Vec<Value<'static>> {
        let range = [self.first.into(), self.last.into()];
        let of_scope = match self.check.scope {
            Scope::Warehouse => &range[..1],
            Scope::Range => &range[..],
            Scope::Items => &[],
        };
        [of_scope, self.check.bound].concat()
    }
}

/// A row as `column=value, …`.
fn example(row: Row<'_>) -> Result<String, Error> {
    let pairs: Result<Vec<String>, Error> =
        row.columns().iter().enumerate().map(|(column, name)| Ok(format!("{name}={}", row.value(column)?))).collect();
    Ok(pairs?.join(", "))
}
