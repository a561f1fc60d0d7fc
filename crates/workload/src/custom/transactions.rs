//! The transactions of a workload: drawn by their weights, carried out statement by statement.

use target::{Access, Class, Dialect, Error, Isolation, OwnedValue, Session, Value};
use tpcc::rng::Stream;
use tpcc::timing::think_time_us;

use crate::data_set::DataSet;
use crate::template::Template;
use crate::values::{Generator, Rows};

use super::file::{self, Commit, Custom};
use super::tables::Data;
use super::{reference, with_rows};

/// Numbers of a `sequence` that a terminal has to itself, so that no two make the same one.
const SEQUENCE_SPAN: i64 = 1_000_000_000;

/// PostgreSQL's refusal of a write where only reads are.
const READ_ONLY: &str = "25006";

/// What a parameter takes its value from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Drawn(Generator),
    /// A column of any row of a table, all of one table from the same row.
    Of(usize, usize),
    /// A column of any row of a pool, all of one pool from the same row.
    Pool(usize, usize),
}

impl Source {
    /// Reads a generator, or `of(TABLE.COLUMN)`.
    pub(super) fn of(text: &str, data: &Data) -> Result<Self, String> {
        if let Some((table, column)) = reference(text) {
            let (table, column) = data.place(table, column)?;
            return match data.rows(table) {
                0 => Err(format!("{text}: the table is empty")),
                _ => Ok(Source::Of(table, column)),
            };
        }
        Generator::parse(&with_rows(text, |table| data.rows_of(table))?).map(Source::Drawn)
    }
}

/// The transactions of a workload in a database's words.
#[derive(Debug)]
pub struct FileTransactions {
    kinds: Vec<Kind>,
    weights: i64,
    data: Data,
    pools: Vec<Rows>,
    isolation: Isolation,
    commits_by_itself: bool,
}

#[derive(Debug)]
struct Kind {
    name: String,
    weight: i64,
    /// The parameters that are drawn.
    sources: Vec<Source>,
    steps: Vec<Step>,
    commit: Commit,
    access: Access,
    rollback: f64,
    keying_us: u64,
    think_seconds: f64,
}

#[derive(Debug)]
struct Step {
    /// `transaction.number`, as reports show it.
    name: String,
    sql: String,
    /// What stands in each of its places: a position among the values of the transaction.
    places: Vec<usize>,
    /// Where the columns of its first row go.
    keep: Vec<usize>,
    expect: Option<u64>,
    or_end: bool,
}

/// Who sends transactions.
#[derive(Clone, Debug)]
pub struct Terminal {
    rng: Stream,
    /// How many numbers of each sequence were drawn, transaction by transaction and parameter by parameter.
    drawn: Vec<Vec<i64>>,
}

/// A transaction that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its position in the file.
    pub kind: usize,
    /// The values of its parameters, those that are drawn first; the others come from its steps.
    pub values: Vec<OwnedValue>,
    /// Whether it is rolled back at the end.
    pub roll_back: bool,
}

/// What came of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Whether it was rolled back by design.
    pub rolled_back: bool,
    /// Whether it ended at a step that found nothing to go on with.
    pub ended_early: bool,
}

impl FileTransactions {
    /// Those of a workload on its data, at an isolation level; asks for the rows of its pools.
    ///
    /// # Errors
    /// A pool without rows, what the file lacks for this database, or the database's refusal.
    pub async fn new(custom: &Custom, data: Data, isolation: Isolation, session: &mut Session) -> Result<Self, Error> {
        let dialect = session.dialect();
        custom.require(dialect).map_err(Error::permanent)?;
        let mut pools = Vec::new();
        for (name, sql) in &custom.pools {
            let sql = sql.of(dialect).map(String::as_str).unwrap_or_default();
            let asked = session.ask(sql, &[], target::Protocol::Prepared).await;
            let rows =
                asked.and_then(|answer| Rows::of(&answer)).map_err(|e| e.context(format_args!("pool {name}")))?;
            if rows.rows.is_empty() {
                return Err(Error::permanent(format!("the pool {name} of workload {} is empty", custom.name)));
            }
            pools.push(rows);
        }
        let pool_names: Vec<&str> = custom.pools.keys().map(String::as_str).collect();
        let kind = |transaction| Kind::of(transaction, &data, (&pool_names, &pools), dialect);
        let kinds: Vec<Kind> =
            custom.transactions.iter().map(kind).collect::<Result<_, String>>().map_err(Error::permanent)?;
        Ok(Self {
            weights: kinds.iter().map(|kind| kind.weight).sum(),
            commits_by_itself: kinds.iter().any(|kind| kind.commit == Commit::Auto),
            kinds,
            data,
            pools,
            isolation,
        })
    }

