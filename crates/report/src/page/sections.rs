//! The sections of a page that say in words and tables what the run gave.

use maud::{Markup, html};
use record::Stats;
use record::folder::WORKLOAD;
use record::gateway::Moves;
use record::merge::{ClientPart, RegionPart};
use record::plan::{Pacing, Plan};
use record::run::{CheckCounts, Ended, RunRecord};
use record::summary::{RateMethod, Summary, TransactionSummary};
use record::verdict::{Finding, Judgement, Status, Verdict};

use super::repeat::Commands;
use super::table::{facts, table};
use super::words::{bytes, count, duration, grouped, ms, percent, rate, several};

/// What was measured, in a line: `TPC-C on postgres, 10 warehouses`.
pub(super) fn subject(run: &RunRecord) -> String {
    let plan = &run.plan;
    let mut subject = format!("{} on {}", plan.labels.title, run.target.kind);
    if plan.has_warehouses() {
        subject.push_str(&format!(", {}", several(plan.warehouses.into(), "warehouse")));
    }
    subject
}

/// The headline, the verdict, and the figures that everybody asks for first.
pub(super) fn headline(run: &RunRecord, summary: &Summary, verdict: &Verdict) -> Markup {
    let plan = &run.plan;
    let (number, metric) = match summary.tpmc {
        Some(tpmc) => (count(tpmc), "tpmC".to_owned()),
        None => (rate(summary.nopm), plan.labels.metric.clone()),
    };
    let response = summary.headline(plan).map(|figures| figures.response).unwrap_or_default();
    let title = plan.headline().map_or("", |index| plan.transactions[index].title.as_str());
    let retries: u64 = summary.transactions.iter().map(|figures| figures.retries).sum();
    let errors: u64 = summary.transactions.iter().map(|figures| figures.errors).sum();
    let interval = summary.nopm_interval;
    html! {
        header.hero {
            p.brand { "weighbridge" }
            h1 { (subject(run)) }
            p.note { (run.target.version) }
            div.result {
                p.number { strong { (number) } " " abbr title=(metric_words(run, summary)) { (metric) } }
                p class={ "badge " (verdict.status.name()) } { "verdict: " strong { (verdict.status.name()) } }
            }
            p.lead { (status_words(run, verdict)) }
            @if !plan.labels.warning.is_empty() { p.note { (plan.labels.warning) } }
            (facts(&[
                ("Throughput, 95 % interval", format!("{} to {} {title}s a minute", rate(interval.low), rate(interval.high))),
                ("Efficiency", summary.efficiency.map_or_else(String::new, |efficiency| {
                    format!("{} of the {} that the standard's waits allow", percent(efficiency, 1),
                        rate(plan.scale.max_per_warehouse * f64::from(plan.warehouses)))
                })),
                (&format!("{title} response time"), format!("{} ms on average, 90\u{a0}% within {} ms, 99\u{a0}% within {} ms",
                    ms(response.count, response.mean), ms(response.count, response.p90), ms(response.count, response.p99))),
                ("All transactions", format!("{} a minute; {}, {}", rate(summary.total_per_minute), several(errors, "error"), several(retries, "retry"))),
                ("Load", format!("{}, {}, style {}", several(plan.terminals.into(), "terminal"),
                    several(plan.connections.into(), "connection"), plan.style)),
                ("Measured", format!("{} after {} of ramp{}", duration(summary.measured_seconds), duration(plan.ramp_seconds),
                    run.started_at.map_or_else(String::new, |at| format!(", started {}", at.strftime("%Y-%m-%d %H:%M:%S UTC"))))),
            ]))
        }
    }
}

fn metric_words(run: &RunRecord, summary: &Summary) -> String {
    match summary.tpmc {
        Some(_) => "New-Orders a minute at the standard's pace".to_owned(),
        None => run.plan.labels.metric_words.clone(),
    }
}

/// What a verdict means, for somebody who has never seen one.
fn status_words(run: &RunRecord, verdict: &Verdict) -> String {
    match verdict.status {
        Status::Standard => "Everything that the standard asks of a run, and that a program can judge, holds.".into(),
        Status::Engineering => format!(
            "Every rule that was judged holds, but the run deviates harmlessly from the standard in {}, listed below.",
            several(verdict.deviations.len() as u64, "point")
        ),
        Status::Unconstrained => run.plan.labels.unconstrained.clone(),
        Status::Invalid => format!(
            "This figure can't be relied on: {} failed, and chance does not explain it.",
            several(verdict.reasons.len() as u64, "rule")
        ),
    }
}

