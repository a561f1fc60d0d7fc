//! MovR, the data set of a vehicle-sharing company in six cities, as pure code: any row from (seed, table, position).
//!
//! At scale 1 there are 50,000 users, 15,000 vehicles and 1,000,000 rides: a user takes 20 rides, a vehicle makes 67. A row
//! belongs to the city at its position modulo six, and refers to rows of that city only. All rides start within the year 2018,
//! about 2,740 a day at scale 1; all vehicles are older. How [`random`] draws and how each row consumes its draws is the
//! data format: a change to either changes every data set ever made.

mod random;
mod rows;
mod uuid;
mod words;

pub use rows::{Ride, User, Vehicle};
pub use uuid::Uuid;

use random::Stream;

/// The cities: three in the east, then three in the west.
pub const CITIES: [&str; 6] = ["new york", "boston", "washington dc", "seattle", "san francisco", "los angeles"];

/// The cities in the east, the first of [`CITIES`].
pub const EASTERN: usize = 3;

/// The first instant at which a ride can start, 2018-01-01 00:00:00 UTC, in microseconds since the Unix epoch.
pub const FIRST_START_US: i64 = 1_514_764_800_000_000;

/// Days on which rides start.
pub const DAYS: i64 = 365;

/// The largest scale: a billion rides.
pub const MAX_SCALE: f64 = 1000.0;

/// A table of the data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// Those who ride, and who own vehicles.
    Users,
    /// What is ridden.
    Vehicles,
    /// Who rode what, when, from where to where.
    Rides,
}

impl Table {
    /// All tables, parents first.
    pub const ALL: [Table; 3] = [Table::Users, Table::Vehicles, Table::Rides];

    /// Rows at scale 1.
    fn at_scale_1(self) -> f64 {
        match self {
            Table::Users => 50_000.0,
            Table::Vehicles => 15_000.0,
            Table::Rides => 1_000_000.0,
        }
    }

    /// Rows at any scale: a few for each city.
    fn least(self) -> u64 {
        match self {
            Table::Users => 60,
            Table::Vehicles => 30,
            Table::Rides => 300,
        }
    }
}

/// The data set of a seed and a scale.
#[derive(Clone, Copy, Debug)]
pub struct Movr {
    seed: u64,
    scale: f64,
}

impl Movr {
    /// A data set. The scale is cut to what lies between 0 and [`MAX_SCALE`]; whatever it is, each city has at least ten users,
    /// five vehicles and fifty rides.
    pub fn new(seed: u64, scale: f64) -> Self {
        let scale = if scale > 0.0 { scale.min(MAX_SCALE) } else { 0.0 };
        Self { seed, scale }
    }

    /// How many rows a table has.
    pub fn rows(&self, table: Table) -> u64 {
        ((table.at_scale_1() * self.scale).round() as u64).max(table.least())
    }

    /// The id of the row at a position of a table. No other column of the row is needed for it.
    pub fn id(&self, table: Table, position: u64) -> Uuid {
        let mut stream = Stream::new(self.seed, random::Use::Id(table), position);
        Uuid::random(&mut stream)
    }

    /// The user at a position below [`Movr::rows`].
    pub fn user(&self, position: u64) -> User {
        rows::user(self, position)
    }

    /// The vehicle at a position below [`Movr::rows`].
    pub fn vehicle(&self, position: u64) -> Vehicle {
        rows::vehicle(self, position)
    }

    /// The ride at a position below [`Movr::rows`].
    pub fn ride(&self, position: u64) -> Ride {
        rows::ride(self, position)
    }

    fn row(&self, table: Table, position: u64) -> Stream {
        Stream::new(self.seed, random::Use::Row(table), position)
    }

    /// The position of some row of a table that is in the same city as the row at `position` of any table.
    fn neighbour(&self, stream: &mut Stream, table: Table, position: u64) -> u64 {
        let cities = CITIES.len() as u64;
        let city = position % CITIES.len() as u64;
        let there = (self.rows(table) - city).div_ceil(cities);
        stream.below(there) * cities + city
    }
}

/// The city of the row at a position of any table.
pub fn city(position: u64) -> &'static str {
    CITIES[(position % CITIES.len() as u64) as usize]
}
