//! The data set's promises: deterministic, whole in every city, references that hold.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{HashMap, HashSet};

use movr::{CITIES, DAYS, FIRST_START_US, Movr, Table, Uuid, city};
use proptest::prelude::*;

const DAY_US: i64 = 86_400_000_000;

fn ids(movr: &Movr, table: Table) -> HashMap<Uuid, &'static str> {
    (0..movr.rows(table)).map(|position| (movr.id(table, position), city(position))).collect()
}

#[test]
fn scale_1_is_a_million_rides_and_any_scale_has_something_in_each_city() {
    let rows = |scale| Table::ALL.map(|table| Movr::new(1, scale).rows(table));
    assert_eq!(rows(1.0), [50_000, 15_000, 1_000_000]);
    assert_eq!(rows(0.01), [500, 150, 10_000]);
    assert_eq!(rows(1e-9), [60, 30, 300]);
    assert_eq!(rows(f64::NAN), rows(0.0));
    assert_eq!(rows(f64::INFINITY), rows(movr::MAX_SCALE));
}

#[test]
fn the_data_format_is_this() {
    let movr = Movr::new(1, 1.0);
    let user = movr.user(7);
    let user = [user.id.to_string(), user.city.to_owned(), user.name, user.address, user.credit_card].join(", ");
    assert_eq!(user, "021abc76-927a-4f56-8860-36b338e5fd2f, boston, Deborah Lopez, 209 River Boulevard, 5935921934");
    let vehicle = movr.vehicle(2);
    let (owner, at) = (vehicle.owner_id, vehicle.creation_time_us);
    let vehicle = format!("{}, {owner}, {at}, {}, {}", vehicle.kind, vehicle.status, vehicle.ext);
    assert_eq!(
        vehicle,
        r#"skateboard, 179b9407-46c5-4f10-86a6-2bc8cea9cbc0, 1489632655000000, available, {"color": "black"}"#
    );
    let ride = movr.ride(999_999);
    let addresses = format!("{}, {}", ride.start_address, ride.end_address);
    let times = (ride.start_time_us, ride.end_time_us, ride.revenue_cents);
    let ride = format!("{}, {}, {addresses}, {times:?}", ride.rider_id, ride.vehicle_id);
    assert_eq!(
        ride,
        "af9113a2-d157-4299-a5f9-4c0466270ea6, 96e0e485-a41e-4316-b27e-6799647d27c6, 257 Elm Avenue, 721 Spring Place, (1529632541000000, 1529636141000000, 1540)"
    );
}

#[test]
fn every_reference_is_a_row_of_the_same_city() {
    let movr = Movr::new(3, 0.01);
    let (users, vehicles) = (ids(&movr, Table::Users), ids(&movr, Table::Vehicles));
    for vehicle in (0..movr.rows(Table::Vehicles)).map(|position| movr.vehicle(position)) {
        assert_eq!(users.get(&vehicle.owner_id), Some(&vehicle.city));
    }
    let (mut riders, mut ridden) = (HashSet::new(), HashSet::new());
    for ride in (0..movr.rows(Table::Rides)).map(|position| movr.ride(position)) {
        assert_eq!(users.get(&ride.rider_id), Some(&ride.city));
        assert_eq!(vehicles.get(&ride.vehicle_id), Some(&ride.city));
        riders.insert(ride.rider_id);
        ridden.insert(ride.vehicle_id);
    }
    // Twenty rides a user: hardly anyone has none.
    assert!(riders.len() > 480 && ridden.len() == vehicles.len(), "{} {}", riders.len(), ridden.len());
}

#[test]
fn ids_are_distinct_and_shaped_as_version_4() {
    let movr = Movr::new(1, 0.1);
    let mut seen = HashSet::new();
    for table in Table::ALL {
        for id in ids(&movr, table).into_keys() {
            assert!(id.0[6] >> 4 == 4 && id.0[8] >> 6 == 0b10, "{id}");
            assert!(seen.insert(id), "{id} twice");
        }
    }
    let rows: u64 = Table::ALL.iter().map(|table| movr.rows(*table)).sum();
    assert_eq!(seen.len() as u64, rows);
    let text = movr.id(Table::Users, 0).to_string();
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    assert_eq!(groups, [8, 4, 4, 4, 12], "{text}");
}

