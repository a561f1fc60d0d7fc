//! Runs lessons: a schema of our own with MovR in it, each lesson set up, measured and cleaned up, and the schema dropped.

use std::time::{Duration, Instant};

use record::query_plan::{How, Plan};
use record::run::Tool;
use record::timing::{Speedup, Timing, median_of};
use record::tuning::{Certainty, CurvePoint, LessonResult, Outcome, Published, Side, Space, TuningResult, WriteCost};
use target::{Dialect, Protocol, ScratchSchema, Session, Url};
use tpcc::rng::Stream;
use workload::values::{Generator, Rows, Values};
use workload::{data_set, movr};

use crate::Error;
use crate::bench_case::BenchCase;
use crate::lesson::{self, Certain, Lesson};
use crate::repeat::{Variant, shuffle};
use crate::runner::{Limits, Runner};

/// The schema in which lessons work.
pub const SCHEMA: &str = "weighbridge_tuning";

/// Fewest pairs, from which on a lesson may stop when its time is over.
const FEWEST_PAIRS: usize = 6;

/// Executions of a block: one that does not count, then so many.
const BLOCK: usize = 10;

/// How lessons are measured.
#[derive(Clone, Debug)]
pub struct Options {
    /// Pairs of executions where both sides can be run in turns.
    pub repeat: usize,
    /// Pairs of blocks where a change must be made and undone between them.
    pub rounds: usize,
    /// The size of MovR.
    pub scale: f64,
    /// The seed of data, values and orders.
    pub seed: u64,
    /// From when on a lesson takes no more pairs than it must.
    pub budget: Duration,
}

/// The schema of the lessons at `url`.
///
/// # Errors
/// If the database can't have one.
pub fn schema(url: &Url) -> Result<ScratchSchema, Error> {
    Ok(ScratchSchema::for_url(url, SCHEMA)?)
}

/// Runs lessons and leaves the database as it was. `tell` hears of each step.
///
/// # Errors
/// If the schema can't be made, filled or dropped. A lesson that fails is a result, and so is a lesson_runner that ends with the
/// connection.
pub async fn run(
    url: &Url,
    lessons: &[Lesson],
    options: &Options,
    limits: &Limits,
    tell: impl Fn(&str),
) -> Result<TuningResult, Error> {
    let schema = schema(url)?;
    if schema.exists().await? {
        return Err(Error::Usage(format!(
            "{} is there already: another `tune` is at work, or one was killed (then `weighbridge tune clean` removes it)",
            schema.place()
        )));
    }
    schema.create().await?;
    let held = hold(url, &schema, lessons, options, limits, &tell).await;
    let removed = schema.remove().await;
    let mut result = held?;
    match (removed, &mut result.stopped) {
        (Ok(()), _) => {}
        (Err(_), Some(why)) => {
            why.push_str(&format!("; {} is still there, `weighbridge tune clean` removes it", schema.place()));
        }
        (Err(e), None) => {
            return Err(Error::Database(e.context(format_args!("{} could not be removed", schema.place()))));
        }
    }
    Ok(result)
}

/// What a lesson does on this kind of database, for people.
///
/// # Errors
/// A lesson that is not whole.
pub fn described(lesson: &Lesson, dialect: &dyn Dialect) -> Result<String, Error> {
    let mut text = format!("{}: {}\n\n{}\n{}\n", lesson.name, lesson.title, lesson.shows, lesson.why);
    if let Some(reason) = lesson.refused_by(dialect) {
        text.push_str(&format!("\nNot offered on {}: {reason}.\n", dialect.name()));
        return Ok(text);
    }
    let mut part = |title: &str, statements: &[String]| {
        if !statements.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            statements.iter().for_each(|sql| text.push_str(&format!("    {}\n", sql.replace('\n', "\n    "))));
        }
    };
    let label = |side: &lesson::Side| side.label.of(dialect).cloned().unwrap_or_default();
    part("Set-up", &Lesson::list(lesson.setup.as_ref(), dialect));
    part(&format!("Before: {}", label(&lesson.before)), &lesson.written(&lesson.before, dialect)?);
    if let Some(change) = &lesson.change {
        part("Change", change.make.of(dialect).map(Vec::as_slice).unwrap_or_default());
    }
    part(&format!("After: {}", label(&lesson.after)), &lesson.written(&lesson.after, dialect)?);
    if let Some(side) = &lesson.writes {
        part(&format!("The write that pays for it: {}", label(side)), &lesson.written(side, dialect)?);
    }
    if let Some(lesson::Published { source, before_ms, after_ms, note }) = &lesson.published {
        let note = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        text.push_str(&format!("\nPublished: {before_ms} ms before, {after_ms} ms after{note}. {source}\n"));
    }
    Ok(text)
}

