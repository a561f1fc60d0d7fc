//! MySQL and MariaDB (a Galera cluster is MariaDB at each of its nodes).

use mysql_async::{ClientIdentity, Opts, OptsBuilder, SslOpts};

use crate::ddl::{Ddl, standard_type};
use crate::dialect::{Access, Dialect, Isolation, MultiRowUpdate, Verified};
use crate::finding::{Level, Setting, Wanted};
use crate::introspection::Introspection;
use crate::placement::{DataPlacement, Placement, Spread};
use crate::plan::{Explain, Form};
use crate::schema::{ColumnType, Table};
use crate::tls::Tls;
use crate::topology::TopologyQuery;
use crate::wire::WireKind;
use crate::{RoutineLanguage, UrlError};

/// The dialect of a server with InnoDB tables.
#[derive(Debug)]
pub struct InnoDb {
    name: &'static str,
    recognises: fn(&str) -> bool,
    verified: Verified,
    /// What precedes a statement to run it and show its plan with counters.
    explain_run: &'static str,
    topology: &'static [TopologyQuery],
    settings: &'static [Setting],
}

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
            ColumnType::Int => "INT".into(),
            // TIMESTAMP ends in 2038, and old SQL modes update it on every write.
            ColumnType::Timestamp => "DATETIME(6)".into(),
            ColumnType::Uuid => "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin".into(),
            ColumnType::Json => "JSON".into(),
            kind => standard_type(kind),
        }
    }

    /// The server opens transactions, because autocommit is off; only a change of level needs a statement.
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

    /// Tables and their partitions, whose bytes include those of their indexes.
    pub(crate) const TABLES_AND_PARTITIONS: TopologyQuery = TopologyQuery::Parts {
        unit: None,
        queries: &["SELECT table_name AS table_name, NULL AS partition_name, table_rows AS row_count, \
             data_length + index_length AS bytes FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_type LIKE '%TABLE%' \
             UNION ALL \
             SELECT table_name, partition_name, table_rows, data_length + index_length FROM information_schema.partitions \
             WHERE table_schema = DATABASE() AND partition_name IS NOT NULL"],
        renamed: &[],
    };

    /// How many partitions a table has.
    pub(crate) const PARTITIONS: TopologyQuery = TopologyQuery::Parts {
        unit: Some("partitions"),
        queries: &["SELECT table_name AS table_name, COUNT(*) AS units FROM information_schema.partitions \
             WHERE table_schema = DATABASE() AND partition_name IS NOT NULL GROUP BY table_name"],
        renamed: &[],
    };

    /// This server, and the replicas that fetch its log.
    pub(crate) const SERVER_AND_REPLICAS: &str = "SELECT 'this server' AS node, CONCAT(@@hostname, ':', @@port) AS address, \
        CASE WHEN @@GLOBAL.read_only THEN 'read only' ELSE 'primary' END AS role, VERSION() AS version, 1 AS live, \
        NULL AS state \
        UNION ALL \
        SELECT CONCAT('replica of process ', id), host, 'replica', NULL, 1, state FROM information_schema.processlist \
        WHERE command LIKE 'Binlog Dump%'";

    /// What matters on InnoDB, and on anything that speaks like it.
    pub(crate) const MAX_CONNECTIONS: Setting = Setting::new(
        "max_connections",
        Wanted::Connections,
        Level::Bad,
        "raise max_connections at the server, or ask for fewer --connections",
    );
    pub(crate) const PREPARED_STATEMENTS: Setting = Setting::new(
        "max_prepared_stmt_count",
        Wanted::PreparedStatements,
        Level::Bad,
        "raise max_prepared_stmt_count at the server: every connection keeps its statements prepared",
    );
    pub(crate) const READ_ONLY: Setting =
        Setting::new("read_only", Wanted::OneOf(&["OFF", "0"]), Level::Bad, "nothing can be written");
    pub(crate) const LOCAL_INFILE: Setting = Setting::new(
        "local_infile",
        Wanted::OneOf(&["ON", "1"]),
        Level::Warn,
        "a load goes by multi-row INSERT now, which is slower",
    );
    pub(crate) const FLUSH_LOG: Setting = Setting::new(
        "innodb_flush_log_at_trx_commit",
        Wanted::OneOf(&["1", "3"]),
        Level::Bad,
        "commits are acknowledged before they are durable (3.5.2)",
    )
    .is_deviation();
    pub(crate) const DOUBLEWRITE: Setting = Setting::new(
        "innodb_doublewrite",
        Wanted::NoneOf(&["OFF", "0", "DETECT_ONLY"]),
        Level::Bad,
        "a crash of the machine can tear pages (3.5)",
    )
    .is_deviation();
    pub(crate) const SYNC_BINLOG: Setting = Setting::new(
        "sync_binlog",
        Wanted::OneOf(&["1"]),
        Level::Warn,
        "after a crash of the machine the log for the replicas can lack what was committed",
    )
    .when("log_bin", "ON");
    pub(crate) const BUFFER_POOL: Setting = Setting::new(
        "innodb_buffer_pool_size",
        Wanted::PercentOfData(50),
        Level::Warn,
        "raise innodb_buffer_pool_size, to more than half of the server's memory: most reads go to the disk now",
    );

    /// Duplicate table, key name, foreign key name (two codes).
    pub(crate) fn already_exists(code: &str) -> bool {
        matches!(code, "1050" | "1061" | "1826" | "1022")
    }
}

