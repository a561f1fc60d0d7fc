//! PostgreSQL.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::ddl::{Ddl, standard_type};
use crate::dialect::{Dialect, Isolation, Verified};
use crate::finding::{Level, Setting, Wanted};
use crate::introspection::Introspection;
use crate::placement::{DataPlacement, Placement, Spread};
use crate::plan::{Explain, Form};
use crate::schema::{ColumnType, Table};
use crate::tls::Tls;
use crate::topology::TopologyQuery;
use crate::wire::WireKind;
use crate::{RoutineLanguage, UrlError};

/// PostgreSQL's dialect.
#[derive(Debug)]
pub struct Postgres;

impl Dialect for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn wire(&self) -> WireKind {
        WireKind::Postgres
    }

    fn verified(&self) -> Verified {
        Verified::RealServer("PostgreSQL 15; the newest, 18, in the conformance suite")
    }

    fn default_port(&self) -> u16 {
        5432
    }

    fn isolations(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable]
    }

    fn default_isolation(&self) -> Isolation {
        Isolation::RepeatableRead
    }

    /// READ COMMITTED fails the isolation tests 7 to 9; snapshot isolation passes all nine, and TPC-C
    /// has no anomaly under it (Fekete et al., ACM TODS 2005).
    fn passes_clause_3_4(&self, level: Isolation) -> bool {
        level != Isolation::ReadCommitted
    }
}

impl Ddl for Postgres {
    fn column_type(&self, kind: ColumnType) -> String {
        column_type(kind)
    }

    fn primary_key_after_load(&self) -> bool {
        true
    }

    fn copies_databases(&self) -> bool {
        true
    }

    fn transactional_ddl(&self) -> bool {
        true
    }

    fn routines(&self) -> Option<RoutineLanguage> {
        Some(RoutineLanguage::PlPgSql)
    }

    /// Sorts of the keys in memory; commits of rows need not wait for the disk one by one, since the first commit after
    /// them (which does wait) makes all earlier ones durable too.
    fn load_settings(&self) -> &'static [&'static str] {
        &["SET synchronous_commit = off", "SET maintenance_work_mem = '256MB'"]
    }

    /// Rows whose commit may not have reached the disk are not marked as visible to all by VACUUM.
    fn settings_after_rows(&self) -> &'static [&'static str] {
        &["RESET synchronous_commit"]
    }

    fn storing(&self) -> Option<&'static str> {
        Some("INCLUDE")
    }

    /// VACUUM too: without it the first minutes of a run pay for the hint bits and the visibility map of the load.
    fn analyze(&self, table: &str) -> String {
        format!("VACUUM (ANALYZE) {table}")
    }
}

impl DataPlacement for Postgres {
    fn spreads(&self) -> &'static [Spread] {
        &[Spread::Partitions]
    }

    fn spread_clause(&self, table: &Table, placement: &Placement) -> String {
        match (table.spread_by, placement.partitions) {
            (Some(column), Some(_)) => format!(" PARTITION BY RANGE ({column})"),
            _ => String::new(),
        }
    }

    /// Open at both ends: an insert must find a partition for any key (1.4.11).
    fn spread_table(&self, table: &Table, placement: &Placement) -> Vec<String> {
        if table.spread_by.is_none() {
            return Vec::new();
        }
        let name = table.name;
        let partitions = placement.partitions();
        let bound = |number: usize| match partitions.get(number) {
            Some(keys) if number > 0 => keys.start().to_string(),
            Some(_) => "MINVALUE".to_owned(),
            None => "MAXVALUE".to_owned(),
        };
        let numbers = 0..partitions.len();
        let sql = |i| {
            format!("CREATE TABLE {name}_p{i} PARTITION OF {name} FOR VALUES FROM ({}) TO ({})", bound(i), bound(i + 1))
        };
        numbers.map(sql).collect()
    }

    /// The partition: a COPY into the whole table finds the partition of each row anew.
    fn rows_of(&self, table: &Table, placement: &Placement, key: i32) -> String {
        let partition = placement.partitions().iter().position(|keys| keys.contains(&key));
        match (table.spread_by, partition) {
            (Some(_), Some(number)) => format!("{}_p{number}", table.name),
            _ => table.name.to_owned(),
        }
    }
}

