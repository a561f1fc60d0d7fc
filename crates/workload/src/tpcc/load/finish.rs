//! The end of a load: keys, indexes, foreign keys, statistics.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use target::schema::Table;
use target::{Access, Class, Error, Gateways, Session};

use super::steps::{ATTEMPTS, RowStep, claim, done_steps};
use super::{LoadError, LoadPlan, LoadProgress, in_parallel, index_ddl};
use crate::tpcc::catalog::Catalog;
use crate::tpcc::procedure;
use crate::tpcc::rows;
use crate::tpcc::schema::TABLES;

/// Keys, indexes and statistics, once all rows of all slices are there. False if rows are still to come.
pub(super) async fn finish(
    gateways: &Gateways,
    session: &mut Session,
    plan: &LoadPlan,
    progress: &Arc<LoadProgress>,
) -> Result<bool, LoadError> {
    let done = done_steps(session).await?;
    let all = RowStep::of(1, plan.catalog.warehouses, true);
    if !all.iter().all(|step| done.contains(&step.key())) {
        return Ok(false);
    }
    session.tune_after_rows().await?;
    claim(session, "rows", 0).await?;
    let dialect = session.dialect();
    // The largest first, so that the last job to end has the least to do.
    let mut tables: Vec<&'static Table> = TABLES.to_vec();
    tables.sort_by_key(|table| std::cmp::Reverse(rows::weight(table)));
    let keys = tables.into_iter().map(|table| {
        let mut sql = Vec::new();
        if dialect.primary_key_after_load() && !table.primary_key.is_empty() {
            sql.push(dialect.add_primary_key(table));
        }
        if dialect.indexes_after_load() {
            let placement = &plan.catalog.placement;
            sql.extend(table.indexes.iter().flat_map(|index| index_ddl(session, table, index, placement)));
        }
        let step = format!("keys of {}", table.name);
        let open = !sql.is_empty() && !done.contains(&(step.clone(), 0));
        (table, open.then_some(Ddl { step, sql }))
    });
    let work = {
        let progress = progress.clone();
        move |mut session: Session, (table, keys): (&'static Table, Option<Ddl>)| {
            let progress = progress.clone();
            async move {
                session.tune_after_rows().await?;
                let session = match keys {
                    Some(keys) => run_ddl(session, keys, &progress).await?,
                    None => session,
                };
                refresh_statistics(session, table, &progress).await
            }
        }
    };
    in_parallel(gateways, plan.jobs, keys.collect(), work).await?;
    if plan.catalog.foreign_keys && dialect.foreign_keys_after_load() {
        declare_foreign_keys(gateways, &done, progress).await?;
    }

    if let Some(language) = dialect.routines() {
        let routines = Ddl { step: "routines".to_owned(), sql: procedure::ddl(language) };
        match run_all(gateways, 1, vec![routines], &done, progress).await {
            // Only one of the styles needs them: its run asks again, and says what is missing.
            Err(LoadError::Database(e)) if e.class() == Class::Permanent => {
                tracing::warn!("loaded without what the style procedure needs: {e}");
            }
            made => made?,
        }
    }

    Catalog::write_complete(session).await?;
    Ok(true)
}

/// The statistics of a table, once its rows and keys are there.
async fn refresh_statistics(
    mut session: Session,
    table: &'static Table,
    progress: &LoadProgress,
) -> Result<Session, LoadError> {
    if session.dialect().has_statistics() {
        stop_check(progress)?;
        progress.say(format!("statistics of {}", table.name));
        let sql = session.dialect().analyze(table.name);
        session.execute(&sql).await.map_err(|e| e.context(format!("statistics of {}", table.name)))?;
    }
    Ok(session)
}

/// The foreign keys of all tables, one after the other: each locks both of its tables.
async fn declare_foreign_keys(
    gateways: &Gateways,
    done: &HashSet<(String, i32)>,
    progress: &Arc<LoadProgress>,
) -> Result<(), LoadError> {
    let dialect = gateways.dialect();
    let keys = TABLES.iter().map(|table| Ddl {
        step: format!("foreign keys of {}", table.name),
        sql: table.foreign_keys.iter().map(|key| dialect.add_foreign_key(table, key)).collect(),
    });
    run_all(gateways, 1, keys.collect(), done, progress).await
}

/// Runs what is not done and not empty, `jobs` sessions side by side.
async fn run_all(
    gateways: &Gateways,
    jobs: usize,
    mut ddl: Vec<Ddl>,
    done: &HashSet<(String, i32)>,
    progress: &Arc<LoadProgress>,
) -> Result<(), LoadError> {
    ddl.retain(|ddl| !ddl.sql.is_empty() && !done.contains(&(ddl.step.clone(), 0)));
    let progress = progress.clone();
    let work = move |session: Session, ddl: Ddl| {
        let progress = progress.clone();
        async move { run_ddl(session, ddl, &progress).await }
    };
    in_parallel(gateways, jobs, ddl, work).await
}

/// DDL of a table, done in one transaction with its record where the database can.
#[derive(Clone, Debug)]
struct Ddl {
    step: String,
    sql: Vec<String>,
}

async fn run_ddl(mut session: Session, ddl: Ddl, progress: &LoadProgress) -> Result<Session, LoadError> {
    stop_check(progress)?;
    progress.say(ddl.step.clone());
    let dialect = session.dialect();
    if !dialect.transactional_ddl() {
        // Each statement commits by itself, so the record comes after the deed, and a deed already done is passed over.
        for sql in &ddl.sql {
            match session.execute(sql).await {
                Err(e) if e.code().is_some_and(|code| dialect.already_exists(code)) => {}
                done => done.map_err(|e| e.context(&ddl.step))?,
            }
        }
        claim(&mut session, &ddl.step, 0).await?;
        return Ok(session);
    }
    for attempt in 1.. {
        match claim_and_run(&mut session, &ddl).await {
            // Another client was at the same step: now its record can be seen.
            Err(e) if e.class() == Class::Retry && attempt < ATTEMPTS => {
                tracing::debug!("{} again: {e}", ddl.step);
                session.rollback().await?;
                tokio::time::sleep(Duration::from_millis(50) * attempt).await;
            }
            Err(e) => return Err(e.context(&ddl.step).into()),
            Ok(()) => break,
        }
    }
    Ok(session)
}

/// The statements in a transaction with their record, unless another client has done them.
async fn claim_and_run(session: &mut Session, ddl: &Ddl) -> Result<(), Error> {
    session.begin(session.dialect().default_isolation(), Access::ReadWrite);
    if !claim(session, &ddl.step, 0).await? {
        return session.rollback().await;
    }
    for sql in &ddl.sql {
        session.execute(sql).await?;
    }
    session.commit().await
}

fn stop_check(progress: &LoadProgress) -> Result<(), LoadError> {
    if progress.stop.load(Ordering::Relaxed) { Err(LoadError::Interrupted) } else { Ok(()) }
}

/// Declares the foreign keys of data that were loaded without them.
///
/// # Errors
/// If there is no complete load, or it has them; the database's refusal, with the table.
pub async fn add_foreign_keys(gateways: &Gateways, progress: Arc<LoadProgress>) -> Result<(), LoadError> {
    let mut session = Session::connect(gateways.first()).await?;
    let catalog = Catalog::read_complete(&mut session).await?;
    if catalog.foreign_keys {
        return Err(LoadError::HasForeignKeys);
    }
    let done = done_steps(&mut session).await?;
    declare_foreign_keys(gateways, &done, &progress).await?;
    Catalog::write_foreign_keys(&mut session).await?;
    Ok(())
}
