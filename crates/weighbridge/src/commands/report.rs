//! `weighbridge report`: the result of a run again, as text, JSON or a page, from its folder alone.

use std::path::Path;

use record::folder::PAGE;
use record::verdict::Status as VerdictStatus;
use record::{OpenedRun, RecordError, RunFolder, Summary};

use super::{Ended, Status};
use crate::cli::ReportArgs;
use crate::output;

pub(crate) fn run(args: &ReportArgs) -> Ended {
    let opened = RunFolder::open(&args.run)?;
    if args.html {
        write_page(&opened, &args.out.clone().unwrap_or_else(|| args.run.join(PAGE)))?;
    }
    show(&opened, args.json)
}

/// Writes a run's page, and says where.
pub(super) fn write_page(opened: &OpenedRun, path: &Path) -> Result<(), RecordError> {
    let summary = Summary::of(opened);
    let verdict = record::judge(&opened.record, &summary, &opened.timeline);
    let page = report::page(opened, &summary, &verdict);
    std::fs::write(path, page).map_err(|e| RecordError::io("write", path, e))?;
    eprintln!("page: {}", path.display());
    Ok(())
}

/// Prints a run's result; not believed if its verdict is `invalid`.
pub(super) fn show(opened: &OpenedRun, json: bool) -> Ended {
    for warning in &opened.warnings {
        eprintln!("warning: {warning}");
    }
    let summary = Summary::of(opened);
    let verdict = record::judge(&opened.record, &summary, &opened.timeline);
    if json {
        let mut document = report::json(&opened.record, &summary, &verdict);
        document["folder"] = opened.path.display().to_string().into();
        output::print_json(&document)?;
    } else {
        output::print(&report::table(&opened.record, &summary, &verdict))?;
    }
    Ok(if verdict.status == VerdictStatus::Invalid { Status::NotBelieved } else { Status::Done })
}