impl Introspection for Postgres {
    fn recognises(&self, version: &str) -> bool {
        version.starts_with("PostgreSQL ") && !version.contains("-YB-")
    }

    fn explain(&self) -> Option<Explain> {
        Some(Explain {
            plain: "EXPLAIN (FORMAT JSON)",
            run: "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)",
            form: Form::PostgresJson,
        })
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        TOPOLOGY
    }

    fn judged_settings(&self) -> &'static [Setting] {
        SETTINGS
    }
}

/// A column type of PostgreSQL and its relatives.
pub(crate) fn column_type(kind: ColumnType) -> String {
    match kind {
        ColumnType::Uuid => "UUID".into(),
        ColumnType::Json => "JSONB".into(),
        kind => standard_type(kind),
    }
}

const TOPOLOGY: &[TopologyQuery] = &[
    TopologyQuery::Nodes(&[
        "SELECT 'this server' AS node, host(inet_server_addr()) || ':' || inet_server_port() AS address, \
         CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END AS role, \
         current_setting('server_version') AS version, TRUE AS live, NULL AS state \
         UNION ALL \
         SELECT application_name, host(client_addr), 'standby (' || COALESCE(sync_state, 'not told') || ')', NULL, \
         state = 'streaming', state FROM pg_stat_replication \
         UNION ALL \
         SELECT CAST(srvname AS TEXT), \
         (SELECT string_agg(option_value, ':' ORDER BY option_name) FROM pg_options_to_table(srvoptions) \
         WHERE option_name IN ('host', 'port')), 'foreign server', NULL, NULL, NULL FROM pg_foreign_server",
    ]),
    TopologyQuery::Parts { unit: None, queries: &[TABLES_AND_PARTITIONS], renamed: &[] },
    TopologyQuery::Parts {
        unit: Some("partitions"),
        queries: &["SELECT CAST(c.relname AS TEXT) AS table_name, COUNT(*) AS units FROM pg_class c \
             JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL pg_partition_tree(c.oid) p \
             WHERE n.nspname = current_schema() AND c.relkind = 'p' AND NOT c.relispartition AND p.isleaf \
             GROUP BY c.relname"],
        renamed: &[],
    },
    TopologyQuery::Unsupported(
        "PostgreSQL has no ranges: a table, or each of its partitions, lives whole on the primary, and each standby has \
         a copy of everything",
    ),
];

/// Unpartitioned tables and leaf partitions; their indexes; partitioned tables as the sum of their leaves, indexes included.
const TABLES_AND_PARTITIONS: &str = "WITH leaf AS ( \
    SELECT c.oid, c.relname, c.reltuples, c.relkind, c.relispartition, r.relname AS root, s.srvname \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_class r ON r.oid = CASE WHEN c.relispartition THEN CAST(pg_partition_root(c.oid) AS OID) ELSE c.oid END \
    LEFT JOIN pg_foreign_table f ON f.ftrelid = c.oid LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver \
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'f')) \
    SELECT CAST(root AS TEXT) AS table_name, NULL AS index_name, \
    CASE WHEN relispartition THEN CAST(relname AS TEXT) END AS partition_name, \
    CASE WHEN reltuples >= 0 THEN CAST(reltuples AS BIGINT) END AS row_count, \
    CASE WHEN relkind = 'r' THEN pg_table_size(oid) END AS bytes, 'foreign server ' || srvname AS placement FROM leaf \
    UNION ALL \
    SELECT CAST(root AS TEXT), CAST(i.relname AS TEXT), CASE WHEN leaf.relispartition THEN CAST(leaf.relname AS TEXT) END, \
    NULL, pg_relation_size(i.oid), NULL \
    FROM leaf JOIN pg_index x ON x.indrelid = leaf.oid JOIN pg_class i ON i.oid = x.indexrelid \
    UNION ALL \
    SELECT CAST(root AS TEXT), NULL, NULL, CAST(SUM(GREATEST(reltuples, 0)) AS BIGINT), \
    CAST(SUM(pg_total_relation_size(oid)) AS BIGINT), NULL FROM leaf WHERE relispartition GROUP BY root";

