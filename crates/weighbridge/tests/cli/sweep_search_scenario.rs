//! Many runs: sweeps, searches, scenarios; and the forms in which one result is printed.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Place, done, files, json, say, weighbridge};

/// A run of the tool alone, whose folder is `out`.
fn null_run(out: &str) {
    done(&["run", "--url", "null:", "--warehouses", "20", "--ramp", "1s", "--duration", "3s", "--out", out]);
}

#[test]
fn a_result_is_printed_in_the_form_asked_for() {
    let place = Place::new();
    let run = place.text("run");
    null_run(&run);
    let report = |format: &str| done(&["report", &run, "--format", format]);

    let document: Value = serde_json::from_str(&report("json").stdout).unwrap();
    let tpmc = document["nopm"].as_f64().unwrap();
    let cockroach = report("cockroach");
    let lines: Vec<&str> = cockroach.stdout.lines().collect();
    assert_eq!(lines[0], "_elapsed_______tpmC____efc__avg(ms)__p50(ms)__p90(ms)__p95(ms)__p99(ms)_pMax(ms)");
    let fields: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!((lines.len(), lines[1].len(), fields.len()), (2, lines[0].len(), 9), "{}", cockroach.stdout);
    assert_eq!(fields[1].parse::<f64>().unwrap(), (tpmc * 10.0).floor() / 10.0);
    assert!(fields[2].ends_with('%') && cockroach.stderr.contains("verdict: engineering"), "{}", cockroach.stderr);

    let yugabyte = report("yugabyte").stdout;
    assert!(yugabyte.contains("================RESULTS================"), "{yugabyte}");
    let field = |name: &str| {
        let line = yugabyte.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.rsplit('|').next().unwrap().trim().trim_end_matches('%').parse::<f64>().unwrap()
    };
    assert!((field("TPM-C") - tpmc).abs() < 0.01);
    assert!((field("Efficiency") - document["efficiency"].as_f64().unwrap() * 100.0).abs() < 0.01);
    let all: u64 = document["transactions"].as_object().unwrap().values().map(|t| t["count"].as_u64().unwrap()).sum();
    let counted = yugabyte.lines().find(|line| line.trim_start().starts_with("All |")).unwrap();
    let counted: u64 = counted.split('|').nth(1).unwrap().trim().parse().unwrap();
    // A delivery whose deferred part was still under way counts as queued, and not yet as done.
    assert!(all.abs_diff(counted) <= 5, "{all} and {counted}");

    let markdown = report("markdown").stdout;
    assert!(markdown.starts_with("**") && markdown.contains("| New-Order |"), "{markdown}");
    assert!(markdown.contains("verdict **engineering**") && markdown.contains("not an audited"), "{markdown}");
    assert_eq!(say(&["report", &run, "--format", "json", "--json"]).status, 2);
}

