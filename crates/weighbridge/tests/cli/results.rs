//! Results alone: claims judged, runs compared and merged.

use std::process::{Command, Stdio};

use crate::support::{Place, done, json, say, weighbridge};

#[test]
fn a_claim_that_cannot_be_is_told_why() {
    // 25,646 of 500 warehouses: four times what the waits allow.
    let said = say(&["verify", "--warehouses", "500", "--tpmc", "25646"]);
    assert_eq!(said.status, 3, "{}", said.stderr);
    for words in ["This can't be", "398.8 %", "<= 6430 a minute", "3.99 times", "1995 warehouses", "4.1.3"] {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
    let good = json(&["verify", "-w", "1000", "--tpmc", "12,600", "--terminals", "10000", "--duration", "2h"]);
    assert_eq!((&good["possible"], &good["answer"]), (&true.into(), &"This can be.".into()));
    // With answers of a second the same terminals can't give so many.
    let slow = say(&["verify", "-w", "1000", "--tpmc", "12600", "--response", "1s"]);
    assert!(slow.status == 3 && slow.stdout.contains("a mean of at most"), "{}", slow.stdout);
    let few = done(&["verify", "-w", "1000", "--tpmc", "8000"]).stdout;
    assert!(few.contains("does not meet the standard") && few.contains("8.00 for each of 1000"), "{few}");
    for bad in
        [&["verify", "-w", "1"][..], &["verify", "-w", "0", "--tpmc", "1"], &["verify", "-w", "1", "--tpmc", "x"]]
    {
        assert_eq!(say(bad).status, 2);
    }
}

#[test]
fn two_clients_make_one_result_and_two_runs_are_compared() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let (url, place) = (server.url("bench"), Place::quiet());
    done(&["load", "--url", &url, "--warehouses", "2"]);
    let run = |first: &str, warehouses: &str, out: &str| {
        let slice =
            ["run", "--url", &url, "--first-warehouse", first, "--warehouses", warehouses, "--total-warehouses", "2"];
        let pace =
            ["--pacing", "none", "--connections", "2", "--ramp", "1s", "--duration", "12s", "--out", out, "--json"];
        let place = ["--region", if first == "1" { "east" } else { "west" }];
        weighbridge(&[&slice[..], &pace, &place].concat())
    };
    let folders = ["one", "two", "again", "all"].map(|name| place.text(name));
    let [one, two, again, all] = folders.each_ref().map(String::as_str);
    let quiet = |mut command: Command| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut clients = [quiet(run("1", "1", one)), quiet(run("2", "1", two))];
    assert!(clients.iter_mut().all(|client| client.wait().unwrap().success()));

    let merged = json(&["merge", two, one, "--out", all]);
    assert_eq!((&merged["warehouses"], &merged["connections"]), (&2.into(), &4.into()));
    let parts = [one, two].map(|part| json(&["report", part]));
    let count = |run: &serde_json::Value| run["transactions"]["new_order"]["count"].as_u64().unwrap();
    assert_eq!(count(&merged), parts.iter().map(count).sum::<u64>());
    assert_eq!(merged["reconciliation"]["passed"], true, "{merged:#}");
    assert_eq!(merged["clients"].as_array().unwrap().len(), 2);
    let deviations = merged["verdict"]["deviations"].as_array().unwrap();
    let terminals: Vec<_> = deviations.iter().filter(|line| line.as_str().unwrap().contains("terminals")).collect();
    assert_eq!(terminals, ["4 terminals instead of 20 (4.2.2)"], "said once, of all");
    let regions = merged["regions"].as_array().unwrap();
    let named: Vec<_> = regions.iter().map(|region| (region["region"].as_str().unwrap(), &region["clients"])).collect();
    assert_eq!(named, [("east", &1.into()), ("west", &1.into())]);
    let rates: f64 = regions.iter().map(|region| region["nopm"].as_f64().unwrap()).sum();
    assert!((rates - merged["nopm"].as_f64().unwrap()).abs() < 1e-6, "{merged:#}");
    let text = done(&["report", all]).stdout;
    assert!(text.contains("start +s") && text.contains("1-1") && text.contains("2-2"), "{text}");
    // The same from archives, whose names stand in the result.
    let pack = |name: &str, flags: &str, archive: &str| {
        let archive = place.text(archive);
        let packed = Command::new("tar").args(["-C", &place.text(""), flags, &archive, name]).status().unwrap();
        assert!(packed.success());
        archive
    };
    let archives = [pack("one", "-czf", "one.tar.gz"), pack("two", "-cf", "two.tar")];
    let unpacked = json(&["merge", &archives[0], &archives[1], "--out", &place.text("unpacked")]);
    assert_eq!(unpacked["transactions"], merged["transactions"]);
    assert_eq!(unpacked["clients"][0]["folder"], archives[0].as_str());
    std::fs::write(place.path("bad.tgz"), "no archive").unwrap();
    let bad = say(&["merge", one, &place.text("bad.tgz"), "--out", &place.text("bad")]);
    assert!(bad.status == 1 && bad.stderr.contains("bad.tgz: not an archive"), "{}", bad.stderr);
    if cfg!(feature = "object-store") {
        // The local disk as a store: a run's objects, and an archive as one object.
        let [first, second] = [one, &archives[1]].map(|path| format!("file://{path}"));
        let stored = json(&["merge", &first, &second, "--out", &place.text("stored")]);
        assert_eq!(stored["transactions"], merged["transactions"]);
        let nothing = say(&["merge", &first, &format!("{first}-not-there"), "--out", &place.text("bad")]);
        assert!(nothing.status == 1 && nothing.stderr.contains("nothing is there"), "{}", nothing.stderr);
    }
    let twice = say(&["merge", one, one, "--out", &place.text("twice")]);
    assert!(twice.status == 2 && twice.stderr.contains("both drove warehouse 1"), "{}", twice.stderr);

    // The same database by one client: not the same slice, and said.
    quiet(run("1", "2", again)).wait().unwrap();
    let text = done(&["compare", all, again]).stdout;
    assert!(text.contains("New-Orders a minute") && text.contains("plan.threads"), "{text}");
    assert!(text.contains("fewer than 3 runs a side"), "{text}");
    let markdown = done(&["compare", all, again, "--format", "markdown"]).stdout;
    assert!(markdown.contains("| New-Order response time, p99, ms |"), "{markdown}");
    let document: serde_json::Value =
        serde_json::from_str(&done(&["compare", one, one, "--format", "json"]).stdout).unwrap();
    assert_eq!((&document["decisive"]["ratio"], &document["decisive"]["significant"]), (&1.0.into(), &false.into()));
    assert_eq!(say(&["compare", one, one, "--fail-if-slower", "5%"]).status, 0);

    let nothing = say(&["compare", one, &place.text("nosuch")]);
    assert!(nothing.status == 1 && nothing.stderr.contains("nosuch"), "{}", nothing.stderr);
    assert_eq!(say(&["compare", one, two, "--fail-if-slower", "5"]).status, 2);
    // With the waits of the standard a run measures something else.
    let record = place.path("two").join("run.json");
    let changed = std::fs::read_to_string(&record).unwrap().replace("\"left_standard\": [", "\"left\": [");
    std::fs::write(&record, changed).unwrap();
    let refused = say(&["compare", one, two]);
    assert!(refused.status == 2 && refused.stderr.contains("measure different things"), "{}", refused.stderr);
    assert!(done(&["compare", one, two, "--force"]).stdout.contains("COMPARED BY FORCE"), "{}", refused.stderr);
}

#[test]
fn a_slower_server_is_found() {
    let place = Place::quiet();
    let run = |latency: &str, seed: &str| {
        let (url, out) = (format!("null:?latency={latency}&spread=4ms"), place.text(latency));
        let load = ["--warehouses", "8", "--pacing", "none", "--connections", "8", "--seed", seed];
        done(&[&["run", "--url", &url, "--ramp", "1s", "--duration", "15s", "--out", &out][..], &load].concat());
        out
    };
    // Twice as slow: from runs this short less may well be within chance.
    let (quick, slow) = (run("10ms", "1"), run("20ms", "2"));
    let said = say(&["compare", &quick, &slow, "--fail-if-slower", "5%", "--html", &place.text("page.html")]);
    assert!(said.status == 3 && said.stdout.contains("New is worse: 0."), "{}", said.stdout);
    let back = json(&["compare", &slow, &quick, "--fail-if-slower", "5%"]);
    assert_eq!(back["decisive"]["significant"], true);
    assert!(back["decisive"]["ratio"].as_f64().unwrap() > 1.1, "{back:#}");
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("New is worse") && !page.contains("plan.seed"), "the answer is not on the page");
}
