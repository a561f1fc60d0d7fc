//! What can be known of a file without a database: all that makes no sense is refused before anything is touched.

use std::collections::BTreeSet;

use target::{DATABASES, WireKind};

use crate::per_database::{PerDatabase, names};
use crate::template::Template;

use super::file::{Commit, Own, Table, Transaction, duration};
use super::tables::Data;
use super::transactions::Source;

/// Columns of a table, transactions of a file, steps of a transaction: more than anybody writes by hand.
const MOST: usize = 500;

/// What our own tables are called.
const OURS: &str = "weighbridge";

impl Own {
    /// Makes sure of all that can be known without a database.
    pub(super) fn check(&self) -> Result<(), String> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if self.name.is_empty() || self.name.len() > 40 || !self.name.chars().all(fits) {
            return Err(format!("name = `{}`: use 1 to 40 small letters, digits, - and _", self.name.escape_debug()));
        }
        if self.name == "tpcc" {
            return Err("name = `tpcc`: another workload needs another name".to_owned());
        }
        one_line("about", &self.about)?;
        if self.data.is_some() && !self.tables.is_empty() {
            return Err("it has tables of its own and `data`: leave one of them out".to_owned());
        }
        if self.data.is_none() && self.tables.is_empty() {
            return Err("it has no [[table]], and no data = \"movr\" either".to_owned());
        }
        if self.transactions.is_empty() {
            return Err("it has no [[transaction]]".to_owned());
        }
        if self.transactions.len() > MOST || self.tables.len() > MOST {
            return Err(format!("it has more than {MOST} tables or transactions"));
        }
        distinct("table", self.tables.iter().map(|table| &table.name))?;
        distinct("index", self.tables.iter().flat_map(|table| table.indexes.keys()))?;
        distinct("transaction", self.transactions.iter().map(|transaction| &transaction.name))?;
        for (at, table) in self.tables.iter().enumerate() {
            table.check(&self.tables[..at]).map_err(|why| format!("table {}: {why}", table.name.escape_debug()))?;
        }
        let data = Data::new(self, 1.0, 1)?;
        for (name, sql) in &self.pools {
            identifier(name).and_then(|()| known(sql)).map_err(|why| format!("pool {}: {why}", name.escape_debug()))?;
        }
        for transaction in &self.transactions {
            self.check_transaction(transaction, &data)
                .map_err(|why| format!("transaction {}: {why}", transaction.name.escape_debug()))?;
        }
        if self.transactions.iter().all(|transaction| transaction.weight == 0) {
            return Err("all transactions have weight 0".to_owned());
        }
        for check in &self.checks {
            one_line("check", &check.name)?;
            known(&check.sql).map_err(|why| format!("check `{}`: {why}", check.name))?;
        }
        for gain in &self.ledger {
            one_line("ledger", &gain.name)?;
            let wrong = |why: String| format!("ledger `{}`: {why}", gain.name);
            known(&gain.sql).map_err(wrong)?;
            for (name, per) in &gain.per {
                if !self.transactions.iter().any(|transaction| transaction.name == *name) {
                    return Err(wrong(format!("there is no transaction `{}`", name.escape_debug())));
                }
                if *per == 0 {
                    return Err(wrong(format!("{name} adds 0: leave it out")));
                }
            }
        }
        Ok(())
    }

    fn check_transaction(&self, transaction: &Transaction, data: &Data) -> Result<(), String> {
        identifier(&transaction.name)?;
        if transaction.weight > 1_000_000 {
            return Err("its weight is above 1000000".to_owned());
        }
        if !(0.0..=1.0).contains(&transaction.rollback) {
            return Err("rollback is a share from 0 to 1".to_owned());
        }
        if transaction.steps.is_empty() || transaction.steps.len() > MOST {
            return Err(format!("it takes 1 to {MOST} steps"));
        }
        // Of several that commit one by one an attempt could not be repeated as a whole.
        if transaction.commit == Commit::Auto && (transaction.steps.len() > 1 || transaction.rollback > 0.0) {
            return Err("commit = \"auto\" is for one step that is never rolled back".to_owned());
        }
        for time in [&transaction.keying, &transaction.think, &transaction.response_limit].into_iter().flatten() {
            duration(time)?;
        }
        for (name, value) in &transaction.values {
            Source::of(value, data).map_err(|why| format!("{}: {why}", name.escape_debug()))?;
        }
        let mut kept: BTreeSet<&str> = BTreeSet::new();
        let mut used: BTreeSet<String> = BTreeSet::new();
        for (at, step) in (1..).zip(&transaction.steps) {
            let wrong = |why: String| format!("step {at}: {why}");
            known(&step.sql).map_err(wrong)?;
            for (wire, sql) in texts(&step.sql) {
                for name in Template::parse(sql, wire).names() {
                    let pool = name.split_once('.').is_some_and(|(pool, _)| self.pools.contains_key(pool));
                    if !pool && !transaction.values.contains_key(name) && !kept.contains(name.as_str()) {
                        return Err(wrong(format!(
                            "nothing gives :{name} a value, no `values`, no pool and no `keep` of a step before it"
                        )));
                    }
                    used.insert(name.clone());
                }
            }
            for name in &step.keep {
                identifier(name).map_err(wrong)?;
                if transaction.values.contains_key(name) {
                    return Err(wrong(format!("it keeps :{name}, which is drawn")));
                }
            }
            kept.extend(step.keep.iter().map(String::as_str));
        }
        match transaction.values.keys().find(|name| !used.contains(*name)) {
            Some(name) => Err(format!("no step uses the parameter :{}", name.escape_debug())),
            None => Ok(()),
        }
    }
}