const SETTINGS: &[Setting] = &[
    Setting::new(
        "fsync",
        Wanted::OneOf(&["on"]),
        Level::Bad,
        "committed transactions can be lost in a crash of the machine (3.5)",
    )
    .is_deviation(),
    Setting::new("full_page_writes", Wanted::OneOf(&["on"]), Level::Bad, "a crash of the machine can tear pages (3.5)")
        .is_deviation(),
    Setting::new(
        "synchronous_commit",
        Wanted::OneOf(&["on", "local", "remote_write", "remote_apply"]),
        Level::Bad,
        "commits are acknowledged before they are durable (3.5.2)",
    )
    .is_deviation(),
    Setting::new(
        "shared_buffers",
        Wanted::PercentOfData(25),
        Level::Warn,
        "raise shared_buffers, to about a quarter of the server's memory: most reads go around it now",
    ),
    Setting::new(
        "max_connections",
        Wanted::Connections,
        Level::Bad,
        "raise max_connections at the server, or ask for fewer --connections",
    ),
    Setting::new("autovacuum", Wanted::OneOf(&["on"]), Level::Warn, "tables bloat as the run goes on"),
    Setting::new(
        "plan_cache_mode",
        Wanted::OneOf(&["auto", "force_generic_plan"]),
        Level::Warn,
        "every execution of a prepared statement is planned anew",
    ),
    Setting::new(
        "jit",
        Wanted::OneOf(&["off"]),
        Level::Warn,
        "statements that are estimated to be dear are compiled first, which costs more than these take",
    ),
    Setting::new(
        "max_wal_size",
        Wanted::AtLeast(4 << 30),
        Level::Warn,
        "raise max_wal_size to 4GB or more: checkpoints come as often as the log fills, and each makes the log larger",
    ),
    Setting::new(
        "checkpoint_timeout",
        Wanted::AtLeast(300_000),
        Level::Warn,
        "raise checkpoint_timeout to 5min or more: each checkpoint makes the log larger for a while",
    ),
    Setting::new(
        "checkpoint_completion_target",
        Wanted::NoneOf(&["0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
        Level::Warn,
        "set checkpoint_completion_target = 0.9: checkpoints come in bursts",
    ),
    Setting::new(
        "statement_timeout",
        Wanted::OneOf(&["0"]),
        Level::Warn,
        "slow transactions are cut, and count as errors",
    ),
    Setting::new("lock_timeout", Wanted::OneOf(&["0"]), Level::Warn, "waits for locks are cut, and count as retries"),
    Setting::new(
        "idle_in_transaction_session_timeout",
        Wanted::OneOf(&["0"]),
        Level::Warn,
        "a client that is late loses its connection in the midst of a transaction",
    ),
    Setting::new("default_transaction_read_only", Wanted::OneOf(&["off"]), Level::Bad, "nothing can be written"),
];

/// Where a server is, and how to speak to it.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) config: Config,
    /// TLS, if it was asked for.
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

/// Reads what follows the scheme, with what libpq's variables and `~/.pgpass` add.
///
/// `sslmode` is ours rather than the driver's: `require` verifies the server too, as `verify-full` does.
pub(crate) fn parse(rest: &str, dialect: &dyn Dialect) -> Result<Address, UrlError> {
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let mut tls = Tls::default();
    let mut others = Vec::new();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=').unwrap_or((parameter, "")) {
            ("sslmode", "disable") => tls.wanted = Some(false),
            ("sslmode", mode @ ("require" | "verify-ca" | "verify-full")) => {
                tls.wanted = Some(true);
                tls.any_name = mode == "verify-ca";
            }
            ("sslmode", _) => {
                return Err("sslmode in the URL: use disable, verify-ca, or require or verify-full (both verify \
                            the server's certificate and name)"
                    .into());
            }
            ("sslrootcert", file) => tls.root_certificates = Some(file),
            ("sslcert", file) => tls.certificate = Some(file),
            ("sslkey", file) => tls.key = Some(file),
            _ => others.push(parameter),
        }
    }
    let tls = tls.client("sslmode=verify-full")?;
    let rest = [address, &others.join("&")].join("?");
    // The driver's own messages name the part at fault, not its value; a cause could hold the password.
    let mut config: Config = format!("postgres:{rest}").parse().map_err(|_| {
        let scheme = dialect.name();
        format!(
            "the {scheme} URL can't be read: write {scheme}://user:password@host:port/database, \
             with special characters percent-encoded"
        )
    })?;
    config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
    if config.get_hosts().is_empty() {
        config.host(std::env::var("PGHOST").unwrap_or_else(|_| "localhost".into()));
    }
    if config.get_ports().is_empty() {
        let port = std::env::var("PGPORT").ok().and_then(|port| port.parse().ok());
        config.port(port.unwrap_or(dialect.default_port()));
    }
    if config.get_user().is_none() {
        let user = ["PGUSER", "USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
        config.user(user.unwrap_or_else(|| "postgres".into()));
    }
    let user = config.get_user().unwrap_or_default().to_owned();
    if config.get_dbname().is_none() {
        config.dbname(std::env::var("PGDATABASE").unwrap_or(user));
    }
    if config.get_password().is_none()
        && let Some(password) = std::env::var("PGPASSWORD").ok().or_else(|| from_pgpass(&config))
    {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(std::time::Duration::from_secs(10));
    }
    config.application_name("weighbridge");
    Ok(Address { config, tls })
}

/// The host of a configuration; a socket is on this machine.
pub(crate) fn host(config: &Config) -> String {
    match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        _ => "localhost".into(),
    }
}

