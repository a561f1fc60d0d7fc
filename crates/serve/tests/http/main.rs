//! The server through real requests: what it shows, and what it refuses.
#![allow(clippy::unwrap_used, reason = "tests")]

mod client;
mod refusals;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use client::{Served, finish};
use record::plan::Pacing;
use record::sweep::{PlannedRun, Point, SWEEP_VERSION, SweepPlan};

/// A run to the standard, from which the small one departs.
fn standard(record: &mut record::RunRecord) {
    record.plan.nonstandard.clear();
    record.plan.pacing = Pacing::Standard;
}

#[test]
fn the_list_shows_what_there_is_newest_first() {
    let served = Served::new();
    let empty = served.get("/");
    assert!(empty.status == 200 && empty.body.contains("weighbridge demo"), "{}", empty.body);
    served.run("old", |record| record.started_at = Some("2026-01-01T00:00:00Z".parse().unwrap()));
    served.run("deep/er/new", |record| {
        record.started_at = Some("2026-03-01T00:00:00Z".parse().unwrap());
        record.target.kind = "postgres".to_owned();
        record.target.version = "PostgreSQL 17.2".to_owned();
    });
    let list = served.get("/").body;
    let at = |text: &str| list.find(text).unwrap_or_else(|| panic!("no {text} in {list}"));
    assert!(at(">deep/er/new</a>") < at(">old</a>"));
    assert!(list.contains("href=\"/runs/deep/er/new\"") && list.contains("NOPM") && list.contains("unconstrained"));
    assert!(list.contains("2026-03-01 00:00") && list.contains("<caption>Results, newest first</caption>"));

    for (question, found, other) in [
        ("q=POSTGRES+17.2", ">deep/er/new</a>", ">old</a>"),
        ("database=null", ">old</a>", ">deep/er/new</a>"),
        ("q=old&verdict=unconstrained", ">old</a>", ">deep/er/new</a>"),
    ] {
        let list = served.get(&format!("/?{question}")).body;
        assert!(list.contains(found) && !list.contains(other) && list.contains("1 result."), "{question}: {list}");
    }
    assert!(served.get("/?verdict=standard").body.contains("None of 2 results is like that."));
    // What was asked stands in the form again.
    assert!(served.get("/?q=%22%3Cb%3E").body.contains("value=\"&quot;&lt;b&gt;\""));
}

#[test]
fn a_long_list_has_pages() {
    let served = Served::new();
    let acid = report::acid_json(&record::acid::AcidResult::default()).to_string();
    for number in 0..450 {
        fs::write(served.path(&format!("{number:03}.json")), &acid).unwrap();
    }
    let rows = |question: &str| served.get(question).body.matches("<th scope=\"row\"").count();
    assert_eq!(["/", "/?page=2", "/?page=3", "/?page=9&q=acid", "/?page=x"].map(rows), [200, 200, 50, 50, 200]);
    let second = served.get("/?q=json&page=2&kind=acid").body;
    assert!(second.contains("href=\"/?q=json&amp;kind=acid&amp;page=1\""));
}

#[test]
fn a_result_that_changes_is_read_again() {
    let served = Served::new();
    let path = served.run("run", |_| {});
    assert!(served.get("/").body.contains(">null<"));
    fs::remove_dir_all(&path).unwrap();
    assert!(!served.get("/").body.contains("/runs/run"));
    served.run("run", |record| record.target.kind = "mariadb".to_owned());
    assert!(served.get("/").body.contains(">mariadb<"));
    assert!(!served.get("/").body.contains("\"note\">workload "), "TPC-C is not named at each run");
    served.run("other", |record| {
        record.plan.workload = "bank".to_owned();
        record.plan.workload_file = "0123456789abcdef".to_owned();
    });
    assert!(served.get("/?q=bank").body.contains("<span class=\"note\">workload bank</span>"));
}

