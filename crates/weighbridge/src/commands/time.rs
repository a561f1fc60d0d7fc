//! `weighbridge time`: repeats statements, and compares two.

use target::{Gateways, Session};
use tuning::bench_case::Ending;
use tuning::runner::Limits;
use tuning::time::{Measured, Side, TimePlan, measure};

use super::values::{statements_of, tpcc_subject, values};
use super::{Ended, Failure, Status, require_data, require_file, runtime};
use crate::cli::TimeArgs;
use crate::{interrupt, output};

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
    if args.isolation.is_some() && args.transaction.unwrap_or_default() == Ending::Alone {
        return Err(Failure::Usage(
            "--isolation is that of a transaction: add --transaction commit or rollback".to_owned(),
        ));
    }
    let seed = args.seed.unwrap_or_else(super::run::any_seed);
    let Measured { result, last } = runtime()?.block_on(measured(args, &mut sides, seed))?;
    if args.json.enabled {
        output::print_json(&report::time_json(&result))?;
    } else {
        output::print(&report::time_table(&result, args.times, args.cumulative))?;
        if let Some((most, answer)) = args.rows.zip(last) {
            output::print(&report::rows_table(&cells(&answer, most), answer.len()))?;
        }
    }
    if result.interrupted {
        return Err(Failure::Failed("interrupted: what is shown is of the executions that were done".to_owned()));
    }
    Ok(Status::Done)
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

async fn measured(args: &TimeArgs, sides: &mut [Side], seed: u64) -> Result<Measured, Failure> {
    let mut first = Session::connect(sides[0].gateways.first()).await?;
    first.commit_each().await?;
    let version = first.describe().await?.version;
    let mut values = values(&args.values, &mut first, seed).await?;
    let mut ending = args.transaction.unwrap_or_default();
    if let Some(name) = &args.tpcc {
        let subject = tpcc_subject(name, &mut first, &mut values).await?;
        if subject.writes && args.transaction.is_none() {
            ending = Ending::Rollback;
        }
        for side in sides.iter_mut().filter(|side| side.statements.is_empty()) {
            side.statements = vec![subject.sql.clone()];
        }
    }
    drop(first);
    let plan = TimePlan {
        repeat: args.repeat,
        warmup: args.warmup,
        concurrency: args.concurrency,
        protocol: args.protocol,
        ending,
        isolation: args.isolation,
        share_sessions: args.against_urls.is_empty() && sides.iter().all(|side| side.settings == sides[0].settings),
        explain: args.explain,
        explain_analyze: args.explain_analyze,
        seed,
        version,
        limits: Limits { timeout: args.timeout, stop: interrupt::stop() },
    };
    measure(&plan, sides, &values).await.map_err(super::tune::failure)
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
