//! YugabyteDB.

use crate::RoutineLanguage;
use crate::dialect::{Dialect, Isolation, WireKind};
use crate::placement::{Placement, Sharding, Spread};
use crate::schema::Table;

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

    fn spreads(&self) -> &'static [Spread] {
        &[Spread::Tablets, Spread::Sharding]
    }

    /// Said for every column, since what is meant without a word is a setting of the cluster.
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