impl Dialect for InnoDb {
    fn name(&self) -> &'static str {
        self.name
    }

    fn wire(&self) -> WireKind {
        WireKind::Mysql
    }

    fn verified(&self) -> Verified {
        self.verified
    }

    fn default_port(&self) -> u16 {
        3306
    }

    fn adapt(&self, sql: String) -> String {
        family::adapt(sql)
    }

    fn multi_row_update(&self) -> MultiRowUpdate {
        MultiRowUpdate::Join
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
}

impl Ddl for InnoDb {
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

    fn routines(&self) -> Option<RoutineLanguage> {
        Some(RoutineLanguage::SqlPsm)
    }

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE TABLE {table}")
    }

    fn table_suffix(&self, _table: &Table) -> &'static str {
        family::TABLE_SUFFIX
    }
}

impl DataPlacement for InnoDb {
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

impl Introspection for InnoDb {
    fn recognises(&self, version: &str) -> bool {
        (self.recognises)(version)
    }

    fn explain(&self) -> Option<Explain> {
        Some(Explain { plain: "EXPLAIN", run: self.explain_run, form: Form::MysqlTable })
    }

    fn topology(&self) -> &'static [TopologyQuery] {
        self.topology
    }

    fn judged_settings(&self) -> &'static [Setting] {
        self.settings
    }
}

/// MySQL.
pub static MYSQL: InnoDb = InnoDb {
    name: "mysql",
    // A version begins with a number; MariaDB and TiDB add their names.
    recognises: |version| {
        version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains("MariaDB") && !version.contains("TiDB")
    },
    verified: Verified::No(
        "wire, types and statements are those that run on MariaDB and TiDB servers; no MySQL server was had",
    ),
    // EXPLAIN ANALYZE takes SELECT only, and its tree of text says no more than the counters.
    explain_run: "EXPLAIN",
    topology: &[
        // The members of a replication group, or one server with its replicas.
        TopologyQuery::Nodes(&[
            "SELECT CONCAT(member_host, ':', member_port) AS node, CONCAT(member_host, ':', member_port) AS address, \
             member_role AS role, member_version AS version, member_state = 'ONLINE' AS live, member_state AS state \
             FROM performance_schema.replication_group_members WHERE member_host <> ''",
            family::SERVER_AND_REPLICAS,
        ]),
        family::TABLES_AND_PARTITIONS,
        family::PARTITIONS,
        TopologyQuery::Unsupported("MySQL has no ranges: a table lives whole on each node, with its partitions"),
    ],
    settings: &[
        family::FLUSH_LOG,
        family::DOUBLEWRITE,
        family::SYNC_BINLOG,
        family::BUFFER_POOL,
        Setting::new(
            "innodb_redo_log_capacity",
            Wanted::AtLeast(1 << 30),
            Level::Warn,
            "raise innodb_redo_log_capacity to 1 GiB or more: pages are flushed as often as the log fills",
        ),
        family::MAX_CONNECTIONS,
        family::PREPARED_STATEMENTS,
        family::READ_ONLY,
        family::LOCAL_INFILE,
    ],
};

