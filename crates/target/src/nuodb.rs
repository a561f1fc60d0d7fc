//! NuoDB, through its ODBC driver.
//!
//! Written from NuoDB's documentation and from its driver's source; no NuoDB server was at hand.

use crate::UrlError;
use crate::ddl::Ddl;
use crate::dialect::{Dialect, Isolation, MultiRowUpdate, Verified};
use crate::introspection::Introspection;
use crate::odbc::{Source, standard};
use crate::placement::{DataPlacement, Placement, Spread};
use crate::schema::Table;
use crate::topology::TopologyQuery;
use crate::wire::WireKind;

/// NuoDB's dialect.
#[derive(Debug)]
pub struct NuoDb;

impl Dialect for NuoDb {
    fn name(&self) -> &'static str {
        "nuodb"
    }

    fn wire(&self) -> WireKind {
        WireKind::Odbc
    }

    fn verified(&self) -> Verified {
        Verified::No(
            "neither a server nor a driver can be had for the tests; its wire, ODBC, is tested with other drivers",
        )
    }

    /// That of an admin process, which picks a transaction engine.
    fn default_port(&self) -> u16 {
        48004
    }

    fn adapt(&self, sql: String) -> String {
        standard(&sql)
    }

    /// There is neither RETURNING nor an UPDATE with a second table.
    fn multi_row_update(&self) -> MultiRowUpdate {
        MultiRowUpdate::OneByOne
    }

    /// The driver knows JDBC's levels: SERIALIZABLE is NuoDB's CONSISTENT READ.
    fn isolations(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::Serializable]
    }

    fn default_isolation(&self) -> Isolation {
        Isolation::Serializable
    }

    /// CONSISTENT READ is snapshot isolation: of two that write a row the second is refused. TPC-C has no anomaly under it.
    fn passes_clause_3_4(&self, level: Isolation) -> bool {
        level != Isolation::ReadCommitted
    }
}

impl Ddl for NuoDb {
    /// The key decides where a row's version is stored.
    fn primary_key_after_load(&self) -> bool {
        false
    }

    fn foreign_keys_after_load(&self) -> bool {
        false
    }

    fn transactional_ddl(&self) -> bool {
        true
    }

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE TABLE {table}")
    }
}

impl DataPlacement for NuoDb {
    fn spreads(&self) -> &'static [Spread] {
        &[Spread::Partitions, Spread::Localities]
    }

    /// A locality is a storage group, as `group=name`; without one the database picks it.
    fn spread_clause(&self, table: &Table, placement: &Placement) -> String {
        let partitions = placement.partitions();
        let Some(column) = table.spread_by.filter(|_| !partitions.is_empty()) else { return String::new() };
        let mut clause = format!("\nPARTITION BY RANGE ({column})");
        for (number, keys) in partitions.iter().enumerate() {
            let bound = match partitions.get(number + 1) {
                Some(_) => (keys.end() + 1).to_string(),
                None => "MAXVALUE".to_owned(),
            };
            clause.push_str(&format!("\n  PARTITION p{number} VALUES LESS THAN ({bound})"));
            if let Some((_, group)) = placement.localities.get(number).and_then(|place| place.split_once('=')) {
                clause.push_str(&format!(" STORE IN {group}"));
            }
        }
        clause
    }
}

impl Introspection for NuoDb {
    fn recognises(&self, version: &str) -> bool {
        version.starts_with("NuoDB")
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        TOPOLOGY
    }
}

const TOPOLOGY: &[TopologyQuery] = &[
    // Older versions know no regions.
    TopologyQuery::Nodes(&[
        "SELECT id AS node, address || ':' || port AS address, type AS role, georegion AS region, releasever AS version, \
         CASE WHEN state = 'Running' THEN 1 ELSE 0 END AS live, state AS state FROM system.nodes ORDER BY id",
        "SELECT id AS node, address || ':' || port AS address, type AS role, \
         CASE WHEN state = 'Running' THEN 1 ELSE 0 END AS live, state AS state FROM system.nodes ORDER BY id",
    ]),
    TopologyQuery::Parts {
        unit: None,
        queries: &[
            "SELECT LOWER(tablename) AS table_name FROM system.tables WHERE schema <> 'SYSTEM' AND type = 'TABLE'",
        ],
        renamed: &[],
    },
    TopologyQuery::Parts {
        unit: None,
        queries: &["SELECT LOWER(tablename) AS table_name, LOWER(partitionname) AS partition_name, \
             'storage group ' || storagegroup AS placement FROM system.partitionids WHERE schema <> 'SYSTEM'"],
        renamed: &[],
    },
    TopologyQuery::Parts {
        unit: Some("partitions"),
        queries: &["SELECT LOWER(tablename) AS table_name, COUNT(*) AS units FROM system.partitionids \
             WHERE schema <> 'SYSTEM' GROUP BY tablename"],
        renamed: &[],
    },
    TopologyQuery::Notes(&["SELECT * FROM system.storagegroups"]),
    TopologyQuery::Unsupported(
        "NuoDB has no leaders: every transaction engine takes every write; a storage group has as many copies as storage managers",
    ),
];