    /// Makes a new session ready.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn prepare(&self, session: &mut Session) -> Result<(), Error> {
        if self.commits_by_itself {
            session.commit_each().await?;
            session.set_level(self.isolation).await?;
        }
        Ok(())
    }

    /// How many transactions there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none, which no file allows.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The name of a transaction.
    pub fn name(&self, kind: usize) -> &str {
        &self.kinds[kind].name
    }

    /// Whether any of them has keying or think times.
    pub fn waits(&self) -> bool {
        self.kinds.iter().any(|kind| kind.keying_us > 0 || kind.think_seconds > 0.0)
    }

    /// The keying time of a transaction, in microseconds.
    pub fn keying_us(&self, kind: usize, factor: f64) -> u64 {
        (self.kinds[kind].keying_us as f64 * factor) as u64
    }

    /// The think time after a transaction, in microseconds: exponential, cut at ten times its mean, as in 5.2.5.4.
    pub fn think_us(&self, terminal: &mut Terminal, kind: usize, factor: f64) -> u64 {
        match self.kinds[kind].think_seconds * factor {
            mean if mean > 0.0 => think_time_us(&mut terminal.rng, mean),
            _ => 0,
        }
    }

    /// How long a terminal thinks before its first transaction, so that not all begin at once.
    pub fn first_wait_us(&self, terminal: &mut Terminal, factor: f64) -> u64 {
        let kind = self.choose(&mut terminal.rng);
        let Kind { keying_us, think_seconds, .. } = self.kinds[kind];
        match think_seconds * factor {
            // What is left of an exponential time is distributed as the whole.
            mean if mean > 0.0 => think_time_us(&mut terminal.rng, mean),
            _ => (terminal.rng.unit() * keying_us as f64 * factor) as u64,
        }
    }

    /// The terminal of a number.
    pub fn terminal(&self, seed: u64, number: u64) -> Terminal {
        let first = number as i64 * SEQUENCE_SPAN;
        let drawn = self.kinds.iter().map(|kind| vec![first; kind.sources.len()]).collect();
        Terminal { rng: Stream::for_terminal(seed, number), drawn }
    }

    fn choose(&self, rng: &mut Stream) -> usize {
        let mut left = rng.uniform(1, self.weights);
        self.kinds
            .iter()
            .position(|kind| {
                left -= kind.weight;
                left <= 0
            })
            .unwrap_or(0)
    }

    /// Chooses a transaction by the weights and draws its values.
    pub fn draw(&self, terminal: &mut Terminal) -> Input {
        let kind = self.choose(&mut terminal.rng);
        let Terminal { rng, drawn } = terminal;
        let Kind { sources, rollback, .. } = &self.kinds[kind];
        let (mut of_tables, mut of_pools) = (Vec::<(usize, u64)>::new(), Vec::<(usize, u64)>::new());
        let mut values = Vec::with_capacity(sources.len());
        for (source, drawn) in sources.iter().zip(&mut drawn[kind]) {
            values.push(match source {
                Source::Drawn(generator) => generator.draw(rng, drawn),
                Source::Of(table, column) => {
                    let position = picked(&mut of_tables, *table, self.data.rows(*table), rng);
                    self.data.value(*table, *column, position)
                }
                Source::Pool(pool, column) => {
                    let rows = &self.pools[*pool].rows;
                    rows[picked(&mut of_pools, *pool, rows.len() as u64, rng) as usize][*column].clone()
                }
            });
        }
        let roll_back = *rollback > 0.0 && rng.unit() <= *rollback;
        Input { kind, values, roll_back }
    }

    /// Runs a transaction, once. After an error the session holds no open transaction.
    ///
    /// # Errors
    /// [`Class::Retry`] asks for another attempt with the same input; [`Class::Integrity`] means another number of rows
    /// than the file expects.
    pub async fn execute(&self, session: &mut Session, input: &Input) -> Result<Output, Error> {
        let kind = &self.kinds[input.kind];
        if kind.commit == Commit::Auto {
            let done = steps(session, kind, &input.values).await;
            // Whether it was committed before its connection broke, nobody knows.
            let unknown = |e: Error| if e.class() == Class::Lost { e.during_commit() } else { e };
            return done.map(|ended_early| Output { rolled_back: false, ended_early }).map_err(unknown);
        }
        session.begin(self.isolation, kind.access);
        let done = match steps(session, kind, &input.values).await {
            // What found nothing to go on with leaves nothing behind.
            Ok(ended_early) if ended_early || input.roll_back => session.rollback().await.map(|()| ended_early),
            Ok(ended_early) => session.commit().await.map(|()| ended_early),
            Err(e) => Err(custom_fault(kind.access, e)),
        };
        let ended = |ended_early: bool| Output { rolled_back: input.roll_back && !ended_early, ended_early };
        crate::tpcc::clean_up(session, done).await.map(ended)
    }
}

/// A write that is refused because its transaction has said that it only reads would be refused again; elsewhere the same
/// code tells of a standby, and another connection may find the primary.
fn custom_fault(access: Access, error: Error) -> Error {
    if access != Access::ReadOnly || error.code() != Some(READ_ONLY) {
        return error;
    }
    let said = error.to_string();
    let message = said.strip_suffix(&format!(" ({READ_ONLY})")).unwrap_or(&said);
    Error::new(Class::Permanent, Some(READ_ONLY.to_owned()), message)
}

