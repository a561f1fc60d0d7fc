//! Many processes that make one load and one result, and fleets that don't come about.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use target::{Session, Url};

use crate::bad_input::refused;
use crate::support::{Place, Said, done, json, say, signal, weighbridge};

/// The commands of all workers of a fleet, at once, each with its shard and what else is its own.
fn together(args: &[&str], workers: usize, own: impl Fn(usize) -> Vec<String>) -> Vec<Said> {
    let start = |worker: usize| {
        let shard = format!("{worker}/{workers}");
        let mut command = weighbridge(&[args, &["--shard", &shard, "--json"]].concat());
        command.args(own(worker)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<Child> = (1..=workers).map(start).collect();
    // Each pipe by a thread of its own, so that nobody waits for a reader.
    let readers = children.into_iter().map(|child| std::thread::spawn(|| child.wait_with_output().unwrap().into()));
    readers.collect::<Vec<_>>().into_iter().map(|reader| reader.join().unwrap()).collect()
}

/// The documents of a fleet that did what it should.
fn documents(said: &[Said]) -> Vec<Value> {
    let document = |said: &Said| {
        assert_eq!(said.status, 0, "{}\n{}", said.stderr, said.stdout);
        serde_json::from_str(&said.stdout).unwrap()
    };
    said.iter().map(document).collect()
}

/// Runs SQL at the database.
fn execute(url: &str, sql: &str) {
    let (url, runtime) = (Url::parse(url).unwrap(), runtime());
    runtime.block_on(async { Session::connect(&url).await.unwrap().execute(sql).await.unwrap() });
}

/// A query's only number; none if it is refused.
fn number(url: &str, sql: &str) -> Option<i64> {
    let (url, runtime) = (Url::parse(url).unwrap(), runtime());
    runtime.block_on(async {
        let answer = Session::connect(&url).await.unwrap().query(sql, &[]).await.ok()?;
        answer.only().unwrap().big(0).ok()
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Waits until `holds`; a machine that is too busy for that fails the test, and says what it waited for.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < give_up, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn deviations(run: &Value) -> String {
    run["verdict"]["deviations"].to_string()
}

#[test]
fn three_processes_load_run_and_check_one_database() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("fleet").unwrap();
    let (url, place) = (server.url("fleet"), Place::new());
    let nothing = |_| Vec::new();

    // All begin on an empty database at the same moment, and none is done before all are.
    let load = ["load", "--url", &url, "--warehouses", "6", "--jobs", "1"];
    for loaded in documents(&together(&load, 3, nothing)) {
        assert_eq!((&loaded["complete"], &loaded["tables"]["stock"]["rows"]), (&true.into(), &200_000.into()));
    }
    for checked in documents(&together(&["check", "--url", &url], 3, nothing)) {
        assert_eq!(checked["passed"], true, "{checked:#}");
    }
    // Nothing can be resumed, and nobody waits for others to find that out.
    assert_eq!(json(&["load", "--url", &url, "--resume", "--shard", "2/3"])["bytes"], 0);
    // Loaded again, none of them takes the tables that are there for those that worker 1 makes.
    for loaded in documents(&together(&[&load[..], &["--replace"]].concat(), 3, nothing)) {
        assert_eq!(loaded["complete"], true);
    }
    let said = together(&load, 3, nothing);
    assert!(said.iter().all(|said| said.status == 1));
    assert!(said[0].stderr.contains("--replace") && said[1].stderr.contains("worker 1 of 3"), "{}", said[1].stderr);

    let run = ["run", "--url", &url, "--pacing", "none", "--connections", "2", "--ramp", "2s", "--duration", "6s"];
    let out = |worker| vec!["--out".to_owned(), place.text(&format!("run-{worker}"))];
    let runs = documents(&together(&[&run[..], &["--check"]].concat(), 3, out));
    for (run, worker) in runs.iter().zip(1..) {
        let fleet = &run["fleet"];
        assert_eq!(
            (&fleet["worker"], &fleet["workers"], &fleet["lost"]),
            (&worker.into(), &3.into(), &Value::Array(vec![]))
        );
        assert_eq!((&run["seed"], &run["warehouses"]), (&runs[0]["seed"], &2.into()));
        assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
        assert!(run["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{run:#}");
        assert!(fleet["clock_error_seconds"].as_f64() > Some(0.0), "{fleet}");
    }

    let folders: Vec<String> = (1..=3).map(|worker| place.text(&format!("run-{worker}"))).collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let merged = json(&[&["merge"], &folders[..], &["--out", &place.text("whole")]].concat());
    assert_eq!((&merged["warehouses"], merged["clients"].as_array().unwrap().len()), (&6.into(), 3));
    assert_eq!(merged["reconciliation"]["passed"], true, "{merged:#}");
    let count = |run: &Value| run["transactions"]["new_order"]["count"].as_u64().unwrap();
    assert_eq!(count(&merged), runs.iter().map(count).sum::<u64>());
    let deviations = deviations(&merged);
    for words in ["driven by none", "warehouses are driven", "apart", "was lost"] {
        assert!(!deviations.contains(words), "{deviations}");
    }
    assert_eq!(json(&["check", "--url", &url])["passed"], true);
}

#[test]
fn a_worker_that_is_killed_is_named_and_the_next_fleet_begins() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("fleet").unwrap();
    let (url, place) = (server.url("fleet"), Place::new());
    done(&["load", "--url", &url, "--warehouses", "3", "--jobs", "2"]);

    let run = ["run", "--url", &url, "--pacing", "none", "--connections", "2", "--ramp", "1s", "--duration", "14s"];
    let outs: Vec<String> = (1..=3).map(|worker| place.text(&format!("run-{worker}"))).collect();
    let start = |worker: usize| {
        let args = ["--shard", &format!("{worker}/3"), "--out", &outs[worker - 1], "--json"];
        weighbridge(&[&run[..], &args].concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let (first, mut second, third) = (start(1), start(2), start(3));
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("measured ")), "worker 2 never measured");
    signal(&second, "-KILL");
    second.wait().unwrap();
    let said = [first, third].map(|child| std::thread::spawn(|| Said::from(child.wait_with_output().unwrap())));
    let said = said.map(|thread| thread.join().unwrap());
    for run in documents(&said) {
        assert_eq!(run["fleet"]["lost"][0]["worker"], 2, "{:#}", run["fleet"]);
        assert!(run["fleet"]["lost"][0]["last_seen"].is_string(), "{:#}", run["fleet"]);
        assert!(deviations(&run).contains("worker 2 of 3 was lost"), "{}", deviations(&run));
        assert_eq!((&run["ended"], &run["reconciliation"]["passed"]), (&"completed".into(), &true.into()));
    }
    assert!(said[0].stderr.contains("worker 2 of 3 was lost"), "{}", said[0].stderr);

    // Without its folder there is a gap; with it, a part.
    let without = json(&["merge", &outs[0], &outs[2], "--out", &place.text("without")]);
    let told = deviations(&without);
    assert!(told.contains("warehouses 2 to 2 were driven by none of these clients"), "{told}");
    assert_eq!(told.matches("worker 2 of 3 was lost").count(), 1, "{told}");
    let with = say(&["merge", &outs[0], &outs[1], &outs[2], "--out", &place.text("with"), "--json"]);
    let with: Value = serde_json::from_str(&with.stdout).unwrap_or_else(|e| panic!("{e}: {}", with.stderr));
    assert!(deviations(&with).contains("run-2 did not end as planned"), "{}", deviations(&with));

    // What the dead one left behind holds nobody up.
    let short = ["run", "--url", &url, "--pacing", "none", "--ramp", "1s", "--duration", "2s"];
    let out = |worker| vec!["--out".to_owned(), place.text(&format!("again-{worker}"))];
    for run in documents(&together(&short, 3, out)) {
        assert_eq!(run["fleet"]["lost"], Value::Array(vec![]));
    }
}

#[test]
fn a_fleet_that_does_not_come_about_says_why() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("fleet").unwrap();
    let (url, place) = (server.url("fleet"), Place::new());
    done(&["load", "--url", &url, "--warehouses", "2", "--jobs", "2"]);
    let out = place.text("run");
    let run = ["run", "--url", &url, "--pacing", "none", "--ramp", "1s", "--duration", "2s", "--out", &out];
    let with = |more: &[&'static str]| -> Vec<&str> { run.iter().copied().chain(more.iter().copied()).collect() };

    refused(&with(&["--shard", "1/3"]), 2, &["2 warehouses for 3 workers"]);
    let alone = ["--shard", "2/2", "--fleet-wait", "1s"];
    refused(&with(&alone), 1, &["worker 1 of 2 did not come within 1 s", "--fleet-wait"]);
    assert_eq!(number(&url, "SELECT COUNT(*) FROM weighbridge_fleet"), Some(0), "whoever gives up gives its place up");

    // Worker 1 waits; whoever does not fit is told, and it waits on.
    let mut first =
        weighbridge(&with(&["--shard", "1/2"])).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_until("worker 1 waits", || number(&url, "SELECT COUNT(*) FROM weighbridge_fleet") == Some(1));
    let other = with(&["--shard", "2/2", "--style", "row"]);
    refused(&other, 1, &["style row here, batch at worker 1 of 2", "process"]);
    refused(&with(&["--shard", "1/2"]), 1, &["there is such a worker already", "worker 1 of 2"]);
    refused(&with(&["--shard", "1/1"]), 1, &["another fleet is at work", "worker 1 of 2"]);
    refused(
        &["load", "--url", &url, "--replace", "--warehouses", "2", "--shard", "2/2"],
        1,
        &["another fleet", "run on"],
    );
    assert!(first.try_wait().unwrap().is_none(), "worker 1 still waits");
    signal(&first, "-INT");
    let said: Said = first.wait_with_output().unwrap().into();
    assert!(said.status == 1 && said.stderr.contains("interrupted while waiting"), "{}", said.stderr);

    // A worker of an older version, which lives on and came first.
    execute(
        &url,
        "INSERT INTO weighbridge_fleet (worker, workers, token, errand, host, version, facts, seed, phase, arrived_us, \
         seen_us) VALUES (1, 2, 1, 'run', 'old, process 1', '0.0.1', '', '1', 0, 0, 4000000000000000)",
    );
    refused(&with(&["--shard", "2/2"]), 1, &["0.0.1 at worker 1 of 2 (run on old, process 1)"]);
    assert!(!place.path("run").exists(), "what can't start leaves no folder");
}

#[test]
fn the_part_comes_from_the_environment_where_a_scheduler_sets_it() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url, "--warehouses", "2"]);
    let check = ["check", "--url", &url, "--shard", "auto", "--json"];
    let said = |variables: &[(&str, &str)]| -> Said {
        weighbridge(&check).envs(variables.iter().copied()).output().unwrap().into()
    };
    let none = said(&[]);
    assert!(none.status == 2 && none.stderr.contains("SLURM_ARRAY_TASK_ID"), "{}", none.stderr);
    let half = said(&[("JOB_COMPLETION_INDEX", "1")]);
    assert!(half.status == 2 && half.stderr.contains("WEIGHBRIDGE_SHARDS"), "{}", half.stderr);
    let beyond = said(&[("JOB_COMPLETION_INDEX", "2"), ("WEIGHBRIDGE_SHARDS", "2")]);
    assert!(beyond.status == 2 && beyond.stderr.contains("JOB_COMPLETION_INDEX=2"), "{}", beyond.stderr);
    let pod = said(&[("JOB_COMPLETION_INDEX", "1"), ("WEIGHBRIDGE_SHARDS", "2")]);
    let task = [("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_MIN", "6"), ("SLURM_ARRAY_TASK_COUNT", "2")];
    for document in documents(&[pod, said(&task)]) {
        assert_eq!(document["passed"], true, "{document:#}");
    }
}

#[test]
fn without_a_meeting_a_time_says_when_to_begin() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url, "--warehouses", "2"]);
    let out = place.text("run");
    let run = ["run", "--url", &url, "--pacing", "none", "--ramp", "3s", "--duration", "2s", "--out", &out];
    let with = |more: &[&'static str]| -> Vec<&str> { run.iter().copied().chain(more.iter().copied()).collect() };
    refused(&with(&["--start-at", "2026-01-01T00:00:00Z"]), 2, &["--start-at 2026-01-01T00:00:00Z", "passed"]);
    refused(&with(&["--start-at", "noon"]), 2, &["--start-at"]);
    refused(&with(&["--initial-delay", "3s"]), 2, &["--initial-delay 3s", "--ramp 3s"]);
    refused(&with(&["--fleet-wait", "3s"]), 2, &["--shard"]);
    refused(&with(&["--shard", "1/2", "--first-warehouse", "2"]), 2, &["--shard", "--first-warehouse"]);
    refused(&["run", "--url", "null:", "--shard", "1/2"], 2, &["keeps no data", "--start-at"]);
    assert!(!place.path("run").exists());

    // Worker 2 of 2, who waits for nobody.
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(4);
    let at = at.to_string();
    let start = ["--start-at", &at, "--initial-delay", "2s", "--shard", "2/2"];
    let run = json(&[&run[..], &start].concat());
    assert_eq!((&run["warehouses"], &run["fleet"]), (&1.into(), &Value::Null));
    let started: jiff::Timestamp = run["started_at"].as_str().unwrap().parse().unwrap();
    let apart = started.duration_since(at.parse().unwrap());
    assert!(apart.abs() < jiff::SignedDuration::from_millis(500), "{apart:?}");
    // The terminals were not there in the first second, and were in the last.
    let timeline = std::fs::read_to_string(place.path("run").join("timeline.csv")).unwrap();
    let column = |name: &str| timeline.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    let orders = |line: &str| line.split(',').nth(column("new_order")).unwrap().parse::<u64>().unwrap();
    assert_eq!(timeline.lines().nth(1).map(orders), Some(0), "{timeline}");
    assert!(run["transactions"]["new_order"]["count"].as_u64() > Some(0), "{run:#}");
}
