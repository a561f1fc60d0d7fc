//! What a database tells about itself.

use crate::finding::Setting;
use crate::plan::Explain;
use crate::topology::TopologyQuery;

/// How a database is asked about its version, settings, plans and topology.
pub trait Introspection {
    /// Whether this is what the database answers to `SELECT version()`.
    fn recognises(&self, version: &str) -> bool;

    /// The EXPLAIN statements; `None` if the database shows no plans.
    fn explain(&self) -> Option<Explain> {
        None
    }

    /// The catalog queries that show where the data are.
    fn topology(&self) -> &'static [TopologyQuery] {
        &[]
    }

    /// The settings that are judged before a measurement.
    fn judged_settings(&self) -> &'static [Setting] {
        &[]
    }

    /// The query for the names and values of the settings that matter to a measurement, if the wire's query does not
    /// serve.
    fn settings(&self) -> Option<&'static str> {
        None
    }
}
