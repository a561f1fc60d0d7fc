//! `lab`: servers that stay up between commands, and what is said of what is left of them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use lab::Kind;

use crate::support::{Place, Said, done, files, json, say, weighbridge};

/// A folder for kept servers that their users can enter, whoever runs the test; what is left in it is stopped.
struct Lab(Place);

impl Lab {
    fn new() -> Self {
        let place = Place::new();
        std::fs::set_permissions(place.folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        Lab(place)
    }

    fn args<'a>(&'a self, command: &[&'a str]) -> Vec<&'a str> {
        [&["lab"], command, &["--dir", self.0.folder.path().to_str().unwrap()]].concat()
    }

    fn say(&self, command: &[&str]) -> Said {
        say(&self.args(command))
    }

    fn done(&self, command: &[&str]) -> Said {
        done(&self.args(command))
    }

    /// What `status` says of a kind.
    fn status(&self, kind: &str) -> serde_json::Value {
        let status = json(&self.args(&["status"]));
        let kinds = status["kinds"].as_array().unwrap();
        kinds.iter().find(|document| document["kind"] == kind).cloned().unwrap_or_default()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.say(&["down", "--all"]);
    }
}

/// Whether a test must be skipped.
fn missing(kinds: &[Kind]) -> bool {
    kinds.iter().any(|kind| lab::or_skip(kind.installed()).is_none())
}

fn pids(status: &serde_json::Value) -> Vec<u64> {
    status["nodes"].as_array().unwrap().iter().filter_map(|node| node["pid"].as_u64()).collect()
}

/// Kills a process, and waits until it is gone.
fn kill(pid: u64) {
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
    while runs(pid) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Whether a process is there, and not only waited for by nobody.
fn runs(pid: u64) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let state = String::from_utf8(output.stdout).unwrap();
    !state.trim().is_empty() && !state.starts_with('Z')
}

#[test]
fn a_server_stays_between_commands_and_goes_when_told() {
    if missing(&[Kind::Postgres]) {
        return;
    }
    let lab = Lab::new();
    let up = lab.done(&["up", "postgres", "--set", "shared_buffers=96MB"]);
    let urls: Vec<&str> = up.stdout.lines().collect();
    assert!(matches!(urls[..], [url] if url.starts_with("postgres://postgres@127.0.0.1:") && url.ends_with("/bench")));
    assert!(up.stderr.contains("load --url postgres://") && up.stderr.contains("lab down postgres"), "{}", up.stderr);
    done(&["load", "--url", urls[0]]);
    let examined = done(&["doctor", "--url", urls[0]]).stdout;
    assert!(examined.contains("96MB"), "{examined}");

    let again = lab.done(&["up", "postgres"]);
    assert!(again.stderr.contains("up already"), "{}", again.stderr);
    assert_eq!(again.stdout, up.stdout);
    let other = lab.say(&["up", "postgres", "--nodes", "2"]);
    assert!(other.status == 1 && other.stderr.contains("lab down postgres"), "{}", other.stderr);

    let status = lab.status("postgres");
    assert_eq!((&status["condition"], &status["nodes"][0]["alive"]), (&"up".into(), &true.into()), "{status:#}");
    let text = lab.done(&["status"]).stdout;
    assert!(text.contains("postgres is up") && text.contains(urls[0]), "{text}");

    let pid = pids(&status)[0];
    let down = lab.done(&["down", "postgres"]);
    assert!(down.stderr.contains("stopped 1 server"), "{}", down.stderr);
    assert!(!runs(pid) && files(lab.0.folder.path()).is_empty());
    assert!(lab.done(&["down", "postgres"]).stderr.contains("no postgres"));
    assert!(lab.done(&["status"]).stdout.contains("There is nothing"));
}

#[test]
fn a_cluster_that_lost_servers_is_described_and_removed() {
    if missing(&[Kind::Postgres]) {
        return;
    }
    let lab = Lab::new();
    assert_eq!(lab.done(&["up", "postgres", "--nodes", "3"]).stdout.lines().count(), 3);
    let pids = pids(&lab.status("postgres"));
    kill(pids[2]);
    assert_eq!(lab.status("postgres")["condition"], "degraded");
    let text = lab.done(&["status"]).stdout;
    assert!(text.contains(&format!("dead (was process {})", pids[2])) && text.contains("lab down postgres"), "{text}");

    kill(pids[1]);
    kill(pids[0]);
    let status = lab.status("postgres");
    assert_eq!(status["condition"], "stale", "{status:#}");
    let up = lab.say(&["up", "postgres"]);
    assert!(up.status == 1 && up.stderr.contains("stale") && up.stderr.contains("lab down"), "{}", up.stderr);

    // The numbers of the dead are given to others: those must not be killed.
    let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
    let file = lab.0.path("postgres/lab.json");
    let mut description: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    description["nodes"][0]["process"]["pid"] = other.id().into();
    std::fs::write(&file, description.to_string()).unwrap();
    assert_eq!(lab.status("postgres")["condition"], "stale");
    let down = lab.done(&["down", "--all"]);
    assert!(down.stderr.contains("were gone"), "{}", down.stderr);
    assert!(other.try_wait().unwrap().is_none(), "somebody else's process was killed");
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(files(lab.0.folder.path()).is_empty());
}

#[test]
fn kinds_stand_side_by_side() {
    if missing(&[Kind::MariaDb, Kind::TiDb]) {
        return;
    }
    let lab = Lab::new();
    let mariadb = lab.done(&["up", "mariadb"]).stdout;
    let tidb = json(&lab.args(&["up", "tidb"]));
    assert!(mariadb.starts_with("mariadb://root@127.0.0.1:"), "{mariadb}");
    assert_eq!((&tidb["kind"], &tidb["condition"]), (&"tidb".into(), &"up".into()), "{tidb:#}");
    let pids = [pids(&lab.status("mariadb")), pids(&tidb)].concat();
    done(&["load", "--url", mariadb.trim()]);
    let down = json(&lab.args(&["down", "--all"]));
    assert_eq!(down["stopped"], serde_json::json!(["mariadb", "tidb"]));
    assert!(!pids.into_iter().any(runs) && files(lab.0.folder.path()).is_empty());
}

#[test]
fn a_cluster_of_galera_comes_up_and_goes() {
    if missing(&[Kind::Galera]) {
        return;
    }
    let lab = Lab::new();
    let up = lab.done(&["up", "galera"]);
    assert_eq!(
        up.stdout.lines().filter(|url| url.starts_with("mariadb://root@127.0.0.1:")).count(),
        3,
        "{}",
        up.stdout
    );
    let pids = pids(&lab.status("galera"));
    lab.done(&["down", "galera"]);
    assert!(pids.len() == 3 && !pids.into_iter().any(runs) && files(lab.0.folder.path()).is_empty());
}

/// Starts `lab up galera`, waits until its folder has a description with a process in it, and sends it a signal.
fn interrupted(lab: &Lab, signal: &str) -> Said {
    let mut child =
        weighbridge(&lab.args(&["up", "galera"])).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    stderr.read_line(&mut said).unwrap();
    while !std::fs::read_to_string(lab.0.path("galera/lab.json")).is_ok_and(|text| text.contains("127.0.0.1")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
    let mut ended: Said = child.wait_with_output().unwrap().into();
    ended.stderr = said;
    ended
}

#[test]
fn a_start_that_is_cut_short_leaves_nothing_or_says_what_is_left() {
    if missing(&[Kind::Galera]) {
        return;
    }
    let lab = Lab::new();
    let said = interrupted(&lab, "-INT");
    assert!(
        said.status == 1 && said.stderr.contains("interrupted; what had been started was stopped"),
        "{}",
        said.stderr
    );
    assert!(files(lab.0.folder.path()).is_empty(), "something is left");

    let killed = interrupted(&lab, "-KILL");
    assert_eq!(killed.status, -1);
    let status = lab.status("galera");
    assert_eq!(status["condition"], "unfinished", "{status:#}");
    let text = lab.done(&["status"]).stdout;
    assert!(text.contains("its start was cut short") && text.contains("lab down galera"), "{text}");
    let up = lab.say(&["up", "galera"]);
    assert!(up.status == 1 && up.stderr.contains("unfinished"), "{}", up.stderr);
    lab.done(&["down", "galera"]);
    assert!(files(lab.0.folder.path()).is_empty() && !pids(&status).into_iter().any(runs));
}

#[test]
fn wrong_usage_of_the_lab_is_refused() {
    let lab = Lab::new();
    let refused = |command: &[&str], status: i32, words: &[&str]| {
        let said = lab.say(command);
        assert_eq!(said.status, status, "{command:?}: {}", said.stderr);
        assert!(said.stderr.contains("error:") && said.stdout.is_empty(), "{command:?}: {}", said.stderr);
        for word in words {
            assert!(said.stderr.contains(word), "{command:?}: no `{word}` in {}", said.stderr);
        }
    };
    refused(&["up", "oracle"], 2, &["oracle", "postgres", "yugabytedb"]);
    refused(&["up", "mariadb", "--nodes", "3"], 2, &["mariadb is one server"]);
    refused(&["up", "galera", "--nodes", "2"], 2, &["3 to 9"]);
    refused(&["up", "tidb", "--set", "a=b"], 2, &["no settings", "postgres and mariadb"]);
    refused(&["up", "postgres", "--set", "max_connections"], 2, &["NAME=VALUE"]);
    refused(&["up", "mariadb", "--regions", "a,b"], 2, &["no regions", "postgres", "cockroachdb"]);
    refused(&["up", "postgres", "--regions", "a,b"], 2, &["how far is it from a to b?"]);
    refused(&["up", "postgres", "--regions", "a,b", "--delays", "a:c=1"], 2, &["--delays", "a delay of c"]);
    refused(&["up", "postgres", "--regions", "a,b", "--delays", "no/file"], 2, &["--delays", "no/file"]);
    refused(&["up", "postgres", "--regions", "us-east1,us-west1", "--nodes", "3"], 2, &["each of the 2 regions"]);
    refused(&["up", "cockroachdb", "--regions", "a", "--delays", "a:b=1"], 2, &["--delays", "no distance"]);
    refused(&["up", "postgres", "--delays", "a:b=1"], 2, &["--regions"]);
    refused(&["regions", "--regions", "a,b", "--delays", "a:b=1", "--repeat", "6"], 2, &["--repeat"]);
    refused(&["regions", "--regions", "a"], 2, &["2 to 5"]);
    refused(&["up", "cockroachdb", "--regions", "a,b c"], 2, &["--regions"]);
    refused(&["up", "cockroachdb", "--regions", "a,b,c,d"], 2, &["--regions", "3 nodes"]);
    refused(&["down"], 2, &["KIND"]);
    refused(&["down", "galera", "--all"], 2, &["--all"]);
    assert!(files(lab.0.folder.path()).is_empty());

    // A folder that is somebody else's is never removed.
    std::fs::create_dir(lab.0.path("postgres")).unwrap();
    std::fs::write(lab.0.path("postgres/precious"), "").unwrap();
    for command in [&["up", "postgres"][..], &["down", "postgres"], &["down", "--all"], &["status"]] {
        refused(command, 1, &["lab.json"]);
    }
    std::fs::write(lab.0.path("postgres/lab.json"), "{").unwrap();
    refused(&["down", "--all"], 1, &["lab.json", "damaged"]);
    assert!(Path::exists(&lab.0.path("postgres/precious")));
}

#[test]
fn a_database_that_is_not_installed_is_said() {
    let lab = Lab::new();
    let output = weighbridge(&lab.args(&["up", "cockroachdb"])).env("PATH", "/nowhere").output().unwrap();
    let said: Said = output.into();
    assert_eq!(said.status, 1);
    assert!(
        said.stderr.contains("CockroachDB is not installed here") && said.stderr.contains("cockroach"),
        "{}",
        said.stderr
    );
    assert!(files(lab.0.folder.path()).is_empty());
}
