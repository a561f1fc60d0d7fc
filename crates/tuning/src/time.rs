//! Repeats statements and compares two sides: the measurement behind `weighbridge time`.

use futures_util::future::join_all;
use record::query_plan::Plan;
use record::run::Tool;
use record::timing::{Speedup, TimeResult, Timed, Timing, median_of};
use target::{Answer, Gateways, Isolation, Protocol, Session};
use tpcc::rng::Stream;
use workload::template::Template;
use workload::values::Values;

use crate::Error;
use crate::bench_case::{BenchCase, Ending};
use crate::repeat::{Rounds, Variant, repeat, shuffle};
use crate::runner::{Limits, Runner};

/// How often both sides get new sessions where they can't share them.
const MAX_SITTINGS: u32 = 10;

/// The protocols with their names on the command line and in results.
pub const PROTOCOLS: [(Protocol, &str); 2] = [(Protocol::Prepared, "prepared"), (Protocol::Simple, "simple")];

/// One side of a measurement: statements at gateways, in sessions with the same settings.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its name in the result of a comparison.
    pub name: &'static str,
    /// The gateways at which each statement is measured.
    pub gateways: Gateways,
    /// SQL for each session before anything else.
    pub settings: Vec<String>,
    /// The statements, each measured by itself.
    pub statements: Vec<String>,
}

/// How statements are repeated.
#[derive(Clone, Debug)]
pub struct TimePlan {
    /// Executions that count.
    pub repeat: u32,
    /// Executions before those.
    pub warmup: u32,
    /// Sessions that repeat at the same time.
    pub concurrency: u32,
    /// How statements are sent.
    pub protocol: Protocol,
    /// How a statement's transaction ends.
    pub ending: Ending,
    /// The level of that transaction; `None`: the database's default.
    pub isolation: Option<Isolation>,
    /// Whether both sides run in the same sessions. Two sessions differ by where the operating system puts them, which
    /// is more than chance; sides with other databases or settings need sessions of their own all the same.
    pub share_sessions: bool,
    /// Whether plans are read.
    pub explain: bool,
    /// Whether plans are read with what the database counts as it runs the statement.
    pub explain_analyze: bool,
    /// The seed of values and orders.
    pub seed: u64,
    /// The version of the first side's database.
    pub version: String,
    /// What ends a statement early.
    pub limits: Limits,
}

/// What a measurement gave.
#[derive(Debug)]
pub struct Measured {
    /// All times.
    pub result: TimeResult,
    /// The answer to the last execution of the last statement.
    pub last: Option<Answer>,
}

/// One of the sessions that repeat at the same time: a runner for each gateway and set of settings.
struct SessionSlot {
    runners: Vec<Runner>,
    variants: Vec<Variant>,
}

/// Repeats the statements of one side, or of two that are compared.
///
/// # Errors
/// A parameter without a value, before anything is run; the database's refusal, or a timeout. An interruption is not an
/// error: the result says that it was interrupted.
pub async fn measure(plan: &TimePlan, sides: &[Side], values: &Values) -> Result<Measured, Error> {
    let started_at = Some(jiff::Timestamp::now());
    let compared = sides.len() > 1;
    let sittings = if plan.share_sessions { 1 } else { MAX_SITTINGS.min(plan.repeat) };
    let mut plans_before = Vec::new();
    // The times of each statement at each gateway, session by session.
    let mut times: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut slots = Vec::new();
    let mut interrupted = false;
    for sitting in 0..sittings {
        slots.clear();
        for number in 0..plan.concurrency {
            slots.push(slot(plan, sides, values, u64::from(sitting * plan.concurrency + number)).await?);
        }
        if sitting == 0 {
            plans_before = plans(plan, &mut slots[0]).await?;
            times = vec![Vec::new(); slots[0].variants.len()];
        }
        let share = plan.repeat / sittings + u32::from(sitting < plan.repeat % sittings);
        let rounds = Rounds {
            repeat: share as usize,
            warmup: plan.warmup as usize,
            shuffled: compared,
            seed: plan.seed ^ u64::from(sitting),
        };
        let ended = slots.iter_mut().map(|slot| repeat(&mut slot.variants, &mut slot.runners, rounds));
        for ended in join_all(ended).await {
            match ended {
                Ok(()) => {}
                Err(Error::Interrupted) => interrupted = true,
                Err(e) => return Err(e),
            }
        }
        for (at, times) in times.iter_mut().enumerate() {
            times.extend(slots.iter().map(|slot| slot.variants[at].times_ms.clone()));
        }
        if interrupted {
            break;
        }
    }
    let plans_after = if interrupted { plans_before.clone() } else { plans(plan, &mut slots[0]).await? };
    let comparison = compared.then(|| Speedup::from_pairs(&pairs(&times, sittings > 1, plan.warmup == 0))).flatten();
    let mut statements = Vec::new();
    let measured = sides.iter().flat_map(|side| {
        let gateways = side.gateways.urls();
        side.statements.iter().flat_map(move |sql| gateways.iter().map(move |url| (side, sql, url)))
    });
    for (at, (side, sql, url)) in measured.enumerate() {
        let times = times[at].clone();
        statements.push(Timed {
            statement: sql.clone(),
            place: if compared { format!("{}: {url}", side.name) } else { url.to_string() },
            timing: if plan.warmup > 0 { Timing::from_warm_sessions(times) } else { Timing::from_sessions(times) },
            rows: slots[0].variants[at].rows,
            plan_before: plans_before[at].clone(),
            plan_after: plans_after[at].clone(),
        });
    }
    let protocol = PROTOCOLS.iter().find(|(protocol, _)| *protocol == plan.protocol).map_or("", |(_, name)| name);
    let target = crate::target_of(sides[0].gateways.first(), plan.version.clone());
    let result = TimeResult {
        tool: Tool::this(),
        target: record::run::Target { url: sides[0].gateways.to_string(), ..target },
        started_at,
        protocol: protocol.to_owned(),
        transaction: plan.ending.name().to_owned(),
        concurrency: plan.concurrency as usize,
        warmup: plan.warmup as usize,
        sittings: sittings as usize,
        seed: plan.seed,
        statements,
        comparison,
        interrupted,
    };
    let last = slots.first_mut().and_then(|slot| slot.runners[slot.variants.last()?.runner].take_last());
    Ok(Measured { result, last })
}

