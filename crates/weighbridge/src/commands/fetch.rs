//! Run folders from wherever they are: a folder, an archive of one, or an object store.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use record::folder::RUN_JSON;
use tempfile::TempDir;

use super::Failure;

/// A run folder, which is removed with this value if it was brought here.
pub(super) struct Fetched {
    /// The folder.
    pub(super) path: PathBuf,
    /// Where it was said to be.
    pub(super) source: String,
    _brought: Option<TempDir>,
}

/// Brings a run folder here.
///
/// # Errors
/// One line: nothing there, an archive that can't be read or holds no run, or a store that refuses.
pub(super) fn fetch(source: &str) -> Result<Fetched, Failure> {
    let failed = |e: String| Failure::Failed(format!("{source}: {e}"));
    let here = |path: PathBuf, brought| Fetched { path, source: source.to_owned(), _brought: brought };
    if source.contains("://") {
        let (path, brought) = from_store(source).map_err(failed)?;
        return Ok(here(path, Some(brought)));
    }
    let path = Path::new(source);
    if !(path.is_file() && is_archive(source)) {
        return Ok(here(path.to_owned(), None));
    }
    let (path, brought) = unpack(path).map_err(failed)?;
    Ok(here(path, Some(brought)))
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
    tar::Archive::new(bytes).unpack(folder.path()).map_err(|e| format!("not an archive that can be read: {e}"))?;
    let run = run_in(folder.path()).ok_or("no run in this archive, at its top or in one folder of it")?;
    Ok((run, folder))
}

/// The run in a folder, or in the only place one level below.
fn run_in(folder: &Path) -> Option<PathBuf> {
    if folder.join(RUN_JSON).exists() {
        return Some(folder.to_owned());
    }
    let entries = std::fs::read_dir(folder).ok()?;
    let mut runs =
        entries.filter_map(|entry| entry.ok()).map(|entry| entry.path()).filter(|path| path.join(RUN_JSON).exists());
    let first = runs.next()?;
    runs.next().is_none().then_some(first)
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
        let objects = match archive {
            true => vec![prefix.clone()],
            false => store.list(Some(&prefix)).map_ok(|object| object.location).try_collect().await?,
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
    let run = run_in(folder.path()).ok_or("no run there")?;
    Ok((run, folder))
}
