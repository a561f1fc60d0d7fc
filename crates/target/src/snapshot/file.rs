//! Copies of a SQLite database's file.
//!
//! Beside `x.db` stand `x.db.weighbridge-original`, the file that is set aside, and `x.db.weighbridge-marker`, which
//! names it and its copies by what distinguishes files: only a file that it names is replaced or removed.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::watch;

use super::{RETRY_INTERVAL, SESSION_EXIT_TIMEOUT, SnapshotError};
use crate::{Error, Url};

/// What stands at the top of a marker.
const MARKER_TITLE: &str = "The original of this database is set aside while weighbridge measures copies of it.";

/// How many links may lead to a file.
const MAX_LINKS: usize = 40;

/// A SQLite database's file, and the names of the files or databases beside it.
pub(super) struct FileSnapshot {
    url: Url,
    /// The file itself, with links followed.
    file: PathBuf,
    /// The original's name while it is set aside.
    original: PathBuf,
    /// A copy's name until it is complete.
    copy: PathBuf,
    marker: PathBuf,
}

/// The files that belong together, each by its [`identity`].
#[derive(Default)]
struct Marker {
    original: String,
    copies: Vec<String>,
}

impl FileSnapshot {
    pub(super) fn new(url: &Url, path: &Path) -> Self {
        let file = followed(path);
        Self {
            url: url.clone(),
            original: beside(&file, ".weighbridge-original"),
            copy: beside(&file, ".weighbridge-copy"),
            marker: beside(&file, ".weighbridge-marker"),
            file,
        }
    }

    pub(super) fn is_set_aside(&self) -> Result<bool, SnapshotError> {
        let Some(original) = identity(&self.original)? else { return Ok(false) };
        let marker = self.read_marker()?;
        let is_copy = identity(&self.file)?.is_none_or(|file| marker.copies.contains(&file));
        if marker.original == original && is_copy {
            return Ok(true);
        }
        let (original, file) = (self.original.display(), self.file.display());
        Err(SnapshotError::Blocked {
            message: format!(
                "the file {original} has the name that weighbridge gives to an original, but {file} is no copy of it"
            ),
            hint: format!("rename {original}"),
        })
    }

    pub(super) fn original_url(&self, aside: bool) -> Url {
        if aside { self.url.at_file(self.original.clone()) } else { self.url.clone() }
    }

    pub(super) async fn begin_run(&self, stop: &watch::Receiver<bool>) -> Result<(), SnapshotError> {
        let aside = self.is_set_aside()?;
        self.remove_unfinished_copy()?;
        let source = if aside { &self.original } else { &self.file };
        settle(source).await?;
        let mut marker = Marker {
            original: identity(source)?.unwrap_or_default(),
            copies: identity(&self.file)?.into_iter().collect(),
        };
        if !aside {
            marker.copies.clear();
        }
        let failed = |what: &str, e: io::Error| failed(what, &self.copy, &e);
        OpenOptions::new().write(true).create_new(true).open(&self.copy).map_err(|e| failed("make", e))?;
        marker.copies.extend(identity(&self.copy)?);
        self.write_marker(&marker)?;
        if let Err(e) = fs::copy(source, &self.copy) {
            self.remove_unfinished_copy()?;
            return Err(failed("write", e).into());
        }
        if *stop.borrow() {
            return self.remove_unfinished_copy();
        }
        if aside {
            self.retire_used_copy().await?;
        } else {
            rename(&self.file, &self.original)?;
        }
        rename(&self.copy, &self.file)?;
        Ok(())
    }

    pub(super) async fn put_back(&self) -> Result<(), SnapshotError> {
        if self.is_set_aside()? {
            settle(&self.original).await?;
            self.retire_used_copy().await?;
            rename(&self.original, &self.file)?;
        }
        self.remove_unfinished_copy()?;
        Ok(remove(&self.marker)?)
    }

