//! Target URLs: which database, and where.

use std::fmt;
use std::path::PathBuf;

use crate::{DATABASES, Dialect, WireKind, mysql, null, nuodb, odbc, postgres, sqlite};

/// The target when neither `--url` nor `WEIGHBRIDGE_URL` names one.
pub const DEFAULT_URL: &str = "sqlite:weighbridge.db";

/// A parsed target URL. `Display` and `Debug` never show a password.
#[derive(Clone)]
pub struct Url {
    dialect: &'static dyn Dialect,
    pub(crate) endpoint: Endpoint,
}

/// The database's address, in the terms of its wire.
#[derive(Clone)]
pub(crate) enum Endpoint {
    Mysql(mysql_async::Opts),
    Null(null::Delay),
    Odbc(odbc::Source),
    Postgres(Box<postgres::Address>),
    Sqlite(PathBuf),
}

/// Why a URL can't be used. One line, without the password.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UrlError(String);

impl From<String> for UrlError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<&str> for UrlError {
    fn from(message: &str) -> Self {
        Self(message.to_owned())
    }
}

impl Url {
    /// Reads a URL and fills what it leaves out from the environment (`PGPASSWORD`, `PGUSER`, `~/.pgpass`).
    ///
    /// # Errors
    /// An unknown scheme, or a part that its database can't read.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.contains(char::is_control) {
            return Err("the URL holds a line end or another control character: was it read from a file?".into());
        }
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(format!(
                "no scheme in the URL `{}`: use for example sqlite:weighbridge.db or postgres://user@host/database",
                without_secrets(text)
            )
            .into());
        };
        let name = if scheme == "postgresql" { "postgres" } else { scheme };
        let Some(dialect) = DATABASES.iter().copied().find(|dialect| dialect.name() == name) else {
            let known: Vec<_> = DATABASES.iter().map(|dialect| dialect.name()).collect();
            return Err(format!(
                "unknown scheme `{}` in the URL: known are {}",
                without_secrets(scheme),
                known.join(", ")
            )
            .into());
        };
        let endpoint = match dialect.wire() {
            WireKind::Sqlite => sqlite::parse(rest).map(Endpoint::Sqlite),
            WireKind::Mysql => mysql::parse(rest, dialect).map(Endpoint::Mysql),
            WireKind::Null => null::parse(rest).map(Endpoint::Null),
            // A database with a scheme of its own has a URL, any other a connection string.
            WireKind::Odbc if rest.starts_with("//") => nuodb::parse(rest, dialect).map(Endpoint::Odbc),
            WireKind::Odbc => odbc::parse(rest, dialect).map(Endpoint::Odbc),
            WireKind::Postgres => postgres::parse(rest, dialect).map(Box::new).map(Endpoint::Postgres),
        };
        Ok(Self { dialect, endpoint: endpoint? })
    }

    /// The database's dialect.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// Whether both name the same database of the same kind, perhaps through different gateways.
    pub(crate) fn same_database_as(&self, other: &Url) -> bool {
        let same_name = match (&self.endpoint, &other.endpoint) {
            (Endpoint::Mysql(a), Endpoint::Mysql(b)) => a.db_name() == b.db_name(),
            (Endpoint::Postgres(a), Endpoint::Postgres(b)) => a.config.get_dbname() == b.config.get_dbname(),
            (Endpoint::Null(a), Endpoint::Null(b)) => a == b,
            (Endpoint::Sqlite(a), Endpoint::Sqlite(b)) => a == b,
            // Only the driver knows what its connection string names.
            (Endpoint::Odbc(_), Endpoint::Odbc(_)) => true,
            _ => false,
        };
        same_name && self.dialect.name() == other.dialect.name()
    }

    /// A URL of the same server's maintenance database, and the name of this one; `None` if the server can't copy a
    /// database into a new one.
    pub(crate) fn maintenance(&self) -> Option<(Url, String)> {
        const MAINTENANCE_DATABASE: &str = "postgres";
        match &self.endpoint {
            Endpoint::Postgres(address) if self.dialect.copies_databases() => {
                let name = address.config.get_dbname().filter(|name| *name != MAINTENANCE_DATABASE)?.to_owned();
                let mut other = address.clone();
                other.config.dbname(MAINTENANCE_DATABASE);
                Some((Url { dialect: self.dialect, endpoint: Endpoint::Postgres(other) }, name))
            }
            _ => None,
        }
    }

    /// Another database of the same server; the same one where the name is not a part of the URL.
    pub(crate) fn at_database(&self, name: &str) -> Url {
        let mut other = self.clone();
        if let Endpoint::Postgres(address) = &mut other.endpoint {
            address.config.dbname(name);
        }
        other
    }

    /// The same kind of embedded database in another file.
    pub(crate) fn at_file(&self, file: PathBuf) -> Url {
        Url { dialect: self.dialect, endpoint: Endpoint::Sqlite(file) }
    }

    /// The host that the URL names; `None` for an embedded database, or if only a driver knows the host.
    pub fn host(&self) -> Option<String> {
        match &self.endpoint {
            Endpoint::Mysql(opts) => Some(opts.ip_or_hostname().to_owned()),
            Endpoint::Postgres(address) => Some(postgres::host(&address.config)),
            _ => None,
        }
    }

    /// The file of an embedded database.
    pub fn file(&self) -> Option<&std::path::Path> {
        match &self.endpoint {
            Endpoint::Sqlite(path) => Some(path),
            _ => None,
        }
    }
}

