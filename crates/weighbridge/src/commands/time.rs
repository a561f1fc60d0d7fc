//! `weighbridge time`: a statement repeated, and two held against each other.

use futures_util::future::join_all;
use record::run::{Target, Tool};
use record::timing::{Speedup, TimeResult, Timed, Timing, median_of};
use target::{Gateways, Protocol, Session};
use tpcc::rng::Stream;
use tuning::bench_case::{BenchCase, Ending};
use tuning::repeat::{Rounds, Variant, repeat, shuffle};
use tuning::runner::{Limits, Runner};
use workload::template::Template;
use workload::values::Values;

use super::values::{statements_of, tpcc_subject, values};
use super::{Ended, Failure, Status, require_data, require_file, runtime};
use crate::cli::{ProtocolName, TimeArgs, TransactionName};
use crate::{interrupt, output};

/// New sessions for both sides, as often as that, where they can't share one.
const MOST_SITTINGS: u32 = 10;

/// What stands on one side: statements at gateways, in sessions set up alike.
struct Side {
    name: &'static str,
    gateways: Gateways,
    settings: Vec<String>,
    statements: Vec<String>,
}

/// What one of the sessions that work side by side does.
struct SessionSlot {
    runners: Vec<Runner>,
    variants: Vec<Variant>,
}

pub(crate) fn run(args: &TimeArgs) -> Ended {
    let mut sides = sides(args)?;
    for side in &sides {
        require_data(&side.gateways, "repeat statements on")?;
        require_file(side.gateways.first())?;
        let offered = side.gateways.dialect().isolations();
        if let Some(level) = args.isolation.filter(|level| !offered.contains(level)) {
            return Err(Failure::Usage(format!("{} has no isolation level {level}", side.gateways.dialect().name())));
        }
    }
    if args.isolation.is_some() && matches!(args.transaction, None | Some(TransactionName::None)) {
        return Err(Failure::Usage(
            "--isolation is that of a transaction: add --transaction commit or rollback".to_owned(),
        ));
    }
    let seed = args.seed.unwrap_or_else(super::run::any_seed);
    let (result, last) = runtime()?.block_on(measure(args, &mut sides, seed))?;
    match args.json {
        true => output::print_json(&report::time_json(&result))?,
        false => {
            output::print(&report::time_table(&result, args.times, args.cumulative))?;
            if let Some(rows) = last {
                output::print(&rows)?;
            }
        }
    }
    match result.interrupted {
        true => Err(Failure::Failed("interrupted: what is shown is of the executions that were done".to_owned())),
        false => Ok(Status::Done),
    }
}

/// What is to be repeated where: one side, or two to be compared.
fn sides(args: &TimeArgs) -> Result<Vec<Side>, Failure> {
    let usage = |said: &str| Failure::Usage(said.to_owned());
    let parse = |urls: &[String]| Gateways::parse(urls).map_err(|e| Failure::Usage(e.to_string()));
    let gateways = match &args.host {
        None => parse(&args.target.urls)?,
        Some(host) => parse(&[format!("cockroachdb://root@{host}/movr?sslmode=disable")])?,
    };
    let mut statements = args.statements.clone();
    if let Some(file) = &args.file {
        statements.extend(statements_of(file, gateways.dialect().wire())?);
    }
    if args.tpcc.is_none() && statements.iter().all(|statement| statement.trim().is_empty()) {
        return Err(usage("nothing to repeat: give --statement SQL, --file FILE or --tpcc NAME"));
    }
    if args.tpcc.is_some() && !statements.is_empty() {
        return Err(usage("--tpcc is a statement of its own: leave out --statement and --file"));
    }
    let compared = args.against.is_some() || !args.against_urls.is_empty() || !args.against_settings.is_empty();
    if compared && statements.len() > 1 {
        return Err(usage("a comparison is of one statement with one other: give --statement once"));
    }
    let mut sides =
        vec![Side { name: "base", gateways: gateways.clone(), settings: args.settings.clone(), statements }];
    if compared {
        let gateways = if args.against_urls.is_empty() { gateways } else { parse(&args.against_urls)? };
        if gateways.urls().len() != sides[0].gateways.urls().len() {
            return Err(usage("--against-url: the other side needs as many gateways as the first"));
        }
        let settings = if args.against_settings.is_empty() { &args.settings } else { &args.against_settings };
        let statements = args.against.clone().map_or_else(|| sides[0].statements.clone(), |against| vec![against]);
        sides.push(Side { name: "against", gateways, settings: settings.clone(), statements });
    }
    Ok(sides)
}

