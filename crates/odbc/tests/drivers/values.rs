//! Values at their limits, there and back.

use odbc::{Info, Isolation, Parameter, Timestamp, Value};

use crate::{run, sources};

const TABLE: &str = "CREATE TABLE limits (k INTEGER PRIMARY KEY, s SMALLINT, i INTEGER, b BIGINT, d DECIMAL(12,2), \
                     r DECIMAL(4,4), v VARCHAR(500), t TIMESTAMP NULL)";
const INSERT: &str = "INSERT INTO limits (k, s, i, b, d, r, v, t) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
const SELECT: &str = "SELECT s, i, b, d, r, v, t FROM limits WHERE k = ?";

#[test]
fn numbers_at_their_limits_come_back_as_they_went() {
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        connection.execute(TABLE).unwrap();
        let rows = [
            (1, -32_768, i64::from(i32::MIN), i64::MIN, "-9999999999.99", "-0.9999"),
            (2, 32_767, i64::from(i32::MAX), i64::MAX, "9999999999.99", "0.9999"),
            (3, 0, 0, 0, "0.01", "0.0001"),
        ];
        for (k, s, i, b, d, r) in rows {
            let row = [
                Parameter::Int(k),
                Parameter::Int(s),
                Parameter::Int(i),
                Parameter::Int(b),
                Parameter::Decimal(d),
                Parameter::Decimal(r),
                Parameter::Null,
                Parameter::Null,
            ];
            assert_eq!(run(&connection, INSERT, &row).unwrap().affected, 1, "{name}");
            let answer = run(&connection, SELECT, &[Parameter::Int(k)]).unwrap();
            let got = &answer.rows[0];
            assert_eq!(got[..3], [Value::Int(s), Value::Int(i), Value::Int(b)], "{name}");
            // SQLite has no decimals: its driver gives the digits of a float as text.
            let digits = |value: &Value| match value {
                Value::Decimal(digits) | Value::Text(digits) => digits.parse::<f64>().unwrap().to_string(),
                other => panic!("{name}: {other:?}"),
            };
            let plain = |text: &str| text.parse::<f64>().unwrap().to_string();
            assert_eq!((digits(&got[3]), digits(&got[4])), (plain(d), plain(r)), "{name}");
            if name != "SQLite" {
                assert_eq!(got[3], Value::Decimal(d.into()), "{name}");
            }
            assert_eq!(got[5..], [Value::Null, Value::Null], "{name}");
        }
    }
}

#[test]
fn text_of_any_length_and_script_comes_back_as_it_went() {
    let long = "wägen und messen 漢字 🎉 ".repeat(5_000);
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        let kind = if name == "MariaDB" { "LONGTEXT CHARACTER SET utf8mb4" } else { "TEXT" };
        connection.execute(&format!("CREATE TABLE texts (k INTEGER PRIMARY KEY, v {kind})")).unwrap();
        // Around the size of a piece (511 units), where an end is easily lost.
        let of = |units: usize| "x".repeat(units);
        let texts =
            ["", " ", "a", "'; --", "grüße 漢字 🎉", &of(510), &of(511), &of(512), &of(1_022), &of(1_023), &long];
        for (k, text) in (0_i64..).zip(texts) {
            let row = [Parameter::Int(k), Parameter::Text(text)];
            run(&connection, "INSERT INTO texts (k, v) VALUES (?, ?)", &row).unwrap();
            let answer = run(&connection, "SELECT v, k FROM texts WHERE k = ?", &[Parameter::Int(k)]).unwrap();
            assert!(answer.rows[0] == [Value::Text(text.into()), Value::Int(k)], "{name}: {} units", text.len());
        }
    }
}

#[test]
fn dates_keep_their_parts() {
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        connection.execute(TABLE).unwrap();
        let time = Timestamp { year: 2026, month: 2, day: 28, hour: 23, minute: 59, second: 58, nanosecond: 0 };
        let mut row = [Parameter::Null; 8];
        row[0] = Parameter::Int(1);
        row[7] = Parameter::Timestamp(time);
        run(&connection, INSERT, &row).unwrap();
        let answer = run(&connection, SELECT, &[Parameter::Int(1)]).unwrap();
        assert_eq!(answer.rows[0][6], Value::Timestamp(time), "{name}");
    }
}

#[test]
fn a_result_without_rows_has_columns_and_a_change_has_a_count() {
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        connection.execute(TABLE).unwrap();
        let none = connection.execute("SELECT k, v FROM limits").unwrap();
        assert_eq!((none.columns, none.rows.len(), none.affected), (vec!["k".into(), "v".into()], 0, 0), "{name}");
        for k in 1..=3 {
            connection.execute(&format!("INSERT INTO limits (k, s) VALUES ({k}, 7)")).unwrap();
        }
        // The same value again: rows found count, not only rows made different.
        assert_eq!(connection.execute("UPDATE limits SET s = 7 WHERE k < 3").unwrap().affected, 2, "{name}");
        assert_eq!(connection.execute("UPDATE limits SET s = 7 WHERE k > 3").unwrap().affected, 0, "{name}");
        assert_eq!(connection.execute("DELETE FROM limits").unwrap().affected, 3, "{name}");
    }
}

#[test]
fn the_driver_and_the_database_say_who_they_are() {
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        assert_eq!(connection.info(Info::DbmsName).unwrap(), name);
        for info in [Info::DbmsVersion, Info::DriverName, Info::DriverVersion, Info::IdentifierQuote] {
            assert!(!connection.info(info).unwrap().is_empty(), "{name}: {info:?}");
        }
        assert!(connection.isolations().unwrap().contains(&Isolation::Serializable), "{name}");
        let timestamp = connection.timestamp_type().unwrap();
        connection.execute(&format!("CREATE TABLE my_dates (at_ {timestamp})")).unwrap();
        assert!(connection.has_table("my_dates").unwrap(), "{name}");
        assert!(!connection.has_table("my_date_").unwrap(), "{name}: a name is no pattern");
        assert!(!connection.has_table("no_such_table").unwrap(), "{name}");
    }
}