impl Table {
    /// Makes sure of a table that stands behind others.
    fn check(&self, before: &[Table]) -> Result<(), String> {
        identifier(&self.name)?;
        if self.name.starts_with(OURS) {
            return Err(format!("names that begin with {OURS} are of this program's own tables"));
        }
        if self.columns.is_empty() || self.columns.len() > MOST {
            return Err(format!("it takes 1 to {MOST} columns"));
        }
        distinct("column", self.columns.iter().map(|column| &column.name))?;
        for column in &self.columns {
            identifier(&column.name)?;
            if !(0.0..=1.0).contains(&column.nulls) {
                return Err(format!("{}: nulls is a share from 0 to 1", column.name));
            }
            if column.nulls > 0.0 && self.primary_key.contains(&column.name) {
                return Err(format!("{}: what is part of the primary key is never NULL", column.name));
            }
        }
        if !self.primary_key.is_empty() {
            self.key("the primary key", &self.primary_key)?;
        }
        for (name, columns) in &self.indexes {
            identifier(name)?;
            self.key(&format!("the index {name}"), columns)?;
        }
        for (name, key) in &self.foreign_keys {
            identifier(name)?;
            self.key(&format!("the foreign key {name}"), &key.columns)?;
            let parent = before.iter().chain([self]).find(|table| table.name == key.table);
            let parent = parent
                .ok_or_else(|| format!("{name}: there is no table `{}` before this one", key.table.escape_debug()))?;
            parent.key(&format!("{name}, in {}", key.table), &key.references)?;
            if key.columns.len() != key.references.len() {
                return Err(format!("{name}: it references {} columns by {}", key.references.len(), key.columns.len()));
            }
        }
        Ok(())
    }

    /// Makes sure of a list of columns.
    fn key(&self, what: &str, columns: &[String]) -> Result<(), String> {
        if columns.is_empty() {
            return Err(format!("{what} has no columns"));
        }
        distinct("column", columns.iter()).map_err(|why| format!("{what}: {why}"))?;
        match columns.iter().find(|column| !self.columns.iter().any(|known| known.name == **column)) {
            Some(column) => Err(format!("{what}: there is no column `{}`", column.escape_debug())),
            None => Ok(()),
        }
    }
}

/// Makes sure that statements are given for databases that there are.
fn known(sql: &PerDatabase<String>) -> Result<(), String> {
    if sql.all().next().is_none() {
        return Err("there is no statement".to_owned());
    }
    let unknown = sql.names().find(|name| !DATABASES.iter().any(|dialect| names(*dialect).contains(name)));
    match unknown {
        Some(name) => Err(format!("there is no database `{}`: `weighbridge targets` lists them", name.escape_debug())),
        None => Ok(()),
    }
}

/// The texts of a statement, each with the wire by whose rules it is read.
fn texts(sql: &PerDatabase<String>) -> impl Iterator<Item = (WireKind, &String)> {
    let wire = |name: &str| {
        let dialect = DATABASES.iter().find(|dialect| names(**dialect)[..2].contains(&name));
        dialect.map_or(WireKind::Postgres, |dialect| dialect.wire())
    };
    let wires = match sql {
        PerDatabase::Same(_) => vec![WireKind::Postgres],
        PerDatabase::Each(_) => sql.names().map(wire).collect(),
    };
    wires.into_iter().zip(sql.all())
}

/// A name that stands in SQL as it is.
fn identifier(name: &str) -> Result<(), String> {
    let first = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    match first && name.len() <= 60 && name.chars().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "`{}`: use up to 60 small letters, digits and _ for a name, no digit first",
            name.escape_debug()
        )),
    }
}

/// Words that are shown: no line ends and no terminal's codes in them.
fn one_line(what: &str, text: &str) -> Result<(), String> {
    match text.chars().any(char::is_control) {
        true => Err(format!("{what} = `{}`: leave out control characters", text.escape_debug())),
        false => Ok(()),
    }
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("there are two of the {what} `{}`", name.escape_debug()));
        }
    }
    Ok(())
}
