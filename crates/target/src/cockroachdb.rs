//! CockroachDB.

use crate::dialect::{Dialect, Isolation, WireKind};

/// CockroachDB's dialect.
#[derive(Debug)]
pub struct CockroachDb;

impl Dialect for CockroachDb {
    fn name(&self) -> &'static str {
        "cockroachdb"
    }

    fn wire(&self) -> WireKind {
        WireKind::Postgres
    }

    fn default_port(&self) -> u16 {
        26257
    }

    /// Rows live in the primary key's own ranges: a key added later rewrites the table.
    fn primary_key_after_load(&self) -> bool {
        false
    }

    /// Schema changes are jobs that run after the transaction.
    fn transactional_ddl(&self) -> bool {
        false
    }

    /// Duplicate table, duplicate object.
    fn already_exists(&self, code: &str) -> bool {
        matches!(code, "42P07" | "42710")
    }

    fn isolations(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::Serializable]
    }

    fn default_isolation(&self) -> Isolation {
        Isolation::Serializable
    }

    fn passes_clause_3_4(&self, level: Isolation) -> bool {
        level != Isolation::ReadCommitted
    }

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE {table}")
    }
}
