//! How a load's data are spread over a cluster: what may be asked for, and the one rule of who gets which keys.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::Dialect;
use crate::schema::{Index, Table};

/// A way of spreading data. A dialect declares those that its database has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Tables and indexes in partitions, by ranges of the key.
    Partitions,
    /// Partitions that are bound to places of the cluster.
    Localities,
    /// Ranges (regions) cut before the rows come.
    Ranges,
    /// Those ranges strewn over the nodes.
    Scatter,
    /// A number of tablets for each table.
    Tablets,
    /// Keys sharded by hash or by range.
    Sharding,
}

impl Spread {
    /// Its name in messages: `sqlite has no partitions`.
    pub fn name(self) -> &'static str {
        match self {
            Spread::Partitions => "partitions",
            Spread::Localities => "localities of partitions",
            Spread::Ranges => "splits",
            Spread::Scatter => "scatter",
            Spread::Tablets => "tablets",
            Spread::Sharding => "choice of key sharding",
        }
    }
}

/// How a key decides where its rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharding {
    /// By the hash of the key's first column.
    Hash,
    /// In the order of the key.
    Range,
}

impl Sharding {
    /// Each choice with its name on the command line and in results.
    pub const NAMES: [(Sharding, &'static str); 2] = [(Sharding::Hash, "hash"), (Sharding::Range, "range")];
}

impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sharding::Hash => "hash",
            Sharding::Range => "range",
        })
    }
}

impl FromStr for Sharding {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, PlacementError> {
        match text {
            "hash" => Ok(Sharding::Hash),
            "range" => Ok(Sharding::Range),
            _ => Err(PlacementError(format!("`{text}` is no key sharding: use hash or range"))),
        }
    }
}

/// How a database spreads its tables over a cluster. By default it has no means to.
pub trait DataPlacement {
    /// The means of spreading data that the database has; others are refused.
    fn spreads(&self) -> &'static [Spread] {
        &[]
    }

    /// The localities of the partitions if the user names none.
    fn usual_localities(&self, _partitions: u32) -> Vec<String> {
        Vec::new()
    }

    /// Why this placement excludes foreign keys; `None` if it does not.
    fn refuses_foreign_keys(&self, _placement: &Placement) -> Option<&'static str> {
        None
    }

    /// The columns of a primary key or an index, each with its sharding or order.
    fn key_columns(&self, columns: &[&str], _placement: &Placement) -> String {
        columns.join(", ")
    }

    /// The clause at the very end of CREATE TABLE that spreads the table.
    fn spread_clause(&self, _table: &Table, _placement: &Placement) -> String {
        String::new()
    }

    /// The statements that spread a table right after CREATE TABLE.
    fn spread_table(&self, _table: &Table, _placement: &Placement) -> Vec<String> {
        Vec::new()
    }

    /// The clause at the very end of CREATE INDEX that spreads an index of a table with a spreading column.
    fn spread_index_clause(&self, _placement: &Placement) -> String {
        String::new()
    }

    /// The statements that spread an index right after CREATE INDEX.
    fn spread_index(&self, _table: &Table, _index: &Index, _placement: &Placement) -> Vec<String> {
        Vec::new()
    }

    /// The name under which rows with this value of the spreading column load fastest.
    fn rows_of(&self, table: &Table, _placement: &Placement, _key: i32) -> String {
        table.name.to_owned()
    }

    /// The cluster setting that limits how fast replicas move.
    fn snapshot_rate(&self) -> Option<&'static str> {
        None
    }

    /// The query for how much data the cluster still has to move between its nodes.
    fn unsettled(&self) -> Option<&'static str> {
        None
    }
}

/// How the rows of all tables with a [spreading column](crate::schema::Table::spread_by) lie in the cluster.
///
/// Empty, it leaves everything to the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The values of the spreading column are 1 to this number.
    pub keys: i32,
    /// Partitions of every table and index.
    pub partitions: Option<u32>,
    /// The places to which the partitions are bound, in their order, as `tier=value`; empty: to none.
    pub localities: Vec<String>,
    /// Ranges into which every table and index is split before its rows come.
    pub ranges: Option<u32>,
    /// Whether the ranges are strewn over the nodes.
    pub scatter: bool,
    /// Tablets of every table and index.
    pub tablets: Option<u32>,
    /// How keys are sharded.
    pub sharding: Option<Sharding>,
}

