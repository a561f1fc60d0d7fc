//! What a database's catalog says of a table, and how an index is made and dropped in its own words.

use crate::{Error, Session, topology};

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

impl Session {
    /// A table's columns and indexes; `None`: there is no such table, or the catalog can't be asked.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn table_info(&mut self, name: &str) -> Result<Option<TableInfo>, Error> {
        let Some(catalog) = &self.dialect().wire().defaults().catalog else { return Ok(None) };
        let mut columns = Vec::new();
        for row in self.query(catalog.columns, &[name.into()]).await?.rows() {
            columns.push(row.text(0)?.to_owned());
        }
        if columns.is_empty() {
            return Ok(None);
        }
        let mut indexes: Vec<TableIndex> = Vec::new();
        for row in self.query(catalog.indexes, &[name.into()]).await?.rows() {
            let index = row.text(0)?;
            let column = row.text(1)?;
            let partial = row.text(2)? == "partial";
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
        if let Some(bytes) = self.dialect().wire().defaults().catalog.as_ref().and_then(|catalog| catalog.bytes) {
            let answer = self.query(bytes, &[name.into()]).await.ok()?;
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
        let name = &index.name;
        let table = dialect.quoted(&index.table);
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
        let sql = self.dialect().wire().defaults().drop_index;
        sql.replace("{index}", name).replace("{table}", &self.dialect().quoted(table))
    }
}