/// Waits for the file of the first run that is done.
fn first_done(sweep: &Path) {
    let begun = Instant::now();
    let done = |folder: &Path| {
        std::fs::read(folder.join("run.json"))
            .ok()
            .and_then(|text| serde_json::from_slice::<Value>(&text).ok())
            .is_some_and(|run| run["ended"] == "completed" && !run["verdict"].is_null())
    };
    while !std::fs::read_dir(sweep).is_ok_and(|mut all| all.any(|entry| done(&entry.unwrap().path()))) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run of the sweep came to its end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until a run is under way that is not done.
fn second_begun(sweep: &Path) {
    let begun = Instant::now();
    let running = |folder: &Path| {
        std::fs::read_to_string(folder.join("run.json")).is_ok_and(|run| run.contains("\"ended\": \"running\""))
    };
    while !std::fs::read_dir(sweep).is_ok_and(|mut all| all.any(|entry| running(&entry.unwrap().path()))) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run of the sweep began");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_sweep_goes_on_after_an_interruption_and_leaves_the_data_as_found() {
    let (place, out) = (Place::new(), "sweep");
    let (url, out) = (place.sqlite(), place.text(out));
    done(&["load", "--url", &url]);
    // The rules of fresh data are checked only where nothing has been entered since the load.
    let untouched = json(&["check", "--url", &url]);
    let grid = ["--style", "row,batch", "--connections", "2,4", "--repeat", "2", "--pacing", "none"];
    let length = ["--ramp", "0s", "--duration", "1s", "--seed", "7", "--out", &out];
    let mut begun = weighbridge(&[&["sweep", "--url", &url][..], &grid, &length].concat()).spawn().unwrap();
    first_done(Path::new(&out));
    kill_process(Pid::from_child(&begun), Signal::INT).unwrap();
    assert_eq!(begun.wait().unwrap().code(), Some(1));

    // Killed, it takes the run that works for it along.
    let resume = ["sweep", "--url", &url, "--resume", "--out", &out];
    let mut killed = weighbridge(&resume).spawn().unwrap();
    second_begun(Path::new(&out));
    killed.kill().unwrap();
    killed.wait().unwrap();

    let again = done(&[&resume[..], &["--json"]].concat());
    let sweep: Value = serde_json::from_str(&again.stdout).unwrap();
    let results = sweep["results"].as_array().unwrap();
    assert_eq!((results.len(), sweep["warnings"].as_array().unwrap().len()), (4, 0));
    for result in results {
        let runs = result["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 2, "{result:#}");
        assert!(runs.iter().all(|run| run["verdict"] == "unconstrained" && run["nopm"].as_f64().unwrap() > 0.0));
        assert!(result["nopm"]["interval"].is_array());
    }
    // Each run began with the data as loaded, and so are they now.
    let folder = Path::new(&out);
    for run in files(folder).iter().filter(|name| folder.join(name).is_dir()) {
        let record: Value = serde_json::from_slice(&std::fs::read(folder.join(run).join("run.json")).unwrap()).unwrap();
        assert!(!record["plan"]["deviations"].to_string().contains("not as loaded"), "{run}");
    }
    assert_eq!(json(&["check", "--url", &url]), untouched);
    assert_eq!(files(place.folder.path()).iter().filter(|name| name.contains("weighbridge-")).count(), 0);

    let other = say(&["sweep", "--url", "null:", "--resume", "--restore", "snapshot", "--out", &out]);
    assert_eq!(other.status, 2, "another database: {}", other.stderr);
    done(&["load", "--url", &url, "--replace"]);
    let anew = say(&["sweep", "--url", &url, "--resume", "--out", &out]);
    assert!(anew.status == 2 && anew.stderr.contains("would not be of one database"), "{}", anew.stderr);

    let table = done(&["report", &out]).stdout;
    assert!(table.contains("connections") && table.contains("style") && table.contains("95 % interval"), "{table}");
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("NOPM over connections") && page.contains("<svg"), "no chart");
    assert_eq!(say(&["sweep", "--url", &url, "--connections", "2", "--out", &out]).status, 1, "a folder that is there");
}

#[test]
fn two_databases_are_swept_side_by_side() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    for name in ["old", "new"] {
        server.create_database(name).unwrap();
        done(&["load", "--url", &server.url(name)]);
    }
    let targets = ["old", "new"].map(|name| format!("{name}={}", server.url(name)));
    let out = place.text("sweep");
    let words = ["sweep", "--target", &targets[0], "--target", &targets[1], "--connections", "4", "--style", "batch"];
    let length = ["--pacing", "none", "--ramp", "1s", "--duration", "4s", "--out", &out];
    let sweep = json(&[&words[..], &length].concat());
    assert_eq!(sweep["plan"]["restore"], "snapshot");
    let said = sweep["ratios"][0]["words"].as_str().unwrap();
    assert!(said.contains("times, "), "{said}");
    let text = done(&["report", &out]).stdout;
    assert!(text.contains("new against old at 4 connections, batch"), "{text}");
    // The copies are gone.
    let left = json(&["check", "--url", &server.url("old")]);
    assert_eq!(left["passed"], true);
    let url = target::Url::parse(&server.url("postgres")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let beside = runtime.block_on(async {
        let mut session = target::Session::connect(&url).await.unwrap();
        let sql = "SELECT count(*) FROM pg_database WHERE datname LIKE '%weighbridge%'";
        session.query(sql, &[]).await.unwrap().only().unwrap().big(0).unwrap()
    });
    assert_eq!(beside, 0);
}

#[test]
fn one_database_under_two_names_goes_back_to_one_state() {
    let place = Place::new();
    done(&["load", "--url", &place.sqlite()]);
    let targets = ["a", "b"].map(|name| format!("{name}={}", place.sqlite()));
    let words = ["sweep", "--target", &targets[0], "--target", &targets[1], "--connections", "1", "--style", "batch"];
    let length = ["--pacing", "none", "--ramp", "0s", "--duration", "2s", "--out", &place.text("sweep")];
    json(&[&words[..], &length].concat());
    let left = json(&["check", "--url", &place.sqlite()]);
    let checks = left["checks"].as_array().unwrap();
    assert!(checks.len() > 40 && checks.iter().all(|check| check["skipped"].is_null()), "as loaded: {left}");
    assert_eq!(files(place.folder.path()).iter().filter(|name| name.contains("weighbridge-")).count(), 0);
}

#[test]
fn what_cannot_be_swept_is_refused_first() {
    let place = Place::new();
    let out = place.text("sweep");
    let refused = |words: &[&str], says: &str| {
        let said = say(&[&words[..1], &["--out", &out], &words[1..]].concat());
        assert!(said.status == 2 && said.stderr.contains(says), "{words:?}: {} {}", said.status, said.stderr);
        assert!(!Path::new(&out).exists(), "{words:?}");
    };
    refused(&["sweep", "--url", "mysql://me@127.0.0.1:1/b"], "choose --restore reload");
    refused(&["sweep", "--url", "mysql://me@127.0.0.1:1/b", "--restore", "snapshot"], "has none");
    refused(&["sweep", "--url", "sqlite:x.db", "--style", "pipeline"], "does not have the statement style");
    refused(&["sweep", "--target", "a=null:", "--target", "a=null:"], "named twice");
    refused(&["sweep", "--target", "null:"], "NAME=URL");
    refused(&["sweep", "--target", "a=null:", "--url", "null:"], "--url beside --target");
    refused(&["sweep", "--restore", "command"], "--restore-command");
    refused(&["sweep", "--url", "null:", "--restore-command", "true"], "goes with --restore command");
    refused(&["sweep", "--url", "null:", "--", "--nonsense"], "--nonsense");
    refused(&["sweep", "--url", "null:", "--", "--seed", "1"], "gives it to each run itself");
    refused(&["search", "--pacing", "none"], "--pacing none");
    refused(&["search", "--pacing", "0.5"], "at the standard's pace");
}

#[test]
fn the_most_warehouses_are_searched_for() {
    let place = Place::new();
    let (url, out) = (place.sqlite(), place.text("search"));
    done(&["load", "--url", &url, "--warehouses", "2"]);
    let untouched = json(&["check", "--url", &url]);
    let hasty = say(&["search", "--url", &url, "--ramp", "0s", "--duration", "2s", "--out", &place.text("hasty")]);
    assert!(hasty.status == 1 && hasty.stderr.contains("New-Orders in the trial of 1 warehouses"), "{}", hasty.stderr);
    assert_eq!(json(&["check", "--url", &url]), untouched, "a search that ended early leaves the data as found");
    let found = json(&["search", "--url", &url, "--from", "2", "--ramp", "15s", "--duration", "50s", "--out", &out]);
    assert_eq!((&found["warehouses"], &found["fails_at"]), (&2.into(), &Value::Null), "{found:#}");
    let trials: Vec<_> = found["trials"].as_array().unwrap().iter().map(|trial| trial["warehouses"].clone()).collect();
    assert_eq!(trials, [2]);
    let few = say(&["search", "--url", &url, "--to", "3"]);
    assert!(few.status == 2 && few.stderr.contains("2 are loaded"), "{}", few.stderr);
}

#[test]
fn published_benchmarks_are_repeated_side_by_side() {
    let place = Place::new();
    let url = place.sqlite();
    let short = ["--ramp", "0s", "--duration", "3s"];
    let listed = json(&["scenario", "list"]);
    let names: Vec<&str> =
        listed["scenarios"].as_array().unwrap().iter().map(|scenario| scenario["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cockroachdb", "yugabytedb", "tidb", "nuodb", "movr"]);
    for name in names {
        let shown = done(&["scenario", "show", name]).stdout;
        assert!(shown.contains("weighbridge ") && shown.contains("published"), "{shown}");
        // Of all that was published one efficiency is not that of its tpmC.
        let contradicted = usize::from(name == "yugabytedb");
        assert_eq!(shown.matches("can't be: efficiency of 99.3 %").count(), contradicted, "{shown}");
        assert_eq!(shown.matches("can't be: efficiency").count(), contradicted, "{shown}");
    }

    let out = place.text("a");
    let words = ["scenario", "run", "cockroachdb", "--url", &url, "--scale", "0.001", "--out", &out];
    let unlike = say(&[&words[..], &short].concat());
    assert!(unlike.status == 2 && unlike.stderr.contains("--adapt leaves out `--split`"), "{}", unlike.stderr);
    // So short a run may hold no New-Order, which is keyed in for 18 s: not believed, but told.
    let told = |words: &[&str]| {
        let said = say(words);
        assert!([0, 3].contains(&said.status), "{words:?}: {}", said.stderr);
        said.stdout
    };
    let ended: Value = serde_json::from_str(&told(&[&words[..], &short, &["--adapt", "--json"]].concat())).unwrap();
    let figure = |document: &Value, name: &str| {
        let figures = document["figures"].as_array().unwrap().clone();
        figures.into_iter().find(|figure| figure["name"] == name).unwrap_or_else(|| panic!("{name}: {document:#}"))
    };
    assert_eq!(figure(&ended, "tpmC")["published"], 13154.0);
    assert_eq!(figure(&ended, "new_order p99, ms")["published"], 184.5);
    assert!(ended["published_cannot_be"][0].as_str().unwrap().contains("102.3 %"), "{ended:#}");
    assert!(ended["differences"].to_string().contains("left out `--split`"));

    let b = ["scenario", "run", "yugabytedb", "--case", "10", "--scale", "0.1", "--adapt", "--replace"];
    let out = place.text("b");
    let text = told(&[&b[..], &["--url", &url, "--out", &out], &short].concat());
    for words in ["127.0", "12.7", "payment p99, ms", "3.99 times", "times 0.1", "Differences"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(Path::new(&out).join("run/report.html").exists() && Path::new(&out).join("scenario.json").exists());

    let out = place.text("d");
    let url_of_d = format!("sqlite:{}", place.text("movr.db"));
    let d = json(&["scenario", "run", "movr", "--scale", "0.01", "--url", &url_of_d, "--out", &out]);
    let figures = d["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 24, "{d:#}");
    assert!(figures.iter().all(|figure| figure["measured"].as_f64().is_some_and(|value| value > 0.0)), "{d:#}");
    assert_eq!(figure(&d, "join-index before, ms")["published"], 1061.0);

    // One's own, whose figures are there at once.
    let mine = "title = 't'\ntool = 't'\nsummary = 's'\n[[case]]\nname = 'c'\ncluster = 'x'\nramp = '0s'\n\
        duration = '3s'\nsteps = ['run --pacing none --ramp {ramp} --duration {duration}']\n\
        published = { nopm = 1000, new_order = { p99 = 5 } }\n";
    let (file, out) = (place.text("mine.toml"), place.text("c"));
    std::fs::write(&file, mine).unwrap();
    let ended = json(&["scenario", "run", &file, "--url", &url, "--out", &out]);
    for name in ["NOPM", "new_order p99, ms"] {
        assert!(figure(&ended, name)["ratio"].as_f64().unwrap() > 0.0, "{ended:#}");
    }
    for (bad, says) in
        [("nopm = 1000", "nopm = -1"), ("run --pacing", "run --out x --pacing"), ("name = 'c'", "name = ''")]
            .map(|(from, to)| (mine.replace(from, to), to))
    {
        std::fs::write(&file, bad).unwrap();
        let said = say(&["scenario", "show", &file]);
        assert!(said.status == 2 && said.stderr.lines().count() == 1, "{says}: {}", said.stderr);
    }
}

#[test]
fn published_sweeps_are_repeated_side_by_side() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    let target = |name: &str, database: &str| {
        server.create_database(database).unwrap();
        format!("{name}={}", server.url(database))
    };
    let (old, new, one, two) =
        (target("v2.1", "old"), target("v3.0", "new"), target("2.3@1", "one"), target("2.3@2", "two"));
    let short = ["--ramp", "0s", "--duration", "2s"];
    let alone = say(&["scenario", "run", "tidb"]);
    assert!(alone.status == 2 && alone.stderr.contains("--target v2.1=URL and --target v3.0=URL"), "{}", alone.stderr);
    let both = say(&["scenario", "run", "tidb", "--target", &old, "--url", "null:"]);
    assert!(both.status == 2 && both.stderr.contains("--url beside --target"), "{}", both.stderr);
    let out = place.text("c");
    let c =
        ["scenario", "run", "tidb", "--scale", "0.008", "--target", &old, "--target", &new, "--out", &out, "--replace"];
    let kept = say(&c[..c.len() - 1]);
    assert!(kept.status == 2 && kept.stderr.contains("say --replace"), "{}", kept.stderr);
    // Eight warehouses a load are too many for a test.
    let file = place.text("small.toml");
    let text = include_str!("../../../../scenarios/tidb.toml");
    std::fs::write(
        &file,
        text.replace("warehouses = 1000", "warehouses = 125").replace("[128, 256, 512]", "[128, 256]"),
    )
    .unwrap();
    let c: Vec<&str> = c.iter().map(|word| if *word == "tidb" { &file } else { *word }).collect();
    let ended = json(&[&c[..], &short].concat());
    let figures = ended["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 6, "{ended:#}");
    assert!(figures.iter().filter(|figure| figure["measured"].is_f64()).count() == 4, "{ended:#}");
    assert!(ended["differences"].to_string().contains("v3.0 against v2.1 at 1 warehouses"), "{ended:#}");

    let out = place.text("e");
    let small = place.text("nuodb.toml");
    let text = include_str!("../../../../scenarios/nuodb.toml").replace("per-node 10", "per-node 1").replace("64", "2");
    std::fs::write(&small, text).unwrap();
    let e = ["scenario", "run", &small, "--target", &one, "--target", &two, "--out", &out, "--replace"];
    let ended = json(&[&e[..], &short].concat());
    assert!(ended["figures"].as_array().unwrap().iter().any(|figure| figure["name"] == "NOPM, 2.3, 2 nodes"));
    let page = std::fs::read_to_string(Path::new(&out).join("sweep/report.html")).unwrap();
    assert!(page.contains("NOPM over nodes") && page.contains("ideal"), "no ideal scaling");
}

#[test]
fn a_mistake_in_a_scenario_is_told_by_its_place() {
    let place = Place::new();
    let file = place.text("mine.toml");
    std::fs::write(&file, "title = \"x\"\ntool = 3\n").unwrap();
    let said = say(&["scenario", "show", &file]);
    assert!(said.status == 2 && said.stderr.contains("mine.toml:2:8: "), "{}", said.stderr);
    assert_eq!(said.stderr.lines().count(), 1);
    let said = say(&["scenario", "run", "oracle"]);
    assert!(said.status == 2 && said.stderr.contains("known are cockroachdb"), "{}", said.stderr);
}
