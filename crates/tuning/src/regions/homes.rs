//! Where the data live: counted on the servers, and as each gateway's catalog tells it.

use record::regions::Home;
use target::topology::{Part, Topology};
use target::{Error, Session, topology};

use workload::movr::TABLES;

use super::tables::{Assignment, partition};

/// What a catalog says of a table or partition that lives on another server, before that server's name.
const ELSEWHERE: &str = "foreign server ";

/// Each city's rows of each table.
pub(super) async fn read(gateways: &mut [Session], assignment: &Assignment) -> Result<Vec<Home>, Error> {
    let mut told = Vec::new();
    for gateway in gateways.iter_mut() {
        told.push(topology::read(gateway).await);
    }
    let mut homes = Vec::new();
    for table in TABLES.map(|table| table.name) {
        for (_, city) in assignment.homes() {
            // The one gateway that has them itself.
            let local = told.iter().position(|told| home(told, table, city) == Some(None));
            let region = local.ok_or_else(|| Error::permanent(format!("nobody has the {table} of {city}")))?;
            let agrees = |(gateway, told): (usize, &Topology)| match home(told, table, city) {
                Some(None) => gateway == region,
                Some(Some(elsewhere)) => elsewhere == assignment.regions[region],
                None => false,
            };
            let told_by = told.iter().enumerate().filter(|told| agrees(*told)).count() as u64;
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE city = '{city}'");
            let rows = gateways[region].query(&sql, &[]).await?.only()?.big(0)?.unsigned_abs();
            let region = assignment.regions[region].clone();
            homes.push(Home { table: table.to_owned(), city: city.to_owned(), region, rows, told_by });
        }
    }
    Ok(homes)
}

/// Where a gateway's catalog has a city's rows: `Some(None)` if with itself, `None` if it doesn't know the table.
fn home<'a>(told: &'a Topology, table: &str, city: &str) -> Option<Option<&'a str>> {
    let partition = partition(table, city);
    let is = |part: &&Part, name: Option<&str>| {
        part.table == table && part.index.is_none() && part.partition.as_deref() == name
    };
    let part = told.tables.iter().find(|part| is(part, Some(&partition)));
    let part = part.or_else(|| told.tables.iter().find(|part| is(part, None)))?;
    Some(part.placement.as_deref().and_then(|placement| placement.strip_prefix(ELSEWHERE)))
}
