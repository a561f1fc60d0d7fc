//! What the load of a workload leaves in the database for later clients: its scale, its seed, and which tables it made.

use std::sync::Arc;

use target::{Error, Gateways, Session};

use crate::data_set::{self, DataSet, LoadError, Loaded};
use crate::tpcc::load::LoadProgress;

use super::file::Custom;
use super::tables::Data;

/// The table of the facts: a row a workload that is completely loaded.
const TABLE: &str = "weighbridge_workload";

/// The characters that all names of a workload's tables have together, at most, with a space behind each.
pub(super) const MOST_NAMES: usize = 4000;

/// Why a workload can't be run or checked. One line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// There are no tables of it.
    #[error(
        "{name} is not loaded here, or not to its end: run `weighbridge load {called}` first (--replace if it was begun)"
    )]
    Missing {
        /// Its name.
        name: String,
        /// What a command line calls it by.
        called: String,
    },
    /// The tables of the file have changed since.
    #[error("the tables of {0} were loaded from another form of its file: load it anew with --replace")]
    Changed(String),
    /// The file itself.
    #[error("{0}")]
    File(String),
    /// The database refused.
    #[error(transparent)]
    Database(#[from] Error),
}

/// The tables of a workload as they were loaded.
///
/// # Errors
/// If there was no load, or another one.
pub async fn loaded(custom: &Custom, session: &mut Session) -> Result<Data, FactsError> {
    let data = |scale, seed| Data::new(custom, scale, seed).map_err(FactsError::File);
    let missing = || FactsError::Missing { name: custom.name.clone(), called: custom.called.clone() };
    if !session.has_table(TABLE).await? {
        return Err(missing());
    }
    let sql = format!("SELECT scale, seed, form FROM {TABLE} WHERE name = $1");
    let answer = session.query(&sql, &[custom.name.as_str().into()]).await?;
    let row = answer.get(0).ok_or_else(missing)?;
    let (scale, seed, form) = (row.text(0)?.parse(), row.text(1)?.parse(), row.text(2)?.to_owned());
    let (Ok(scale), Ok(seed)) = (scale, seed) else { return Err(missing()) };
    if form != fingerprint(custom) {
        return Err(FactsError::Changed(custom.name.clone()));
    }
    data(scale, seed)
}

/// Loads the data set of a workload, and notes it once it is complete. With `replace` its tables are dropped before: those
/// that its last load has noted whatever their columns are, if the file has changed since.
///
/// # Errors
/// Tables that are there; the database's refusal.
pub async fn load(
    gateways: &Gateways,
    custom: &Custom,
    (data, scale, seed): (&impl DataSet, f64, u64),
    jobs: usize,
    replace: bool,
    progress: Arc<LoadProgress>,
) -> Result<Loaded, LoadError> {
    let mut session = Session::connect(gateways.first()).await?;
    // Before anything is forgotten of a load that is there.
    match replace {
        true => {
            let noted = noted(custom, &mut session).await?;
            data_set::refuse_foreign(&mut session, data, &noted).await?;
            drop_noted(data, &noted, &mut session).await?;
        }
        false => data_set::refuse_existing(&mut session, data).await?,
    }
    let tables: Vec<&str> = data.tables().iter().map(|table| table.name).collect();
    forget(&tables, &mut session).await?;
    let loaded = data_set::load_all(gateways, data, jobs, replace, progress).await?;
    // Another workload of the same name has had its tables elsewhere.
    session.query(&format!("DELETE FROM {TABLE} WHERE name = $1"), &[custom.name.as_str().into()]).await?;
    let sql = format!("INSERT INTO {TABLE} (name, scale, seed, form, tables) VALUES ($1, $2, $3, $4, $5)");
    let facts = [custom.name.clone(), scale.to_string(), seed.to_string(), fingerprint(custom), tables.join(" ")];
    let values: Vec<_> = facts.iter().map(|fact| fact.as_str().into()).collect();
    session.query(&sql, &values).await?;
    session.commit().await?;
    Ok(loaded)
}

