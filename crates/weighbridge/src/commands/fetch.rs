//! Run folders from wherever they are: a folder, an archive of one, or an object store.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use record::folder::RUN_JSON;
use record::{OpenedRun, RecordError, RunFolder};
use tempfile::TempDir;

use super::Failure;

/// The document of a search, in its folder.
pub(super) const SEARCH_JSON: &str = "search.json";

/// The document of a scenario, in its folder.
pub(super) const SCENARIO_JSON: &str = "scenario.json";

/// A run folder, which is removed with this value if it was brought here.
pub(super) struct Fetched {
    /// The folder.
    pub(super) path: PathBuf,
    /// Where it was said to be.
    pub(super) source: String,
    brought: Option<TempDir>,
}

impl Fetched {
    /// Whether it was brought here, and won't stay.
    pub(super) fn is_brought(&self) -> bool {
        self.brought.is_some()
    }

    /// Reads the run under the name of where it was said to be.
    ///
    /// # Errors
    /// As [`RunFolder::open`].
    pub(super) fn open(&self) -> Result<OpenedRun, Failure> {
        let opened = RunFolder::open(&self.path).map_err(|e| self.failure(&e))?;
        let warnings = opened.warnings.iter().map(|warning| self.in_its_place(warning)).collect();
        Ok(OpenedRun { source: self.source.clone(), warnings, ..opened })
    }

    /// An error about it, by the name that the user knows.
    pub(super) fn failure(&self, error: &RecordError) -> Failure {
        Failure::Failed(self.in_its_place(&error.to_string()))
    }

    /// A line about it, without the name of the folder that it was brought to.
    pub(super) fn in_its_place(&self, line: &str) -> String {
        if self.is_brought() { line.replace(&self.path.display().to_string(), &self.source) } else { line.to_owned() }
    }
}

/// Brings a run folder here.
///
/// # Errors
/// One line: nothing there, an archive that can't be read or holds no run or several, the folder of a series of runs, or
/// a store that refuses.
pub(super) fn fetch(source: &str) -> Result<Fetched, Failure> {
    let failed = |e: String| Failure::Failed(format!("{source}: {e}"));
    let here = |path: PathBuf, brought| Fetched { path, source: source.to_owned(), brought };
    if source.contains("://") {
        let (path, brought) = from_store(source).map_err(failed)?;
        return Ok(here(path, Some(brought)));
    }
    let path = Path::new(source);
    if path.is_file() {
        let unpacked = if is_archive(source) {
            unpack(path)
        } else {
            Err("a file; give the folder of a run, or an archive of one (.tar, .tar.gz, .tgz)".to_owned())
        };
        let (path, brought) = unpacked.map_err(failed)?;
        return Ok(here(path, Some(brought)));
    }
    if let Some(series) = series(path) {
        return Err(failed(series));
    }
    Ok(here(path.to_owned(), None))
}

/// What a folder is that holds a series of runs, and what shows it.
fn series(folder: &Path) -> Option<String> {
    let is = |file: &str| folder.join(file).exists();
    let shown = || super::step::quoted(&folder.display().to_string());
    if super::sweep::is_sweep(folder) {
        return Some(format!("the folder of a sweep, not of a run: `weighbridge report {}` shows it", shown()));
    }
    let kind = if is(SEARCH_JSON) {
        format!("a search, whose answer is in {SEARCH_JSON}")
    } else if is(SCENARIO_JSON) {
        format!("a scenario, whose answer is in {SCENARIO_JSON}")
    } else {
        return None;
    };
    let runs = runs_below(folder);
    let inside = if folder.join("sweep").is_dir() { Some(folder.join("sweep")) } else { runs.into_iter().next() };
    let inside = inside.map_or_else(String::new, |inside| {
        format!(
            "; `weighbridge report {}` shows a part of what it measured",
            super::step::quoted(&inside.display().to_string())
        )
    });
    // A server shows what lies in its folder.
    let around = match folder.parent().filter(|_| folder.file_name().is_some()) {
        Some(parent) if parent.as_os_str().is_empty() => ".".to_owned(),
        Some(parent) => parent.display().to_string(),
        None => folder.join("..").display().to_string(),
    };
    let serve = super::step::quoted(&around);
    Some(format!("the folder of {kind}, and `weighbridge serve {serve}` shows all of it{inside}"))
}

fn is_archive(name: &str) -> bool {
    [".tar", ".tar.gz", ".tgz"].iter().any(|end| name.ends_with(end))
}