/// Enough of a malformed URL to recognise it: a password can only stand before the last `@`, or in a parameter.
fn without_secrets(text: &str) -> &str {
    let text = text.rsplit_once('@').map_or(text, |(_, tail)| tail);
    text.split('?').next().unwrap_or(text)
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.endpoint {
            Endpoint::Mysql(opts) => f.write_str(&mysql::display(self.dialect.name(), opts)),
            Endpoint::Null(delay) => write!(f, "null:{delay}"),
            Endpoint::Odbc(source) => f.write_str(&source.shown),
            Endpoint::Postgres(address) => f.write_str(&postgres::display(self.dialect.name(), &address.config)),
            Endpoint::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
        }
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn a_password_is_never_shown() {
        let url = Url::parse("postgres://tpcc:s3cret%40x@db.example:5433/bench?connect_timeout=3").unwrap();
        assert_eq!(url.to_string(), "postgres://tpcc@db.example:5433/bench");
        assert!(!format!("{url:?}").contains("s3cret"));
        for bad in [
            "postgres://u:s3cret@host:notaport/db",
            "nosuch://u:s3cret@host/db",
            "postgres://u:s3cret@h/db?nosuchoption=1",
            "u:s3cret@host",
            "postgres://u@h/db?password=s3cret&bad=1",
        ] {
            let message = Url::parse(bad).unwrap_err().to_string();
            assert!(!message.contains("s3cret"), "{message}");
            assert_eq!(message.lines().count(), 1);
        }
    }

    #[test]
    fn tls_is_never_left_out_silently() {
        for mode in ["prefer", "allow", "on"] {
            let message = Url::parse(&format!("postgres://me@h/db?sslmode={mode}")).unwrap_err().to_string();
            assert!(message.contains("sslmode") && message.contains("require"), "{message}");
        }
        for good in ["sslmode=disable", "sslmode=require", "sslmode=verify-full&connect_timeout=3"] {
            assert!(Url::parse(&format!("postgres://me@h/db?{good}")).is_ok(), "{good}");
        }
        for (bad, said) in [("sslrootcert=nosuch.pem", "nosuch.pem"), ("sslcert=me.pem", "go together")] {
            let message = Url::parse(&format!("cockroachdb://me@h/db?sslmode=require&{bad}")).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }

    #[test]
    fn mysql_urls_have_their_schemes_port_and_hide_the_password() {
        let shown = |text: &str| Url::parse(text).unwrap().to_string();
        assert_eq!(shown("mysql://me:s3cret@db.example/bench"), "mysql://me@db.example:3306/bench");
        assert_eq!(shown("tidb://me@db.example/bench"), "tidb://me@db.example:4000/bench");
        assert_eq!(shown("mariadb://me@[::1]:3307/bench"), "mariadb://me@[::1]:3307/bench");
        for bad in ["mysql://u:s3cret@host/", "mysql://u:s3cret@host/db?nosuch=1", "tidb://u:s3cret@h/db?ssl-mode=x"] {
            let message = Url::parse(bad).unwrap_err().to_string();
            assert!(!message.contains("s3cret"), "{message}");
        }
    }

    #[test]
    fn sqlite_urls_name_a_file() {
        assert_eq!(Url::parse("sqlite:a/b.db").unwrap().to_string(), "sqlite:a/b.db");
        assert_eq!(Url::parse("sqlite:///tmp/b.db").unwrap().to_string(), "sqlite:/tmp/b.db");
        assert!(Url::parse("sqlite:").unwrap_err().to_string().contains("file"));
        assert!(Url::parse("sqlite::memory:").unwrap_err().to_string().contains("memory"));
    }
}
