//! Any database that has an ODBC driver.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use odbc::{Connection, Diagnostic, Info, Value};

use crate::ddl::{Ddl, standard_type};
use crate::dialect::{Dialect, Isolation, MultiRowUpdate, Verified};
use crate::introspection::Introspection;
use crate::placement::DataPlacement;
use crate::schema::ColumnType;
use crate::topology::TopologyQuery;
use crate::wire::{WireKind, mysql, pg, sqlite};
use crate::{Class, UrlError};

/// The dialect of a database that is known by its driver only: standard SQL, and what was learned when connecting.
#[derive(Debug)]
pub struct Odbc {
    facts: Facts,
}

/// Before a connection is made, a database is taken for what the standard describes.
pub static ODBC: Odbc = Odbc {
    facts: Facts {
        timestamp: None,
        exact_decimals: true,
        row_locks: true,
        limit: true,
        database: &KnownDatabase {
            name: "",
            retry: &[],
            lost: &[],
            duplicate: &[],
            exists: &[],
            analyze: None,
            clock: None,
        },
    },
};

/// What SQL leaves open, and drivers don't tell.
#[derive(Clone, Debug)]
struct Facts {
    /// The type of a date with a time; the standard's own if the driver names none.
    timestamp: Option<String>,
    /// Whether 0.10 + 0.20 is 0.30.
    exact_decimals: bool,
    /// Whether `FOR UPDATE` is understood.
    row_locks: bool,
    /// Whether `LIMIT` is understood, or else `FETCH FIRST`.
    limit: bool,
    database: &'static KnownDatabase,
}

/// What is known of a database by the name that its driver gives it (SQL_DBMS_NAME): drivers put
/// much into SQLSTATE HY000 that only the native code tells apart.
#[derive(Debug)]
pub(crate) struct KnownDatabase {
    name: &'static str,
    /// Native codes of conflicts and of waits that ended.
    retry: &'static [i32],
    /// Native codes of a connection that is gone, or can't be made.
    lost: &'static [i32],
    /// Native codes of a key that is there already, where the SQLSTATE doesn't say so.
    duplicate: &'static [i32],
    /// SQLSTATE and native code of what DDL would make and is there already.
    exists: &'static [&'static str],
    /// The words before a table's name to refresh its statistics.
    analyze: Option<&'static str>,
    /// The expression for its clock.
    clock: Option<&'static str>,
}

static KNOWN_DATABASES: &[KnownDatabase] = &[
    KnownDatabase {
        name: "PostgreSQL",
        retry: &[],
        lost: &[],
        duplicate: &[],
        exists: &[],
        analyze: Some("ANALYZE"),
        clock: pg::DEFAULTS.clock,
    },
    KnownDatabase {
        name: "MariaDB",
        retry: &[1020, 1205, 1213],
        lost: &[1047, 1053, 1927, 2002, 2003, 2006, 2013, 2055],
        duplicate: &[],
        exists: &["42000/1061", "HY000/1826", "HY000/1005"],
        analyze: Some("ANALYZE TABLE"),
        clock: mysql::DEFAULTS.clock,
    },
    KnownDatabase {
        name: "MySQL",
        retry: &[1020, 1205, 1213],
        lost: &[1053, 2002, 2003, 2006, 2013, 2055],
        duplicate: &[],
        exists: &["42000/1061", "HY000/1826"],
        analyze: Some("ANALYZE TABLE"),
        clock: mysql::DEFAULTS.clock,
    },
    // SQLITE_BUSY and SQLITE_LOCKED; SQLITE_CONSTRAINT.
    KnownDatabase {
        name: "SQLite",
        retry: &[5, 6],
        lost: &[],
        duplicate: &[19],
        exists: &[],
        analyze: Some("ANALYZE"),
        clock: sqlite::DEFAULTS.clock,
    },
    // UPDATE_CONFLICT, DEADLOCK and LOCK_TIMEOUT; NETWORK_ERROR, CONNECTION_ERROR and IS_SHUTDOWN; UNIQUE_DUPLICATE.
    KnownDatabase {
        name: "NuoDB",
        retry: &[-24, -29, -32],
        lost: &[-7, -10, -50],
        duplicate: &[-27],
        exists: &[],
        analyze: Some("ANALYZE TABLE"),
        clock: None,
    },
];