/// Unpacks an archive, and finds the run in it.
fn unpack(archive: &Path) -> Result<(PathBuf, TempDir), String> {
    let folder = TempDir::new().map_err(|e| format!("can't make a folder to unpack it: {e}"))?;
    let file = File::open(archive).map_err(|e| e.to_string())?;
    let plain = archive.extension().is_some_and(|end| end == "tar");
    let bytes: Box<dyn Read> =
        if plain { Box::new(BufReader::new(file)) } else { Box::new(GzDecoder::new(BufReader::new(file))) };
    // It refuses paths that lead out of the folder.
    tar::Archive::new(bytes).unpack(folder.path()).map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof => "the archive ends too early: it was not copied or written whole".to_owned(),
        ErrorKind::StorageFull | ErrorKind::PermissionDenied => format!("can't be unpacked: {}", root(&e)),
        _ => format!("not an archive that can be read: {}", root(&e)),
    })?;
    let run = run_in(folder.path(), "no run in this archive, at its top or in one folder of it")?;
    Ok((run, folder))
}

/// The cause behind an error's causes.
fn root(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error).to_string()
}

/// The run in a folder, or in the only place one level below.
///
/// # Errors
/// `nothing` where there is none, and the names where there are several.
fn run_in(folder: &Path, nothing: &str) -> Result<PathBuf, String> {
    if folder.join(RUN_JSON).exists() {
        return Ok(folder.to_owned());
    }
    let mut runs = runs_below(folder);
    match runs.len() {
        0 => Err(nothing.to_owned()),
        1 => Ok(runs.swap_remove(0)),
        count => {
            let names: Vec<_> = runs.iter().filter_map(|run| Some(run.file_name()?.to_string_lossy())).collect();
            Err(format!(
                "it holds {count} runs ({}): bring them here one by one, each is to be named",
                names.join(", ")
            ))
        }
    }
}

/// The runs one level below a folder, by name.
pub(super) fn runs_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| entry.ok()).map(|entry| entry.path());
    let mut runs: Vec<PathBuf> = paths.filter(|path| path.join(RUN_JSON).exists()).collect();
    runs.sort();
    runs
}

#[cfg(not(feature = "object-store"))]
fn from_store(_: &str) -> Result<(PathBuf, TempDir), String> {
    Err("this program was built without object stores: copy the folder here, or build with --features object-store"
        .to_owned())
}

/// Copies what lies below a URL, whose account and secrets are in the environment as its own tools take them.
#[cfg(feature = "object-store")]
fn from_store(url: &str) -> Result<(PathBuf, TempDir), String> {
    use futures_util::TryStreamExt;
    use object_store::{ObjectStoreExt, parse_url_opts};

    let folder = TempDir::new().map_err(|e| format!("can't make a folder to copy it to: {e}"))?;
    let parsed = url.parse().map_err(|e| format!("no URL: {e}"))?;
    // Names are taken in the small letters that the stores' builders know: AWS_REGION as aws_region.
    let environment = std::env::vars().map(|(name, value)| (name.to_ascii_lowercase(), value));
    let (store, prefix) = parse_url_opts(&parsed, environment).map_err(|e| e.to_string())?;
    let runtime = super::runtime().map_err(|_| "can't start a runtime".to_owned())?;
    let archive = is_archive(url);
    let copied = runtime.block_on(async {
        let objects = if archive {
            vec![prefix.clone()]
        } else {
            store.list(Some(&prefix)).map_ok(|object| object.location).try_collect().await?
        };
        for object in &objects {
            let below = object.prefix_match(&prefix).into_iter().flatten();
            let name: Vec<String> = below.map(|part| part.as_ref().to_owned()).collect();
            let name = if archive { prefix.filename().unwrap_or_default().to_owned() } else { name.join("/") };
            let bytes = store.get(object).await?.bytes().await?;
            let to = folder.path().join(name);
            let written =
                to.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&to, &bytes));
            written.map_err(|e| object_store::Error::Generic { store: "the copy here", source: Box::new(e) })?;
        }
        Ok::<usize, object_store::Error>(objects.len())
    });
    match copied.map_err(|e| e.to_string().replace('\n', " "))? {
        0 => return Err("nothing is there".to_owned()),
        _ if archive => return unpack(&folder.path().join(prefix.filename().unwrap_or_default())),
        _ => {}
    }
    let run = run_in(folder.path(), "no run there")?;
    Ok((run, folder))
}
