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

use record::run::Target;
use target::Url;

/// The database at `url`, as a result names it.
fn target_of(url: &Url, version: String) -> Target {
    let dialect = url.dialect();
    let kind = dialect.name().to_owned();
    let embedded = dialect.embedded();
    Target { kind, version, url: url.to_string(), embedded, ..Target::default() }
}
