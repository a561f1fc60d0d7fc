//! Failures, told apart by SQLSTATE and native code.

use odbc::{Connection, Error, Parameter};

use crate::{run, sources};

fn codes(error: &Error) -> (&str, i32) {
    let diagnostic = error.diagnostic().unwrap_or_else(|| panic!("no diagnostic: {error}"));
    (diagnostic.state.as_str(), diagnostic.native)
}

#[test]
fn each_failure_has_its_driver_s_codes() {
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        connection.execute("CREATE TABLE once (k INTEGER PRIMARY KEY)").unwrap();
        connection.execute("INSERT INTO once (k) VALUES (1)").unwrap();
        let refusals = [
            connection.execute("INSERT INTO once (k) VALUES (1)").unwrap_err(),
            connection.execute("SELECT k FROM nowhere").unwrap_err(),
            connection.execute("SELEKT").unwrap_err(),
        ];
        let expected = match name {
            "PostgreSQL" => [("23505", 1), ("42P01", 1), ("42601", 1)],
            "MariaDB" => [("23000", 1062), ("42S02", 1146), ("42000", 1064)],
            _ => [("HY000", 19), ("HY000", 1), ("HY000", 1)],
        };
        for (error, expected) in refusals.iter().zip(expected) {
            assert_eq!(codes(error), expected, "{name}: {error}");
            assert_eq!(error.to_string().lines().count(), 1, "{name}");
        }
        // A failure leaves the connection as it was.
        assert_eq!(connection.execute("SELECT k FROM once").unwrap().affected, 1, "{name}");
    }
}

#[test]
fn a_wait_for_a_lock_ends_in_a_code_of_its_own() {
    for source in sources() {
        let name = source.name;
        // How a driver or a server is told to give up soon.
        let (in_string, statement) = match name {
            "SQLite" => (";Timeout=100", None),
            "MariaDB" => ("", Some("SET innodb_lock_wait_timeout = 1")),
            _ => ("", Some("SET lock_timeout = '100ms'")),
        };
        let one = source.connect();
        let other = Connection::open(&format!("{}{in_string}", source.connection_string)).unwrap();
        if let Some(statement) = statement {
            other.execute(statement).unwrap();
        }
        one.execute("CREATE TABLE locked (k INTEGER PRIMARY KEY, v INTEGER)").unwrap();
        one.execute("INSERT INTO locked (k, v) VALUES (1, 1)").unwrap();
        one.set_autocommit(false).unwrap();
        one.execute("UPDATE locked SET v = 2").unwrap();
        let error = other.execute("UPDATE locked SET v = 3").unwrap_err();
        let expected = match name {
            "PostgreSQL" => ("55P03", 1),
            "MariaDB" => ("HY000", 1205),
            _ => ("HY000", 5),
        };
        assert_eq!(codes(&error), expected, "{name}: {error}");
    }
}

#[test]
fn parameters_must_fit_the_statement() {
    for source in sources() {
        let name = source.name;
        let connection = source.connect();
        connection.execute("CREATE TABLE two (a INTEGER, b INTEGER)").unwrap();
        let sql = "INSERT INTO two (a, b) VALUES (?, ?)";
        assert!(run(&connection, sql, &[Parameter::Int(1)]).is_err(), "{name}: one of two");
        let mut statement = connection.prepare(sql).unwrap();
        let error = statement.execute(&mut connection.parameters(&[odbc::Kind::Int])).unwrap_err();
        assert!(error.to_string().contains("0 rows"), "{name}: {error}");
        assert_eq!(run(&connection, sql, &[Parameter::Int(1), Parameter::Int(2)]).unwrap().affected, 1, "{name}");
    }
}

#[test]
fn a_driver_or_server_that_is_not_there_is_said_in_one_line() {
    for (connection_string, state) in [
        ("Driver={No Such Driver};Server=127.0.0.1", "01000"),
        ("Driver={PostgreSQL Unicode};Server=127.0.0.1;Port=1;Database=x;Uid=x", "08001"),
        ("Driver={MariaDB Unicode};Server=127.0.0.1;Port=1;Database=x;Uid=x", "HY000"),
    ] {
        let error = Connection::open(connection_string).unwrap_err();
        assert_eq!(codes(&error).0, state, "{error}");
        assert_eq!(error.to_string().lines().count(), 1);
    }
}