/// The verdict with all that bears on it.
pub(super) fn verdict(verdict: &Verdict, warnings: &[String]) -> Markup {
    let not_judged: Vec<&Finding> = verdict.findings.iter().filter(|f| f.outcome == Judgement::NotJudged).collect();
    let of = |outcome: Judgement| verdict.findings.iter().filter(|finding| finding.outcome == outcome).count();
    html! {
        p {
            "Of " (several(verdict.findings.len() as u64, "rule")) " " (of(Judgement::Pass)) " hold, " (verdict.reasons.len()) " failed, "
            (of(Judgement::Deviation)) " deviate harmlessly, " (not_judged.len()) " could not be judged, "
            (of(Judgement::NotApplicable)) " don't apply to such a run. A rule fails only where chance can't explain the figure."
        }
        (list("Failed", "failed", verdict.reasons.iter().map(sentence)))
        (list("Deviations from the standard", "deviations", verdict.deviations.iter().cloned()))
        (list("About the record itself", "warnings", warnings.iter().cloned()))
        @if !not_judged.is_empty() {
            details {
                summary { (several(not_judged.len() as u64, "rule")) " that could not be judged, and why" }
                ul { @for finding in not_judged { li { (sentence(finding)) } } }
            }
        }
        details {
            summary { "All rules, with figure, limit and clause" }
            (table("All rules of the verdict", &["<rule", "<outcome", "<figure", "<limit", "<why", "<clause"], &verdict.findings.iter().map(|f| {
                vec![f.rule.clone(), f.outcome.name().replace('_', " "), f.figure.clone(), f.limit.clone(), f.why.clone(), f.clause.clone()]
            }).collect::<Vec<_>>()))
        }
    }
}

fn list(title: &str, class: &str, lines: impl Iterator<Item = String>) -> Markup {
    let lines: Vec<String> = lines.collect();
    html! {
        @if !lines.is_empty() {
            h3 { (title) }
            ul class=(class) { @for line in lines { li { (line) } } }
        }
    }
}

/// A finding in one sentence.
fn sentence(finding: &Finding) -> String {
    let limit = if finding.limit.is_empty() { String::new() } else { format!("limit {}", finding.limit) };
    let clause = if finding.clause.is_empty() { String::new() } else { format!("clause {}", finding.clause) };
    let parts = [finding.figure.as_str(), &limit, &finding.why, &clause];
    let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if said.is_empty() { finding.rule.clone() } else { format!("{}: {}", finding.rule, said.join("; ")) }
}

/// How the rate was counted.
pub(super) fn rates(run: &RunRecord, summary: &Summary) -> Markup {
    let interval = summary.nopm_interval;
    let method = match interval.method {
        RateMethod::BatchMeans => format!("from the spread of {} equal parts of the interval", interval.batches),
        RateMethod::Poisson => "from the count alone, as there are too few for a spread".to_owned(),
    };
    let ceiling = run.plan.ceiling_per_warehouse * f64::from(run.plan.warehouses);
    let paced = run.plan.is_standard() && ceiling > 0.0;
    html! {
        p {
            (run.plan.headline_title()) "s a minute: " strong { (rate(summary.nopm)) } " with those that are rolled back by design"
            (run.plan.labels.rollbacks) ", "
            (rate(summary.nopm_committed)) " without. What chance can do inside this run leaves the true rate between " (rate(interval.low)) " and "
            (rate(interval.high)) " (95 %, " (method) "); another run may differ by more."
            @if paced { " With this mix and the standard's waits, answers that take no time would give " (rate(ceiling)) "." }
        }
    }
}

const PERCENTILES: [&str; 7] = ["mean", "p50", "p90", "p95", "p99", "p99.9", "slowest"];

fn times(stats: &Stats) -> impl Iterator<Item = String> + use<> {
    let count = stats.count;
    let times = [stats.mean, stats.p50, stats.p90, stats.p95, stats.p99, stats.p999, stats.max];
    times.into_iter().map(move |time| ms(count, time))
}

