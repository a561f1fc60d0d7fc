//! The result of a run as Markdown, for a review, an issue or a chat.

use record::Stats;
use record::run::{CheckCounts, RunRecord};
use record::summary::Summary;
use record::verdict::{Judgement, Verdict};

use crate::columns::ms;
use crate::table::{line, rate};

/// The result: what was measured on what, the verdict, the times.
#[must_use]
pub fn markdown(run: &RunRecord, summary: &Summary, verdict: &Verdict) -> String {
    let (metric, rate) = rate(run, summary);
    let plan = &run.plan;
    let mut text = format!("**{rate} {metric}**");
    if let Some(efficiency) = summary.efficiency {
        text.push_str(&format!(", {:.1} % efficiency", efficiency * 100.0));
    }
    text.push_str(&format!(", verdict **{}**\n\n", verdict.status.name()));
    let pacing = match plan.pacing.to_string().as_str() {
        "standard" => plan.labels.full_waits.clone(),
        "none" => "no keying and think times".to_owned(),
        factor => format!("keying and think times multiplied by {factor}"),
    };
    text.push_str(&format!(
        "{} {}: {}, {} terminals, {} connections, style `{}`, isolation {}, {pacing}; {:.0} s measured\n",
        run.target.kind,
        cell(&run.target.version),
        if plan.has_warehouses() { format!("{} warehouses", plan.warehouses) } else { cell(&plan.workload) },
        plan.terminals,
        plan.connections,
        plan.style,
        plan.isolation,
        summary.measured_seconds,
    ));

    text.push_str("\n| response time, ms | count | share % | rolled back | errors | retries | mean | p50 | p90 | p95 | p99 | max |\n");
    text.push_str("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for figures in &summary.transactions {
        text.push_str(&format!(
            "| {} | {} | {:.2} | {} | {} | {} |{}\n",
            figures.title,
            figures.count,
            figures.share * 100.0,
            figures.rolled_back,
            figures.errors,
            figures.retries,
            times(&figures.response)
        ));
        if let Some(deferred) = &figures.deferred {
            text.push_str(&format!(
                "| {}, deferred | {} | | | {} | {} |{}\n",
                figures.title,
                deferred.completed,
                deferred.failures.total(),
                deferred.retries,
                times(&deferred.response)
            ));
        }
    }
    if let Some(checks) = &run.checks {
        text.push_str(&format!("\nChecks of the data: {}\n", CheckCounts::from_checks(checks)));
    }
    let not_judged = verdict.findings.iter().filter(|finding| finding.outcome == Judgement::NotJudged);
    let lists: [(&str, Vec<String>); 3] = [
        ("Failed", verdict.reasons.iter().map(line).collect()),
        ("Deviations", verdict.deviations.clone()),
        ("Not judged", not_judged.map(line).collect()),
    ];
    for (title, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(&format!("\n{title}:\n\n"));
        lines.iter().for_each(|line| text.push_str(&format!("- {}\n", cell(line))));
    }
    text + "\n" + &plan.labels.disclaimer + "\n"
}

fn times(stats: &Stats) -> String {
    let times = [stats.mean, stats.p50, stats.p90, stats.p95, stats.p99, stats.max];
    times.map(|time| format!(" {} |", ms(stats.count, time))).concat()
}

/// Foreign words, such as a server's version, that must not end a cell or begin a tag.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace(['\n', '\r'], " ")
}
