//! Run folders: what is written can be read, after a crash too, and what is damaged is named.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use common::*;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use record::folder::{LATENCY_LOG, RUN_JSON, TIMELINE};
use record::latency_log::Interval;
use record::recorder::{Clock, Phase, Recorder};
use record::run::{Ended, RECORD_VERSION, RunRecord};
use record::timeline::Stage;
use record::{OpenedRun, RecordError, RunFolder, Summary, TimelineRow};

/// Writes a run of three seconds: one of ramp, two measured.
fn write(path: &Path, ended: Ended) -> RunRecord {
    let folder = RunFolder::create(path).unwrap();
    let mut record = RunRecord::new(plan(1, 2.0));
    record.started_at = Some("2026-11-21T14:03:07.250Z".parse().unwrap());
    record.target.version = "17.2 \"quoted\", with a comma".into();
    folder.write_record(&record).unwrap();
    let mut log = folder.latency_log(record.started_at.unwrap(), &record.plan).unwrap();
    let mut timeline = folder.timeline(&record.plan).unwrap();
    for second in 0..3u64 {
        let (stage, phase) =
            if second == 0 { (Stage::Ramp, Phase::Outside) } else { (Stage::Measured, Phase::Measured) };
        let interval = second_of(&record, phase, second);
        log.append(Duration::from_secs(second), Duration::from_secs(1), Interval::Recorded(&interval)).unwrap();
        timeline.append(&row(second, stage)).unwrap();
        record.add(&interval);
    }
    record.measured_seconds = 2.0;
    record.ended = ended;
    if record.ended != Ended::Running {
        folder.write_record(&record).unwrap();
    }
    record
}

fn second_of(record: &RunRecord, phase: Phase, second: u64) -> Recorder {
    let mut recorder = empty(&record.plan);
    for _ in 0..10 {
        recorder.transaction(NEW_ORDER, phase, &sample(100 + second));
        recorder.lag(phase, 250);
    }
    recorder.deferred(DELIVERY, phase, &sample(2_000));
    recorder
}

fn row(second: u64, stage: Stage) -> TimelineRow {
    TimelineRow {
        elapsed_s: (second + 1) as f64,
        stage,
        completed: vec![10, 0, 0, 0, 0],
        p90_ms: 100.5,
        rss_bytes: 1 << 30,
        waiting: 3,
        ..TimelineRow::default()
    }
}

fn opened(path: &Path) -> OpenedRun {
    RunFolder::open(path).unwrap()
}

fn error(path: &Path) -> String {
    let error = RunFolder::open(path).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error.replace(&format!("{}/", path.display()), "")
}

fn append(path: &Path, text: &[u8]) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text).unwrap();
}

#[test]
fn what_is_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("results/deep/run");
    let record = write(&path, Ended::Completed);
    let run = opened(&path);
    assert_eq!(run.record, record);
    assert_eq!(run.warnings, Vec::<String>::new());
    assert_eq!(run.timeline, [row(0, Stage::Ramp), row(1, Stage::Measured), row(2, Stage::Measured)]);
    assert_eq!(run.histograms.stats("new_order", Phase::Measured, Clock::Response).count, 20);
    assert_eq!(run.histograms.stats("new_order", Phase::Outside, Clock::Response).count, 10);
    assert_eq!(run.histograms.stats("delivery", Phase::Measured, Clock::Deferred).max, 2000.895);
    let tags: Vec<&str> = run.histograms.iter().map(|(tag, _)| tag).collect();
    for tag in ["lag", "outside.lag", "new_order.response", "outside.new_order.queue", "delivery.deferred"] {
        assert!(tags.contains(&tag), "{tag} in {tags:?}");
    }
    assert!(!tags.iter().any(|tag| tag.contains("payment")), "empty histograms are not written");
}

#[test]
fn histograms_read_back_are_those_that_were_measured() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(dir.path()).unwrap();
    let run = good(2, 600.0);
    folder.write_record(&run.record).unwrap();
    drop(folder.timeline(&run.record.plan).unwrap());
    let mut log = folder.latency_log(jiff::Timestamp::now(), &run.record.plan).unwrap();
    let mut dice = Dice(3);
    let mut expected = record::Histograms::default();
    for second in 0..20 {
        let mut recorder = empty(&run.record.plan);
        for _ in 0..500 {
            // From microseconds to beyond the bound.
            recorder.think(PAYMENT, Phase::Measured, (10f64.powf(dice.roll() * 9.2)) as u64);
        }
        log.append(Duration::from_secs(second), Duration::from_secs(1), Interval::Recorded(&recorder)).unwrap();
        expected.add(&recorder, &run.record.plan);
    }
    let read = opened(dir.path()).histograms;
    let buckets = |histograms: &record::Histograms| -> Vec<(u64, u64)> {
        histograms.get("payment.think").unwrap().buckets().collect()
    };
    assert_eq!(buckets(&read), buckets(&expected));
    assert_eq!(
        read.stats("payment", Phase::Measured, Clock::Think),
        expected.stats("payment", Phase::Measured, Clock::Think)
    );
}

