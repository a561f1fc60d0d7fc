//! A server over a folder of results, and the least client that can ask it anything.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use record::run::{Ended, RunRecord};
use record::{RunFolder, Summary};
use serve::{Options, Server, Token};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// The files of a run of three seconds.
const RUN: &[u8] = include_bytes!("../../../../fuzz/seeds/run/small.json");
const LATENCY: &[u8] = include_bytes!("../../../../fuzz/seeds/latency/small.hlog");
const TIMELINE: &[u8] = include_bytes!("../../../../fuzz/seeds/timeline/small.csv");

/// A token.
pub(crate) const SECRET: &str = "correct-horse-battery";

/// A server, which ends with this value.
pub(crate) struct Served {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    stop: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// A header's value; empty if it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next().unwrap_or_default()
    }
}

impl Served {
    /// Serves an empty folder.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Serves an empty folder as `change` asks for it.
    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let served = folder.path().join("results");
        fs::create_dir(&served).unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let mut options = Options { folder: served, listen, names: Vec::new(), token: None, writable: false };
        change(&mut options);
        let server = Server::bind(options).unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            server
                .run(async {
                    let _ = stopped.await;
                })
                .unwrap();
        });
        Served { folder, address, stop: Some((stop, thread)) }
    }

    pub(crate) fn token() -> Option<Token> {
        Some(Token::new(SECRET).unwrap())
    }

    /// A path in the folder that is served.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("results").join(name)
    }

    /// Puts a finished run there, changed before it is judged.
    pub(crate) fn run(&self, name: &str, change: impl FnOnce(&mut RunRecord)) -> PathBuf {
        let path = self.under_way(name, |record| {
            record.ended = Ended::Completed;
            change(record);
        });
        finish(&path);
        path
    }

    /// Puts a run there that is under way, or was left.
    pub(crate) fn under_way(&self, name: &str, change: impl FnOnce(&mut RunRecord)) -> PathBuf {
        let path = self.path(name);
        let mut record: RunRecord = serde_json::from_slice(RUN).unwrap();
        record.ended = Ended::Running;
        change(&mut record);
        let folder = RunFolder::create(&path).unwrap();
        fs::write(path.join("latency.hlog"), LATENCY).unwrap();
        fs::write(path.join("timeline.csv"), TIMELINE).unwrap();
        folder.write_record(&record).unwrap();
        path
    }

    /// Asks with these lines, which are not changed; the answer, whole.
    pub(crate) fn ask(&self, request: &str) -> Answer {
        let mut stream = self.send(request);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Asks for a page as a browser on this machine would, with more headers.
    pub(crate) fn get_with(&self, path: &str, headers: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}Connection: close\r\n\r\n", self.address))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_with(path, "")
    }

    /// Sends a form.
    pub(crate) fn post(&self, path: &str, form: &str, headers: &str) -> Answer {
        let length = form.len();
        self.ask(&format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{form}",
            self.address
        ))
    }
}

/// Judges a run, as its driver does at the end.
pub(crate) fn finish(path: &Path) {
    let opened = RunFolder::open(path).unwrap();
    let mut record = opened.record.clone();
    record.ended = Ended::Completed;
    let summary = Summary::from_run(&opened);
    record.verdict = Some(record::judge(&record, &summary, &opened.timeline));
    record.summary = Some(summary);
    // Not through a draft: nothing else is to appear in the folder.
    fs::write(path.join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.stop.take() {
            let _ = stop.send(());
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server ended badly");
        }
    }
}
