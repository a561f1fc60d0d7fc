//! `weighbridge lab regions` and `tune run regions`: what it costs that data live far from those who use them.

use std::path::{Path, PathBuf};

use lab::{DATABASE, Delays, Distance, Kind, Layout, PostgresRegions};
use record::regions::RegionsResult;
use target::{Gateways, Url};
use tuning::regions::{RegionGateway, RegionsOptions};

use super::lab::{base, delays, holder};
use super::{Ended, Failure, Status, me, runtime};
use crate::cli::{JsonArgs, LabRegionsArgs, TuneRunArgs};
use crate::interrupt;

/// The size of the data: a thousand users and three hundred vehicles. More would only make the preparation longer.
const SCALE: f64 = 0.02;

const SEED: u64 = 1;

/// The lesson's name among the others.
pub(super) const LESSON: &str = "regions";

/// The lesson as it is listed: name, title, what it shows.
pub(super) fn described() -> (String, String, String) {
    let shows = "Reads and writes of each region's own data while all of them live in one region, and once each city's rows \
        live where they are used; with the matrix of gateway and data, and where the data are.";
    (LESSON.to_owned(), "Rows in the region that uses them".to_owned(), shows.to_owned())
}

/// What stands on either side of the change.
pub(super) fn sides() -> String {
    let statements = format!("    {}\n    {}", tuning::regions::READ, tuning::regions::INSERT);
    format!(
        "Before: all rows in one region; the other gateways reach them through postgres_fdw\n{statements}\n\n\
         After: each city's rows on the server of its region\n{statements}"
    )
}

/// On servers that are there, one a region.
pub(super) fn tune(args: &TuneRunArgs, gateways: &Gateways) -> Ended {
    let scale = args.scale.unwrap_or(SCALE);
    let seed = args.seed.unwrap_or(SEED);
    let result = runtime()?.block_on(async {
        let mut places = Vec::new();
        for url in gateways.urls() {
            if gateways.dialect().name() != "postgres" {
                let name = gateways.dialect().name();
                return Err(Failure::Usage(format!("the lesson of the regions runs on postgres, not on {name}")));
            }
            places.push(RegionGateway::read(url).await?.ok_or_else(|| {
                Failure::Usage(format!(
                    "{url} has no cluster_name to tell its region: `{} lab up postgres --regions us-east1,us-west1,us-west2` \
                     starts servers that have",
                    me()
                ))
            })?);
        }
        let options = RegionsOptions { places, delays_ms: None, repeat: args.repeat, scale, seed, keep: false };
        let stop = interrupt::stop();
        Ok(tuning::regions::run(&options, || *stop.borrow(), |doing| say!("{doing}")).await?)
    })?;
    show(&result, args.html.as_deref(), args.json)
}

fn show(result: &RegionsResult, html: Option<&Path>, json: JsonArgs) -> Ended {
    if let Some(page) = html {
        super::report::write(page, &report::regions_page(result).file())?;
    }
    json.print(|| report::regions_json(result), || report::regions_table(result))?;
    Ok(Status::Done)
}

pub(super) fn run(args: &LabRegionsArgs) -> Ended {
    let delays = delays(&args.regions, args.delays.as_deref())?;
    let most = *Kind::Postgres.nodes().end();
    if !(2..=most).contains(&args.regions.len()) {
        return Err(Failure::Usage(format!("--regions names {}: 2 to {most} can be had here", args.regions.len())));
    }
    interrupt::on_stop(lab::interrupt);
    let result = if args.keep { in_kept(args, &delays)? } else { in_temporary(args, &delays)? };
    show(&result, args.html.as_deref(), args.json)
}

/// In servers that go when it is over, however it ends.
fn in_temporary(args: &LabRegionsArgs, delays: &Delays) -> Result<RegionsResult, Failure> {
    say!("starting PostgreSQL in {}", args.regions.join(", "));
    let servers = PostgresRegions::start(delays)?;
    servers.create_database(DATABASE)?;
    lesson(args, delays, &servers.urls(DATABASE))
}

/// In servers that stay, with the tables as they are afterwards.
fn in_kept(args: &LabRegionsArgs, delays: &Delays) -> Result<RegionsResult, Failure> {
    let base: PathBuf = base(args.folder.dir.as_deref())?;
    let folder = lab::folder(Kind::Postgres, &base);
    if folder.exists() {
        let remove = format!("{} lab down postgres{}", me(), dir(args.folder.dir.as_deref()));
        return Err(Failure::Failed(format!("there is a postgres in {}: `{remove}` first", folder.display())));
    }
    say!("starting PostgreSQL in {}, in {}", args.regions.join(", "), folder.display());
    let holder = holder(Kind::Postgres, &base)?;
    let regions: Vec<&str> = args.regions.iter().map(String::as_str).collect();
    let distance = Some(Distance { delays, holder: &holder });
    let layout = Layout { nodes: regions.len(), regions: &regions, settings: &[], distance };
    let kept = lab::up(Kind::Postgres, &layout, &base)?;
    let result = lesson(args, delays, &kept.urls()).inspect_err(|_| {
        // Why it failed is said; nobody wants to keep what came of it.
        let _ = lab::down(&kept, &base);
    })?;
    say!("kept, with the tables in the schema {}:\n  {}", tuning::regions::SCHEMA, kept.urls().join("\n  "));
    Ok(result)
}

fn dir(dir: Option<&Path>) -> String {
    dir.map_or_else(String::new, |dir| format!(" --dir {}", dir.display()))
}

fn lesson(args: &LabRegionsArgs, delays: &Delays, urls: &[String]) -> Result<RegionsResult, Failure> {
    let place = |(region, url): (&String, &String)| {
        Ok::<_, Failure>(RegionGateway { region: region.clone(), url: Url::parse(url)? })
    };
    let places = args.regions.iter().zip(urls).map(place).collect::<Result<Vec<_>, _>>()?;
    let numbers = 0..places.len();
    let ms = |from: usize, to: usize| delays.round_trip(from, to).as_secs_f64() * 1000.0;
    let delays_ms = numbers.clone().map(|from| numbers.clone().map(|to| ms(from, to)).collect()).collect();
    let repeat = args.repeat;
    let keep = args.keep;
    let options = RegionsOptions { places, delays_ms: Some(delays_ms), repeat, scale: SCALE, seed: SEED, keep };
    let stop = interrupt::stop();
    Ok(runtime()?.block_on(tuning::regions::run(&options, || *stop.borrow(), |doing| say!("{doing}")))?)
}