/// The row of a table or a pool that this transaction has drawn, or draws now.
fn picked(known: &mut Vec<(usize, u64)>, of: usize, rows: u64, rng: &mut Stream) -> u64 {
    if let Some((_, position)) = known.iter().find(|(at, _)| *at == of) {
        return *position;
    }
    let position = rng.uniform(0, rows as i64 - 1) as u64;
    known.push((of, position));
    position
}

/// Runs the steps, and says whether they ended early.
async fn steps(session: &mut Session, kind: &Kind, drawn: &[OwnedValue]) -> Result<bool, Error> {
    let mut kept: Vec<OwnedValue> = Vec::new();
    for step in &kind.steps {
        let value = |at: &usize| match at.checked_sub(drawn.len()) {
            None => drawn[*at].borrowed(),
            Some(at) => kept.get(at).map_or(Value::Null, OwnedValue::borrowed),
        };
        let values: Vec<Value<'_>> = step.places.iter().map(value).collect();
        let answer = session.ask_as(&step.name, &step.sql, &values).await.map_err(|e| e.context(&step.name))?;
        if step.or_end && answer.affected() == 0 {
            return Ok(true);
        }
        if let Some(expected) = step.expect.filter(|expected| answer.affected() != *expected) {
            let got = answer.affected();
            return Err(Error::integrity(format!("{}: {got} rows where {expected} must be", step.name)));
        }
        if step.keep.is_empty() {
            continue;
        }
        let Some(row) = answer.get(0) else {
            return Err(Error::integrity(format!("{}: no row to keep values of", step.name)));
        };
        for (column, slot) in step.keep.iter().enumerate() {
            let slot = slot - drawn.len();
            kept.resize(kept.len().max(slot + 1), OwnedValue::Null);
            kept[slot] = crate::values::parameter(row.value(column)?.into_owned());
        }
    }
    Ok(false)
}

impl Kind {
    fn of(
        transaction: &file::Transaction,
        data: &Data,
        (pool_names, pools): (&[&str], &[Rows]),
        dialect: &dyn Dialect,
    ) -> Result<Self, String> {
        let wrong = |why: String| format!("transaction {}: {why}", transaction.name);
        // The parameters that are drawn, then those that steps keep.
        let (mut names, mut sources) = (Vec::<String>::new(), Vec::new());
        let templates: Vec<Template> = transaction
            .steps
            .iter()
            .map(|step| Template::parse(step.sql.of(dialect).map(String::as_str).unwrap_or_default(), dialect.wire()))
            .collect();
        for name in templates.iter().flat_map(Template::names) {
            if names.contains(name) {
                continue;
            }
            let of_pool = name.split_once('.').and_then(|(pool, column)| {
                let pool = pool_names.iter().position(|known| *known == pool)?;
                Some((pool, column))
            });
            let source = match (transaction.values.get(name), of_pool) {
                (Some(value), _) => Source::of(value, data).map_err(wrong)?,
                (None, Some((pool, column))) => {
                    let at = pools[pool].columns.iter().position(|known| known == column);
                    let at = at.ok_or_else(|| wrong(format!("the pool has no column for :{name}")))?;
                    Source::Pool(pool, at)
                }
                (None, None) => continue,
            };
            names.push(name.clone());
            sources.push(source);
        }
        for name in transaction.steps.iter().flat_map(|step| &step.keep) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let slot = |name: &String| {
            let at = names.iter().position(|known| known == name);
            at.ok_or_else(|| wrong(format!("nothing gives :{name} a value")))
        };
        let mut steps = Vec::new();
        for ((number, step), template) in (1..).zip(&transaction.steps).zip(&templates) {
            let (sql, order) = template.prepared(dialect);
            let places = order.iter().map(|at| slot(&template.names()[*at])).collect::<Result<_, _>>()?;
            let keep = step.keep.iter().map(slot).collect::<Result<_, _>>()?;
            let name = format!("{}.{number}", transaction.name);
            steps.push(Step { name, sql, places, keep, expect: step.expect, or_end: step.or_end });
        }
        Ok(Self {
            name: transaction.name.clone(),
            weight: i64::from(transaction.weight),
            sources,
            steps,
            commit: transaction.commit,
            access: if transaction.read_only { Access::ReadOnly } else { Access::ReadWrite },
            rollback: transaction.rollback,
            keying_us: transaction.keying().as_micros() as u64,
            think_seconds: transaction.think().as_secs_f64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_in_a_transaction_that_only_reads_is_no_lost_connection() {
        let refused = || Error::new(Class::Lost, Some(READ_ONLY.to_owned()), "read.1: cannot execute UPDATE");
        let fault = custom_fault(Access::ReadOnly, refused());
        assert_eq!(
            (fault.class(), fault.to_string().as_str()),
            (Class::Permanent, "read.1: cannot execute UPDATE (25006)")
        );
        assert_eq!(custom_fault(Access::ReadWrite, refused()).class(), Class::Lost);
        let lost = Error::new(Class::Lost, None, "gone");
        assert_eq!(custom_fault(Access::ReadOnly, lost).class(), Class::Lost);
    }
}
