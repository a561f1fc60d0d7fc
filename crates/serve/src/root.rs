//! The folder that is served: what lies in it may be shown, and nothing else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders within each other that are looked into.
pub(crate) const DEPTH: usize = 6;

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

    /// Refuses a result that leads elsewhere by a link, or holds what can't be read as a file.
    pub(crate) fn examine(&self, path: &Path) -> Result<(), String> {
        self.examine_to(path, DEPTH)
    }

    fn examine_to(&self, path: &Path, depth: usize) -> Result<(), String> {
        let told = |e: io::Error| format!("{}: {e}", self.address(path));
        if !self.holds(path) {
            return Err(format!("{}: leads out of the folder that is served", self.address(path)));
        }
        let kind = fs::metadata(path).map_err(told)?.file_type();
        if kind.is_file() {
            return Ok(());
        }
        if !kind.is_dir() {
            return Err(format!("{}: neither a file nor a folder", self.address(path)));
        }
        if depth == 0 {
            return Ok(());
        }
        fs::read_dir(path).map_err(told)?.try_for_each(|entry| self.examine_to(&entry.map_err(told)?.path(), depth - 1))
    }

    /// The address of a path below the folder, for people and for links.
    pub(crate) fn address(&self, path: &Path) -> String {
        path.strip_prefix(&self.path).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// A message without the place of the folder on this machine, which is nobody's business.
    pub(crate) fn told(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.path.display()), "")
    }
}
