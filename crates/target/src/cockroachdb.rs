//! CockroachDB.

use crate::ddl::{Ddl, column_definitions};
use crate::dialect::{Access, Dialect, Isolation, Verified};
use crate::finding::{Level, Setting, Wanted};
use crate::introspection::Introspection;
use crate::placement::{DataPlacement, Placement, Spread};
use crate::plan::{Explain, Form};
use crate::postgres;
use crate::schema::{ColumnType, Index, Table};
use crate::topology::TopologyQuery;
use crate::wire::WireKind;

/// CockroachDB's dialect.
#[derive(Debug)]
pub struct CockroachDb;

/// The hidden column that makes a key for a table that has none.
const ROW_ID: &str = "row_id";

/// A table or an index, as the statements that spread it name it.
struct Relation<'a> {
    /// `TABLE stock`, `INDEX customer@customer_by_name`.
    sql: String,
    /// What the names of its partitions begin with: they must be unique in a table.
    name: &'a str,
    column: &'static str,
}

/// Partitions, their places, ranges and leases. All of it before the rows, so that each row lands where it belongs.
fn spread(relation: &Relation<'_>, placement: &Placement) -> Vec<String> {
    let Relation { sql, name, column } = relation;
    let mut statements = Vec::new();
    let partitions = placement.partitions();
    if !partitions.is_empty() {
        let bound = |number: usize| match partitions.get(number) {
            Some(keys) if number > 0 => keys.start().to_string(),
            Some(_) => "MINVALUE".to_owned(),
            None => "MAXVALUE".to_owned(),
        };
        let parts: Vec<String> = (0..partitions.len())
            .map(|i| format!("PARTITION {name}_p{i} VALUES FROM ({}) TO ({})", bound(i), bound(i + 1)))
            .collect();
        statements.push(format!("ALTER {sql} PARTITION BY RANGE ({column}) (\n  {}\n)", parts.join(",\n  ")));
    }
    statements.extend(placement.localities.iter().enumerate().map(|(i, locality)| {
        format!("ALTER PARTITION {name}_p{i} OF {sql} CONFIGURE ZONE USING constraints = '[+{locality}]'")
    }));
    let points: Vec<String> = placement.split_points().iter().map(|key| format!("({key})")).collect();
    if !points.is_empty() {
        statements.push(format!("ALTER {sql} SPLIT AT VALUES {}", points.join(", ")));
    }
    if placement.scatter {
        statements.push(format!("ALTER {sql} SCATTER"));
    }
    statements
}

impl Dialect for CockroachDb {
    fn name(&self) -> &'static str {
        "cockroachdb"
    }

    fn wire(&self) -> WireKind {
        WireKind::Postgres
    }

    fn verified(&self) -> Verified {
        Verified::Grammar(
            "every statement by CockroachDB's own parser 0.25.2, retries on PostgreSQL 15 at SERIALIZABLE",
        )
    }

    fn default_port(&self) -> u16 {
        26257
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

    fn instant(&self, seconds_ago: u64) -> Option<String> {
        Some(format!("SELECT CAST(clock_timestamp() - INTERVAL '{seconds_ago} seconds' AS TEXT)"))
    }

    fn begin_at(&self, instant: &str) -> String {
        let mode = self.begin(self.default_isolation(), Access::ReadOnly);
        format!("{mode}, AS OF SYSTEM TIME '{}'", instant.replace('\'', "''"))
    }

    /// It ends what a connection was doing when that is gone.
    fn cancel(&self, _backend: &str) -> Option<String> {
        None
    }
}

impl Ddl for CockroachDb {
    /// By their width: INTEGER is one of 64 bits here.
    fn column_type(&self, kind: ColumnType) -> String {
        match kind {
            ColumnType::SmallInt => "INT2".into(),
            ColumnType::Int => "INT4".into(),
            ColumnType::BigInt => "INT8".into(),
            kind => postgres::column_type(kind),
        }
    }

