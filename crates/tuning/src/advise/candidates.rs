//! Indexes that may help a statement, made from what it does with its columns and from what the tables have already.

use target::catalog::{NewIndex, TableInfo};

use super::query_analysis::{Reading, Use};

/// Beginning of the names of indexes that are only tried.
pub const PREFIX: &str = "weighbridge_advice_";

/// Most candidates of a statement.
const MAX_CANDIDATES: usize = 16;

/// Most columns that a covering index is given.
const MAX_STORED_COLUMNS: usize = 8;

/// What a statement does with one table.
#[derive(Debug, Default)]
struct Table {
    equal: Vec<String>,
    range: Vec<String>,
    join: Vec<String>,
    order: Vec<String>,
    group: Vec<String>,
    mentioned: Vec<String>,
}

fn add(list: &mut Vec<String>, column: &str) {
    if !list.iter().any(|known| known == column) {
        list.push(column.to_owned());
    }
}

fn uses(reading: &Reading, table: &TableInfo) -> Table {
    let mut uses = Table::default();
    for (named, use_) in &reading.columns {
        let ours = match &named.table {
            Some(name) => reading.tables.get(name).is_some_and(|table_name| *table_name == table.name),
            None => true,
        };
        if !ours || !table.columns.contains(&named.column) {
            continue;
        }
        add(&mut uses.mentioned, &named.column);
        match use_ {
            Use::Equal => add(&mut uses.equal, &named.column),
            Use::Range => add(&mut uses.range, &named.column),
            Use::Join => add(&mut uses.join, &named.column),
            Use::Order => add(&mut uses.order, &named.column),
            Use::Group => add(&mut uses.group, &named.column),
            Use::Mention => {}
        }
    }
    uses
}

/// The candidates, the simplest first. What an index of the table gives already is none.
#[must_use]
pub fn candidates(reading: &Reading, tables: &[TableInfo]) -> Vec<NewIndex> {
    let mut found: Vec<NewIndex> = Vec::new();
    for table in tables {
        let uses = uses(reading, table);
        let mut keys: Vec<Vec<String>> = Vec::new();
        for column in [&uses.equal, &uses.range, &uses.join, &uses.group].into_iter().flatten() {
            keys.push(vec![column.clone()]);
        }
        // Equalities first, then one range or the order: behind a range nothing is in order any more.
        let then = |more: &[String]| {
            let mut key = uses.equal.clone();
            more.iter().for_each(|column| add(&mut key, column));
            key
        };
        keys.push(uses.equal.clone());
        keys.push(then(&uses.order));
        uses.range.iter().for_each(|column| keys.push(then(std::slice::from_ref(column))));
        uses.join.iter().for_each(|column| keys.push(then(std::slice::from_ref(column))));
        keys.push(then(&uses.group));
        for key in keys {
            consider(&mut found, table, key.clone(), Vec::new());
            // The index alone answers, if it holds all that is asked of the table.
            let rest: Vec<String> = uses.mentioned.iter().filter(|column| !key.contains(column)).cloned().collect();
            if !reading.takes_all && !reading.writes && !rest.is_empty() && rest.len() <= MAX_STORED_COLUMNS {
                consider(&mut found, table, key, rest);
            }
        }
    }
    found.truncate(MAX_CANDIDATES);
    for (number, index) in found.iter_mut().enumerate() {
        index.name = format!("{PREFIX}{}", number + 1);
    }
    found
}

fn consider(found: &mut Vec<NewIndex>, table: &TableInfo, columns: Vec<String>, stored: Vec<String>) {
    if columns.is_empty() {
        return;
    }
    let all = [columns.as_slice(), stored.as_slice()].concat();
    let known = table.indexes.iter().filter(|index| index.is_plain()).any(|index| {
        index.columns.starts_with(&columns)
            && (stored.is_empty() || all.iter().all(|column| index.columns.contains(column)))
    });
    let index = NewIndex { name: String::new(), table: table.name.clone(), columns, stored };
    if !known && !found.contains(&index) {
        found.push(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::query_analysis::{parse, read};
    use target::WireKind;
    use target::catalog::TableIndex;

    fn table(name: &str, columns: &[&str], indexes: &[&[&str]]) -> TableInfo {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let index =
            |columns: &&[&str]| TableIndex { name: "i".into(), columns: owned(columns), ..TableIndex::default() };
        TableInfo { name: name.into(), columns: owned(columns), indexes: indexes.iter().map(index).collect() }
    }

    fn found(sql: &str, tables: &[TableInfo]) -> Vec<String> {
        let reading = read(&parse(sql, WireKind::Postgres).unwrap());
        let said = |index: &NewIndex| {
            if index.stored.is_empty() {
                format!("{}({})", index.table, index.columns.join(","))
            } else {
                format!("{}({}; {})", index.table, index.columns.join(","), index.stored.join(","))
            }
        };
        candidates(&reading, tables).iter().map(said).collect()
    }

    #[test]
    fn the_documents_indexes_are_among_them() {
        let users = table("users", &["id", "city", "name", "address", "credit_card"], &[&["city", "id"]]);
        let rides =
            table("rides", &["id", "city", "rider_id", "start_time"], &[&["city", "id"], &["city", "rider_id"]]);
        let tables = [users, rides];
        assert_eq!(found("SELECT * FROM users WHERE name = 'x'", &tables[..1]), ["users(name)"]);
        assert_eq!(
            found("SELECT name, credit_card FROM users WHERE name = 'x'", &tables[..1]),
            ["users(name)", "users(name; credit_card)"]
        );
        let join = found(
            "SELECT COUNT(DISTINCT users.id) FROM users INNER JOIN rides ON rides.rider_id = users.id \
             WHERE start_time BETWEEN '2018-07-20' AND '2018-07-21'",
            &tables,
        );
        assert!(join.contains(&"rides(start_time; rider_id)".to_owned()), "{join:?}");
    }

    #[test]
    fn what_is_there_already_is_not_proposed() {
        let t = table("t", &["a", "b", "c"], &[&["a", "b"]]);
        assert_eq!(found("SELECT * FROM t WHERE a = 1 AND b = 2", std::slice::from_ref(&t)), ["t(b)"]);
        assert_eq!(found("SELECT a FROM t WHERE a = 1", std::slice::from_ref(&t)), Vec::<String>::new());
        assert_eq!(found("SELECT * FROM t WHERE c = 1 AND a > 2 ORDER BY b", &[t]), ["t(c)", "t(c,b)", "t(c,a)"]);
    }
}
