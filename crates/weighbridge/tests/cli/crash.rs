//! Killed, interrupted, full: what was done stays, and nothing is done twice.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Place, Said, done, json, say, signal, weighbridge};

/// Steps that a load has recorded so far.
fn recorded_steps(url: &str) -> i64 {
    let url = target::Url::parse(url).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let Ok(mut session) = target::Session::connect(&url).await else { return 0 };
        match session.query("SELECT COUNT(*) FROM weighbridge_load", &[]).await {
            Ok(answer) => answer.only().unwrap().big(0).unwrap(),
            Err(_) => 0,
        }
    })
}

/// Kills a load again and again, each time a few steps further, then resumes it to the end.
fn killed_load_is_resumed(url: &str, place: &Place) {
    if let Some(file) = url.strip_prefix("sqlite:") {
        // Opening the file to look must not be what creates it.
        assert!(!std::path::Path::new(file).exists());
    }
    let load = ["load", "--url", url, "--warehouses", "3", "--jobs", "2", "--seed", "9"];
    let mut kills = 0;
    for wanted in [1, 5, 12, 20] {
        let mut args = load.to_vec();
        if kills > 0 {
            args.push("--resume");
        }
        let mut child = weighbridge(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let give_up = Instant::now() + Duration::from_secs(60);
        while recorded_steps(url) < wanted && Instant::now() < give_up && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        if child.try_wait().unwrap().is_none() {
            signal(&child, "-KILL");
            kills += 1;
        }
        child.wait().unwrap();
    }
    assert!(kills > 0, "the load was never caught at work");
    let refused = say(&load);
    assert_eq!(refused.status, 1, "a load that is there is not started over: {}", refused.stderr);
    assert!(refused.stderr.contains("--resume"), "{}", refused.stderr);

    let loaded = json(&["load", "--url", url, "--resume"]);
    assert_eq!(loaded["complete"], true);
    assert_eq!(loaded["tables"]["stock"]["rows"], 300_000);
    let check = json(&["check", "--url", url]);
    assert_eq!(check["passed"], true, "{check:#}");
    // Nothing is left to do, and nothing is done again.
    assert_eq!(json(&["load", "--url", url, "--resume"])["bytes"], 0);
    let _ = place;
}

#[test]
fn a_killed_load_is_resumed_on_sqlite() {
    let place = Place::new();
    killed_load_is_resumed(&place.sqlite(), &place);
}

#[test]
fn a_killed_load_is_resumed_on_postgres() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("killed").unwrap();
    killed_load_is_resumed(&server.url("killed"), &Place::new());
}

