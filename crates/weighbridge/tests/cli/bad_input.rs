//! Bad input gets one clear line and the right exit status.

use std::process::Stdio;

use crate::support::{Place, done, files, say, weighbridge};

/// Runs and expects this status, exactly one line of error, and these words in it.
pub(crate) fn refused(args: &[&str], status: i32, words: &[&str]) {
    let said = say(args);
    assert_eq!(said.status, status, "{args:?}\n{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.is_empty(), "{args:?}: {}", said.stdout);
    assert!(!said.stderr.contains("panicked"), "{args:?}: {}", said.stderr);
    let errors: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with("error:")).collect();
    assert_eq!(errors.len(), 1, "{args:?}: {}", said.stderr);
    for word in words {
        assert!(said.stderr.contains(word), "{args:?}: no `{word}` in {}", said.stderr);
    }
}

#[test]
fn wrong_usage_is_known_before_anything_is_touched() {
    let place = Place::new();
    let url = place.sqlite();
    refused(&["load", "--url", "oracle://scott:tiger@host/db"], 2, &["oracle", "sqlite", "postgres"]);
    refused(&["load", "--url", "bench.db"], 2, &["scheme", "sqlite:"]);
    refused(&["load", "--url", "sqlite:"], 2, &["file"]);
    refused(&["load", "--url", &url, "--warehouses", "0"], 2, &["--warehouses"]);
    refused(&["load", "--url", &url, "--warehouses", "-3"], 2, &["-3"]);
    refused(&["load", "--url", &url, "--warehouses", "ten"], 2, &["ten"]);
    refused(&["load", "--url", &url, "--resume", "--replace"], 2, &["--replace"]);
    refused(&["load", "--url", &url, "--warehouses", "5", "--total-warehouses", "3"], 2, &["--total-warehouses 3"]);
    refused(&["load", "--url", &url, "--load-time", "yesterday"], 2, &["--load-time"]);
    for duration in ["0s", "-5s", "5", "400d", "soon", "0.5s"] {
        refused(&["run", "--url", &url, "--duration", duration], 2, &["--duration"]);
    }
    refused(&["run", "--url", &url, "--pacing", "slow"], 2, &["standard", "none"]);
    refused(&["run", "--url", &url, "--style", "fast"], 2, &["row", "batch", "procedure"]);
    for (database, url) in
        [("sqlite", url.as_str()), ("tidb", "tidb://me@h/db"), ("cockroachdb", "cockroachdb://me@h/db")]
    {
        refused(&["run", "--url", url, "--style", "procedure"], 2, &[database, "row, batch"]);
    }
    refused(&["run", "--url", &url, "--mix", "new_order=x"], 2, &["--mix"]);
    refused(&["run", "--url", &url, "--isolation", "dirty"], 2, &["serializable"]);
    refused(&["run", "--url", &url, "--connections", "0"], 2, &["--connections"]);
    refused(&["run", "--nonsense"], 2, &["--nonsense"]);
    refused(&["generate", "--out", &place.text("csv"), "--format", "xml"], 2, &["csv", "parquet"]);
    refused(&["generate", "--out", &place.text("csv"), "--table", "stocks"], 2, &["order_line"]);
    refused(&["generate", "--out", "-"], 2, &["--table"]);
    refused(&["generate", "--out", "-", "--table", "stock", "--json"], 2, &["--json"]);
    let item_of_none = ["generate", "--out", &place.text("csv"), "--table", "item", "--first-warehouse", "2"];
    refused(&item_of_none, 2, &["warehouse 1"]);
    assert!(!place.path("csv").exists(), "nothing is touched before all is known to be right");
    assert!(files(place.folder.path()).is_empty(), "nothing was touched");
}

#[test]
fn a_target_that_is_not_there_is_named_and_its_password_is_not() {
    refused(&["run", "--url", "postgres://me:s3cret@127.0.0.1:1/db"], 1, &["postgres://me@127.0.0.1:1/db", "refused"]);
    refused(&["check", "--url", "postgres://me:s3cret@no-such-host.invalid/db"], 1, &["no-such-host.invalid"]);
    for args in [["run", "--url"], ["load", "--url"], ["check", "--url"]] {
        let said = say(&[args.as_slice(), &["postgres://me:s3cret@127.0.0.1:1/db"]].concat());
        assert!(!said.stderr.contains("s3cret"), "{}", said.stderr);
    }
    let place = Place::new();
    refused(&["run", "--url", &place.sqlite()], 1, &["no such file", "weighbridge load"]);
    refused(&["check", "--url", &place.sqlite()], 1, &["no such file"]);
    refused(&["load", "--url", "sqlite:/nowhere/at/all.db"], 1, &["/nowhere/at/all.db"]);
    std::fs::write(place.path("not.db"), "this is no database, only a text that is long enough to be read").unwrap();
    refused(&["load", "--url", &format!("sqlite:{}", place.text("not.db"))], 1, &["not an SQLite database"]);
}

