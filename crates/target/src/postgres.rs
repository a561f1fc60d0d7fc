//! PostgreSQL.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::RoutineLanguage;
use crate::dialect::{Dialect, Isolation, WireKind};
use crate::placement::{Placement, Spread};
use crate::schema::Table;
use crate::tls::Files;

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

    fn default_port(&self) -> u16 {
        5432
    }

    fn primary_key_after_load(&self) -> bool {
        true
    }

    fn transactional_ddl(&self) -> bool {
        true
    }

    fn routines(&self) -> Option<RoutineLanguage> {
        Some(RoutineLanguage::PlPgSql)
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

    /// Sorts of the keys in memory; the load's commits need not wait for the disk one by one, since
    /// the last step of the load (which does wait) makes all earlier ones durable too.
    fn load_settings(&self) -> &'static [&'static str] {
        &["SET synchronous_commit = off", "SET maintenance_work_mem = '256MB'"]
    }

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
        let (name, partitions) = (table.name, placement.partitions());
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

    /// The partition itself: a COPY into the whole table looks for the partition row by row.
    fn rows_of(&self, table: &Table, placement: &Placement, key: i32) -> String {
        let partition = placement.partitions().iter().position(|keys| keys.contains(&key));
        match (table.spread_by, partition) {
            (Some(_), Some(number)) => format!("{}_p{number}", table.name),
            _ => table.name.to_owned(),
        }
    }

    fn unsafe_settings(&self) -> &'static [(&'static str, &'static str, &'static str)] {
        &[
            ("fsync", "off", "committed transactions can be lost in a crash of the machine (3.5)"),
            ("full_page_writes", "off", "a crash of the machine can tear pages (3.5)"),
            ("synchronous_commit", "off", "commits are acknowledged before they are durable (3.5.2)"),
        ]
    }

    /// VACUUM too: without it the first minutes of a run pay for the hint bits and the visibility map of the load.
    fn analyze(&self, table: &str) -> String {
        format!("VACUUM (ANALYZE) {table}")
    }
}

/// Where a server is, and how to speak to it.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) config: Config,
    /// TLS, if it was asked for.
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

/// Reads what follows the scheme, with what libpq's variables and `~/.pgpass` add.
///
/// `sslmode` is ours rather than the driver's: `require` verifies the server too.
pub(crate) fn parse(rest: &str, dialect: &dyn Dialect) -> Result<Address, String> {
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (mut files, mut tls_wanted, mut others) = (Files::default(), false, Vec::new());
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=').unwrap_or((parameter, "")) {
            ("sslmode", "disable") => tls_wanted = false,
            ("sslmode", "require" | "verify-ca" | "verify-full") => tls_wanted = true,
            ("sslmode", _) => {
                return Err("sslmode in the URL: use disable, or require (which verifies the server)".into());
            }
            ("sslrootcert", file) => files.root_certificates = Some(file),
            ("sslcert", file) => files.certificate = Some(file),
            ("sslkey", file) => files.key = Some(file),
            _ => others.push(parameter),
        }
    }
    let tls = if tls_wanted { Some(files.client()?) } else { None };
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
