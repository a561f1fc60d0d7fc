//! The tuning lab: what is a statement, an index, a habit worth on this database?
//!
//! A [`bench_case::BenchCase`] is what is timed; a [`runner::Runner`] runs it on sessions; [`repeat`] repeats several of them in
//! turns. Everything else ([`time`], lessons, advice, the lesson of the regions) is made of these.

pub mod advise;
pub mod bench_case;
pub mod error;
pub mod lesson;
pub mod lesson_runner;
pub mod regions;
pub mod repeat;
pub mod runner;
pub mod time;

pub use error::Error;

use record::query_plan::{How, Plan, TableAccess};
use record::run::Target;
use target::Url;

/// The database at `url`, as a result names it.
fn target_of(url: &Url, version: String) -> Target {
    let dialect = url.dialect();
    let kind = dialect.name().to_owned();
    let embedded = dialect.embedded();
    Target { kind, version, url: url.to_string(), embedded, ..Target::default() }
}

/// A plan as a result stores it.
fn recorded(plan: target::plan::Plan) -> Plan {
    let accesses = plan.accesses.into_iter().map(|access| TableAccess {
        table: access.table,
        index: access.index,
        how: match access.how {
            target::plan::How::Scan => How::Scan,
            target::plan::How::IndexScan => How::IndexScan,
            target::plan::How::Seek => How::Seek,
        },
        covering: access.covering,
        estimated_rows: access.estimated_rows,
        rows: access.rows,
    });
    Plan { lines: plan.lines, accesses: accesses.collect(), work: plan.work, unit: plan.unit }
}
