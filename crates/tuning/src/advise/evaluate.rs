//! Tries candidates for real: each is made, looked at, measured in turns with things as they are, and removed.

use std::time::{Duration, Instant};

use record::advice::{Advice, Candidate, Tried};
use record::query_plan::Plan;
use record::run::Tool;
use record::timing::{Speedup, median_of};
use record::tuning::{Space, WriteCost};
use target::catalog::{NewIndex, TableIndex, TableInfo};
use target::{ScratchSchema, Session, Url};
use tpcc::rng::Stream;
use workload::template::Template;
use workload::values::Values;

use super::candidates::{PREFIX, candidates};
use super::query_analysis::{self, Reading};
use super::rewriting::{self, Rewrite};
use super::sandbox::{self, Copy};
use crate::Error;
use crate::bench_case::{BenchCase, Ending};
use crate::repeat::shuffle;
use crate::runner::{Limits, Runner};

/// The schema in which copies are made.
pub const SCHEMA: &str = "weighbridge_advice";

/// Candidates that are measured; the others were weaker at a first look.
const FINALISTS: usize = 4;

/// Pairs of inserts by which the cost of writes is told.
const WRITE_PAIRS: usize = 12;

/// How advice is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether candidates are tried.
    pub try_them: bool,
    /// Whether on a copy of the tables, with at most so many rows of each; else on the tables themselves.
    pub copy: Option<u64>,
    /// Pairs of blocks.
    pub rounds: usize,
    /// Executions of a block.
    pub block: usize,
    /// The longest that blocks of one state may take, all in all.
    pub budget: Duration,
    /// Seed of values and orders.
    pub seed: u64,
}

/// Advises on a statement. Without `try_them` nothing is changed; with it everything is as before at the end.
///
/// # Errors
/// A statement that can't be read; the database's refusal; the user's wish.
pub async fn advise(
    url: &Url,
    statement: &str,
    values: &Values,
    options: &Options,
    limits: &Limits,
    tell: &dyn Fn(&str),
) -> Result<Advice, Error> {
    let mut session = Session::connect(url).await?;
    session.commit_each().await?;
    let dialect = session.dialect();
    let version = session.describe().await?.version;
    let template = Template::parse(statement.trim().trim_end_matches(';'), dialect.wire());
    let sql = template.literal(dialect, &values.clone().draw(template.names())?);
    let parsed = query_analysis::parse(&sql, dialect.wire())?;
    let read = query_analysis::read(&parsed);
    let tables = tables(&mut session, &read).await?;
    let indexes = candidates(&read, &tables);
    let rewrite = rewriting::two_statements(&parsed);
    let mut advice = Advice {
        tool: Tool::this(),
        target: crate::target_of(url, version),
        started_at: Some(jiff::Timestamp::now()),
        statement: statement.to_owned(),
        tried: options.try_them,
        place: match options.copy {
            Some(rows) => format!("a copy of the tables with at most {rows} rows of each"),
            None => "the tables themselves".to_owned(),
        },
        plan: session.plan(&sql, false).await?.map(crate::recorded),
        candidates: indexes.iter().map(|index| proposed(&session, index)).collect(),
        notes: [notes(&read), uncounted(&tables)].concat(),
        seed: options.seed,
        ..Advice::default()
    };
    advice.candidates.extend(rewrite.as_ref().map(|rewrite| Candidate {
        statements: rewrite.shown(),
        what: "two statements with a list instead of IN (subquery)".to_owned(),
        ..Candidate::default()
    }));
    if !options.try_them {
        return Ok(advice);
    }
    remove_left_behind(&mut session, &tables, tell).await?;
    let schema = ScratchSchema::for_url(url, SCHEMA)?;
    if schema.exists().await? {
        tell(&format!("removing {}, left by an `advise` that was killed", schema.place()));
        schema.remove().await?;
    }
    schema.create().await?;
    let trial = Trial { url, schema: &schema, template, values, options, limits, tables: &tables, read: &read, tell };
    let tried = trial.run(&mut session, &indexes, rewrite.as_ref(), &mut advice).await;
    let removed = schema.remove().await;
    tried?;
    removed?;
    advice.rank();
    Ok(advice)
}

async fn tables(session: &mut Session, read: &Reading) -> Result<Vec<TableInfo>, Error> {
    let mut tables: Vec<TableInfo> = Vec::new();
    for name in read.tables.values() {
        if tables.iter().all(|table| table.name != *name)
            && let Some(table) = session.table_info(name).await?
        {
            tables.push(table);
        }
    }
    if tables.is_empty() {
        Err(Error::Usage("none of the statement's tables is in the catalog of this database".to_owned()))
    } else {
        Ok(tables)
    }
}