#[test]
fn documents_are_json_and_as_databases_write_them() {
    let movr = Movr::new(1, 0.1);
    let mut kinds: HashMap<&str, u32> = HashMap::new();
    for vehicle in (0..movr.rows(Table::Vehicles)).map(|position| movr.vehicle(position)) {
        let parsed: serde_json::Value = serde_json::from_str(&vehicle.ext).unwrap();
        let keys: Vec<&str> = parsed.as_object().unwrap().keys().map(String::as_str).collect();
        let expected: &[&str] = match vehicle.kind {
            "bike" => &["brand", "color", "gears"],
            "scooter" => &["color", "range"],
            _ => &["color"],
        };
        assert_eq!(keys, expected);
        assert_eq!(vehicle.ext, parsed.to_string().replace(':', ": ").replace(',', ", "));
        *kinds.entry(vehicle.kind).or_default() += 1;
    }
    assert!(kinds.len() == 3 && kinds.values().all(|count| (400..600).contains(count)), "{kinds:?}");
}

#[test]
fn statuses_cities_and_days_have_their_shares() {
    let movr = Movr::new(1, 0.1);
    let mut statuses: HashMap<&str, u32> = HashMap::new();
    for vehicle in (0..movr.rows(Table::Vehicles)).map(|position| movr.vehicle(position)) {
        *statuses.entry(vehicle.status).or_default() += 1;
        assert!((FIRST_START_US - 365 * DAY_US..FIRST_START_US).contains(&vehicle.creation_time_us));
    }
    // Of 1,500; four standard deviations on either side.
    assert!((824..=976).contains(&statuses["available"]), "{statuses:?}");
    assert!((451..=599).contains(&statuses["in_use"]), "{statuses:?}");
    assert!((41..=109).contains(&statuses["lost"]), "{statuses:?}");

    let (mut cities, mut days) = (HashMap::new(), vec![0; DAYS as usize]);
    for ride in (0..movr.rows(Table::Rides)).map(|position| movr.ride(position)) {
        *cities.entry(ride.city).or_insert(0) += 1;
        days[((ride.start_time_us - FIRST_START_US) / DAY_US) as usize] += 1;
        let minutes = (ride.end_time_us - ride.start_time_us) / 60_000_000;
        assert!((1..=90).contains(&minutes) && (100 + 15 * minutes..=100 + 40 * minutes).contains(&ride.revenue_cents));
    }
    assert_eq!(cities.len(), CITIES.len());
    assert!(cities.values().all(|count| (16_666..=16_667).contains(count)), "{cities:?}");
    // 274 a day: five standard deviations on either side.
    assert!(days.iter().all(|count| (191..=357).contains(count)), "{days:?}");
}

proptest! {
    #[test]
    fn a_row_depends_on_seed_scale_and_position_alone(seed: u64, position in 0..300_u64) {
        let (movr, again) = (Movr::new(seed, 0.002), Movr::new(seed, 0.002));
        // Others made before change nothing.
        let _ = (movr.ride(position / 2), movr.user(position % 60));
        prop_assert_eq!(movr.ride(position), again.ride(position));
        prop_assert_eq!(movr.user(position % 100), again.user(position % 100));
        prop_assert_eq!(movr.vehicle(position % 30), again.vehicle(position % 30));
        prop_assert_eq!(movr.ride(position).city, CITIES[(position % 6) as usize]);
    }

    #[test]
    fn another_seed_is_another_data_set(seed: u64, other: u64, position in 0..300_u64) {
        prop_assume!(seed != other);
        let (movr, another) = (Movr::new(seed, 0.001), Movr::new(other, 0.001));
        prop_assert_ne!(movr.id(Table::Rides, position), another.id(Table::Rides, position));
    }

    #[test]
    fn a_user_is_the_same_at_every_scale(seed: u64, position in 0..60_u64) {
        prop_assert_eq!(Movr::new(seed, 0.001).user(position), Movr::new(seed, 1.0).user(position));
    }
}
