//! What a database's catalog says of a table, and how an index is made and dropped in its own words.

use crate::{Error, Session, WireKind, topology};

/// An index of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableIndex {
    /// Its name.
    pub name: String,
    /// Its columns in their order, those that it only stores at the end; expressions are left out.
    pub columns: Vec<String>,
    /// Whether it holds only those rows that meet a condition.
    pub partial: bool,
    /// Whether an expression is among what it is by.
    pub by_expression: bool,
}

impl TableIndex {
    /// Whether it is by its columns alone, and holds every row.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.partial && !self.by_expression
    }
}

/// A table as the catalog has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// Its columns, in their order.
    pub columns: Vec<String>,
    /// Its indexes, that of its key among them where the database counts it as one.
    pub indexes: Vec<TableIndex>,
}

/// An index that may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIndex {
    /// Its name.
    pub name: String,
    /// Its table.
    pub table: String,
    /// The columns of its key.
    pub columns: Vec<String>,
    /// Columns that it only stores; where the database knows no such thing, they stand behind the key's.
    pub stored: Vec<String>,
}

/// Counted page by page, which is why [`topology`] doesn't.
const SQLITE_BYTES: &str =
    "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = $1)";

/// A column's name in the first place, for a table named `$1`.
const COLUMNS: [(WireKind, &str); 3] = [
    (
        WireKind::Postgres,
        "SELECT CAST(attname AS TEXT) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 \
         AND NOT attisdropped ORDER BY attnum",
    ),
    (
        WireKind::Mysql,
        "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = $1 \
         ORDER BY ordinal_position",
    ),
    (WireKind::Sqlite, "SELECT name FROM pragma_table_info($1) ORDER BY cid"),
];

/// An index's name, one of its columns, in their order (empty: an expression), and `partial` or nothing, for a table named
/// `$1`. MySQL has no partial ones.
const INDEXES: [(WireKind, &str); 3] = [
    (
        WireKind::Postgres,
        "SELECT CAST(i.relname AS TEXT), COALESCE(CAST(a.attname AS TEXT), ''), \
         CAST(CASE WHEN x.indpred IS NULL THEN '' ELSE 'partial' END AS TEXT) \
         FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid \
         CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k(n, place) \
         LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.n \
         WHERE x.indrelid = to_regclass($1) ORDER BY i.relname, k.place",
    ),
    (
        WireKind::Mysql,
        "SELECT index_name, COALESCE(column_name, ''), '' FROM information_schema.statistics \
         WHERE table_schema = DATABASE() AND table_name = $1 ORDER BY index_name, seq_in_index",
    ),
    (
        WireKind::Sqlite,
        "SELECT l.name, COALESCE(i.name, ''), CASE l.partial WHEN 0 THEN '' ELSE 'partial' END \
         FROM pragma_index_list($1) l, pragma_index_info(l.name) i ORDER BY l.name, i.seqno",
    ),
];

fn of(queries: &[(WireKind, &'static str)], wire: WireKind) -> Option<&'static str> {
    queries.iter().find(|(known, _)| *known == wire).map(|(_, sql)| *sql)
}

impl Session {
    /// A table's columns and indexes; `None`: there is no such table, or the catalog can't be asked.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn table_info(&mut self, name: &str) -> Result<Option<TableInfo>, Error> {
        let wire = self.dialect().wire();
        let (Some(columns_of), Some(indexes_of)) = (of(&COLUMNS, wire), of(&INDEXES, wire)) else { return Ok(None) };
        let mut columns = Vec::new();
        for row in self.query(columns_of, &[name.into()]).await?.rows() {
            columns.push(row.text(0)?.to_owned());
        }
        if columns.is_empty() {
            return Ok(None);
        }
        let mut indexes: Vec<TableIndex> = Vec::new();
        for row in self.query(indexes_of, &[name.into()]).await?.rows() {
            let (index, column, partial) = (row.text(0)?, row.text(1)?, row.text(2)? == "partial");
            if indexes.last().is_none_or(|last| last.name != index) {
                indexes.push(TableIndex { name: index.to_owned(), partial, ..TableIndex::default() });
            }
            let Some(last) = indexes.last_mut() else { continue };
            match column {
                "" => last.by_expression = true,
                column => last.columns.push(column.to_owned()),
            }
        }
        Ok(Some(TableInfo { name: name.to_owned(), columns, indexes }))
    }

    /// The bytes of a table with its indexes, as the database tells them; `None`: it doesn't.
    pub async fn table_bytes(&mut self, name: &str) -> Option<u64> {
        if self.dialect().wire() == WireKind::Sqlite {
            let answer = self.query(SQLITE_BYTES, &[name.into()]).await.ok()?;
            return answer.only().ok()?.big(0).ok()?.try_into().ok();
        }
        let topology = topology::read(self).await;
        let parts = topology.tables.iter().filter(|part| part.partition.is_none() && part.table == name);
        let bytes: Vec<u64> = parts.filter_map(|part| part.bytes).collect();
        (!bytes.is_empty()).then(|| bytes.iter().sum())
    }

    /// Refreshes a table's statistics, where the database has such a thing.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn analyze(&mut self, table: &str) -> Result<(), Error> {
        if !self.dialect().has_statistics() {
            return Ok(());
        }
        let sql = self.dialect().analyze(table);
        self.execute(&sql).await
    }

    /// CREATE INDEX in the database's own words.
    pub fn create_index(&self, index: &NewIndex) -> String {
        let dialect = self.dialect();
        let list = |names: &[String]| names.iter().map(|name| dialect.quoted(name)).collect::<Vec<_>>().join(", ");
        let (name, table) = (&index.name, dialect.quoted(&index.table));
        match dialect.storing() {
            Some(word) if !index.stored.is_empty() => {
                format!("CREATE INDEX {name} ON {table} ({}) {word} ({})", list(&index.columns), list(&index.stored))
            }
            _ => {
                let all = [index.columns.as_slice(), index.stored.as_slice()].concat();
                format!("CREATE INDEX {name} ON {table} ({})", list(&all))
            }
        }
    }

    /// DROP INDEX in the database's own words.
    pub fn drop_index(&self, name: &str, table: &str) -> String {
        let table = self.dialect().quoted(table);
        match self.dialect().wire() {
            WireKind::Mysql => format!("DROP INDEX {name} ON {table}"),
            _ => format!("DROP INDEX {name}"),
        }
    }
}
