//! The steps of a load and the rows of each, sent by this client.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use target::bulk::{BulkOptions, Loaded};
use target::schema::Table;
use target::{Access, Class, Error, Gateways, Session};

use super::{Existing, LoadError, LoadPlan, LoadProgress, Transport, in_parallel};
use crate::tpcc::rows;
use crate::tpcc::schema::TABLES;

/// A step of rows: a table of a warehouse.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowStep {
    pub(super) table: &'static Table,
    /// 0 for a table that belongs to no warehouse.
    pub(super) w_id: i32,
}

impl RowStep {
    pub(super) fn of(first: i32, count: i32, with_global: bool) -> Vec<RowStep> {
        let is_global = |table: &&&'static Table| rows::global(table);
        let mut steps = Vec::new();
        if with_global {
            steps.extend(TABLES.iter().filter(is_global).map(|table| RowStep { table, w_id: 0 }));
        }
        for w_id in first..first + count {
            steps.extend(TABLES.iter().filter(|table| !is_global(table)).map(|table| RowStep { table, w_id }));
        }
        steps
    }

    /// Orders steps so that sessions side by side fill different tables, and what ends last is small: warehouse by
    /// warehouse, the largest table first.
    pub(super) fn turn(&self) -> impl Ord + use<> {
        (self.w_id.max(1), std::cmp::Reverse(rows::weight(self.table)))
    }

    pub(super) fn key(&self) -> (String, i32) {
        (self.table.name.to_owned(), self.w_id)
    }
}

impl std::fmt::Display for RowStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.w_id {
            0 => f.write_str(self.table.name),
            w_id => write!(f, "{} of warehouse {w_id}", self.table.name),
        }
    }
}

/// Sends the rows of all open steps. Returns the bytes sent.
pub(super) async fn copy(
    gateways: &Gateways,
    plan: &Arc<LoadPlan>,
    open: Vec<RowStep>,
    progress: &Arc<LoadProgress>,
) -> Result<u64, LoadError> {
    let bytes = Arc::new(AtomicU64::new(0));
    let work = {
        let (plan, progress, bytes) = (plan.clone(), progress.clone(), bytes.clone());
        move |session: Session, step: RowStep| {
            let (plan, progress, bytes) = (plan.clone(), progress.clone(), bytes.clone());
            async move { load_step(session, step, &plan, &progress, &bytes).await }
        }
    };
    in_parallel(gateways, plan.jobs, open, work).await?;
    Ok(bytes.load(Ordering::Relaxed))
}

/// The steps on record.
pub(super) async fn done_steps(session: &mut Session) -> Result<HashSet<(String, i32)>, Error> {
    let answer = session.query("SELECT step, w_id FROM weighbridge_load", &[]).await?;
    answer.rows().map(|row| Ok((row.text(0)?.to_owned(), row.int(1)?))).collect()
}

/// Records a step in the transaction that does it. False if another client has done it.
pub(super) async fn claim(session: &mut Session, step: &str, w_id: i32) -> Result<bool, Error> {
    let sql = "INSERT INTO weighbridge_load (step, w_id, rows_loaded) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING";
    Ok(session.query(sql, &[step.into(), w_id.into()]).await?.affected() == 1)
}

/// Attempts at a step that the database refuses with the wish for another try.
pub(super) const ATTEMPTS: u32 = 20;

/// The rows of one step, with its record.
async fn load_step(
    mut session: Session,
    step: RowStep,
    plan: &LoadPlan,
    progress: &LoadProgress,
    bytes: &AtomicU64,
) -> Result<Session, LoadError> {
    progress.say(step.to_string());
    for attempt in 1.. {
        let loaded = match plan.transport {
            Transport::CopyInCommits(rows) => load_in_commits(&mut session, step, plan, rows, progress).await,
            _ => load_in_transaction(&mut session, step, plan, progress).await,
        };
        match loaded {
            Ok(loaded) => {
                bytes.fetch_add(loaded.bytes, Ordering::Relaxed);
                return Ok(session);
            }
            // Ranges that split or move under the load: the step starts from nothing.
            Err(LoadError::Database(e)) if e.class() == Class::Retry && attempt < ATTEMPTS => {
                tracing::debug!("loading {step} again: {e}");
                session.rollback().await?;
                tokio::time::sleep(Duration::from_millis(50) * attempt).await;
            }
            Err(LoadError::Database(e)) => return Err(e.context(format_args!("loading {step}")).into()),
            Err(other) => return Err(other),
        }
    }
    Ok(session)
}

