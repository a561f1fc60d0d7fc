//! Targets without data: `null:` in this process, `null-server` in another, and `calibrate` on both.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::{Place, done, json, say, weighbridge};

const STYLES: [&str; 4] = ["row", "batch", "pipeline", "procedure"];

/// A short run without waits; what it says is believed, and nothing went wrong in it.
fn run(url: &str, style: &str, more: &[&str]) -> Value {
    let place = Place::new();
    let out = place.text("run");
    let args = ["run", "--url", url, "--style", style, "--pacing", "none", "--connections", "4"];
    let args = [&args[..], &["--ramp", "1s", "--duration", "3s", "--out", &out], more].concat();
    let result = json(&args);
    for (name, figures) in result["transactions"].as_object().unwrap() {
        assert_eq!(figures["errors"], 0, "{style}, {name}: {figures:#}");
        assert!(figures["count"].as_u64().unwrap() > 0, "{style}, {name}: {figures:#}");
    }
    assert_eq!(result["transactions"]["delivery"]["deferred"]["errors"], 0, "{result:#}");
    let deviations = result["verdict"]["deviations"].to_string();
    assert!(deviations.contains("nothing was measured but the tool itself"), "{deviations}");
    assert!(result["reconciliation"].is_null());
    let again = done(&["report", &out]).stdout;
    assert!(again.contains("the target keeps no data"), "{again}");
    result
}

/// Waits of a few milliseconds keep the tool from being its own bottleneck.
pub(crate) const SLOW: &str = "null:?latency=2ms&spread=1ms";

#[test]
fn a_run_without_data_is_a_run_of_every_style() {
    for style in STYLES {
        let result = run(SLOW, style, &["--warehouses", "3"]);
        assert_eq!((&result["target"]["kind"], &result["warehouses"]), (&"null".into(), &3.into()));
        assert_eq!(result["verdict"]["status"], "unconstrained");
    }
    assert_eq!(run(SLOW, "batch", &[])["warehouses"], 100, "where nobody asks for a number");
}

#[test]
fn at_the_standards_pace_it_has_an_efficiency_and_stays_engineering() {
    let place = Place::quiet();
    let args =
        ["run", "--url", "null:", "--warehouses", "200", "--connections", "8", "--ramp", "1s", "--duration", "5s"];
    let result = json(&[&args[..], &["--out", &place.text("run")]].concat());
    assert_eq!(result["verdict"]["status"], "engineering", "{:#}", result["verdict"]);
    assert!(result["efficiency"].as_f64().is_some_and(|efficiency| efficiency > 0.5), "{result:#}");
}

#[test]
fn there_is_nothing_to_load_check_show_or_examine() {
    let run_with_check = ["run", "--check"];
    for command in [&["load"][..], &["check"], &["topology"], &["doctor"], &run_with_check] {
        let said = say(&[command, &["--url", "null:"]].concat());
        assert_eq!((said.status, said.stderr.lines().count()), (2, 1), "{command:?}: {}", said.stderr);
        assert!(said.stderr.contains("null: keeps no data"), "{}", said.stderr);
    }
    let targets = json(&["targets"]);
    let null = targets["targets"].as_array().unwrap().iter().find(|target| target["name"] == "null").unwrap();
    assert_eq!(null["capabilities"]["bulk_path"], "none: nothing is kept");
}

/// A null-server on a port of its own, ended with this value.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(more: &[&str]) -> Self {
        let args = [&["null-server", "--listen", "127.0.0.1:0"], more].concat();
        let mut child = weighbridge(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Server { child, url: url.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_server_answers_a_run_of_every_style_and_ends_when_told() {
    let mut server = Server::start(&["--warehouses", "5", "--latency", "2ms"]);
    assert!(server.url.starts_with("postgres://null@127.0.0.1:"), "{}", server.url);
    for style in STYLES {
        let result = run(&server.url, style, &[]);
        assert_eq!((&result["target"]["kind"], &result["warehouses"]), (&"postgres".into(), &5.into()));
    }
    let said = say(&["check", "--url", &server.url]);
    assert_eq!((said.status, said.stderr.lines().count()), (2, 1), "{}", said.stderr);
    assert!(Command::new("kill").arg(server.child.id().to_string()).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_server_swallows_a_load() {
    let server = Server::start(&[]);
    let refused = say(&["load", "--url", &server.url]);
    assert!(refused.status == 1 && refused.stderr.contains("--replace"), "{}", refused.stderr);
    let loaded = json(&["load", "--url", &server.url, "--replace", "--warehouses", "1"]);
    assert_eq!(loaded["complete"], false, "what is forgotten can't be complete: {loaded:#}");
    assert!(loaded["bytes"].as_u64() > Some(50_000_000), "{loaded:#}");
}

#[test]
fn a_delay_that_makes_no_sense_is_refused() {
    for url in ["null:?latency=1ms&spread=2ms", "null:?latency=fast", "null:nosuch"] {
        let said = say(&["run", "--url", url]);
        assert_eq!((said.status, said.stderr.lines().count()), (2, 1), "{}", said.stderr);
    }
    let said = say(&["null-server", "--listen", "127.0.0.1:0", "--spread", "1ms"]);
    assert_eq!((said.status, said.stderr.lines().count()), (2, 1), "{}", said.stderr);
}

/// Whether this machine is fit is not for a test to say; that it says so, and why, is.
#[test]
fn calibrate_weighs_the_tool_on_each_path() {
    let said = say(&["calibrate", "--warehouses", "100", "--duration", "3s", "--wire", "--json"]);
    let result: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|e| panic!("{e}: {}", said.stderr));
    let paths = result["paths"].as_array().unwrap();
    let named: Vec<_> = paths.iter().map(|path| (path["target"].as_str(), path["style"].as_str())).collect();
    let expected = [("null:", "batch"), ("null-server", "batch"), ("null-server", "pipeline")];
    assert_eq!(named, expected.map(|(target, style)| (Some(target), Some(style))));
    for path in paths {
        assert_eq!(path["errors"], 0, "{path:#}");
        assert!(path["lag_ms"]["count"].as_u64() > Some(0), "{path:#}");
        assert!(path["warehouses_per_core"].as_f64() > Some(0.0), "{path:#}");
    }
    assert_eq!((&result["warehouses"], &result["terminals"]), (&100.into(), &1000.into()));
    for figure in ["recording_ns", "ledger_ns", "ledger_bytes"] {
        assert!(result[figure].as_f64() > Some(0.0), "{figure}: {result:#}");
    }
    assert_eq!(said.status, if result["fit_for_warehouses"].is_null() { 3 } else { 0 }, "{result:#}");
}
