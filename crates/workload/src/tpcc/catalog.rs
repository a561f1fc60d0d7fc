//! What the load leaves in the database for every later client: seed, constants, size, date.
//!
//! Without it a run could not know C_LOAD, from which its own C_RUN must keep a distance (2.1.6.1),
//! and two clients would run with different constants.

use std::collections::BTreeMap;

use ::tpcc::nurand::Constants;
use ::tpcc::population::Population;
use target::placement::Placement;
use target::{Error, Gateways, Session};

use super::schema;

/// The query for the facts, by name.
pub const FACTS: &str = "SELECT name, value FROM weighbridge";

/// The form of the data; another form has another number.
const FORMAT: u64 = 1;

/// A load's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// Seed of every row, and of the constants.
    pub seed: u64,
    /// Warehouses of the whole database, 1..=warehouses.
    pub warehouses: i32,
    /// The constants C of the load (only C_LAST serves it).
    pub load: Constants,
    /// The constants C of all runs (2.1.6).
    pub run: Constants,
    /// The date in the rows, in microseconds since the Unix epoch.
    pub load_time_us: i64,
    /// Whether the load has come to its end: all rows, keys, indexes and statistics.
    pub complete: bool,
    /// Whether foreign keys were asked for.
    pub foreign_keys: bool,
    /// How the rows lie in the cluster.
    pub placement: Placement,
    /// Whether a step of the load can leave rows behind without its record.
    pub partial_steps: bool,
    /// Whether there are rows at all: a target without data has none, and answers as if it had.
    pub stores_data: bool,
}

