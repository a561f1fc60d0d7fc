//! `weighbridge report`: the result of a run again, from its folder alone.

use record::verdict::Status as VerdictStatus;
use record::{OpenedRun, RunFolder, Summary};

use super::{Ended, Status};
use crate::cli::ReportArgs;
use crate::output;

pub(crate) fn run(args: &ReportArgs) -> Ended {
    show(&RunFolder::open(&args.run)?, args.json)
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
