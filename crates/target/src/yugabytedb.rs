//! YugabyteDB.

use crate::RoutineLanguage;
use crate::dialect::{Dialect, Isolation, WireKind};

/// YugabyteDB's dialect (its SQL interface, YSQL).
#[derive(Debug)]
pub struct YugabyteDb;

impl Dialect for YugabyteDb {
    fn name(&self) -> &'static str {
        "yugabytedb"
    }

    fn wire(&self) -> WireKind {
        WireKind::Postgres
    }

    fn default_port(&self) -> u16 {
        5433
    }

    /// Rows live in the primary key's own tablets: a key added later rewrites the table.
    fn primary_key_after_load(&self) -> bool {
        false
    }

    /// Each DDL statement commits by itself.
    fn transactional_ddl(&self) -> bool {
        false
    }

    /// Duplicate table, duplicate object.
    fn already_exists(&self, code: &str) -> bool {
        matches!(code, "42P07" | "42710")
    }

    fn routines(&self) -> Option<RoutineLanguage> {
        Some(RoutineLanguage::PlPgSql)
    }

    fn isolations(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable]
    }

    fn default_isolation(&self) -> Isolation {
        Isolation::RepeatableRead
    }

    /// As in PostgreSQL: REPEATABLE READ is snapshot isolation.
    fn passes_clause_3_4(&self, level: Isolation) -> bool {
        level != Isolation::ReadCommitted
    }

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE {table}")
    }
}
