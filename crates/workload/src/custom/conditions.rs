//! What a workload's file wants held: its checks, and what the database must have gained by what was acknowledged.

use std::sync::atomic::Ordering;
use std::time::Duration;

use record::run::{CheckResult, NOT_ASKED_FOR, ReconciledItem, Reconciliation};
use target::{Answer, Class, Error, Protocol, Session};

use crate::CheckProgress;
use crate::per_database::PerDatabase;

use super::file::{Check, Custom, Must};

/// How often a check asks whether it is to end early.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Violations that are shown in full.
const EXAMPLES: usize = 3;

/// What was acknowledged, in counts.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Committed transactions of each kind.
    committed: Vec<u64>,
    /// Those whose COMMIT got no answer.
    unknown: Vec<u64>,
}

impl Ledger {
    /// An empty one, for so many kinds of transactions.
    pub fn new(kinds: usize) -> Self {
        Self { committed: vec![0; kinds], unknown: vec![0; kinds] }
    }

    /// Enters a committed transaction.
    pub fn acknowledge(&mut self, kind: usize) {
        self.committed[kind] += 1;
    }

    /// Enters a failure: only a COMMIT without an answer may have changed anything.
    pub fn failed(&mut self, kind: usize, error: &Error) {
        self.unknown[kind] += u64::from(error.class() == Class::Unknown);
    }

    /// Adds another one.
    pub fn merge(&mut self, other: &Ledger) {
        let pairs = self.committed.iter_mut().zip(&other.committed).chain(self.unknown.iter_mut().zip(&other.unknown));
        pairs.for_each(|(ours, theirs)| *ours += theirs);
    }
}

/// What is held over a run, at a quiet moment.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The sums of the ledger, in the file's order.
    sums: Vec<i64>,
    /// What must stay, in the file's order.
    stays: Vec<Vec<String>>,
}

impl State {
    /// Reads it.
    ///
    /// # Errors
    /// The database's refusal, or an answer that is no number.
    pub async fn read(custom: &Custom, session: &mut Session) -> Result<Self, Error> {
        session.see_all_commits().await?;
        let mut state = Self::default();
        for gain in &custom.ledger {
            let sum = async { asked(session, &gain.sql).await?.only()?.big(0) };
            state.sums.push(sum.await.map_err(|e| e.context(format_args!("ledger `{}`", gain.name)))?);
        }
        for check in custom.checks.iter().filter(|check| check.must == Must::Stay) {
            let answer = asked(session, &check.sql).await.and_then(|answer| rows(&answer, usize::MAX));
            let mut answer = answer.map_err(|e| e.context(format_args!("check `{}`", check.name)))?;
            // Without ORDER BY the same rows may come in another order.
            answer.sort();
            state.stays.push(answer);
        }
        session.commit().await?;
        Ok(state)
    }
}

/// The answer to a query in the database's words, which [`Custom::require`] has made sure of.
async fn asked(session: &mut Session, sql: &PerDatabase<String>) -> Result<Answer, Error> {
    let sql = sql.of(session.dialect()).ok_or_else(|| Error::permanent("no query for this database"))?;
    session.ask(sql, &[], Protocol::Prepared).await
}

/// What was acknowledged against what the database gained; `None` where the file has no ledger and all have ended.
/// `abandoned` transactions had not: they are in no other figure.
pub fn reconcile(
    custom: &Custom,
    before: &State,
    after: &State,
    ledger: &Ledger,
    abandoned: usize,
) -> Option<Reconciliation> {
    if custom.ledger.is_empty() && abandoned == 0 {
        return None;
    }
    let (mut checked, mut faults) = (Vec::new(), Vec::new());
    for (gain, (before, after)) in custom.ledger.iter().zip(before.sums.iter().zip(&after.sums)) {
        let of = |counts: &[u64]| {
            let kinds = custom.transactions.iter().zip(counts);
            kinds.map(|(kind, count)| u64::from(gain.per.get(&kind.name).copied().unwrap_or(0)) * count).sum::<u64>()
        };
        let (acknowledged, unknown) = (of(&ledger.committed), of(&ledger.unknown));
        let gained = i128::from(*after) - i128::from(*before);
        // One without an answer may have been carried out or not.
        let (least, most) = (i128::from(acknowledged), i128::from(acknowledged) + i128::from(unknown));
        if gained < least || gained > most {
            let surplus = if gained > most { ", more than was asked for" } else { "" };
            faults.push(format!("{}: {acknowledged} acknowledged, {gained} gained{surplus}", gain.name));
        }
        let count = |number: i128| u64::try_from(number).unwrap_or(0);
        checked.push(ReconciledItem {
            name: gain.name.clone(),
            acknowledged,
            gained: count(gained),
            unknown,
            missing: count(least - gained),
        });
    }
    if abandoned > 0 {
        faults.push(format!("{abandoned} transactions had not ended 30 s after the interval"));
    }
    let detail = match faults.as_slice() {
        [] => "everything acknowledged is there, and nothing else".to_owned(),
        faults => faults.join("; "),
    };
    Some(Reconciliation { checked, passed: faults.is_empty(), detail })
}