#[test]
fn postgres_refusals_are_one_line_each() {
    let Some(server) = lab::postgres_or_skip() else { return };
    refused(&["run", "--url", &server.url("nowhere")], 1, &["nowhere", "does not exist"]);
    server.create_database("bench").unwrap();
    refused(&["run", "--url", &server.url("bench")], 1, &["weighbridge load"]);

    server.create_database("loaded").unwrap();
    let (url, place) = (server.url("loaded"), Place::new());
    done(&["load", "--url", &url]);
    let out = place.text("run");
    refused(&["run", "--url", &url, "--connections", "1000", "--out", &out], 1, &["too many clients", "53300"]);
    assert!(!place.path("run").exists(), "a run that can't start leaves no folder");

    // A role with a password, and a server that asks for it.
    let url = target::Url::parse(&server.url("bench")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = target::Session::connect(&url).await.unwrap();
        session.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'").await.unwrap();
        let rules = "COPY (SELECT unnest(ARRAY['host all guarded 127.0.0.1/32 scram-sha-256', \
                     'host all all 127.0.0.1/32 trust'])) TO PROGRAM 'cat > pg_hba.conf'";
        session.execute(rules).await.unwrap();
        session.execute("SELECT pg_reload_conf()").await.unwrap();
    });
    let with = |password: &str| server.url("bench").replace("postgres@", &format!("guarded:{password}@"));
    let wrong = with("wr0ng-s3cret");
    // The reload is asynchronous: wait until the server asks.
    for _ in 0..100 {
        if say(&["run", "--url", &wrong]).stderr.contains("password authentication failed") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    refused(&["run", "--url", &wrong], 1, &["password authentication failed"]);
    let said = say(&["run", "--url", &wrong]);
    assert!(!said.stderr.contains("wr0ng-s3cret"), "{}", said.stderr);
    refused(&["run", "--url", &with("right")], 1, &["weighbridge load"]);
    refused(&["load", "--url", &with("right")], 1, &["permission denied"]);
}

#[test]
fn data_that_do_not_fit_the_question_are_said() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url]);
    refused(&["load", "--url", &url], 1, &["--resume", "--replace"]);
    refused(&["run", "--url", &url, "--warehouses", "2"], 2, &["only 1"]);
    refused(&["run", "--url", &url, "--first-warehouse", "2"], 2, &["only 1"]);
    refused(&["check", "--url", &url, "--warehouses", "2"], 2, &["only 1"]);
    refused(&["run", "--url", &url, "--isolation", "read-committed"], 2, &["sqlite", "serializable"]);
    refused(&["load", "--url", &url, "--warehouses", "2", "--resume"], 1, &["--total-warehouses 1"]);
    done(&["load", "--url", &url, "--replace"]);

    let full = place.path("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("something"), "").unwrap();
    refused(&["run", "--url", &url, "--out", &place.text("full")], 1, &["full", "not empty"]);
    refused(&["run", "--url", &url, "--out", "/proc/nowhere"], 1, &["/proc/nowhere"]);
}

#[test]
fn a_damaged_run_folder_is_described() {
    let place = Place::new();
    let run = place.text("run");
    done(&["demo", "--duration", "2s", "--out", &run]);
    refused(&["report", &place.text("nothing")], 1, &["nothing"]);
    refused(&["report", &run, "--html", "--out", "/proc/nowhere/page.html"], 1, &["/proc/nowhere/page.html"]);
    refused(&["report", &run, "--out", "page.html"], 2, &["--html"]);
    let whole = std::fs::read_to_string(place.path("run/run.json")).unwrap();

    let log = std::fs::read(place.path("run/latency.hlog")).unwrap();
    std::fs::write(place.path("run/latency.hlog"), &log[..log.len() - 20]).unwrap();
    let said = done(&["report", &run]);
    assert!(said.stderr.contains("warning: ") && said.stderr.contains("latency.hlog"), "{}", said.stderr);
    std::fs::write(place.path("run/latency.hlog"), "hello\n").unwrap();
    refused(&["report", &run], 1, &["latency.hlog:1"]);
    std::fs::write(place.path("run/latency.hlog"), log).unwrap();

    std::fs::write(place.path("run/run.json"), &whole[..whole.len() / 2]).unwrap();
    refused(&["report", &run], 1, &["run.json"]);
    std::fs::write(place.path("run/run.json"), whole.replacen("\"record_version\": 1", "\"record_version\": 99", 1))
        .unwrap();
    refused(&["report", &run], 1, &["99", "newer"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::new();
    let run = place.text("run");
    done(&["demo", "--duration", "2s", "--out", &run]);
    let mut child = weighbridge(&["report", &run]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn help_and_version_are_there() {
    for args in [vec!["--help"], vec!["--version"], vec!["help", "run"], vec!["load", "--help"]] {
        let said = done(&args);
        assert!(said.stderr.is_empty() && !said.stdout.is_empty(), "{args:?}");
    }
    assert_eq!(say(&[]).status, 2);
}
