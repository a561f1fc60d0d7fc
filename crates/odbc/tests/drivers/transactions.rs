//! Autocommit, commit, rollback, isolation.

use odbc::{Isolation, Value};

use crate::sources;

#[test]
fn a_transaction_is_kept_or_gone_as_a_whole() {
    for source in sources() {
        let name = source.name;
        let (one, other) = (source.connect(), source.connect());
        one.execute("CREATE TABLE kept (k INTEGER PRIMARY KEY)").unwrap();
        one.execute("INSERT INTO kept (k) VALUES (1)").unwrap();
        let count = || other.execute("SELECT COUNT(k) FROM kept").unwrap().rows[0][0].clone();
        assert_eq!(count(), Value::Int(1), "{name}: autocommit");

        one.set_autocommit(false).unwrap();
        one.execute("INSERT INTO kept (k) VALUES (2)").unwrap();
        one.rollback().unwrap();
        one.execute("INSERT INTO kept (k) VALUES (3)").unwrap();
        assert_eq!(count(), Value::Int(1), "{name}: not committed yet");
        one.commit().unwrap();
        assert_eq!(count(), Value::Int(2), "{name}: committed");

        one.execute("INSERT INTO kept (k) VALUES (4)").unwrap();
        drop(one);
        assert_eq!(count(), Value::Int(2), "{name}: left open and dropped");
    }
}

#[test]
fn a_level_that_is_set_is_in_force() {
    for source in sources().iter().filter(|source| source.name != "SQLite") {
        let name = source.name;
        let (one, other) = (source.connect(), source.connect());
        one.execute("CREATE TABLE seen (k INTEGER PRIMARY KEY)").unwrap();
        one.set_autocommit(false).unwrap();
        let count = || one.execute("SELECT COUNT(k) FROM seen").unwrap().rows[0][0].clone();
        for (level, after) in [(Isolation::RepeatableRead, 0), (Isolation::ReadCommitted, 1)] {
            one.set_isolation(level).unwrap();
            other.execute("DELETE FROM seen").unwrap();
            assert_eq!(count(), Value::Int(0), "{name}");
            other.execute("INSERT INTO seen (k) VALUES (1)").unwrap();
            assert_eq!(count(), Value::Int(after), "{name}: {level:?}");
            one.rollback().unwrap();
        }
    }
}