/// The longest list of localities that the load's catalog holds.
pub const LOCALITIES_CHARACTERS: u16 = 2000;

/// Why a placement can't be had, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlacementError(String);

impl Placement {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self { keys: self.keys, ..Self::default() }
    }

    /// Refuses what the database lacks, and what makes no sense. Nothing is touched.
    ///
    /// # Errors
    /// One line that says what can't be had, or what is too much.
    pub fn check(&self, dialect: &dyn Dialect) -> Result<(), PlacementError> {
        let asked = [
            (Spread::Partitions, self.partitions.is_some()),
            (Spread::Localities, !self.localities.is_empty()),
            (Spread::Ranges, self.ranges.is_some()),
            (Spread::Scatter, self.scatter),
            (Spread::Tablets, self.tablets.is_some()),
            (Spread::Sharding, self.sharding.is_some()),
        ];
        let lacking = asked.iter().find(|(spread, asked)| *asked && !dialect.spreads().contains(spread));
        if let Some((spread, _)) = lacking {
            return Err(PlacementError(format!("{} has no {}", dialect.name(), spread.name())));
        }
        // Tablets by hash may well be more: nobody knows which of them a key falls into.
        let by_range = self.tablets.filter(|_| self.sharding == Some(Sharding::Range));
        for (option, parts) in [("--partitions", self.partitions), ("--split", self.ranges), ("--tablets", by_range)] {
            if let Some(parts) = parts.filter(|parts| i64::from(*parts) > i64::from(self.keys)) {
                let message = format!("{option} {parts} for {} warehouses: some would be empty", self.keys);
                return Err(PlacementError(message));
            }
        }
        if !self.localities.is_empty() && self.partitions != Some(self.localities.len() as u32) {
            let partitions = self.partitions.unwrap_or(0);
            let localities = self.localities.len();
            let message = format!("--localities names {localities} places, but there are {partitions} partitions");
            return Err(PlacementError(message));
        }
        if self.localities.join(",").len() > usize::from(LOCALITIES_CHARACTERS) {
            let message = format!("--localities is longer than {LOCALITIES_CHARACTERS} characters");
            return Err(PlacementError(message));
        }
        Ok(())
    }

    /// The keys of each partition, in order; empty without partitions.
    pub fn partitions(&self) -> Vec<RangeInclusive<i32>> {
        self.partitions.map_or(Vec::new(), |parts| slices(1..=self.keys, parts))
    }

    /// The first keys of all ranges but the first.
    pub fn split_points(&self) -> Vec<i32> {
        self.ranges.map_or(Vec::new(), |ranges| starts(self.keys, ranges))
    }

    /// The first keys of all tablets but the first.
    pub fn tablet_points(&self) -> Vec<i32> {
        self.tablets.map_or(Vec::new(), |tablets| starts(self.keys, tablets))
    }

    /// What was asked for, by name: for the load's catalog and for the record of a run.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let facts = [
            ("partitions", self.partitions.map(|n| n.to_string())),
            ("localities", (!self.localities.is_empty()).then(|| self.localities.join(","))),
            ("ranges", self.ranges.map(|n| n.to_string())),
            ("scatter", self.scatter.then(|| "yes".to_owned())),
            ("tablets", self.tablets.map(|n| n.to_string())),
            ("sharding", self.sharding.map(|sharding| sharding.to_string())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// The placement that says these facts of itself. `None` if one can't be read.
    pub fn from_facts(keys: i32, facts: &BTreeMap<String, String>) -> Option<Self> {
        let number = |name: &str| facts.get(name).map(|value| value.parse::<u32>()).transpose().ok();
        Some(Self {
            keys,
            partitions: number("partitions")?,
            localities: facts.get("localities").map_or(Vec::new(), |l| l.split(',').map(str::to_owned).collect()),
            ranges: number("ranges")?,
            scatter: facts.contains_key("scatter"),
            tablets: number("tablets")?,
            sharding: facts.get("sharding").map(|value| value.parse()).transpose().ok()?,
        })
    }
}