    /// Prepares the copy that the last run used for its replacement. What SQLite keeps beside it must go first: in
    /// another file's name it would be taken for that one's.
    async fn retire_used_copy(&self) -> Result<(), Error> {
        if identity(&self.file)?.is_some() {
            match settle(&self.file).await {
                // Whatever else is wrong with it, nobody needs it any more.
                Err(e) if e.code() != Some(IN_USE) => {}
                done => done?,
            }
        }
        ["-wal", "-shm", "-journal"].iter().try_for_each(|end| remove(&beside(&self.file, end)))
    }

    /// Removes a copy that was not completed.
    fn remove_unfinished_copy(&self) -> Result<(), SnapshotError> {
        let Some(copy) = identity(&self.copy)? else { return Ok(()) };
        let is_empty = fs::metadata(&self.copy).is_ok_and(|metadata| metadata.len() == 0);
        if !is_empty && !self.read_marker()?.copies.contains(&copy) {
            let file = self.copy.display();
            return Err(SnapshotError::Blocked {
                message: format!("the file {file} has a name that weighbridge needs, and weighbridge did not make it"),
                hint: format!("rename {file}, or remove it if nobody needs it"),
            });
        }
        Ok(remove(&self.copy)?)
    }

    fn read_marker(&self) -> Result<Marker, Error> {
        let text = match fs::read_to_string(&self.marker) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Marker::default()),
            text => text.map_err(|e| failed("read", &self.marker, &e))?,
        };
        let mut marker = Marker::default();
        for line in text.strip_prefix(MARKER_TITLE).into_iter().flat_map(str::lines) {
            match line.split_once(' ') {
                Some(("original", identity)) => identity.clone_into(&mut marker.original),
                Some(("copy", identity)) => marker.copies.push(identity.to_owned()),
                _ => {}
            }
        }
        Ok(marker)
    }

    /// Writes the marker whole or not at all: a kill may come at any time.
    fn write_marker(&self, marker: &Marker) -> Result<(), Error> {
        let copies: String = marker.copies.iter().map(|copy| format!("copy {copy}\n")).collect();
        let draft = beside(&self.marker, ".partial");
        fs::write(&draft, format!("{MARKER_TITLE}\noriginal {}\n{copies}", marker.original))
            .map_err(|e| failed("write", &draft, &e))?;
        rename(&draft, &self.marker)
    }

    pub(super) fn set_aside_notice(&self) -> String {
        format!(
            "the file {} is a copy, and the original is set aside as {}: a sweep or a search was killed",
            self.file.display(),
            self.original.display()
        )
    }

    pub(super) fn manual_recovery(&self) -> String {
        let file = self.file.display();
        format!("remove {file}, {file}-wal and {file}-shm, and rename {} to {file}", self.original.display())
    }
}

/// The code of an error that says that a file is in use.
const IN_USE: &str = "in use";

/// Brings all of a database into its one file, with nobody inside.
async fn settle(file: &Path) -> Result<(), Error> {
    let deadline = Instant::now() + SESSION_EXIT_TIMEOUT;
    while !try_settle(file).map_err(|e| Error::permanent(format!("{}: {e}", file.display())))? {
        if Instant::now() >= deadline {
            let message = format!("another program has {} open", file.display());
            return Err(Error::new(crate::Class::Permanent, Some(IN_USE.to_owned()), message));
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
    Ok(())
}

/// Whether it could be done now. The last connection to leave removes the write-ahead log: if it is still there, there
/// is another one.
fn try_settle(file: &Path) -> rusqlite::Result<bool> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::ZERO)?;
    let exclusive = || {
        let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        connection.execute_batch("BEGIN EXCLUSIVE; ROLLBACK")?;
        Ok(busy == 0)
    };
    let alone = match exclusive() {
        Err(rusqlite::Error::SqliteFailure(e, _))
            if matches!(e.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) =>
        {
            false
        }
        done => done?,
    };
    connection.close().map_err(|(_, e)| e)?;
    Ok(alone && !beside(file, "-wal").exists())
}

