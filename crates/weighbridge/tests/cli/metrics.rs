//! A run told to others while it goes: to a real Prometheus, whose figures are held against the run's record.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use record::recorder::{Clock, Phase};
use record::{Histogram, latency_log};
use serde_json::Value;

use crate::serve::lines;
use crate::support::{Place, weighbridge};

/// How much wider a bucket of the native histograms is at its upper edge than at its lower one, and a little.
const BUCKET: f64 = 1.045;

/// Debian's Prometheus, which takes native histograms; ended with this value.
struct Prometheus {
    child: Child,
    host: String,
}

impl Prometheus {
    /// One that asks `target` twice a second, and keeps what it gets in `place`. None if it is not installed.
    fn start(place: &Place, target: &str) -> Option<Self> {
        let config = format!(
            "global: {{scrape_interval: 500ms}}\nscrape_configs: [{{job_name: w, static_configs: [{{targets: [\"{target}\"]}}]}}]"
        );
        std::fs::write(place.path("prometheus.yml"), config).unwrap();
        let started = Command::new("prometheus")
            .args(["--web.listen-address=127.0.0.1:0", "--enable-feature=native-histograms", "--log.format=json"])
            .arg(format!("--config.file={}", place.text("prometheus.yml")))
            .arg(format!("--storage.tsdb.path={}", place.text("prometheus")))
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut child) = started else {
            assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "prometheus is not installed here");
            eprintln!("skipped: prometheus is not installed here: try `apt-get install prometheus`");
            return None;
        };
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let host = said.by_ref().find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            (line["msg"] == "Listening on").then(|| line["address"].as_str().map(str::to_owned))?
        });
        std::thread::spawn(move || said.for_each(drop));
        Some(Prometheus { child, host: host.expect("an address") })
    }

    /// The one value that a query finds at a time, if there is any.
    fn query(&self, query: &str, time: &str) -> Option<f64> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = lines(&self.host, &format!("/api/v1/query?query={query}&time={time}"));
        let answer: Value = serde_json::from_str(&answer.last()?).unwrap();
        assert_eq!(answer["status"], "success", "{answer}");
        answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_run_is_told_to_prometheus() {
    let place = Place::new();
    let out = place.text("run");
    // Prometheus takes five seconds to begin to ask.
    let arguments = ["run", "--warehouses", "2", "--pacing", "none", "--ramp", "1s", "--duration", "9s", "--out", &out];
    let mut command =
        weighbridge(&[&arguments[..], &["--url", "null:?latency=1ms", "--metrics", "127.0.0.1:0"]].concat());
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines().map(|line| line.unwrap());
    let host = said.find_map(|line| Some(line.strip_prefix("metrics: http://")?.strip_suffix("/metrics")?.to_owned()));
    let host = host.unwrap();
    let prometheus = Prometheus::start(&place, &host);
    // A line of the table is a second of the run, which was told before.
    let mut seconds = said.by_ref().filter(|line| line.contains("ramp") || line.contains("measured  "));

    let completed = "weighbridge_transactions_total{transaction=\"new_order\",part=\"terminal\"}";
    let text = || -> Option<f64> {
        lines(&host, "/metrics").find_map(|line| line.strip_prefix(completed)?.trim().parse().ok())
    };
    let mut told = Vec::new();
    while told.len() < 2 {
        seconds.next().expect("a second of the run");
        told.extend(text().filter(|now| told.last() != Some(now)));
    }
    assert!(told[0] < told[1], "{told:?}");
    let mut stream = TcpStream::connect(&host).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").unwrap();
    assert!(BufReader::new(stream).lines().next().unwrap().unwrap().contains("421"));

    let times = "weighbridge_transaction_response_seconds{transaction=\"new_order\",part=\"terminal\"}";
    let mut found = None;
    if let Some(prometheus) = &prometheus {
        check_text(&host);
        for _ in seconds {
            let time = jiff::Timestamp::now().as_millisecond() as f64 / 1e3;
            let at = |query: String| prometheus.query(&query, &time.to_string());
            let count = at(format!("histogram_count({times})"));
            let quantile = at(format!("histogram_quantile(0.9, {times})"));
            found = count.zip(quantile).map(|(count, quantile)| (count, quantile, at(completed.to_owned()))).or(found);
        }
    }
    said.for_each(drop);
    assert!(run.wait().unwrap().success());
    if prometheus.is_some() {
        let (count, quantile, completed) = found.expect("Prometheus has a native histogram");
        assert_eq!(Some(count), completed);
        let recorded = recorded_until(&place, count as u64).quantile_us(0.9) as f64 / 1e6;
        assert!((recorded / BUCKET..=recorded * BUCKET).contains(&quantile), "{quantile} s, recorded {recorded} s");
    }
}

/// Has Prometheus' own tool look for what is wrong with the text.
fn check_text(host: &str) {
    let answer: Vec<String> = lines(host, "/metrics").collect();
    let body = answer.iter().skip_while(|line| !line.is_empty()).skip(1);
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = promtool.stdin.take().unwrap();
    body.for_each(|line| writeln!(input, "{line}").unwrap());
    drop(input);
    let said = promtool.wait_with_output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

/// The response times of New-Order in the first seconds of a run, as many as there are in `count` of them.
fn recorded_until(place: &Place, count: u64) -> Histogram<u64> {
    let tags = Phase::ALL.map(|phase| latency_log::tag("new_order", phase, Clock::Response));
    let log = place.path("run").join(record::folder::LATENCY_LOG);
    let seconds =
        latency_log::read_seconds(&log, |tag| tags.iter().any(|known| known == tag), &mut Vec::new()).unwrap();
    let mut sum = Histogram::new();
    for (_, second) in seconds.histograms() {
        second.iter().for_each(|(_, histogram)| sum.merge(histogram));
        if sum.count() >= count {
            break;
        }
    }
    assert_eq!(sum.count(), count);
    sum
}