async fn hold(
    url: &Url,
    schema: &ScratchSchema,
    lessons: &[Lesson],
    options: &Options,
    limits: &Limits,
    tell: &impl Fn(&str),
) -> Result<TuningResult, Error> {
    let dialect = url.dialect();
    let started_at = Some(jiff::Timestamp::now());
    let mut session = schema.connect().await?;
    let version = session.describe().await?.version;
    tell(&format!("loading MovR at scale {} into {}", options.scale, schema.place()));
    let data = movr::Options { scale: options.scale, seed: options.seed, foreign_keys: false };
    data_set::create(&mut session, &data).await?;
    data_set::load(&mut session, &data, |_, _| {}).await?;
    for table in movr::TABLES {
        session.analyze(table.name).await?;
    }
    let mut results = Vec::new();
    let mut stopped = None;
    for lesson in lessons {
        if *limits.stop.borrow() {
            break;
        }
        let result = match take(lesson, schema, &mut session, dialect, options, limits).await {
            Ok(result) => result,
            Err(e) if e.is_lost() => {
                stopped = Some(format!("in the lesson {}: {e}", lesson.name));
                break;
            }
            Err(e) => return Err(e),
        };
        tell(&format!("{:<20} {}", lesson.name, result.verdict));
        results.push(result);
    }
    Ok(TuningResult {
        tool: Tool::this(),
        target: crate::target_of(url, version),
        started_at,
        scale: options.scale,
        rides: data.data().rows(::movr::Table::Rides),
        seed: options.seed,
        interrupted: stopped.is_none() && results.len() < lessons.len(),
        stopped,
        lessons: results,
    })
}

/// One lesson from its set-up to its clean-up.
///
/// # Errors
/// A connection that is lost; a clean-up that fails.
async fn take(
    lesson: &Lesson,
    schema: &ScratchSchema,
    session: &mut Session,
    dialect: &dyn Dialect,
    options: &Options,
    limits: &Limits,
) -> Result<LessonResult, Error> {
    let mut result =
        LessonResult {
            name: lesson.name.clone(),
            title: lesson.title.clone(),
            shows: lesson.shows.clone(),
            why: lesson.why.clone(),
            published: lesson.published.clone().map(|lesson::Published { source, before_ms, after_ms, note }| {
                Published { source, before_ms, after_ms, note }
            }),
            ..LessonResult::default()
        };
    let refused = lesson.refused_by(dialect).map(str::to_owned).or_else(|| level_refused(lesson, dialect));
    if let Some(reason) = refused {
        (result.outcome, result.reason) = (Outcome::NotOffered, Some(reason));
        result.verdict = result.conclusion();
        return Ok(result);
    }
    let measured = match set_up(lesson, session, dialect).await {
        Ok(()) => measure(lesson, schema, session, options, limits, &mut result).await,
        Err(e) => Err(e),
    };
    // There is nothing left to talk to, and no other lesson would fare better.
    let measured = match measured {
        Err(e) if e.is_lost() => return Err(e),
        measured => measured,
    };
    // Whatever came of it: the next lesson finds the data as this one did.
    let cleaned = clean_up(lesson, session, dialect).await;
    match measured {
        Ok(()) => {
            cleaned?;
            result.outcome = Outcome::Measured;
        }
        Err(Error::Interrupted) => (result.outcome, result.reason) = (Outcome::Failed, Some("interrupted".to_owned())),
        Err(e) => (result.outcome, result.reason) = (Outcome::Failed, Some(e.to_string())),
    }
    result.verdict = result.conclusion();
    Ok(result)
}

fn level_refused(lesson: &Lesson, dialect: &dyn Dialect) -> Option<String> {
    let levels = [lesson.subject_before(dialect), lesson.subject_after(dialect)];
    let level = levels.into_iter().flatten().filter_map(|subject| subject.isolation);
    let lacking = level.into_iter().find(|level| !dialect.isolations().contains(level))?;
    Some(format!("it has no isolation level {lacking}"))
}

