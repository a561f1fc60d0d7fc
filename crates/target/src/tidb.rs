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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Column;

    const STOCK: Table = Table {
        name: "stock",
        columns: &[Column::new("s_w_id", ColumnType::Int), Column::new("s_i_id", ColumnType::Int)],
        primary_key: &["s_w_id", "s_i_id"],
        foreign_keys: &[],
        indexes: &[],
        spread_by: Some("s_w_id"),
    };

    #[test]
    fn partitions_lie_at_their_places_and_regions_begin_at_their_keys() {
        let placement = Placement {
            keys: 4,
            partitions: Some(2),
            localities: vec!["rack=a".into(), "rack=b".into()],
            ranges: Some(3),
            ..Placement::default()
        };
        let table = TiDb.create_table(&STOCK, true, false, &placement);
        let clause = "PARTITION BY RANGE (s_w_id) (\n  PARTITION p0 VALUES LESS THAN (3),\n  PARTITION p1 VALUES LESS THAN MAXVALUE\n)";
        assert!(table.ends_with(clause), "{table}");
        let spread = TiDb.spread_table(&STOCK, &placement);
        assert_eq!(spread[1], "ALTER TABLE stock PARTITION p0 PLACEMENT POLICY = `weighbridge_rack=a`");
        assert_eq!(spread[4], "SPLIT TABLE stock BY (2, 0), (3, 0)");
        let index = Index { name: "i", columns: &["s_w_id", "s_i_id"] };
        assert_eq!(TiDb.spread_index(&STOCK, &index, &placement), ["SPLIT TABLE stock INDEX i BY (2), (3)"]);
        assert!(TiDb.refuses_foreign_keys(&placement).is_some());
    }

    #[test]
    fn a_table_of_no_warehouse_is_left_whole() {
        let item = Table { name: "item", spread_by: None, ..STOCK };
        let placement = Placement { keys: 4, partitions: Some(2), ranges: Some(4), ..Placement::default() };
        assert!(!TiDb.create_table(&item, true, false, &placement).contains("PARTITION"));
        assert!(TiDb.spread_table(&item, &placement).is_empty());
    }
}