#[test]
fn the_latency_log_is_in_the_common_format() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), Ended::Completed);
    let text = fs::read_to_string(dir.path().join(LATENCY_LOG)).unwrap();
    let head: Vec<&str> = text.lines().take(6).collect();
    assert_eq!(
        head,
        [
            "#[Histogram log format version 1.3]",
            "#[Values in microseconds, interval maximum in milliseconds]",
            "#[StartTime: 1795269787.250 (seconds since epoch)]",
            "#[BaseTime: 1795269787.250 (seconds since epoch)]",
            "#[MaxValueDivisor: 1000.000]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
        ]
    );
    assert_eq!(text.matches('#').count(), 5, "headers stand at the top alone");
    assert!(text.contains("\nTag=new_order.response,1.000,1.000,101.055,HISTFAAAA"), "{text}");
    let entries: Vec<_> = IntervalLogIterator::new(text.as_bytes()).collect::<Result<_, _>>().unwrap();
    let intervals = entries.iter().filter(|entry| matches!(entry, LogEntry::Interval(_))).count();
    assert_eq!(intervals, text.lines().count() - 6);
}

#[test]
fn a_folder_in_use_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    RunFolder::create(dir.path()).unwrap();
    RunFolder::create(dir.path()).unwrap();
    // What a kill may leave of the proof that the folder can be written.
    std::fs::write(dir.path().join(".probe"), [0; 100]).unwrap();
    RunFolder::create(dir.path()).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    write(dir.path(), Ended::Completed);
    let error = RunFolder::create(dir.path()).unwrap_err();
    assert!(matches!(error, RecordError::NotEmpty { .. }));
    assert!(error.to_string().ends_with("the run folder is not empty; name another with --out, or remove it"));
    let file = dir.path().join(RUN_JSON);
    assert!(matches!(RunFolder::create(&file).unwrap_err(), RecordError::Io { action: "create", .. }));
}

#[test]
fn a_folder_is_held_until_its_process_ends() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!record::folder::is_held(dir.path()) && !record::folder::is_held(&dir.path().join("nothing")));
    // Others who look are not taken for a holder.
    let looking = fs::File::open(dir.path()).unwrap();
    looking.lock_shared().unwrap();
    assert!(!record::folder::is_held(dir.path()));
    drop(looking);
    record::folder::hold(dir.path());
    assert!(record::folder::is_held(dir.path()));
    assert!(record::folder::wait_until_left(dir.path(), Duration::ZERO).is_err());
}

#[test]
fn a_killed_run_can_be_read_judged_and_shown() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), Ended::Running);
    let run = opened(dir.path());
    assert_eq!(run.warnings.len(), 1, "{:?}", run.warnings);
    assert_eq!(run.record.measured_seconds, 2.0);
    assert_eq!(run.record.counts[NEW_ORDER].measured.completed, 20);
    assert_eq!(run.record.counts[NEW_ORDER].outside.completed, 10);
    let summary = Summary::from_run(&run);
    assert_eq!(summary.nopm, 600.0);
    let verdict = record::judge(&run.record, &summary, &run.timeline);
    assert!(verdict.deviations.iter().any(|line| line.starts_with("run completed")), "{:?}", verdict.deviations);
}

#[test]
fn a_cut_last_line_is_left_out_and_said() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), Ended::Completed);
    let whole = opened(dir.path());
    for name in [LATENCY_LOG, TIMELINE] {
        let path = dir.path().join(name);
        let bytes = fs::read(&path).unwrap();
        let last = bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
        // Wherever the last line is cut, the rest is read.
        for end in last + 1..bytes.len() {
            fs::write(&path, &bytes[..end]).unwrap();
            let run = opened(dir.path());
            assert_eq!(run.warnings.len(), 1, "{name} cut at {end}");
            assert!(run.warnings[0].contains("the last line is cut off"), "{:?}", run.warnings);
        }
        fs::write(&path, &bytes[..last]).unwrap();
        assert_eq!(opened(dir.path()).warnings, Vec::<String>::new());
        fs::write(&path, &bytes).unwrap();
    }
    append(&dir.path().join(LATENCY_LOG), b"Tag=new_order.response,3.000,1.0");
    append(&dir.path().join(TIMELINE), b"4.000,measured,1\xff,");
    let run = opened(dir.path());
    assert_eq!(run.warnings.len(), 2);
    assert_eq!(run.timeline, whole.timeline);
}