async fn measure(args: &TimeArgs, sides: &mut [Side], seed: u64) -> Result<(TimeResult, Option<String>), Failure> {
    let limits = Limits { timeout: args.timeout, stop: interrupt::stop() };
    let started_at = Some(jiff::Timestamp::now());
    let mut first = Session::connect(sides[0].gateways.first()).await?;
    first.commit_each().await?;
    let version = first.describe().await?.version;
    let mut values = values(&args.values, &mut first, seed).await?;
    let mut transaction = args.transaction.unwrap_or(TransactionName::None);
    if let Some(name) = &args.tpcc {
        let subject = tpcc_subject(name, &mut first, &mut values).await?;
        if subject.writes && args.transaction.is_none() {
            transaction = TransactionName::Rollback;
        }
        sides
            .iter_mut()
            .filter(|side| side.statements.is_empty())
            .for_each(|side| side.statements = vec![subject.sql.clone()]);
    }
    let sides = &*sides;
    drop(first);
    let sittings = if alike(sides, args) { 1 } else { MOST_SITTINGS.min(args.repeat) };
    let mut plans_before = Vec::new();
    // The times of each statement at each place, session by session.
    let mut times: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut slots = Vec::new();
    let mut interrupted = false;
    for sitting in 0..sittings {
        slots.clear();
        for number in 0..args.concurrency {
            let number = u64::from(sitting * args.concurrency + number);
            slots.push(slot(args, transaction, sides, &values, seed, number, &limits).await?);
        }
        if sitting == 0 {
            plans_before = plans(args, &mut slots[0]).await?;
            times = vec![Vec::new(); slots[0].variants.len()];
        }
        let share = args.repeat / sittings + u32::from(sitting < args.repeat % sittings);
        let rounds = Rounds {
            repeat: share as usize,
            warmup: args.warmup as usize,
            shuffled: sides.len() > 1,
            seed: seed ^ u64::from(sitting),
        };
        let ended = slots.iter_mut().map(|slot| repeat(&mut slot.variants, &mut slot.runners, rounds));
        for ended in join_all(ended).await {
            match ended {
                Ok(()) => {}
                Err(tuning::Error::Interrupted) => interrupted = true,
                Err(e) => return Err(super::tune::failure(e)),
            }
        }
        for (at, times) in times.iter_mut().enumerate() {
            times.extend(slots.iter().map(|slot| slot.variants[at].times_ms.clone()));
        }
        if interrupted {
            break;
        }
    }
    let plans_after = if interrupted { plans_before.clone() } else { plans(args, &mut slots[0]).await? };
    let comparison =
        (sides.len() > 1).then(|| Speedup::from_pairs(&pairs(&times, sittings > 1, args.warmup == 0))).flatten();
    let mut statements = Vec::new();
    let named = sides.iter().flat_map(|side| {
        let gateways = side.gateways.urls();
        side.statements.iter().flat_map(move |sql| gateways.iter().map(move |url| (side, sql, url)))
    });
    for (at, (side, sql, url)) in named.enumerate() {
        let times = times[at].clone();
        let place = if sides.len() > 1 { format!("{}: {url}", side.name) } else { url.to_string() };
        statements.push(Timed {
            statement: sql.clone(),
            place,
            timing: if args.warmup > 0 { Timing::from_warm_sessions(times) } else { Timing::from_sessions(times) },
            rows: slots[0].variants[at].rows,
            plan_before: plans_before[at].clone(),
            plan_after: plans_after[at].clone(),
        });
    }
    let shown = args.rows.and_then(|most| {
        let runner = slots[0].variants.last()?.runner;
        slots[0].runners[runner].last().map(|answer| report::rows_table(&cells(answer, most), answer.len()))
    });
    let kind = sides[0].gateways.dialect();
    let url = sides[0].gateways.to_string();
    let result = TimeResult {
        tool: Tool::this(),
        target: Target { kind: kind.name().to_owned(), version, url, embedded: kind.embedded(), ..Target::default() },
        started_at,
        protocol: if args.protocol == ProtocolName::Simple { "simple" } else { "prepared" }.to_owned(),
        transaction: match transaction {
            TransactionName::None => "none",
            TransactionName::Commit => "commit",
            TransactionName::Rollback => "rollback",
        }
        .to_owned(),
        concurrency: args.concurrency as usize,
        warmup: args.warmup as usize,
        sittings: sittings as usize,
        seed,
        statements,
        comparison,
        interrupted,
    };
    Ok((result, shown))
}