/// The rows of one step, in one transaction with its record.
async fn load_in_transaction(
    session: &mut Session,
    step: RowStep,
    plan: &LoadPlan,
    progress: &LoadProgress,
) -> Result<Loaded, LoadError> {
    session.begin(session.dialect().default_isolation(), Access::ReadWrite);
    if !claim(session, step.table.name, step.w_id).await? {
        session.rollback().await?;
        return Ok(Loaded::default());
    }
    if plan.existing == Existing::Resume && plan.catalog.partial_steps {
        remove_rows(session, step).await?;
    }
    let loaded = load_table(session, step, plan, None, progress).await?;
    let sql = "UPDATE weighbridge_load SET rows_loaded = $3 WHERE step = $1 AND w_id = $2";
    let rows = i64::try_from(loaded.rows).unwrap_or(i64::MAX);
    session.query(sql, &[step.table.name.into(), step.w_id.into(), rows.into()]).await?;
    session.commit().await?;
    Ok(loaded)
}

/// The rows of one step, committed on the way. The record comes last; rows of an attempt that left none are removed.
async fn load_in_commits(
    session: &mut Session,
    step: RowStep,
    plan: &LoadPlan,
    rows_per_commit: u32,
    progress: &LoadProgress,
) -> Result<Loaded, LoadError> {
    remove_rows(session, step).await?;
    for setting in session.dialect().copy_in_commits().unwrap_or_default() {
        session.execute(setting).await?;
    }
    let loaded = load_table(session, step, plan, Some(rows_per_commit), progress).await?;
    record(session, step.table, &[(step.w_id, loaded.rows)]).await?;
    Ok(loaded)
}

/// Removes what an unrecorded attempt at a step has left.
pub(super) async fn remove_rows(session: &mut Session, step: RowStep) -> Result<(), Error> {
    let name = step.table.name;
    match step.table.spread_by {
        Some(column) => session.query(&format!("DELETE FROM {name} WHERE {column} = $1"), &[step.w_id.into()]).await,
        None => session.query(&format!("DELETE FROM {name}"), &[]).await,
    }
    .map(|_| ())
}

/// Steps recorded in one statement.
const RECORDS: usize = 500;

/// Records steps of a table whose rows are there: warehouse and rows of each.
pub(super) async fn record(session: &mut Session, table: &Table, steps: &[(i32, u64)]) -> Result<(), Error> {
    for steps in steps.chunks(RECORDS) {
        let records: Vec<String> =
            steps.iter().map(|(w_id, rows)| format!("('{}', {w_id}, {rows})", table.name)).collect();
        let sql = format!("INSERT INTO weighbridge_load (step, w_id, rows_loaded) VALUES {}", records.join(", "));
        session.query(&sql, &[]).await?;
    }
    Ok(())
}

/// One table of one warehouse.
async fn load_table(
    session: &mut Session,
    step: RowStep,
    plan: &LoadPlan,
    rows_per_commit: Option<u32>,
    progress: &LoadProgress,
) -> Result<Loaded, LoadError> {
    let mut sent = 0;
    let loaded = send_rows(session, step, plan, rows_per_commit, progress, &mut sent).await;
    if loaded.is_err() {
        progress.rows.fetch_sub(sent, Ordering::Relaxed);
    }
    loaded
}

async fn send_rows(
    session: &mut Session,
    step: RowStep,
    plan: &LoadPlan,
    rows_per_commit: Option<u32>,
    progress: &LoadProgress,
    sent: &mut u64,
) -> Result<Loaded, LoadError> {
    let population = plan.catalog.population();
    let into = session.dialect().rows_of(step.table, &plan.catalog.placement, step.w_id);
    let options = BulkOptions { into: Some(into), rows_per_commit };
    let mut bulk = session.bulk(step.table, &options).await?;
    for piece in rows::pieces(step.w_id) {
        if progress.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted);
        }
        let rows = rows::write(&population, step.table, piece, &mut bulk);
        bulk.flush_if_full().await?;
        *sent += rows;
        progress.rows.fetch_add(rows, Ordering::Relaxed);
    }
    Ok(bulk.finish().await?)
}
