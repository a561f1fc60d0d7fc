//! CockroachDB.

use crate::dialect::{Access, Dialect, Isolation, WireKind, column_definitions};
use crate::placement::{Placement, Spread};
use crate::schema::{ColumnType, Index, Table};

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

    fn default_port(&self) -> u16 {
        26257
    }

    /// By their width: INTEGER is one of 64 bits here.
    fn column_type(&self, kind: ColumnType) -> String {
        match kind {
            ColumnType::SmallInt => "INT2".into(),
            ColumnType::Int => "INT4".into(),
            ColumnType::BigInt => "INT8".into(),
            ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
            ColumnType::Char(n) => format!("CHAR({n})"),
            ColumnType::Varchar(n) => format!("VARCHAR({n})"),
            ColumnType::Timestamp => "TIMESTAMP".into(),
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

    fn import(&self, table: &Table, urls: &[String]) -> Option<String> {
        let urls: Vec<String> = urls.iter().map(|url| format!("'{}'", url.replace('\'', "''"))).collect();
        let (name, columns) = (table.name, table.column_list());
        Some(format!("IMPORT INTO {name} ({columns}) CSV DATA ({}) WITH nullif = ''", urls.join(", ")))
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

    fn instant(&self, seconds_ago: u64) -> Option<String> {
        Some(format!("SELECT CAST(clock_timestamp() - INTERVAL '{seconds_ago} seconds' AS TEXT)"))
    }

    fn begin_at(&self, instant: &str) -> String {
        let mode = self.begin(self.default_isolation(), Access::ReadOnly);
        format!("{mode}, AS OF SYSTEM TIME '{}'", instant.replace('\'', "''"))
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

    fn unsafe_settings(&self) -> &'static [(&'static str, &'static str, &'static str)] {
        &[(
            "kv.raft_log.disable_synchronization_unsafe",
            "true",
            "committed transactions can be lost in a crash of the machines (3.5)",
        )]
    }
}
