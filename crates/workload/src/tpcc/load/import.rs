//! Rows that the servers fetch by themselves, as CSV: a table at a time, by one statement.
//!
//! The statement stores all rows or none. Its record comes after it, so a load that died between the two finds rows
//! without a record, and removes them.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::tpcc::population::Population;
use ::tpcc::{DISTRICTS_PER_WAREHOUSE, ORDERS_PER_DISTRICT};
use target::placement::slices;
use target::schema::Table;
use target::{Error, Gateways, Session};

use super::csv_server::{CsvServer, path};
use super::steps::{RowStep, record, remove_rows};
use super::{LoadError, LoadPlan, LoadProgress, Transport, in_parallel};
use crate::tpcc::generate::file_name;
use crate::tpcc::rows;
use crate::tpcc::schema::TABLES;

/// The most pieces into which a table's rows are cut: the servers share them out among each other.
const PIECES: usize = 256;

/// A table's rows, as the servers are to fetch them.
#[derive(Debug)]
struct Import {
    table: &'static Table,
    /// Its first and last warehouse; 0 for a table that belongs to none.
    warehouses: (i32, i32),
    urls: Vec<String>,
}

/// Has the servers fetch all tables that are not on record.
pub(super) async fn import(
    gateways: &Gateways,
    plan: &Arc<LoadPlan>,
    done: &HashSet<(String, i32)>,
    progress: &Arc<LoadProgress>,
) -> Result<(), LoadError> {
    let (server, base) = match &plan.transport {
        Transport::Served { listen, url } => {
            let population = plan.catalog.population();
            let started = CsvServer::start(*listen, population, plan.catalog.warehouses, progress.clone()).await;
            let server = started.map_err(|e| LoadError::Server(*listen, e))?;
            let base = url.clone().unwrap_or_else(|| format!("http://{}", server.address()));
            (Some(server), base)
        }
        Transport::Fetched { from } => (None, from.clone()),
        Transport::Copy | Transport::CopyInCommits(_) => return Ok(()),
    };
    let imports = imports(plan, &base, server.is_some(), done);
    let work = {
        let (plan, progress) = (plan.clone(), progress.clone());
        move |session: Session, import: Import| {
            let (plan, progress) = (plan.clone(), progress.clone());
            async move { import_table(session, import, &plan, &progress).await }
        }
    };
    let ended = in_parallel(gateways, plan.jobs, imports, work).await;
    drop(server);
    ended
}

/// What is to be fetched, the largest tables first.
fn imports(plan: &LoadPlan, base: &str, served: bool, done: &HashSet<(String, i32)>) -> Vec<Import> {
    let mine = |table: &&'static Table| plan.leads() || !rows::global(table);
    let mut tables: Vec<&'static Table> = TABLES.into_iter().filter(mine).collect();
    tables.sort_by_key(|table| std::cmp::Reverse(rows::weight(table)));
    let (first, last) = (plan.first_warehouse, plan.last_warehouse());
    let whole = plan.warehouses == plan.catalog.warehouses;
    let warehouses = |table: &Table| if rows::global(table) { (0, 0) } else { (first, last) };
    // A table is fetched whole, so one record stands for all.
    let open = tables.into_iter().filter(|table| !done.contains(&(table.name.to_owned(), warehouses(table).0)));
    let urls = |table: &'static Table| match served {
        false => vec![within(base, &file_name(table, first, last, whole))],
        true if rows::global(table) => vec![within(base, &path(table, 0, 0))],
        true => slices(first..=last, PIECES.min(plan.warehouses as usize) as u32)
            .iter()
            .map(|slice| within(base, &path(table, *slice.start(), *slice.end())))
            .collect(),
    };
    open.map(|table| Import { table, warehouses: warehouses(table), urls: urls(table) }).collect()
}

/// A file in a folder whose address may end in parameters (`s3://bucket/folder?AUTH=implicit`).
fn within(base: &str, file: &str) -> String {
    let (folder, parameters) = base.split_once('?').unwrap_or((base, ""));
    let separator = if parameters.is_empty() { "" } else { "?" };
    format!("{}/{file}{separator}{parameters}", folder.trim_end_matches('/'))
}

async fn import_table(
    mut session: Session,
    import: Import,
    plan: &LoadPlan,
    progress: &LoadProgress,
) -> Result<Session, LoadError> {
    if progress.stop.load(Ordering::Relaxed) {
        return Err(LoadError::Interrupted);
    }
    let (table, (first, last)) = (import.table, import.warehouses);
    let named = |e: Error| e.context(format_args!("importing {}", table.name));
    let Some(sql) = session.dialect().import(table, &import.urls) else {
        return Err(Error::permanent(format!("{} can't fetch rows by itself", session.dialect().name())).into());
    };
    progress.say(format!("import of {}", table.name));
    if !session.query(&format!("SELECT 1 FROM {} LIMIT 1", table.name), &[]).await.map_err(named)?.is_empty() {
        for w_id in first..=last {
            remove_rows(&mut session, RowStep { table, w_id }).await.map_err(named)?;
        }
    }
    let stored = session.query(&sql, &[]).await.map_err(named)?.only()?.big(3)?;
    let population = plan.catalog.population();
    let counts: Vec<(i32, u64)> = (first..=last).map(|w_id| (w_id, count(&population, table, w_id))).collect();
    let expected: u64 = counts.iter().map(|(_, rows)| rows).sum();
    if u64::try_from(stored) != Ok(expected) {
        let what = format!("the import stored {stored} rows of {}, where {expected} must be", table.name);
        return Err(Error::integrity(what).into());
    }
    if matches!(plan.transport, Transport::Fetched { .. }) {
        progress.rows.fetch_add(expected, Ordering::Relaxed);
    }
    record(&mut session, table, &counts).await.map_err(named)?;
    Ok(session)
}

/// The rows that a warehouse has in a table.
fn count(population: &Population, table: &Table, w_id: i32) -> u64 {
    if table.name != crate::tpcc::schema::ORDER_LINE.name {
        return rows::expected(table);
    }
    let orders = (1..=DISTRICTS_PER_WAREHOUSE).flat_map(|d_id| (1..=ORDERS_PER_DISTRICT).map(move |o_id| (d_id, o_id)));
    orders.map(|(d_id, o_id)| population.order(w_id, d_id, o_id).o_ol_cnt as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn a_folders_parameters_stay_behind_the_file() {
        assert_eq!(within("http://me:8080", "stock/1-2.csv"), "http://me:8080/stock/1-2.csv");
        assert_eq!(within("s3://b/f/?AUTH=implicit", "stock.csv"), "s3://b/f/stock.csv?AUTH=implicit");
    }
}