/// Connects a session for each gateway and set of settings, and says what is repeated in it.
async fn slot(plan: &TimePlan, sides: &[Side], values: &Values, number: u64) -> Result<SessionSlot, Error> {
    let seed = plan.seed;
    let apart = if plan.share_sessions { &sides[..1] } else { sides };
    let mut order: Vec<usize> = (0..apart.len()).collect();
    // Which side connects first matters too.
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
            setups[at].push(Runner::new(vec![session], url, &values, seed ^ number, plan.limits.clone()).await?);
        }
    }
    let mut slot = SessionSlot { runners: setups.into_iter().flatten().collect(), variants: Vec::new() };
    for (at, side) in sides.iter().enumerate() {
        let gateways = side.gateways.urls().len();
        let first = (at * gateways) % slot.runners.len();
        for sql in &side.statements {
            let statement = Template::parse(sql.trim().trim_end_matches(';'), side.gateways.dialect().wire());
            // A parameter without a value is known before anything is run.
            values.clone().draw(statement.names())?;
            let subject = BenchCase {
                ending: plan.ending,
                isolation: plan.isolation,
                protocol: plan.protocol,
                ..BenchCase::from_statement(statement)
            };
            slot.variants.extend((first..first + gateways).map(|runner| Variant::new(subject.clone(), runner)));
        }
    }
    Ok(slot)
}

/// Reads the plan of each variant's statement, with values of its own, if plans are asked for.
async fn plans(plan: &TimePlan, slot: &mut SessionSlot) -> Result<Vec<Option<Plan>>, Error> {
    if !plan.explain && !plan.explain_analyze {
        return Ok(vec![None; slot.variants.len()]);
    }
    let mut plans = Vec::new();
    for variant in &slot.variants {
        let runner = &mut slot.runners[variant.runner];
        plans.push(runner.plan(&variant.subject.steps[0].statement, plan.explain_analyze).await?);
    }
    Ok(plans)
}

/// Pairs the times of both sides, gateway by gateway and session by session; of sessions that they don't share, the
/// medians. `first_apart` leaves out the first pair of a session, in which each side prepares.
fn pairs(times: &[Vec<Vec<f64>>], of_medians: bool, first_apart: bool) -> Vec<(f64, f64)> {
    let mut pairs = Vec::new();
    let (base, other) = times.split_at(times.len() / 2);
    for (base, other) in base.iter().flatten().zip(other.iter().flatten()) {
        let counted = |times: &Vec<f64>| usize::from(first_apart && times.len() > 1);
        let base = &base[counted(base)..];
        let other = &other[counted(other)..];
        if !of_medians {
            pairs.extend(base.iter().copied().zip(other.iter().copied()));
        } else if !base.is_empty() && !other.is_empty() {
            pairs.push((median_of(base), median_of(other)));
        }
    }
    pairs
}
