//! What outages cost: when each began, how long nothing succeeded, when the run was steady again, and what was lost.
//!
//! Outages are derived from the record and its seconds. One begins with an injected fault, with lost connections, or
//! with a time without any success; it ends with the first of three consecutive seconds that match those before it.

use serde::{Deserialize, Serialize};

use crate::run::RunRecord;
use crate::timeline::{self, Stage, TimelineRow};

/// What a run observes while it drives; [`outages`] are derived from it afterwards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disturbances {
    /// Seconds in which transactions failed by a lost connection.
    pub lost: Vec<Lost>,
    /// Times without any success, a second at least, that chance does not explain.
    pub gaps: Vec<Gap>,
}

/// Lost connections of one second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lost {
    /// The beginning of the second, from the start of the run, seconds.
    pub at_seconds: f64,
    /// Transactions that failed.
    pub failures: u64,
}

/// A time in which no transaction succeeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gap {
    /// The last success before it, from the start of the run, seconds.
    pub from_seconds: f64,
    /// The first one after it; `None`: there was none until the end.
    pub to_seconds: Option<f64>,
}

/// An outage, from its beginning until the run is steady again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outage {
    /// When it began, from the start of the run, seconds.
    pub began_seconds: f64,
    /// The faults made on purpose within it.
    pub faults: Vec<String>,
    /// The longest time in it without any success, seconds; 0: there were successes in every second.
    pub silent_seconds: f64,
    /// From its beginning to the first success after that time, seconds; 0 without such a time; `None`: none came.
    pub first_success_seconds: Option<f64>,
    /// From its beginning until the run was steady again, seconds; `None`: not before the end.
    pub steady_seconds: Option<f64>,
    /// Headline transactions a minute before it: the median second.
    pub rate_before: f64,
    /// Headline transactions that were completed less than that rate would have given.
    pub headline_lost: f64,
    /// Transactions that failed.
    pub errors: u64,
    /// The slowest headline response in it, milliseconds.
    pub max_response_ms: f64,
    /// The most terminals that waited for a connection at the end of a second.
    pub most_waiting: u64,
    /// Those that still waited at the end of the run.
    pub waiting_at_end: u64,
}

/// Seconds in succession that make a run steady again.
const STEADY_ROWS: usize = 3;

/// Fewest seconds before trouble that tell what is usual.
const MIN_BEFORE: usize = 3;

/// Transactions a second below which seconds differ too much by chance to be compared.
const MIN_PER_SECOND: f64 = 5.0;

/// Of the usual rate, the share that counts as steady.
const STEADY_SHARE: f64 = 0.9;

/// One second of a run.
struct Row<'a> {
    start: f64,
    seconds: f64,
    row: &'a TimelineRow,
    headline: f64,
    all: f64,
    broken: bool,
}

impl Row<'_> {
    fn end(&self) -> f64 {
        self.start + self.seconds
    }
}

/// The outages of a run, in the order of time.
#[must_use]
pub fn outages(run: &RunRecord, timeline: &[TimelineRow]) -> Vec<Outage> {
    let Some(headline) = run.plan.headline() else { return Vec::new() };
    let rows = rows(run, timeline, headline);
    let mut events: Vec<f64> = run.faults.iter().filter(|fault| fault.failed.is_none()).map(|f| f.at_seconds).collect();
    events.extend(run.disturbances.lost.iter().map(|lost| lost.at_seconds));
    events.extend(run.disturbances.gaps.iter().map(|gap| gap.from_seconds));
    events.sort_by(f64::total_cmp);
    let mut outages = Vec::new();
    let mut clear_from = 0.0;
    for began in events {
        if began < clear_from {
            continue;
        }
        let Some(outage) = outage(run, &rows, began, clear_from) else { continue };
        let lasted = outage.steady_seconds.unwrap_or(f64::INFINITY);
        // What ends at once still covers its moment.
        clear_from = (began + lasted).max(began.next_up());
        outages.push(outage);
    }
    outages
}

fn rows<'a>(run: &RunRecord, timeline: &'a [TimelineRow], headline: usize) -> Vec<Row<'a>> {
    let row = |(seconds, row): (f64, &'a TimelineRow)| {
        let (start, end) = (row.elapsed_s - seconds, row.elapsed_s);
        let per_second = |count: u64| count as f64 / seconds;
        let silent = |gap: &crate::failover::Gap| gap.from_seconds < start && gap.to_seconds.is_none_or(|to| to > end);
        let broken = run.disturbances.lost.iter().any(|lost| (start..end).contains(&lost.at_seconds))
            || run.disturbances.gaps.iter().any(silent);
        let headline = per_second(row.completed.get(headline).copied().unwrap_or(0));
        Row { start, seconds, row, headline, all: per_second(row.completed.iter().sum()), broken }
    };
    let whole = |(seconds, row): &(f64, &TimelineRow)| row.stage != Stage::Drain && *seconds >= 0.5;
    timeline::durations(timeline).zip(timeline).filter(whole).map(row).collect()
}

