//! `topology`, `targets` and `doctor`.

use std::process::{Child, Command, Stdio};

use serde_json::Value;
use target::{Session, Url};

use crate::support::{Place, done, json, say};

/// Runs statements one after the other, as a script would.
pub(crate) fn execute(url: &str, statements: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        for sql in statements {
            session.execute(sql).await.unwrap_or_else(|e| panic!("{e} in {sql}"));
        }
    });
}

/// The JSON of a command whose status is not 0.
fn json_of_status(status: i32, args: &[&str]) -> Value {
    let said = say(&[args, &["--json"]].concat());
    assert_eq!(said.status, status, "{args:?}\n{}\n{}", said.stdout, said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

fn line<'a>(topology: &'a Value, table: &str, index: Option<&str>, partition: Option<&str>) -> &'a Value {
    let lines = topology["tables"].as_array().unwrap();
    let wanted = |line: &&Value| {
        line["table"] == table && line["index"].as_str() == index && line["partition"].as_str() == partition
    };
    lines.iter().find(wanted).unwrap_or_else(|| panic!("no {table} {index:?} {partition:?} in {topology:#}"))
}

fn finding<'a>(findings: &'a Value, what: &str) -> &'a Value {
    let all = findings["findings"].as_array().unwrap();
    all.iter().find(|finding| finding["what"] == what).unwrap_or_else(|| panic!("nothing of {what} in {findings:#}"))
}

#[test]
fn sqlite_is_one_file_and_fit() {
    let place = Place::new();
    let url = place.sqlite();
    assert_eq!(say(&["doctor", "--url", &url]).status, 1, "a file that is not there is not examined into being");
    done(&["load", "--url", &url]);

    let topology = json(&["topology", "--url", &url]);
    assert_eq!(topology["nodes"], serde_json::json!([]));
    assert_eq!(line(&topology, "customer", None, None)["rows"], 30_000);
    assert!(line(&topology, "customer", Some("customer_by_name"), None)["count"].is_null());
    let notes = topology["notes"].to_string();
    assert!(notes.contains("embedded: one file") && notes.contains("pages of 4096"), "{notes}");
    let text = done(&["topology", "--url", &url]).stdout;
    assert!(text.contains("customer_by_name") && text.contains("neither nodes nor ranges"), "{text}");

    let findings = json(&["doctor", "--url", &url]);
    assert_eq!(findings["fit"], true, "{findings:#}");
    assert_eq!(finding(&findings, "journal_mode")["status"], "ok");
    assert_eq!(finding(&findings, "synchronous")["status"], "warn");
    assert!(finding(&findings, "consistency")["value"].as_str().unwrap().contains("C1, C2, C3 hold"));
    assert!(finding(&findings, "data")["value"].as_str().unwrap().starts_with("warehouses 1 to 1"));
    assert!(finding(&findings, "round trip")["value"].as_str().unwrap().contains("200 prepared"));
    let all = json(&["doctor", "--url", &url, "--check"]);
    assert!(finding(&all, "consistency")["value"].as_str().unwrap().contains("checks hold"), "{all:#}");

    let beyond = json_of_status(3, &["doctor", "--url", &url, "--warehouses", "5"]);
    assert_eq!((&beyond["fit"], &finding(&beyond, "data")["status"]), (&false.into(), &"bad".into()));
    execute(&url, &["UPDATE warehouse SET w_ytd = w_ytd + 1"]);
    let spoiled = json_of_status(3, &["doctor", "--url", &url]);
    assert!(finding(&spoiled, "consistency, C1")["value"].as_str().unwrap().contains("1 rows violate"), "{spoiled:#}");
}

#[test]
fn a_run_records_the_topology() {
    let place = Place::new();
    let (url, out) = (place.sqlite(), place.text("run"));
    done(&["load", "--url", &url]);
    let run =
        ["run", "--url", &url, "--pacing", "none", "--connections", "2", "--ramp", "0s", "--duration", "1s", "--out"];
    let shown = json(&[&run[..], &[&out]].concat());
    let record: Value = serde_json::from_slice(&std::fs::read(place.path("run/run.json")).unwrap()).unwrap();
    assert_eq!(line(&record["topology"], "item", None, None)["rows"], 100_000);
    assert_eq!(record["topology"], shown["topology"]);
}

