//! MovR's rows.

use movr::{Movr, Table};
use target::{Error, Session};

use super::RegionsOptions;

/// Rows of one statement.
const AT_ONCE: u64 = 500;

/// Makes the tables and fills them.
pub(super) async fn load(session: &mut Session, options: &RegionsOptions) -> Result<(), Error> {
    let movr = Movr::new(options.seed, options.scale);
    for (table, name, columns) in [
        (
            Table::Users,
            "users",
            "id UUID, city VARCHAR(20), name VARCHAR(60), address VARCHAR(100), credit_card VARCHAR(20)",
        ),
        (
            Table::Vehicles,
            "vehicles",
            "id UUID, city VARCHAR(20), type VARCHAR(20), owner_id UUID, creation_time TIMESTAMP, status VARCHAR(20), \
             ext JSONB, mycol VARCHAR(100)",
        ),
        (Table::Rides, "rides", "id UUID, city VARCHAR(20), vehicle_city VARCHAR(20), rider_id UUID, vehicle_id UUID"),
    ] {
        session.execute(&format!("CREATE TABLE {name} ({columns}, PRIMARY KEY (city, id))")).await?;
        let rows = movr.rows(table);
        for from in (0..rows).step_by(AT_ONCE as usize) {
            let rows: Vec<String> =
                (from..rows.min(from + AT_ONCE)).map(|position| row(&movr, table, position)).collect();
            session.execute(&format!("INSERT INTO {name} VALUES {}", rows.join(", "))).await?;
        }
        session.execute(&format!("ANALYZE {name}")).await?;
    }
    Ok(())
}

fn row(movr: &Movr, table: Table, position: u64) -> String {
    match table {
        Table::Users => {
            let row = movr.user(position);
            format!(
                "('{}', '{}', '{}', '{}', '{}')",
                row.id,
                row.city,
                row.name.replace('\'', "''"),
                row.address.replace('\'', "''"),
                row.credit_card
            )
        }
        Table::Vehicles => {
            let row = movr.vehicle(position);
            format!(
                "('{}', '{}', '{}', '{}', TIMESTAMP '2017-01-01', '{}', '{}', NULL)",
                row.id, row.city, row.kind, row.owner_id, row.status, row.ext
            )
        }
        Table::Rides => {
            let row = movr.ride(position);
            format!("('{}', '{}', '{}', '{}', '{}')", row.id, row.city, row.city, row.rider_id, row.vehicle_id)
        }
    }
}