/// The URL of a configuration, without its password.
pub(crate) fn display(scheme: &str, config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string().replace('/', "%2F"),
        _ => "localhost".into(),
    };
    format!(
        "{scheme}://{}@{host}:{}/{}",
        config.get_user().unwrap_or("postgres"),
        port(config),
        config.get_dbname().unwrap_or_default()
    )
}

fn port(config: &Config) -> u16 {
    config.get_ports().first().copied().unwrap_or(5432)
}

/// The password of the first matching line of `~/.pgpass` (`host:port:database:user:password`, `*` matches all).
fn from_pgpass(config: &Config) -> Option<String> {
    let path = std::env::var_os("PGPASSFILE")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pgpass")))?;
    let text = std::fs::read_to_string(path).ok()?;
    let host = match config.get_hosts().first()? {
        Host::Tcp(host) => host.as_str(),
        #[cfg(unix)]
        Host::Unix(_) => "localhost",
    };
    let wanted = [host, &port(config).to_string(), config.get_dbname()?, config.get_user()?];
    text.lines().find_map(|line| password_if_match(line, wanted))
}

fn password_if_match(line: &str, wanted: [&str; 4]) -> Option<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => fields.last_mut()?.extend(characters.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            c => fields.last_mut()?.push(c),
        }
    }
    let matches = fields.len() == 5 && fields.iter().zip(wanted).all(|(field, want)| field == "*" || field == want);
    matches.then(|| fields.swap_remove(4))
}

#[cfg(test)]
mod tests {
    use super::password_if_match;

    #[test]
    fn pgpass_lines_match_by_field_and_unescape() {
        let wanted = ["h", "5432", "db", "me"];
        assert_eq!(password_if_match("h:5432:db:me:a:b", wanted).as_deref(), Some("a:b"));
        assert_eq!(password_if_match(r"*:*:*:me:x\:y\\z", wanted).as_deref(), Some(r"x:y\z"));
        assert_eq!(password_if_match("h:5433:db:me:no", wanted), None);
        assert_eq!(password_if_match("# comment", wanted), None);
    }
}