/// Counts and percentiles of each transaction type.
pub(super) fn percentiles(summary: &Summary) -> Markup {
    let mut rows = Vec::new();
    for figures in &summary.transactions {
        let share = percent(figures.share, 2);
        let counts = [figures.rolled_back, figures.errors, figures.retries].map(count);
        let mut row = vec![figures.title.clone(), count(figures.count), share];
        row.extend(counts);
        row.extend(times(&figures.response));
        rows.push(row);
        if let Some(deferred) = &figures.deferred {
            let (errors, retries) = (count(deferred.failures.total()), count(deferred.retries));
            let mut row = vec![format!("{}, deferred part", figures.title), count(deferred.completed)];
            row.extend([String::new(), String::new(), errors, retries]);
            row.extend(times(&deferred.response));
            rows.push(row);
        }
    }
    let header: Vec<&str> = ["<transaction", "completed", "share", "rolled back", "errors", "retries"]
        .into_iter()
        .chain(PERCENTILES)
        .collect();
    html! {
        (table("Response time, milliseconds, and counts in the measurement interval", &header, &rows))
        @for figures in &summary.transactions {
            @if let Some(deferred) = &figures.deferred {
                p.note {
                    (figures.title) " is queued and carried out later: " (count(deferred.skipped)) " skipped a district ("
                    (count(deferred.skipped_parts)) " districts in all), " (count(deferred.late)) " came too late."
                }
            }
        }
    }
}

/// Where the response time went.
pub(super) fn clocks(summary: &Summary) -> Markup {
    let clock = |name: &str, pick: fn(&TransactionSummary) -> &Stats| {
        let rows: Vec<Vec<String>> = summary
            .transactions
            .iter()
            .map(|figures| std::iter::once(figures.title.clone()).chain(times(pick(figures))).collect())
            .collect();
        let header: Vec<&str> = std::iter::once("<transaction").chain(PERCENTILES).collect();
        table(name, &header, &rows)
    };
    html! {
        details {
            summary { "Where the response time went: with the database, and waiting for a connection" }
            (clock("Time with the database, milliseconds", |figures| &figures.service))
            (clock("Wait for a connection, milliseconds", |figures| &figures.queue))
        }
    }
}

/// Keying and think times as served (8.1.3).
pub(super) fn waits(run: &RunRecord, summary: &Summary) -> Markup {
    let seconds = |stats: &Stats, ms: f64| if stats.count == 0 { "–".to_owned() } else { grouped(ms / 1000.0, 3) };
    let rows: Vec<Vec<String>> = summary
        .transactions
        .iter()
        .zip(&run.plan.transactions)
        .map(|(figures, rule)| {
            let mut row = vec![figures.title.clone()];
            for (stats, asked) in [(&figures.keying, rule.keying_seconds), (&figures.think, rule.mean_think_seconds)] {
                row.push(grouped(asked, 0));
                row.extend([stats.min, stats.mean, stats.max].map(|ms| seconds(stats, ms)));
            }
            row
        })
        .collect();
    let header =
        ["<transaction", "keying: asked", "least", "mean", "longest", "think: mean asked", "least", "mean", "longest"];
    html! {
        p {
            @match run.plan.pacing {
                Pacing::Standard => { "Terminals typed and thought as long as " (run.plan.labels.waits_by) " asks." },
                Pacing::None => "Terminals neither typed nor thought: each sent its next transaction at once. So there are no think times to show.",
                Pacing::Factor(factor) => { "All waits were multiplied by " (factor) "." },
            }
        }
        @if run.plan.pacing != Pacing::None { (table("Keying and think times as served, seconds", &header, &rows)) }
    }
}

/// Errors by cause; one sentence where there are none.
pub(super) fn errors(run: &RunRecord) -> Markup {
    let mut rows = Vec::new();
    for (rule, counts) in run.plan.transactions.iter().zip(&run.counts) {
        let measured = &counts.measured;
        let deferred =
            (format!("{}, deferred part", rule.title), measured.deferred.failures, measured.deferred.retries);
        for (title, failures, retries) in [(rule.title.clone(), measured.failures, measured.retries), deferred] {
            if failures.total() + retries > 0 {
                let numbers = [failures.integrity, failures.exhausted, failures.connection, failures.other, retries];
                rows.push(std::iter::once(title).chain(numbers.map(count)).collect());
            }
        }
    }
    let header =
        ["<transaction", "contradicted the data", "retries used up", "connection lost", "otherwise", "retries"];
    html! {
        @if rows.is_empty() { p { "In the measurement interval there was no error and no retry." } }
        @else { (table("Errors by cause, and retries, in the measurement interval", &header, &rows)) }
    }
}