    /// Rows live in the primary key's own ranges: a key added later rewrites the table.
    fn primary_key_after_load(&self) -> bool {
        false
    }

    /// An index must be there to be partitioned and split before the rows come; IMPORT fills it on the way.
    fn indexes_after_load(&self) -> bool {
        false
    }

    /// A table without a key would get a hidden one in the order of insertion: one hot range, and nothing to spread by.
    fn columns(&self, table: &Table) -> Vec<String> {
        let mut columns = column_definitions(self, table);
        if table.primary_key.is_empty() {
            columns.push(format!("{ROW_ID} UUID NOT VISIBLE NOT NULL DEFAULT gen_random_uuid()"));
        }
        columns
    }

    fn primary_key(&self, table: &Table) -> Vec<&'static str> {
        match table.primary_key {
            [] => table.spread_by.into_iter().chain([ROW_ID]).collect(),
            key => key.to_vec(),
        }
    }

    /// Schema changes are jobs that run after the transaction.
    fn transactional_ddl(&self) -> bool {
        false
    }

    /// Duplicate table, duplicate object.
    fn already_exists(&self, code: &str) -> bool {
        matches!(code, "42P07" | "42710")
    }

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE {table}")
    }

    fn import(&self, table: &Table, urls: &[String]) -> Option<String> {
        let urls: Vec<String> = urls.iter().map(|url| format!("'{}'", url.replace('\'', "''"))).collect();
        let name = table.name;
        let columns = table.column_list();
        Some(format!("IMPORT INTO {name} ({columns}) CSV DATA ({}) WITH nullif = ''", urls.join(", ")))
    }

    fn storing(&self) -> Option<&'static str> {
        Some("STORING")
    }
}

impl DataPlacement for CockroachDb {
    fn spreads(&self) -> &'static [Spread] {
        &[Spread::Partitions, Spread::Localities, Spread::Ranges, Spread::Scatter]
    }

    fn usual_localities(&self, partitions: u32) -> Vec<String> {
        (0..partitions).map(|i| format!("rack={i}")).collect()
    }

    fn spread_table(&self, table: &Table, placement: &Placement) -> Vec<String> {
        let Some(column) = table.spread_by else { return Vec::new() };
        spread(&Relation { sql: format!("TABLE {}", table.name), name: table.name, column }, placement)
    }

    fn spread_index(&self, table: &Table, index: &Index, placement: &Placement) -> Vec<String> {
        let Some(column) = table.spread_by else { return Vec::new() };
        let sql = format!("INDEX {}@{}", table.name, index.name);
        spread(&Relation { sql, name: index.name, column }, placement)
    }

    fn snapshot_rate(&self) -> Option<&'static str> {
        Some("kv.snapshot_rebalance.max_rate")
    }

    /// Ranges in the replication queues of all stores, and ranges that lie where their zone forbids.
    fn unsettled(&self) -> Option<&'static str> {
        Some(
            "SELECT CAST((SELECT COALESCE(SUM(CAST(metrics->>'queue.replicate.pending' AS DECIMAL)), 0) \
             FROM crdb_internal.kv_store_status) \
             + (SELECT COALESCE(SUM(violating_ranges), 0) FROM system.replication_constraint_stats) AS INT8)",
        )
    }
}

impl Introspection for CockroachDb {
    fn recognises(&self, version: &str) -> bool {
        version.starts_with("CockroachDB")
    }

    fn settings(&self) -> Option<&'static str> {
        Some(
            "SELECT variable, value FROM [SHOW CLUSTER SETTINGS] WHERE variable IN ( \
             'kv.raft_log.disable_synchronization_unsafe', 'kv.range_merge.queue.enabled', \
             'kv.rangefeed.enabled', 'kv.snapshot_rebalance.max_rate', 'kv.transaction.max_intents_bytes', \
             'kv.transaction.write_pipelining.enabled', 'server.time_until_store_dead', \
             'sql.defaults.default_int_size', 'sql.defaults.serial_normalization', \
             'sql.stats.automatic_collection.enabled', 'sql.txn.read_committed_isolation.enabled') ORDER BY variable",
        )
    }

    fn explain(&self) -> Option<Explain> {
        Some(Explain { plain: "EXPLAIN", run: "EXPLAIN ANALYZE", form: Form::CockroachTree })
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        TOPOLOGY
    }

    fn judged_settings(&self) -> &'static [Setting] {
        SETTINGS
    }
}