#[test]
fn postgres_shows_partitions_and_foreign_servers() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    execute(
        &url,
        &[
            "CREATE TABLE stock (s_w_id INT, s_i_id INT, PRIMARY KEY (s_w_id, s_i_id)) PARTITION BY RANGE (s_w_id)",
            "CREATE TABLE stock_p0 PARTITION OF stock FOR VALUES FROM (1) TO (3)",
            "CREATE TABLE stock_p1 PARTITION OF stock FOR VALUES FROM (3) TO (5) PARTITION BY RANGE (s_w_id)",
            "CREATE TABLE stock_p1a PARTITION OF stock_p1 FOR VALUES FROM (3) TO (4)",
            "INSERT INTO stock SELECT w, i FROM generate_series(1, 3) w, generate_series(1, 1000) i",
            "CREATE TABLE item (i_id INT PRIMARY KEY, i_name TEXT)",
            "CREATE INDEX item_by_name ON item (i_name)",
            "INSERT INTO item SELECT i, 'x' FROM generate_series(1, 500) i",
            "CREATE EXTENSION postgres_fdw",
            "CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '10.0.0.7', port '5433')",
            "CREATE TABLE orders (o_w_id INT) PARTITION BY RANGE (o_w_id)",
            "CREATE TABLE orders_here PARTITION OF orders FOR VALUES FROM (1) TO (3)",
            "CREATE FOREIGN TABLE orders_there PARTITION OF orders FOR VALUES FROM (3) TO (5) SERVER shard",
        ],
    );
    execute(&url, &["ANALYZE stock_p0", "ANALYZE stock_p1a", "ANALYZE item"]);

    let topology = json(&["topology", "--url", &url]);
    let nodes = topology["nodes"].as_array().unwrap();
    assert_eq!((nodes.len(), &nodes[0]["role"], &nodes[0]["live"]), (2, &"primary".into(), &true.into()));
    assert_eq!((&nodes[1]["name"], &nodes[1]["address"]), (&"shard".into(), &"10.0.0.7:5433".into()));
    assert!(
        nodes[0]["version"].as_str().is_some_and(|version| version.parse::<f32>().is_ok() || version.contains('.'))
    );

    let stock = line(&topology, "stock", None, None);
    assert_eq!((&stock["unit"], &stock["count"], &stock["rows"]), (&"partitions".into(), &2.into(), &3000.into()));
    let (p0, p1a) =
        (line(&topology, "stock", None, Some("stock_p0")), line(&topology, "stock", None, Some("stock_p1a")));
    assert_eq!((&p0["rows"], &p1a["rows"]), (&2000.into(), &1000.into()));
    let bytes = |line: &Value| line["bytes"].as_u64().unwrap();
    let indexes = ["stock_p0", "stock_p1a"]
        .map(|leaf| bytes(line(&topology, "stock", Some(&format!("{leaf}_pkey")), Some(leaf))));
    assert_eq!(bytes(stock), bytes(p0) + bytes(p1a) + indexes.iter().sum::<u64>(), "{topology:#}");

    let item = line(&topology, "item", None, None);
    assert_eq!((&item["rows"], &item["count"]), (&500.into(), &Value::Null));
    assert!(bytes(line(&topology, "item", Some("item_by_name"), None)) > 0);
    assert_eq!(line(&topology, "orders", None, Some("orders_there"))["placement"], "foreign server shard");
    assert!(topology["notes"].to_string().contains("PostgreSQL has no ranges"), "{topology:#}");
    let text = done(&["topology", "--url", &url]).stdout;
    assert!(text.contains("stock_p1a") && text.contains("foreign server shard"), "{text}");
}

#[test]
fn postgres_shows_its_standbys() {
    let Some(cluster) = lab::postgres_cluster_or_skip() else { return };
    let topology = json(&["topology", "--url", &cluster.url("postgres")]);
    let nodes = topology["nodes"].as_array().unwrap();
    assert_eq!((nodes.len(), &nodes[0]["role"]), (cluster.urls("postgres").len(), &"primary".into()), "{topology:#}");
    for standby in &nodes[1..] {
        let role = standby["role"].as_str().unwrap();
        assert!(role.starts_with("standby (") && role != "standby (async)", "{topology:#}");
        assert_eq!((&standby["live"], &standby["state"]), (&true.into(), &"streaming".into()));
    }
}

#[test]
fn what_the_catalog_hides_is_a_note() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    execute(
        &url,
        &["CREATE TABLE t (k INT)", "REVOKE EXECUTE ON FUNCTION pg_table_size FROM PUBLIC", "CREATE ROLE weak LOGIN"],
    );
    let topology = json(&["topology", "--url", &url.replace("postgres@", "weak@")]);
    assert_eq!((topology["nodes"].as_array().unwrap().len(), &topology["tables"]), (1, &serde_json::json!([])));
    assert!(topology["notes"].to_string().contains("the tables can't be read: permission denied"), "{topology:#}");
}

