//! What is given for a run: folders, archives, series of runs, and records that somebody edited.

use std::path::Path;
use std::process::Command;

use crate::bad_input::refused;
use crate::support::{Place, done, json, say};

/// A run without a database, in the place, under this name.
fn run(place: &Place, name: &str) -> String {
    let out = place.text(name);
    let pace = ["--pacing", "none", "--connections", "2", "--ramp", "0s", "--duration", "2s"];
    done(&[&["run", "--url", "null:?latency=2ms", "--warehouses", "2", "--out", &out][..], &pace].concat());
    out
}

fn pack(place: &Place, archive: &str, names: &[&str]) -> String {
    let archive = place.text(archive);
    let flags = if archive.ends_with(".tar") { "-cf" } else { "-czf" };
    let packed = Command::new("tar").args(["-C", &place.text(""), flags, &archive]).args(names).status();
    assert!(packed.unwrap().success());
    archive
}

#[test]
fn archives_are_read_like_folders() {
    let place = Place::new();
    let one = run(&place, "one");
    run(&place, "two");
    let archive = pack(&place, "one.tar.gz", &["one"]);
    let [folder, packed] = [&one, &archive].map(|source| json(&["report", source]));
    assert_eq!((&folder["transactions"], &folder["verdict"]), (&packed["transactions"], &packed["verdict"]));
    assert_eq!(packed["folder"], archive.as_str());
    let comparison = json(&["compare", &one, &archive, "--force"]);
    assert_eq!((&comparison["decisive"]["ratio"], &comparison["new"][0]), (&1.0.into(), &archive.as_str().into()));

    refused(&["report", &archive, "--html"], 2, &["--out FILE"]);
    done(&["report", &archive, "--html", "--out", &place.text("page.html")]);
    assert!(place.path("page.html").exists());

    let (two, out) = (pack(&place, "both.tar", &["one", "two"]), place.text("merged"));
    for words in [&["report", &two][..], &["merge", &two, &one, "--out", &out], &["compare", &one, &two]] {
        refused(words, 1, &["both.tar: it holds 2 runs (one, two)"]);
    }
    let whole = std::fs::read(&archive).unwrap();
    std::fs::write(place.path("cut.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    refused(&["merge", &place.text("cut.tar.gz"), &one, "--out", &out], 1, &["cut.tar.gz: the archive ends too early"]);
    std::fs::write(place.path("odd.tgz"), "no archive").unwrap();
    refused(&["report", &place.text("odd.tgz")], 1, &["odd.tgz: not an archive that can be read: invalid gzip header"]);
    std::fs::write(place.path("odd.txt"), "no archive").unwrap();
    refused(&["report", &place.text("odd.txt")], 1, &["odd.txt: a file; give the folder of a run, or an archive"]);
    // What is wrong inside is told by the archive's name, which is the one that the user knows.
    std::fs::write(Path::new(&one).join("latency.hlog"), "hello\n").unwrap();
    let damaged = pack(&place, "damaged.tar", &["one"]);
    refused(&["report", &damaged], 1, &["damaged.tar/latency.hlog:1"]);
    assert!(!Path::new(&out).exists());
}

#[test]
fn a_series_is_no_run_and_its_folder_says_so() {
    let place = Place::new();
    let (out, other) = (place.text("series"), place.text("other"));
    let grid = ["--warehouses", "1,2", "--pacing", "none", "--ramp", "0s", "--duration", "1s", "--out", &out];
    done(&[&["sweep", "--url", "null:?latency=2ms"][..], &grid].concat());
    let runs = |folder: &str| [format!("{folder}/1w-r1"), format!("{folder}/2w-r1")];
    let [first, second] = runs(&out);
    for words in
        [&["compare", &out, &second][..], &["compare", &first, &out], &["merge", &out, &first, "--out", &other]]
    {
        refused(words, 1, &["series: the folder of a sweep, not of a run: `weighbridge report", "shows it"]);
    }
    std::fs::rename(Path::new(&out).join("sweep.json"), Path::new(&out).join("search.json")).unwrap();
    for words in [&["report", &out][..], &["compare", &out, &second]] {
        refused(
            words,
            1,
            &["a search, whose answer is in search.json", "weighbridge serve", "report", "/1w-r1` shows a part"],
        );
    }
    std::fs::rename(Path::new(&out).join("search.json"), Path::new(&out).join("scenario.json")).unwrap();
    refused(&["report", &out], 1, &["a scenario, whose answer is in scenario.json"]);
}

#[test]
fn a_record_that_was_edited_is_noticed() {
    let place = Place::new();
    let out = run(&place, "run");
    let file = Path::new(&out).join("run.json");
    let whole = std::fs::read_to_string(&file).unwrap();
    assert!(!done(&["report", &out]).stderr.contains("warning"), "the record as it was written");
    let record: serde_json::Value = serde_json::from_str(&whole).unwrap();
    let mut faster = record.clone();
    faster["summary"]["nopm"] = 1e9.into();
    let mut standard = record.clone();
    standard["verdict"]["status"] = "standard".into();
    let mut blameless = record.clone();
    blameless["plan"]["left_standard"] = serde_json::json!([]);
    for (edited, says) in [
        (&faster, "1000000000.00 New-Orders a minute and not "),
        (&standard, "verdict standard and not unconstrained"),
        (&blameless, "other deviations from the standard"),
    ] {
        std::fs::write(&file, edited.to_string()).unwrap();
        let said = say(&["report", &out]);
        assert!(said.stderr.contains("warning: ") && said.stderr.contains(says), "{says}: {}", said.stderr);
        let said = say(&["compare", &out, &out, "--force"]);
        assert!(said.stderr.contains(says), "{says}: {}", said.stderr);
    }
}
