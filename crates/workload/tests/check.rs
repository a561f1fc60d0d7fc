//! The check passes on good data of any age, and names exactly what was spoiled.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use common::Database;
use target::Url;
use workload::tpcc::check::{CheckError, CheckOptions, CheckProgress, CheckResult, check, checks};

#[path = "check/faults.rs"]
mod faults;

use faults::{Change, Fault};

async fn check_of(database: &Database, first_warehouse: i32, warehouses: i32) -> Vec<CheckResult> {
    let options = CheckOptions { first_warehouse, warehouses, jobs: 2, seconds_ago: None };
    let progress = Arc::new(CheckProgress::default());
    let results = check(&database.url.clone().into(), options, progress.clone()).await.unwrap();
    assert_eq!(results.len(), checks().count());
    assert_eq!(progress.done.load(Ordering::Relaxed), progress.total.load(Ordering::Relaxed));
    results
}

fn failed(results: &[CheckResult]) -> BTreeSet<&'static str> {
    results.iter().filter(|result| !result.passed).map(|result| result.name).collect()
}

fn skipped(results: &[CheckResult]) -> BTreeSet<&'static str> {
    results.iter().filter(|result| result.skipped.is_some()).map(|result| result.name).collect()
}

fn assert_all_pass(results: &[CheckResult]) {
    let failures: Vec<_> = results.iter().filter(|result| !result.passed).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Spoils the data, checks warehouse 1, and mends them.
async fn assert_found(database: &Database, fault: &Fault) {
    for (number, change) in fault.changes.iter().enumerate() {
        change.spoil(database, number).await;
    }
    let results = check_of(database, 1, 1).await;
    let wanted: BTreeSet<&str> = fault.violates.iter().copied().collect();
    assert_eq!(failed(&results), wanted, "{}: {results:#?}", fault.what);
    for result in results.iter().filter(|result| !result.passed) {
        assert!(result.violations >= 1 && !result.examples.is_empty(), "{}: {result:#?}", fault.what);
    }
    let first = results.iter().find(|result| result.name == fault.violates[0]).unwrap();
    assert_eq!(first.violations, fault.violations, "{}: {first:#?}", fault.what);
    assert!(first.examples.iter().any(|example| example.contains(fault.example)), "{}: {first:#?}", fault.what);
    for (number, change) in fault.changes.iter().enumerate() {
        change.mend(database, number).await;
    }
}

async fn every_fault_is_found(database: &Database) {
    database.load(1).await;
    let results = check_of(database, 1, 1).await;
    assert_all_pass(&results);
    assert_eq!(skipped(&results), BTreeSet::new());
    for fault in faults::AS_LOADED.iter().chain(faults::POPULATION) {
        assert_found(database, fault).await;
    }
    assert_all_pass(&check_of(database, 1, 1).await);

    database.load(2).await;
    only_the_warehouses_asked_for_are_checked(database).await;
    database.drive(2, 600).await;
    let results = check_of(database, 1, 2).await;
    assert_all_pass(&results);
    let as_loaded = skipped(&results);
    assert!(as_loaded.contains("C11") && as_loaded.contains("customer-values"), "{as_loaded:?}");
    assert!(!as_loaded.contains("C11g") && !as_loaded.contains("fixed-rows"), "{as_loaded:?}");
    let reason = results.iter().find(|result| result.name == "C11").unwrap().skipped.clone().unwrap();
    assert_eq!(reason, "the data are no longer as loaded: orders have been entered");
    for fault in faults::DRIVEN {
        assert_found(database, fault).await;
    }
    assert_all_pass(&check_of(database, 1, 2).await);
}

async fn only_the_warehouses_asked_for_are_checked(database: &Database) {
    let change = Change::set("customer", "c_w_id = 2 AND c_d_id = 5 AND c_id = 77", "c_data = 'short'");
    change.spoil(database, 0).await;
    assert_all_pass(&check_of(database, 1, 1).await);
    let results = check_of(database, 1, 2).await;
    assert_eq!(failed(&results), BTreeSet::from(["I12"]));
    let found = results.iter().find(|result| !result.passed).unwrap();
    assert_eq!(found.examples, ["c_w_id=2, c_d_id=5, c_id=77, characters=5"]);
    change.mend(database, 0).await;
    assert_all_pass(&check_of(database, 2, 1).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite_every_fault_is_found() {
    every_fault_is_found(&Database::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_every_fault_is_found() {
    let Some(database) = Database::postgres() else { return };
    every_fault_is_found(&database).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_mariadb_every_fault_is_found() {
    let Some(database) = Database::mariadb() else { return };
    every_fault_is_found(&database).await;
}

/// One fault of each kind: TiDB's answers come from the same queries as MariaDB's, and take it longer.
#[tokio::test(flavor = "multi_thread")]
async fn on_tidb_faults_are_found() {
    let Some(database) = Database::tidb() else { return };
    database.load(1).await;
    assert_all_pass(&check_of(&database, 1, 1).await);
    for fault in faults::AS_LOADED.iter().chain(faults::POPULATION).step_by(12) {
        assert_found(&database, fault).await;
    }
    database.drive(1, 200).await;
    assert_all_pass(&check_of(&database, 1, 1).await);
    for fault in faults::DRIVEN.iter().step_by(4) {
        assert_found(&database, fault).await;
    }
}

#[tokio::test]
async fn names_are_unique_and_clauses_are_named() {
    let names: BTreeSet<_> = checks().map(|check| check.name).collect();
    assert_eq!(names.len(), checks().count());
    for check in checks() {
        assert!(!check.clause.is_empty() && !check.what.is_empty() && check.what.len() < 120, "{check:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_checked_is_said_in_one_line() {
    let database = Database::sqlite();
    let asked = |url: Url, warehouses, stop| async move {
        let progress = Arc::new(CheckProgress::default());
        progress.stop.store(stop, Ordering::Relaxed);
        let options = CheckOptions { first_warehouse: 1, warehouses, jobs: 2, seconds_ago: None };
        check(&url.into(), options, progress).await.unwrap_err()
    };
    let missing = asked(database.url.clone(), 1, false).await;
    assert!(matches!(missing, CheckError::Catalog(_)), "{missing}");

    database.load(1).await;
    let absent = asked(database.url.clone(), 2, false).await;
    assert_eq!(absent.to_string(), "warehouses 1 to 2: the load has warehouses 1 to 1");
    assert!(matches!(asked(database.url.clone(), 1, true).await, CheckError::Interrupted));
}
