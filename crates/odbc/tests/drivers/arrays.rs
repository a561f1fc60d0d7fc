//! Many rows of parameters in one execution.

use odbc::{Connection, Error, Kind, Parameter, Parameters, Value};

use crate::sources;

const INSERT: &str = "INSERT INTO many (k, d, v) VALUES (?, ?, ?)";

fn table(connection: &Connection) {
    connection.execute("CREATE TABLE many (k INTEGER PRIMARY KEY, d DECIMAL(8,2), v VARCHAR(600))").unwrap();
}

fn rows(connection: &Connection, keys: impl Iterator<Item = i64>) -> Parameters {
    let mut rows = connection.parameters(&[Kind::Int, Kind::Decimal, Kind::Text]);
    for k in keys {
        rows.push(Parameter::Int(k)).unwrap();
        let digits = format!("{k}.50");
        rows.push(if k % 3 == 0 { Parameter::Null } else { Parameter::Decimal(&digits) }).unwrap();
        rows.push(Parameter::Text(&"é".repeat(k as usize % 600))).unwrap();
    }
    rows
}

#[test]
fn every_row_arrives_with_its_own_values() {
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        table(&connection);
        connection.set_autocommit(false).unwrap();
        let mut insert = connection.prepare(INSERT).unwrap();
        let mut batch = rows(&connection, 1..=1_000);
        assert_eq!(insert.execute_all(&mut batch).unwrap(), 1_000, "{name}");
        // The same memory again, and then fewer rows than before.
        batch.clear();
        assert_eq!((batch.rows(), insert.execute_all(&mut batch).unwrap()), (0, 0), "{name}");
        assert_eq!(insert.execute_all(&mut rows(&connection, 1_001..=1_001)).unwrap(), 1, "{name}");
        assert_eq!(insert.execute_all(&mut rows(&connection, 1_002..=1_010)).unwrap(), 9, "{name}");
        connection.commit().unwrap();

        let answer = connection.execute("SELECT k, d, v FROM many ORDER BY k").unwrap();
        assert_eq!(answer.rows.len(), 1_010, "{name}");
        for (row, k) in answer.rows.iter().zip(1_i64..) {
            let amount = match &row[1] {
                Value::Null => None,
                Value::Decimal(digits) | Value::Text(digits) => Some(digits.parse::<f64>().unwrap()),
                other => panic!("{name}: {other:?}"),
            };
            let expected = (k % 3 != 0).then_some(k as f64 + 0.5);
            assert_eq!((&row[0], amount), (&Value::Int(k), expected), "{name}");
            assert_eq!(row[2], Value::Text("é".repeat(k as usize % 600)), "{name}");
        }
    }
}

#[test]
fn a_refused_row_is_an_error_and_the_transaction_can_go() {
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        table(&connection);
        connection.set_autocommit(false).unwrap();
        let mut insert = connection.prepare(INSERT).unwrap();
        let error = insert.execute_all(&mut rows(&connection, [1, 2, 3, 2, 4].into_iter())).unwrap_err();
        assert!(matches!(error, Error::Driver(_)), "{name}: {error}");
        connection.rollback().unwrap();
        assert_eq!(connection.execute("SELECT COUNT(k) FROM many").unwrap().rows[0][0], Value::Int(0), "{name}");
        connection.rollback().unwrap();
        assert_eq!(
            insert.execute_all(&mut rows(&connection, 1..=5)).unwrap(),
            5,
            "{name}: the statement can be used again"
        );
    }
}
