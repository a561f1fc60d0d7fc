//! The last lines of other tools, for the scripts that read them today.
//!
//! They have no place for a verdict: whoever prints them says it elsewhere. A rate without the standard's waits is
//! named NOPM in them too, and has no efficiency.

use record::latency_log;
use record::recorder::{Clock, Phase};
use record::run::RunRecord;
use record::summary::{Summary, TransactionSummary};
use record::{Histogram, OpenedRun, Stats};

/// The end of `cockroach workload run tpcc`: the header and the line of New-Order.
#[must_use]
pub fn cockroach_lines(run: &RunRecord, summary: &Summary) -> String {
    let times = summary.headline(&run.plan).map(|figures| figures.response).unwrap_or_default();
    let metric = if summary.tpmc.is_some() { "tpmC".to_owned() } else { run.plan.labels.metric.clone() };
    let efficiency = summary.efficiency.map_or_else(|| "n/a".to_owned(), |share| format!("{:.1}%", share * 100.0));
    let mut text = format!("_elapsed_______{metric}____efc__avg(ms)__p50(ms)__p90(ms)__p95(ms)__p99(ms)_pMax(ms)\n");
    text.push_str(&format!("{:7.1}s {:10.1} {efficiency:>6}", summary.measured_seconds, truncated(summary.nopm)));
    let times = [times.mean, times.p50, times.p90, times.p95, times.p99, times.max];
    times.iter().for_each(|time| text.push_str(&format!(" {time:8.1}")));
    text + "\n"
}

/// A rate to one decimal, truncated and never rounded (5.4.4).
fn truncated(rate: f64) -> f64 {
    (rate * 10.0).floor() / 10.0
}

/// The results block of YugabyteDB's `tpccbenchmark`.
///
/// Its latency is the time with the database, retries included, and the wait for a connection stands beside it; its
/// Delivery is done by the terminal, so ours shows the deferred part.
#[must_use]
pub fn yugabyte_block(opened: &OpenedRun, summary: &Summary) -> String {
    let metric = if summary.tpmc.is_some() { "TPM-C".to_owned() } else { opened.record.plan.labels.metric.clone() };
    let efficiency = summary.efficiency.map_or_else(|| "n/a".to_owned(), |share| format!("{:.2}%", share * 100.0));
    let mut text = "================RESULTS================\n".to_owned();
    text.push_str(&format!("{metric:>18} | {:18.2}\n", summary.nopm));
    text.push_str(&format!("{:>18} | {efficiency:>19}\n", "Efficiency"));
    text.push_str(&format!("{:>18} | {:18.2}\n", "Throughput (req/s)", summary.total_per_minute / 60.0));

    text.push_str("\n======================LATENCIES (INCLUDE RETRY ATTEMPTS)=====================\n");
    text.push_str(" Transaction |  Count   | Avg. Latency | P99 Latency | Connection Acq Latency\n");
    let mut row = |name: &str, service: &Stats, queue: &Stats| {
        text.push_str(&format!(
            "{name:>12} |{:9} |{:13.2} |{:12.2} |{:23.2}\n",
            service.count, service.mean, service.p99, queue.mean
        ));
    };
    for figures in &summary.transactions {
        let (service, queue) = match &figures.deferred {
            Some(deferred) => (&deferred.service, &deferred.queue),
            None => (&figures.service, &figures.queue),
        };
        row(&bare(figures), service, queue);
    }
    let work =
        |direct, deferred| all(opened, summary, |figures| if figures.deferred.is_some() { deferred } else { direct });
    row("All", &work(Clock::Service, Clock::DeferredService), &work(Clock::Queue, Clock::DeferredQueue));

    text.push_str("\n=======================WORKER TASK LATENCIES=======================\n");
    text.push_str(" Transaction |     Task     |  Count   | Avg. Latency | P99 Latency\n");
    let mut row = |name: &str, task: &str, stats: &Stats| {
        text.push_str(&format!("{name:>12} |{task:>13} |{:9} |{:13.2} |{:12.2}\n", stats.count, stats.mean, stats.p99));
    };
    let mut tasks = |name: &str, keying: &Stats, response: &Stats, think: &Stats| {
        row(name, "Keying", keying);
        row(name, "Op With Retry", response);
        row(name, "Thinking", think);
    };
    for figures in &summary.transactions {
        tasks(&bare(figures), &figures.keying, &figures.response, &figures.think);
    }
    let [keying, response, think] =
        [Clock::Keying, Clock::Response, Clock::Think].map(|clock| all(opened, summary, |_| clock));
    tasks("All", &keying, &response, &think);
    text
}

/// `NewOrder` of `New-Order`.
fn bare(figures: &TransactionSummary) -> String {
    figures.title.replace('-', "")
}

/// One clock of all transactions together; which one may hang on the transaction.
fn all(opened: &OpenedRun, summary: &Summary, clock: impl Fn(&TransactionSummary) -> Clock) -> Stats {
    let mut sum = Histogram::<u64>::new();
    for figures in &summary.transactions {
        let tag = latency_log::tag(&figures.name, Phase::Measured, clock(figures));
        if let Some(histogram) = opened.histograms.get(&tag) {
            sum.merge(histogram);
        }
    }
    sum.stats()
}
