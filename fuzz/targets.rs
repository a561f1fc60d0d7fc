//! What is fuzzed: every reader of what comes from outside, and what is made of what it read.
//!
//! The functions are called by the targets of `cargo fuzz` and by the test `fuzz` of the crate `weighbridge`. They take
//! any bytes, and must neither panic nor ask for more memory than the input is worth; refusals are one line.

use std::path::Path;

use record::compare::{Compared, compare};
use record::merge::merge;
use record::sweep::{Sweep, SweepPlan};
use record::{RunFolder, Summary};
use workload::tpcc::acknowledged::{Acknowledged, Journal};

#[allow(dead_code, reason = "the program uses the rest")]
#[path = "../crates/weighbridge/src/scenario.rs"]
mod scenario;
#[allow(dead_code, reason = "the program uses the rest")]
#[path = "../crates/weighbridge/src/faults/schedule.rs"]
mod schedule;
#[path = "../crates/weighbridge/src/cli/time.rs"]
mod time;

/// Where the schedule looks for it.
use time::duration_or_zero;

/// A target: its name, which is that of its folder in `seeds`, and what it does with an input.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All of them.
pub(crate) const ALL: [Target; 8] = [
    ("url", url),
    ("scenario", scenario_file),
    ("run", run_json),
    ("latency", latency_log),
    ("timeline", timeline),
    ("sweep", sweep_json),
    ("ledger", ledger),
    ("faults", faults),
];

/// A whole run, into whose folder a damaged file is put.
const RUN: [(&str, &[u8]); 3] = [
    ("run.json", include_bytes!("seeds/run/small.json")),
    ("latency.hlog", include_bytes!("seeds/latency/small.hlog")),
    ("timeline.csv", include_bytes!("seeds/timeline/small.csv")),
];

/// A database's URL.
pub(crate) fn url(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match target::Gateways::parse(&[text]) {
        Ok(gateways) => {
            for url in gateways.urls() {
                let _ = (url.to_string(), format!("{url:?}"), url.host(), url.file());
            }
        }
        Err(e) => one_line(&e.to_string()),
    }
}

/// A scenario's file.
pub(crate) fn scenario_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match scenario::read("fuzzed.toml", text) {
        Ok(read) => {
            for case in &read.cases {
                for step in &case.steps {
                    for scale in [1.0, 1e-6, 1e6] {
                        let _ = case.lines(step, scale);
                    }
                }
            }
        }
        Err(e) => one_line(&e),
    }
}

/// A run's document.
pub(crate) fn run_json(data: &[u8]) {
    in_a_run("run.json", data);
}

/// A run's histograms.
pub(crate) fn latency_log(data: &[u8]) {
    in_a_run("latency.hlog", data);
}

/// A run's seconds.
pub(crate) fn timeline(data: &[u8]) {
    in_a_run("timeline.csv", data);
}

/// A sweep's plan, whose runs are not there.
pub(crate) fn sweep_json(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("sweep.json"), data).expect("a file is written");
    match SweepPlan::read(folder.path()).and_then(|_| Sweep::open(folder.path())) {
        Ok(sweep) => {
            let _ = (report::sweep_table(&sweep), report::sweep_markdown(&sweep), report::sweep_json(&sweep));
            let _ = report::sweep_page(&sweep).file();
        }
        Err(e) => one_line(&e.to_string()),
    }
}

/// A ledger of what was acknowledged: what is read of it is what is written of it again.
pub(crate) fn ledger(data: &[u8]) {
    match Acknowledged::parse(data) {
        Ok(read) => {
            let _ = read.abandoned();
            let mut journal = Journal::default();
            read.entries.iter().for_each(|(at_ms, entry)| journal.enter(*at_ms, *entry));
            let written = [&Journal::header(read.started_us), journal.bytes()].concat();
            let again = Acknowledged::parse(&written).expect("what was written can be read");
            assert_eq!((again.entries, again.started_us), (read.entries, read.started_us));
        }
        Err(e) => one_line(&e.to_string()),
    }
}

/// Faults: a schedule, or one as it is typed on the command line.
pub(crate) fn faults(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let typed = text.parse::<schedule::Fault>().map(|fault| vec![fault]);
    for read in [typed, schedule::read("fuzzed.toml", text)] {
        match read {
            Ok(faults) => {
                for fault in faults {
                    let _ = (fault.action.to_string(), fault.action.needs_proxy(), fault.action.needs_server());
                }
            }
            Err(e) => one_line(&e),
        }
    }
}

/// A run of which one file holds these bytes: read, judged, shown, merged and compared.
fn in_a_run(damaged: &str, data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    for (run, damaged) in [("damaged", Some(damaged)), ("whole", None)] {
        std::fs::create_dir(path(run)).expect("a folder is made");
        for (name, content) in RUN {
            let content = if damaged == Some(name) { data } else { content };
            std::fs::write(path(run).join(name), content).expect("a file is written");
        }
    }
    let opened = match RunFolder::open(&path("damaged")) {
        Ok(opened) => opened,
        Err(e) => return one_line(&e.to_string()),
    };
    let summary = Summary::from_run(&opened);
    let verdict = record::judge(&opened.record, &summary, &opened.timeline);
    let _ = report::table(&opened.record, &summary, &verdict);
    let _ = report::markdown(&opened.record, &summary, &verdict);
    let _ = report::json(&opened.record, &summary, &verdict);
    let _ = report::cockroach_lines(&opened.record, &summary);
    let _ = report::yugabyte_block(&opened, &summary);
    let _ = report::page(&opened, &summary, &verdict).file();
    let _ = report::live_parts(&opened, &summary);
    if let [Ok(damaged), Ok(whole)] = ["damaged", "whole"].map(|run| Compared::open(&path(run)))
        && let Ok(comparison) = compare(&[whole], &[damaged], true)
    {
        let _ = (report::compare_table(&comparison), report::compare_page(&comparison).file());
    }
    if let Err(e) = merge_with_whole(opened, &path("whole"), &path("merged")) {
        one_line(&e);
    }
}

fn merge_with_whole(damaged: record::OpenedRun, whole: &Path, out: &Path) -> Result<(), String> {
    let whole = RunFolder::open(whole).map_err(|e| e.to_string())?;
    merge(vec![damaged, whole], out, true).map(drop).map_err(|e| e.to_string())
}

/// A refusal is one line, whatever the input was.
fn one_line(error: &str) {
    assert!(error.lines().count() <= 1, "{error:?}");
}
