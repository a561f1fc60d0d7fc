//! Deliberate faults, and exactly which checks each of them must fail.

#[path = "faults/as_loaded.rs"]
mod as_loaded;
#[path = "faults/driven.rs"]
mod driven;
#[path = "faults/population.rs"]
mod population;

use target::schema::Table;
use workload::tpcc::schema;

use crate::common::Database;

pub(crate) use as_loaded::AS_LOADED;
pub(crate) use driven::DRIVEN;
pub(crate) use population::POPULATION;

/// A fault in warehouse 1 (or in ITEM).
pub(crate) struct Fault {
    pub(crate) what: &'static str,
    pub(crate) changes: &'static [Change],
    /// The checks that must fail, and no others.
    pub(crate) violates: &'static [&'static str],
    /// Violations of the first of them.
    pub(crate) violations: u64,
    /// What one of its examples must contain.
    pub(crate) example: &'static str,
}

/// What is done to the rows of a table that `rows` names, before and after the change.
pub(crate) struct Change {
    table: &'static str,
    rows: &'static str,
    how: How,
}

enum How {
    Set(&'static str),
    Delete,
    Insert(&'static str),
}

impl Change {
    pub(crate) const fn set(table: &'static str, rows: &'static str, to: &'static str) -> Change {
        Change { table, rows, how: How::Set(to) }
    }

    const fn delete(table: &'static str, rows: &'static str) -> Change {
        Change { table, rows, how: How::Delete }
    }

    const fn insert(table: &'static str, rows: &'static str, values: &'static str) -> Change {
        Change { table, rows, how: How::Insert(values) }
    }

    /// Keeps the rows aside and changes them.
    pub(crate) async fn spoil(&self, database: &Database, number: usize) {
        let Change { table, rows, .. } = self;
        let original = schema::TABLES.iter().find(|candidate| candidate.name == *table).unwrap();
        let copy = Table {
            name: format!("saved_{number}").leak(),
            columns: original.columns,
            primary_key: original.primary_key,
            foreign_keys: &[],
            checks: &[],
            indexes: &[],
            spread_by: None,
        };
        database
            .execute(&database.url.dialect().create_table(&copy, true, false, &target::placement::Placement::default()))
            .await;
        database.execute(&format!("INSERT INTO saved_{number} SELECT * FROM {table} WHERE {rows}")).await;
        let change = match self.how {
            How::Set(to) => format!("UPDATE {table} SET {to} WHERE {rows}"),
            How::Delete => format!("DELETE FROM {table} WHERE {rows}"),
            How::Insert(values) => format!("INSERT INTO {table} VALUES ({values})"),
        };
        database.execute(&change).await;
    }

    /// Puts the rows back.
    pub(crate) async fn mend(&self, database: &Database, number: usize) {
        let Change { table, rows, .. } = self;
        database.execute(&format!("DELETE FROM {table} WHERE {rows}")).await;
        database.execute(&format!("INSERT INTO {table} SELECT * FROM saved_{number}")).await;
        database.execute(&format!("DROP TABLE saved_{number}")).await;
    }
}

const fn set(table: &'static str, rows: &'static str, to: &'static str) -> Change {
    Change::set(table, rows, to)
}

const CUSTOMER: &str = "c_w_id = 1 AND c_d_id = 3 AND c_id = 7";
const DISTRICT: &str = "d_w_id = 1 AND d_id = 4";
const STOCK: &str = "s_w_id = 1 AND s_i_id = 9";
const HISTORY: &str = "h_c_w_id = 1 AND h_c_d_id = 3 AND h_c_id = 7";
const OLD_ORDER: &str = "o_w_id = 1 AND o_d_id = 2 AND o_id = 5";
const OLD_LINES: &str = "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 5";
const OLD_LINE: &str = "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 5 AND ol_number = 1";
const OPEN_ORDER: &str = "o_w_id = 1 AND o_d_id = 2 AND o_id = 2500";
const OPEN_LINE: &str = "ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id = 2500 AND ol_number = 1";
