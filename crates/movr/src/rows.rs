//! The rows of the three tables.

use crate::random::Stream;
use crate::words::{BRANDS, COLORS, FIRST_NAMES, LAST_NAMES, STREETS, WAYS};
use crate::{DAYS, FIRST_START_US, Movr, Table, Uuid, city};

/// A row of `users`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// With the city its key.
    pub id: Uuid,
    /// Where they live.
    pub city: &'static str,
    /// First and last name. About 3,000 are possible, so some are shared.
    pub name: String,
    /// House number and street.
    pub address: String,
    /// Ten digits, which no real card's number has.
    pub credit_card: String,
}

/// A row of `vehicles`. Its column `mycol` is always NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vehicle {
    /// With the city its key.
    pub id: Uuid,
    /// Where it stays.
    pub city: &'static str,
    /// `bike`, `scooter` or `skateboard`.
    pub kind: &'static str,
    /// A user of the same city.
    pub owner_id: Uuid,
    /// Within the year 2017, in microseconds since the Unix epoch.
    pub creation_time_us: i64,
    /// `available` (60 %), `in_use` (35 %) or `lost` (5 %).
    pub status: &'static str,
    /// A JSON object, written as databases write theirs: keys in order, a blank behind colon and comma.
    pub ext: String,
}

/// A row of `rides`. Its column `vehicle_city` is the city again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ride {
    /// With the city its key.
    pub id: Uuid,
    /// Where it took place.
    pub city: &'static str,
    /// A user of the same city.
    pub rider_id: Uuid,
    /// A vehicle of the same city.
    pub vehicle_id: Uuid,
    /// House number and street.
    pub start_address: String,
    /// House number and street.
    pub end_address: String,
    /// A whole second of one of [`DAYS`] days, in microseconds since the Unix epoch.
    pub start_time_us: i64,
    /// One to ninety minutes later.
    pub end_time_us: i64,
    /// What was paid, in cents: a dollar, 15 to 40 cents a minute.
    pub revenue_cents: i64,
}

const SECOND_US: i64 = 1_000_000;
const DAY_SECONDS: i64 = 24 * 60 * 60;

pub(crate) fn user(movr: &Movr, position: u64) -> User {
    let mut stream = movr.row(Table::Users, position);
    User {
        id: movr.id(Table::Users, position),
        city: city(position),
        name: format!("{} {}", stream.pick(&FIRST_NAMES), stream.pick(&LAST_NAMES)),
        address: address(&mut stream),
        credit_card: format!("{:010}", stream.below(10_000_000_000)),
    }
}

pub(crate) fn vehicle(movr: &Movr, position: u64) -> Vehicle {
    let mut stream = movr.row(Table::Vehicles, position);
    let (kind, ext) = kind_and_ext(&mut stream);
    let owner = movr.neighbour(&mut stream, Table::Users, position);
    Vehicle {
        id: movr.id(Table::Vehicles, position),
        city: city(position),
        kind,
        owner_id: movr.id(Table::Users, owner),
        creation_time_us: FIRST_START_US - stream.between(1, 365 * DAY_SECONDS) * SECOND_US,
        status: match stream.below(100) {
            0..60 => "available",
            60..95 => "in_use",
            _ => "lost",
        },
        ext,
    }
}

pub(crate) fn ride(movr: &Movr, position: u64) -> Ride {
    let mut stream = movr.row(Table::Rides, position);
    let rider = movr.neighbour(&mut stream, Table::Users, position);
    let vehicle = movr.neighbour(&mut stream, Table::Vehicles, position);
    let start_time_us = FIRST_START_US + stream.between(0, DAYS * DAY_SECONDS - 1) * SECOND_US;
    let minutes = stream.between(1, 90);
    Ride {
        id: movr.id(Table::Rides, position),
        city: city(position),
        rider_id: movr.id(Table::Users, rider),
        vehicle_id: movr.id(Table::Vehicles, vehicle),
        start_address: address(&mut stream),
        end_address: address(&mut stream),
        start_time_us,
        end_time_us: start_time_us + minutes * 60 * SECOND_US,
        revenue_cents: 100 + minutes * stream.between(15, 40),
    }
}

fn address(stream: &mut Stream) -> String {
    format!("{} {} {}", stream.between(1, 999), stream.pick(&STREETS), stream.pick(&WAYS))
}

/// What it is, and its JSON. The keys have one length: some databases sort them by length, others by letters.
fn kind_and_ext(stream: &mut Stream) -> (&'static str, String) {
    let color = stream.pick(&COLORS);
    match stream.below(3) {
        0 => {
            let brand = stream.pick(&BRANDS);
            let gears = stream.pick(&[1, 3, 7, 21]);
            ("bike", format!(r#"{{"brand": "{brand}", "color": "{color}", "gears": {gears}}}"#))
        }
        1 => {
            let kilometres = stream.between(15, 45);
            ("scooter", format!(r#"{{"color": "{color}", "range": {kilometres}}}"#))
        }
        _ => ("skateboard", format!(r#"{{"color": "{color}"}}"#)),
    }
}
