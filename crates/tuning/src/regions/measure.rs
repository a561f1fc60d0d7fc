//! Who does what from where, and how long it takes.

use std::time::Instant;

use record::regions::{Cell, Operation};
use record::timing::Timing;
use target::{Error, Protocol, Session, Url};

use super::RegionsError;
use super::tables::Assignment;

/// What is read: the published statement.
pub const READ: &str = "SELECT id, ext FROM vehicles WHERE city = '{city}' AND type = 'bike' AND status = 'in_use'";

/// What is inserted, one user at a time: the published statement.
pub const INSERT: &str = "INSERT INTO users (id, city, name, address, credit_card) \
     VALUES (gen_random_uuid(), '{city}', 'New Yorker', '111 East Street', '1736352379937347')";

/// What `postgres_fdw` sends for a statement of its own transaction, each awaited before the next: START TRANSACTION;
/// DECLARE, FETCH and CLOSE of a cursor, or PREPARE, EXECUTE and DEALLOCATE; COMMIT.
const FOREIGN_ROUND_TRIPS: u32 = 5;

/// A way from a region to another's gateway, with a client of the first at its end.
#[derive(Debug)]
pub(super) struct CrossRegionSession {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) session: Session,
}

/// Goes all ways between regions, as each gateway's catalog of foreign servers tells them.
pub(super) async fn ways(
    gateways: &mut [Session],
    regions: &[String],
) -> Result<Vec<CrossRegionSession>, RegionsError> {
    let mut ways = Vec::new();
    for (from, gateway) in gateways.iter_mut().enumerate() {
        for (to, region) in regions.iter().enumerate().filter(|(to, _)| *to != from) {
            let answer = gateway.query(FOREIGN_SERVER, &[region.as_str().into()]).await?;
            let Some(row) = answer.get(0) else {
                let from = &regions[from];
                let said = "`lab up postgres --regions` sets that up";
                let said = format!("the server in {from} knows no foreign server {region}: {said}");
                return Err(RegionsError::Impossible(said));
            };
            let url = Url::parse(row.text(0)?).map_err(|e| RegionsError::Impossible(e.to_string()))?;
            let mut session = Session::connect(&url).await?;
            session.execute(&format!("SET search_path TO {}", super::SCHEMA)).await?;
            ways.push(CrossRegionSession { from, to, session });
        }
    }
    Ok(ways)
}

const FOREIGN_SERVER: &str = "SELECT 'postgres://' || COALESCE(MAX(m.option_value), 'postgres') || '@' || \
     MAX(CASE WHEN o.option_name = 'host' THEN o.option_value END) || ':' || \
     MAX(CASE WHEN o.option_name = 'port' THEN o.option_value END) || '/' || \
     MAX(CASE WHEN o.option_name = 'dbname' THEN o.option_value END) \
     FROM pg_foreign_server s CROSS JOIN LATERAL pg_options_to_table(s.srvoptions) o \
     LEFT JOIN (SELECT u.srvid, p.option_value FROM pg_user_mappings u CROSS JOIN LATERAL pg_options_to_table(u.umoptions) p \
     WHERE p.option_name = 'user' AND u.usename = current_user) m ON m.srvid = s.oid \
     WHERE s.srvname = $1 GROUP BY s.oid";

/// A part of the matrix.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) gateway: usize,
    cell: Cell,
    sql: String,
    /// The region that the client asks instead of its own gateway.
    asks: Option<usize>,
}

/// A client in a region.
#[derive(Debug)]
pub(super) struct Client<'a> {
    gateway: &'a mut Session,
    /// Its ways to the others.
    pub(super) ways: Vec<&'a mut CrossRegionSession>,
    /// What it does, and how long each time took, in milliseconds.
    pub(super) tasks: Vec<(Task, Vec<f64>)>,
}

impl<'a> Client<'a> {
    pub(super) fn at(gateway: &'a mut Session) -> Self {
        Self { gateway, ways: Vec::new(), tasks: Vec::new() }
    }

    /// Does everything once.
    pub(super) async fn round(&mut self, go_on: impl Fn() -> Result<(), RegionsError>) -> Result<(), RegionsError> {
        for (task, times) in &mut self.tasks {
            go_on()?;
            let way = self.ways.iter_mut().find(|way| Some(way.to) == task.asks);
            let session = match way {
                Some(way) => &mut way.session,
                None => {
                    // After a pause the server's process takes its time to wake, which can be more than the statement's.
                    self.gateway.ask(NOTHING, &[], Protocol::Simple).await?;
                    &mut *self.gateway
                }
            };
            times.push(time(session, &task.sql).await?);
        }
        Ok(())
    }

    pub(super) fn cells(self) -> Vec<Cell> {
        let cell = |(task, times): (Task, _)| Cell { timed: Timing::from_sessions(vec![times]), ..task.cell };
        self.tasks.into_iter().map(cell).collect()
    }
}

/// Every gateway's reads and inserts of every region's data, which live where `home` says.
pub(super) fn tasks(
    assignment: &Assignment,
    far: &impl Fn(usize, usize) -> f64,
    home: impl Fn(usize) -> usize,
) -> Vec<Task> {
    let cell = |gateway: usize, data: usize, operation: Operation| {
        let round_trips = if home(data) == gateway { 0 } else { FOREIGN_ROUND_TRIPS };
        task(assignment, far, operation, (gateway, data, home(data)), round_trips)
    };
    let pairs = pairs(assignment);
    pairs
        .flat_map(|(gateway, data)| [Operation::Read, Operation::Insert].map(|what| cell(gateway, data, what)))
        .collect()
}

/// Every region's reads of another's data, by asking the other's gateway.
pub(super) fn tasks_there(assignment: &Assignment, far: &impl Fn(usize, usize) -> f64) -> Vec<Task> {
    let others = pairs(assignment).filter(|(gateway, data)| gateway != data);
    others.map(|(gateway, data)| task(assignment, far, Operation::ReadThere, (gateway, data, data), 1)).collect()
}

fn pairs(assignment: &Assignment) -> impl Iterator<Item = (usize, usize)> {
    let count = assignment.regions.len();
    (0..count).flat_map(move |gateway| (0..count).map(move |data| (gateway, data)))
}

fn task(
    assignment: &Assignment,
    far: &impl Fn(usize, usize) -> f64,
    operation: Operation,
    (gateway, data, home): (usize, usize, usize),
    round_trips: u32,
) -> Task {
    let Assignment { regions, cities, .. } = assignment;
    let city = cities[data][0];
    let sql = if operation == Operation::Insert { INSERT } else { READ };
    let cell = Cell {
        gateway: regions[gateway].clone(),
        data: regions[data].clone(),
        city: city.to_owned(),
        operation,
        home: regions[home].clone(),
        round_trips,
        predicted_ms: f64::from(round_trips) * far(gateway, home),
        ..Cell::default()
    };
    let asks = (operation == Operation::ReadThere).then_some(home);
    Task { gateway, cell, sql: sql.replace("{city}", city), asks }
}

/// What touches nothing.
pub(super) const NOTHING: &str = "SELECT 1";

/// Milliseconds that a statement takes, as its client sees it: one round trip to its gateway, and what is done there.
pub(super) async fn time(session: &mut Session, sql: &str) -> Result<f64, Error> {
    let begun = Instant::now();
    session.ask(sql, &[], Protocol::Simple).await?;
    Ok(begun.elapsed().as_secs_f64() * 1000.0)
}
