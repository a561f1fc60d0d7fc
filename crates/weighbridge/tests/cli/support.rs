//! Running the binary and reading what it says.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};

/// A command line of the tool, in an environment without the developer's own settings.
pub(crate) fn weighbridge(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weighbridge"));
    command.args(args).stdin(Stdio::null());
    for name in [
        "WEIGHBRIDGE_URL",
        "WEIGHBRIDGE_LOG",
        "WEIGHBRIDGE_TOKEN",
        "PGPASSWORD",
        "PGPASSFILE",
        "PGHOST",
        "PGUSER",
        "PGDATABASE",
    ] {
        command.env_remove(name);
    }
    for name in ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_CERTIFICATE"] {
        command.env_remove(name);
    }
    for name in ["JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "OMPI_COMM_WORLD_RANK"] {
        command.env_remove(name);
    }
    command
}

/// What a run of the tool left behind.
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Why a run is not believed, if it is one: the first thing to know of a failure.
    fn reasons(&self) -> String {
        let run: serde_json::Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        run["verdict"]["reasons"].to_string()
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Said {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

/// Runs to the end.
pub(crate) fn say(args: &[&str]) -> Said {
    weighbridge(args).output().expect("the binary starts").into()
}

/// Runs to the end and expects success.
pub(crate) fn done(args: &[&str]) -> Said {
    let said = say(args);
    // Without the standard output, a long document: the log of a failed suite keeps its beginning only.
    assert_eq!(said.status, 0, "{args:?}\n{}\n{}", said.reasons(), said.stderr);
    said
}

/// Runs with `--json` and expects success and exactly one JSON document on standard output.
pub(crate) fn json(args: &[&str]) -> serde_json::Value {
    let said = done(&[args, &["--json"]].concat());
    serde_json::from_str(&said.stdout).unwrap_or_else(|e| panic!("{e}: {}", said.stdout))
}

/// How many tests have a place, and whether one of them has the machine to itself.
static AT_WORK: (Mutex<(usize, bool)>, Condvar) = (Mutex::new((0, false)), Condvar::new());

/// A folder for a test, and an SQLite URL in it.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    alone: bool,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::begun(false)
    }

    /// For a test of what other work on the machine would make untrue: a verdict on the tool's own lag, a difference of
    /// milliseconds. It waits until no other test has a place.
    pub(crate) fn quiet() -> Self {
        Self::begun(true)
    }

    fn begun(alone: bool) -> Self {
        let (lock, changed) = &AT_WORK;
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Who is not to be alone never waits for one who waits, so that a test may have several places.
        let wait = |at_work: &mut (usize, bool)| at_work.1 || alone && at_work.0 > 0;
        let mut at_work = changed.wait_while(guard, wait).unwrap_or_else(PoisonError::into_inner);
        *at_work = (at_work.0 + 1, alone);
        Place { folder: tempfile::tempdir().expect("a temporary folder"), alone }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn sqlite(&self) -> String {
        format!("sqlite:{}", self.text("bench.db"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (lock, changed) = &AT_WORK;
        let mut at_work = lock.lock().unwrap_or_else(PoisonError::into_inner);
        *at_work = (at_work.0 - 1, at_work.1 && !self.alone);
        changed.notify_all();
    }
}

/// Files in a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Sends a signal to a child by its process id.
pub(crate) fn signal(child: &Child, name: &str) {
    let status = std::process::Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "kill {name}");
}
