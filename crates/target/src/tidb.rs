//! TiDB: MySQL's wire above a distributed store.

use crate::dialect::{Access, Dialect, Isolation, MultiRowUpdate, WireKind};
use crate::mysql::family;
use crate::schema::{ColumnType, Table};

/// TiDB's dialect.
#[derive(Debug)]
pub struct TiDb;

impl Dialect for TiDb {
    fn name(&self) -> &'static str {
        "tidb"
    }

    fn wire(&self) -> WireKind {
        WireKind::Mysql
    }

    fn default_port(&self) -> u16 {
        4000
    }

    fn adapt(&self, sql: String) -> String {
        family::adapt(sql)
    }

    fn column_type(&self, kind: ColumnType) -> String {
        family::column_type(kind)
    }

    /// A clustered primary key is given at creation or never.
    fn primary_key_after_load(&self) -> bool {
        false
    }

    fn transactional_ddl(&self) -> bool {
        false
    }

    fn already_exists(&self, code: &str) -> bool {
        family::already_exists(code)
    }

    fn multi_row_update(&self) -> MultiRowUpdate {
        MultiRowUpdate::Join
    }

    /// SERIALIZABLE is refused by the server.
    fn isolations(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::RepeatableRead]
    }

    fn default_isolation(&self) -> Isolation {
        Isolation::RepeatableRead
    }

    /// REPEATABLE READ is snapshot isolation.
    fn passes_clause_3_4(&self, level: Isolation) -> bool {
        level != Isolation::ReadCommitted
    }

    fn begin(&self, isolation: Isolation, _access: Access) -> String {
        family::begin(isolation)
    }

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE TABLE {table}")
    }

    fn table_suffix(&self, _table: &Table) -> &'static str {
        family::TABLE_SUFFIX
    }
}
