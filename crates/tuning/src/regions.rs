//! The lesson of the regions: data that live in one region, then each city's in its own.
//!
//! PostgreSQL servers, one a region, know each other as foreign servers by the names of their regions, as `lab up postgres
//! --regions` sets them up. Everything is done in a schema of our own on each, which is dropped at the end. Before, one
//! region holds the tables and the others reach them as foreign tables; after, every table is partitioned by city, each
//! partition lives in its city's region, and the others have it as a foreign partition.

mod homes;
mod measure;
mod tables;

pub use measure::{INSERT, READ};

use futures_util::future::try_join_all;
use record::regions::{Cell, Delay, RegionsResult, Stage, lessons};
use record::run::{Target, Tool};
use record::timing::Timing;
use target::{Error, ScratchSchema, Session, Url};

use measure::{Client, CrossRegionSession, Task};
use tables::Assignment;

/// Where the tables are made.
pub const SCHEMA: &str = "weighbridge_regions";

/// Fewest repetitions from which intervals follow.
pub const FEWEST: u32 = 7;

/// Fewest times that a distance is measured.
const DISTANCES: u32 = 20;

/// A region and its gateway.
#[derive(Clone, Debug)]
pub struct RegionGateway {
    /// Its name, by which the other gateways know it as a foreign server.
    pub region: String,
    /// Its gateway, as a client in the region reaches it.
    pub url: Url,
}

