//! `weighbridge report`: the result of a run again, as text, JSON or a page, from its folder alone.

use std::path::Path;

use record::folder::PAGE;
use record::verdict::Status as VerdictStatus;
use record::{OpenedRun, RecordError, Summary};

use super::fetch::fetch;
use super::{Ended, Failure, Status};
use crate::cli::{ReportArgs, ResultFormat};
use crate::output;

pub(crate) fn run(args: &ReportArgs) -> Ended {
    let sweep = Path::new(&args.run);
    if super::sweep::is_sweep(sweep) {
        if args.html {
            super::sweep::write_page(sweep, &args.out.clone().unwrap_or_else(|| sweep.join(PAGE)))?;
        }
        return super::sweep::show(sweep, args.output.format());
    }
    let fetched = fetch(&args.run)?;
    if args.html && args.out.is_none() && fetched.is_brought() {
        return Err(Failure::Usage(format!("{}: say with --out FILE where its page is to be", args.run)));
    }
    let opened = fetched.open()?;
    if args.html {
        let page = args.out.clone().unwrap_or_else(|| fetched.path.join(PAGE));
        write_page(&opened, &page)?;
    }
    show(&opened, args.output.format())
}

/// Writes a run's page, and says where.
pub(super) fn write_page(opened: &OpenedRun, path: &Path) -> Result<(), RecordError> {
    let summary = Summary::from_run(opened);
    let verdict = record::judge(&opened.record, &summary, &opened.timeline);
    write(path, &report::page(opened, &summary, &verdict).file())
}

/// Writes a page, and says where.
pub(super) fn write(path: &Path, page: &str) -> Result<(), RecordError> {
    record::folder::write_whole(path, page.as_bytes())?;
    say!("page: {}", path.display());
    Ok(())
}

/// Prints a run's result; not believed if its verdict is `invalid`.
pub(super) fn show(opened: &OpenedRun, format: ResultFormat) -> Ended {
    for warning in &opened.warnings {
        say!("warning: {warning}");
    }
    let run = &opened.record;
    let summary = Summary::from_run(opened);
    let verdict = record::judge(run, &summary, &opened.timeline);
    match format {
        ResultFormat::Table => output::print(&report::table(run, &summary, &verdict))?,
        ResultFormat::Json => {
            let mut document = report::json(run, &summary, &verdict);
            document["folder"] = opened.source.clone().into();
            output::print_json(&document)?;
        }
        ResultFormat::Markdown => output::print(&report::markdown(run, &summary, &verdict))?,
        ResultFormat::Cockroach => output::print(&report::cockroach_lines(run, &summary))?,
        ResultFormat::Yugabyte => output::print(&report::yugabyte_block(opened, &summary))?,
    }
    // The other tools' lines have no place for it.
    if matches!(format, ResultFormat::Cockroach | ResultFormat::Yugabyte) {
        say!("verdict: {}", verdict.status.name());
        verdict.reasons.iter().for_each(|reason| say!("  {}: {}; limit {}", reason.rule, reason.figure, reason.limit));
    }
    Ok(if verdict.status == VerdictStatus::Invalid { Status::NotBelieved } else { Status::Done })
}