/// What is known of the database with this name.
pub(crate) fn known(name: &str) -> &'static KnownDatabase {
    KNOWN_DATABASES.iter().find(|known| known.name == name).unwrap_or(ODBC.facts.database)
}

impl KnownDatabase {
    /// Classes an error by its SQLSTATE and native code, never by its text.
    pub(crate) fn class(&self, diagnostic: &Diagnostic) -> Class {
        let state = diagnostic.state.as_str();
        let native = &diagnostic.native;
        // 40003: whether the statement was completed is unknown.
        if self.lost.contains(native) || state == "40003" {
            Class::Lost
        } else if self.retry.contains(native) || state.starts_with("40") || matches!(state, "55P03" | "HYT00") {
            // Class 40 is the standard's own: serialization failure, deadlock, rollback by the database.
            Class::Retry
        } else if state.starts_with("08") || state.starts_with("57P") || state == "HYT01" {
            Class::Lost
        } else {
            Class::Permanent
        }
    }

    /// Whether an INSERT failed because its key is there already.
    pub(crate) fn duplicates(&self, diagnostic: &Diagnostic) -> bool {
        diagnostic.state.starts_with("23") || self.duplicate.contains(&diagnostic.native)
    }
}

/// What was learned, by connection string: a driver is asked once a process.
static LEARNED: LazyLock<Mutex<HashMap<String, &'static Odbc>>> = LazyLock::new(Mutex::default);

/// Finds out how the database behind a new connection differs from the standard where that can't be avoided.
pub(crate) fn learn(connection_string: &str, connection: &Connection) -> &'static Odbc {
    let mut learned = LEARNED.lock().unwrap_or_else(PoisonError::into_inner);
    learned.entry(connection_string.to_owned()).or_insert_with(|| {
        // A few strings a data source, kept as long as the process.
        Box::leak(Box::new(Odbc { facts: Facts::from_connection(connection) }))
    })
}

impl Facts {
    fn from_connection(connection: &Connection) -> Self {
        let answer = |sql: &str| connection.execute(sql).ok().map(|answer| answer.rows);
        // Asked in SQL, for the driver's own lists of capabilities are often wrong. What the database
        // doesn't understand at all, tells nothing.
        let lacks = |clause: &str| {
            let plain = "SELECT a FROM (SELECT 1 AS a) AS one";
            answer(plain).is_some() && answer(&format!("{plain} {clause}")).is_none()
        };
        let sum = "SELECT CASE WHEN CAST('0.10' AS DECIMAL(4,2)) + CAST('0.20' AS DECIMAL(4,2)) \
                   = CAST('0.30' AS DECIMAL(4,2)) THEN 1 ELSE 0 END";
        Self {
            timestamp: connection.timestamp_type().ok(),
            exact_decimals: answer(sum).is_none_or(|rows| rows != [[Value::Int(0)]]),
            row_locks: !lacks("FOR UPDATE"),
            limit: !lacks("LIMIT 1"),
            database: known(&connection.info(Info::DbmsName).unwrap_or_default()),
        }
    }
}

impl Odbc {
    /// Whether decimals are kept as integers of their last digit.
    pub(crate) fn scales_decimals(&self) -> bool {
        !self.facts.exact_decimals
    }
}

