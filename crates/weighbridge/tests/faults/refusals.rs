//! What can't be done is said before anything is touched, and a run that can't work ends soon.

use crate::support::{Place, done, say};

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
