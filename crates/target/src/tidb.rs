//! TiDB: MySQL's wire above a distributed store.

use crate::ddl::Ddl;
use crate::dialect::{Access, Dialect, Isolation, MultiRowUpdate, Verified};
use crate::finding::{Level, Setting, Wanted};
use crate::introspection::Introspection;
use crate::mysql::family;
use crate::placement::{DataPlacement, Placement, Spread};
use crate::plan::{Explain, Form};
use crate::schema::{ColumnType, Index, Table};
use crate::topology::TopologyQuery;
use crate::wire::WireKind;

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

    fn verified(&self) -> Verified {
        Verified::RealServer(
            "TiDB of 2025-11-26, which calls itself 8.4: its SQL layer on the embedded store, one process; not with TiKV and PD",
        )
    }

    fn default_port(&self) -> u16 {
        4000
    }

    fn adapt(&self, sql: String) -> String {
        family::adapt(sql)
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
}

impl Ddl for TiDb {
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

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE TABLE {table}")
    }

    fn table_suffix(&self, _table: &Table) -> &'static str {
        family::TABLE_SUFFIX
    }
}

impl DataPlacement for TiDb {
    fn spreads(&self) -> &'static [Spread] {
        &[Spread::Partitions, Spread::Localities, Spread::Ranges]
    }

    fn spread_clause(&self, table: &Table, placement: &Placement) -> String {
        family::spread_clause(table, placement)
    }

    fn refuses_foreign_keys(&self, placement: &Placement) -> Option<&'static str> {
        family::refuses_foreign_keys(placement)
    }

    /// A policy per locality, and the partitions bound to theirs; then the regions, which TiDB scatters itself.
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

impl Introspection for TiDb {
    fn recognises(&self, version: &str) -> bool {
        version.contains("-TiDB-")
    }

    fn explain(&self) -> Option<Explain> {
        Some(Explain { plain: "EXPLAIN", run: "EXPLAIN ANALYZE", form: Form::TidbOperators })
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        TOPOLOGY
    }

    fn judged_settings(&self) -> &'static [Setting] {
        SETTINGS
    }
}

/// Cuts a table or an index at the first keys of its ranges; a table wants a value for every column of its key.
fn regions(relation: &str, columns: usize, placement: &Placement) -> Option<String> {
    let points: Vec<String> =
        placement.split_points().iter().map(|key| format!("({key}{})", ", 0".repeat(columns - 1))).collect();
    (!points.is_empty()).then(|| format!("SPLIT {relation} BY {}", points.join(", ")))
}

const TOPOLOGY: &[TopologyQuery] = &[
    // Stores are named by their numbers, as the leaders of regions are. The second is for a server without TiKV.
    TopologyQuery::Nodes(&[
        "SELECT CAST(store_id AS CHAR) AS node, address, 'tikv' AS role, version, store_state_name = 'Up' AS live, \
         store_state_name AS state, REPLACE(REPLACE(REPLACE(REPLACE(CAST(label AS CHAR), \
         '\", \"value\": \"', '='), '\"}, {\"key\": \"', ','), '[{\"key\": \"', ''), '\"}]', '') AS locality \
         FROM information_schema.tikv_store_status \
         UNION ALL \
         SELECT instance, instance, type, version, NULL, NULL, NULL FROM information_schema.cluster_info WHERE type <> 'tikv'",
        "SELECT instance AS node, instance AS address, type AS role, version FROM information_schema.cluster_info",
    ]),
    family::TABLES_AND_PARTITIONS,
    TopologyQuery::Parts {
        unit: None,
        queries: &["SELECT table_name AS table_name, NULL AS partition_name, \
             CONCAT('placement policy ', tidb_placement_policy_name) AS placement FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND tidb_placement_policy_name IS NOT NULL \
             UNION ALL \
             SELECT table_name, partition_name, CONCAT('placement policy ', tidb_placement_policy_name) \
             FROM information_schema.partitions \
             WHERE table_schema = DATABASE() AND partition_name IS NOT NULL AND tidb_placement_policy_name IS NOT NULL"],
        renamed: &[],
    },
    // A region of several tables or indexes counts with each of them. The second query is for a server without TiKV:
    // there the regions of a table's indexes and partitions are in one count with its own.
    TopologyQuery::Parts {
        unit: Some("regions"),
        queries: &[
            "SELECT s.table_name AS table_name, NULLIF(s.index_name, '') AS index_name, \
             NULLIF(s.partition_name, '') AS partition_name, CAST(l.store_id AS CHAR) AS leader, COUNT(*) AS units, \
             MIN(p.peers) AS replicas \
             FROM information_schema.tikv_region_status s \
             JOIN information_schema.tikv_region_peers l ON l.region_id = s.region_id AND l.is_leader = 1 \
             JOIN (SELECT region_id, COUNT(*) AS peers FROM information_schema.tikv_region_peers GROUP BY region_id) p \
             ON p.region_id = s.region_id \
             WHERE s.db_name = DATABASE() \
             GROUP BY s.table_name, s.index_name, s.partition_name, l.store_id",
            "SHOW TABLE {table} REGIONS",
        ],
        renamed: &[("leader", "LEADER_STORE_ID"), ("replica_list", "PEERS")],
    },
    TopologyQuery::Notes(&["SELECT CONCAT('placement policy ', policy_name, ': ', CONCAT_WS(', ', \
         CONCAT('primary region ', NULLIF(primary_region, '')), CONCAT('regions ', NULLIF(regions, '')), \
         CONCAT('constraints ', NULLIF(constraints, '')), CONCAT('followers ', followers))) AS note \
         FROM information_schema.placement_policies"]),
    TopologyQuery::Unsupported("a region that holds several tables or indexes counts with each of them"),
];

const SETTINGS: &[Setting] = &[
    Setting::new(
        "tidb_txn_mode",
        Wanted::OneOf(&["pessimistic"]),
        Level::Warn,
        "conflicts are found at COMMIT only, and whole transactions are tried again",
    ),
    Setting::new(
        "tidb_enable_prepared_plan_cache",
        Wanted::OneOf(&["ON"]),
        Level::Warn,
        "every execution of a prepared statement is planned anew",
    ),
    Setting::new(
        "tidb_mem_quota_query",
        Wanted::AtLeast(1 << 30),
        Level::Warn,
        "raise tidb_mem_quota_query to 1 GiB or more: checks and loads can be cut for their memory",
    ),
    family::PREPARED_STATEMENTS,
    family::LOCAL_INFILE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Column;

    const STOCK: Table = Table {
        name: "stock",
        columns: &[Column::new("s_w_id", ColumnType::Int), Column::new("s_i_id", ColumnType::Int)],
        primary_key: &["s_w_id", "s_i_id"],
        foreign_keys: &[],
        checks: &[],
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