impl Dialect for Odbc {
    fn name(&self) -> &'static str {
        "odbc"
    }

    fn wire(&self) -> WireKind {
        WireKind::Odbc
    }

    fn verified(&self) -> Verified {
        Verified::RealServer("PostgreSQL 15, MariaDB 10.11 and SQLite, through their ODBC drivers")
    }

    fn default_port(&self) -> u16 {
        0
    }

    fn adapt(&self, sql: String) -> String {
        let mut sql = standard(&sql);
        if !self.facts.row_locks {
            sql = sql.replace(" FOR UPDATE", "");
        }
        if !self.facts.limit {
            sql = sql.replace(" LIMIT 1", " FETCH FIRST 1 ROWS ONLY");
        }
        sql
    }

    fn multi_row_update(&self) -> MultiRowUpdate {
        MultiRowUpdate::OneByOne
    }

    fn isolations(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable]
    }

    fn default_isolation(&self) -> Isolation {
        Isolation::Serializable
    }

    /// What REPEATABLE READ keeps out is not the same in all databases; SERIALIZABLE keeps out all that 3.4.1 names.
    fn passes_clause_3_4(&self, level: Isolation) -> bool {
        level == Isolation::Serializable
    }

    fn clock(&self) -> Option<&'static str> {
        self.facts.database.clock
    }
}

impl Ddl for Odbc {
    fn column_type(&self, kind: ColumnType) -> String {
        match kind {
            ColumnType::Decimal { .. } if self.scales_decimals() => "BIGINT".into(),
            // TIMESTAMP is the standard's name; in some databases it means something else.
            ColumnType::Timestamp => self.facts.timestamp.clone().unwrap_or_else(|| standard_type(kind)),
            kind => standard_type(kind),
        }
    }

    /// Not every database can add one.
    fn primary_key_after_load(&self) -> bool {
        false
    }

    fn foreign_keys_after_load(&self) -> bool {
        false
    }

    /// Not in every database.
    fn transactional_ddl(&self) -> bool {
        false
    }

    fn already_exists(&self, code: &str) -> bool {
        let state = code.split('/').next().unwrap_or(code);
        matches!(state, "42S01" | "42S11" | "42P07" | "42710") || self.facts.database.exists.contains(&code)
    }

    fn has_statistics(&self) -> bool {
        self.facts.database.analyze.is_some()
    }

    fn analyze(&self, table: &str) -> String {
        format!("{} {table}", self.facts.database.analyze.unwrap_or("ANALYZE"))
    }
}

impl DataPlacement for Odbc {}

impl Introspection for Odbc {
    /// Any database can be behind a driver.
    fn recognises(&self, _version: &str) -> bool {
        false
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        &[TopologyQuery::Unsupported(
            "ODBC has no way to ask how data lie: use the database's own scheme, if it has one here",
        )]
    }
}

/// What the workload's SQL says in a way that not all databases understand, said as all do.
pub(crate) fn standard(sql: &str) -> String {
    sql.replace("LOCALTIMESTAMP", "CURRENT_TIMESTAMP").replace(" AS BIGINT)", " AS DECIMAL(18,0))")
}

/// Where a database is, in its driver's words.
#[derive(Clone)]
pub(crate) struct Source {
    /// With the password.
    pub(crate) connection_string: String,
    /// Without.
    pub(crate) shown: String,
    /// To be kept out of the driver's messages.
    pub(crate) password: Option<String>,
    /// Whether the dialect is to be learned from the driver.
    pub(crate) learns: bool,
}

/// Attributes of a connection string that no one else should see, by a part of their names.
const SECRETS: [&str; 5] = ["pwd", "password", "secret", "token", "accesskey"];

/// SQLite's driver repeats for 100 s what was refused because another connection writes, in vain where the transaction
/// has read what that one has changed since: only a new transaction can go on.
const SQLITE_TIMEOUT: &str = ";Timeout=1000";

