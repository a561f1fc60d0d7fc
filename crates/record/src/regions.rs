//! The lesson of the regions: what it costs that data live far from those who use them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::run::{Target, Tool};
use crate::timing::{Timing, median, median_places_but};

/// A value and its 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

impl Estimate {
    /// The median of what was timed, milliseconds; `None` if that is too little for an interval.
    #[must_use]
    pub fn from_timing(timing: &Timing) -> Option<Self> {
        let [low, high] = timing.interval_ms?;
        Some(Self { value: timing.median_ms, low, high })
    }

    /// How many times as long as `after` the other took, where the two could not be timed in turns. Either median lies in
    /// its 97.5 % interval, so both do, and their quotient in what follows, with 95 % at least. `None` if there are too few.
    #[must_use]
    pub fn speed_up(before: &Timing, after: &Timing) -> Option<Self> {
        let (before, after) = (Self::with_most(before)?, Self::with_most(after)?);
        Some(Self { value: before.value / after.value, low: before.low / after.high, high: before.high / after.low })
    }

    /// The median with its 97.5 % interval.
    fn with_most(timing: &Timing) -> Option<Self> {
        let mut times = timing.times_ms[usize::from(timing.first_ms.is_some())..].to_vec();
        times.sort_by(f64::total_cmp);
        let (low, high) = median_places_but(0.025, times.len())?;
        Some(Self { value: median(&times)?, low: times[low], high: times[high] })
    }
}

/// What is done in a cell of the matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// The bikes of a city that are in use are read.
    #[default]
    Read,
    /// A user of a city is inserted.
    Insert,
    /// As `Read`, but the client asks the data's own region instead of its own gateway.
    ReadThere,
}

/// A gateway's work on a region's data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cell {
    /// Where the client and its gateway are.
    pub gateway: String,
    /// To whom the data belong.
    pub data: String,
    /// Their city.
    pub city: String,
    /// What is done.
    pub operation: Operation,
    /// Where the data live.
    pub home: String,
    /// Round trips between the gateway and that region.
    pub round_trips: u32,
    /// How long these take, milliseconds, with the delays configured, or else with those measured.
    pub predicted_ms: f64,
    /// How long it took; the first execution may also have connected the servers.
    pub timed: Timing,
}

/// A city's rows of a table, and where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Home {
    /// The table.
    pub table: String,
    /// The city.
    pub city: String,
    /// The region whose server holds them.
    pub region: String,
    /// How many there are, counted on that server.
    pub rows: u64,
    /// How many gateways know them there, by their own catalogs.
    pub told_by: u64,
}

/// Before, or after.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stage {
    /// Where the data live.
    pub homes: Vec<Home>,
    /// The matrix.
    pub cells: Vec<Cell>,
}

impl Stage {
    /// A cell of the matrix.
    #[must_use]
    pub fn cell(&self, gateway: &str, data: &str, operation: Operation) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.gateway == gateway && cell.data == data && cell.operation == operation)
    }
}

/// The distance between two regions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delay {
    /// The region that asks.
    pub from: String,
    /// The region that answers.
    pub to: String,
    /// The round trip that was asked for, milliseconds; `None`: the network is what it is.
    pub configured_ms: Option<f64>,
    /// A statement that touches nothing, there and back.
    pub measured: Timing,
}

/// One of the statements that were published, before and after.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lesson {
    /// What was done, from where.
    pub what: String,
    /// Where the client and its gateway are; the data belong there, too.
    pub region: String,
    /// What was done.
    pub operation: Operation,
    /// Its median before, milliseconds.
    pub before: Estimate,
    /// Its median after, milliseconds.
    pub after: Estimate,
    /// Before over after.
    pub speed_up: Estimate,
    /// The mean that was published, milliseconds; `None`: none was.
    pub published_before_ms: Option<f64>,
    /// The same after.
    pub published_after_ms: Option<f64>,
}

/// All of the lesson.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RegionsResult {
    /// What measured.
    pub tool: Tool,
    /// The servers, in the order of the regions.
    pub target: Target,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// The regions.
    pub regions: Vec<String>,
    /// The region in which all data live before.
    pub lease: String,
    /// How often each thing was done, besides the first time.
    pub repeat: u32,
    /// The size of the data set.
    pub scale: f64,
    /// Its seed.
    pub seed: u64,
    /// The statement that reads, with `{city}` in the city's place.
    pub read_sql: String,
    /// The statement that inserts.
    pub insert_sql: String,
    /// The distances.
    pub delays: Vec<Delay>,
    /// All data in one region.
    pub before: Stage,
    /// Each city's data in its own.
    pub after: Stage,
    /// What was published, and how it is here.
    pub lessons: Vec<Lesson>,
}

