//! A network that loses, damages, delays and cuts: every unknown outcome is looked up.

use lab::Proxy;

use crate::support::{Place, done, say};
use crate::{Run, sum};

/// A server behind a proxy, with one warehouse.
struct Behind {
    proxy: Proxy,
    url: String,
    place: Place,
    _server: lab::Postgres,
}

impl Behind {
    fn a_proxy() -> Option<Self> {
        let server = lab::postgres_or_skip()?;
        server.create_database("bench").unwrap();
        let proxy = Proxy::to(&format!("127.0.0.1:{}", server.port())).unwrap();
        let url = format!("postgres://postgres@{}/bench", proxy.address());
        done(&["load", "--url", &url]);
        Some(Self { proxy, url, place: Place::new(), _server: server })
    }

    /// Runs for some seconds, with `harm` after the first few.
    fn run(&self, name: &str, harm: impl FnOnce(&Proxy)) -> serde_json::Value {
        let mut run = Run::start(&self.url, &self.place.text(name), &["--connections", "4", "--duration", "8s"]);
        run.busy_seconds(3);
        harm(&self.proxy);
        let said = run.end();
        assert_eq!(self.proxy.pending(), 0, "all of it was done");
        serde_json::from_str(&said.stdout).unwrap_or_else(|e| panic!("{e}: {}", said.stderr))
    }
}

#[test]
fn an_answer_that_never_came_is_looked_up() {
    let Some(behind) = Behind::a_proxy() else { return };
    for (name, harm, expected) in [
        ("committed", Proxy::lose_answers_to_commit as fn(&Proxy, u32), (3, 0)),
        ("not", Proxy::lose_commits as fn(&Proxy, u32), (0, 3)),
    ] {
        let run = behind.run(name, |proxy| harm(proxy, 3));
        let audit = &run["audit"];
        assert_eq!((&audit["passed"], &run["failures"]["unknown"]), (&true.into(), &3.into()), "{run:#}");
        assert_eq!((sum(audit, "unknown", "committed"), sum(audit, "unknown", "not_committed")), expected, "{run:#}");
        assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
    }
    let text = done(&["report", &behind.place.text("committed")]).stdout;
    assert!(text.contains("3 unknown (COMMIT without an answer)") && text.contains("Audit: passed"), "{text}");
}

#[test]
fn damaged_answers_cost_connections_and_nothing_else() {
    let Some(behind) = Behind::a_proxy() else { return };
    let run = behind.run("damaged", |proxy| {
        proxy.truncate(3);
        proxy.garble(3);
    });
    // Some of it hits connections that are just being opened, which costs no transaction.
    assert!(run["failures"]["connection"].as_u64() > Some(0), "{run:#}");
    assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
    assert!(run["transactions"]["new_order"]["count"].as_u64() > Some(100), "{run:#}");
}

#[test]
fn a_network_is_cut_and_healed_by_a_schedule() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    let (place, url) = (Place::new(), server.url("bench"));
    done(&["load", "--url", &url]);
    let schedule = place.text("faults.toml");
    let faults = ["3s|delay node1 5ms", "4s|cut node1", "7s|heal node1", "9s|reset node1", "10s|command 'exit 7'"];
    let table = |fault: &str| {
        let (at, what) = fault.split_once('|').unwrap();
        format!("[[fault]]\nat = \"{at}\"\ndo = \"{what}\"\n")
    };
    std::fs::write(&schedule, faults.map(table).concat()).unwrap();
    let pace = ["--pacing", "none", "--connections", "4", "--ramp", "0s", "--duration", "14s", "--json"];
    let said = say(&[&["chaos", &schedule, "--url", &url, "--out", &place.text("run")], &pace[..]].concat());
    let run: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    let made = run["faults"].as_array().unwrap();
    assert_eq!(made.len(), 5, "{run:#}");
    assert!(made[..4].iter().all(|fault| fault["failed"].is_null()), "{run:#}");
    assert!(made[4]["what"] == "command 1" && made[4]["failed"].as_str().unwrap().contains('7'), "{run:#}");
    assert_eq!(run["audit"]["passed"], true, "{run:#}");
    assert_eq!(run["reconciliation"]["passed"], true, "{run:#}");
    let silent = run["outages"].as_array().unwrap().iter().map(|outage| outage["silent_seconds"].as_f64().unwrap());
    assert!(silent.fold(0.0, f64::max) >= 2.5, "three seconds of silence are seen: {run:#}");
    assert!(said.stderr.contains("fault: cut node1"), "{}", said.stderr);
    assert!(run["verdict"]["deviations"].to_string().contains("faults were made on purpose"), "{run:#}");
}