/// The tables that the last load of a workload has noted as its own, parents first, if they were of another form: then
/// their columns can't tell. Of the same form, other columns are somebody else's doing, and nothing to be dropped.
async fn noted(custom: &Custom, session: &mut Session) -> Result<Vec<String>, Error> {
    if !session.has_table(TABLE).await? {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT form, tables FROM {TABLE} WHERE name = $1");
    let answer = session.query(&sql, &[custom.name.as_str().into()]).await?;
    let Some(row) = answer.get(0) else { return Ok(Vec::new()) };
    let same = row.text(0)? == fingerprint(custom);
    Ok(if same { Vec::new() } else { row.text(1)?.split(' ').map(str::to_owned).collect() })
}

/// Drops those of the noted tables that are to be made anew, in the order that their own foreign keys allow.
async fn drop_noted(data: &impl DataSet, noted: &[String], session: &mut Session) -> Result<(), Error> {
    let anew = |name: &&String| data.tables().iter().any(|table| table.name == **name);
    for name in noted.iter().rev().filter(anew) {
        if session.has_table(name).await? {
            session.execute(&format!("DROP TABLE {name}")).await?;
        }
    }
    session.commit().await
}

/// Makes the table of the facts if it is not there, and takes the rows of all workloads out of it that have one of these
/// tables: an interrupted load leaves none.
async fn forget(tables: &[&str], session: &mut Session) -> Result<(), Error> {
    if !session.has_table(TABLE).await? {
        let sql = format!(
            "CREATE TABLE {TABLE} (name VARCHAR(40) PRIMARY KEY, scale VARCHAR(40), seed VARCHAR(40), form VARCHAR(40), tables VARCHAR({MOST_NAMES}))"
        );
        if let Err(e) = session.execute(&sql).await {
            // Somebody else may have made it meanwhile.
            session.rollback().await?;
            if !session.has_table(TABLE).await? {
                return Err(e);
            }
        }
    }
    let answer = session.query(&format!("SELECT name, tables FROM {TABLE}"), &[]).await?;
    let known = answer.rows().map(|row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned())));
    for (name, theirs) in known.collect::<Result<Vec<_>, Error>>()? {
        if theirs.split(' ').any(|table| tables.contains(&table)) {
            session.query(&format!("DELETE FROM {TABLE} WHERE name = $1"), &[name.as_str().into()]).await?;
        }
    }
    session.commit().await
}

/// A number that changes with whatever changes the rows or the tables.
fn fingerprint(custom: &Custom) -> String {
    let mut parts: Vec<String> = Vec::new();
    for table in &custom.tables {
        parts.extend([table.name.clone(), format!("{} {}", table.rows, table.fixed), table.primary_key.join(" ")]);
        for column in &table.columns {
            let nulls = column.nulls.to_string();
            parts.extend([column.name.clone(), column.kind.clone(), column.value.clone(), nulls]);
        }
        parts.extend(table.indexes.iter().map(|(name, columns)| format!("{name} {}", columns.join(" "))));
        for (name, key) in &table.foreign_keys {
            parts.push(format!("{name} {} {} {}", key.columns.join(" "), key.table, key.references.join(" ")));
        }
    }
    super::hash(&parts.join("\0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_set::DataSet;

    /// A parent and its child, the first with these columns.
    fn custom(name: &str, columns: &str) -> Custom {
        let text = format!(
            r#"
name = "{name}"
[[table]]
name = "parent"
rows = 3
primary_key = ["id"]
columns = [{{ name = "id", type = "int", value = "sequence(1)" }}{columns}]
[[table]]
name = "child"
rows = 3
columns = [{{ name = "parent_id", type = "int", value = "of(parent.id)" }}]
[table.foreign_keys.child_parent]
columns = ["parent_id"]
table = "parent"
references = ["id"]
[[transaction]]
name = "read"
weight = 1
steps = [{{ sql = "SELECT 1" }}]
"#
        );
        Custom::parse(&text).unwrap()
    }

    #[tokio::test]
    async fn noted_tables_are_replaced_whatever_their_columns() {
        let folder = tempfile::tempdir().unwrap();
        let gateways = Gateways::parse(&[format!("sqlite:{}", folder.path().join("a.db").display())]).unwrap();
        let load = async |custom: &Custom| {
            let data = Data::new(custom, 1.0, 1).unwrap();
            load(&gateways, custom, (&data, 1.0, 1), 1, true, Arc::default()).await.map(|loaded| loaded.rows)
        };
        assert_eq!(load(&custom("a", "")).await.unwrap(), 6);
        let changed = custom("a", r#", { name = "more", type = "int", value = "uniform(1, 2)" }"#);
        let mut session = Session::connect(gateways.first()).await.unwrap();
        let refused = loaded(&changed, &mut session).await.unwrap_err().to_string();
        assert!(refused.contains("load it anew with --replace"), "{refused}");
        assert_eq!(load(&changed).await.unwrap(), 6);
        assert_eq!(loaded(&changed, &mut session).await.unwrap().tables().len(), 2);

        // What somebody has done to them since is not the file's.
        session.execute("ALTER TABLE parent ADD COLUMN theirs INTEGER").await.unwrap();
        session.commit().await.unwrap();
        let refused = load(&changed).await.unwrap_err().to_string();
        assert!(refused.contains("the table parent is not a's, by its columns"), "{refused}");
        loaded(&changed, &mut session).await.unwrap();

        // To a workload that has noted nothing they are somebody else's, and stay noted as the other's.
        let refused = load(&custom("b", "")).await.unwrap_err().to_string();
        assert!(refused.contains("the table parent is not b's, by its columns"), "{refused}");
        loaded(&changed, &mut session).await.unwrap();
    }
}
