//! MySQL and MariaDB (a Galera cluster is MariaDB at each of its nodes).

use mysql_async::{Opts, OptsBuilder, SslOpts};

use crate::RoutineLanguage;
use crate::dialect::{Access, Dialect, Isolation, MultiRowUpdate, WireKind};
use crate::placement::{Placement, Spread};
use crate::schema::{ColumnType, Table};

/// MySQL's dialect.
#[derive(Debug)]
pub struct MySql;

/// MariaDB's dialect.
#[derive(Debug)]
pub struct MariaDb;

/// What the family has in common, TiDB included; a method is named after the one it serves.
pub(crate) mod family {
    use super::*;

    /// A byte is a byte: names differ by case and sort as in every other database (C_FIRST decides which customer is
    /// the one in the middle, 2.5.2.2), which the default collations would not do.
    pub(crate) const TABLE_SUFFIX: &str = " DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin";

    pub(crate) fn adapt(sql: String) -> String {
        let sql = match sql.strip_suffix(" ON CONFLICT DO NOTHING") {
            Some(insert) => insert.replacen("INSERT INTO", "INSERT IGNORE INTO", 1),
            None => sql,
        };
        // Without its precision the clock counts whole seconds.
        sql.replace("LOCALTIMESTAMP", "LOCALTIMESTAMP(6)")
            .replace(" AS INTEGER)", " AS SIGNED)")
            .replace(" AS BIGINT)", " AS SIGNED)")
    }

    pub(crate) fn column_type(kind: ColumnType) -> String {
        match kind {
            ColumnType::SmallInt => "SMALLINT".into(),
            ColumnType::Int => "INT".into(),
            ColumnType::BigInt => "BIGINT".into(),
            ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
            ColumnType::Char(n) => format!("CHAR({n})"),
            ColumnType::Varchar(n) => format!("VARCHAR({n})"),
            // TIMESTAMP ends in 2038 and changes by itself in old modes.
            ColumnType::Timestamp => "DATETIME(6)".into(),
        }
    }

    /// Transactions open by themselves, since autocommit is off; only the level is said, when it changes.
    pub(crate) fn begin(isolation: Isolation) -> String {
        format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", isolation.sql())
    }

    /// The clause that partitions a table. Its last partition takes all keys from its first on (1.4.11).
    pub(crate) fn spread_clause(table: &Table, placement: &Placement) -> String {
        let partitions = placement.partitions();
        let Some(column) = table.spread_by.filter(|_| !partitions.is_empty()) else { return String::new() };
        let next = partitions.iter().skip(1).map(|keys| format!("({})", keys.start()));
        let bounds = next.chain(["MAXVALUE".to_owned()]).enumerate();
        let parts: Vec<String> = bounds.map(|(i, bound)| format!("PARTITION p{i} VALUES LESS THAN {bound}")).collect();
        format!(" PARTITION BY RANGE ({column}) (\n  {}\n)", parts.join(",\n  "))
    }

    pub(crate) fn refuses_foreign_keys(placement: &Placement) -> Option<&'static str> {
        placement.partitions.map(|_| "partitioned tables can have none here: leave out --partitions, or foreign keys")
    }

    /// Duplicate table, key name, foreign key name (two codes).
    pub(crate) fn already_exists(code: &str) -> bool {
        matches!(code, "1050" | "1061" | "1826" | "1022")
    }
}