/// The clients of a merged run, and their regions.
pub(super) fn clients(run: &RunRecord) -> Markup {
    let client = |client: &ClientPart| {
        let last = (client.first_warehouse + client.warehouses).saturating_sub(1);
        let mut row = vec![client.folder.clone(), client.region.clone(), format!("{}–{last}", client.first_warehouse)];
        row.extend([client.connections.into(), client.errors].map(count));
        row.extend([client.start_skew_seconds, client.measured_seconds].map(|seconds| grouped(seconds, 1)));
        row.push(rate(client.nopm));
        row.extend([client.response.p90, client.response.p99].map(|time| ms(client.response.count, time)));
        row.push(percent(client.cpu_share_of_threads, 1));
        row
    };
    let clients: Vec<Vec<String>> = run.clients.iter().map(client).collect();
    let region = |region: &RegionPart| {
        let name = if region.region.is_empty() { "not told" } else { &region.region };
        let mut row = vec![name.to_owned(), count(region.clients.into()), count(region.warehouses.into())];
        row.push(rate(region.nopm));
        let times = [region.response.mean, region.response.p50, region.response.p90, region.response.p99];
        row.extend(times.map(|time| ms(region.response.count, time)));
        row.push(count(region.errors));
        row
    };
    let regions: Vec<Vec<String>> = run.regions.iter().map(region).collect();
    let header = [
        "<client",
        "<region",
        "warehouses",
        "connections",
        "errors",
        "start +s",
        "measured s",
        "New-Orders a minute",
        "p90 ms",
        "p99 ms",
        "CPU of its threads",
    ];
    let of_regions =
        ["<region", "clients", "warehouses", "New-Orders a minute", "mean ms", "p50 ms", "p90 ms", "p99 ms", "errors"];
    html! {
        p { "The runs that were merged into this one; times are New-Order response times." }
        (table("Clients", &header, &clients))
        @if !regions.is_empty() { (table("Regions", &of_regions, &regions)) }
    }
}

/// What went through each gateway.
pub(super) fn gateways(summary: &Summary) -> Markup {
    let mut rows = Vec::new();
    for (figures, number) in summary.gateways.iter().zip(1..) {
        let (plan, moves) = (&figures.plan, &figures.moves);
        let last = (plan.first_warehouse + plan.warehouses).saturating_sub(1);
        let fate = if *moves == Moves::default() {
            "kept".to_owned()
        } else {
            format!(
                "{} lost, {} moved to others, {} taken over, {} returned",
                moves.lost, moves.failovers_from, moves.failovers_to, moves.returned
            )
        };
        let mut row = vec![format!("{number}: {}", plan.url), format!("{}–{last}", plan.first_warehouse)];
        row.extend(
            [u64::from(plan.connections), figures.transactions, figures.headline, figures.errors, figures.retries]
                .map(count),
        );
        row.extend(
            [figures.response.p50, figures.response.p90, figures.response.p99]
                .map(|time| ms(figures.response.count, time)),
        );
        row.push(fate);
        rows.push(row);
    }
    let header = [
        "<gateway",
        "warehouses",
        "connections",
        "transactions",
        "New-Orders",
        "errors",
        "retries",
        "p50 ms",
        "p90 ms",
        "p99 ms",
        "<its connections",
    ];
    html! {
        p { "The doors of the cluster that the load went through; times are New-Order response times." }
        (table("Gateways", &header, &rows))
    }
}

/// What the tool itself weighed.
pub(super) fn tare(run: &RunRecord, summary: &Summary) -> Markup {
    let (tare, lag) = (&run.tare, &summary.lag);
    html! {
        p {
            "A scale must know its own weight. If the tool were short of CPU or woke its terminals late, the figures would be its own, \
             not the database's; the verdict has limits for both."
        }
        (facts(&[
            ("CPU in the interval", format!("{} s, {} µs a {}", grouped(tare.cpu_seconds, 1), grouped(tare.cpu_us_per_headline, 0),
                run.plan.headline_title())),
            ("Share of its threads' time", percent(tare.cpu_share_of_threads, 1)),
            ("Most memory", bytes(tare.peak_rss_bytes)),
            ("Timer lag", match lag.count {
                0 => "none served: no waits in this run".to_owned(),
                n => format!("median {} ms, 99 % within {} ms, worst {} ms", ms(n, lag.p50), ms(n, lag.p99), ms(n, lag.max)),
            }),
            ("Client machine", format!("{}, {}, {}", run.client.os, several(run.client.cpus.into(), "core"), bytes(run.client.memory_bytes))),
        ]))
        @if run.target.embedded { p.note { "The database works inside the tool's process, so its work is counted here too." } }
    }
}

