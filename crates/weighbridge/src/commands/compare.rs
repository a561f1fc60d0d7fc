//! `weighbridge compare`: what changed between two sides of runs, and whether chance explains it.

use record::compare::{CompareError, Compared, compare};
use record::folder::RUN_JSON;

use super::fetch::{fetch, runs_below};
use super::{Ended, Failure, Status};
use crate::cli::{CompareArgs, SeriesFormat};
use crate::output;

pub(crate) fn run(args: &CompareArgs) -> Ended {
    let base = side(&args.base)?;
    let new = side(&args.new)?;
    let comparison = compare(&base, &new, args.force).map_err(|e| match e {
        CompareError::Unlike(_) => Failure::Usage(e.to_string()),
        CompareError::Nothing(_) => Failure::Failed(e.to_string()),
    })?;
    if let Some(page) = &args.html {
        super::report::write(page, &report::compare_page(&comparison).file())?;
    }
    match args.output.format() {
        SeriesFormat::Table => output::print(&report::compare_table(&comparison))?,
        SeriesFormat::Markdown => output::print(&report::compare_markdown(&comparison))?,
        SeriesFormat::Json => output::print_json(&report::compare_json(&comparison))?,
    }
    let effect = &comparison.decisive;
    if args.fail_if_slower.is_some() && effect.interval.is_none() {
        say!("--fail-if-slower can't be judged: the runs are too short to tell a difference from chance");
        return Ok(Status::NotBelieved);
    }
    let too_slow = args.fail_if_slower.is_some_and(|allowed| effect.significant && effect.loss() > allowed.0);
    Ok(if too_slow { Status::NotBelieved } else { Status::Done })
}

/// The run at a place, or all the runs in a folder: repetitions.
fn side(source: &str) -> Result<Vec<Compared>, Failure> {
    let fetched = fetch(source)?;
    if fetched.is_brought() || fetched.path.join(RUN_JSON).exists() {
        let run = Compared::open(&fetched.path).map_err(|e| fetched.failure(&e))?.named(source);
        run.warnings().iter().for_each(|warning| say!("warning: {}", fetched.in_its_place(warning)));
        return Ok(vec![run]);
    }
    std::fs::read_dir(&fetched.path).map_err(|e| Failure::Failed(format!("{source}: {e}")))?;
    let repetitions = runs_below(&fetched.path);
    if repetitions.is_empty() {
        return Err(Failure::Failed(format!("{source}: neither a run folder nor a folder of them")));
    }
    let runs = repetitions.iter().map(|folder| Compared::open(folder)).collect::<Result<Vec<Compared>, _>>()?;
    runs.iter().flat_map(Compared::warnings).for_each(|warning| say!("warning: {warning}"));
    Ok(runs)
}