/// In words: `partitions 3, localities rack=0,rack=1,rack=2`, or `none`.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let facts: Vec<String> = self.facts().iter().map(|(name, value)| format!("{name} {value}")).collect();
        f.write_str(&facts.join(", "))
    }
}

/// Cuts `keys` into `parts` contiguous slices whose sizes differ by one at most: slice `i` is what
/// partition `i` holds, and what a gateway bound to it serves.
///
/// With more parts than keys, some slices are empty.
pub fn slices(keys: RangeInclusive<i32>, parts: u32) -> Vec<RangeInclusive<i32>> {
    let first = i64::from(*keys.start());
    let count = i64::from(*keys.end()) - first + 1;
    let bound = |part: i64| (first + part * count / i64::from(parts)) as i32;
    (0..i64::from(parts)).map(|part| bound(part)..=bound(part + 1) - 1).collect()
}

/// The first keys of all slices but the first.
fn starts(keys: i32, parts: u32) -> Vec<i32> {
    slices(1..=keys, parts).iter().skip(1).map(|slice| *slice.start()).collect()
}

/// A locality as it is asked for: `tier=value`, of letters, digits, `_`, `-` and `.`.
///
/// # Errors
/// What is wrong with it.
pub fn locality(text: &str) -> Result<String, PlacementError> {
    let plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    match text.split_once('=') {
        Some((tier, value)) if plain(tier) && plain(value) => Ok(text.to_owned()),
        _ => Err(PlacementError(format!("`{text}` is no locality: write tier=value, such as region=us-east1"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_contiguous_complete_and_even() {
        assert_eq!(slices(1..=10, 3), [1..=3, 4..=6, 7..=10]);
        assert_eq!(slices(11..=14, 2), [11..=12, 13..=14]);
        for (first, last) in [(1, 1), (1, 7), (5, 104), (1, 10_000)] {
            for parts in [1_u32, 2, 3, 7, 64] {
                let slices = slices(first..=last, parts);
                assert_eq!(slices.len(), parts as usize);
                let keys: Vec<i32> = slices.iter().cloned().flatten().collect();
                assert_eq!(keys, (first..=last).collect::<Vec<i32>>());
                let sizes = slices.iter().map(|slice| slice.clone().count());
                assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn a_placement_survives_the_catalog() {
        let all = Placement {
            keys: 12,
            partitions: Some(3),
            localities: vec!["rack=0".into(), "rack=1".into(), "rack=2".into()],
            ranges: Some(12),
            scatter: true,
            tablets: Some(6),
            sharding: Some(Sharding::Range),
        };
        for placement in [Placement { keys: 12, ..Default::default() }, all] {
            assert_eq!(Placement::from_facts(12, &placement.facts()), Some(placement));
        }
        let unreadable = BTreeMap::from([("partitions".to_owned(), "many".to_owned())]);
        assert_eq!(Placement::from_facts(12, &unreadable), None);
    }

    #[test]
    fn what_a_database_lacks_is_refused_by_name() {
        let refusal = |placement: &Placement, dialect: &dyn Dialect| placement.check(dialect).unwrap_err().to_string();
        let partitions = Placement { keys: 4, partitions: Some(2), ..Default::default() };
        assert_eq!(refusal(&partitions, &crate::sqlite::Sqlite), "sqlite has no partitions");
        assert!(partitions.check(&crate::postgres::Postgres).is_ok());
        let tablets = Placement { keys: 4, tablets: Some(2), ..Default::default() };
        assert_eq!(refusal(&tablets, &crate::postgres::Postgres), "postgres has no tablets");
        let too_many = Placement { keys: 4, partitions: Some(5), ..Default::default() };
        assert!(refusal(&too_many, &crate::postgres::Postgres).contains("--partitions 5 for 4 warehouses"));
        let places = Placement { localities: vec!["rack=0".into()], ..partitions };
        assert!(refusal(&places, &crate::cockroachdb::CockroachDb).contains("1 places, but there are 2 partitions"));
    }

    #[test]
    fn localities_can_carry_no_sql() {
        assert!(locality("region=us-east1").is_ok());
        for bad in ["rack", "rack=", "=a", "rack=a'b", "a=b,c=d", "a=b]"] {
            assert!(locality(bad).is_err(), "{bad}");
        }
    }
}
