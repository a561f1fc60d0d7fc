//! A run's metrics sent to a collector: what arrives, held against the record, and collectors that don't answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc;

use prost::Message;
use report::otlp::message::{Data, ExportMetricsServiceRequest, KeyValue, Metric};

use crate::support::{Place, Said, say, weighbridge};

/// A request as it arrived.
struct Request {
    head: String,
    body: ExportMetricsServiceRequest,
}

/// Reads a request, and answers that all is well.
fn receive(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0);
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    Request { head, body: ExportMetricsServiceRequest::decode(&body[..]).unwrap() }
}

fn has(attributes: &[KeyValue], name: &str, value: &str) -> bool {
    let value_of = |attribute: &KeyValue| attribute.value.as_ref()?.string_value.clone();
    attributes.iter().any(|attribute| attribute.key == name && value_of(attribute).as_deref() == Some(value))
}

/// The completed New-Orders of a request, by the counter and by the histogram of response times.
fn new_orders(request: &ExportMetricsServiceRequest) -> (u64, u64) {
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let data = |name: &str| {
        let known = |metric: &&Metric| metric.name == name;
        metrics.iter().find(known).unwrap().data.as_ref().unwrap()
    };
    let wanted =
        |attributes: &[KeyValue]| has(attributes, "transaction", "new_order") && has(attributes, "part", "terminal");
    let Data::Sum(sum) = data("weighbridge.transactions") else { panic!("no sum") };
    assert!(sum.is_monotonic);
    let counter = sum.data_points.iter().find(|point| wanted(&point.attributes)).unwrap();
    let Data::ExponentialHistogram(times) = data("weighbridge.transaction_response") else { panic!("no histogram") };
    let times = times.data_points.iter().find(|point| wanted(&point.attributes)).unwrap();
    let buckets: u64 = times.positive.as_ref().unwrap().bucket_counts.iter().sum();
    assert_eq!(times.count, times.zero_count + buckets);
    assert!(times.start_time_unix_nano < times.time_unix_nano);
    (counter.as_double.unwrap() as u64, times.count)
}

const RUN: [&str; 9] = ["run", "--url", "null:?latency=1ms", "--warehouses", "2", "--pacing", "none", "--ramp", "1s"];

#[test]
fn what_a_collector_gets_is_what_the_record_says() {
    let place = Place::new();
    let out = place.text("run");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/base/", listener.local_addr().unwrap());
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let _ = sender.send(receive(&stream));
        }
    });
    let mut command = weighbridge(&[&RUN[..], &["--duration", "6s", "--out", &out, "--json", "--otlp"]].concat());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint);
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20sesame");
    let said = Said::from(command.output().unwrap());
    assert_eq!(said.status, 0, "{}", said.stderr);
    let requests: Vec<Request> = received.try_iter().collect();
    // One on the way, and one at the end.
    let [first, .., last] = &requests[..] else { panic!("{} requests", requests.len()) };
    assert!(last.head.starts_with("post /base/v1/metrics http/1.1\r\n"), "{}", last.head);
    assert!(last.head.contains("content-type: application/x-protobuf\r\n"), "{}", last.head);
    assert!(last.head.contains("authorization: bearer sesame\r\n"), "{}", last.head);
    let resource = &last.body.resource_metrics[0].resource.as_ref().unwrap().attributes;
    assert!(has(resource, "service.name", "weighbridge") && has(resource, "db.system.name", "null"), "{resource:?}");

    let run: serde_json::Value = serde_json::from_slice(&std::fs::read(place.path("run/run.json")).unwrap()).unwrap();
    let counts = &run["counts"][0];
    let completed = |when: &str| counts[when]["completed"].as_u64().unwrap();
    let recorded = completed("measured") + completed("outside");
    assert_eq!(new_orders(&last.body), (recorded, recorded));
    let before = new_orders(&first.body);
    assert!(before.0 == before.1 && before.0 > 0 && before.0 < recorded, "{before:?} of {recorded}");
    // What gives access is kept nowhere.
    assert!(!said.stderr.contains("sesame") && !said.stdout.contains("sesame"));
    for file in crate::support::files(&place.path("run")) {
        let content = std::fs::read(place.path("run").join(&file)).unwrap();
        assert!(!content.windows(6).any(|window| window == b"sesame"), "{file}");
    }
}

#[test]
fn a_collector_that_does_not_answer_costs_one_line() {
    let place = Place::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let runs = [("silent", silent.local_addr().unwrap()), ("gone", gone)].map(|(name, address)| {
        let (out, url) = (place.text(name), format!("http://{address}"));
        let mut command = weighbridge(&[&RUN[..], &["--duration", "6s", "--out", &out, "--otlp", &url]].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    let said = runs.map(|run| Said::from(run.wait_with_output().unwrap()));
    for (said, why) in said.iter().zip(["no answer at the end", "onnection refused"]) {
        assert_eq!(said.status, 0, "{}", said.stderr);
        let lines: Vec<&str> = said.stderr.lines().filter(|line| line.contains("export")).collect();
        assert!(matches!(lines[..], [line] if line.contains(why)), "{lines:?}");
    }
}

#[test]
fn secrets_do_not_go_into_the_url() {
    let said = say(&["run", "--url", "null:", "--otlp", "http://me:sesame@127.0.0.1:4318"]);
    assert_eq!(said.status, 2);
    assert!(said.stderr.contains("OTEL_EXPORTER_OTLP_HEADERS") && !said.stderr.contains("sesame"), "{}", said.stderr);
    let said = say(&["run", "--url", "null:", "--otlp", "127.0.0.1:4318"]);
    assert_eq!(said.status, 2);
}