#[test]
fn a_finished_run_is_the_page_that_lies_in_its_folder() {
    let served = Served::new();
    let path = served.run("2026 run", |_| {});
    let page = served.get("/runs/2026%20run");
    assert_eq!(page.status, 200);
    let opened = record::RunFolder::open(&path).unwrap();
    let summary = record::Summary::from_run(&opened);
    let verdict = record::judge(&opened.record, &summary, &opened.timeline);
    let expected = report::page(&opened, &summary, &verdict);
    assert!(page.body.contains(&expected.header.into_string()));
    assert!(
        page.body.contains("id=\"throughput-over-time\"") && page.body.contains("<script type=\"application/json\">")
    );
    // What belongs to the folder's own page is the same here, and fetched from here.
    for (asset, text) in [("/script.js", report::SCRIPT), ("/style.css", report::STYLE)] {
        let answer = served.get(asset);
        assert!(page.body.contains(asset) && answer.status == 200 && answer.body.starts_with(text));
    }
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!((page.header("x-content-type-options"), page.header("cache-control")), ("nosniff", "no-store"));
    assert!(page.header("referrer-policy") == "same-origin");
    let head =
        served.ask(&format!("HEAD /runs/2026%20run HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address));
    assert!(head.status == 200 && head.body.is_empty());
}

#[test]
fn runs_are_compared() {
    let served = Served::new();
    let at = |minute| Some(format!("2026-01-01T00:0{minute}:00Z").parse().unwrap());
    served.run("first", |record| record.started_at = at(1));
    served.run("again", |record| record.started_at = at(2));
    served.run("other", |record| (record.started_at, record.plan.style) = (at(3), "row".to_owned()));
    served.run("third", |record| (record.started_at, record.plan.style) = (at(4), "pipeline".to_owned()));
    served.run("paced", standard);

    let picked = served.get("/compare?run=other&run=first&run=again");
    assert_eq!((picked.status, picked.header("location")), (303, "/compare?base=first&base=again&new=other"));
    let page = served.get(picked.header("location")).body;
    assert!(
        page.contains("New-Orders a minute") && page.contains("plan.style") && page.contains("href=\"/runs/again\"")
    );

    let several = served.get("/compare?base=first&new=other&new=third").body;
    for pair in ["/compare?base=first&amp;new=other", "/compare?base=first&amp;new=third"] {
        assert!(several.contains(pair), "{several}");
    }
    let all = served.get("/compare?run=again&run=first");
    assert_eq!(all.header("location"), "/compare?base=first&new=again");

    let unlike = served.get("/compare?base=first&new=paced");
    assert_eq!(unlike.status, 422);
    assert!(unlike.body.contains("standard and unconstrained runs measure different things"), "{}", unlike.body);
    let forced = served.get("/compare?base=first&new=paced&force=on");
    assert!(forced.status == 200 && forced.body.contains("Compared by force"), "{}", forced.body);
    for (wrong, why) in [
        ("run=first", "two runs at least"),
        ("base=first", "two sides"),
        ("base=first&new=nothing", "nothing: there is no such run"),
        ("base=first&new=..%2F..%2Fetc", "there is no such run"),
    ] {
        let answer = served.get(&format!("/compare?{wrong}"));
        assert!(answer.status == 422 && answer.body.contains(why), "{wrong}: {}", answer.body);
    }
}

#[test]
fn a_series_shows_its_runs() {
    let served = Served::new();
    let point = |connections| Point { nodes: 1, connections: Some(connections), ..Point::default() };
    let run = |point, folder: &str| PlannedRun { point, repetition: 1, seed: 4, folder: folder.to_owned() };
    let plan = SweepPlan {
        sweep_version: SWEEP_VERSION,
        points: vec![point(1), point(2)],
        runs: vec![run(0, "1c-r1"), run(1, "2c-r1")],
        ..SweepPlan::default()
    };
    plan.create(&served.path("sweep")).unwrap();
    served.run("sweep/1c-r1", |record| record.plan.connections = 1);
    served.run("sweep/2c-r1", |record| record.plan.connections = 2);
    served.run("alone", |_| {});
    let list = served.get("/").body;
    assert!(
        list.contains("sweep: 2 points, 2 runs") && list.contains("up to") && list.contains("2 results."),
        "{list}"
    );
    assert!(served.get("/?inner=on").body.contains("4 results."));
    let page = served.get("/sweeps/sweep").body;
    assert!(page.contains("NOPM over connections") && page.contains("href=\"/runs/sweep/1c-r1\""), "{page}");
    assert!(served.get("/runs/sweep/2c-r1").body.contains("href=\"/sweeps/sweep\""));
    // Every kind has one address.
    assert_eq!(served.get("/runs/sweep").header("location"), "/sweeps/sweep");

    // A plan can't make the server look elsewhere.
    let text = fs::read_to_string(served.path("sweep/sweep.json")).unwrap();
    fs::write(served.path("sweep/sweep.json"), text.replace("2c-r1", "../alone")).unwrap();
    let page = served.get("/sweeps/sweep");
    assert!(page.status == 422 && page.body.contains("not a sweep"), "{}", page.body);
}

#[test]
fn documents_are_recognised_by_what_is_in_them() {
    let served = Served::new();
    let (base, new) = (served.run("base", |_| {}), served.run("new", |_| {}));
    let side = |path| vec![record::compare::Compared::open(path).unwrap()];
    let comparison = record::compare::compare(&side(&base), &side(&new), false).unwrap();
    fs::write(served.path("difference.json"), report::compare_json(&comparison).to_string()).unwrap();
    let acid = record::acid::AcidResult { warehouses: 1, ..Default::default() };
    fs::write(served.path("acid.json"), report::acid_json(&acid).to_string()).unwrap();
    let lesson = record::tuning::LessonResult { title: "Rows <in> bulk".to_owned(), ..Default::default() };
    let tuning = record::tuning::TuningResult { lessons: vec![lesson], ..Default::default() };
    fs::write(served.path("tuning.json"), report::tuning_json(&tuning).to_string()).unwrap();
    let regions = record::regions::RegionsResult { regions: vec!["<eu>".to_owned()], ..Default::default() };
    fs::write(served.path("regions.json"), report::regions_json(&regions).to_string()).unwrap();
    let timed = record::timing::Timed { statement: "select <1>".to_owned(), ..Default::default() };
    let times = record::timing::TimeResult { statements: vec![timed], ..Default::default() };
    fs::write(served.path("times.json"), report::time_json(&times).to_string()).unwrap();
    let advice = record::advice::Advice { statement: "select <2>".to_owned(), ..Default::default() };
    fs::write(served.path("advice.json"), report::advice_json(&[advice]).to_string()).unwrap();
    fs::write(served.path("other.json"), "{\"a\": 1}").unwrap();
    fs::create_dir(served.path("search")).unwrap();
    let trials = "{\"warehouses\": 4, \"fails_at\": 8, \"trials\": [{\"warehouses\": 8, \"verdict\": \"invalid\", \"reasons\": [\"too <slow>\"]}]}";
    fs::write(served.path("search/search.json"), trials).unwrap();
    fs::create_dir(served.path("scenario")).unwrap();
    let figures = "{\"scenario\": \"tidb\", \"case\": \"1000\", \"figures\": [{\"name\": \"tpmC\", \"published\": 1200, \"measured\": 600, \"ratio\": 0.5}]}";
    fs::write(served.path("scenario/scenario.json"), figures).unwrap();

    let list = served.get("/").body;
    assert!(!list.contains("other.json") && list.contains("10 results."), "{list}");
    for (link, says) in [
        ("/comparisons/difference.json", "too short, or too few"),
        ("/acid/acid.json", "ACID as clause 3 asks for it"),
        ("/regions/regions.json", "What distance costs"),
        ("/tuning/tuning.json", "Rows &lt;in&gt; bulk"),
        ("/times/times.json", "select &lt;1&gt;"),
        ("/advice/advice.json", "select &lt;2&gt;"),
        ("/searches/search", "too &lt;slow&gt;"),
        ("/scenarios/scenario", "Scenario tidb, case 1000"),
    ] {
        let page = served.get(link);
        assert!(list.contains(&format!("href=\"{link}\"")), "{link}: {list}");
        assert!(page.status == 200 && page.body.contains(says), "{link}: {}", page.body);
    }
    assert_eq!(served.get("/runs/other.json").status, 404);
}

#[test]
fn a_run_is_told_as_it_goes() {
    let served = Served::new();
    let path = served.under_way("live", |_| {});
    let list = served.get("/").body;
    assert!(list.contains("under way") && !list.contains("value=\"live\""), "{list}");
    let page = served.get("/runs/live").body;
    assert!(page.contains("data-events=\"/live/live\"") && page.contains("pending") && page.contains("/live.js"));
    assert!(page.contains("<noscript><meta http-equiv=\"refresh\""), "{page}");
    assert!(page.contains("throughput-over-time"));

    let stream = served.send(&format!("GET /live/live HTTP/1.1\r\nHost: {}\r\n\r\n", served.address));
    let mut lines = BufReader::new(stream).lines().map(|line| line.unwrap());
    assert!(lines.any(|line| line == "content-type: text/event-stream"));
    let mut next = || lines.by_ref().find(|line| line.starts_with("event: ")).unwrap();
    assert_eq!(next(), "event: parts");
    let mut timeline = fs::read_to_string(path.join("timeline.csv")).unwrap();
    timeline.push_str(&timeline.lines().last().unwrap().replace("3.034", "4.034"));
    timeline.push('\n');
    fs::write(path.join("timeline.csv"), timeline).unwrap();
    assert_eq!(next(), "event: parts");
    finish(&path);
    // One more may have been under way.
    let last = next();
    assert!(last == "event: end" || next() == "event: end");
    let page = served.get("/runs/live").body;
    assert!(page.contains("verdict: <strong>unconstrained</strong>") && !page.contains("/live.js"), "{page}");
}

/// A run that has written nothing for an hour.
fn silent(served: &Served, name: &str) -> PathBuf {
    let path = served.under_way(name, |_| {});
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    for file in ["run.json", "timeline.csv"] {
        fs::File::options().append(true).open(path.join(file)).unwrap().set_modified(long_ago).unwrap();
    }
    path
}

#[test]
fn a_run_whose_process_is_there_is_under_way_however_silent_it_is() {
    let served = Served::new();
    let path = silent(&served, "silent");
    let process = fs::File::open(&path).unwrap();
    process.lock().unwrap();
    assert!(served.get("/").body.contains("under way"));
    assert!(served.get("/runs/silent").body.contains("pending"));
    drop(process);
    assert!(!served.get("/").body.contains("under way"));
    assert!(served.get("/runs/silent").body.contains("the run did not end"));
}

#[test]
fn a_run_that_was_killed_is_shown_as_far_as_it_came() {
    let served = Served::new();
    silent(&served, "killed");
    let page = served.get("/runs/killed").body;
    assert!(page.contains("the run did not end") && page.contains("id=\"verdict\""), "{page}");
    assert!(!page.contains(&served.folder.path().display().to_string()), "the place on this machine");
    let events = served.get("/live/killed").body;
    assert!(events.contains("event: end\ndata: the") && !events.contains("event: parts"), "{events}");
    assert!(
        served.get("/").body.contains("class=\"mark invalid\"")
            || served.get("/").body.contains("class=\"mark unconstrained\"")
    );
}

#[test]
fn tags_are_kept_found_and_shown() {
    let served = Served::with(|options| options.writable = true);
    served.run("run", |_| {});
    served.run("other", |_| {});
    let origin = format!("Origin: http://{}\r\n", served.address);
    let kept = served.post("/tags", "address=run&tags=nightly%2C%3Cb%3E", &origin);
    assert_eq!((kept.status, kept.header("location")), (303, "/runs/run#tags"), "{}", kept.body);
    let page = served.get("/runs/run").body;
    assert!(page.contains("value=\"&lt;b&gt;, nightly\"") && page.contains("href=\"/?tag=nightly\""), "{page}");
    for question in ["tag=nightly", "q=NIGHTLY"] {
        let list = served.get(&format!("/?{question}")).body;
        assert!(list.contains("/runs/run") && !list.contains("/runs/other"), "{list}");
    }
    assert_eq!(served.post("/tags", "address=nothing&tags=x", &origin).status, 404);
    let endless = format!("address=run&tags={}", "x".repeat(50));
    assert_eq!(served.post("/tags", &endless, &origin).status, 422);
}