fn proposed(session: &Session, index: &NewIndex) -> Candidate {
    let columns = index.columns.join(", ");
    let stored = if index.stored.is_empty() { String::new() } else { format!(", holding {}", index.stored.join(", ")) };
    // A name that somebody may want to keep.
    let name = format!("{}_by_{}", index.table, [index.columns.as_slice(), index.stored.as_slice()].concat().join("_"));
    Candidate {
        statements: vec![session.create_index(&NewIndex { name, ..index.clone() })],
        what: format!("an index on {} ({columns}){stored}", index.table),
        ..Candidate::default()
    }
}

fn notes(read: &Reading) -> Vec<String> {
    let mut notes = Vec::new();
    for hidden in &read.hidden {
        let said = format!(
            "`{}` is compared inside an expression, which hides its indexes: compare the column itself, or index the expression",
            hidden.column
        );
        if !notes.contains(&said) {
            notes.push(said);
        }
    }
    if read.takes_all && !read.writes {
        notes.push(
            "all columns are asked for: name those that are needed, and an index that holds them can answer alone"
                .to_owned(),
        );
    }
    if read.skips {
        notes.push(
            "OFFSET reads all that it skips: begin behind the last key seen (`weighbridge tune show keyset-paging`)"
                .to_owned(),
        );
    }
    notes
}

/// Names the indexes that are there and help only some statements.
fn uncounted(tables: &[TableInfo]) -> Vec<String> {
    let of = |table: &TableInfo| {
        let said = |index: &TableIndex| {
            let what = match (index.partial, index.by_expression) {
                (true, true) => "is partial and by an expression",
                (true, false) => "is partial: it holds some rows only",
                (false, _) => "is by an expression",
            };
            format!(
                "the index {} on {} {what}, so it is not counted among those of its columns",
                index.name, table.name
            )
        };
        table.indexes.iter().filter(|index| !index.is_plain()).map(said).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of).collect()
}

/// Drops indexes that a killed `advise` has left.
async fn remove_left_behind(session: &mut Session, tables: &[TableInfo], tell: &dyn Fn(&str)) -> Result<(), Error> {
    for table in tables {
        for index in table.indexes.iter().filter(|index| index.name.starts_with(PREFIX)) {
            tell(&format!("dropping the index {} on {}, left by an `advise` that was killed", index.name, table.name));
            let sql = session.drop_index(&index.name, &table.name);
            session.execute(&sql).await?;
        }
    }
    Ok(())
}

/// All that a trial needs to know.
struct Trial<'a> {
    url: &'a Url,
    schema: &'a ScratchSchema,
    template: Template,
    values: &'a Values,
    options: &'a Options,
    limits: &'a Limits,
    tables: &'a [TableInfo],
    read: &'a Reading,
    tell: &'a dyn Fn(&str),
}

/// A state in which the statement is measured, and its figures.
struct State<'a> {
    index: Option<&'a NewIndex>,
    subject: BenchCase,
    /// Its place among the advice's candidates; `None`: as things are.
    candidate: Option<usize>,
    /// At the first look.
    first_ms: f64,
    /// The median of each block.
    blocks_ms: Vec<f64>,
}

