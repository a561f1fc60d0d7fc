//! What a server without data answers to a load and a run of TPC-C, on PostgreSQL's wire.

use ::tpcc::input::Lines;
use stub::{Answers, Canned};
use target::Value;
use target::null_reply::Kind::{BigInt, Int, Text, Varchar};
use target::postgres::Postgres;

use super::catalog::{Catalog, FACTS};
use super::{Style, statements};

/// The answer to `SELECT version()`.
const VERSION: &str = "PostgreSQL 15.0 (weighbridge null-server: it keeps no data and only answers)";

/// The answers of a server that says it has so many warehouses.
pub fn answers(warehouses: i32) -> Answers {
    let every_statement = Style::of(&Postgres).into_iter().flat_map(|style| statements(style, &Postgres));
    Answers::new(&Postgres, every_statement, Lines::CAPACITY, canned(warehouses))
}

/// The answers to what a load and a run ask besides.
fn canned(warehouses: i32) -> Vec<Canned> {
    // Kept as long as the process lives, as are all other texts that are answered.
    let text = |text: String| Value::Text(String::leak(text));
    let facts = Catalog::without_data(warehouses).facts();
    let facts = facts.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect();
    vec![
        Canned::rows("SELECT version()", &[], &[("version", Text)], vec![vec![VERSION.into()]]),
        Canned::rows(FACTS, &[], &[("name", Varchar), ("value", Varchar)], facts),
        Canned::rows("SELECT pg_backend_pid()", &[], &[("pg_backend_pid", Int)], vec![vec![1.into()]]),
        // The tables of a load are not there yet; a run asks for one table only.
        Canned::rows("SELECT 1 FROM pg_catalog.pg_class", &[Text], &[("?column?", Int)], vec![vec![1.into()]]),
        Canned::rows(
            "SELECT name, current_setting(name) FROM pg_settings",
            &[],
            &[("name", Text), ("current_setting", Text)],
            Vec::new(),
        ),
        Canned::rows("SELECT step, w_id FROM weighbridge_load", &[], &[("step", Varchar), ("w_id", Int)], Vec::new()),
        Canned::rows(
            "SELECT step, SUM(rows_loaded) FROM weighbridge_load",
            &[Int, Int],
            &[("step", Varchar), ("sum", BigInt)],
            Vec::new(),
        ),
        Canned::changed("INSERT INTO weighbridge_load (step, w_id, rows_loaded) VALUES ($1", &[Varchar, Int]),
        Canned::changed("UPDATE weighbridge_load SET", &[Varchar, Int, BigInt]),
        Canned::changed("INSERT INTO weighbridge ", &[Varchar, Varchar]),
        Canned::changed("DELETE FROM weighbridge ", &[Varchar]),
        // No routine is there: each is made.
        Canned::rows("SELECT obj_description", &[Text], &[("obj_description", Text)], Vec::new()),
    ]
}
