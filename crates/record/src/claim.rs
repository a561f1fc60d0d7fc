//! A claimed figure, judged without a run: can it be true?

use crate::plan::ScaleRule;
use crate::verdict::{Finding, Judgement};

/// What somebody claims.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// Headline transactions a minute.
    pub rate: f64,
    /// Warehouses that were driven.
    pub warehouses: u32,
    /// Warehouses in the database, where they are more.
    pub configured: Option<u32>,
    /// Terminals, where they are told.
    pub terminals: Option<u32>,
    /// Mean response time over all transactions, seconds, where it is told.
    pub response_seconds: Option<f64>,
    /// The measurement interval, seconds, where it is told.
    pub interval_seconds: Option<f64>,
}

/// What a workload allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Allowed {
    /// Rates per warehouse.
    pub scale: ScaleRule,
    /// Share of the headline transaction in the mix that gives most, as a fraction.
    pub headline_share: f64,
    /// Mean of the waits of a cycle in that mix, seconds.
    pub cycle_seconds: f64,
    /// Shortest measurement interval, seconds, and its clause.
    pub interval_seconds: f64,
    /// See `interval_seconds`.
    pub interval_clause: String,
}

/// Judges a claim: rule by rule, as a run is judged.
#[must_use]
pub fn judge(claim: &Claim, allowed: &Allowed) -> Vec<Finding> {
    let mut findings = vec![most(claim, allowed)];
    findings.extend(response(claim, allowed));
    findings.push(least(claim, allowed));
    findings.extend(terminals(claim, allowed));
    findings.extend(interval(claim, allowed));
    findings
}

/// The most that so many warehouses can give, with answers that take no time.
fn most(claim: &Claim, allowed: &Allowed) -> Finding {
    let scale = &allowed.scale;
    let most = scale.max_per_warehouse * f64::from(claim.warehouses);
    let finding = Finding::new("most that the warehouses can give", &scale.clause, format!("<= {most:.0} a minute"))
        .figure(format!("{:.0} a minute, {:.1} %", claim.rate, 100.0 * claim.rate / most));
    if claim.rate <= most {
        return finding.pass();
    }
    let needed = (claim.rate / scale.max_per_warehouse).ceil();
    finding.fail(format!(
        "{:.2} times what the standard's keying and think times allow, even with instant answers: {needed:.0} warehouses \
         would be needed, or the waits were left out, and then it is no tpmC",
        claim.rate / most
    ))
}

/// The most with answers that take their time: a terminal has one transaction at a time.
fn response(claim: &Claim, allowed: &Allowed) -> Option<Finding> {
    let seconds = claim.response_seconds?;
    let terminals = f64::from(claim.warehouses) * f64::from(allowed.scale.terminals_per_warehouse);
    let most = terminals * allowed.headline_share * 60.0 / (allowed.cycle_seconds + seconds);
    let rule = format!("most with a mean response time of {seconds} s");
    let finding = Finding::new(rule, &allowed.scale.clause, format!("<= {most:.0} a minute"))
        .figure(format!("{:.0} a minute", claim.rate));
    Some(if claim.rate <= most {
        finding.pass()
    } else {
        let mean = terminals * allowed.headline_share * 60.0 / claim.rate - allowed.cycle_seconds;
        finding.fail(match mean {
            mean if mean > 0.0 => format!("this rate needs a mean of at most {mean:.3} s"),
            _ => "no response time is short enough for this rate".to_owned(),
        })
    })
}

/// The fewest that the configured warehouses must give.
fn least(claim: &Claim, allowed: &Allowed) -> Finding {
    let scale = &allowed.scale;
    let configured = claim.configured.unwrap_or(claim.warehouses).max(claim.warehouses);
    let least = scale.min_per_warehouse * f64::from(configured);
    let finding =
        Finding::new("fewest for the configured warehouses", &scale.clause, format!(">= {least:.0} a minute"))
            .figure(format!("{:.0} a minute", claim.rate));
    if claim.rate >= least {
        return finding.pass();
    }
    let why = format!(
        "{:.2} for each of {configured} warehouses: a system too slow for them",
        claim.rate / f64::from(configured)
    );
    finding.judged(Judgement::Deviation, why)
}

fn terminals(claim: &Claim, allowed: &Allowed) -> Option<Finding> {
    let terminals = claim.terminals?;
    let needed = claim.warehouses.saturating_mul(allowed.scale.terminals_per_warehouse);
    let finding =
        Finding::new("terminals", &allowed.scale.terminals_clause, needed.to_string()).figure(terminals.to_string());
    Some(match terminals {
        terminals if terminals == needed => finding.pass(),
        _ => finding
            .fail(format!("{} for each of {} warehouses", allowed.scale.terminals_per_warehouse, claim.warehouses)),
    })
}

fn interval(claim: &Claim, allowed: &Allowed) -> Option<Finding> {
    let seconds = claim.interval_seconds?;
    let limit = format!(">= {} s", allowed.interval_seconds);
    let finding = Finding::new("length of the measurement interval", &allowed.interval_clause, limit)
        .figure(format!("{seconds} s"));
    Some(if seconds >= allowed.interval_seconds {
        finding.pass()
    } else {
        finding.judged(Judgement::Deviation, "shorter than the standard's")
    })
}
