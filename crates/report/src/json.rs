//! The result of a run as one JSON document, for programs.

use record::Stats;
use record::run::RunRecord;
use record::statements::{PartSummary, StatementsSummary};
use record::summary::{DeferredSummary, GatewaySummary, Summary, TransactionSummary};
use record::verdict::Verdict;
use serde_json::{Map, Value, json};

/// The result of a run; `folder` is null, for the caller to fill.
#[must_use]
pub fn json(run: &RunRecord, summary: &Summary, verdict: &Verdict) -> Value {
    let plan = &run.plan;
    let transactions: Map<String, Value> =
        summary.transactions.iter().map(|figures| (figures.name.clone(), transaction(figures))).collect();
    let tallies: Vec<Value> = summary
        .tallies
        .iter()
        .zip(&plan.tallies)
        .map(|(tally, rule)| {
            json!({
                "name": tally.name, "clause": rule.clause, "hits": tally.hits, "trials": tally.trials,
                "figure": tally.figure, "low": rule.low, "high": rule.high,
            })
        })
        .collect();
    let mut document = json!({
        "workload": plan.workload,
        "tool": run.tool,
        "client": run.client,
        "target": run.target,
        "topology": run.topology,
        "warehouses": plan.warehouses,
        "pacing": plan.pacing.to_string(),
        "style": plan.style,
        "isolation": plan.isolation,
        "mix": plan.mix,
        "seed": plan.seed,
        "connections": plan.connections,
        "affinity": plan.affinity,
        "terminals": plan.terminals,
        "started_at": run.started_at,
        "ended": run.ended,
        "measured_seconds": summary.measured_seconds,
        "headline": plan.headline_title(),
        "tpmc": summary.tpmc,
        "nopm": summary.nopm,
        "nopm_committed": summary.nopm_committed,
        "nopm_interval": summary.nopm_interval,
        "efficiency": summary.efficiency,
        "total_per_minute": summary.total_per_minute,
        "verdict": {
            "status": verdict.status.name(),
            "reasons": verdict.reasons,
            "findings": verdict.findings,
            "deviations": verdict.deviations,
        },
        "transactions": transactions,
        "failures": summary.failures,
        "tallies": tallies,
        "clients": run.clients,
        "regions": run.regions,
        "fleet": run.fleet,
        "gateways": summary.gateways.iter().map(gateway).collect::<Vec<_>>(),
        "tare": {
            "cpu_seconds": run.tare.cpu_seconds,
            "cpu_us_per_new_order": run.tare.cpu_us_per_headline,
            "cpu_share_of_threads": run.tare.cpu_share_of_threads,
            "peak_rss_bytes": run.tare.peak_rss_bytes,
            "lag_ms": stats(&summary.lag),
        },
        "faults": run.faults,
        "outages": summary.outages,
        "reconciliation": run.reconciliation,
        "audit": run.audit,
        "checks": run.checks,
        "folder": null,
    });
    if !summary.statements.is_empty() {
        document["statements"] =
            summary.statements.iter().map(|timed| (timed.name.clone(), statements(timed))).collect();
    }
    document
}

fn statements(timed: &StatementsSummary) -> Value {
    let part = |part: &PartSummary| {
        json!({
            "name": part.name,
            "calls": part.calls,
            "calls_per_transaction": part.calls_per_transaction,
            "share": part.share,
            "time_ms": stats(&part.time),
        })
    };
    json!({
        "transactions": timed.transactions,
        "service_mean_ms": timed.service_mean,
        "parts": timed.parts.iter().map(part).collect::<Vec<_>>(),
        "rest_share": timed.rest_share,
        "rest_mean_ms": timed.rest_mean,
    })
}

fn transaction(figures: &TransactionSummary) -> Value {
    let mut value = json!({
        "count": figures.count,
        "share": figures.share,
        "rolled_back": figures.rolled_back,
        "errors": figures.errors,
        "retries": figures.retries,
        "response_ms": stats(&figures.response),
        "service_ms": stats(&figures.service),
        "queue_ms": stats(&figures.queue),
        "keying_ms": stats(&figures.keying),
        "think_ms": stats(&figures.think),
        "failed_ms": stats(&figures.failed),
    });
    if let Some(figures) = &figures.deferred {
        value["deferred"] = deferred(figures);
    }
    value
}

fn gateway(figures: &GatewaySummary) -> Value {
    let (plan, moves) = (&figures.plan, &figures.moves);
    json!({
        "url": plan.url,
        "first_warehouse": plan.first_warehouse,
        "warehouses": plan.warehouses,
        "connections": plan.connections,
        "transactions": figures.transactions,
        "new_orders": figures.headline,
        "errors": figures.errors,
        "retries": figures.retries,
        "connections_lost": moves.lost,
        "failovers_from": moves.failovers_from,
        "failovers_to": moves.failovers_to,
        "returned": moves.returned,
        "response_ms": stats(&figures.response),
        "service_ms": stats(&figures.service),
    })
}

fn deferred(figures: &DeferredSummary) -> Value {
    json!({
        "completed": figures.completed,
        "errors": figures.failures.total(),
        "retries": figures.retries,
        "skipped": figures.skipped,
        "skipped_parts": figures.skipped_parts,
        "late": figures.late,
        "response_ms": stats(&figures.response),
        "service_ms": stats(&figures.service),
        "queue_ms": stats(&figures.queue),
    })
}

/// Times in milliseconds; null where nothing was timed, as a zero would be a lie.
fn stats(stats: &Stats) -> Value {
    let time = |ms: f64| (stats.count > 0).then_some(ms);
    json!({
        "count": stats.count,
        "mean": time(stats.mean),
        "min": time(stats.min),
        "p50": time(stats.p50),
        "p90": time(stats.p90),
        "p95": time(stats.p95),
        "p99": time(stats.p99),
        "p999": time(stats.p999),
        "max": time(stats.max),
    })
}
