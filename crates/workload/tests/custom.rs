//! Workloads of files as pure code: rows and draws that follow from the seed.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use target::bulk::Csv;
use target::{OwnedValue, Session, Url};
use workload::custom::{Custom, Data, FileTransactions, Input, tables};
use workload::data_set::DataSet;

const FILE: &str = r#"
name = "little"

[[table]]
name = "parent"
rows = 50
fixed = true
primary_key = ["id"]
columns = [
    { name = "id", type = "int", value = "sequence(100)" },
    { name = "word", type = "char(8)", value = "text(8, 8)" },
    { name = "twin", type = "uuid", value = "uuid()" },
]

[[table]]
name = "child"
rows = 1_000
columns = [
    { name = "id", type = "bigint", value = "sequence(1)" },
    { name = "parent_word", type = "char(8)", value = "of(parent.word)" },
    { name = "parent_id", type = "int", value = "of(parent.id)" },
    { name = "size", type = "smallint", value = "zipf(rows(parent), 1.0)" },
    { name = "price", type = "decimal(6, 2)", value = "decimal(1.00, 2.50)", nulls = 0.25 },
    { name = "label", type = "varchar(5)", value = "choice(a, bb)" },
    { name = "at", type = "timestamp", value = "timestamp(2026-01-01, 2026-01-02)" },
]

[[transaction]]
name = "often"
weight = 9
rollback = 0.5
values = { n = "sequence(1)", id = "of(parent.id)", word = "of(parent.word)" }
steps = [{ sql = "SELECT :n, :id, :word" }]

[[transaction]]
name = "seldom"
weight = 1
steps = [{ sql = "SELECT 1" }]
"#;

fn custom() -> Custom {
    Custom::parse(FILE).unwrap()
}

/// The rows of a table as CSV, said in some order.
fn csv(data: &Data, table: usize, positions: impl Iterator<Item = u64>) -> Vec<String> {
    let row = |position| {
        let mut csv = Csv::default();
        tables::write(data, table, position, &mut csv);
        String::from_utf8(csv.rows().to_vec()).unwrap()
    };
    positions.map(row).collect()
}

#[test]
fn any_row_follows_from_seed_table_and_position() {
    let data = Data::new(&custom(), 1.0, 7).unwrap();
    let forward = csv(&data, 1, 0..1000);
    let mut backward = csv(&data, 1, (0..1000).rev());
    backward.reverse();
    assert_eq!(forward, backward);
    assert_eq!(csv(&Data::new(&custom(), 1.0, 7).unwrap(), 1, 0..1000), forward);
    assert_ne!(csv(&Data::new(&custom(), 1.0, 8).unwrap(), 1, 0..1000), forward);
    // A larger scale goes on where a smaller one ends, and leaves alone what is fixed.
    let larger = Data::new(&custom(), 3.0, 7).unwrap();
    assert_eq!((larger.rows(0), larger.rows(1)), (50, 3000));
    assert_eq!(csv(&larger, 1, 0..1000), forward);
}

#[test]
fn rows_are_what_their_generators_say() {
    let data = Data::new(&custom(), 1.0, 7).unwrap();
    let fields = |row: &String| row.trim_end().split(',').map(str::to_owned).collect::<Vec<_>>();
    let parents: BTreeMap<String, String> =
        csv(&data, 0, 0..50).iter().map(fields).map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!((parents.len(), parents.contains_key("100"), parents.contains_key("149")), (50, true, true));
    let (mut nulls, mut labels, mut used) = (0, BTreeSet::new(), BTreeSet::new());
    for (number, row) in csv(&data, 1, 0..1000).iter().map(fields).enumerate() {
        assert_eq!(row[0], (number + 1).to_string());
        assert_eq!(parents.get(&row[2]), Some(&row[1]), "both are of the same row: {row:?}");
        assert!((1..=50).contains(&row[3].parse::<i64>().unwrap()), "{row:?}");
        match row[4].parse::<f64>() {
            Ok(price) => assert!((1.0..=2.5).contains(&price), "{row:?}"),
            Err(_) => nulls += usize::from(row[4].is_empty()),
        }
        assert!(row[6].starts_with("2026-01-0"), "{row:?}");
        labels.insert(row[5].clone());
        used.insert(row[2].clone());
    }
    // A share of 0.25 of 1000 has a standard error of 14.
    assert!((180..=320).contains(&nulls), "{nulls}");
    assert_eq!((labels.len(), used.len()), (2, 50));
}

fn draws(seed: u64, terminal: u64, count: usize) -> Vec<Input> {
    let folder = tempfile::tempdir().unwrap();
    let url = Url::parse(&format!("sqlite:{}", folder.path().join("a.db").display())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let transactions = runtime.block_on(async {
        let mut session = Session::connect(&url).await.unwrap();
        let data = Data::new(&custom(), 1.0, 7).unwrap();
        FileTransactions::new(&custom(), data, target::Isolation::Serializable, &mut session).await.unwrap()
    });
    let mut terminal = transactions.terminal(seed, terminal);
    (0..count).map(|_| transactions.draw(&mut terminal)).collect()
}

#[test]
fn draws_follow_from_seed_and_terminal() {
    let first = draws(3, 0, 500);
    assert_eq!(first, draws(3, 0, 500));
    assert_ne!(first, draws(4, 0, 500));
    assert_ne!(first, draws(3, 1, 500));
}

#[test]
fn weights_rollbacks_and_sequences_are_as_written() {
    let data = Data::new(&custom(), 1.0, 7).unwrap();
    let words: BTreeMap<i64, String> = csv(&data, 0, 0..50)
        .iter()
        .map(|row| row.trim_end().split(',').map(str::to_owned).collect::<Vec<_>>())
        .map(|row| (row[0].parse().unwrap(), row[1].clone()))
        .collect();
    let inputs = draws(3, 2, 4000);
    let often: Vec<&Input> = inputs.iter().filter(|input| input.kind == 0).collect();
    // Standard errors: 19 of 3600, 30 of 1800.
    assert!((3500..=3700).contains(&often.len()), "{}", often.len());
    let rolled_back = often.iter().filter(|input| input.roll_back).count();
    assert!((1650..=1950).contains(&rolled_back), "{rolled_back}");
    for (number, input) in often.iter().enumerate() {
        let [OwnedValue::Int(n), OwnedValue::Int(id), OwnedValue::Text(word)] = input.values.as_slice() else {
            panic!("{input:?}");
        };
        // A terminal's numbers are its own, one after the other.
        assert_eq!(*n, 2_000_000_001 + number as i64);
        assert_eq!(words.get(id), Some(word), "both are of the same row");
    }
}
