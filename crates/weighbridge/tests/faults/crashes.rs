//! Servers and clients that die, and what is there afterwards.

use std::path::Path;
use std::process::Command;

use lab::Kind;

use crate::support::{Place, done, json, say};
use crate::{Lab, Run, sum};

/// Kills a server under load and starts it again: nothing acknowledged is missing, and the run has gone on.
fn nothing_is_lost(kind: Kind) {
    let Some(lab) = Lab::loaded(kind) else { return };
    let out = lab.place.text("run");
    let timing = ["--crash-after", "3s", "--down", "1s", "--duration", "17s"];
    let ended = lab.json(&[&["acid", "durability", "--out", &out], &timing[..]].concat());
    assert_eq!(ended["passed"], true, "{ended:#}");
    assert!(sum(&ended["audit"], "held", "acknowledged") > 100, "{ended:#}");
    assert_eq!(sum(&ended["audit"], "held", "missing") + sum(&ended["audit"], "held", "surplus"), 0, "{ended:#}");
    let faults = ended["faults"].as_array().unwrap();
    assert!(faults.len() == 2 && faults.iter().all(|fault| fault["failed"].is_null()), "{ended:#}");

    let run = say(&["report", &out, "--json"]);
    let run: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
    let outage = &run["outages"][0];
    assert_eq!(outage["faults"][0], "kill node1", "{run:#}");
    assert!(outage["first_success_seconds"].is_number(), "terminals came back: {run:#}");
    let page = std::fs::read_to_string(lab.place.path("run").join("report.html")).unwrap();
    assert!(page.contains("kill node1") && page.contains("Faults and failover"));
}

#[test]
fn postgres_is_killed_and_loses_nothing() {
    nothing_is_lost(Kind::Postgres);
}

#[test]
fn mariadb_is_killed_and_loses_nothing() {
    nothing_is_lost(Kind::MariaDb);
}