impl Trial<'_> {
    async fn run(
        &self,
        session: &mut Session,
        indexes: &[NewIndex],
        rewrite: Option<&Rewrite>,
        advice: &mut Advice,
    ) -> Result<(), Error> {
        let mut own = self.schema.connect().await?;
        let copied = self.options.copy.is_some();
        let source = sandbox::source(session, self.url).await?;
        if let Some(rows) = self.options.copy {
            for table in self.tables {
                (self.tell)(&format!("copying {} (at most {rows} rows)", table.name));
                Copy::new(&source, table).fill(&mut own, Some(rows)).await?;
                own.analyze(&table.name).await?;
            }
        }
        let reading_session = if copied { self.schema.connect().await? } else { connected(self.url).await? };
        let place = if copied { self.schema.url() } else { self.url };
        let mut runner =
            Runner::new(vec![reading_session], place, self.values, self.options.seed, self.limits.clone()).await?;
        let making = if copied { &mut own } else { session };
        let now = BenchCase { ending: self.ending(), ..BenchCase::from_statement(self.template.clone()) };
        let mut states =
            vec![State { index: None, subject: now.clone(), candidate: None, first_ms: 0.0, blocks_ms: Vec::new() }];
        advice.plan = runner.plan(&self.template, true).await?;
        states[0].first_ms = self.block(&mut runner, &now).await?;
        for (at, index) in indexes.iter().enumerate() {
            let candidate = &mut advice.candidates[at];
            let looked = self.first_look(making, &mut runner, index, &now, candidate).await?;
            (self.tell)(&format!("{}: {}", candidate.what, said(candidate, looked, states[0].first_ms)));
            if let Some(first_ms) = looked {
                states.push(State {
                    index: Some(index),
                    subject: now.clone(),
                    candidate: Some(at),
                    first_ms,
                    blocks_ms: Vec::new(),
                });
            }
        }
        if let Some(rewrite) = rewrite {
            let at = advice.candidates.len() - 1;
            let candidate = &mut advice.candidates[at];
            match self.look_at_rewrite(&mut runner, rewrite, candidate).await? {
                Some((subject, first_ms)) => {
                    (self.tell)(&format!(
                        "{}: {}",
                        candidate.what,
                        said(candidate, Some(first_ms), states[0].first_ms)
                    ));
                    states.push(State { index: None, subject, candidate: Some(at), first_ms, blocks_ms: Vec::new() });
                }
                None => (self.tell)(&format!("{}: {}", candidate.what, said(candidate, None, 0.0))),
            }
        }
        states[1..].sort_by(|a, b| a.first_ms.total_cmp(&b.first_ms));
        for weaker in states.iter().skip(1 + FINALISTS) {
            if let Some(at) = weaker.candidate {
                advice.candidates[at].tried = Tried::Weaker;
                advice.candidates[at].after_ms = Some(weaker.first_ms);
            }
        }
        states.truncate(1 + FINALISTS);
        self.measure(making, &mut runner, &mut states).await?;
        let now_ms = states[0].blocks_ms.clone();
        advice.now_ms = Some(median_of(&now_ms));
        for state in &states[1..] {
            let Some(at) = state.candidate else { continue };
            let pairs: Vec<(f64, f64)> = now_ms.iter().copied().zip(state.blocks_ms.iter().copied()).collect();
            let candidate = &mut advice.candidates[at];
            candidate.tried = Tried::Measured;
            candidate.before_ms = Some(median_of(&now_ms));
            candidate.after_ms = Some(median_of(&state.blocks_ms));
            candidate.comparison = Speedup::from_pairs(&pairs);
            if let Some(index) = state.index {
                match self.cost_of_writes(&source, index).await {
                    Ok(cost) => candidate.writes = Some(cost),
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    Err(e) => candidate.reason = Some(format!("the cost of writes could not be measured: {e}")),
                }
            }
        }
        Ok(())
    }

    /// A statement that changes rows is rolled back each time.
    fn ending(&self) -> Ending {
        if self.read.writes { Ending::Rollback } else { Ending::Alone }
    }

    /// Makes an index, sees whether the plan takes it, times one block, and drops it. `None`: it is of no use.
    async fn first_look(
        &self,
        making: &mut Session,
        runner: &mut Runner,
        index: &NewIndex,
        subject: &BenchCase,
        candidate: &mut Candidate,
    ) -> Result<Option<f64>, Error> {
        let before_bytes = making.table_bytes(&index.table).await;
        let started = Instant::now();
        if let Err(e) = make(making, index).await {
            (candidate.tried, candidate.reason) = (Tried::Refused, Some(e.to_string()));
            return Ok(None);
        }
        candidate.build_ms = Some(started.elapsed().as_secs_f64() * 1e3);
        let looked = self.look(making, runner, index, subject, candidate, before_bytes).await;
        let sql = making.drop_index(&index.name, &index.table);
        making.execute(&sql).await?;
        looked
    }

    async fn look(
        &self,
        making: &mut Session,
        runner: &mut Runner,
        index: &NewIndex,
        subject: &BenchCase,
        candidate: &mut Candidate,
        before_bytes: Option<u64>,
    ) -> Result<Option<f64>, Error> {
        candidate.space = match (before_bytes, making.table_bytes(&index.table).await) {
            (Some(before_bytes), Some(after_bytes)) => Some(Space { before_bytes, after_bytes }),
            _ => None,
        };
        candidate.plan = runner.plan(&self.template, true).await?;
        let used = |plan: &Plan| plan.accesses.iter().any(|access| access.index.as_deref() == Some(&*index.name));
        if candidate.plan.as_ref().is_some_and(|plan| !used(plan)) {
            candidate.tried = Tried::NotUsed;
            return Ok(None);
        }
        Ok(Some(self.block(runner, subject).await?))
    }

    /// Whether the other form gives the same rows, and what a block of it takes.
    async fn look_at_rewrite(
        &self,
        runner: &mut Runner,
        rewrite: &Rewrite,
        candidate: &mut Candidate,
    ) -> Result<Option<(BenchCase, f64)>, Error> {
        match rewrite.subject(runner.session()).await {
            Ok(subject) => {
                let subject = BenchCase { ending: self.ending(), ..subject };
                let same = rewriting::same_rows(runner, &self.template, &subject).await?;
                if same {
                    let first_ms = self.block(runner, &subject).await?;
                    return Ok(Some((subject, first_ms)));
                }
                (candidate.tried, candidate.reason) = (Tried::Refused, Some("it gave other rows".to_owned()));
            }
            Err(e) => (candidate.tried, candidate.reason) = (Tried::Refused, Some(e.to_string())),
        }
        Ok(None)
    }

    /// Rounds over all states, in an order that is drawn; each makes its index, runs a block, and drops it.
    async fn measure(&self, making: &mut Session, runner: &mut Runner, states: &mut [State<'_>]) -> Result<(), Error> {
        let mut rng = Stream::for_terminal(self.options.seed, u64::MAX);
        let mut order: Vec<usize> = (0..states.len()).collect();
        for _ in 0..if states.len() > 1 { self.options.rounds } else { 1 } {
            shuffle(&mut order, &mut rng);
            for at in order.clone() {
                let state = &mut states[at];
                if let Some(index) = state.index {
                    make(making, index).await?;
                }
                let block = self.block(runner, &state.subject).await;
                if let Some(index) = state.index {
                    let sql = making.drop_index(&index.name, &index.table);
                    making.execute(&sql).await?;
                }
                state.blocks_ms.push(block?);
            }
        }
        Ok(())
    }

    /// The median of a block; one execution before it does not count.
    async fn block(&self, runner: &mut Runner, subject: &BenchCase) -> Result<f64, Error> {
        let share = self.options.budget / self.options.rounds.max(1) as u32;
        Ok(median_of(&runner.block(subject, self.options.block, share).await?.times_ms))
    }

    /// What inserting rows pays for an index, on a copy of its table.
    async fn cost_of_writes(&self, source: &sandbox::Source, index: &NewIndex) -> Result<WriteCost, Error> {
        let table = self.tables.iter().find(|table| table.name == index.table);
        let table = table.ok_or_else(|| Error::Usage(format!("no table {}", index.table)))?;
        let mut own = self.schema.connect().await?;
        let copy = Copy::new(source, table);
        copy.set_aside(&mut own).await?;
        let mut runner =
            Runner::new(vec![self.schema.connect().await?], self.schema.url(), self.values, 1, self.limits.clone())
                .await?;
        copy.attach(runner.session()).await?;
        let subject = copy.insert(own.dialect());
        let mut pairs = Vec::new();
        let mut rng = Stream::for_terminal(self.options.seed, u64::MAX - 1);
        let measured = async {
            for _ in 0..WRITE_PAIRS {
                let mut order = [0, 1];
                shuffle(&mut order, &mut rng);
                let mut times = [0.0; 2];
                for at in order {
                    if at == 1 {
                        make(&mut own, index).await?;
                    }
                    let ran = runner.run(&subject).await;
                    let again = if ran.is_ok() { runner.run(&subject).await } else { ran };
                    if at == 1 {
                        let sql = own.drop_index(&index.name, &index.table);
                        own.execute(&sql).await?;
                    }
                    times[at] = again?.elapsed.as_secs_f64() * 1e3;
                }
                pairs.push((times[0], times[1]));
            }
            Ok::<(), Error>(())
        }
        .await;
        measured?;
        copy.put_back(&mut own).await?;
        let side = |of: fn(&(f64, f64)) -> f64| median_of(&pairs.iter().map(of).collect::<Vec<_>>());
        Ok(WriteCost {
            label: format!("INSERT of {} rows", sandbox::INSERTED),
            before_ms: side(|pair| pair.0),
            after_ms: side(|pair| pair.1),
            speedup: Speedup::from_pairs(&pairs),
        })
    }
}

fn said(candidate: &Candidate, looked: Option<f64>, now: f64) -> String {
    match (looked, &candidate.reason) {
        (Some(ms), _) => format!("{ms:.3} ms at a first look, {now:.3} ms as things are"),
        (None, Some(reason)) => reason.clone(),
        (None, None) => "the plan does not take it".to_owned(),
    }
}

async fn connected(url: &Url) -> Result<Session, Error> {
    let mut session = Session::connect(url).await?;
    session.commit_each().await?;
    Ok(session)
}

async fn make(session: &mut Session, index: &NewIndex) -> Result<(), Error> {
    let sql = session.create_index(index);
    session.execute(&sql).await?;
    let analyzed = session.analyze(&index.table).await;
    if analyzed.is_err() {
        let sql = session.drop_index(&index.name, &index.table);
        session.execute(&sql).await?;
    }
    Ok(analyzed?)
}
