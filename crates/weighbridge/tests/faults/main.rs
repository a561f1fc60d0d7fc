//! Faults on real servers: killed, frozen, cut off, robbed of their answers; and the audit of what they acknowledged.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod crashes;
mod network;
mod refusals;
#[path = "../cli/support.rs"]
#[allow(dead_code, reason = "each test binary uses its share")]
mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use support::{Place, Said, done, say, weighbridge};

/// A folder for kept servers that their users can enter; what is left in it is stopped.
pub(crate) struct Lab {
    pub(crate) place: Place,
    kind: &'static str,
}

impl Lab {
    /// Servers of a kind with one warehouse; `None` where they can't be had.
    pub(crate) fn loaded(kind: lab::Kind) -> Option<Self> {
        Self::loaded_with(kind, &[])
    }

    /// The same of servers started with more options.
    pub(crate) fn loaded_with(kind: lab::Kind, options: &[&str]) -> Option<Self> {
        lab::or_skip(kind.installed())?;
        let place = Place::new();
        std::fs::set_permissions(place.folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let lab = Self { place, kind: kind.name() };
        let up = done(&[&["lab", "up", lab.kind, "--dir", &lab.dir()], options].concat());
        done(&["load", "--url", up.stdout.lines().next().unwrap()]);
        Some(lab)
    }

    pub(crate) fn dir(&self) -> String {
        self.place.text("lab")
    }

    /// Runs a command on the servers, and returns its document.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let dir = self.dir();
        support::json(&[args, &["--lab", self.kind, "--dir", &dir]].concat())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = say(&["lab", "down", self.kind, "--dir", &self.dir()]);
    }
}

/// A run without waits of New-Order, Payment and Delivery alone, of which each COMMIT writes.
pub(crate) struct Run {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Run {
    pub(crate) fn start(url: &str, out: &str, more: &[&str]) -> Self {
        let fixed = ["run", "--url", url, "--out", out, "--pacing", "none", "--ramp", "0s", "--json"];
        let mix = ["--mix", "new_order=50,payment=40,delivery=10"];
        let mut command = weighbridge(&[&fixed[..], &mix[..], more].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr, said: String::new() }
    }

    /// Waits for so many more seconds in which there were New-Orders, as the live view shows them.
    pub(crate) fn busy_seconds(&mut self, mut count: usize) {
        while count > 0 {
            let mut line = String::new();
            assert!(self.stderr.read_line(&mut line).unwrap() > 0, "the run has ended: {}", self.said);
            let words: Vec<&str> = line.split_whitespace().collect();
            count -= usize::from(words.get(1) == Some(&"measured") && words.get(2) != Some(&"0"));
            self.said.push_str(&line);
        }
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Said {
        std::io::Read::read_to_string(&mut self.stderr, &mut self.said).unwrap();
        let mut said: Said = self.child.wait_with_output().unwrap().into();
        said.stderr = self.said;
        said
    }
}

/// The sum of a figure over all kinds of an audit.
pub(crate) fn sum(audit: &serde_json::Value, list: &str, figure: &str) -> u64 {
    audit[list].as_array().unwrap().iter().map(|kind| kind[figure].as_u64().unwrap()).sum()
}
