//! Databases to test on: SQLite in a temporary folder, and a PostgreSQL server of the test's own.
#![allow(dead_code, reason = "each test binary uses its share")]

use std::sync::Arc;

use target::{Session, Url};
use tempfile::TempDir;
use tpcc::input::Warehouses;
use tpcc::mix::Mix;
use tpcc::terminal::Terminal;
use workload::tpcc::catalog::Catalog;
use workload::tpcc::load::{Existing, LoadPlan, LoadProgress, load};
use workload::tpcc::{Output, Profile, Style, execute, prepare};

/// Seed of every test's data and inputs.
pub(crate) const SEED: u64 = 42;

/// A database that vanishes with the value.
pub(crate) struct Database {
    pub(crate) url: Url,
    _place: NamedAddress,
}

enum NamedAddress {
    Folder(TempDir),
    Postgres(lab::Postgres),
    MariaDb(lab::MariaDb),
    TiDb(lab::TiDb),
}

impl Database {
    /// An empty SQLite file.
    pub(crate) fn sqlite() -> Database {
        let folder = tempfile::tempdir().unwrap();
        let url = Url::parse(&format!("sqlite:{}", folder.path().join("tpcc.db").display())).unwrap();
        Database { url, _place: NamedAddress::Folder(folder) }
    }

    /// An empty database on a PostgreSQL server, if one can be had.
    pub(crate) fn postgres() -> Option<Database> {
        let server = lab::postgres_or_skip()?;
        server.create_database("tpcc").unwrap();
        let url = Url::parse(&server.url("tpcc")).unwrap();
        Some(Database { url, _place: NamedAddress::Postgres(server) })
    }

    /// An empty database on a MariaDB server, if one can be had.
    pub(crate) fn mariadb() -> Option<Database> {
        let server = lab::mariadb_or_skip()?;
        server.create_database("tpcc").unwrap();
        let url = Url::parse(&server.url("tpcc")).unwrap();
        Some(Database { url, _place: NamedAddress::MariaDb(server) })
    }

    /// An empty database on a TiDB server, if one can be had.
    pub(crate) fn tidb() -> Option<Database> {
        let server = lab::tidb_or_skip()?;
        server.create_database("tpcc").unwrap();
        let url = Url::parse(&server.url("tpcc")).unwrap();
        Some(Database { url, _place: NamedAddress::TiDb(server) })
    }

    /// Loads it, in place of what it holds.
    pub(crate) async fn load(&self, warehouses: i32) {
        let catalog = Catalog::new(SEED, warehouses, 1_790_000_000_000_000, false);
        let plan = LoadPlan { jobs: 2, existing: Existing::Replace, ..LoadPlan::new(catalog) };
        let report = load(&self.url.clone().into(), plan, Arc::new(LoadProgress::default())).await.unwrap();
        assert!(report.complete);
    }

    /// A session.
    pub(crate) async fn session(&self) -> Session {
        Session::connect(&self.url).await.unwrap()
    }

    /// Runs SQL in which amounts stand in braces: `{10.00}` is 1000 where decimals are stored as integers.
    pub(crate) async fn execute(&self, sql: &str) {
        let mut adapted = String::new();
        for part in sql.split('{') {
            match part.split_once('}') {
                Some((amount, rest)) if self.url.file().is_some() => adapted += &(amount.replace('.', "") + rest),
                Some((amount, rest)) => adapted += &(amount.to_owned() + rest),
                None => adapted += part,
            }
        }
        self.session().await.execute(&adapted).await.unwrap_or_else(|e| panic!("{e} in {adapted}"));
    }

    /// Enters transactions of the standard mix, one after the other, in every style by turns.
    pub(crate) async fn drive(&self, warehouses: i32, transactions: usize) -> Vec<Output> {
        let mut session = self.session().await;
        let catalog = Catalog::read_complete(&mut session).await.unwrap();
        let active = Warehouses { first: 1, count: warehouses };
        let terminal = |number: i32| {
            let (w_id, d_id) = (number / 10 + 1, number % 10 + 1);
            Terminal::new(SEED, number as u64, w_id, d_id, active, catalog.run, Mix::standard())
        };
        let mut terminals: Vec<Terminal> = (0..warehouses * 10).map(terminal).collect();
        let isolation = session.dialect().default_isolation();
        let styles = Style::of(session.dialect());
        let mut sessions = Vec::new();
        for style in &styles {
            let mut session = self.session().await;
            let profile = Profile::new(*style, isolation, session.dialect()).unwrap();
            prepare(&mut session, profile).await.unwrap();
            sessions.push((session, profile));
        }
        let mut outputs = Vec::with_capacity(transactions);
        for turn in 0..transactions {
            let (session, profile) = &mut sessions[turn % styles.len()];
            let count = terminals.len();
            let input = terminals[turn % count].next_input();
            let output = execute(session, *profile, &input).await;
            outputs.push(output.unwrap_or_else(|e| panic!("{e} in {} of {input:?}", profile.style)));
        }
        outputs
    }
}