/// Reads what follows the scheme: a connection string. A password may come from `ODBC_PASSWORD`.
pub(crate) fn parse(rest: &str, dialect: &dyn Dialect) -> Result<Source, UrlError> {
    let scheme = dialect.name();
    let attributes = attributes(rest, scheme)?;
    let has = |names: &[&str]| attributes.iter().any(|(name, _)| names.contains(&name.to_ascii_lowercase().as_str()));
    if !has(&["driver", "dsn", "filedsn"]) {
        return Err(format!(
            "the {scheme} URL names no driver: write for example \
             odbc:Driver={{PostgreSQL Unicode}};Server=host;Database=database;Uid=user"
        )
        .into());
    }
    let secret = |name: &str| SECRETS.iter().any(|part| name.to_ascii_lowercase().contains(part));
    let shown: Vec<String> =
        attributes.iter().filter(|(name, _)| !secret(name)).map(|(name, value)| format!("{name}={value}")).collect();
    let mut password = attributes.iter().find(|(name, _)| secret(name)).map(|(_, value)| value.clone());
    let mut connection_string = rest.trim_end_matches(';').to_owned();
    if password.is_none()
        && !has(&["dsn", "filedsn"])
        && let Ok(from_environment) = std::env::var("ODBC_PASSWORD")
    {
        connection_string.push_str(&format!(";Pwd={}", quoted(&from_environment)));
        password = Some(from_environment);
    }
    let sqlite = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("driver") && value.to_ascii_lowercase().contains("sqlite")
    };
    if attributes.iter().any(sqlite) && !has(&["timeout"]) {
        connection_string.push_str(SQLITE_TIMEOUT);
    }
    let shown = format!("{scheme}:{}", shown.join(";"));
    // A database with a dialect of its own has nothing to be learned.
    Ok(Source { connection_string, shown, password, learns: scheme == ODBC.name() })
}

/// The attributes of a connection string; a value in braces may hold semicolons.
fn attributes(text: &str, scheme: &str) -> Result<Vec<(String, String)>, UrlError> {
    let unreadable = |what: &str| {
        Err(format!(
            "the {scheme} URL's connection string {what}: write Name=value;Name=value, a value with ; in braces"
        )
        .into())
    };
    let mut attributes = Vec::new();
    let mut rest = text;
    while !rest.trim_matches([';', ' ']).is_empty() {
        rest = rest.trim_start_matches([';', ' ']);
        let Some((name, tail)) = rest.split_once('=') else { return unreadable("has a part without =") };
        let length = match tail.strip_prefix('{') {
            None => tail.find(';').unwrap_or(tail.len()),
            Some(inside) => match closing_brace(inside) {
                Some(at) => at + 2,
                None => return unreadable("has a brace that is not closed"),
            },
        };
        attributes.push((name.trim().to_owned(), tail[..length].to_owned()));
        rest = &tail[length..];
    }
    Ok(attributes)
}

/// Where the brace is that ends a value; two of them are one of the value's own.
fn closing_brace(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.find('}')?;
        if text[at + 1..].starts_with('}') { at += 2 } else { return Some(at) }
    }
}

