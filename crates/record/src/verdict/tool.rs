//! Rules on the tool itself: whether it could have bent the figures, and whether the run came to its end.

use crate::plan::Pacing;
use crate::run::Ended;

use super::{Case, Finding, Judgement, percent};

/// Latest that the tool may wake one terminal in a hundred, ms.
const MAX_LAG_MS: f64 = 50.0;

/// Largest share of its threads' time that the tool may be busy.
const MAX_CPU: f64 = 0.9;

pub(super) fn judge(case: Case<'_>) -> Vec<Finding> {
    vec![lag(case), cpu(case), ended(case)]
}

/// The tool woke its terminals in time.
fn lag(case: Case<'_>) -> Finding {
    let lag = case.summary.lag;
    let finding = Finding::new("lag of the tool's timer, 99th percentile", "", format!("<= {MAX_LAG_MS} ms"));
    if case.run.plan.pacing == Pacing::None {
        return finding.not_applicable("no waits to be late for");
    }
    if lag.count == 0 {
        return finding.not_judged("no wait was served");
    }
    let finding = finding.figure(format!("{:.3} ms", lag.p99));
    if lag.p99 > MAX_LAG_MS {
        finding.fail("the client machine cannot keep time; give it more CPU or drive fewer terminals")
    } else {
        finding.pass()
    }
}

/// The tool had CPU to spare, so that it was the database that was measured.
fn cpu(case: Case<'_>) -> Finding {
    let tare = case.run.tare;
    let finding = Finding::new("the tool's own CPU, of its threads", "", format!("<= {}", percent(MAX_CPU)));
    if tare.cpu_seconds <= 0.0 {
        return finding
            .not_judged("it stands in no record: the run did not come to its end, or the system does not tell it");
    }
    let finding = finding.figure(percent(tare.cpu_share_of_threads));
    if case.run.target.embedded {
        finding.not_judged("the database works inside the tool's process")
    } else if tare.cpu_share_of_threads > MAX_CPU {
        finding.fail("the tool itself was the bottleneck; give it more threads or more machines")
    } else if case.run.clients.iter().any(|client| client.cpu_share_of_threads <= 0.0) {
        finding.not_judged("that of some clients stands in no record")
    } else {
        finding.pass()
    }
}

/// The run came to its planned end.
fn ended(case: Case<'_>) -> Finding {
    let finding = Finding::new("run completed", "", "as planned");
    match &case.run.ended {
        Ended::Completed => finding.figure("completed").pass(),
        Ended::Interrupted => {
            finding.figure("interrupted").judged(Judgement::Deviation, "stopped early; what was measured counts")
        }
        Ended::Running => finding
            .figure("not ended")
            .judged(Judgement::Deviation, "still running, or killed; what was written until then counts"),
        Ended::Failed(error) => finding.figure("failed").fail(error),
    }
}