/// MariaDB, alone or in a Galera cluster.
pub static MARIADB: InnoDb = InnoDb {
    name: "mariadb",
    recognises: |version| version.contains("MariaDB"),
    verified: Verified::RealServer("MariaDB 10.11; Galera 4 with three nodes"),
    explain_run: "ANALYZE",
    topology: &[
        // The members of a Galera cluster, by their names or at least by their addresses; or one server with its replicas.
        TopologyQuery::Nodes(&[
            "SELECT node_name AS node, node_incoming_address AS address, 'primary (Galera)' AS role, \
             CASE WHEN node_name = @@wsrep_node_name THEN VERSION() END AS version, 1 AS live \
             FROM mysql.wsrep_cluster_members ORDER BY node_name",
            "SELECT SUBSTRING_INDEX(SUBSTRING_INDEX(variable_value, ',', seq), ',', -1) AS node, \
             SUBSTRING_INDEX(SUBSTRING_INDEX(variable_value, ',', seq), ',', -1) AS address, \
             'primary (Galera)' AS role, 1 AS live FROM information_schema.global_status JOIN seq_1_to_99 \
             ON seq <= 1 + LENGTH(variable_value) - LENGTH(REPLACE(variable_value, ',', '')) \
             WHERE variable_name = 'WSREP_INCOMING_ADDRESSES' AND variable_value <> ''",
            family::SERVER_AND_REPLICAS,
        ]),
        family::TABLES_AND_PARTITIONS,
        family::PARTITIONS,
        TopologyQuery::Notes(&["SELECT CONCAT('Galera, as this node sees it: ', \
             GROUP_CONCAT(LOWER(SUBSTR(variable_name, 7)), ' ', variable_value ORDER BY variable_name SEPARATOR ', ')) \
             AS note FROM information_schema.global_status WHERE variable_value <> '' AND variable_name IN \
             ('WSREP_CLUSTER_SIZE', 'WSREP_CLUSTER_STATUS', 'WSREP_LOCAL_STATE_COMMENT', 'WSREP_READY', 'WSREP_CONNECTED') \
             AND EXISTS (SELECT 1 FROM information_schema.global_status \
             WHERE variable_name = 'WSREP_CONNECTED' AND variable_value = 'ON') HAVING COUNT(*) > 0"]),
        TopologyQuery::Unsupported("MariaDB has no ranges: a table lives whole on each node, with its partitions"),
    ],
    settings: &[
        family::FLUSH_LOG,
        family::DOUBLEWRITE,
        family::SYNC_BINLOG,
        family::BUFFER_POOL,
        Setting::new(
            "innodb_log_file_size",
            Wanted::AtLeast(512 << 20),
            Level::Warn,
            "raise innodb_log_file_size to 512 MiB or more: pages are flushed as often as the log fills",
        ),
        family::MAX_CONNECTIONS,
        family::PREPARED_STATEMENTS,
        family::READ_ONLY,
        family::LOCAL_INFILE,
        Setting::new(
            "query_cache_type",
            Wanted::OneOf(&["OFF"]),
            Level::Warn,
            "each write takes the lock of the cache to clear it of the table's rows",
        ),
    ],
};

/// The connection keeps every statement prepared: far fewer than this.
const STATEMENT_CACHE: usize = 1024;

/// Reads what follows the scheme; a password may come from `MYSQL_PWD`.
pub(crate) fn parse(rest: &str, dialect: &dyn Dialect) -> Result<Opts, UrlError> {
    let scheme = dialect.name();
    let form = format!("write {scheme}://user:password@host:port/database");
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    // The driver's own messages could hold the password.
    let opts = Opts::from_url(&format!("mysql:{address}"))
        .map_err(|_| format!("the {scheme} URL can't be read: {form}, with special characters percent-encoded"))?;
    if opts.db_name().is_none_or(str::is_empty) {
        return Err(format!("the {scheme} URL names no database: {form}").into());
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

/// `ssl-mode`, `ssl-ca`, `ssl-cert`, `ssl-key`. Every mode that asks for TLS verifies certificate and name, since the driver
/// does not know how to leave out the name alone.
fn tls(parameters: &str, scheme: &str) -> Result<Option<SslOpts>, UrlError> {
    let mut tls = Tls::default();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=').unwrap_or((parameter, "")) {
            ("ssl-mode", mode) => {
                tls.wanted = match mode.to_ascii_lowercase().as_str() {
                    "disabled" => Some(false),
                    "required" | "verify_ca" | "verify_identity" => Some(true),
                    _ => {
                        return Err("ssl-mode in the URL: use disabled, or required or verify_identity (both verify \
                                    the server's certificate and name)"
                            .into());
                    }
                };
            }
            ("ssl-ca", file) => tls.root_certificates = Some(file),
            ("ssl-cert", file) => tls.certificate = Some(file),
            ("ssl-key", file) => tls.key = Some(file),
            (name, _) => {
                let known = "ssl-mode, ssl-ca, ssl-cert, ssl-key";
                return Err(format!("unknown parameter `{name}` in the {scheme} URL: known are {known}").into());
            }
        }
    }
    // The driver reads the files again, and says less of what is wrong with them.
    if tls.client("ssl-mode=verify_identity")?.is_none() {
        return Ok(None);
    }
    let file = |name: &str| std::path::PathBuf::from(name).into();
    let identity = tls.certificate.zip(tls.key).map(|(chain, key)| ClientIdentity::new(file(chain), file(key)));
    let options = SslOpts::default().with_client_identity(identity);
    Ok(Some(match tls.root_certificates {
        Some(authorities) => options.with_root_certs(vec![file(authorities)]).with_disable_built_in_roots(true),
        None => options,
    }))
}

/// The URL, without its password.
pub(crate) fn display(scheme: &str, opts: &Opts) -> String {
    let user = opts.user().unwrap_or_default();
    let host = opts.ip_or_hostname();
    let database = opts.db_name().unwrap_or_default();
    format!("{scheme}://{user}@{host}:{}/{database}", opts.tcp_port())
}