/// Whether the data are right after the run.
pub(super) fn data(run: &RunRecord) -> Markup {
    html! {
        h3 { "Acknowledged work is kept" }
        @match &run.reconciliation {
            None => p { "Not compared in this run." },
            Some(held) => {
                p {
                    strong { @if held.passed { "Passed" } @else { "Failed" } } ": " (held.detail)
                    ". What the database told the terminals is committed was held against what it gained."
                }
                @if !held.checked.is_empty() {
                    (table("Acknowledged against found", &["<what was counted", "acknowledged", "found", "outcome unknown", "missing"],
                        &held.checked.iter().map(|item| std::iter::once(item.name.clone())
                            .chain([item.acknowledged, item.gained, item.unknown, item.missing].map(count)).collect()).collect::<Vec<_>>()))
                }
            }
        }
        h3 { "Consistency conditions" }
        @match &run.checks {
            None => p { "Not checked in this run; " code { "weighbridge run --check" } " does." },
            Some(checks) => {
                p { (CheckCounts::from_checks(checks).to_string()) "." }
                details open[CheckCounts::from_checks(checks).failed > 0] {
                    summary { "All checks" }
                    (table("Checks of the data after the run", &["<condition", "<outcome", "violations", "<detail", "<clause"],
                        &checks.iter().map(|check| {
                            let outcome = match (&check.skipped, check.passed) {
                                (Some(why), _) => format!("skipped: {why}"),
                                (None, true) => "holds".into(),
                                (None, false) => "violated".into(),
                            };
                            vec![check.name.clone(), outcome, count(check.violations), check.detail.clone(), check.clause.clone()]
                        }).collect::<Vec<_>>()))
                }
            }
        }
    }
}

/// The plan, and the commands that repeat it.
pub(super) fn repeat(run: &RunRecord) -> Markup {
    let commands = Commands::for_run(run);
    let constants: Vec<String> = run.plan.constants.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let plan = &run.plan;
    html! {
        p {
            "The same seeds make the same rows and the same inputs on every database. A password is never recorded: give it in "
            code { "PGPASSWORD" } " or in the URL."
            @if !plan.workload_file.is_empty() { " The file " code { (WORKLOAD) } " lies in the run's folder." }
        }
        pre tabindex="0" { code { (commands.load) "\n" (commands.run) } }
        (facts(&[
            ("Warehouses", if plan.has_warehouses() {
                format!("{} to {} of {} loaded", plan.first_warehouse, plan.first_warehouse + plan.warehouses - 1, plan.loaded_warehouses)
            } else {
                String::new()
            }),
            ("Pacing", plan.pacing.to_string()),
            ("Mix", plan.mix.clone()),
            ("Isolation", plan.isolation.clone()),
            ("Terminals, connections, threads", format!("{}, {}, {}", count(plan.terminals.into()), count(plan.connections.into()), plan.threads)),
            ("Seeds", format!("{} of the inputs, {} of the data", plan.seed, plan.load_seed)),
            ("Constants", constants.join(", ")),
            ("Ended", match &run.ended {
                Ended::Completed => "as planned".to_owned(),
                Ended::Interrupted => "interrupted by a person".into(),
                Ended::Running => "not, or the tool was killed".into(),
                Ended::Failed(why) => format!("by an error: {why}"),
            }),
            ("Tool", run.tool.to_string()),
        ]))
    }
}

/// Words that a newcomer needs.
pub(super) fn glossary(plan: &Plan) -> Markup {
    const OF_ALL: [(&str, &str); 3] = [
        (
            "Response time",
            "From the moment the terminal sends to the whole answer, waits for a connection and retries included.",
        ),
        (
            "90th percentile (p90)",
            "The time that nine in ten transactions don't exceed. Half don't exceed the median (p50).",
        ),
        ("Ramp", "Time at the start that is not counted, so that the load is steady when the measurement begins."),
    ];
    let own = plan.labels.glossary.iter().map(|(word, meaning)| (word.as_str(), meaning.as_str()));
    html! { dl.glossary { @for (word, meaning) in own.chain(OF_ALL) { dt { (word) } dd { (meaning) } } } }
}
