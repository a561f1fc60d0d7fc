//! Copies of somebody's tables in a schema of our own, keys and indexes included.

use target::catalog::TableInfo;
use target::{Dialect, Session, Url, WireKind};
use workload::template::Template;

use crate::Error;
use crate::bench_case::{BenchCase, Ending};

/// Rows that are inserted to tell what writes pay.
pub const INSERTED: u64 = 100;

/// Rows of the table into which they are inserted, at most.
const AROUND: u64 = 20_000;

/// Where the tables are, as a session elsewhere names it.
#[derive(Clone, Debug)]
pub struct Source {
    wire: WireKind,
    /// The schema or database.
    name: String,
    /// The file, if it is one.
    file: Option<String>,
}

/// The place of the tables that a session sees.
///
/// # Errors
/// The database's refusal.
pub async fn source(session: &mut Session, url: &Url) -> Result<Source, Error> {
    let wire = session.dialect().wire();
    let name = match wire {
        WireKind::Postgres => {
            session.query("SELECT CAST(current_schema() AS TEXT)", &[]).await?.only()?.text(0)?.to_owned()
        }
        WireKind::Mysql => session.query("SELECT DATABASE()", &[]).await?.only()?.text(0)?.to_owned(),
        WireKind::Sqlite => "somebodys".to_owned(),
        WireKind::Null | WireKind::Odbc => {
            return Err(Error::Usage("tables can't be copied on this database".to_owned()));
        }
    };
    let file = url.file().map(|file| file.display().to_string());
    Ok(Source { wire, name, file })
}

/// A table and its copy.
#[derive(Debug)]
pub struct Copy<'a> {
    source: &'a Source,
    table: &'a TableInfo,
}

impl<'a> Copy<'a> {
    /// Of a table.
    #[must_use]
    pub fn new(source: &'a Source, table: &'a TableInfo) -> Self {
        Self { source, table }
    }

    /// The table as a session in the schema of the copies names it.
    fn original(&self, dialect: &dyn Dialect) -> String {
        format!("{}.{}", dialect.quoted(&self.source.name), dialect.quoted(&self.table.name))
    }

    /// Lets a session see the original.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn attach(&self, own: &mut Session) -> Result<(), Error> {
        if let Some(file) = &self.source.file {
            // The tables that a key refers to have no copies.
            own.execute("PRAGMA foreign_keys = OFF").await?;
            let sql = "SELECT 1 FROM pragma_database_list WHERE name = $1";
            if own.query(sql, &[self.source.name.as_str().into()]).await?.is_empty() {
                own.execute(&format!("ATTACH '{}' AS {}", file.replace('\'', "''"), self.source.name)).await?;
            }
        }
        Ok(())
    }

    /// Makes the empty copy.
    async fn make(&self, own: &mut Session) -> Result<(), Error> {
        self.attach(own).await?;
        let dialect = own.dialect();
        let original = self.original(dialect);
        let copy = dialect.quoted(&self.table.name);
        let statements = match self.source.wire {
            WireKind::Postgres => vec![format!("CREATE TABLE {copy} (LIKE {original} INCLUDING ALL)")],
            WireKind::Mysql => vec![format!("CREATE TABLE {copy} LIKE {original}")],
            _ => {
                let sql = format!(
                    "SELECT sql FROM {}.sqlite_master WHERE tbl_name = $1 AND sql IS NOT NULL ORDER BY type = 'index'",
                    self.source.name
                );
                let mut statements = Vec::new();
                for row in own.query(&sql, &[self.table.name.as_str().into()]).await?.rows() {
                    statements.push(row.text(0)?.to_owned());
                }
                statements
            }
        };
        for sql in statements {
            own.execute(&sql).await?;
        }
        Ok(())
    }

    /// Makes the copy with at most so many rows, behind those that are set aside if any are.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn fill(&self, own: &mut Session, rows: Option<u64>) -> Result<(), Error> {
        self.make(own).await?;
        let original = self.original(own.dialect());
        let copy = own.dialect().quoted(&self.table.name);
        let limit = rows.map(|rows| format!(" LIMIT {rows}")).unwrap_or_default();
        Ok(own.execute(&format!("INSERT INTO {copy} SELECT * FROM {original}{limit}")).await?)
    }

    fn set_aside_name(&self, dialect: &dyn Dialect) -> String {
        dialect.quoted(&format!("{}_aside", self.table.name))
    }

    /// Has a copy of the table without the rows that are to be inserted, and these in a table of their own. A copy that
    /// is there already gives them up.
    ///
    /// # Errors
    /// The database's refusal, or a table without a key.
    pub async fn set_aside(&self, own: &mut Session) -> Result<(), Error> {
        self.attach(own).await?;
        let there = own.has_table(&self.table.name).await?;
        if !there {
            self.fill(own, Some(AROUND)).await?;
        }
        let dialect = own.dialect();
        let copy = dialect.quoted(&self.table.name);
        let aside = self.set_aside_name(dialect);
        let like = match self.source.wire {
            WireKind::Postgres => format!("CREATE TABLE {aside} (LIKE {copy})"),
            WireKind::Mysql => format!("CREATE TABLE {aside} LIKE {copy}"),
            _ => format!("CREATE TABLE {aside} AS SELECT * FROM {copy} WHERE 1 = 0"),
        };
        // An earlier attempt may have come to nothing.
        own.execute(&format!("DROP TABLE IF EXISTS {aside}")).await?;
        own.execute(&like).await?;
        own.execute(&format!("INSERT INTO {aside} SELECT * FROM {copy} LIMIT {INSERTED}")).await?;
        let key = self.key()?;
        let same: Vec<String> = key
            .iter()
            .map(|column| {
                let column = dialect.quoted(column);
                format!("{copy}.{column} = {aside}.{column}")
            })
            .collect();
        let sql = format!("DELETE FROM {copy} WHERE EXISTS (SELECT 1 FROM {aside} WHERE {})", same.join(" AND "));
        Ok(own.execute(&sql).await?)
    }

    /// The columns that tell rows apart: those of the first index whose name says that it is the key's.
    fn key(&self) -> Result<&[String], Error> {
        let is_key = |name: &str| {
            let name = name.to_lowercase();
            name == "primary"
                || name.ends_with("_pkey")
                || name.starts_with("sqlite_autoindex")
                || name.ends_with("_pk")
        };
        let indexes = || self.table.indexes.iter().filter(|index| index.is_plain());
        let key = indexes().find(|index| is_key(&index.name)).or_else(|| indexes().next());
        key.map(|index| index.columns.as_slice()).ok_or_else(|| Error::Usage(format!("{} has no key", self.table.name)))
    }

    /// Puts the rows back, so that the copy is whole again.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn put_back(&self, own: &mut Session) -> Result<(), Error> {
        let dialect = own.dialect();
        let copy = dialect.quoted(&self.table.name);
        let aside = self.set_aside_name(dialect);
        own.execute(&format!("INSERT INTO {copy} SELECT * FROM {aside}")).await?;
        Ok(own.execute(&format!("DROP TABLE {aside}")).await?)
    }

    /// The insert of what was set aside, rolled back each time.
    #[must_use]
    pub fn insert(&self, dialect: &dyn Dialect) -> BenchCase {
        let copy = dialect.quoted(&self.table.name);
        let aside = self.set_aside_name(dialect);
        let sql = format!("INSERT INTO {copy} SELECT * FROM {aside}");
        BenchCase { ending: Ending::Rollback, ..BenchCase::from_statement(Template::parse(&sql, dialect.wire())) }
    }
}
