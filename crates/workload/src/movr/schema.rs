//! The three tables. As in the published schema all columns but those of the keys may be NULL.

use target::schema::{
    Check, Column,
    ColumnType::{self, Decimal, Json, Timestamp, Uuid, Varchar},
    ForeignKey, Index, Table,
};

const CITY: ColumnType = Varchar(20);
const ADDRESS: ColumnType = Varchar(100);
const WORD: ColumnType = Varchar(20);

/// Users.
pub static USERS: Table = Table {
    name: "users",
    columns: &[
        Column::new("id", Uuid),
        Column::new("city", CITY),
        Column::new("name", Varchar(60)).nullable(),
        Column::new("address", ADDRESS).nullable(),
        Column::new("credit_card", Varchar(20)).nullable(),
    ],
    primary_key: &["city", "id"],
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
    spread_by: None,
};

/// Vehicles.
pub static VEHICLES: Table = Table {
    name: "vehicles",
    columns: &[
        Column::new("id", Uuid),
        Column::new("city", CITY),
        Column::new("type", WORD).nullable(),
        Column::new("owner_id", Uuid).nullable(),
        Column::new("creation_time", Timestamp).nullable(),
        Column::new("status", WORD).nullable(),
        Column::new("ext", Json).nullable(),
        Column::new("mycol", Varchar(100)).nullable(),
    ],
    primary_key: &["city", "id"],
    foreign_keys: &[ForeignKey {
        name: "vehicles_owner_fk",
        columns: &["city", "owner_id"],
        parent: "users",
        parent_columns: &["city", "id"],
    }],
    checks: &[],
    indexes: &[Index { name: "vehicles_by_owner", columns: &["city", "owner_id"] }],
    spread_by: None,
};

/// Rides.
pub static RIDES: Table = Table {
    name: "rides",
    columns: &[
        Column::new("id", Uuid),
        Column::new("city", CITY),
        Column::new("vehicle_city", CITY).nullable(),
        Column::new("rider_id", Uuid).nullable(),
        Column::new("vehicle_id", Uuid).nullable(),
        Column::new("start_address", ADDRESS).nullable(),
        Column::new("end_address", ADDRESS).nullable(),
        Column::new("start_time", Timestamp).nullable(),
        Column::new("end_time", Timestamp).nullable(),
        Column::new("revenue", Decimal { precision: 10, scale: 2 }).nullable(),
    ],
    primary_key: &["city", "id"],
    foreign_keys: &[
        ForeignKey {
            name: "rides_rider_fk",
            columns: &["city", "rider_id"],
            parent: "users",
            parent_columns: &["city", "id"],
        },
        ForeignKey {
            name: "rides_vehicle_fk",
            columns: &["vehicle_city", "vehicle_id"],
            parent: "vehicles",
            parent_columns: &["city", "id"],
        },
    ],
    checks: &[Check { name: "rides_vehicle_city_check", condition: "vehicle_city = city" }],
    indexes: &[
        Index { name: "rides_by_rider", columns: &["city", "rider_id"] },
        Index { name: "rides_by_vehicle", columns: &["vehicle_city", "vehicle_id"] },
    ],
    spread_by: None,
};

/// The three tables, parents first.
pub static TABLES: [&Table; 3] = [&USERS, &VEHICLES, &RIDES];
