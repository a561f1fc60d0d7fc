//! `weighbridge time`: a statement repeated, and two held against each other.

use futures_util::future::join_all;
use record::run::{Target, Tool};
use record::timing::{Speedup, TimeResult, Timed, Timing};
use target::{Gateways, Protocol, Session};
use tuning::repeat::{Contestant, Rounds, repeat};
use tuning::runner::{Limits, Runner};
use tuning::subject::{Ending, Subject};
use workload::template::Template;
use workload::values::Values;

use super::values::{statements_of, tpcc_subject, values};
use super::{Ended, Failure, Status, require_data, require_file, runtime};
use crate::cli::{ProtocolName, TimeArgs, TransactionName};
use crate::{interrupt, output};

/// What stands on one side: statements at gateways, in sessions set up alike.
struct Side {
    name: &'static str,
    gateways: Gateways,
    settings: Vec<String>,
    statements: Vec<String>,
}

/// What one of the sessions that work side by side does.
struct Lane {
    runners: Vec<Runner>,
    contestants: Vec<Contestant>,
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
    let mut lanes = Vec::new();
    for number in 0..args.concurrency {
        lanes.push(lane(args, transaction, sides, &values, seed, u64::from(number), &limits).await?);
    }
    let plans_before = plans(args, &mut lanes[0]).await?;
    let rounds = Rounds { repeat: args.repeat as usize, warmup: args.warmup as usize, shuffled: sides.len() > 1, seed };
    let ended = join_all(lanes.iter_mut().map(|lane| repeat(&mut lane.contestants, &mut lane.runners, rounds))).await;
    let mut interrupted = false;
    for ended in ended {
        match ended {
            Ok(()) => {}
            Err(tuning::Error::Interrupted) => interrupted = true,
            Err(e) => return Err(super::tune::failure(e)),
        }
    }
    let plans_after = if interrupted { plans_before.clone() } else { plans(args, &mut lanes[0]).await? };
    let mut statements = Vec::new();
    let named = sides.iter().flat_map(|side| {
        let gateways = side.gateways.urls();
        side.statements.iter().flat_map(move |sql| gateways.iter().map(move |url| (side, sql, url)))
    });
    for (at, (side, sql, url)) in named.enumerate() {
        let times = lanes.iter().map(|lane| lane.contestants[at].times_ms.clone()).collect();
        let place = if sides.len() > 1 { format!("{}: {url}", side.name) } else { url.to_string() };
        statements.push(Timed {
            statement: sql.clone(),
            place,
            timing: if args.warmup > 0 { Timing::of_warm(times) } else { Timing::of(times) },
            rows: lanes[0].contestants[at].rows,
            plan_before: plans_before[at].clone(),
            plan_after: plans_after[at].clone(),
        });
    }
    let comparison = (sides.len() > 1).then(|| Speedup::of(&pairs(&lanes, args.warmup == 0))).flatten();
    let shown = args.rows.and_then(|most| {
        let runner = lanes[0].contestants.last()?.runner;
        lanes[0].runners[runner].last().map(|answer| report::rows_table(&cells(answer, most), answer.len()))
    });
    let kind = sides[0].gateways.dialect();
    let url = sides[0].gateways.to_string();
    let result = TimeResult {
        tool: Tool { name: "weighbridge".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
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
        seed,
        statements,
        comparison,
        interrupted,
    };
    Ok((result, shown))
}

/// A session for each gateway and set-up, and what is to be repeated in it. Sides that are set up alike share theirs: two
/// sessions differ by where the operating system puts them, which is more than chance.
async fn lane(
    args: &TimeArgs,
    transaction: TransactionName,
    sides: &[Side],
    values: &Values,
    seed: u64,
    number: u64,
    limits: &Limits,
) -> Result<Lane, Failure> {
    let mut lane = Lane { runners: Vec::new(), contestants: Vec::new() };
    let values = values.for_session(seed, number);
    for side in sides {
        let dialect = side.gateways.dialect();
        let alike = args.against_urls.is_empty() && side.settings == sides[0].settings;
        let first = if alike { 0 } else { lane.runners.len() };
        for url in side.gateways.urls().iter().skip(lane.runners.len() - first) {
            let mut session = Session::connect(url).await?;
            session.commit_each().await?;
            for setting in &side.settings {
                session.execute(setting).await?;
            }
            lane.runners.push(Runner::new(vec![session], url, &values, seed ^ number, limits.clone()).await?);
        }
        for sql in &side.statements {
            let subject = Subject {
                ending: match transaction {
                    TransactionName::None => Ending::Alone,
                    TransactionName::Commit => Ending::Commit,
                    TransactionName::Rollback => Ending::Rollback,
                },
                isolation: args.isolation,
                protocol: if args.protocol == ProtocolName::Simple { Protocol::Simple } else { Protocol::Prepared },
                ..Subject::of(Template::parse(sql.trim().trim_end_matches(';'), dialect.wire()))
            };
            // Before anything is run.
            values.clone().draw(subject.steps[0].statement.names()).map_err(|e| Failure::Usage(e.to_string()))?;
            for runner in first..first + side.gateways.urls().len() {
                lane.contestants.push(Contestant::new(subject.clone(), runner));
            }
        }
    }
    Ok(lane)
}

/// The plan of each contestant's statement, with values of its own.
async fn plans(args: &TimeArgs, lane: &mut Lane) -> Result<Vec<Option<record::query_plan::Plan>>, Failure> {
    let mut plans = Vec::new();
    for contestant in &lane.contestants {
        let runner = &mut lane.runners[contestant.runner];
        plans.push(match args.explain || args.explain_analyze {
            false => None,
            true => runner.plan(&contestant.subject.steps[0].statement, args.explain_analyze).await?,
        });
    }
    Ok(plans)
}

/// The times of both sides, gateway by gateway and session by session. The first pair, in which each side prepares, is
/// left out.
fn pairs(lanes: &[Lane], first_apart: bool) -> Vec<(f64, f64)> {
    let mut pairs = Vec::new();
    for lane in lanes {
        let (base, other) = lane.contestants.split_at(lane.contestants.len() / 2);
        for (base, other) in base.iter().zip(other) {
            let both = base.times_ms.iter().copied().zip(other.times_ms.iter().copied());
            pairs.extend(both.skip(usize::from(first_apart)));
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