#[test]
fn damage_elsewhere_is_an_error_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), Ended::Completed);
    for (name, line, expected) in [(LATENCY_LOG, 8, "latency.hlog:8: not a line"), (TIMELINE, 3, "timeline.csv:3: ")] {
        let path = dir.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        let cut = |(index, text): (usize, &str)| {
            if index + 1 == line { text[..text.len() / 2].to_owned() } else { text.to_owned() }
        };
        let lines: Vec<String> = text.lines().enumerate().map(cut).collect();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        assert!(error(dir.path()).starts_with(expected), "{}", error(dir.path()));
        fs::write(&path, text).unwrap();
    }
    let timeline = fs::read(dir.path().join(TIMELINE)).unwrap();
    fs::write(dir.path().join(LATENCY_LOG), &timeline).unwrap();
    assert!(error(dir.path()).starts_with("latency.hlog:1: not an HdrHistogram interval log"));
}

#[test]
fn garbled_files_are_refused_or_read_but_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), Ended::Completed);
    let mut dice = Dice(11);
    for name in [LATENCY_LOG, TIMELINE, RUN_JSON] {
        let path = dir.path().join(name);
        let bytes = fs::read(&path).unwrap();
        for _ in 0..300 {
            let mut garbled = bytes.clone();
            for _ in 0..3 {
                let at = (dice.roll() * garbled.len() as f64) as usize;
                garbled[at] = (dice.roll() * 256.0) as u8;
            }
            fs::write(&path, garbled).unwrap();
            if let Ok(run) = RunFolder::open(dir.path()) {
                let summary = Summary::from_run(&run);
                let _ = record::judge(&run.record, &summary, &run.timeline);
            }
        }
        fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn empty_and_missing_files() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(error(dir.path()), "run.json: no such file; is this a run folder?");
    write(dir.path(), Ended::Completed);
    // Killed before the first write.
    fs::write(dir.path().join(LATENCY_LOG), "").unwrap();
    fs::write(dir.path().join(TIMELINE), "elapsed_s,pha").unwrap();
    let run = opened(dir.path());
    assert_eq!(run.warnings.len(), 2, "{:?}", run.warnings);
    assert!(run.timeline.is_empty());
    fs::write(dir.path().join(TIMELINE), "a,b\n").unwrap();
    assert!(error(dir.path()).starts_with("timeline.csv:1: not the timeline of this run"));
    fs::remove_file(dir.path().join(TIMELINE)).unwrap();
    assert_eq!(error(dir.path()), "timeline.csv: no such file; is this a run folder?");
}

#[test]
fn a_bad_run_json_is_named_with_its_position() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), Ended::Completed);
    let path = dir.path().join(RUN_JSON);
    let text = fs::read_to_string(&path).unwrap();
    for (bad, expected) in [
        (String::new(), "run.json:1: not a run record: EOF"),
        ("{}".into(), "run.json:1: not a run record: missing field `record_version`"),
        ("\u{0}\u{1}".into(), "run.json:1: not a run record: expected value"),
        (text[..text.len() / 2].to_owned(), "run.json:"),
        (text.replace("\"warehouses\": 1", "\"warehouses\": \"one\""), "run.json:"),
    ] {
        fs::write(&path, bad).unwrap();
        assert!(error(dir.path()).starts_with(expected), "{}", error(dir.path()));
    }
}

#[test]
fn versions() {
    let dir = tempfile::tempdir().unwrap();
    let record = write(dir.path(), Ended::Completed);
    let path = dir.path().join(RUN_JSON);
    let mut value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    // A field of the same version that this tool does not know, and one that the record does not have.
    value["moon_phase"] = "full".into();
    value["plan"]["moon_phase"] = 0.5.into();
    value.as_object_mut().unwrap().remove("client");
    fs::write(&path, value.to_string()).unwrap();
    assert_eq!(opened(dir.path()).record, record);
    // A newer version may mean anything by its fields; it is refused for its number alone.
    fs::write(&path, format!("{{\"record_version\": {}, \"plan\": 7}}", RECORD_VERSION + 1)).unwrap();
    assert_eq!(
        error(dir.path()),
        "run.json: record version 2, and this tool reads versions up to 1; use a newer weighbridge"
    );
}

#[test]
fn a_record_is_replaced_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut record = write(dir.path(), Ended::Completed);
    let folder = RunFolder::create(&dir.path().join("other")).unwrap();
    folder.write_record(&record).unwrap();
    record.plan.mix = "45/43/4/4/4".into();
    folder.write_record(&record).unwrap();
    assert_eq!(record::folder::read_record(&folder.file(RUN_JSON)).unwrap(), record);
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, [RUN_JSON], "no draft is left behind");
}