/// What distinguishes a file from all others of its folder, whatever its name; `None` if there is no such file.
fn identity(path: &Path) -> Result<Option<String>, Error> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("read", path, &e)),
        Ok(metadata) => {
            // An inode's number is given again; not every file system keeps the time of a file's birth.
            let born = metadata.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            Ok(Some(format!("{} {}", metadata.ino(), born.unwrap_or_default().as_nanos())))
        }
    }
}

/// The file that a path leads to, which may be missing.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(end);
    name.into()
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to)
        .map_err(|e| Error::permanent(format!("can't rename {} to {}: {e}", from.display(), to.display())))
}

fn remove(file: &Path) -> Result<(), Error> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", file, &e)),
        _ => Ok(()),
    }
}

fn failed(what: &str, file: &Path, error: &io::Error) -> Error {
    Error::permanent(format!("can't {what} {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(file: &Path) -> FileSnapshot {
        let url = Url::parse(&format!("sqlite:{}", file.display())).unwrap();
        FileSnapshot::new(&url, file)
    }

    fn make(file: &Path, rows: i64) {
        let connection = Connection::open(file).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").unwrap();
        for x in 0..rows {
            connection.execute("INSERT INTO t VALUES (?)", [x]).unwrap();
        }
    }

    fn count(file: &Path) -> i64 {
        Connection::open(file).unwrap().query_row("SELECT COUNT(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    fn never() -> watch::Receiver<bool> {
        watch::channel(false).1
    }

    #[tokio::test]
    async fn original_comes_back_as_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("x.db"), folder.path().join("link.db"));
        make(&file, 3);
        std::os::unix::fs::symlink("x.db", &link).unwrap();
        let before = identity(&file).unwrap();
        let snapshot = snapshot(&link);
        for _ in 0..2 {
            snapshot.begin_run(&never()).await.unwrap();
            assert_eq!((count(&link), snapshot.is_set_aside().unwrap()), (3, true));
            Connection::open(&link).unwrap().execute_batch("DELETE FROM t").unwrap();
        }
        snapshot.put_back().await.unwrap();
        assert_eq!((count(&file), identity(&file).unwrap()), (3, before));
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["link.db", "x.db"]);
    }

    #[tokio::test]
    async fn original_is_found_between_the_two_renames() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        make(&file, 3);
        let snapshot = snapshot(&file);
        snapshot.begin_run(&never()).await.unwrap();
        fs::rename(&file, &snapshot.copy).unwrap();
        assert!(snapshot.is_set_aside().unwrap());
        snapshot.begin_run(&never()).await.unwrap();
        assert_eq!(count(&file), 3);
        snapshot.put_back().await.unwrap();
        assert_eq!(count(&file), 3);
    }

    #[tokio::test]
    async fn foreign_files_are_neither_replaced_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        make(&file, 3);
        let snapshot = snapshot(&file);
        for foreign in [&snapshot.original, &snapshot.copy] {
            fs::write(foreign, "mine").unwrap();
            let refused = snapshot.begin_run(&never()).await.unwrap_err().to_string();
            assert!(refused.contains("hint: rename"), "{refused}");
            assert_eq!(fs::read_to_string(foreign).unwrap(), "mine");
            fs::remove_file(foreign).unwrap();
        }
        snapshot.begin_run(&never()).await.unwrap();
        fs::remove_file(&file).unwrap();
        make(&file, 5);
        assert!(snapshot.put_back().await.is_err());
        assert_eq!((count(&file), count(&snapshot.original)), (5, 3));
    }

    #[tokio::test]
    async fn stopped_copy_leaves_everything_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        make(&file, 3);
        let snapshot = snapshot(&file);
        snapshot.begin_run(&watch::channel(true).1).await.unwrap();
        snapshot.put_back().await.unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(count(&file), 3);
    }
}