fn outage(run: &RunRecord, rows: &[Row<'_>], began: f64, clear_from: f64) -> Option<Outage> {
    let first = rows.iter().position(|row| row.end() > began)?;
    let usual = Usual::before(&rows[..first], clear_from);
    let steady = (first..rows.len()).find(|at| {
        let next = rows.get(*at..at + STEADY_ROWS);
        next.is_some_and(|next| next.iter().all(|row| !row.broken && row.all >= usual.floor))
    });
    let upto = steady.map_or(f64::INFINITY, |at| rows[at].start.max(began));
    let within = &rows[first..steady.unwrap_or(rows.len())];
    let gaps = run
        .disturbances
        .gaps
        .iter()
        .filter(|gap| gap.from_seconds < upto && gap.to_seconds.is_none_or(|to| to > began));
    let over = rows.last().map_or(began, Row::end);
    let length = |gap: &Gap| gap.to_seconds.unwrap_or(over) - gap.from_seconds;
    let longest = gaps.max_by(|a, b| length(a).total_cmp(&length(b)));
    // A second may be as usual although its first moments were still silent.
    let steady_at = steady.map(|_| longest.and_then(|gap| gap.to_seconds).map_or(upto, |to| upto.max(to)));
    let end = steady_at.unwrap_or(f64::INFINITY);
    let lost: f64 = within.iter().map(|row| (usual.headline - row.headline) * row.seconds).sum();
    let made = run.faults.iter().filter(|fault| fault.failed.is_none());
    let faults = made.filter(|fault| (began..end.max(began.next_up())).contains(&fault.at_seconds));
    Some(Outage {
        began_seconds: began,
        faults: faults.map(|fault| fault.what.clone()).collect(),
        silent_seconds: longest.map_or(0.0, length),
        first_success_seconds: match longest {
            None => Some(0.0),
            Some(gap) => gap.to_seconds.map(|to| (to - began).max(0.0)),
        },
        steady_seconds: steady_at.map(|at| at - began),
        rate_before: usual.headline * 60.0,
        headline_lost: lost.max(0.0),
        errors: within.iter().map(|row| row.row.errors).sum(),
        max_response_ms: within.iter().map(|row| row.row.max_ms).fold(0.0, f64::max),
        most_waiting: within.iter().map(|row| row.row.waiting).max().unwrap_or(0),
        waiting_at_end: if steady.is_none() { rows.last().map_or(0, |row| row.row.waiting) } else { 0 },
    })
}

/// What is usual before trouble.
struct Usual {
    /// Headline transactions a second.
    headline: f64,
    /// All transactions a second below which a second is not usual.
    floor: f64,
}

impl Usual {
    fn before(rows: &[Row<'_>], clear_from: f64) -> Self {
        let measured = |row: &&Row<'_>| row.row.stage == Stage::Measured && row.start >= clear_from && !row.broken;
        let mut chosen: Vec<&Row<'_>> = rows.iter().filter(measured).collect();
        if chosen.len() < MIN_BEFORE {
            chosen = rows.iter().filter(|row| !row.broken).collect();
        }
        let quantile = |of: fn(&Row<'_>) -> f64, share: f64| {
            let mut rates: Vec<f64> = chosen.iter().map(|row| of(row)).collect();
            rates.sort_by(f64::total_cmp);
            rates.get((rates.len() as f64 * share) as usize).copied().unwrap_or(0.0)
        };
        let all = quantile(|row| row.all, 0.5);
        let floor = (all * STEADY_SHARE).min(quantile(|row| row.all, 0.1));
        Usual { headline: quantile(|row| row.headline, 0.5), floor: if all < MIN_PER_SECOND { 0.0 } else { floor } }
    }
}

impl Outage {
    /// One sentence for people; `title` is that of the headline transaction.
    #[must_use]
    pub fn line(&self, title: &str) -> String {
        let success = match (self.first_success_seconds, self.silent_seconds) {
            (Some(_), silent) if silent <= 0.0 => "successes in every second".to_owned(),
            (Some(first), silent) => format!("no success for {silent:.1} s, the first after {first:.1} s"),
            (None, _) => "no success until the end".to_owned(),
        };
        let steady = match self.steady_seconds {
            Some(after) => format!("steady again after {after:.1} s"),
            None => format!("not steady before the end, when {} waited for a connection", self.waiting_at_end),
        };
        format!(
            "from {:.1} s: {success}; {steady}; {:.0} {title}s less than {:.0} a minute would have given; {} failed; slowest \
             answer {:.0} ms; at most {} waited for a connection",
            self.began_seconds,
            self.headline_lost,
            self.rate_before,
            self.errors,
            self.max_response_ms,
            self.most_waiting
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::plan::{Plan, TransactionRule};

    /// A run of one transaction type with so many completed in each second.
    fn run(rates: &[u64]) -> (RunRecord, Vec<TimelineRow>) {
        let rule = TransactionRule { name: "new_order".into(), headline: true, ..TransactionRule::default() };
        let plan = Plan { transactions: vec![rule], ..Plan::default() };
        let row = |(at, rate): (usize, &u64)| TimelineRow {
            elapsed_s: at as f64 + 1.0,
            stage: Stage::Measured,
            completed: vec![*rate],
            ..TimelineRow::default()
        };
        (RunRecord::new(plan), rates.iter().enumerate().map(row).collect())
    }

    #[test]
    fn a_run_without_trouble_has_none() {
        let (record, timeline) = run(&[100, 90, 110, 100, 100]);
        assert_eq!(outages(&record, &timeline), []);
    }

    #[test]
    fn a_crash_is_measured_from_its_beginning_to_the_steady_state() {
        let (mut record, mut timeline) = run(&[100, 90, 110, 100, 100, 30, 0, 0, 40, 95, 100, 105, 100]);
        timeline[5].errors = 8;
        timeline[6].waiting = 7;
        timeline[8].max_ms = 2900.0;
        record.faults = vec![
            Fault { what: "kill node1".into(), at_seconds: 5.3, ..Fault::default() },
            Fault { what: "restart node1".into(), at_seconds: 7.0, ..Fault::default() },
        ];
        record.disturbances.lost = vec![Lost { at_seconds: 5.0, failures: 8 }];
        record.disturbances.gaps = vec![Gap { from_seconds: 5.3, to_seconds: Some(8.5) }];
        let found = outages(&record, &timeline);
        let [outage] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(outage.began_seconds, 5.0);
        assert_eq!(outage.faults, ["kill node1", "restart node1"]);
        assert!((outage.silent_seconds - 3.2).abs() < 1e-9);
        assert!((outage.first_success_seconds.unwrap() - 3.5).abs() < 1e-9);
        assert_eq!(outage.steady_seconds, Some(4.0));
        assert_eq!((outage.rate_before, outage.headline_lost, outage.errors), (6000.0, 330.0, 8));
        assert_eq!((outage.max_response_ms, outage.most_waiting), (2900.0, 7));
    }

    #[test]
    fn what_ends_a_silence_belongs_to_it() {
        let (mut record, timeline) = run(&[100, 90, 110, 100, 0, 0, 98, 100, 100, 100, 100]);
        let fault = |what: &str, at_seconds| Fault { what: what.into(), at_seconds, ..Fault::default() };
        record.faults = vec![fault("stop node1", 4.0), fault("continue node1", 6.01)];
        record.disturbances.gaps = vec![Gap { from_seconds: 4.0, to_seconds: Some(6.02) }];
        let found = outages(&record, &timeline);
        let [outage] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((outage.faults.len(), outage.steady_seconds.map(|s| (s * 100.0).round())), (2, Some(202.0)));
    }

    #[test]
    fn what_never_comes_back_is_said() {
        let (mut record, timeline) = run(&[100, 90, 110, 100, 0, 0, 0, 0]);
        record.disturbances.gaps = vec![Gap { from_seconds: 4.0, to_seconds: None }];
        let found = outages(&record, &timeline);
        assert_eq!((found.len(), found[0].first_success_seconds, found[0].steady_seconds), (1, None, None));
        assert!(found[0].line("New-Order").contains("no success until the end"));
    }

    #[test]
    fn a_fault_without_effect_costs_nothing() {
        let (mut record, timeline) = run(&[100; 12]);
        let fault = |at_seconds| Fault { what: "kill node3".into(), at_seconds, ..Fault::default() };
        record.faults = vec![fault(4.5), fault(8.2)];
        let found = outages(&record, &timeline);
        assert_eq!(found.iter().map(|outage| outage.began_seconds).collect::<Vec<_>>(), [4.5, 8.2]);
        for outage in found {
            assert_eq!((outage.steady_seconds, outage.headline_lost, outage.faults.len()), (Some(0.0), 0.0, 1));
        }
    }
}