macro_rules! innodb {
    ($dialect:ty, $name:literal) => {
        impl Dialect for $dialect {
            fn name(&self) -> &'static str {
                $name
            }

            fn wire(&self) -> WireKind {
                WireKind::Mysql
            }

            fn default_port(&self) -> u16 {
                3306
            }

            fn adapt(&self, sql: String) -> String {
                family::adapt(sql)
            }

            fn column_type(&self, kind: ColumnType) -> String {
                family::column_type(kind)
            }

            /// Rows live in the primary key's own tree.
            fn primary_key_after_load(&self) -> bool {
                false
            }

            fn transactional_ddl(&self) -> bool {
                false
            }

            fn already_exists(&self, code: &str) -> bool {
                family::already_exists(code)
            }

            fn multi_row_update(&self) -> MultiRowUpdate {
                MultiRowUpdate::Join
            }

            fn routines(&self) -> Option<RoutineLanguage> {
                Some(RoutineLanguage::SqlPsm)
            }

            fn isolations(&self) -> &'static [Isolation] {
                &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable]
            }

            fn default_isolation(&self) -> Isolation {
                Isolation::RepeatableRead
            }

            /// InnoDB's REPEATABLE READ lets a read-then-write lose updates; ours lock what they are going to write.
            fn passes_clause_3_4(&self, level: Isolation) -> bool {
                level != Isolation::ReadCommitted
            }

            fn begin(&self, isolation: Isolation, _access: Access) -> String {
                family::begin(isolation)
            }

            fn analyze(&self, table: &str) -> String {
                format!("ANALYZE TABLE {table}")
            }

            fn table_suffix(&self, _table: &Table) -> &'static str {
                family::TABLE_SUFFIX
            }

            fn spreads(&self) -> &'static [Spread] {
                &[Spread::Partitions]
            }

            fn spread_clause(&self, table: &Table, placement: &Placement) -> String {
                family::spread_clause(table, placement)
            }

            fn refuses_foreign_keys(&self, placement: &Placement) -> Option<&'static str> {
                family::refuses_foreign_keys(placement)
            }
        }
    };
}
innodb!(MySql, "mysql");
innodb!(MariaDb, "mariadb");

/// The connection keeps every statement prepared: far fewer than this.
const STATEMENT_CACHE: usize = 1024;

/// Reads what follows the scheme; a password may come from `MYSQL_PWD`.
pub(crate) fn parse(rest: &str, dialect: &dyn Dialect) -> Result<Opts, String> {
    let scheme = dialect.name();
    let form = format!("write {scheme}://user:password@host:port/database");
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    // The driver's own messages could hold the password.
    let opts = Opts::from_url(&format!("mysql:{address}"))
        .map_err(|_| format!("the {scheme} URL can't be read: {form}, with special characters percent-encoded"))?;
    if opts.db_name().is_none_or(str::is_empty) {
        return Err(format!("the {scheme} URL names no database: {form}"));
    }
    let after_user = address.rsplit_once('@').map_or(address.trim_start_matches('/'), |(_, host)| host);
    let names_port = after_user
        .split('/')
        .next()
        .is_some_and(|host| host.contains("]:") || !host.contains('[') && host.contains(':'));
    let user = opts.user().map(str::to_owned).or_else(|| std::env::var("USER").ok());
    let password = opts.pass().map(str::to_owned).or_else(|| std::env::var("MYSQL_PWD").ok());
    let port = if names_port { opts.tcp_port() } else { dialect.default_port() };
    let ssl = tls(parameters, scheme)?;
    let builder = OptsBuilder::from_opts(opts)
        .user(user)
        .pass(password)
        .tcp_port(port)
        .ssl_opts(ssl)
        // Rows found, not rows that became another value: an UPDATE is checked by how many it met (2.3.6).
        .client_found_rows(true)
        .stmt_cache_size(STATEMENT_CACHE)
        .prefer_socket(false)
        .tcp_nodelay(true);
    Ok(builder.into())
}

/// `ssl-mode=disabled` or `required` (which verifies the server), `ssl-ca=FILE`.
fn tls(parameters: &str, scheme: &str) -> Result<Option<SslOpts>, String> {
    let mut wanted = false;
    let mut options = SslOpts::default();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=').unwrap_or((parameter, "")) {
            ("ssl-mode", mode) => {
                wanted = match mode.to_ascii_lowercase().as_str() {
                    "disabled" => false,
                    "required" | "verify_ca" | "verify_identity" => true,
                    _ => return Err("ssl-mode in the URL: use disabled or required (which verifies the server)".into()),
                };
            }
            ("ssl-ca", file) => {
                let file = std::path::PathBuf::from(file);
                if !file.is_file() {
                    return Err(format!("ssl-ca={}: no such file", file.display()));
                }
                options = options.with_root_certs(vec![file.into()]).with_disable_built_in_roots(true);
            }
            (name, _) => {
                return Err(format!("unknown parameter `{name}` in the {scheme} URL: known are ssl-mode, ssl-ca"));
            }
        }
    }
    Ok(wanted.then_some(options))
}

/// The URL, without its password.
pub(crate) fn display(scheme: &str, opts: &Opts) -> String {
    let (user, host, database) =
        (opts.user().unwrap_or_default(), opts.ip_or_hostname(), opts.db_name().unwrap_or_default());
    format!("{scheme}://{user}@{host}:{}/{database}", opts.tcp_port())
}