/// What the document says that it took, milliseconds on average: region, city, before, after.
const PUBLISHED: [(Operation, &str, &str, f64, Option<f64>); 4] = [
    (Operation::Read, "us-east1", "new york", 84.1, Some(7.79)),
    (Operation::Read, "us-west1", "seattle", 7.78, None),
    (Operation::Insert, "us-east1", "new york", 81.9, Some(10.2)),
    (Operation::Insert, "us-west2", "los angeles", 138.8, Some(15.0)),
];

/// A city as people write it.
#[must_use]
pub fn city_name(city: &str) -> String {
    let word = |word: &str| match word.split_at_checked(1) {
        _ if word == "dc" => "DC".to_owned(),
        Some((first, rest)) => first.to_uppercase() + rest,
        None => String::new(),
    };
    city.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Each region's own data from that region, before and after, with what was published beside it.
#[must_use]
pub fn lessons(regions: &[String], before: &Stage, after: &Stage) -> Vec<Lesson> {
    let pairs = [Operation::Read, Operation::Insert]
        .into_iter()
        .flat_map(|operation| regions.iter().map(move |region| (operation, region)));
    let lesson = |(operation, region): (Operation, &String)| {
        let (before, after) = (before.cell(region, region, operation)?, after.cell(region, region, operation)?);
        let published = PUBLISHED
            .iter()
            .find(|(what, place, city, ..)| *what == operation && place == region && *city == before.city);
        let city = city_name(&before.city);
        let what = match operation {
            Operation::Insert => format!("insert a user in {city} from {region}"),
            Operation::Read | Operation::ReadThere => format!("read {city}'s bikes in use from {region}"),
        };
        Some(Lesson {
            what,
            region: region.clone(),
            operation,
            before: Estimate::from_timing(&before.timed)?,
            after: Estimate::from_timing(&after.timed)?,
            speed_up: Estimate::speed_up(&before.timed, &after.timed)?,
            published_before_ms: published.map(|published| published.3),
            published_after_ms: published.and_then(|published| published.4),
        })
    };
    pairs.filter_map(lesson).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(times: impl IntoIterator<Item = f64>) -> Timing {
        Timing::from_sessions(vec![std::iter::once(1000.0).chain(times).collect()])
    }

    #[test]
    fn a_speed_up_lies_in_its_interval() {
        let slow = timed((0..20).map(|n| 100.0 + f64::from(n)));
        let fast = timed((0..20).map(|n| 10.0 + f64::from(n) / 10.0));
        let speed_up = Estimate::speed_up(&slow, &fast).unwrap();
        assert!(speed_up.low < speed_up.value && speed_up.value < speed_up.high, "{speed_up:?}");
        // The fifth and the sixteenth of twenty: 97.5 % and more.
        assert_eq!((speed_up.low, speed_up.high), (104.0 / 11.5, 115.0 / 10.4));
        let none = Estimate::speed_up(&slow, &slow).unwrap();
        assert!(none.low < 1.0 && none.high > 1.0);
        assert!(Estimate::speed_up(&slow, &timed((0..6).map(f64::from))).is_none(), "six are too few");
        assert!(Estimate::from_timing(&timed((0..5).map(f64::from))).is_none());
    }

    #[test]
    fn published_figures_stand_beside_their_own_city_only() {
        let cell = |region: &str, city: &str| Cell {
            gateway: region.to_owned(),
            data: region.to_owned(),
            city: city.to_owned(),
            timed: timed((0..20).map(f64::from).map(|n| n + 1.0)),
            ..Cell::default()
        };
        let stage = Stage { cells: vec![cell("us-east1", "new york"), cell("us-west2", "boston")], homes: Vec::new() };
        let regions = ["us-east1".to_owned(), "us-west2".to_owned(), "elsewhere".to_owned()];
        let lessons = lessons(&regions, &stage, &stage);
        let published: Vec<_> = lessons.iter().map(|lesson| lesson.published_before_ms).collect();
        assert_eq!(published, [Some(84.1), None]);
    }
}