async fn set_up(lesson: &Lesson, session: &mut Session, dialect: &dyn Dialect) -> Result<(), Error> {
    for sql in Lesson::list(lesson.setup.as_ref(), dialect) {
        session.execute(&sql).await?;
    }
    Ok(())
}

/// Tries every statement of the clean-up, and says what the first failure was.
async fn clean_up(lesson: &Lesson, session: &mut Session, dialect: &dyn Dialect) -> Result<(), Error> {
    let mut failed = Ok(());
    for sql in Lesson::list(lesson.cleanup.as_ref(), dialect) {
        if let Err(e) = session.execute(&sql).await {
            failed = failed.and(Err(Error::Database(e.context(format_args!("cleaning up after {}", lesson.name)))));
        }
    }
    failed
}

/// Both sides of a lesson, ready to run.
struct Bench<'a> {
    lesson: &'a Lesson,
    /// Before and after, then sizes between them.
    variants: Vec<Variant>,
    runners: Vec<Runner>,
    rng: Stream,
    options: &'a Options,
    began: Instant,
}

async fn measure(
    lesson: &Lesson,
    schema: &ScratchSchema,
    session: &mut Session,
    options: &Options,
    limits: &Limits,
    result: &mut LessonResult,
) -> Result<(), Error> {
    let dialect = session.dialect();
    let values = values(lesson, session, options.seed).await?;
    let mut subjects = vec![lesson.subject_before(dialect)?, lesson.subject_after(dialect)?];
    for size in &lesson.curve {
        subjects.push(lesson.subject_of_size(*size, dialect)?);
    }
    let setups = [&lesson.before, &lesson.after].map(|side| lesson.settings(side, dialect));
    // Sides that are set up alike share their sessions: two sessions differ by where the operating system puts them, which
    // is more than chance.
    let setups = if setups[0] == setups[1] { &setups[..1] } else { &setups[..] };
    let connections = subjects.iter().map(|subject| subject.connections).max().unwrap_or(1);
    let mut runners = Vec::new();
    for setup in setups {
        let mut sessions = Vec::new();
        for _ in 0..connections {
            let mut session = schema.connect().await?;
            for setting in setup {
                session.execute(setting).await?;
            }
            sessions.push(session);
        }
        let seed = options.seed + runners.len() as u64;
        runners.push(Runner::new(sessions, schema.url(), &values, seed, limits.clone()).await?);
    }
    let statements = |subject: &BenchCase| subject.steps.iter().map(crate::bench_case::Step::shown).collect();
    let side = |label: &workload::per_database::PerDatabase<String>, subject: &BenchCase| Side {
        label: label.of(dialect).cloned().unwrap_or_default(),
        statements: statements(subject),
        ..Side::default()
    };
    result.before = side(&lesson.before.label, &subjects[0]);
    result.after = side(&lesson.after.label, &subjects[1]);
    let variants = subjects
        .into_iter()
        .enumerate()
        .map(|(at, subject)| Variant::new(subject, at.min(runners.len() - 1)))
        .collect();
    let rng = Stream::for_terminal(options.seed, u64::MAX);
    let mut bench = Bench { lesson, variants, runners, rng, options, began: Instant::now() };
    match &lesson.change {
        None => bench.in_turns(result).await?,
        Some(change) => {
            let make = change.make.of(dialect).cloned().unwrap_or_default();
            let undo = change.undo.of(dialect).cloned().unwrap_or_default();
            result.change.clone_from(&make);
            let writes = lesson.subject_of_writes(dialect)?;
            let mut state = Changed { session, make, undo, tables: &change.tables, made: false };
            let measured = bench.by_blocks(&mut state, writes, result).await;
            // As the clean-up expects it.
            let undone = state.become_changed(false).await;
            measured?;
            undone?;
        }
    }
    result.certain = lesson.certain.iter().map(|certain| certainty(*certain, lesson, result)).collect();
    Ok(())
}