/// A value as a connection string takes any.
fn quoted(value: &str) -> String {
    format!("{{{}}}", value.replace('}', "}}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DATABASES, Url};

    #[test]
    fn a_connection_string_is_taken_as_it_is_and_shown_without_its_secrets() {
        let text = "Driver={PostgreSQL Unicode};Server=127.0.0.1;Pwd={s3;cr}}et};Database=x;Uid=me;";
        let source = parse(text, &ODBC).unwrap();
        assert_eq!(source.connection_string, text.trim_end_matches(';'));
        assert_eq!(source.shown, "odbc:Driver={PostgreSQL Unicode};Server=127.0.0.1;Database=x;Uid=me");
        for secret in ["PASSWORD=s3cret", "pwd=s3cret", "AccessToken=s3cret"] {
            let url = Url::parse(&format!("odbc:Driver=/usr/lib/driver.so;{secret}")).unwrap();
            assert_eq!(format!("{url} {url:?}"), "odbc:Driver=/usr/lib/driver.so odbc:Driver=/usr/lib/driver.so");
        }
    }

    #[test]
    fn sqlites_driver_gives_up_soon_unless_told() {
        let told = |text: &str| parse(text, &ODBC).unwrap().connection_string;
        assert_eq!(told("Driver={SQLite3};Database=x.db;"), "Driver={SQLite3};Database=x.db;Timeout=1000");
        for own in ["Driver={SQLite3};Timeout=50", "Driver={PostgreSQL Unicode};Server=sqlite", "DSN=sqlite"] {
            assert_eq!(told(own), own);
        }
    }

    #[test]
    fn a_malformed_string_is_refused_without_showing_it() {
        for (bad, said) in [
            ("odbc:", "no driver"),
            ("odbc:Server=h;Pwd=s3cret", "no driver"),
            ("odbc:Driver={x;Pwd=s3cret", "not closed"),
            ("odbc:Driver=x;s3cret", "without ="),
        ] {
            let message = Url::parse(bad).unwrap_err().to_string();
            assert!(message.contains(said) && !message.contains("s3cret"), "{message}");
        }
    }

    #[test]
    fn errors_are_classed_by_state_and_by_the_native_code_of_their_own_database() {
        let class = |database: &str, state: &str, native: i32| {
            known(database).class(&Diagnostic { state: state.into(), native, message: String::new() })
        };
        assert_eq!(class("PostgreSQL", "40001", 1), Class::Retry);
        assert_eq!(class("PostgreSQL", "40P01", 1), Class::Retry);
        assert_eq!(class("PostgreSQL", "23505", 1), Class::Permanent);
        assert_eq!(class("MariaDB", "HY000", 1205), Class::Retry);
        assert_eq!(class("MariaDB", "HY000", 2013), Class::Lost);
        assert_eq!(class("SQLite", "HY000", 5), Class::Retry);
        assert_eq!(class("SQLite", "HY000", 19), Class::Permanent);
        assert_eq!(class("MariaDB", "HY000", 5), Class::Permanent);
        assert_eq!(class("NuoDB", "40002", -24), Class::Retry);
        assert_eq!(class("NuoDB", "HY000", -29), Class::Retry);
        assert_eq!(class("NuoDB", "58000", -7), Class::Lost);
        assert_eq!(class("NuoDB", "23000", -27), Class::Permanent);
        assert_eq!(class("Another", "08S01", 0), Class::Lost);
        assert_eq!(class("Another", "40001", 0), Class::Retry);
        assert_eq!(class("Another", "40003", 0), Class::Lost);
        assert_eq!(class("Another", "HY000", -24), Class::Permanent);
    }

    #[test]
    fn the_clauses_that_a_database_lacks_are_left_out_or_said_otherwise() {
        let sql = || "SELECT a, LOCALTIMESTAMP FROM t ORDER BY a LIMIT 1 FOR UPDATE".to_owned();
        assert_eq!(ODBC.adapt(sql()), "SELECT a, CURRENT_TIMESTAMP FROM t ORDER BY a LIMIT 1 FOR UPDATE");
        let facts = Facts { row_locks: false, limit: false, exact_decimals: false, ..ODBC.facts.clone() };
        let other = Odbc { facts };
        assert_eq!(other.adapt(sql()), "SELECT a, CURRENT_TIMESTAMP FROM t ORDER BY a FETCH FIRST 1 ROWS ONLY");
        assert_eq!(other.column_type(ColumnType::Decimal { precision: 12, scale: 2 }), "BIGINT");
        assert_eq!(ODBC.column_type(ColumnType::Decimal { precision: 12, scale: 2 }), "DECIMAL(12,2)");
    }

    #[test]
    fn the_registry_has_odbc_and_nuodb() {
        for name in ["odbc", "nuodb"] {
            assert!(DATABASES.iter().any(|dialect| dialect.name() == name && dialect.wire() == WireKind::Odbc));
        }
    }
}
