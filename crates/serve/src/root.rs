//! The folder that is served: what lies in it may be shown, and nothing else.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders within each other that are looked into.
pub(crate) const DEPTH: usize = 6;

/// The most bytes that a file of this name is read up to.
pub(crate) fn largest(path: &Path) -> u64 {
    match path.extension().and_then(|end| end.to_str()) {
        Some("json") => 64 << 20,
        Some("csv" | "hlog") => 1 << 30,
        // Not read at all.
        _ => u64::MAX,
    }
}

/// The folder that is served.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
}

impl Root {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.canonicalize()?;
        if !path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
        }
        Ok(Root { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What lies at an address below the folder; `None`: nothing that may be shown.
    pub(crate) fn find(&self, address: &str) -> Option<PathBuf> {
        // A hidden name is a draft, or none of the reader's business; so are `.` and `..`.
        if address.split('/').any(|name| name.is_empty() || name.starts_with('.') || name.contains('\0')) {
            return None;
        }
        let path = self.path.join(address);
        self.holds(&path).then_some(path)
    }

    /// Whether a path leads to something inside the folder, wherever its links go on the way.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| real.starts_with(&self.path))
    }

    /// Refuses a result that leads elsewhere by a link, or holds what can't be read as a file, or is too large to be.
    pub(crate) fn examine(&self, path: &Path) -> Result<(), String> {
        // Level by level, so that each folder is looked into once, from its shortest way, in whatever circles links lead.
        let mut level = vec![path.to_owned()];
        let mut seen = HashSet::new();
        for _ in 0..=DEPTH {
            let mut below = Vec::new();
            for path in &level {
                if let Some(folder) = self.examine_one(path)?.filter(|folder| seen.insert(folder.clone())) {
                    let failed = |e: io::Error| format!("{}: {e}", self.address(path));
                    for entry in fs::read_dir(&folder).map_err(failed)? {
                        below.push(path.join(entry.map_err(failed)?.file_name()));
                    }
                }
            }
            level = below;
        }
        Ok(())
    }

    /// Refuses what is not to be read; where it is a folder, its real place.
    fn examine_one(&self, path: &Path) -> Result<Option<PathBuf>, String> {
        let refuse = |why: &dyn Display| Err(format!("{}: {why}", self.address(path)));
        let real = match path.canonicalize() {
            Ok(real) if real.starts_with(&self.path) => real,
            // A draft that has got its name meanwhile, or a link to nothing: there is nothing to be read.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            _ => return refuse(&"leads out of the folder that is served"),
        };
        match fs::metadata(&real) {
            Ok(meta) if meta.is_dir() => Ok(Some(real)),
            Ok(meta) if !meta.is_file() => refuse(&"neither a file nor a folder"),
            Ok(meta) if meta.len() > largest(path) => refuse(&"too large to be shown"),
            Ok(_) => Ok(None),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => refuse(&e),
        }
    }

    /// The address of a path below the folder, for people and for links.
    pub(crate) fn address(&self, path: &Path) -> String {
        path.strip_prefix(&self.path).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// A message without the path of the served folder on this machine, which readers need not know.
    pub(crate) fn without_place(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.path.display()), "")
    }
}
