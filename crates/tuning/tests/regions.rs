//! The lesson of the regions on real servers: distances as asked for, data where they are said to be, times as the
//! distances have it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::cell::Cell;

use lab::{Delays, PostgresRegions};
use record::regions::{Operation, RegionsResult};
use target::{ScratchSchema, Url};
use tuning::regions::{RegionGateway, RegionsError, RegionsOptions, SCHEMA, run};

const REGIONS: [&str; 3] = ["us-east1", "us-west1", "us-west2"];

const DATABASE: &str = "bench";

fn options(servers: &PostgresRegions, delays: &Delays, keep: bool) -> RegionsOptions {
    let urls = servers.urls(DATABASE);
    let places = REGIONS.iter().zip(&urls);
    let ms = |from: usize, to: usize| delays.round_trip(from, to).as_secs_f64() * 1000.0;
    RegionsOptions {
        places: places
            .map(|(region, url)| RegionGateway { region: (*region).to_owned(), url: Url::parse(url).unwrap() })
            .collect(),
        delays_ms: Some((0..3).map(|from| (0..3).map(|to| ms(from, to)).collect()).collect()),
        repeat: 7,
        scale: 0.002,
        seed: 7,
        keep,
    }
}

/// Rows of a city that a server has itself, of all its tables.
async fn rows(url: &Url, city: &str) -> i64 {
    let mut session = target::Session::connect(url).await.unwrap();
    let local = "SELECT CAST(COALESCE(SUM((xpath('/row/c/text()', query_to_xml(format( \
         'SELECT COUNT(*) AS c FROM %s WHERE city = ''%s''', CAST(oid AS REGCLASS), CAST($1 AS TEXT)), FALSE, TRUE, '')))[1]::text::bigint), 0) AS BIGINT) \
         FROM pg_class WHERE relnamespace = CAST('weighbridge_regions' AS REGNAMESPACE) AND relkind = 'r'";
    session.query(local, &[city.into()]).await.unwrap().only().unwrap().big(0).unwrap()
}

#[tokio::test]
async fn the_lesson_shows_what_the_distances_have_it() {
    let delays = Delays::new(&REGIONS, "us-east1:us-west1=30, us-east1:us-west2=26, us-west1:us-west2=22").unwrap();
    let Some(servers) = lab::postgres_regions_or_skip(&delays) else { return };
    servers.create_database(DATABASE).unwrap();
    let options = options(&servers, &delays, true);
    let result = run(&options, || false, |_| ()).await.unwrap();
    distances_are_kept(&result);
    times_are_those_of_the_distances(&result);

    // Counted on each server, without the others.
    let schemas: Vec<ScratchSchema> =
        options.places.iter().map(|place| ScratchSchema::for_url(&place.url, SCHEMA).unwrap()).collect();
    for (city, home) in [("new york", 0), ("boston", 0), ("seattle", 1), ("los angeles", 2), ("san francisco", 2)] {
        let told = result.after.homes.iter().filter(|told| told.city == city);
        let told: u64 = told
            .map(|told| {
                assert_eq!((told.region.as_str(), told.told_by), (REGIONS[home], 3), "{told:?}");
                told.rows
            })
            .sum();
        for (number, place) in options.places.iter().enumerate() {
            let there = rows(&place.url, city).await;
            // Into one city of each region every gateway has inserted since, the first time included.
            let inserted = if ["boston", "san francisco"].contains(&city) { 0 } else { 3 * 8 };
            let expected = if number == home { i64::try_from(told).unwrap() + inserted } else { 0 };
            assert_eq!(there, expected, "{city} on {}", place.region);
        }
    }
    assert!(
        result.before.homes.iter().all(|home| home.region == "us-west1" && home.told_by == 3),
        "{:?}",
        result.before.homes
    );
    // None was lost on the way; those inserted meanwhile have come to them.
    let count = |stage: &record::regions::Stage, table: &str| -> u64 {
        stage.homes.iter().filter(|home| home.table == table).map(|home| home.rows).sum()
    };
    assert_eq!(count(&result.before, "users") + 3 * 3 * 8, count(&result.after, "users"));
    for table in ["vehicles", "rides"] {
        assert_eq!(count(&result.before, table), count(&result.after, table));
    }

    // What is there is not touched; what is interrupted leaves nothing.
    assert!(matches!(run(&options, || false, |_| ()).await, Err(RegionsError::Impossible(_))));
    assert!(schemas[0].exists().await.unwrap());
    for schema in &schemas {
        schema.remove().await.unwrap();
    }
    let asked = Cell::new(0);
    let after_some = || asked.replace(asked.get() + 1) > 150;
    let ended = run(&RegionsOptions { keep: false, ..options }, after_some, |_| ()).await;
    assert!(matches!(ended, Err(RegionsError::Interrupted)), "{ended:?}");
    for schema in &schemas {
        assert!(!schema.exists().await.unwrap(), "{}", schema.place());
    }
}

/// Within a tenth: no trip is shorter than was asked for, and the least of twenty is not much longer. What the others
/// take more is this machine's, which tests share with each other, and not the network's.
fn distances_are_kept(result: &RegionsResult) {
    assert_eq!(result.delays.len(), 6);
    for delay in &result.delays {
        let (asked, measured) = (delay.configured_ms.unwrap(), &delay.measured);
        assert!(measured.count >= 20 && measured.min_ms >= asked && measured.min_ms < 1.1 * asked, "{delay:?}");
        assert!(measured.median_ms < 1.5 * asked, "{delay:?}");
    }
}

fn times_are_those_of_the_distances(result: &RegionsResult) {
    for stage in [&result.before, &result.after] {
        for cell in &stage.cells {
            let (least, predicted) = (cell.timed.min_ms, cell.predicted_ms);
            // Not a round trip more than was predicted, not even of the least distance.
            assert!(least >= predicted && least < predicted + 22.0, "{cell:?}");
        }
    }
    let read = |stage: &record::regions::Stage, gateway: &str, data: &str| {
        stage.cell(gateway, data, Operation::Read).unwrap().timed.median_ms
    };
    let (before, after) = (read(&result.before, "us-east1", "us-east1"), read(&result.after, "us-east1", "us-east1"));
    assert!(before >= 30.0 * 5.0 && after < before / 2.0, "{before} {after}");
    let there = result.after.cell("us-east1", "us-west2", Operation::ReadThere).unwrap();
    assert!((there.round_trips, there.predicted_ms) == (1, 26.0), "{there:?}");
    let lesson = result.lessons.iter().find(|lesson| lesson.region == "us-east1").unwrap();
    assert!(lesson.speed_up.low > 1.0 && lesson.published_before_ms == Some(84.1), "{lesson:?}");
}