/// Why a database can't be driven or checked. One line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// There are no tables of ours.
    #[error("no TPC-C data loaded by weighbridge here: run `weighbridge load` first")]
    Missing,
    /// The load was interrupted, or other slices are still to come.
    #[error("the load has not come to its end: run `weighbridge load --resume` (for every slice of it)")]
    Incomplete,
    /// The tables were made by another version.
    #[error("the data have format {0}, this version knows format {FORMAT}: load them anew with --replace")]
    Format(String),
    /// A fact is missing or can't be read.
    #[error("the table weighbridge says nothing usable of `{0}`: load the data anew with --replace")]
    Unreadable(&'static str),
    /// The database refused.
    #[error(transparent)]
    Database(#[from] Error),
}

impl Catalog {
    /// The facts of a load to come.
    pub fn new(seed: u64, warehouses: i32, load_time_us: i64, foreign_keys: bool) -> Self {
        let load = Constants::for_load(seed);
        let run = Constants::for_run(seed, &load);
        let placement = Placement { keys: warehouses, ..Placement::default() };
        Self {
            seed,
            warehouses,
            load,
            run,
            load_time_us,
            complete: false,
            foreign_keys,
            placement,
            partial_steps: false,
            stores_data: true,
        }
    }

    /// The facts of a target without data, which answers for any number of warehouses.
    pub fn without_data(warehouses: i32) -> Self {
        Self { complete: true, stores_data: false, ..Self::new(1, warehouses, 0, false) }
    }

    /// The rows that the load makes.
    pub fn population(&self) -> Population {
        Population { seed: self.seed, c_last_load: self.load.c_last, load_time_us: self.load_time_us }
    }

    /// Waits until every gateway shows what was acknowledged through the others so far: tables, rows, routines.
    ///
    /// # Errors
    /// As [`Catalog::read`].
    pub async fn await_everywhere(gateways: &Gateways) -> Result<(), CatalogError> {
        for url in gateways.urls() {
            let mut session = Session::connect(url).await?;
            session.see_all_commits().await?;
            Self::read(&mut session).await?;
        }
        Ok(())
    }

    /// Reads the facts of a load, complete or not.
    ///
    /// # Errors
    /// If there was no load, or by another version.
    pub async fn read(session: &mut Session) -> Result<Self, CatalogError> {
        if !session.has_table(schema::CATALOG.name).await? {
            return Err(CatalogError::Missing);
        }
        let answer = session.query(FACTS, &[]).await?;
        let mut facts = BTreeMap::new();
        for row in answer.rows() {
            facts.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
        }
        let number = |name: &'static str| -> Result<i64, CatalogError> {
            facts.get(name).and_then(|v| v.parse().ok()).ok_or(CatalogError::Unreadable(name))
        };
        let small = |name| number(name).and_then(|v| i32::try_from(v).map_err(|_| CatalogError::Unreadable(name)));
        if number("format")? != FORMAT as i64 {
            return Err(CatalogError::Format(facts.get("format").cloned().unwrap_or_default()));
        }
        let warehouses = small("warehouses")?;
        Ok(Self {
            seed: facts.get("seed").and_then(|v| v.parse().ok()).ok_or(CatalogError::Unreadable("seed"))?,
            warehouses,
            load: Constants {
                c_last: small("c_last_load")?,
                c_id: small("c_id_load")?,
                ol_i_id: small("ol_i_id_load")?,
            },
            run: Constants { c_last: small("c_last_run")?, c_id: small("c_id_run")?, ol_i_id: small("ol_i_id_run")? },
            load_time_us: number("load_time_us")?,
            complete: facts.contains_key("complete"),
            foreign_keys: number("foreign_keys")? == 1,
            placement: Placement::from_facts(warehouses, &facts).ok_or(CatalogError::Unreadable("the placement"))?,
            partial_steps: facts.contains_key("partial_steps"),
            stores_data: !facts.contains_key("without_data"),
        })
    }

    /// Reads the facts of a load that has come to its end.
    ///
    /// # Errors
    /// As [`Catalog::read`], and if the load is not complete.
    pub async fn read_complete(session: &mut Session) -> Result<Self, CatalogError> {
        let catalog = Self::read(session).await?;
        if catalog.complete { Ok(catalog) } else { Err(CatalogError::Incomplete) }
    }

    /// The facts as the table holds them, by name.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let own = [
            ("format", FORMAT.to_string()),
            ("workload", "tpcc".to_owned()),
            ("seed", self.seed.to_string()),
            ("warehouses", self.warehouses.to_string()),
            ("c_last_load", self.load.c_last.to_string()),
            ("c_id_load", self.load.c_id.to_string()),
            ("ol_i_id_load", self.load.ol_i_id.to_string()),
            ("c_last_run", self.run.c_last.to_string()),
            ("c_id_run", self.run.c_id.to_string()),
            ("ol_i_id_run", self.run.ol_i_id.to_string()),
            ("load_time_us", self.load_time_us.to_string()),
            ("foreign_keys", u8::from(self.foreign_keys).to_string()),
        ];
        let marks =
            [("complete", self.complete), ("partial_steps", self.partial_steps), ("without_data", !self.stores_data)];
        let marks = marks.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| (name, "1".to_owned()));
        let facts = own.into_iter().chain(marks).map(|(name, value)| (name.to_owned(), value));
        facts.chain(self.placement.facts()).collect()
    }

    /// Writes the facts of a load that begins.
    pub(super) async fn write(&self, session: &mut Session) -> Result<(), Error> {
        for (name, value) in &self.facts() {
            insert(session, name, value).await?;
        }
        Ok(())
    }

    /// Records that the load has come to its end.
    pub(super) async fn write_complete(session: &mut Session) -> Result<(), Error> {
        mark(session, "complete").await
    }

    /// Records that steps of the load can leave rows behind.
    pub(super) async fn write_partial_steps(session: &mut Session) -> Result<(), Error> {
        mark(session, "partial_steps").await
    }

    /// Records that the foreign keys are there.
    pub(super) async fn write_foreign_keys(session: &mut Session) -> Result<(), Error> {
        session.query("UPDATE weighbridge SET value = '1' WHERE name = 'foreign_keys'", &[]).await.map(|_| ())
    }
}

/// Sets a mark, which several clients may do at the same moment.
async fn mark(session: &mut Session, name: &str) -> Result<(), Error> {
    let sql = "INSERT INTO weighbridge (name, value) VALUES ($1, '1') ON CONFLICT DO NOTHING";
    session.query(sql, &[name.into()]).await.map(|_| ())
}

async fn insert(session: &mut Session, name: &str, value: &str) -> Result<(), Error> {
    session.query("INSERT INTO weighbridge (name, value) VALUES ($1, $2)", &[name.into(), value.into()]).await?;
    Ok(())
}
