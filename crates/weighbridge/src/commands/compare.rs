//! `weighbridge compare`: what changed between two sides of runs, and whether chance explains it.

use std::path::{Path, PathBuf};

use record::compare::{CompareError, Compared, compare};
use record::folder::RUN_JSON;

use super::{Ended, Failure, Status};
use crate::cli::{CompareArgs, CompareFormat};
use crate::output;

pub(crate) fn run(args: &CompareArgs) -> Ended {
    let (base, new) = (side(&args.base)?, side(&args.new)?);
    let comparison = compare(&base, &new, args.force).map_err(|e| match e {
        CompareError::Unlike(_) => Failure::Usage(e.to_string()),
        CompareError::Nothing(_) => Failure::Failed(e.to_string()),
    })?;
    if let Some(page) = &args.html {
        super::report::write(page, &report::compare_page(&comparison))?;
    }
    match args.format() {
        CompareFormat::Table => output::print(&report::compare_table(&comparison))?,
        CompareFormat::Markdown => output::print(&report::compare_markdown(&comparison))?,
        CompareFormat::Json => output::print_json(&report::compare_json(&comparison))?,
    }
    let effect = &comparison.decisive;
    if args.fail_if_slower.is_some() && effect.interval.is_none() {
        eprintln!("--fail-if-slower can't be judged: the runs are too short to tell a difference from chance");
        return Ok(Status::NotBelieved);
    }
    let too_slow = args.fail_if_slower.is_some_and(|allowed| effect.significant && effect.loss() > allowed.0);
    Ok(if too_slow { Status::NotBelieved } else { Status::Done })
}

/// The run at a path, or all the runs in it: repetitions.
fn side(path: &Path) -> Result<Vec<Compared>, Failure> {
    let repetitions: Vec<PathBuf> = if path.join(RUN_JSON).exists() {
        vec![path.to_path_buf()]
    } else {
        let entries = std::fs::read_dir(path).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
        let mut folders: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        folders.retain(|folder| folder.join(RUN_JSON).exists());
        folders.sort();
        folders
    };
    if repetitions.is_empty() {
        return Err(Failure::Failed(format!("{}: neither a run folder nor a folder of them", path.display())));
    }
    let runs: Result<Vec<Compared>, _> = repetitions.iter().map(|folder| Compared::open(folder)).collect();
    Ok(runs?)
}