/// Whether all sides can share their sessions: two sessions differ by where the operating system puts them, which is more
/// than chance.
fn alike(sides: &[Side], args: &TimeArgs) -> bool {
    args.against_urls.is_empty() && sides.iter().all(|side| side.settings == sides[0].settings)
}

/// A session for each gateway and set-up, and what is to be repeated in it.
async fn slot(
    args: &TimeArgs,
    transaction: TransactionName,
    sides: &[Side],
    values: &Values,
    seed: u64,
    number: u64,
    limits: &Limits,
) -> Result<SessionSlot, Failure> {
    let apart: Vec<&Side> = if alike(sides, args) { vec![&sides[0]] } else { sides.iter().collect() };
    let mut order: Vec<usize> = (0..apart.len()).collect();
    // Who connects first matters too.
    shuffle(&mut order, &mut Stream::for_terminal(seed ^ number, u64::MAX));
    let mut setups: Vec<Vec<Runner>> = apart.iter().map(|_| Vec::new()).collect();
    for at in order {
        let urls = apart[at].gateways.urls();
        for (place, url) in urls.iter().enumerate() {
            let mut session = Session::connect(url).await?;
            session.commit_each().await?;
            for setting in &apart[at].settings {
                session.execute(setting).await?;
            }
            let number = (number * apart.len() as u64 + at as u64) * urls.len() as u64 + place as u64;
            let values = values.for_session(seed, number);
            setups[at].push(Runner::new(vec![session], url, &values, seed ^ number, limits.clone()).await?);
        }
    }
    let mut slot = SessionSlot { runners: setups.into_iter().flatten().collect(), variants: Vec::new() };
    for (at, side) in sides.iter().enumerate() {
        let dialect = side.gateways.dialect();
        let gateways = side.gateways.urls().len();
        let first = (at * gateways) % slot.runners.len();
        for sql in &side.statements {
            let subject = BenchCase {
                ending: match transaction {
                    TransactionName::None => Ending::Alone,
                    TransactionName::Commit => Ending::Commit,
                    TransactionName::Rollback => Ending::Rollback,
                },
                isolation: args.isolation,
                protocol: if args.protocol == ProtocolName::Simple { Protocol::Simple } else { Protocol::Prepared },
                ..BenchCase::of(Template::parse(sql.trim().trim_end_matches(';'), dialect.wire()))
            };
            // Before anything is run.
            values.clone().draw(subject.steps[0].statement.names()).map_err(|e| Failure::Usage(e.to_string()))?;
            for runner in first..first + gateways {
                slot.variants.push(Variant::new(subject.clone(), runner));
            }
        }
    }
    Ok(slot)
}

/// The plan of each variant's statement, with values of its own.
async fn plans(args: &TimeArgs, slot: &mut SessionSlot) -> Result<Vec<Option<record::query_plan::Plan>>, Failure> {
    let mut plans = Vec::new();
    for variant in &slot.variants {
        let runner = &mut slot.runners[variant.runner];
        plans.push(match args.explain || args.explain_analyze {
            false => None,
            true => runner.plan(&variant.subject.steps[0].statement, args.explain_analyze).await?,
        });
    }
    Ok(plans)
}

/// The times of both sides, gateway by gateway and session by session; of sessions that they don't share the medians. The
/// first pair of a session, in which each side prepares, is left out.
fn pairs(times: &[Vec<Vec<f64>>], of_medians: bool, first_apart: bool) -> Vec<(f64, f64)> {
    let mut pairs = Vec::new();
    let (base, other) = times.split_at(times.len() / 2);
    for (base, other) in base.iter().flatten().zip(other.iter().flatten()) {
        let behind = |times: &Vec<f64>| usize::from(first_apart && times.len() > 1);
        let (base, other) = (&base[behind(base)..], &other[behind(other)..]);
        match of_medians {
            true if base.is_empty() || other.is_empty() => {}
            true => pairs.push((median_of(base), median_of(other))),
            false => pairs.extend(base.iter().copied().zip(other.iter().copied())),
        }
    }
    pairs
}

/// The first rows of an answer, below its columns' names.
fn cells(answer: &target::Answer, most: usize) -> Vec<Vec<String>> {
    let mut cells: Vec<Vec<String>> = answer.get(0).map(|row| row.columns()).into_iter().collect();
    for row in answer.rows().take(most) {
        let count = cells[0].len();
        cells.push((0..count).map(|at| row.value(at).map_or_else(|e| e.to_string(), |v| v.to_string())).collect());
    }
    cells
}