async fn values(lesson: &Lesson, session: &mut Session, seed: u64) -> Result<Values, Error> {
    let dialect = session.dialect();
    let mut values = Values::new(seed);
    for (name, written) in &lesson.values {
        let generator = Generator::parse(written).map_err(|e| Error::Usage(format!("lesson {}: {e}", lesson.name)))?;
        values.generate(name, generator);
    }
    for (name, sql) in &lesson.pools {
        if let Some(sql) = sql.of(dialect) {
            let answer = session.ask(sql, &[], Protocol::Simple).await?;
            values.take_from(Some(name), Rows::of(&answer)?);
        }
    }
    Ok(values)
}

/// A change that can be made and undone.
struct Changed<'a> {
    session: &'a mut Session,
    make: Vec<String>,
    undo: Vec<String>,
    tables: &'a [String],
    made: bool,
}

impl Changed<'_> {
    async fn become_changed(&mut self, made: bool) -> Result<(), Error> {
        if self.made == made {
            return Ok(());
        }
        for sql in if made { &self.make } else { &self.undo } {
            self.session.execute(sql).await?;
        }
        self.made = made;
        for table in self.tables {
            self.session.analyze(table).await?;
        }
        Ok(())
    }

    /// Bytes of the tables with their indexes, where the database tells them.
    async fn bytes(&mut self) -> Option<u64> {
        let mut sum = None;
        for table in self.tables {
            *sum.get_or_insert(0) += self.session.table_bytes(table).await?;
        }
        sum
    }
}

impl Bench<'_> {
    /// Whether there is time for another pair.
    fn goes_on(&self, done: usize, wanted: usize) -> bool {
        done < wanted && (done < FEWEST_PAIRS || self.began.elapsed() < self.options.budget)
    }

    async fn time(&mut self, at: usize) -> Result<f64, Error> {
        let variant = &mut self.variants[at];
        let ran = self.runners[variant.runner].run(&variant.subject).await?;
        variant.retries += ran.retries;
        Ok(ran.elapsed.as_secs_f64() * 1e3)
    }

    async fn plan(&mut self, at: usize) -> Result<Option<Plan>, Error> {
        let side = if at == 0 { &self.lesson.before } else { &self.lesson.after };
        if side.plan == Some(false) {
            return Ok(None);
        }
        let variant = &self.variants[at];
        let statement = variant.subject.steps[0].statement.clone();
        self.runners[variant.runner].plan(&statement, true).await
    }

    /// Both sides, and sizes between them, each once a round, in an order that is drawn.
    async fn in_turns(&mut self, result: &mut LessonResult) -> Result<(), Error> {
        result.before.plan = self.plan(0).await?;
        result.after.plan = self.plan(1).await?;
        let mut order: Vec<usize> = (0..self.variants.len()).collect();
        for at in 0..self.variants.len() {
            // The first prepares and fills caches.
            self.time(at).await?;
        }
        let mut done = 0;
        while self.goes_on(done, self.options.repeat) {
            shuffle(&mut order, &mut self.rng);
            for at in order.clone() {
                let time = self.time(at).await?;
                self.variants[at].times_ms.push(time);
            }
            done += 1;
        }
        let times = |at: usize| self.variants[at].times_ms.clone();
        let pairs: Vec<(f64, f64)> = times(0).into_iter().zip(times(1)).collect();
        result.comparison = Speedup::from_pairs(&pairs);
        result.before.timing = Timing::from_warm_sessions(vec![times(0)]);
        result.after.timing = Timing::from_warm_sessions(vec![times(1)]);
        result.before.retries = self.variants[0].retries;
        result.after.retries = self.variants[1].retries;
        if !self.lesson.curve.is_empty() {
            let sizes = [self.lesson.before.size, self.lesson.after.size].into_iter().flatten();
            for (at, size) in sizes.chain(self.lesson.curve.iter().copied()).enumerate() {
                let timing = Timing::from_warm_sessions(vec![times(at)]);
                let median_ms = timing.median_ms;
                let interval_ms = timing.interval_ms;
                result.curve.push(CurvePoint { size, median_ms, interval_ms });
            }
            result.curve.sort_by_key(|point| point.size);
        }
        Ok(())
    }

    /// Blocks of one side, then of the other, the order of each pair of blocks drawn. A block's figure is its median.
    async fn by_blocks(
        &mut self,
        state: &mut Changed<'_>,
        writes: Option<BenchCase>,
        result: &mut LessonResult,
    ) -> Result<(), Error> {
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        let mut written: Vec<(f64, f64)> = Vec::new();
        let mut times = [Vec::new(), Vec::new()];
        let mut bytes = [None, None];
        let mut writing = writes.map(|subject| {
            self.variants.push(Variant::new(subject, 0));
            self.variants.len() - 1
        });
        while self.goes_on(pairs.len(), self.options.rounds) {
            let mut order = [0, 1];
            shuffle(&mut order, &mut self.rng);
            let mut block_medians = [0.0; 2];
            let mut write_medians = [0.0; 2];
            for at in order {
                state.become_changed(at == 1).await?;
                if pairs.is_empty() {
                    bytes[at] = state.bytes().await;
                    let plan = self.plan(at).await?;
                    if at == 0 { result.before.plan = plan } else { result.after.plan = plan }
                }
                let block = self.block(at).await?;
                block_medians[at] = median_of(&block);
                times[at].extend(block);
                if let Some(write) = writing {
                    write_medians[at] = median_of(&self.block(write).await?);
                }
            }
            pairs.push((block_medians[0], block_medians[1]));
            written.push((write_medians[0], write_medians[1]));
        }
        let [before, after] = times;
        result.before.timing = Timing::from_warm_sessions(vec![before]);
        result.after.timing = Timing::from_warm_sessions(vec![after]);
        result.comparison = Speedup::from_pairs(&pairs);
        result.space = match bytes {
            [Some(before_bytes), Some(after_bytes)] => Some(Space { before_bytes, after_bytes }),
            _ => None,
        };
        result.writes = writing.take().map(|_| WriteCost {
            label: self
                .lesson
                .writes
                .as_ref()
                .and_then(|side| side.label.of(state.session.dialect()))
                .cloned()
                .unwrap_or_default(),
            before_ms: median_of(&written.iter().map(|pair| pair.0).collect::<Vec<_>>()),
            after_ms: median_of(&written.iter().map(|pair| pair.1).collect::<Vec<_>>()),
            speedup: Speedup::from_pairs(&written),
        });
        Ok(())
    }

    /// One execution that does not count, then some that do: fewer where they take long.
    async fn block(&mut self, at: usize) -> Result<Vec<f64>, Error> {
        let share = self.options.budget / (4 * self.options.rounds.max(1)) as u32;
        let variant = &mut self.variants[at];
        let block = self.runners[variant.runner].block(&variant.subject, BLOCK, share).await?;
        variant.retries += block.retries;
        Ok(block.times_ms)
    }
}

