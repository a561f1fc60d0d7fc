//! Asks git which commit this is, for `--version` and the records of results.
//!
//! Sets, for the crate: `WEIGHBRIDGE_COMMIT`, the commit's short hash with `-changed` behind it if the sources differ from
//! it, or nothing where git can't tell (an unpacked archive); `WEIGHBRIDGE_COMMIT_DATE`; `WEIGHBRIDGE_TARGET`, the triple.
//! Runs again when the commit moves or a file that goes into the binary changes, and not otherwise.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What goes into the binary, from the root of the sources: git is asked for these alone.
const SOURCES: [&str; 5] = ["Cargo.toml", "Cargo.lock", "crates", "scenarios", "scripts/tidb"];

/// What lies under a crate and goes into no binary.
const BESIDE: [&str; 2] = ["tests", "benches"];

fn main() {
    let crate_folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = crate_folder.join("../..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=WEIGHBRIDGE_TARGET={}", std::env::var("TARGET").unwrap_or_default());

    // A repository further up is somebody else's.
    let commit = if root.join(".git").exists() { git(&root, &["rev-parse", "--short=9", "HEAD"]) } else { None };
    let Some(commit) = commit else {
        println!("cargo::rustc-env=WEIGHBRIDGE_COMMIT=");
        println!("cargo::rustc-env=WEIGHBRIDGE_COMMIT_DATE=");
        return;
    };
    let beside = BESIDE.map(|folder| format!(":(exclude)crates/*/{folder}"));
    let status: Vec<&str> =
        ["status", "--porcelain", "--"].into_iter().chain(SOURCES).chain(beside.iter().map(String::as_str)).collect();
    let changed = git(&root, &status).is_some_and(|files| !files.is_empty());
    let date = git(&root, &["log", "-1", "--format=%cs"]).unwrap_or_default();
    println!("cargo::rustc-env=WEIGHBRIDGE_COMMIT={commit}{}", if changed { "-changed" } else { "" });
    println!("cargo::rustc-env=WEIGHBRIDGE_COMMIT_DATE={date}");
    watch_commit(&root);
    watch_sources(&root);
}

/// What git says, where it can say it.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(root).arg("--no-optional-locks").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// HEAD, the branch that it names, and where branches lie that have no file of their own. In a worktree these are not
/// all in one folder.
fn watch_commit(root: &Path) {
    let path = |name: &str| git(root, &["rev-parse", "--git-path", name]).map(|path| root.join(path));
    let branch = git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    for name in [Some("HEAD"), Some("packed-refs"), branch.as_deref()].into_iter().flatten() {
        // Cargo would take a file that is not there for one that always changes; a branch's may come, into its folder.
        let file = path(name);
        let there = file.as_deref().and_then(|file| file.ancestors().take(2).find(|path| path.exists()));
        match there {
            Some(file) if name != "packed-refs" || file.is_file() => watch(file),
            _ => {}
        }
    }
}

fn watch_sources(root: &Path) {
    for name in SOURCES.iter().filter(|name| **name != "crates") {
        watch(&root.join(name));
    }
    let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    for file in entries(root.join("crates")).flat_map(|one| entries(one.path())) {
        if !BESIDE.iter().any(|folder| file.file_name() == *folder) {
            watch(&file.path());
        }
    }
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
