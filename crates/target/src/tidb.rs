//! TiDB: MySQL's wire above a distributed store.

use crate::dialect::{Access, Dialect, Isolation, MultiRowUpdate, WireKind};
use crate::mysql::family;
use crate::placement::{Placement, Spread};
use crate::schema::{ColumnType, Index, Table};

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

    fn spreads(&self) -> &'static [Spread] {
        &[Spread::Partitions, Spread::Localities, Spread::Ranges]
    }

    fn spread_clause(&self, table: &Table, placement: &Placement) -> String {
        family::spread_clause(table, placement)
    }

    fn refuses_foreign_keys(&self, placement: &Placement) -> Option<&'static str> {
        family::refuses_foreign_keys(placement)
    }

    /// A policy for each place, and the partitions bound to theirs; then the regions, which TiDB strews by itself.
    fn spread_table(&self, table: &Table, placement: &Placement) -> Vec<String> {
        if table.spread_by.is_none() {
            return Vec::new();
        }
        let name = table.name;
        let mut statements = Vec::new();
        for (i, locality) in placement.localities.iter().enumerate() {
            let policy = format!("`weighbridge_{locality}`");
            statements.push(format!("CREATE PLACEMENT POLICY IF NOT EXISTS {policy} CONSTRAINTS = '[+{locality}]'"));
            statements.push(format!("ALTER TABLE {name} PARTITION p{i} PLACEMENT POLICY = {policy}"));
        }
        // Rows without a key lie in the order of a hidden number: there is nothing to cut them by.
        if !table.primary_key.is_empty() {
            statements.extend(regions(&format!("TABLE {name}"), table.primary_key.len(), placement));
        }
        statements
    }

    fn spread_index(&self, table: &Table, index: &Index, placement: &Placement) -> Vec<String> {
        let split =
            table.spread_by.and_then(|_| regions(&format!("TABLE {} INDEX {}", table.name, index.name), 1, placement));
        split.into_iter().collect()
    }
}

/// Cuts a table or an index at the first keys of its ranges; a table wants a value for every column of its key.
fn regions(relation: &str, columns: usize, placement: &Placement) -> Option<String> {
    let points: Vec<String> =
        placement.split_points().iter().map(|key| format!("({key}{})", ", 0".repeat(columns - 1))).collect();
    (!points.is_empty()).then(|| format!("SPLIT {relation} BY {}", points.join(", ")))
}
