//! The tables before and after.

use target::{Error, Session};
use workload::data_set::{create, load};
use workload::movr::{Options, TABLES};

use super::{RegionsError, RegionsOptions, SCHEMA};

/// The published regions and the cities that they serve; the first is the one that is read and written.
const PUBLISHED: [(&str, &[&str]); 3] = [
    ("us-east1", &["new york", "boston", "washington dc"]),
    ("us-west1", &["seattle"]),
    ("us-west2", &["los angeles", "san francisco"]),
];

/// The region that has all data before, if it is one of them.
const LEASE: &str = "us-west1";

/// Who gets which city.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) regions: Vec<String>,
    /// The cities of each region, at least one.
    pub(super) cities: Vec<Vec<&'static str>>,
    /// The region that has all data before.
    pub(super) lease: usize,
}

impl Assignment {
    /// As it was published where the regions are those; else the cities from east to west, dealt to the regions in their
    /// order.
    pub(super) fn new(regions: Vec<String>) -> Result<Self, RegionsError> {
        let all = movr::CITIES;
        if !(2..=all.len()).contains(&regions.len()) {
            let said = format!("{} regions: use 2 to {}, one for each city at most", regions.len(), all.len());
            return Err(RegionsError::Impossible(said));
        }
        let published =
            |region: &String| PUBLISHED.iter().find(|(name, _)| name == region).map(|(_, cities)| cities.to_vec());
        let cities =
            regions.iter().map(published).collect::<Option<Vec<_>>>().filter(|cities| cities.len() == PUBLISHED.len());
        let slices = || {
            let bound = |at: usize| at * all.len() / regions.len();
            (0..regions.len()).map(|at| all[bound(at)..bound(at + 1)].to_vec()).collect()
        };
        let cities = cities.unwrap_or_else(slices);
        let lease = regions.iter().position(|region| region == LEASE).unwrap_or(regions.len() - 1);
        Ok(Self { regions, cities, lease })
    }

    /// Each city with its region.
    pub(super) fn homes(&self) -> impl Iterator<Item = (usize, &'static str)> {
        self.cities.iter().enumerate().flat_map(|(region, cities)| cities.iter().map(move |city| (region, *city)))
    }
}

/// The partition of a city's rows.
pub(super) fn partition(table: &str, city: &str) -> String {
    format!("{table}_{}", city.replace(' ', "_"))
}

/// The tables with all rows in one region, and in the others foreign tables for them.
pub(super) async fn make_before(
    gateways: &mut [Session],
    assignment: &Assignment,
    options: &RegionsOptions,
) -> Result<(), Error> {
    let session = &mut gateways[assignment.lease];
    // None can lead from one server to another.
    let data = Options { scale: options.scale, seed: options.seed, foreign_keys: false };
    create(session, &data).await?;
    load(session, &data, |_, _| ()).await?;
    let lease = &assignment.regions[assignment.lease];
    for (region, gateway) in gateways.iter_mut().enumerate().filter(|(region, _)| *region != assignment.lease) {
        let names = TABLES.map(|table| table.name).join(", ");
        gateway
            .execute(&format!(
                "IMPORT FOREIGN SCHEMA {SCHEMA} LIMIT TO ({names}) FROM SERVER \"{lease}\" INTO {SCHEMA}"
            ))
            .await
            .map_err(|e| e.context(format_args!("foreign tables in {}", assignment.regions[region])))?;
        for table in TABLES.map(|table| table.name) {
            gateway.execute(&format!("ALTER FOREIGN TABLE {table} OPTIONS (ADD fetch_size '{FETCH}')")).await?;
        }
    }
    Ok(())
}

/// Rows that a foreign table gets at once: all of a city's, so that how far they come counts once.
const FETCH: u32 = 100_000;

/// Moves each city's rows to its region, over the network as anybody would, and makes them partitions of tables that
/// every gateway has. Partitioned tables with foreign partitions can't have keys of their own: each partition has one.
pub(super) async fn change(gateways: &mut [Session], assignment: &Assignment) -> Result<(), Error> {
    for (region, city) in assignment.homes() {
        for table in TABLES.map(|table| table.name) {
            let name = partition(table, city);
            for sql in [
                format!("CREATE TABLE {name} (LIKE {table})"),
                format!("INSERT INTO {name} SELECT * FROM {table} WHERE city = '{city}'"),
                format!("ALTER TABLE {name} ADD PRIMARY KEY (city, id)"),
                format!("ANALYZE {name}"),
            ] {
                gateways[region].execute(&sql).await?;
            }
        }
    }
    for (region, gateway) in gateways.iter_mut().enumerate() {
        let foreign = if region == assignment.lease { "" } else { "FOREIGN" };
        for table in TABLES.map(|table| table.name) {
            gateway.execute(&format!("CREATE TABLE whole (LIKE {table}) PARTITION BY LIST (city)")).await?;
            gateway.execute(&format!("DROP {foreign} TABLE {table}")).await?;
            gateway.execute(&format!("ALTER TABLE whole RENAME TO {table}")).await?;
            for (home, city) in assignment.homes() {
                let name = partition(table, city);
                let sql = if home == region {
                    format!("ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES IN ('{city}')")
                } else {
                    let server = &assignment.regions[home];
                    format!(
                        "CREATE FOREIGN TABLE {name} PARTITION OF {table} FOR VALUES IN ('{city}') SERVER \"{server}\" \
                         OPTIONS (schema_name '{SCHEMA}', table_name '{name}', fetch_size '{FETCH}')"
                    )
                };
                gateway.execute(&sql).await?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(regions: &[&str]) -> Assignment {
        Assignment::new(regions.iter().map(|region| (*region).to_owned()).collect()).unwrap()
    }

    #[test]
    fn the_published_regions_have_their_cities_in_any_order() {
        let them = assignment(&["us-west2", "us-east1", "us-west1"]);
        assert_eq!((them.lease, them.cities[0][0], them.cities[1][0]), (2, "los angeles", "new york"));
    }

    #[test]
    fn every_city_has_one_region_however_many_there_are() {
        for count in 2..=6 {
            let regions: Vec<String> = (0..count).map(|n| format!("r{n}")).collect();
            let them = Assignment::new(regions).unwrap();
            let cities: Vec<&str> = them.homes().map(|(_, city)| city).collect();
            assert_eq!(cities, movr::CITIES, "{count}");
            assert!(them.cities.iter().all(|cities| !cities.is_empty()));
        }
        let published: Vec<&str> =
            assignment(&["us-east1", "us-west1", "us-west2"]).homes().map(|(_, city)| city).collect();
        assert!(movr::CITIES.iter().all(|city| published.contains(city)) && published.len() == movr::CITIES.len());
        for wrong in [1, 7] {
            assert!(Assignment::new(vec!["r".to_owned(); wrong]).is_err());
        }
    }
}