#[test]
fn postgres_with_its_settings_in_order_is_fit() {
    let Some(server) = lab::or_skip(lab::Postgres::start_with(&[("fsync", "on")])) else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    let empty = json(&["doctor", "--url", &url]);
    assert_eq!((&empty["fit"], &finding(&empty, "data")["status"]), (&true.into(), &"warn".into()));
    done(&["load", "--url", &url]);

    let findings = json(&["doctor", "--url", &url, "--connections", "64"]);
    for what in ["fsync", "full_page_writes", "synchronous_commit", "max_connections", "shared_buffers", "autovacuum"] {
        assert_eq!(finding(&findings, what)["status"], "ok", "{findings:#}");
    }
    assert_eq!(finding(&findings, "client and server")["status"], "warn");
    assert_eq!(finding(&findings, "clock")["status"], "ok");
    assert!(finding(&findings, "server")["value"].as_str().unwrap().starts_with("PostgreSQL "));
    assert!(finding(&findings, "shared_buffers")["value"].as_str().unwrap().starts_with("256MB (the data have "));
    assert!(finding(&findings, "pooler in between")["value"].as_str().unwrap().starts_with("none"));
    assert!(findings["findings"].as_array().unwrap().iter().all(|f| f["what"] != "settings not told"), "{findings:#}");

    let many = json_of_status(3, &["doctor", "--url", &url, "--connections", "500"]);
    assert_eq!(finding(&many, "max_connections")["status"], "bad");
    let text = say(&["doctor", "--url", &url, "--connections", "500"]).stdout;
    assert!(text.contains("BAD   max_connections") && text.contains("NOT fit to be measured"), "{text}");
}

#[test]
fn postgres_with_settings_that_lose_work_is_not_fit() {
    let bad = [
        ("fsync", "off"),
        ("full_page_writes", "off"),
        ("synchronous_commit", "off"),
        ("max_connections", "20"),
        ("autovacuum", "off"),
        ("statement_timeout", "5s"),
        ("plan_cache_mode", "force_custom_plan"),
    ];
    let Some(server) = lab::or_skip(lab::Postgres::start_with(&bad)) else { return };
    let url = server.url("postgres");
    let findings = json_of_status(3, &["doctor", "--url", &url, "--connections", "32"]);
    for (what, status) in [
        ("fsync", "bad"),
        ("full_page_writes", "bad"),
        ("synchronous_commit", "bad"),
        ("max_connections", "bad"),
        ("autovacuum", "warn"),
        ("statement_timeout", "warn"),
        ("plan_cache_mode", "warn"),
        ("lock_timeout", "ok"),
    ] {
        assert_eq!(finding(&findings, what)["status"], status, "{findings:#}");
    }
    assert_eq!(
        finding(&findings, "fsync")["advice"],
        "set fsync = on: committed transactions can be lost in a crash of the machine (3.5)"
    );
}

/// A PgBouncer in transaction mode before a server.
struct Pooler {
    child: Child,
    _folder: tempfile::TempDir,
    url: String,
}

impl Pooler {
    /// Starts it, or says why it can't be had.
    fn start(server: &lab::Postgres) -> Option<Pooler> {
        if Command::new("pgbouncer").arg("--version").output().is_err() {
            assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "pgbouncer is not installed here");
            eprintln!("skipped: pgbouncer is not installed here: try `apt-get install pgbouncer`");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let address = server.url("").split('@').nth(1).unwrap().trim_end_matches('/').to_owned();
        let (host, of_server) = address.split_once(':').unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "[databases]\n* = host={host} port={of_server} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nauth_type = any\npool_mode = transaction\nunix_socket_dir =\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        // It refuses to run as root.
        let root = std::fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own)).unwrap() == 0;
        let mut command = Command::new(if root { "setpriv" } else { "pgbouncer" });
        if root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "pgbouncer"]);
        }
        let child = command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let url = format!("postgres://postgres@127.0.0.1:{port}/bench");
        let pooler = Pooler { child, _folder: folder, url };
        for _ in 0..200 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(pooler);
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("PgBouncer does not listen");
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_pooler_in_transaction_mode_is_found() {
    let Some(server) = lab::or_skip(lab::Postgres::start_with(&[("fsync", "on")])) else { return };
    server.create_database("bench").unwrap();
    let Some(pooler) = Pooler::start(&server) else { return };
    let findings = json_of_status(3, &["doctor", "--url", &pooler.url]);
    let bad: Vec<&Value> =
        findings["findings"].as_array().unwrap().iter().filter(|finding| finding["status"] == "bad").collect();
    assert_eq!(bad.len(), 1, "{findings:#}");
    assert_eq!(bad[0]["what"], "pooler in between", "{findings:#}");
    assert!(bad[0]["advice"].as_str().unwrap().contains("pooler in transaction mode"), "{findings:#}");
}