/// Where NuoDB's client package puts its driver.
const DRIVER: &str = "/opt/nuodb/lib64/libNuoODBC.so";

/// Reads what follows `nuodb:` and says it as a connection string. A password may come from `ODBC_PASSWORD`.
pub(crate) fn parse(rest: &str, dialect: &dyn Dialect) -> Result<Source, UrlError> {
    const FORM: &str = "write nuodb://user:password@host:port/database?schema=schema&driver=driver";
    let unreadable = |what: &str| UrlError::from(format!("the nuodb URL {what}: {FORM}"));
    if dialect.default_port() == 0 {
        let scheme = dialect.name();
        return Err(format!(
            "the {scheme} URL is a connection string: write for example {scheme}:Driver={{SQLite3}};Database=file"
        )
        .into());
    }
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let address = address.strip_prefix("//").ok_or_else(|| unreadable("can't be read"))?;
    let (user, address) = address.rsplit_once('@').ok_or_else(|| unreadable("names no user"))?;
    let (user, password) = user.split_once(':').map_or((user, None), |(user, password)| (user, Some(password)));
    let (host, database) = address.split_once('/').ok_or_else(|| unreadable("names no database"))?;
    if user.is_empty() || host.is_empty() || database.is_empty() {
        return Err(unreadable("leaves out the user, the host or the database"));
    }
    let named_port = host.rsplit_once(':').filter(|(name, _)| !name.contains(':') || name.ends_with(']'));
    let host = match named_port {
        Some((_, port)) if port.parse::<u16>().is_ok() => host.to_owned(),
        Some(_) => return Err(unreadable("has a port that is no number")),
        None => format!("{host}:{}", dialect.default_port()),
    };
    let mut schema = None;
    let mut driver = DRIVER.to_owned();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=').unwrap_or((parameter, "")) {
            ("schema", value) => schema = Some(decoded(value)?),
            ("driver", value) => driver = decoded(value)?,
            (name, _) => {
                let known = "known are schema and driver";
                return Err(format!("unknown parameter `{name}` in the nuodb URL: {known}").into());
            }
        }
    }
    let user = decoded(user)?;
    let database = decoded(database)?;
    let password = password.map(decoded).transpose()?.or_else(|| std::env::var("ODBC_PASSWORD").ok());

    let mut shown = format!("nuodb://{user}@{host}/{database}");
    let mut connection_string = format!("Driver={{{driver}}};Database={database}@{host};Uid={user}");
    if let Some(schema) = &schema {
        shown.push_str(&format!("?schema={schema}"));
        connection_string.push_str(&format!(";Schema={schema}"));
    }
    let parts = [Some(&user), Some(&database), schema.as_ref(), password.as_ref()];
    if parts.into_iter().flatten().any(|part| part.contains([';', '{', '}', '='])) {
        return Err("NuoDB's driver takes no ; = { or } in a user, password, database or schema".into());
    }
    if let Some(password) = &password {
        connection_string.push_str(&format!(";Pwd={password}"));
    }
    Ok(Source { connection_string, shown, password, learns: false })
}