const TOPOLOGY: &[TopologyQuery] = &[
    // The second needs fewer privileges, and does not say who lives.
    TopologyQuery::Nodes(&[
        "SELECT CAST(node_id AS TEXT) AS node, address, locality, build_tag AS version, is_live AS live \
         FROM crdb_internal.gossip_nodes ORDER BY node_id",
        "SELECT CAST(node_id AS TEXT) AS node, address, locality, build_tag AS version \
         FROM crdb_internal.kv_node_status ORDER BY node_id",
    ]),
    TopologyQuery::Parts {
        unit: None,
        queries: &["SELECT table_name, estimated_row_count AS row_count, locality AS placement FROM [SHOW TABLES] \
             WHERE schema_name = current_schema() AND type = 'table'"],
        renamed: &[],
    },
    // Since v23.1 a range may hold several tables: it is counted with each of them. Before, each index had ranges of
    // its own, and there were no options.
    TopologyQuery::Parts {
        unit: Some("ranges"),
        queries: &[
            "SELECT table_name, NULLIF(index_name, table_name || '_pkey') AS index_name, \
             CAST(lease_holder AS TEXT) AS leader, COUNT(*) AS units, \
             CAST(SUM(range_size_mb) * 1048576 AS INT8) AS bytes, \
             CAST(MIN(array_length(replicas, 1)) AS INT8) AS replicas \
             FROM [SHOW RANGES FROM CURRENT_CATALOG WITH INDEXES, DETAILS] WHERE schema_name = current_schema() \
             GROUP BY table_name, index_name, lease_holder",
            "SELECT CAST(lease_holder AS TEXT) AS leader, COUNT(*) AS units, \
             CAST(SUM(range_size_mb) * 1048576 AS INT8) AS bytes, \
             CAST(MIN(array_length(replicas, 1)) AS INT8) AS replicas \
             FROM [SHOW RANGES FROM TABLE {table}] GROUP BY lease_holder",
        ],
        renamed: &[],
    },
    TopologyQuery::Parts {
        unit: None,
        queries: &[
            "SELECT NULLIF(split_part(index_name, '@', 2), split_part(index_name, '@', 1) || '_pkey') AS index_name, \
             partition_name, zone_config AS placement FROM [SHOW PARTITIONS FROM TABLE {table}]",
        ],
        renamed: &[],
    },
    TopologyQuery::Notes(&["SELECT 'zone configuration: ' || raw_config_sql AS note FROM [SHOW ZONE CONFIGURATIONS] \
         WHERE target = 'RANGE default' OR target LIKE 'DATABASE %' OR target LIKE 'TABLE %'"]),
    TopologyQuery::Unsupported(
        "leaders are leaseholders; a range of several tables or indexes counts with each, in number and in bytes",
    ),
];

const SETTINGS: &[Setting] = &[
    Setting::new(
        "kv.raft_log.disable_synchronization_unsafe",
        Wanted::OneOf(&["false"]),
        Level::Bad,
        "committed transactions can be lost in a crash of the machines (3.5)",
    )
    .is_deviation(),
    Setting::new(
        "sql.stats.automatic_collection.enabled",
        Wanted::OneOf(&["true"]),
        Level::Warn,
        "plans are made from the statistics of the load, while the tables grow",
    ),
    Setting::new(
        "kv.transaction.write_pipelining.enabled",
        Wanted::OneOf(&["true"]),
        Level::Warn,
        "each write waits for its replicas before the next is begun",
    ),
];