#[test]
fn mariadb_shows_partitions_and_what_loses_work() {
    let bad = [("innodb_flush_log_at_trx_commit", "0"), ("max_connections", "20"), ("max_prepared_stmt_count", "100")];
    let Some(server) = lab::or_skip(lab::MariaDb::start_with(&bad)) else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    execute(
        &url,
        &[
            "CREATE TABLE stock (s_w_id INT, s_i_id INT, PRIMARY KEY (s_w_id, s_i_id)) PARTITION BY RANGE (s_w_id) \
             (PARTITION p0 VALUES LESS THAN (3), PARTITION p1 VALUES LESS THAN MAXVALUE)",
            "CREATE TABLE item (i_id INT PRIMARY KEY)",
        ],
    );
    let topology = json(&["topology", "--url", &url]);
    let nodes = topology["nodes"].as_array().unwrap();
    assert_eq!((nodes.len(), &nodes[0]["role"], &nodes[0]["live"]), (1, &"primary".into(), &true.into()));
    assert!(nodes[0]["version"].as_str().unwrap().contains("MariaDB"));
    let stock = line(&topology, "stock", None, None);
    assert_eq!((&stock["unit"], &stock["count"]), (&"partitions".into(), &2.into()));
    assert!(line(&topology, "stock", None, Some("p1"))["bytes"].as_u64() > Some(0));
    assert!(line(&topology, "item", None, None)["count"].is_null());
    let notes = topology["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{topology:#}");
    assert!(notes[0].as_str().unwrap().starts_with("MariaDB has no ranges: a table lives whole on each node"));

    let findings = json_of_status(3, &["doctor", "--url", &url, "--connections", "16"]);
    for (what, status) in [
        ("innodb_flush_log_at_trx_commit", "bad"),
        ("max_connections", "bad"),
        ("max_prepared_stmt_count", "bad"),
        ("innodb_doublewrite", "ok"),
        ("local_infile", "ok"),
        ("pooler in between", "ok"),
        ("clock", "ok"),
        ("data", "warn"),
    ] {
        assert_eq!(finding(&findings, what)["status"], status, "{what}: {findings:#}");
    }
    assert!(findings["findings"].as_array().unwrap().iter().all(|f| f["what"] != "settings not told"), "{findings:#}");
    let wrong = say(&["topology", "--url", &url.replace("mariadb:", "mysql:")]).stderr;
    assert!(wrong.contains("the URL says mysql, but the server is mariadb"), "{wrong}");
}

