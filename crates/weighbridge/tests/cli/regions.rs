//! Regions: servers at a distance, their network, and the lesson, each of which leaves nothing behind.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lab::Kind;
use serde_json::Value;

use crate::support::{Place, done, files, json, say, signal, weighbridge};

/// A folder that the servers' user can enter.
fn place() -> Option<Place> {
    lab::or_skip(Kind::Postgres.installed())?;
    let place = Place::new();
    std::fs::set_permissions(place.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    Some(place)
}

/// Processes whose working folder is in a folder.
fn processes(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let cwds = entries.map(|entry| entry.path().join("cwd"));
    cwds.filter(|cwd| std::fs::read_link(cwd).is_ok_and(|folder| folder.starts_with(home))).collect()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn psql(url: &str, sql: &str) -> String {
    let output = Command::new("psql").args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql, url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn servers_at_a_distance_stay_with_their_network_and_go_with_it() {
    let Some(place) = place() else { return };
    let home = place.folder.path().to_owned();
    let dir = ["--dir", home.to_str().unwrap()];
    let delays = place.text("delays");
    std::fs::write(&delays, "# as assumed\nhere:there = 30ms\n").unwrap();
    let up = ["lab", "up", "postgres", "--regions", "here,there", "--delays", &delays];
    let urls = done(&[&up[..], &dir].concat()).stdout;
    let urls: Vec<&str> = urls.lines().collect();
    assert_eq!(urls.len(), 2);
    let again = |given: &str| say(&[&up[..6], &[given], &dir].concat());
    assert_eq!(again("here:there=30").status, 0, "{}", again("here:there=30").stderr);
    assert!(again("here:there=31").stderr.contains("other nodes, regions or delays"));

    let status = json(&[&["lab", "status"][..], &dir].concat());
    let kind = &status["kinds"][0];
    assert_eq!((&kind["condition"], &kind["network"]["alive"]), (&"up".into(), &true.into()), "{kind:#}");
    let ways: Vec<(&str, &str, u64)> = kind["network"]["ways"].as_array().unwrap().iter().map(way).collect();
    assert_eq!(ways, [("here", "there", 30_000), ("there", "here", 30_000)]);
    let text = done(&[&["lab", "status"][..], &dir].concat()).stdout;
    assert!(text.contains("here to there: 127.0.0.1:") && text.contains("a round trip of 30 ms"), "{text}");

    // What one asks of the other goes over the network, and arrives.
    assert_eq!(psql(urls[0], "SHOW cluster_name"), "here");
    psql(urls[1], "CREATE TABLE t (n INT); INSERT INTO t VALUES (7)");
    psql(urls[0], "CREATE FOREIGN TABLE t (n INT) SERVER there");
    assert_eq!(psql(urls[0], "SELECT n FROM t"), "7");
    // A gateway is a server as any other for a run, whose client says where it stands.
    done(&["load", "--url", urls[0]]);
    let pace = ["--pacing", "none", "--connections", "1", "--ramp", "0s", "--duration", "2s"];
    let out = place.text("run");
    let run = [&["run", "--url", urls[0], "--region", "here", "--out", &out][..], &pace, &["--json"]].concat();
    let ran = say(&run);
    let record: Value = serde_json::from_str(&std::fs::read_to_string(place.path("run/run.json")).unwrap()).unwrap();
    assert_eq!(record["plan"]["region"], "here", "{}", ran.stderr);

    // The lesson on servers that are there, as a step of a scenario.
    let scenario = "title = 't'\ntool = 't'\nsummary = 's'\n[[case]]\nname = 'c'\ncluster = 'x'\n\
        steps = ['tune run regions --repeat 7 --scale 0.01']\n[case.published.lessons]\n\
        \"read New York's bikes in use from here\" = { before_ms = 84.1, after_ms = 7.79 }\n";
    std::fs::write(place.path("regions.toml"), scenario).unwrap();
    let (file, out) = (place.text("regions.toml"), place.text("lesson"));
    let ended = json(&["scenario", "run", &file, "--url", urls[0], "--url", urls[1], "--out", &out]);
    let figures = ended["figures"].as_array().unwrap();
    assert!(figures.len() == 3 && figures.iter().all(|figure| figure["measured"].is_f64()), "{ended:#}");

    let network = kind["network"]["pid"].as_u64().unwrap();
    assert!(processes(&home).iter().any(|cwd| cwd.starts_with(format!("/proc/{network}"))));
    done(&[&["lab", "down", "postgres"][..], &dir].concat());
    assert!(!home.join("postgres").exists());
    eventually("the network ends", || processes(&home).is_empty());
}

fn way(way: &Value) -> (&str, &str, u64) {
    (way["from"].as_str().unwrap(), way["to"].as_str().unwrap(), way["round_trip_us"].as_u64().unwrap())
}

#[test]
fn the_network_ends_when_its_servers_are_gone() {
    let Some(place) = place() else { return };
    let home = place.folder.path().to_owned();
    let dir = ["--dir", home.to_str().unwrap()];
    let up = json(&[&["lab", "up", "postgres", "--regions", "a,b", "--delays", "a:b=1"][..], &dir].concat());
    for node in up["nodes"].as_array().unwrap() {
        assert!(Command::new("kill").args(["-KILL", &node["pid"].to_string()]).status().unwrap().success());
    }
    eventually("the network ends", || processes(&home).is_empty());
    done(&[&["lab", "down", "postgres"][..], &dir].concat());
    assert!(files(&home).is_empty());
}

/// The lesson with little distance, whose servers come up in `home`.
fn lesson(home: &Path, repeat: &str, options: &[&str]) -> Command {
    let mut command =
        weighbridge(&["lab", "regions", "--regions", "near,far", "--delays", "near:far=4", "--repeat", repeat]);
    command.args(options).env("TMPDIR", home);
    command
}

#[test]
fn the_lesson_is_one_command_that_leaves_nothing() {
    let Some(place) = place() else { return };
    let home = place.folder.path().to_owned();
    let servers = home.join("servers");
    std::fs::create_dir(&servers).unwrap();
    let page = place.text("page.html");
    let output = lesson(&servers, "7", &["--html", &page, "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["lease"], result["before"]["cells"].as_array().unwrap().len()), (&"far".into(), 8));
    assert!(result["conclusion"].as_str().unwrap().contains("in its own region"), "{}", result["conclusion"]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("What distance costs") && page.contains("New York (") || page.contains("near (New York)"));
    assert!(files(&servers).is_empty());
    assert!(processes(&servers).is_empty());
}

#[test]
fn the_lesson_interrupted_leaves_nothing() {
    let Some(place) = place() else { return };
    let home = place.folder.path().to_owned();
    for works in [false, true] {
        let mut child = lesson(&home, "1000", &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        // In the midst of the work, or while the first server is made.
        match works {
            true => assert!(said.any(|line| line.starts_with("before:"))),
            false => eventually("a server is made", || has_data(&home)),
        }
        signal(&child, "-INT");
        let said: Vec<String> = said.collect();
        let status = child.wait().unwrap();
        assert!(status.code() == Some(1) && said.last().unwrap().contains("interrupted"), "{status} {said:?}");
        assert!(files(&home).is_empty(), "{:?}", files(&home));
        eventually("a process is left", || processes(&home).is_empty());
    }
}

/// Whether a server has been given data below a folder.
fn has_data(home: &Path) -> bool {
    files(home).iter().any(|site| home.join(site).join("near/PG_VERSION").exists())
}

#[test]
fn a_lesson_that_is_to_be_kept_is_described_and_removed_as_any_lab() {
    let Some(place) = place() else { return };
    let home = place.folder.path().to_owned();
    let dir = home.to_str().unwrap();
    let output = lesson(&home, "7", &["--keep", "--dir", dir]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let urls = done(&["lab", "up", "postgres", "--dir", dir]).stdout;
    let near = urls.lines().next().unwrap();
    // Its own rows are there, and the others' are not.
    let own = "SELECT relkind FROM pg_class WHERE oid = to_regclass('weighbridge_regions.users_new_york')";
    let others = "SELECT relkind FROM pg_class WHERE oid = to_regclass('weighbridge_regions.users_los_angeles')";
    assert_eq!((psql(near, own).as_str(), psql(near, others).as_str()), ("r", "f"));
    let refused = lesson(&home, "7", &["--keep", "--dir", dir]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("lab down postgres"), "{refused:?}");
    done(&["lab", "down", "postgres", "--dir", dir]);
    assert!(files(&home).is_empty());
    eventually("a process is left", || processes(&home).is_empty());
}