/// What was to stay the same over a run, and which checks were not made by that.
pub fn check_invariants(custom: &Custom, before: &State, after: &State) -> Vec<CheckResult> {
    let stays = custom.checks.iter().filter(|check| check.must == Must::Stay);
    let others = custom.checks.iter().filter(|check| check.must != Must::Stay);
    let not_made = |check: &Check| CheckResult {
        name: check.name.clone(),
        passed: true,
        skipped: Some(NOT_ASKED_FOR.to_owned()),
        ..CheckResult::default()
    };
    let result = |(check, (before, after)): (&Check, (&Vec<String>, &Vec<String>))| {
        let told = |rows: &[String]| match rows {
            [] => "nothing".to_owned(),
            few if few.len() <= EXAMPLES => few.join("; "),
            [first, ..] => format!("{} rows, the first {first}", rows.len()),
        };
        let passed = before == after;
        CheckResult {
            name: check.name.clone(),
            passed,
            violations: u64::from(!passed),
            detail: match passed {
                true => "the same after the run as before it".to_owned(),
                false => format!("was {}, is {}", told(before), told(after)),
            },
            ..CheckResult::default()
        }
    };
    stays.zip(before.stays.iter().zip(&after.stays)).map(result).chain(others.map(not_made)).collect()
}

/// Makes the checks that a query can answer; what must stay the same can only be judged over a run.
///
/// # Errors
/// The database's refusal.
pub async fn check(
    custom: &Custom,
    session: &mut Session,
    progress: &CheckProgress,
) -> Result<Vec<CheckResult>, Error> {
    custom.require(session.dialect()).map_err(Error::permanent)?;
    let queries = custom.checks.iter().filter(|check| check.must == Must::BeEmpty).count();
    progress.total.store(queries as u64, Ordering::Relaxed);
    let mut results = Vec::new();
    for check in &custom.checks {
        let mut result = CheckResult { name: check.name.clone(), passed: true, ..CheckResult::default() };
        match check.must {
            Must::Stay => result.skipped = Some("held over each run, from its start to its end".to_owned()),
            Must::BeEmpty => {
                let answer = tokio::select! {
                    answer = asked(session, &check.sql) => answer,
                    () = stopped(progress) => Err(Error::permanent("interrupted: not everything was checked")),
                };
                let answer = answer.map_err(|e| e.context(format_args!("check `{}`", check.name)))?;
                result.violations = answer.len() as u64;
                result.passed = answer.is_empty();
                if !answer.is_empty() {
                    result.detail = format!("violated by {}", rows(&answer, EXAMPLES)?.join("; "));
                }
                progress.done.fetch_add(1, Ordering::Relaxed);
            }
        }
        results.push(result);
    }
    session.commit().await?;
    Ok(results)
}

/// Waits until the check is to end early.
async fn stopped(progress: &CheckProgress) {
    while !progress.stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}

/// The first rows of an answer as text.
fn rows(answer: &Answer, most: usize) -> Result<Vec<String>, Error> {
    let row = |row: target::Row<'_>| {
        let cells = (0..row.columns().len()).map(|at| row.value(at).map(|value| value.to_string()));
        Ok(cells.collect::<Result<Vec<_>, Error>>()?.join(", "))
    };
    answer.rows().take(most).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with a ledger to which `a` adds 1 and `b` adds 2.
    fn custom() -> Custom {
        let built_in = Custom::built_in("key-value").unwrap().unwrap();
        let text = built_in.text.replace("per = { update = 1 }", "per = { update = 1, read = 2 }");
        Custom::parse(&text).unwrap()
    }

    fn state(sum: i64) -> State {
        State { sums: vec![sum], stays: Vec::new() }
    }

    fn ledger(committed: [u64; 2], unknown: [u64; 2]) -> Ledger {
        Ledger { committed: committed.to_vec(), unknown: unknown.to_vec() }
    }

    #[test]
    fn what_is_missing_and_what_is_too_much_are_both_found() {
        let held =
            |ledger: &Ledger, gained: i64| reconcile(&custom(), &state(10), &state(10 + gained), ledger, 0).unwrap();
        let certain = ledger([3, 2], [0, 0]);
        assert!(held(&certain, 7).passed);
        let short = held(&certain, 5);
        assert_eq!((short.passed, short.checked[0].missing), (false, 2));
        let much = held(&certain, 8);
        assert_eq!((much.passed, much.checked[0].missing), (false, 0));
        assert!(much.detail.contains("7 acknowledged, 8 gained, more than was asked for"), "{}", much.detail);
        let less = held(&certain, -1);
        assert_eq!((less.passed, less.checked[0].missing, less.checked[0].gained), (false, 8, 0));

        // One commit of each kind without an answer: up to three more.
        let unsure = ledger([3, 2], [1, 1]);
        for (gained, passes) in [(6, false), (7, true), (8, true), (10, true), (11, false)] {
            assert_eq!(held(&unsure, gained).passed, passes, "{gained}");
        }
    }

    #[test]
    fn without_a_ledger_nothing_is_said_of_what_was_kept() {
        let custom = Custom::parse(custom().text.split("[[ledger]]").next().unwrap()).unwrap();
        assert!(reconcile(&custom, &State::default(), &State::default(), &ledger([3, 2], [0, 0]), 0).is_none());
    }

    #[test]
    fn what_has_not_ended_is_no_result() {
        assert!(!reconcile(&custom(), &state(0), &state(7), &ledger([3, 2], [0, 0]), 1).unwrap().passed);
        let without = Custom::parse(custom().text.split("[[ledger]]").next().unwrap()).unwrap();
        let held = reconcile(&without, &State::default(), &State::default(), &ledger([3, 2], [0, 0]), 1).unwrap();
        assert!(!held.passed && held.detail.contains("1 transactions had not ended"), "{}", held.detail);
    }
}