impl RegionGateway {
    /// Asks a server for its region, which is its `cluster_name`; `None` if it has no name.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn read(url: &Url) -> Result<Option<Self>, Error> {
        let mut session = Session::connect(url).await?;
        let region = session.query("SHOW cluster_name", &[]).await?.only()?.text(0)?.to_owned();
        Ok((!region.is_empty()).then(|| Self { region, url: url.clone() }))
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RegionsOptions {
    /// Two to six regions.
    pub places: Vec<RegionGateway>,
    /// The round trips that were set up between them, milliseconds, by the region that asks, then by the one that
    /// answers; `None`: the network is what it is.
    pub delays_ms: Option<Vec<Vec<f64>>>,
    /// How often each thing is done, besides the first time; at least [`FEWEST`].
    pub repeat: u32,
    /// The size of MovR's data.
    pub scale: f64,
    /// Its seed.
    pub seed: u64,
    /// Whether the tables are left as they are after the change.
    pub keep: bool,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RegionsError {
    /// What was asked for can't be had; nothing was touched.
    #[error("{0}")]
    Impossible(String),
    /// It was asked to stop; nothing is left behind.
    #[error("interrupted; what had been made was removed")]
    Interrupted,
    /// A database refused.
    #[error(transparent)]
    Database(#[from] Error),
}

/// Runs the lesson. `stop` is asked between statements whether to end early; `progress` is told what is being done.
///
/// # Errors
/// [`RegionsError::Impossible`] if the servers don't know each other, or the schema [`SCHEMA`] is there already. Whatever
/// the error, what was made is removed, as far as the servers can still be reached.
pub async fn run(
    options: &RegionsOptions,
    stop: impl Fn() -> bool,
    progress: impl Fn(&str),
) -> Result<RegionsResult, RegionsError> {
    let assignment = possible(options)?;
    let mut schemas = Vec::new();
    for place in &options.places {
        if place.url.dialect().name() != "postgres" {
            let name = place.url.dialect().name();
            return Err(RegionsError::Impossible(format!("the lesson of the regions runs on postgres, not on {name}")));
        }
        let schema = ScratchSchema::for_url(&place.url, SCHEMA)?;
        if schema.exists().await? {
            let place = schema.place();
            let said = format!("{place} is there: a run that was killed or told to keep it has left it: drop it first");
            return Err(RegionsError::Impossible(said));
        }
        schemas.push(schema);
    }
    let mut made = Ok(());
    let mut ours = 0;
    for schema in &schemas {
        made = schema.create().await;
        match made {
            Ok(()) => ours += 1,
            Err(_) => break,
        }
    }
    let result = match made {
        Ok(()) => {
            Lesson { options, assignment: &assignment, schemas: &schemas, stop: &stop, progress: &progress }.run().await
        }
        Err(e) => Err(e.into()),
    };
    if options.keep && result.is_ok() {
        return result;
    }
    // Foreign tables don't know what becomes of what they stand for, so any order will do.
    let mut removed = Ok(());
    for schema in &schemas[..ours] {
        removed = removed.and(schema.remove().await);
    }
    // Why there is no result matters more than what came of that.
    let result = result?;
    removed?;
    Ok(result)
}

/// A session with each gateway, whose server has no connection to another yet.
async fn connect(schemas: &[ScratchSchema]) -> Result<Vec<Session>, Error> {
    let mut gateways = Vec::new();
    for schema in schemas {
        gateways.push(schema.connect().await?);
    }
    Ok(gateways)
}

/// Refuses what makes no sense, and settles who gets which city.
fn possible(options: &RegionsOptions) -> Result<Assignment, RegionsError> {
    let regions: Vec<String> = options.places.iter().map(|place| place.region.clone()).collect();
    if options.repeat < FEWEST {
        let said = format!("{} repetitions: {FEWEST} are the fewest from which intervals follow", options.repeat);
        return Err(RegionsError::Impossible(said));
    }
    let plain =
        |region: &&String| !region.is_empty() && region.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if let Some(region) = regions.iter().find(|region| !plain(region)) {
        return Err(RegionsError::Impossible(format!("`{region}` is no region's name: use letters, digits, - and _")));
    }
    let square = |ms: &Vec<Vec<f64>>| ms.len() == regions.len() && ms.iter().all(|row| row.len() == regions.len());
    if !options.delays_ms.as_ref().is_none_or(square) {
        return Err(RegionsError::Impossible("the delays are not between these regions".to_owned()));
    }
    Assignment::new(regions)
}

/// A run of the lesson.
struct Lesson<'a> {
    options: &'a RegionsOptions,
    assignment: &'a Assignment,
    schemas: &'a [ScratchSchema],
    stop: &'a dyn Fn() -> bool,
    progress: &'a dyn Fn(&str),
}

impl Lesson<'_> {
    async fn run(&self) -> Result<RegionsResult, RegionsError> {
        let Self { options, assignment, schemas, .. } = *self;
        let started_at = Some(jiff::Timestamp::now());
        let regions = &assignment.regions;
        let mut gateways = connect(schemas).await?;
        let version = gateways[0].describe().await?.version;
        (self.progress)("measuring the distances");
        let mut ways = measure::ways(&mut gateways, regions).await?;
        let delays = self.delays(&mut ways).await?;
        let far = |from: usize, to: usize| {
            let delay = delays.iter().find(|delay| delay.from == regions[from] && delay.to == regions[to]);
            delay.map_or(0.0, |delay| delay.configured_ms.unwrap_or(delay.measured.median_ms))
        };

        (self.progress)(&format!("before: all data in {}", regions[assignment.lease]));
        tables::make_before(&mut gateways, assignment, options).await?;
        gateways = connect(schemas).await?;
        let homes = homes::read(&mut gateways, assignment).await?;
        let tasks = measure::tasks(assignment, &far, |_| assignment.lease);
        let before = Stage { homes, cells: self.measure(&mut gateways, &mut ways, tasks).await? };

        (self.progress)("after: each city's data in its own region");
        tables::change(&mut gateways, assignment).await?;
        gateways = connect(schemas).await?;
        let homes = homes::read(&mut gateways, assignment).await?;
        let mut tasks = measure::tasks(assignment, &far, |data| data);
        tasks.extend(measure::tasks_there(assignment, &far));
        let after = Stage { homes, cells: self.measure(&mut gateways, &mut ways, tasks).await? };

        let urls: Vec<String> = options.places.iter().map(|place| place.url.to_string()).collect();
        let kind = gateways[0].dialect().name().to_owned();
        Ok(RegionsResult {
            tool: Tool::this(),
            target: Target { kind, version, url: urls.join(" "), ..Target::default() },
            started_at,
            regions: regions.clone(),
            lease: regions[assignment.lease].clone(),
            repeat: options.repeat,
            scale: options.scale,
            seed: options.seed,
            read_sql: measure::READ.to_owned(),
            insert_sql: measure::INSERT.to_owned(),
            lessons: lessons(regions, &before, &after),
            delays,
            before,
            after,
        })
    }

    /// A statement that touches nothing, over one way after the other.
    async fn delays(&self, ways: &mut [CrossRegionSession]) -> Result<Vec<Delay>, RegionsError> {
        let regions = &self.assignment.regions;
        let mut delays = Vec::new();
        for way in ways {
            let mut times = Vec::new();
            for _ in 0..=self.options.repeat.max(DISTANCES) {
                self.go_on()?;
                times.push(measure::time(&mut way.session, measure::NOTHING).await?);
            }
            delays.push(Delay {
                from: regions[way.from].clone(),
                to: regions[way.to].clone(),
                configured_ms: self.options.delays_ms.as_ref().map(|ms| ms[way.from][way.to]),
                measured: Timing::from_sessions(vec![times]),
            });
        }
        Ok(delays)
    }

    /// Clients of all regions at the same time, each of which does its own one after the other, again and again, so that
    /// whatever changes meanwhile changes for all of it.
    async fn measure(
        &self,
        gateways: &mut [Session],
        ways: &mut [CrossRegionSession],
        mut tasks: Vec<Task>,
    ) -> Result<Vec<Cell>, RegionsError> {
        let mut clients: Vec<Client<'_>> = gateways.iter_mut().map(Client::at).collect();
        ways.iter_mut().for_each(|way| clients[way.from].ways.push(way));
        tasks.drain(..).for_each(|task| clients[task.gateway].tasks.push((task, Vec::new())));
        let done = try_join_all(clients.into_iter().enumerate().map(|(number, client)| self.work(number == 0, client)));
        Ok(done.await?.concat())
    }

    async fn work(&self, tells: bool, mut client: Client<'_>) -> Result<Vec<Cell>, RegionsError> {
        for round in 0..=self.options.repeat {
            if tells && round % 5 == 0 {
                (self.progress)(&format!("  round {round} of {}", self.options.repeat));
            }
            client.round(|| self.go_on()).await?;
        }
        Ok(client.cells())
    }

    fn go_on(&self) -> Result<(), RegionsError> {
        if (self.stop)() { Err(RegionsError::Interrupted) } else { Ok(()) }
    }
}