/// TiDB's embedded store, the one at hand, does not always come back whole from a SIGKILL: a transaction whose COMMIT got
/// no answer can be half there. Whether it does is luck; that it is told is not.
#[test]
fn tidb_is_killed_and_what_it_lost_is_told() {
    let Some(lab) = Lab::loaded(Kind::TiDb) else { return };
    let args = ["acid", "durability", "--lab", "tidb", "--crash-after", "4s", "--duration", "12s", "--json"];
    let said = say(&[&args[..], &["--dir", &lab.dir(), "--out", &lab.place.text("run")]].concat());
    let told: serde_json::Value = serde_json::from_str(&said.stdout).unwrap_or_else(|e| panic!("{e}: {}", said.stderr));
    assert!(sum(&told["audit"], "held", "acknowledged") > 100, "{told:#}");
    let checks_hold = told["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true);
    let whole = told["audit"]["passed"] == true && checks_hold;
    assert_eq!((told["passed"] == true, said.status), (whole, if whole { 0 } else { 3 }), "{told:#}");
}

#[test]
fn a_node_of_galera_is_killed_and_rejoins() {
    let Some(lab) = Lab::loaded(Kind::Galera) else { return };
    let out = lab.place.text("run");
    let faults = ["--fault", "4s kill node2", "--fault", "6s restart 2"];
    let pace = ["--pacing", "none", "--connections", "6", "--ramp", "0s", "--duration", "25s", "--check"];
    let dir = lab.dir();
    let said =
        say(&[&["chaos", "--lab", "galera", "--dir", &dir, "--out", &out, "--json"], &faults[..], &pace[..]].concat());
    let run: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(run["audit"]["passed"], true, "{}\n{run:#}", said.stderr);
    assert!(sum(&run["audit"], "held", "acknowledged") > 100);
    assert!(run["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{run:#}");
    assert!(run["faults"].as_array().unwrap().iter().all(|fault| fault["failed"].is_null()), "{run:#}");
    let gateways = run["gateways"].as_array().unwrap();
    assert!(gateways[1]["connections_lost"].as_u64() > Some(0), "{run:#}");
    let status = json(&["lab", "status", "--dir", &dir]);
    assert_eq!(status["kinds"][0]["condition"], "up", "{status:#}");
}

/// Copies a killed server's data; its last processes may still remove files.
fn copy(from: &Path, to: &Path) {
    let copied = || Command::new("cp").args(["-a", "--"]).arg(from).arg(to).status().unwrap().success();
    while !copied() {
        std::fs::remove_dir_all(to).unwrap();
    }
}

#[test]
fn a_server_that_forgets_is_found_out() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let (place, url) = (Place::new(), server.url("bench"));
    done(&["load", "--url", &url]);
    let out = place.text("run");
    let mut run = Run::start(&url, &out, &["--connections", "4", "--duration", "30s"]);
    let (data, older) = (server.folder().join("data"), server.folder().join("older"));
    run.busy_seconds(3);
    server.kill().unwrap();
    copy(&data, &older);
    server.restart().unwrap();
    run.busy_seconds(3);
    // The machine comes back with its disk as it was some seconds ago.
    server.kill().unwrap();
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::rename(&older, &data).unwrap();
    server.restart().unwrap();
    let said = run.end();
    assert_eq!(said.status, 3, "{}", said.stderr);
    let audited = say(&["acid", "durability", "--url", &url, "--audit", &out, "--json"]);
    assert_eq!(audited.status, 3, "{}", audited.stderr);
    let audit: serde_json::Value = serde_json::from_str(&audited.stdout).unwrap();
    let held = audit["audit"]["held"].as_array().unwrap();
    for kind in held {
        assert!(kind["missing"].as_u64() > Some(0), "{audit:#}");
        let example = kind["missing_examples"][0].as_str().unwrap();
        assert!(example.starts_with("warehouse 1 district ") && example.contains(" s after the start"), "{example}");
    }
    let text = say(&["acid", "durability", "--url", &url, "--audit", &out]);
    assert!(text.stdout.contains("MISSING") && text.stdout.contains("missing: warehouse 1"), "{}", text.stdout);
}

#[test]
fn a_promoted_standby_has_everything() {
    let Some(cluster) = lab::postgres_cluster_or_skip() else { return };
    cluster.create_database("bench").unwrap();
    let primary = cluster.url("bench");
    let addresses: Vec<String> = cluster
        .urls("bench")
        .iter()
        .map(|url| url.split(['@', '/']).find(|part| part.contains(':') && *part != "postgres:").unwrap().to_owned())
        .collect();
    let url = format!("postgres://postgres@{}/bench?target_session_attrs=read-write", addresses.join(","));
    let place = Place::new();
    done(&["load", "--url", &primary]);
    let out = place.text("run");
    let mut run = Run::start(&url, &out, &["--connections", "4", "--duration", "25s", "--check"]);
    run.busy_seconds(3);
    cluster.kill(0).unwrap();
    cluster.promote(1).unwrap();
    let said = run.end();
    let result: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(result["reconciliation"]["passed"], true, "{}\n{result:#}", said.stderr);
    assert!(result["outages"][0]["first_success_seconds"].is_number(), "{result:#}");
    let audit = json(&["acid", "durability", "--url", &url, "--audit", &out]);
    assert_eq!(audit["passed"], true, "{audit:#}");
    assert!(sum(&audit["audit"], "held", "acknowledged") > 100);
}

/// With both standbys frozen COMMIT waits, and nothing is acknowledged that only the primary has.
#[test]
fn commits_wait_for_frozen_standbys_and_go_on() {
    let Some(lab) = Lab::loaded_with(Kind::Postgres, &["--nodes", "3"]) else { return };
    let out = lab.place.text("run");
    let faults = ["3s stop node2", "3s stop node3", "8s continue node2", "8s continue node3"];
    let faults: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault]).collect();
    let pace =
        ["--pacing", "none", "--connections", "6", "--ramp", "0s", "--duration", "16s", "--check", "--out", &out];
    let run = lab.json(&[&["chaos"], &faults[..], &pace[..]].concat());
    assert!(run["faults"].as_array().unwrap().iter().all(|fault| fault["failed"].is_null()), "{run:#}");
    assert_eq!(run["audit"]["passed"], true, "{run:#}");
    assert!(run["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true), "{run:#}");
    // Nothing was refused: who waits is answered once a standby is back.
    let outage = &run["outages"][0];
    assert!(outage["silent_seconds"].as_f64() > Some(0.0) && outage["first_success_seconds"].is_number(), "{run:#}");
    assert_eq!(run["transactions"]["payment"]["errors"], 0, "{run:#}");
}

#[test]
fn what_a_killed_client_was_told_can_be_audited() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url]);
    let out = place.text("run");
    let mut run = Run::start(&url, &out, &["--duration", "10m"]);
    run.busy_seconds(3);
    run.kill();
    let audit = json(&["acid", "durability", "--url", &url, "--audit", &out]);
    assert_eq!((&audit["passed"], &audit["audit"]["abandoned"]), (&true.into(), &serde_json::Value::Null), "{audit:#}");
    assert!(sum(&audit["audit"], "held", "acknowledged") > 100, "{audit:#}");
    assert_eq!(json(&["check", "--url", &url])["passed"], true);

    // One of each kind taken away is one of each kind missing.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = target::Session::connect(&target::Url::parse(&url).unwrap()).await.unwrap();
        for sql in [
            "DELETE FROM orders WHERE o_d_id = 1 AND o_id = 3005",
            "DELETE FROM history WHERE rowid = 30010",
            "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 2 AND o_id = 2101",
        ] {
            session.execute(sql).await.unwrap();
        }
    });
    let audited = say(&["acid", "durability", "--url", &url, "--audit", &out, "--json"]);
    let audit: serde_json::Value = serde_json::from_str(&audited.stdout).unwrap();
    assert_eq!(audited.status, 3);
    let missing: Vec<u64> =
        audit["audit"]["held"].as_array().unwrap().iter().map(|kind| kind["missing"].as_u64().unwrap()).collect();
    assert_eq!(missing, [1, 1, 1], "{audit:#}");
}