/// A part of a URL without its percent signs.
fn decoded(text: &str) -> Result<String, UrlError> {
    let wrong =
        || UrlError::from("the nuodb URL has a % that is not followed by two hexadecimal digits of a character");
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let (code, tail) = part.split_at_checked(2).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(code, 16).map_err(|_| wrong())?);
        bytes.extend_from_slice(tail.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Url;
    use crate::schema::{Column, ColumnType, ForeignKey, Index, Table};

    fn source(url: &str) -> Result<Source, UrlError> {
        parse(url.strip_prefix("nuodb:").unwrap(), &NuoDb)
    }

    #[test]
    fn a_url_becomes_the_driver_s_connection_string() {
        let full = source("nuodb://dba:s3%40cret@te1.example:48006/bench?schema=tpcc&driver=NuoODBC%20Driver").unwrap();
        assert_eq!(
            full.connection_string,
            "Driver={NuoODBC Driver};Database=bench@te1.example:48006;Uid=dba;Schema=tpcc;Pwd=s3@cret"
        );
        assert_eq!(full.shown, "nuodb://dba@te1.example:48006/bench?schema=tpcc");
        let short = source("nuodb://dba@te1.example/bench").unwrap();
        assert!(
            short
                .connection_string
                .starts_with("Driver={/opt/nuodb/lib64/libNuoODBC.so};Database=bench@te1.example:48004;Uid=dba"),
            "{}",
            short.shown
        );
        assert_eq!(source("nuodb://dba@[::1]/bench").unwrap().shown, "nuodb://dba@[::1]:48004/bench");
        assert_eq!(source("nuodb://dba@[::1]:7/bench").unwrap().shown, "nuodb://dba@[::1]:7/bench");
    }

    #[test]
    fn what_is_missing_or_can_t_be_said_is_refused_without_the_password() {
        for (bad, said) in [
            ("nuodb:bench", "without ="),
            ("nuodb:Database=bench@host;Pwd=s3cret", "names no driver"),
            ("odbc://dba:s3cret@host/bench", "connection string"),
            ("nuodb://host/bench", "no user"),
            ("nuodb://dba:s3cret@host", "no database"),
            ("nuodb://dba:s3cret@host/", "leaves out"),
            ("nuodb://dba:s3cret@host:port/bench", "no number"),
            ("nuodb://dba:s3cret@host/bench?nosuch=1", "nosuch"),
            ("nuodb://dba:s3%3Bcret@host/bench", "takes no ;"),
            ("nuodb://dba:s3%cret@host/bench", "hexadecimal"),
        ] {
            let message = Url::parse(bad).unwrap_err().to_string();
            assert!(message.contains(said) && !message.contains("s3"), "{message}");
        }
    }

    #[test]
    fn ddl_is_that_of_the_documentation() {
        static TABLE: Table = Table {
            name: "district",
            columns: &[
                Column::new("d_id", ColumnType::SmallInt),
                Column::new("d_w_id", ColumnType::Int),
                Column::new("d_ytd", ColumnType::Decimal { precision: 12, scale: 2 }),
                Column::new("d_since", ColumnType::Timestamp).nullable(),
            ],
            primary_key: &["d_w_id", "d_id"],
            spread_by: Some("d_w_id"),
            foreign_keys: &[ForeignKey {
                name: "district_warehouse_fk",
                columns: &["d_w_id"],
                parent: "warehouse",
                parent_columns: &["w_id"],
            }],
            checks: &[],
            indexes: &[Index { name: "district_by_since", columns: &["d_w_id", "d_since"] }],
        };
        assert_eq!(
            NuoDb.create_table(&TABLE, true, true, &Placement::default()),
            "CREATE TABLE district (\n  d_id SMALLINT NOT NULL,\n  d_w_id INTEGER NOT NULL,\n  \
             d_ytd DECIMAL(12,2) NOT NULL,\n  d_since TIMESTAMP,\n  PRIMARY KEY (d_w_id, d_id),\n  \
             CONSTRAINT district_warehouse_fk FOREIGN KEY (d_w_id) REFERENCES warehouse (w_id)\n)"
        );
        let localities = vec!["group=east".to_owned(), "group=west".to_owned()];
        let mut placement = Placement { keys: 5, partitions: Some(2), localities, ..Placement::default() };
        assert_eq!(placement.check(&NuoDb), Ok(()));
        let partitions = "\nPARTITION BY RANGE (d_w_id)\n  PARTITION p0 VALUES LESS THAN (3) STORE IN east\n  \
                          PARTITION p1 VALUES LESS THAN (MAXVALUE) STORE IN west";
        let table = NuoDb.create_table(&TABLE, true, true, &placement);
        assert!(table.ends_with(&format!("\n){partitions}")), "{table}");
        placement.localities.clear();
        assert_eq!(NuoDb.spread_clause(&TABLE, &placement).matches("STORE IN").count(), 0);
        let index = NuoDb.create_index(&TABLE, &TABLE.indexes[0], &Placement::default());
        assert_eq!(index, "CREATE INDEX district_by_since ON district (d_w_id, d_since)");
        assert_eq!(NuoDb.analyze("district"), "ANALYZE TABLE district");
    }
}