#[test]
fn galera_shows_its_members() {
    let Some(cluster) = lab::galera_or_skip() else { return };
    cluster.create_database("bench").unwrap();
    let urls = cluster.urls("bench");
    let topology = json(&["topology", "--url", &urls[0]]);
    let nodes = topology["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3, "{topology:#}");
    for node in nodes {
        assert_eq!(node["role"], "primary (Galera)");
        assert!(urls.iter().any(|url| url.contains(node["address"].as_str().unwrap())), "{node:#} is none of {urls:?}");
    }
    assert!(nodes.iter().filter(|node| node["version"].is_string()).count() == 1, "{topology:#}");
    let notes = topology["notes"].to_string();
    assert!(notes.contains("cluster_size 3") && notes.contains("local_state_comment Synced"), "{notes}");
}

#[test]
fn tidb_shows_regions_and_placement_policies() {
    let Some(server) = lab::tidb_or_skip() else { return };
    server.create_database("bench").unwrap();
    let url = server.url("bench");
    execute(
        &url,
        &[
            "CREATE PLACEMENT POLICY near FOLLOWERS = 4",
            "CREATE PLACEMENT POLICY far FOLLOWERS = 2",
            "CREATE TABLE stock (s_w_id INT, s_i_id INT, PRIMARY KEY (s_w_id, s_i_id) CLUSTERED) PLACEMENT POLICY = near \
             PARTITION BY RANGE (s_w_id) (PARTITION p0 VALUES LESS THAN (3), PARTITION p1 VALUES LESS THAN MAXVALUE PLACEMENT POLICY = far)",
            "CREATE TABLE item (i_id INT PRIMARY KEY CLUSTERED)",
            "SPLIT TABLE item BETWEEN (0) AND (100000) REGIONS 5",
        ],
    );
    let topology = json(&["topology", "--url", &url]);
    assert!(topology["nodes"].as_array().unwrap().iter().any(|node| node["role"] == "tidb"), "{topology:#}");
    let item = line(&topology, "item", None, None);
    assert_eq!(item["unit"], "regions", "{topology:#}");
    assert!(item["count"].as_u64() >= Some(5), "{topology:#}");
    let led: u64 = item["leaders"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!((item["count"].as_u64(), &item["replicas"]), (Some(led), &1.into()));
    assert_eq!(line(&topology, "stock", None, None)["placement"], "placement policy near");
    assert_eq!(line(&topology, "stock", None, Some("p1"))["placement"], "placement policy far");
    assert!(topology["notes"].to_string().contains("placement policy near: followers 4"), "{topology:#}");

    let findings = json(&["doctor", "--url", &url]);
    for what in ["tidb_txn_mode", "tidb_enable_prepared_plan_cache", "max_prepared_stmt_count", "clock"] {
        assert_eq!(finding(&findings, what)["status"], "ok", "{findings:#}");
    }
}

/// What before a statement shows how it is run is taken by each server that can be had.
#[test]
fn plans_are_shown_as_the_targets_say() {
    let place = Place::new();
    let (postgres, newest) = (lab::postgres_or_skip(), lab::newest_postgres_or_skip());
    let (mariadb, tidb) = (lab::mariadb_or_skip(), lab::tidb_or_skip());
    let urls = [
        Some(place.sqlite()),
        postgres.as_ref().map(|server| server.url("postgres")),
        newest.as_ref().map(|server| server.url("postgres")),
        mariadb.as_ref().map(|server| server.url("mysql")),
        tidb.as_ref().map(|server| server.url("mysql")),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for url in urls.iter().flatten() {
        runtime.block_on(async {
            let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
            for run in [false, true] {
                let plan = session.plan("SELECT 1", run).await.unwrap_or_else(|e| panic!("{url}: {e}"));
                assert!(plan.is_some_and(|plan| !plan.lines.is_empty()), "{url}");
            }
            let read = target::topology::read(&mut session).await;
            assert!(read.notes.iter().all(|note| !note.contains("can't be read")), "{url}: {:?}", read.notes);
        });
    }
}

#[test]
fn a_server_of_another_kind_is_said_with_both_names() {
    let Some(server) = lab::postgres_or_skip() else { return };
    for scheme in ["cockroachdb", "yugabytedb"] {
        let url = server.url("postgres").replace("postgres://", &format!("{scheme}://"));
        for command in ["run", "load", "check", "topology"] {
            let said = say(&[command, "--url", &url]);
            assert_eq!((said.status, said.stderr.lines().count()), (1, 1), "{}", said.stderr);
            let both = format!("the URL says {scheme}, but the server is postgres (`PostgreSQL ");
            assert!(said.stderr.contains(&both), "{}", said.stderr);
        }
        let findings = json_of_status(3, &["doctor", "--url", &url]);
        assert_eq!(finding(&findings, "connection")["status"], "bad", "{findings:#}");
    }
}

#[test]
fn the_targets_are_those_that_urls_know() {
    let listed = json(&["targets"]);
    let targets = listed["targets"].as_array().unwrap();
    let unknown = say(&["check", "--url", "nosuch://h/db"]).stderr;
    assert!(!targets.is_empty());
    for target in targets {
        assert!(unknown.contains(target["name"].as_str().unwrap()), "{unknown}");
        assert!(
            ["real server", "grammar checked", "not verified here"].contains(&target["verified"].as_str().unwrap())
        );
        assert!(target["styles"].as_array().is_some_and(|styles| styles.contains(&"row".into())));
    }
    let postgres = targets.iter().find(|target| target["name"] == "postgres").unwrap();
    assert_eq!(postgres["capabilities"]["spreading"], serde_json::json!(["partitions"]));
    assert_eq!((&postgres["scheme"], &postgres["verified"]), (&"postgres:".into(), &"real server".into()));
    assert_eq!(postgres["capabilities"]["topology"], serde_json::json!(["partitions"]));
    assert_eq!(postgres["capabilities"]["isolation"][0], "repeatable-read");
    let text = done(&["targets"]).stdout;
    assert!(
        text.contains("postgres (postgres:)") && text.contains("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)"),
        "{text}"
    );
}
