//! PostgreSQL.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::dialect::{Access, Dialect, Isolation};
use crate::schema::ColumnType;

/// PostgreSQL's dialect.
#[derive(Debug)]
pub struct Postgres;

impl Dialect for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn adapt(&self, sql: String) -> String {
        sql
    }

    fn column_type(&self, kind: ColumnType) -> String {
        match kind {
            ColumnType::SmallInt => "SMALLINT".into(),
            ColumnType::Int => "INTEGER".into(),
            ColumnType::BigInt => "BIGINT".into(),
            ColumnType::Decimal { precision, scale } => format!("NUMERIC({precision},{scale})"),
            ColumnType::Char(n) => format!("CHAR({n})"),
            ColumnType::Varchar(n) => format!("VARCHAR({n})"),
            ColumnType::Timestamp => "TIMESTAMP".into(),
        }
    }

    fn embedded(&self) -> bool {
        false
    }

    fn keys_after_load(&self) -> bool {
        true
    }

    fn useful_connections(&self) -> Option<u32> {
        None
    }

    fn parallel_writers(&self) -> bool {
        true
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

    fn begin(&self, isolation: Isolation, access: Access) -> String {
        let read_only = if access == Access::ReadOnly { " READ ONLY" } else { "" };
        format!("BEGIN ISOLATION LEVEL {}{read_only}", isolation.sql())
    }

    /// VACUUM too: without it the first minutes of a run pay for the hint bits and the visibility map of the load.
    fn analyze(&self, table: &str) -> String {
        format!("VACUUM (ANALYZE) {table}")
    }
}

/// Reads what follows `postgres:`, with what libpq's variables and `~/.pgpass` add.
pub(crate) fn parse(rest: &str) -> Result<Config, String> {
    let no_tls =
        |mode: &str| format!("sslmode={mode}: TLS is not offered yet; use sslmode=disable on a trusted network");
    if let Some(mode) = ["verify-ca", "verify-full"].into_iter().find(|mode| rest.contains(&format!("sslmode={mode}")))
    {
        return Err(no_tls(mode));
    }
    // The driver's own messages name the part at fault, not its value; a cause could hold the password.
    let mut config: Config = format!("postgres:{rest}").parse().map_err(|_| {
        "the postgres URL can't be read: write postgres://user:password@host:port/database, \
             with special characters percent-encoded"
            .to_owned()
    })?;
    if config.get_ssl_mode() == SslMode::Require {
        return Err(no_tls("require"));
    }
    if config.get_hosts().is_empty() {
        config.host(std::env::var("PGHOST").unwrap_or_else(|_| "localhost".into()));
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
    Ok(config)
}

/// The URL of a configuration, without its password.
pub(crate) fn display(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string().replace('/', "%2F"),
        _ => "localhost".into(),
    };
    format!(
        "postgres://{}@{host}:{}/{}",
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
