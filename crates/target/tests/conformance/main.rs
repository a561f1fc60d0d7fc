//! What every database must do for the floors above, written once and run on each.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod clusters;
mod errors;
mod own;
mod rules;
mod tls;

use std::pin::Pin;

use target::Url;

/// A rule, and what tries it on an empty database.
pub(crate) struct Case {
    rule: &'static str,
    holds: for<'a> fn(&'a Url) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
}

/// Cases out of async functions, named by the rule they try.
macro_rules! cases {
    ($($rule:ident),+ $(,)?) => {
        &[$($crate::Case { rule: stringify!($rule), holds: |url| Box::pin($rule(url)) }),+]
    };
}
pub(crate) use cases;

/// Tries all cases; fails with the names of the rules that don't hold.
async fn every_rule_holds(url: &str) {
    let url = Url::parse(url).unwrap();
    let mut topics = vec![rules::ON_ANY, own::CASES];
    if url.dialect().parallel_writers() {
        topics.push(rules::ON_SERVERS);
    }
    let mut broken = Vec::new();
    for case in topics.into_iter().flatten() {
        // In a task of its own, so that its panic ends nothing else.
        let (url, holds) = (url.clone(), case.holds);
        if tokio::spawn(async move { holds(&url).await }).await.is_err() {
            broken.push(case.rule);
        }
    }
    assert!(broken.is_empty(), "rules that don't hold on {url}: {broken:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    every_rule_holds(&format!("sqlite:{}", folder.path().join("conformance.db").display())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_conforms() {
    // A zone far from UTC, which must not show.
    let settings = [("timezone", "Asia/Tokyo")];
    let Some(server) = lab::or_skip(lab::Postgres::start_with(&settings)) else { return };
    server.create_database("conformance").unwrap();
    every_rule_holds(&server.url("conformance")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_postgres_conforms() {
    let Some(server) = lab::newest_postgres_or_skip() else { return };
    server.create_database("conformance").unwrap();
    every_rule_holds(&server.url("conformance")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_conforms() {
    let settings = [("default-time-zone", "+09:00")];
    let Some(server) = lab::or_skip(lab::MariaDb::start_with(&settings)) else { return };
    server.create_database("conformance").unwrap();
    every_rule_holds(&server.url("conformance")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_conforms_without_load_data() {
    let Some(server) = lab::or_skip(lab::MariaDb::start_with(&[("local-infile", "OFF")])) else { return };
    server.create_database("conformance").unwrap();
    every_rule_holds(&server.url("conformance")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tidb_conforms() {
    let Some(server) = lab::or_skip(lab::TiDb::start()) else { return };
    server.create_database("conformance").unwrap();
    every_rule_holds(&server.url("conformance")).await;
}
