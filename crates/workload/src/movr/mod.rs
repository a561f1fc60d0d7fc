//! MovR against a session: its tables, and its rows over the bulk paths.
//!
//! [`create`], [`load`] and [`drop_tables`] work on one session and name no schema, so the data set can stand in one of its
//! own. [`load_all`] does the same work with several sessions side by side.

mod load;
pub mod rows;
pub mod schema;

use ::movr::{Movr, Table as Name};
use target::placement::Placement;
use target::schema::Table;
use target::{Access, Error, Session};

pub use load::{LoadError, Loaded, load, load_all};
pub use schema::TABLES;

/// What is to be loaded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The size: 1 is a million rides; any above 0 up to [`movr::MAX_SCALE`](::movr::MAX_SCALE).
    pub scale: f64,
    /// The seed of all rows.
    pub seed: u64,
    /// Whether the foreign keys are declared: after the rows, or with the tables where the database can't later.
    pub foreign_keys: bool,
}

impl Options {
    /// The data set as pure code.
    pub fn data(&self) -> Movr {
        Movr::new(self.seed, self.scale)
    }
}

/// A table's schema.
fn table(name: Name) -> &'static Table {
    match name {
        Name::Users => &schema::USERS,
        Name::Vehicles => &schema::VEHICLES,
        Name::Rides => &schema::RIDES,
    }
}

/// Makes the empty tables; what costs less after the rows is left to [`load`].
///
/// # Errors
/// The database's refusal, as when one of them is there already.
pub async fn create(session: &mut Session, options: &Options) -> Result<(), Error> {
    let (dialect, placement) = (session.dialect(), Placement::default());
    if dialect.transactional_ddl() {
        session.begin(dialect.default_isolation(), Access::ReadWrite);
    }
    for table in TABLES {
        let foreign_keys = options.foreign_keys && !dialect.foreign_keys_after_load();
        let primary_key = !dialect.primary_key_after_load();
        let mut sql = vec![dialect.create_table(table, primary_key, foreign_keys, &placement)];
        if !dialect.indexes_after_load() {
            sql.extend(table.indexes.iter().map(|index| dialect.create_index(table, index, &placement)));
        }
        for sql in sql {
            if let Err(e) = session.execute(&sql).await {
                // Its error is of no interest beside this one.
                let _ = session.rollback().await;
                return Err(e.context(table.name));
            }
        }
    }
    session.commit().await
}

/// The tables of these names that the session sees, parents first, whosever they are.
///
/// # Errors
/// The database's refusal.
pub async fn tables_there(session: &mut Session) -> Result<Vec<&'static Table>, Error> {
    let mut there = Vec::new();
    for table in TABLES {
        if session.has_table(table.name).await? {
            there.push(table);
        }
    }
    Ok(there)
}

/// Drops those of the tables that are there. Their names are common, so nothing is dropped unless all that are there have
/// the columns of MovR.
///
/// # Errors
/// A table of somebody else; the database's refusal.
pub async fn drop_tables(session: &mut Session) -> Result<(), Error> {
    let there = tables_there(session).await?;
    for table in &there {
        if !is_ours(session, table).await? {
            return Err(Error::permanent(format!(
                "the table {} is not MovR's, by its columns: it is left alone. Load into a database of its own",
                table.name
            )));
        }
    }
    for table in there.iter().rev() {
        session.execute(&format!("DROP TABLE {}", table.name)).await?;
    }
    session.commit().await
}

/// Whether a table has the columns of MovR's, and no others.
async fn is_ours(session: &mut Session, table: &Table) -> Result<bool, Error> {
    let named = format!("SELECT {} FROM {} WHERE 1 = 0", table.column_list(), table.name);
    if let Err(e) = session.query(&named, &[]).await {
        let refused = e.class() == target::Class::Permanent;
        return if refused { session.rollback().await.map(|()| false) } else { Err(e) };
    }
    // Only a row tells all the columns; without one there is nothing to lose.
    let answer = session.query(&format!("SELECT * FROM {} LIMIT 1", table.name), &[]).await?;
    Ok(answer.get(0).is_none_or(|row| row.columns().len() == table.columns.len()))
}
