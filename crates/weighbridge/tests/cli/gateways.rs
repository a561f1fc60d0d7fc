//! Several gateways of one database: spread, affinity, failover, and what is refused.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStderr, Stdio};
use std::time::{Duration, Instant};

use crate::bad_input::refused;
use crate::forwarder::Forwarder;
use crate::support::{Place, Said, done, json, weighbridge};

/// A PostgreSQL server with forwarders in front, loaded through all of them.
struct Cluster {
    gateways: Vec<Forwarder>,
    server: lab::Postgres,
    place: Place,
}

impl Cluster {
    fn loaded(gateways: usize, warehouses: &str) -> Option<Cluster> {
        let server = lab::postgres_or_skip()?;
        server.create_database("bench").unwrap();
        let gateways = (0..gateways).map(|_| Forwarder::to(&server.url("bench"))).collect();
        let cluster = Cluster { gateways, server, place: Place::new() };
        let loaded = json(&cluster.with_urls(&["load", "--warehouses", warehouses]));
        assert_eq!(loaded["complete"], true);
        Some(cluster)
    }

    /// Arguments with `--url` for each gateway.
    fn with_urls<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let urls = self.gateways.iter().flat_map(|gateway| ["--url", &gateway.url]);
        args.iter().copied().chain(urls).collect()
    }

    /// Connections through each gateway now.
    fn open(&self) -> Vec<usize> {
        self.gateways.iter().map(Forwarder::open).collect()
    }

    /// How many connections went through each gateway so far.
    fn used(&self) -> Vec<usize> {
        self.gateways.iter().map(|gateway| gateway.ports().len()).collect()
    }

    fn query(&self, sql: &str) -> Vec<Vec<i64>> {
        let url = target::Url::parse(&self.server.url("bench")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut session = target::Session::connect(&url).await.unwrap();
            let answer = session.query(sql, &[]).await.unwrap();
            answer.rows().map(|row| (0..row.columns().len()).map(|at| row.big(at).unwrap()).collect()).collect()
        })
    }

    /// Waits until the connections through each gateway are as `wanted`.
    fn until(&self, wanted: impl Fn(&[usize]) -> bool) {
        let give_up = Instant::now() + Duration::from_secs(30);
        while !wanted(&self.open()) {
            assert!(Instant::now() < give_up, "{:?}", self.open());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Starts a run without waits, hands its first lines and the cluster to `meanwhile`, and returns what it said.
    fn run(&mut self, args: &[&str], meanwhile: impl FnOnce(&mut Cluster, &mut Live)) -> Said {
        let out = self.place.text("run");
        let _ = std::fs::remove_dir_all(&out);
        let fixed = ["run", "--pacing", "none", "--ramp", "1s", "--json", "--out", &out];
        let args = self.with_urls(&[&fixed, args].concat());
        let mut child = weighbridge(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut live = Live { stderr: BufReader::new(child.stderr.take().unwrap()), said: String::new() };
        meanwhile(self, &mut live);
        live.stderr.read_to_string(&mut live.said).unwrap();
        let mut said: Said = child.wait_with_output().unwrap().into();
        said.stderr = live.said;
        said
    }
}

/// The live view of a run.
struct Live {
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Live {
    /// Waits for so many more lines.
    fn lines(&mut self, count: usize) {
        for _ in 0..count {
            self.stderr.read_line(&mut self.said).unwrap();
        }
    }
}

fn result(said: &Said) -> serde_json::Value {
    assert_eq!(said.status, 0, "{}\n{}", said.stdout, said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

/// A figure of each gateway.
fn each(run: &serde_json::Value, name: &str) -> Vec<u64> {
    let gateways = run["gateways"].as_array().expect("a list");
    gateways.iter().map(|gateway| gateway[name].as_u64().unwrap_or_else(|| panic!("{name} in {gateway:#}"))).collect()
}

/// What went through the gateways is what was done, no more and no less.
fn assert_adds_up(run: &serde_json::Value) {
    let types = &run["transactions"];
    let total = |figure: &str| -> u64 {
        let direct = ["new_order", "payment", "order_status", "stock_level"].map(|name| &types[name][figure]);
        let deferred = &types["delivery"]["deferred"][if figure == "count" { "completed" } else { figure }];
        direct.into_iter().chain([deferred]).map(|count| count.as_u64().unwrap()).sum()
    };
    assert_eq!(each(run, "transactions").iter().sum::<u64>(), total("count"), "{run:#}");
    assert_eq!(each(run, "retries").iter().sum::<u64>(), total("retries"), "{run:#}");
    assert_eq!(each(run, "errors").iter().sum::<u64>(), total("errors"), "{run:#}");
    let new_orders: u64 = each(run, "new_orders").iter().sum();
    assert_eq!(Some(new_orders), types["new_order"]["count"].as_u64(), "{run:#}");
    for gateway in run["gateways"].as_array().unwrap() {
        for clock in ["response_ms", "service_ms"] {
            assert_eq!(gateway[clock]["count"], gateway["new_orders"], "{run:#}");
        }
    }
}

#[test]
fn connections_are_spread_evenly() {
    let Some(mut cluster) = Cluster::loaded(3, "2") else { return };
    let loaded = cluster.used();
    assert!(loaded.iter().all(|used| *used > 0), "the load used all gateways: {loaded:?}");

    let said = cluster.run(&["--connections", "8", "--duration", "4s"], |cluster, live| {
        live.lines(3);
        assert_eq!(cluster.open(), [3, 3, 2]);
        let seen = cluster.query("SELECT client_port FROM pg_stat_activity WHERE application_name = 'weighbridge'");
        let seen: BTreeSet<i64> = seen.into_iter().map(|row| row[0]).collect();
        let through =
            |gateway: &Forwarder| gateway.ports().iter().filter(|port| seen.contains(&(**port).into())).count();
        assert_eq!(cluster.gateways.iter().map(through).collect::<Vec<_>>(), [3, 3, 2], "as the server sees it");
    });
    let run = result(&said);
    assert!(said.stderr.contains("8 connections over 3 gateways"), "{}", said.stderr);
    assert_eq!(run["affinity"], "none");
    assert_eq!(each(&run, "connections"), [3, 3, 2]);
    assert_eq!(each(&run, "warehouses"), [2, 2, 2]);
    assert!(each(&run, "new_orders").iter().all(|count| *count > 0), "{run:#}");
    assert_eq!(each(&run, "connections_lost"), [0, 0, 0]);
    assert_adds_up(&run);
    assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
    let report = done(&["report", &cluster.place.text("run")]);
    assert!(
        report.stdout.contains(&format!("Gateway 3: {}, 2 connections\n", cluster.gateways[2].url)),
        "{}",
        report.stdout
    );

    // With more connections than terminals most are idle; the gateways still share the work.
    let said = cluster.run(&["--connections", "30", "--terminals", "3", "--duration", "3s"], |_, _| {});
    let transactions = each(&result(&said), "transactions");
    let (most, least) = (transactions.iter().max().unwrap(), transactions.iter().min().unwrap());
    assert!(most - least <= most / 5, "{transactions:?}");

    let before = cluster.used();
    assert_eq!(json(&cluster.with_urls(&["check"]))["passed"], true);
    let after = cluster.used();
    assert!(before.iter().zip(&after).all(|(before, after)| before < after), "the check used all gateways");
    let list = cluster.gateways.iter().map(|gateway| gateway.url.as_str()).collect::<Vec<_>>().join(",");
    let checked = weighbridge(&["check"]).env("WEIGHBRIDGE_URL", list).output().unwrap();
    assert_eq!(checked.status.code(), Some(0));
    assert!(after.iter().zip(cluster.used()).all(|(before, after)| *before < after), "a list in the environment too");
}

#[test]
fn warehouses_keep_to_their_gateways() {
    let Some(mut cluster) = Cluster::loaded(2, "5") else { return };
    cluster.query("CREATE TABLE seen (w_id INT, port INT)");
    cluster.query(
        "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN INSERT INTO seen VALUES (NEW.o_w_id, inet_client_port()); RETURN NEW; END $$",
    );
    cluster.query("CREATE TRIGGER see AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION see()");
    // Three connections: one of the gateways has a single one, on one of the threads.
    let args = ["--affinity", "warehouse", "--connections", "3", "--terminals", "50", "--duration", "4s"];
    let run = result(&cluster.run(&args, |cluster, live| {
        live.lines(3);
        assert_eq!(cluster.open(), [2, 1]);
    }));
    assert_eq!(run["affinity"], "warehouse");
    assert_eq!(each(&run, "first_warehouse"), [1, 3]);
    assert_eq!(each(&run, "warehouses"), [2, 3]);
    assert_adds_up(&run);
    assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
    let mut warehouses = BTreeSet::new();
    for row in cluster.query("SELECT DISTINCT w_id, port FROM seen") {
        let home = usize::from(row[0] > 2);
        assert!(cluster.gateways[home].ports().iter().any(|port| i64::from(*port) == row[1]), "{row:?}");
        warehouses.insert(row[0]);
    }
    assert_eq!(warehouses, (1..=5).collect(), "every warehouse was driven");

    // A client that drives a part of the warehouses leaves the gateways of the others alone.
    let used = cluster.used();
    let part = ["--affinity", "warehouse", "--first-warehouse", "3", "--duration", "2s", "--connections", "2"];
    let run = result(&cluster.run(&part, |_, _| {}));
    assert_eq!(run["gateways"].as_array().map(Vec::len), Some(0), "one gateway is in use: {run:#}");
    assert!(cluster.used()[1] >= used[1] + 2);
}

#[test]
fn a_lost_gateway_is_replaced_and_returned_to() {
    let Some(mut cluster) = Cluster::loaded(3, "2") else { return };
    for affinity in ["none", "warehouse"] {
        // Two warehouses can't be divided among three gateways.
        let third = if affinity == "warehouse" { cluster.gateways.pop() } else { None };
        let shares: &[usize] = if third.is_some() { &[4, 4] } else { &[3, 3, 2] };
        // Without affinity some connections are idle, so that idle stand-ins are sent home too.
        let terminals = if third.is_some() { "8" } else { "6" };
        let args = ["--affinity", affinity, "--connections", "8", "--terminals", terminals, "--duration", "15s"];
        let said = cluster.run(&args, |cluster, live| {
            live.lines(4);
            assert_eq!(cluster.open(), shares);
            cluster.gateways[1].close();
            // The others take over.
            cluster.until(|open| open[1] == 0 && open.iter().sum::<usize>() == 8);
            live.lines(6);
            cluster.gateways[1].reopen();
            cluster.until(|open| open == shares);
        });
        let run = result(&said);
        let lost = each(&run, "connections_lost")[1];
        assert_eq!(lost as usize, shares[1], "{run:#}");
        assert_eq!(each(&run, "failovers_from")[1], lost, "{run:#}");
        assert_eq!(each(&run, "failovers_to").iter().sum::<u64>(), lost, "{run:#}");
        assert_eq!(each(&run, "returned")[1], lost, "{run:#}");
        assert_adds_up(&run);
        assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
        let errors = each(&run, "errors");
        assert!(errors[1] > 0 && errors[1] <= lost && errors[0] == 0, "a transaction a connection at most: {run:#}");
        let told = run["verdict"]["deviations"].to_string() + &run["verdict"]["reasons"].to_string();
        assert!(told.contains(&format!("{} by a lost connection", errors[1])), "{run:#}");
        cluster.gateways.extend(third);
    }
}

#[test]
fn a_run_ends_well_without_the_gateway_it_began_with() {
    let Some(mut cluster) = Cluster::loaded(2, "1") else { return };
    let said = cluster.run(&["--connections", "4", "--duration", "4s", "--check"], |cluster, live| {
        live.lines(3);
        cluster.gateways[0].close();
    });
    let run = result(&said);
    assert_eq!(each(&run, "failovers_to"), [0, 2]);
    assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
    assert!(run["checks"].as_array().is_some_and(|checks| checks.iter().all(|check| check["passed"] == true)));
    assert!(said.stderr.contains("going on without this gateway"), "{}", said.stderr);

    // Nothing begins without it.
    let out = cluster.place.text("lame");
    let dead = cluster.gateways[0].url.clone();
    refused(&cluster.with_urls(&["run", "--out", &out]), 1, &[&dead, "refused"]);
    assert!(!cluster.place.path("lame").exists());
    cluster.gateways.swap(0, 1);
    refused(&cluster.with_urls(&["run", "--out", &out]), 1, &[&dead, "refused"]);
    assert!(!cluster.place.path("lame").exists());
    refused(&cluster.with_urls(&["check"]), 1, &[&dead, "refused"]);
    refused(&cluster.with_urls(&["load", "--replace"]), 1, &[&dead, "refused"]);
}

#[test]
fn gateways_that_contradict_each_other_or_the_run_are_refused() {
    let (a, b) = ("postgres://me:s3cret@a/db", "postgres://me:s3cret@b/other");
    for command in ["load", "run", "check"] {
        refused(&[command, "--url", a, "--url", b], 2, &["postgres://me@a:5432/db", "postgres://me@b:5432/other"]);
        refused(&[command, "--url", a, "--url", "mysql://me@b/db"], 2, &["postgres://me@a", "mysql://me@b"]);
        refused(&[command, "--url", a, "--url", a], 2, &["twice"]);
    }
    refused(&["run", "--affinity", "sticky"], 2, &["none", "warehouse"]);
    let Some(cluster) = Cluster::loaded(2, "1") else { return };
    refused(&cluster.with_urls(&["run", "--connections", "1"]), 2, &["--connections 1", "2 gateways"]);
    refused(&cluster.with_urls(&["run", "--affinity", "warehouse"]), 2, &["--affinity", "2 gateways", "loaded, 1"]);
}
