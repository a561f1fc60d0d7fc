//! YugabyteDB.

use crate::ddl::Ddl;
use crate::dialect::{Dialect, Isolation, Verified};
use crate::finding::{Level, Setting, Wanted};
use crate::introspection::Introspection;
use crate::placement::{DataPlacement, Placement, Sharding, Spread};
use crate::plan::{Explain, Form};
use crate::schema::{ColumnType, Table};
use crate::topology::TopologyQuery;
use crate::wire::WireKind;
use crate::{RoutineLanguage, postgres};

/// YugabyteDB's dialect (its SQL interface, YSQL).
#[derive(Debug)]
pub struct YugabyteDb;

/// The clause that cuts a table or an index into tablets. Where there is nothing to cut by range, hash serves.
fn split(placement: &Placement, by_range: bool) -> String {
    match placement.tablets {
        None | Some(0) => String::new(),
        Some(1) if by_range => String::new(),
        Some(_) if by_range => {
            let points: Vec<String> = placement.tablet_points().iter().map(|key| format!("({key})")).collect();
            format!(" SPLIT AT VALUES ({})", points.join(", "))
        }
        Some(tablets) => format!(" SPLIT INTO {tablets} TABLETS"),
    }
}

fn by_range(placement: &Placement) -> bool {
    placement.sharding == Some(Sharding::Range)
}

impl Dialect for YugabyteDb {
    fn name(&self) -> &'static str {
        "yugabytedb"
    }

    fn wire(&self) -> WireKind {
        WireKind::Postgres
    }

    fn verified(&self) -> Verified {
        Verified::Grammar("its own clauses by their documented form, everything else on PostgreSQL 15")
    }

    fn default_port(&self) -> u16 {
        5433
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
}

impl Ddl for YugabyteDb {
    fn column_type(&self, kind: ColumnType) -> String {
        postgres::column_type(kind)
    }

    fn storing(&self) -> Option<&'static str> {
        Some("INCLUDE")
    }

    /// Rows live in the primary key's own tablets: a key added later rewrites the table.
    fn primary_key_after_load(&self) -> bool {
        false
    }

    /// Each DDL statement commits on its own.
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

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE {table}")
    }

    fn copy(&self, into: &str, columns: &str, rows_per_commit: Option<u32>) -> String {
        let commits = rows_per_commit.map_or(String::new(), |rows| format!(", ROWS_PER_TRANSACTION {rows}"));
        format!("COPY {into} ({columns}) FROM STDIN (FORMAT binary{commits})")
    }

    /// Rows go straight into their tablets, without the intents of a distributed transaction.
    fn copy_in_commits(&self) -> Option<&'static [&'static str]> {
        Some(&["SET yb_disable_transactional_writes = on"])
    }

    fn after_load(&self) -> Option<&'static str> {
        Some(
            "before a run on several nodes, keep tablet leaders off the node of the leading master: yb-admin \
             --master_addresses MASTERS list_all_masters shows it, yb-admin --master_addresses MASTERS \
             change_leader_blacklist ADD NODE:9100 moves them (REMOVE takes it back)",
        )
    }
}

impl DataPlacement for YugabyteDb {
    fn spreads(&self) -> &'static [Spread] {
        &[Spread::Tablets, Spread::Sharding]
    }

    /// Written for every column, because the default is a setting of the cluster.
    fn key_columns(&self, columns: &[&str], placement: &Placement) -> String {
        let first = if by_range(placement) { "ASC" } else { "HASH" };
        let order = |at: usize| if at == 0 { first } else { "ASC" };
        let columns: Vec<String> = columns.iter().enumerate().map(|(at, c)| format!("{c} {}", order(at))).collect();
        columns.join(", ")
    }

    /// A tablet of its own even in a database that keeps its tables together.
    fn spread_clause(&self, table: &Table, placement: &Placement) -> String {
        // Without a primary key rows are sharded by the hash of a hidden one.
        let split = match table.spread_by {
            Some(_) => split(placement, by_range(placement) && !table.primary_key.is_empty()),
            None => String::new(),
        };
        format!(" WITH (COLOCATION = false){split}")
    }

    fn spread_index_clause(&self, placement: &Placement) -> String {
        split(placement, by_range(placement))
    }
}

impl Introspection for YugabyteDb {
    fn recognises(&self, version: &str) -> bool {
        version.contains("-YB-")
    }

