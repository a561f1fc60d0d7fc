//! `weighbridge acid`: does each isolation level give what clause 3 asks for?

use record::acid::{AcidResult, LevelResult, Outcome, TestResult};
use record::run::{CheckResult, Target, Tool};
use target::{Gateways, Isolation, Session};
use workload::tpcc::acid::{TestDatabase, not_offered, put_back, test_level};
use workload::tpcc::catalog::Catalog;
use workload::tpcc::check::{CheckOptions, check_only};

use super::{Ended, Failure, Status, durability, gateways, require_data, require_file, runtime};
use crate::cli::{AcidArgs, AcidCommand};
use crate::interrupt;

/// The consistency conditions of 3.3.2; the eleventh also in the form that outlives Deliveries.
const CONDITIONS: [&str; 13] = ["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C11g", "C12"];

const LEVELS: [Isolation; 3] = [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];

pub(crate) fn run(args: &AcidArgs) -> Ended {
    if let Some(AcidCommand::Durability(args)) = &args.command {
        args.fit().map_err(Failure::Usage)?;
        return durability::run(args);
    }
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "test")?;
    require_file(gateways.first())?;
    let offered = gateways.dialect().isolations();
    if let Some(level) = args.isolation.iter().find(|level| !offered.contains(level)) {
        let names: Vec<String> = offered.iter().map(Isolation::to_string).collect();
        let name = gateways.dialect().name();
        return Err(Failure::Usage(format!("{name} has no isolation level {level}: it has {}", names.join(", "))));
    }
    let place =
        TestDatabase { gateways, warehouses: args.warehouses, seed: args.seed.unwrap_or_else(super::run::any_seed) };
    let result = runtime()?.block_on(test(args, &place))?;
    if let Some(page) = &args.html {
        super::report::write(page, &report::acid_page(&result).file())?;
    }
    args.json.print(|| report::acid_json(&result), || report::acid_table(&result))?;
    Ok(if result.passes() { Status::Done } else { Status::NotBelieved })
}

async fn test(args: &AcidArgs, place: &TestDatabase) -> Result<AcidResult, Failure> {
    let stop = interrupt::stop();
    let TestDatabase { gateways, warehouses, seed } = place;
    let mut session = Session::connect(gateways.first()).await?;
    let loaded = Catalog::read_complete(&mut session).await?.warehouses;
    if *warehouses > loaded {
        return Err(Failure::Usage(format!("--warehouses {warehouses}: only {loaded} are loaded")));
    }
    let version = session.describe().await?.version;
    drop(session);
    for what in put_back(place).await? {
        say!("put back what an earlier test had left changed: {what}");
    }
    let dialect = gateways.dialect();
    let started_at = Some(jiff::Timestamp::now());
    let checks_before = conditions(gateways, *warehouses).await?;
    let mut levels = Vec::new();
    for level in LEVELS {
        let asked = args.isolation.contains(&level);
        if !args.isolation.is_empty() && !asked {
            continue;
        }
        let judged = asked || args.isolation.is_empty() && level == dialect.default_isolation();
        let tests = if dialect.isolations().contains(&level) {
            say!("testing {level}, seed {seed}");
            let tested = test_level(place, level, || *stop.borrow(), tell).await;
            if *stop.borrow() {
                put_back(place).await?;
                return Err(Failure::Failed("interrupted; what the tests change is as it was".to_owned()));
            }
            tested?
        } else {
            not_offered()
        };
        levels.push(LevelResult { isolation: level.to_string(), judged, tests });
    }
    Ok(AcidResult {
        tool: Tool::this(),
        target: Target { kind: dialect.name().to_owned(), version, url: gateways.to_string(), ..Target::default() },
        started_at,
        warehouses: u64::from(warehouses.unsigned_abs()),
        seed: *seed,
        gateways: gateways.urls().len(),
        levels,
        checks_before,
        checks_after: conditions(gateways, *warehouses).await?,
    })
}

/// Shows on standard error how far the tests are.
fn tell(test: &TestResult) {
    let outcome = match test.outcome {
        Outcome::Passes => "passes",
        Outcome::Fails => "FAILS",
        Outcome::NotOffered => "not offered",
        Outcome::Undecided => "UNDECIDED",
    };
    say!("  {:<22} {outcome:<9} {}", test.name, test.seen);
}

async fn conditions(gateways: &Gateways, warehouses: i32) -> Result<Vec<CheckResult>, Failure> {
    let options = CheckOptions { first_warehouse: 1, warehouses, jobs: gateways.default_sessions(), seconds_ago: None };
    let results = check_only(&CONDITIONS, gateways, options, std::sync::Arc::default()).await?;
    Ok(results.iter().map(Into::into).collect())
}
