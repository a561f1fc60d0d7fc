//! `weighbridge null-server`: a server without data on PostgreSQL's wire, so that a client is weighed with its network path.

use stub::{Answers, Canned, Server};
use target::null::Delay;
use target::null_reply::Kind::{BigInt, Int, Text, Varchar};
use target::postgres::Postgres;
use target::{Statement, Value};
use workload::tpcc::catalog::{Catalog, FACTS};
use workload::tpcc::{Style, statements};

use super::{Ended, Failure, Status, cores};
use crate::cli::NullServerArgs;
use crate::{interrupt, output};

/// What it says in its greeting: a version whose protocol it speaks.
const GREETING: &str = "15.0 (weighbridge null-server)";

/// What it answers to `SELECT version()`.
const VERSION: &str = "PostgreSQL 15.0 (weighbridge null-server: it keeps no data and only answers)";

pub(crate) fn run(args: &NullServerArgs) -> Ended {
    let delay = Delay::new(args.latency, args.spread).map_err(|e| Failure::Usage(e.to_string()))?;
    let mut stop = interrupt::stop();
    let answers = Answers::new(&Postgres, every_statement(), canned(args.warehouses));
    let server = Server::start(args.listen, answers, GREETING, delay, cores())
        .map_err(|e| Failure::Failed(format!("can't serve at {}: {e}", args.listen)))?;
    output::print(&format!("postgres://null@{}/null", server.address()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    // Whether a signal came or nobody can send one any more: it is over.
    let _ = runtime.block_on(stop.wait_for(|stop| *stop));
    Ok(Status::Done)
}

fn every_statement() -> impl Iterator<Item = &'static Statement> {
    Style::of(&Postgres).into_iter().flat_map(|style| statements(style, &Postgres))
}

/// The answers to what `run` and `load` ask besides.
fn canned(warehouses: i32) -> Vec<Canned> {
    // Kept as long as the process lives, as are all other texts that are answered.
    let text = |text: String| Value::Text(String::leak(text));
    let facts = Catalog::without_data(warehouses).facts();
    let facts = facts.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect();
    vec![
        Canned::rows("SELECT version()", &[], &[("version", Text)], vec![vec![VERSION.into()]]),
        Canned::rows(FACTS, &[], &[("name", Varchar), ("value", Varchar)], facts),
        Canned::rows("SELECT pg_backend_pid()", &[], &[("pg_backend_pid", Int)], vec![vec![1.into()]]),
        // The tables of a load are not there yet; those of a run are never asked for but one.
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
