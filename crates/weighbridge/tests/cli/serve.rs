//! `serve` through the binary: its addresses and refusals, and a real run watched to its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Place, Said, done, say, signal, weighbridge};

/// A server, stopped with this value.
struct Server {
    child: Child,
    host: String,
}

/// The lines of an answer, as they come.
pub(crate) fn lines(host: &str, path: &str) -> impl Iterator<Item = String> + use<> {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    BufReader::new(stream).lines().map_while(Result::ok)
}

impl Server {
    fn start(folder: &str) -> Self {
        let mut command = weighbridge(&["serve", folder, "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let host = first.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).unwrap().to_owned();
        Server { child, host }
    }

    fn lines(&self, path: &str) -> impl Iterator<Item = String> + use<> {
        lines(&self.host, path)
    }

    fn get(&self, path: &str) -> String {
        self.lines(path).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_run_is_watched_to_its_end_and_the_server_ends_at_once() {
    let place = Place::new();
    let url = place.sqlite();
    done(&["load", "--url", &url]);
    std::fs::create_dir(place.path("results")).unwrap();
    let mut server = Server::start(&place.text("results"));
    assert!(server.get("/").contains("There is nothing here yet"));

    let out = place.text("results/run");
    let arguments = ["run", "--url", &url, "--pacing", "none", "--ramp", "1s", "--duration", "3s", "--out", &out];
    let mut run = weighbridge(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !server.get("/").contains("under way") {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run does not come up");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(server.get("/runs/run").contains("verdict: <strong>pending</strong>"));
    let events: Vec<String> = server.lines("/live/run").filter(|line| line.starts_with("event: ")).collect();
    assert!(run.wait().unwrap().success());
    let told = events.iter().filter(|event| *event == "event: parts").count();
    assert!(told >= 2 && events.last().is_some_and(|event| event == "event: end"), "{events:?}");
    let page = server.get("/runs/run");
    assert!(
        page.contains("verdict: <strong>unconstrained</strong>") && page.contains("throughput-over-time"),
        "{page}"
    );
    assert!(server.get("/?verdict=unconstrained").contains("1 result."));

    // Somebody still listens; the end does not wait for that.
    let mut idle = TcpStream::connect(&server.host).unwrap();
    signal(&server.child, "-INT");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let mut rest = Vec::new();
    let _ = idle.read_to_end(&mut rest);
}

#[test]
fn what_can_not_be_served_is_said_in_a_line() {
    let place = Place::new();
    let folder = place.text("");
    let refused = |args: &[&str], status: i32, says: &str| {
        let said = say(&[&["serve"], args].concat());
        assert_eq!(said.status, status, "{args:?}: {}", said.stderr);
        assert!(said.stderr.contains(says) && said.stderr.lines().count() == 1, "{}", said.stderr);
    };
    refused(&[&place.text("nothing")], 1, "no such folder");
    refused(&[&folder, "--listen", "0.0.0.0:0"], 2, "--token-file");
    std::fs::write(place.path("token"), "short\n").unwrap();
    refused(&[&folder, "--token-file", &place.text("token")], 2, "at least 16 characters");
    let name = say(&["serve", &folder, "--name", "https://bench.example.org"]);
    assert!(name.status == 2 && name.stderr.contains("a name alone"), "{}", name.stderr);
    // A token that can't be read is not none, and is not shown.
    let mut serve = weighbridge(&["serve", &folder]);
    serve.env("WEIGHBRIDGE_TOKEN", std::ffi::OsStr::from_bytes(b"sesame-sesame-sesame\xff"));
    let said = Said::from(serve.output().unwrap());
    assert!(said.status == 2 && said.stderr.contains("UTF-8") && !said.stderr.contains("sesame"), "{}", said.stderr);
    let server = Server::start(&folder);
    refused(&[&folder, "--listen", &server.host], 1, "the port is taken");
}
