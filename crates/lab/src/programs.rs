//! Finding and running a database's own programs.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::LabError;

/// The folder that holds all of `programs`: one of `PATH`, or else the highest version of those
/// below `versions`, in which a distribution keeps `<version>/bin`.
pub(crate) fn find(programs: &[&str], versions: &Path) -> Option<PathBuf> {
    let has_all = |folder: &PathBuf| programs.iter().all(|program| folder.join(program).is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).find(has_all).or_else(|| highest_version(versions).find(has_all))
}

/// `<version>/bin` for every version below `folder`, the highest first.
fn highest_version(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    versions.into_iter().map(|(_, bin)| bin)
}

/// Whether what this process makes belongs to root.
pub(crate) fn owned_by_root(path: &Path) -> std::io::Result<bool> {
    Ok(std::fs::metadata(path)?.uid() == 0)
}

/// Runs a command to its end; an error names it `program`, whoever it runs as.
pub(crate) fn run(program: &'static str, mut command: Command) -> Result<(), LabError> {
    let failed = |reason: String| LabError::Failed { program, reason };
    let output = command.stdin(Stdio::null()).output().map_err(|e| failed(e.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stderr, output.stdout].concat();
    let said = one_line(&String::from_utf8_lossy(&said));
    Err(failed(if said.is_empty() { output.status.to_string() } else { said }))
}

/// What a program or a log said, without line breaks.
pub(crate) fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
