//! The five transactions against their effects, computed by hand from the tables before and after.
//!
//! Every rule of the profiles is a case, those that known implementations break among them. The
//! data are loaded once a database; all cases run on them one after the other, in every statement
//! style, and leave them sound, so that at the end the sums of all tables still agree.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]
// Amounts in cents are written as dollars_cents.
#![allow(clippy::inconsistent_digit_grouping)]

mod bench;
mod conflicts;
mod delivery;

mod missing_rows;
mod new_order;
mod order_status;
mod order_stock;
mod payment;
mod record;
mod rollback;
mod stock_level;
mod sums;

use std::pin::Pin;

use target::Url;
use workload::tpcc::Style;

use bench::{Bench, SharedBook};

/// A rule, and what tries it.
pub(crate) struct Case {
    rule: &'static str,
    holds: for<'a> fn(&'a mut Bench) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
}

/// Cases out of async functions, named by the rule they try.
macro_rules! cases {
    ($($rule:ident),+ $(,)?) => {
        &[$($crate::Case { rule: stringify!($rule), holds: |bench| Box::pin($rule(bench)) }),+]
    };
}
pub(crate) use cases;

const TOPICS: [&[Case]; 8] = [
    new_order::CASES,
    order_stock::CASES,
    rollback::CASES,
    missing_rows::CASES,
    payment::CASES,
    order_status::CASES,
    delivery::CASES,
    stock_level::CASES,
];

/// Runs all cases in every style, and then `last`; fails with the names of the rules that don't hold.
async fn every_rule_holds(url: &Url, topics: &[&[Case]]) {
    bench::load(url).await;
    let book = SharedBook::default();
    let mut broken = Vec::new();
    for style in Style::offered(url.dialect()) {
        for case in topics.iter().copied().flatten() {
            if !holds(case, Bench::new(url, style, &book).await).await {
                eprintln!("does not hold: {} ({style})", case.rule);
                broken.push(format!("{} ({style})", case.rule));
            }
        }
    }
    for case in sums::CASES {
        if !holds(case, Bench::new(url, Style::Row, &book).await).await {
            broken.push(case.rule.to_owned());
        }
    }
    assert!(broken.is_empty(), "rules that don't hold: {broken:#?}");
}

/// A case in a task of its own, so that its panic ends nothing else.
async fn holds(case: &Case, mut bench: Bench) -> bool {
    let holds = case.holds;
    tokio::spawn(async move { holds(&mut bench).await }).await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_every_rule_holds() {
    let folder = tempfile::tempdir().unwrap();
    let url = Url::parse(&format!("sqlite:{}", folder.path().join("tpcc.db").display())).unwrap();
    every_rule_holds(&url, &[TOPICS.as_slice(), &[conflicts::ON_ANY]].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_every_rule_holds() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("tpcc").unwrap();
    let conflicts = [conflicts::ON_ANY, conflicts::WITH_REFUSALS, conflicts::WITH_ROW_LOCKS, conflicts::WITH_KILLS];
    every_rule_holds(&Url::parse(&server.url("tpcc")).unwrap(), &[TOPICS.as_slice(), &conflicts].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_mariadb_every_rule_holds() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    server.create_database("tpcc").unwrap();
    let conflicts = [conflicts::ON_ANY, conflicts::WITH_ROW_LOCKS, conflicts::WITH_KILLS];
    every_rule_holds(&Url::parse(&server.url("tpcc")).unwrap(), &[TOPICS.as_slice(), &conflicts].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_tidb_every_rule_holds() {
    let Some(server) = lab::tidb_or_skip() else { return };
    server.create_database("tpcc").unwrap();
    let conflicts = [conflicts::ON_ANY, conflicts::WITH_ROW_LOCKS];
    every_rule_holds(&Url::parse(&server.url("tpcc")).unwrap(), &[TOPICS.as_slice(), &conflicts].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_odbc_every_rule_holds_on_postgres() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let port = server.port();
    let attributes = format!("Server=127.0.0.1;Port={port};Database=postgres;Uid=postgres");
    let url = Url::parse(&format!("odbc:Driver={{PostgreSQL Unicode}};{attributes}")).unwrap();
    every_rule_holds(&url, &[TOPICS.as_slice(), &[conflicts::ON_ANY]].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_odbc_every_rule_holds_on_mariadb() {
    // The plain dialect names no collation: bytes must compare as bytes by the server's own default.
    let settings = [("character-set-server", "utf8mb4"), ("collation-server", "utf8mb4_bin")];
    let Some(server) = lab::or_skip(lab::MariaDb::start_with(&settings)) else { return };
    server.create_database("tpcc").unwrap();
    let port = server.port();
    let attributes = format!("Server=127.0.0.1;Port={port};Database=tpcc;Uid=root;Option=2");
    let url = Url::parse(&format!("odbc:Driver={{MariaDB Unicode}};{attributes}")).unwrap();
    every_rule_holds(&url, &[TOPICS.as_slice(), &[conflicts::ON_ANY]].concat()).await;
}
