//! MovR against a session: its tables, and its rows over the bulk paths.
//!
//! It is made, filled and dropped as every [`crate::data_set`].

pub mod rows;
pub mod schema;

use ::movr::{Movr, Table as Name};
use target::bulk::Bulk;
use target::schema::Table;

use crate::data_set::DataSet;

pub use schema::TABLES;

/// What is to be loaded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The size: 1 is a million rides; any above 0 up to [`movr::MAX_SCALE`](::movr::MAX_SCALE).
    pub scale: f64,
    /// The seed of all rows.
    pub seed: u64,
    /// Whether the foreign keys are declared: after the rows, or with the tables where the database can't later.
    pub foreign_keys: bool,
}

impl Options {
    /// The data set as pure code.
    pub fn data(&self) -> Movr {
        Movr::new(self.seed, self.scale)
    }
}

impl DataSet for Options {
    fn name(&self) -> &str {
        "MovR"
    }

    fn tables(&self) -> &[&'static Table] {
        &TABLES
    }

    fn rows(&self, table: usize) -> u64 {
        self.data().rows(Name::ALL[table])
    }

    fn write(&self, table: usize, position: u64, sink: &mut Bulk<'_>) {
        rows::write(&self.data(), Name::ALL[table], position, sink);
    }

    fn foreign_keys(&self) -> bool {
        self.foreign_keys
    }
}