/// Holds a certainty against the plans.
fn certainty(certain: Certain, lesson: &Lesson, result: &LessonResult) -> Certainty {
    let what = match certain {
        Certain::ReadsLess => "that fewer rows are read",
        Certain::Seeks => "that keys are looked for",
        Certain::Covers => "that the index alone answers",
    };
    let (Some(before), Some(after)) = (&result.before.plan, &result.after.plan) else {
        return Certainty { what: what.to_owned(), holds: false, seen: "the database shows no plan".to_owned() };
    };
    let tables = lesson.change.as_ref().map(|change| change.tables.as_slice()).unwrap_or_default();
    let of_the_tables: Vec<_> =
        after.accesses.iter().filter(|access| tables.is_empty() || tables.contains(&access.table)).collect();
    let (holds, seen) = match certain {
        Certain::ReadsLess => {
            let counted = |plan: &Plan| plan.work.map_or("not counted".to_owned(), |work| format!("{work:.0}"));
            let holds = matches!((before.work, after.work), (Some(before), Some(after)) if after < before);
            (holds, format!("{} before, {} after ({})", counted(before), counted(after), after.unit))
        }
        Certain::Seeks => {
            let scanned = before.accesses.iter().any(|access| access.how != How::Seek);
            let seeks = !of_the_tables.is_empty() && of_the_tables.iter().all(|access| access.how == How::Seek);
            (scanned && seeks, format!("{} before, {} after", before.summary(), after.summary()))
        }
        Certain::Covers => {
            let covers = !of_the_tables.is_empty() && of_the_tables.iter().all(|access| access.covering);
            (covers, after.summary())
        }
    };
    Certainty { what: what.to_owned(), holds, seen }
}
