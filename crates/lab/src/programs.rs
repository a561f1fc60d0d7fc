//! Finding and running a database's own programs.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::geteuid;

use crate::LabError;

/// Folders that an ordinary user's `PATH` leaves out.
const SYSTEM: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// Lines of a long log that an error shows, from its end.
const SHOWN: usize = 5;

/// The first folder that holds all of `programs`: those of `PATH`, then `others`.
pub(crate) fn find(programs: &[&str], others: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let has_all = |folder: &PathBuf| programs.iter().all(|program| folder.join(program).is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).find(has_all).or_else(|| others.into_iter().find(has_all))
}

/// The path of one program on `PATH` or among the system's.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    find(&[name], SYSTEM.map(PathBuf::from)).map(|folder| folder.join(name))
}

/// `<prefix><version>/bin` for every version in `folder`, the highest first.
pub(crate) fn versions(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut versions: Vec<(Vec<u32>, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let version = name.to_str()?.strip_prefix(prefix)?;
            Some((version.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions.into_iter().map(|(_, bin)| bin).collect()
}

/// Where the scripts put programs that they build or fetch: `weighbridge` in the user's cache.
pub(crate) fn cache() -> Option<PathBuf> {
    let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
    Some(caches.join("weighbridge"))
}

/// Where kept servers live unless told otherwise: `weighbridge/lab` in the user's state, or in the system's for root,
/// whose home is closed to the users that servers run as.
pub fn state_folder() -> PathBuf {
    let home = || Some(variable("HOME")?.join(".local/state"));
    let states = variable("XDG_STATE_HOME").or_else(|| home().filter(|_| !geteuid().is_root()));
    states.unwrap_or_else(|| PathBuf::from("/var/lib")).join("weighbridge/lab")
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Runs a command to its end and returns what it printed; an error names it `program`, whoever it runs as.
pub(crate) fn run(program: &'static str, mut command: Command) -> Result<String, LabError> {
    let failed = |reason: String| LabError::Failed { program, reason };
    let output = command.stdin(Stdio::null()).output().map_err(|e| failed(e.to_string()))?;
    let Output { status, stdout, stderr } = output;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let said = complaint(&String::from_utf8_lossy(&[stderr, stdout].concat()), "ERROR");
    Err(failed(if said.is_empty() { status.to_string() } else { said }))
}

/// Whether a command can be run and succeeds.
pub(crate) fn succeeds(mut command: Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What a log says is wrong, without line breaks: its last lines with `mark`, or else its last lines.
pub(crate) fn complaint(log: &str, mark: &str) -> String {
    let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let marked: Vec<&str> = lines.iter().copied().filter(|line| line.contains(mark)).collect();
    let shown = if marked.is_empty() { lines } else { marked };
    shown[shown.len().saturating_sub(SHOWN)..].join("; ")
}

/// Free ports of the loopback interface, all different.
pub(crate) fn free_ports<const N: usize>() -> std::io::Result<[u16; N]> {
    let mut ports = [0; N];
    // All are held until the last is chosen.
    let mut held = Vec::with_capacity(N);
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A folder with programs that do `act`, in which `note "$@"` writes to the file `calls` how they are called.
    pub(crate) fn stand_in(names: &[&str], act: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let file = folder.path().join(name);
            let home = folder.path().display();
            let script = format!("#!/bin/sh\nhome={home}\nnote() {{ echo {name} \"$@\" >>$home/calls; }}\n{act}\n");
            std::fs::write(&file, script).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        }
        folder
    }

    #[test]
    fn the_highest_version_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pg-9.6", "pg-18.6", "pg-18.10", "pg-15", "other", "pg-x"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let found = versions(folder.path(), "pg-");
        let names = ["pg-18.10", "pg-18.6", "pg-15", "pg-9.6"].map(|name| folder.path().join(name).join("bin"));
        assert_eq!(found, names);
    }

    #[test]
    fn a_complaint_is_one_line_of_what_matters() {
        let log = "12:00 [Note] one\n12:00 [ERROR] no room\n12:00 [Note] two\n";
        assert_eq!(complaint(log, "[ERROR]"), "12:00 [ERROR] no room");
        assert_eq!(complaint("a\n\n b\n", "[ERROR]"), "a; b");
        assert_eq!(complaint("1\n2\n3\n4\n5\n6\n", ""), "2; 3; 4; 5; 6");
    }

    #[test]
    fn free_ports_differ() {
        let mut ports = free_ports::<16>().unwrap();
        ports.sort_unstable();
        assert!(ports.windows(2).all(|pair| pair[0] != pair[1]), "{ports:?}");
    }
}
