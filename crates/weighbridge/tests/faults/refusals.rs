//! What can't be done is said before anything is touched, and a run that can't work ends soon.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::{Place, done, say, signal, weighbridge};

#[test]
fn faults_that_cannot_be_made_are_refused() {
    let place = Place::new();
    let url = place.sqlite();
    let refused = |args: &[&str], words: &[&str]| {
        let said = say(args);
        assert_eq!(said.status, 2, "{args:?}: {}", said.stderr);
        assert!(words.iter().all(|word| said.stderr.contains(word)), "{args:?}: {}", said.stderr);
    };
    refused(&["chaos", "--url", &url, "--fault", "1s kill node1"], &["--lab", "kill node1"]);
    refused(&["chaos", "--url", &url, "--fault", "1s cut node1"], &["no network"]);
    refused(&["chaos", "--url", &url, "--fault", "1s dance node1"], &["20s kill node2"]);
    refused(&["chaos", "--url", &url], &["SCHEDULE"]);
    refused(&["chaos", "--url", "null:", "--fault", "1s command true"], &["keeps no data"]);
    refused(&["acid", "durability", "--url", &url], &["--crash-command"]);
    let late = ["--fault", "1s command true", "--fault", "30s command secret"];
    let chaos = [&["chaos", "--url", &url], &late[..], &["--ramp", "10s", "--duration", "20s"]].concat();
    refused(&chaos, &["`command 2` at 30 s", "over after 30 s"]);
    let commands = ["--crash-command", "true", "--restart-command", "true"];
    let durability =
        [&["acid", "durability", "--url", &url, "--down", "5s", "--duration", "5s"], &commands[..]].concat();
    refused(&durability, &["--down 5s", "--duration 5s"]);
    let schedule = place.text("faults.toml");
    for (text, words) in [
        ("[[fault]]\nat = \"5\"\ndo = \"kill a\"\n", &["faults.toml", "at = \"5\""][..]),
        ("[[fault]]\nat = \"5s\"\ndo = \"kill\"\n", &["do = \"kill\"", "20s kill node2"]),
        ("[[fault]]\nat = \"5s\"\n", &["faults.toml", "do"]),
    ] {
        std::fs::write(&schedule, text).unwrap();
        refused(&["chaos", &schedule, "--url", &url], words);
    }
    let none = say(&["chaos", "--lab", "postgres", "--dir", &place.text("lab"), "--fault", "1s kill node1"]);
    assert!(none.status == 1 && none.stderr.contains("lab up postgres"), "{}", none.stderr);
    assert!(!place.path("bench.db").exists());
}

#[test]
fn a_crash_command_that_fails_is_no_crash() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url]);
    let durability = ["acid", "durability", "--url", &url, "--crash-after", "2s", "--duration", "2s"];
    let said = say(&[&durability[..], &["--crash-command", "exit 9", "--out", &place.text("run")]].concat());
    assert!(said.status == 1 && said.stderr.contains("there was no crash"), "{}", said.stderr);
}

/// A crash has begun when the run is interrupted: the database is brought back all the same.
#[test]
fn what_was_crashed_is_started_again_though_the_run_is_interrupted() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url]);
    let (out, back) = (place.text("run"), place.path("back"));
    let restart = format!("echo secret-2 > {}", back.display());
    let timing = ["--crash-after", "1s", "--down", "10m", "--duration", "20m"];
    let commands = ["--crash-command", ": secret-1", "--restart-command", &restart, "--out", &out];
    let mut command = weighbridge(&[&["acid", "durability", "--url", &url], &timing[..], &commands[..]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "fault: the crash command"));
    assert!(!back.exists());
    signal(&child, "-INT");
    let said = lines.collect::<Vec<_>>().join("\n");
    child.wait().unwrap();
    assert_eq!(std::fs::read_to_string(&back).unwrap(), "secret-2\n", "{said}");
    let text = std::fs::read_to_string(place.path("run").join("run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    let fault = |at: usize| ["what", "failed"].map(|field| &run["faults"][at][field]);
    assert_eq!(fault(0), [&"the crash command".into(), &serde_json::Value::Null], "{run:#}");
    assert_eq!(fault(1), [&serde_json::Value::from("the restart command"), &"the run had ended".into()], "{run:#}");
    assert!(!text.contains("secret-") && !said.contains("secret-"), "{said}");
}

#[test]
fn a_run_that_cannot_work_ends_soon_and_says_why() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = target::Session::connect(&target::Url::parse(&url).unwrap()).await.unwrap();
        for trigger in ["orders", "history"] {
            let refuse = format!(
                "CREATE TRIGGER no_{trigger} BEFORE INSERT ON {trigger} BEGIN SELECT RAISE(ABORT, 'no {trigger} today'); END"
            );
            session.execute(&refuse).await.unwrap();
        }
    });
    let mix = ["--mix", "new_order=50,payment=50"];
    let pace = ["--pacing", "none", "--ramp", "0s", "--duration", "10m"];
    let run = |out: &str, more: &[&str]| {
        say(&[&["run", "--url", &url, "--out", &place.text(out)], &mix[..], &pace[..], more].concat())
    };
    for (out, more) in [("default", &[][..]), ("stop", &["--on-error", "stop"])] {
        let said = run(out, more);
        assert_eq!(said.status, 1, "{}", said.stderr);
        let error = said.stderr.lines().find(|line| line.starts_with("error:")).unwrap();
        assert!(error.contains("the run was stopped") && error.contains(" today"), "{error}");
    }
    let pace = ["--pacing", "none", "--ramp", "0s", "--duration", "3s"];
    let said = say(&[
        &["run", "--url", &url, "--out", &place.text("on"), "--on-error", "go-on", "--json"],
        &mix[..],
        &pace[..],
    ]
    .concat());
    assert_eq!(said.status, 3, "{}", said.stderr);
    let run: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(run["failures"]["other"].as_u64() > Some(10) && run["ended"] == "completed", "{run:#}");
    assert_eq!(say(&["run", "--on-error", "maybe"]).status, 2);
}