/// Starts a run without waits, waits for `lines` of its live view, sends `signals`, and returns what it said.
fn interrupted_run(place: &Place, out: &str, lines: usize, signals: &[&str]) -> Said {
    let url = place.sqlite();
    let args = ["run", "--url", &url, "--pacing", "none", "--ramp", "1s", "--duration", "10m", "--out", out];
    let mut child = weighbridge(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut stderr = String::new();
    for _ in 0..lines {
        reader.read_line(&mut stderr).unwrap();
    }
    for name in signals {
        signal(&child, name);
        std::thread::sleep(Duration::from_millis(5));
    }
    std::io::Read::read_to_string(&mut reader, &mut stderr).unwrap();
    let mut said: Said = child.wait_with_output().unwrap().into();
    said.stderr = stderr;
    said
}

#[test]
fn ctrl_c_ends_a_run_early_with_a_partial_result() {
    let place = Place::new();
    done(&["load", "--url", &place.sqlite()]);
    let out = place.text("run");
    let said = interrupted_run(&place, &out, 6, &["-INT"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(said.stdout.contains("Verdict: unconstrained"), "{}", said.stdout);
    assert!(said.stdout.contains("Reconciliation: passed"), "{}", said.stdout);
    let report = json(&["report", &out]);
    let seconds = report["measured_seconds"].as_f64().unwrap();
    assert!(seconds > 1.0 && seconds < 60.0, "{seconds}");
}

#[test]
fn a_run_that_waits_for_its_start_can_be_given_up() {
    let place = Place::new();
    let start = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(20);
    let (start_at, out) = (start.to_string(), place.text("run"));
    let run = ["run", "--url", "null:", "--warehouses", "1", "--start-at", &start_at, "--out", &out];
    let mut child = weighbridge(&run).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    said.find(|line| line.contains("terminals")).expect("it waits");
    signal(&child, "-INT");
    said.for_each(drop);
    // Nothing was measured, which no verdict may hide.
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(jiff::Timestamp::now() < start, "it waited for its start");
}

/// A run whose parent had this done to SIGHUP, and the lines that it says.
fn run_with_hangup(how: &str, out: &str) -> (std::process::Child, impl Iterator<Item = String> + use<>) {
    let run = ["run", "--url", "null:?latency=2ms", "--warehouses", "1", "--pacing", "none", "--ramp", "0s"];
    let mut command = std::process::Command::new("env");
    command.args([how, env!("CARGO_BIN_EXE_weighbridge")]).args(run).args(["--duration", "10m", "--out", out]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    said.by_ref().find(|line| line.contains("measured  ")).expect("a second of the run");
    (child, said)
}

#[test]
fn a_terminal_that_goes_leaves_a_result() {
    let place = Place::new();
    let (mut child, said) = run_with_hangup("--default-signal=HUP", &place.text("run"));
    // The shell tells of it, and the system too.
    signal(&child, "-HUP");
    signal(&child, "-HUP");
    said.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(json(&["report", &place.text("run")])["ended"], "interrupted");

    let (mut child, mut said) = run_with_hangup("--ignore-signal=HUP", &place.text("nohup"));
    signal(&child, "-HUP");
    let mut seconds = said.by_ref().filter(|line| line.contains("measured  ") || line.contains("interrupted"));
    assert!(seconds.by_ref().take(3).all(|line| line.contains("measured  ")), "as `nohup` has it, it goes on");
    signal(&child, "-INT");
    said.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_killed_run_can_be_reported() {
    let place = Place::new();
    done(&["load", "--url", &place.sqlite()]);
    let out = place.text("run");
    let said = interrupted_run(&place, &out, 7, &["-KILL"]);
    assert_eq!(said.status, -1);
    let report = say(&["report", &out, "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert!(report["transactions"]["new_order"]["count"].as_u64() > Some(0), "{report:#}");
    // What the process had under way when it was killed was rolled back by the database.
    assert_eq!(json(&["check", "--url", &place.sqlite()])["passed"], true);
}

#[test]
fn ctrl_c_ends_a_load_in_order() {
    let place = Place::new();
    let url = place.sqlite();
    let load = ["load", "--url", &url, "--warehouses", "10"];
    let child = weighbridge(&load).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !place.path("bench.db").exists() || recorded_steps(&url) < 3 {
        std::thread::sleep(Duration::from_millis(2));
    }
    signal(&child, "-INT");
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert!(said.stderr.contains("--resume"), "{}", said.stderr);
    assert_eq!(json(&["load", "--url", &url, "--resume"])["complete"], true);
}

/// A pipe's end to write to where nobody reads any more, as after Ctrl-C that ended `tee` as well.
fn nobody_listens() -> std::io::PipeWriter {
    std::io::pipe().unwrap().1
}

#[test]
fn ctrl_c_has_a_result_though_nobody_listens() {
    let place = Place::new();
    let out = place.text("run");
    let run = ["run", "--url", "null:", "--warehouses", "1", "--ramp", "0s", "--duration", "1h", "--out", &out];
    let timeline = place.path("run/timeline.csv");
    let mut child = weighbridge(&run).stdout(Stdio::piped()).stderr(nobody_listens()).spawn().unwrap();
    let begun = || std::fs::read_to_string(&timeline).is_ok_and(|text| text.lines().count() > 2);
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, "-INT");
    let said: Said = child.wait_with_output().unwrap().into();
    assert!(said.status == 0 || said.status == 3, "{} {}", said.status, said.stdout);
    assert!(said.stdout.contains("Verdict: "), "{}", said.stdout);

    let url = place.sqlite();
    let load = ["load", "--url", &url, "--warehouses", "10"];
    let child = weighbridge(&load).stdout(Stdio::piped()).stderr(nobody_listens()).spawn().unwrap();
    while !place.path("bench.db").exists() || recorded_steps(&url) < 3 {
        std::thread::sleep(Duration::from_millis(2));
    }
    signal(&child, "-INT");
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!((said.status, said.stdout.as_str()), (1, ""), "ended in order");
    assert_eq!(json(&["load", "--url", &url, "--resume"])["complete"], true);
}

#[test]
fn a_full_disk_is_named() {
    let place = Place::new();
    let url = place.sqlite();
    // A limit on the size of files stands for a full disk.
    let script = "trap '' XFSZ; ulimit -f 20000; exec \"$@\"";
    let binary = env!("CARGO_BIN_EXE_weighbridge");
    let output = std::process::Command::new("bash")
        .args(["-c", script, "bash", binary, "load", "--url", &url])
        .output()
        .unwrap();
    let said: Said = output.into();
    assert_eq!(said.status, 1, "{}", said.stderr);
    let errors: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with("error:")).collect();
    assert_eq!(errors.len(), 1, "{}", said.stderr);
    assert!(errors[0].contains("loading ") && errors[0].contains("warehouse 1"), "{}", said.stderr);
    assert_eq!(json(&["load", "--url", &url, "--resume"])["complete"], true);
}

/// Runs the tool where no file may grow beyond so many KiB, which stands for a full disk.
fn with_little_room(kib: u32, args: &[&str]) -> Said {
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$@\"");
    let binary = env!("CARGO_BIN_EXE_weighbridge");
    std::process::Command::new("bash").args(["-c", &script, "bash", binary]).args(args).output().unwrap().into()
}

/// A run without a database, on the slice of two warehouses that begins so.
fn null_run(place: &Place, name: &str, first: &str) -> String {
    let out = place.text(name);
    let slice = ["run", "--url", "null:?latency=2ms", "--first-warehouse", first, "--warehouses", "1"];
    let pace = ["--total-warehouses", "2", "--pacing", "none", "--connections", "2", "--ramp", "0s", "--out", &out];
    done(&[&slice[..], &pace, &["--duration", "2s"]].concat());
    out
}

#[test]
fn a_disk_that_fills_up_in_a_run_leaves_what_was_recorded() {
    let place = Place::new();
    let out = place.text("run");
    let run = ["run", "--url", "null:", "--warehouses", "2", "--pacing", "none", "--connections", "2"];
    let said = with_little_room(512, &[&run[..], &["--ramp", "0s", "--duration", "5m", "--out", &out]].concat());
    assert_eq!(said.status, 1, "{}", said.stderr);
    let errors: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with("error:")).collect();
    assert!(errors.len() == 1 && errors[0].contains("cannot write"), "{}", said.stderr);
    let report = say(&["report", &out, "--json"]);
    assert!(report.stderr.contains("the run did not end"), "{}", report.stderr);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["folder"], out.as_str());

    // A disk that is full beforehand is said before anything is put on the database.
    let out = place.text("none");
    let said = with_little_room(64, &[&run[..], &["--ramp", "0s", "--duration", "5m", "--out", &out]].concat());
    assert!(said.status == 1 && said.stderr.contains("none: cannot write"), "{}", said.stderr);
    assert!(!place.path("none/run.json").exists());
}

#[test]
fn a_full_disk_costs_no_earlier_result() {
    let place = Place::new();
    let [one, two] = [("one", "1"), ("two", "2")].map(|(name, first)| null_run(&place, name, first));
    let page = std::fs::read(place.path("one/report.html")).unwrap();
    let said = with_little_room(16, &["report", &one, "--html"]);
    assert!(said.status == 1 && said.stderr.contains("report.html: cannot write"), "{}", said.stderr);
    assert!(std::fs::read(place.path("one/report.html")).unwrap() == page, "the page is as it was");

    let all = place.text("all");
    let said = with_little_room(4, &["merge", &one, &two, "--force", "--out", &all]);
    assert!(said.status == 1 && said.stderr.contains("cannot write"), "{}", said.stderr);
    done(&["merge", &one, &two, "--force", "--out", &all]);
    let earlier = crate::support::files(place.folder.path());
    assert_eq!(earlier, ["all", "one", "two"], "nothing is left lying about");
    assert_eq!(crate::support::files(&place.path("all")), ["latency.hlog", "run.json", "timeline.csv"]);
}

#[test]
fn a_killed_merge_leaves_nothing_or_a_whole() {
    let place = Place::new();
    let [one, two] = [("one", "1"), ("two", "2")].map(|(name, first)| null_run(&place, name, first));
    let whole = json(&["merge", &one, &two, "--force", "--out", &place.text("whole")]);
    let all = place.text("all");
    let mut killed = 0;
    // Later each time, until one of them comes to its end before it is killed.
    for wait in 0..300 {
        let mut child = weighbridge(&["merge", &one, &two, "--force", "--out", &all]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        while started.elapsed() < Duration::from_micros(wait * (500 + 10 * wait)) && child.try_wait().unwrap().is_none()
        {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        let ended = child.wait_with_output().unwrap();
        // What the one before it has left must not stop it.
        assert!(matches!(ended.status.code(), None | Some(0)), "{}", String::from_utf8_lossy(&ended.stderr));
        killed += u32::from(ended.status.code().is_none());
        if place.path("all/run.json").exists() {
            break;
        }
        let said = say(&["report", &all]);
        assert!(said.status == 1 && said.stderr.contains("run.json: no such file"), "{}", said.stderr);
    }
    assert!(killed > 0, "no merge was killed at work");
    let said = say(&["report", &all, "--json"]);
    let merged: serde_json::Value =
        serde_json::from_str(&said.stdout).unwrap_or_else(|e| panic!("{e}: {} {}", said.status, said.stderr));
    assert_eq!(merged["transactions"], whole["transactions"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_said_first() {
    let place = Place::new();
    let [one, two] = [("one", "1"), ("two", "2")].map(|(name, first)| null_run(&place, name, first));
    let run = ["run", "--url", "null:", "--warehouses", "2", "--pacing", "none", "--duration", "5m", "--out"];
    let sweep = ["sweep", "--url", "null:", "--warehouses", "2", "--duration", "5m", "--out"];
    // A file that is in the way stops root too.
    let out = format!("{one}/run.json/below");
    for command in [&run[..], &sweep, &["merge", &one, &two, "--force", "--out"]] {
        let said = say(&[command, &[out.as_str()]].concat());
        let errors: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with("error:")).collect();
        assert!(said.status == 1 && errors.len() == 1 && errors[0].contains(&out), "{command:?}: {}", said.stderr);
    }
    done(&["report", &one]);
}