    fn explain(&self) -> Option<Explain> {
        Some(Explain {
            plain: "EXPLAIN (FORMAT JSON)",
            run: "EXPLAIN (ANALYZE, DIST, FORMAT JSON)",
            form: Form::PostgresJson,
        })
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        TOPOLOGY
    }

    fn judged_settings(&self) -> &'static [Setting] {
        SETTINGS
    }
}

const TOPOLOGY: &[TopologyQuery] = &[
    // Leaders are named by host and port.
    TopologyQuery::Nodes(&[
        "SELECT host || ':' || port AS node, public_ip AS address, node_type AS role, region, zone, \
         'cloud=' || cloud || ',region=' || region || ',zone=' || zone AS locality FROM yb_servers() ORDER BY host",
    ]),
    TopologyQuery::Parts {
        unit: None,
        queries: &["SELECT CAST(t.relname AS TEXT) AS table_name, \
             CASE WHEN x.indexrelid IS NOT NULL THEN CAST(c.relname AS TEXT) END AS index_name, \
             CASE WHEN c.reltuples > 0 AND x.indexrelid IS NULL THEN CAST(c.reltuples AS BIGINT) END AS row_count, \
             'tablespace ' || s.spcname AS placement \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             LEFT JOIN pg_index x ON x.indexrelid = c.oid JOIN pg_class t ON t.oid = COALESCE(x.indrelid, c.oid) \
             LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace \
             WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'i') AND NOT COALESCE(x.indisprimary, FALSE)"],
        renamed: &[],
    },
    // Version 2025.2 and later show the leaders; earlier ones only the number of tablets.
    TopologyQuery::Parts {
        unit: Some("tablets"),
        queries: &[
            "SELECT CAST(t.relname AS TEXT) AS table_name, \
             CASE WHEN x.indexrelid IS NOT NULL THEN CAST(c.relname AS TEXT) END AS index_name, \
             m.leader, COUNT(*) AS units, CAST(MIN(array_length(m.replicas, 1)) AS BIGINT) AS replicas \
             FROM yb_tablet_metadata m JOIN pg_class c ON c.oid = m.oid JOIN pg_namespace n ON n.oid = c.relnamespace \
             LEFT JOIN pg_index x ON x.indexrelid = c.oid JOIN pg_class t ON t.oid = COALESCE(x.indrelid, c.oid) \
             WHERE m.db_name = current_database() AND n.nspname = current_schema() \
             GROUP BY t.relname, x.indexrelid, c.relname, m.leader",
            "SELECT CAST(t.relname AS TEXT) AS table_name, \
             CASE WHEN x.indexrelid IS NOT NULL THEN CAST(c.relname AS TEXT) END AS index_name, p.num_tablets AS units \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             LEFT JOIN pg_index x ON x.indexrelid = c.oid JOIN pg_class t ON t.oid = COALESCE(x.indrelid, c.oid) \
             CROSS JOIN LATERAL yb_table_properties(c.oid) p \
             WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'i') AND NOT COALESCE(x.indisprimary, FALSE)",
        ],
        renamed: &[],
    },
    TopologyQuery::Unsupported("bytes of tablets are not told in SQL: see the master's page (port 7000) or yb-admin"),
    TopologyQuery::Unsupported("before version 2025.2 the leaders of tablets are not told in SQL"),
];

const SETTINGS: &[Setting] = &[
    Setting::new(
        "yb_disable_transactional_writes",
        Wanted::OneOf(&["off"]),
        Level::Bad,
        "writes of one transaction are not atomic (3.2)",
    )
    .is_deviation(),
    Setting::new(
        "max_connections",
        Wanted::Connections,
        Level::Bad,
        "raise ysql_max_connections at the servers, or ask for fewer --connections",
    ),
    Setting::new(
        "yb_bnl_batch_size",
        Wanted::AtLeast(1024),
        Level::Warn,
        "set yb_bnl_batch_size = 1024: joins ask for one row at a time (Stock-Level)",
    ),
    Setting::new(
        "statement_timeout",
        Wanted::OneOf(&["0"]),
        Level::Warn,
        "slow transactions are cut, and count as errors",
    ),
    Setting::new("default_transaction_read_only", Wanted::OneOf(&["off"]), Level::Bad, "nothing can be written"),
];
