//! Is this client, and is this target, fit to be measured?
//!
//! Everything that is looked at is a finding; what can't be looked at is one too.

mod client;
mod line;

use std::sync::Arc;

use target::finding::{Needs, judge};
use target::{Finding, Gateways, Level, Session, topology};
use workload::tpcc::catalog::{Catalog, CatalogError};
use workload::tpcc::check::{CheckOptions, CheckProgress, CheckResult, check, check_only};
use workload::tpcc::{Style, statements_kept};

use crate::options::suited_connections;

/// What to examine.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The ways into the database.
    pub gateways: Gateways,
    /// Warehouses of the run to come; none: all that are loaded.
    pub warehouses: Option<i32>,
    /// Its connections; none: what suits it.
    pub connections: Option<u32>,
    /// Whether to make all checks of the data instead of a few cheap ones.
    pub check: bool,
    /// Sessions that check side by side.
    pub jobs: usize,
}

/// The conditions that are looked at in any case: each is answered from a few rows a district.
const CHEAP_CHECKS: [&str; 3] = ["C1", "C2", "C3"];

/// Of how many warehouses they are.
const CHEAP_WAREHOUSES: i32 = 10;

/// Examines client and target.
pub async fn examine(examination: &Examination) -> Vec<Finding> {
    let url = examination.gateways.first();
    let mut session = match Session::connect(url).await {
        Ok(session) => session,
        Err(e) => {
            let mut findings = client::findings(examination.connections);
            findings.push(Finding::new(
                Level::Bad,
                "connection",
                e.to_string(),
                "nothing of the server could be looked at",
            ));
            return findings;
        }
    };
    let catalog = Catalog::read(&mut session).await;
    let loaded = catalog.as_ref().map_or(1, |catalog| catalog.warehouses);
    let warehouses = examination.warehouses.unwrap_or(loaded);
    let connections =
        examination.connections.unwrap_or_else(|| suited_connections(session.dialect(), warehouses.unsigned_abs()));

    let mut findings = client::findings(Some(connections));
    findings.push(client::distance(url).await);
    findings.extend(line::findings(&mut session, url).await);
    for other in &examination.gateways.urls()[1..] {
        findings.push(line::gateway(other).await);
    }
    let data_bytes = match url.file() {
        Some(file) => std::fs::metadata(file).ok().map(|metadata| metadata.len()),
        None => topology::read(&mut session).await.bytes(),
    };
    let needs = Needs {
        connections: connections.into(),
        statements_per_connection: statements_kept(Style::Batch, session.dialect()),
        data_bytes,
    };
    findings.extend(server(&mut session, &needs).await);
    match catalog {
        Ok(catalog) => {
            findings.push(of_catalog(&catalog, warehouses));
            if catalog.complete {
                findings.extend(of_data(examination, catalog.warehouses).await);
            }
        }
        Err(CatalogError::Missing) => {
            let advice = "run `weighbridge load` first";
            findings.push(Finding::new(Level::Warn, "data", "no TPC-C data loaded by weighbridge", advice));
        }
        Err(e) => findings.push(Finding::new(Level::Bad, "data", e.to_string(), "nothing can be run on these data")),
    }
    findings
}

async fn server(session: &mut Session, needs: &Needs) -> Vec<Finding> {
    match session.describe().await {
        Ok(description) => {
            let mut findings = vec![Finding::ok("server", description.version)];
            findings.extend(judge(session.dialect().judged_settings(), &description.settings, needs));
            findings
        }
        Err(e) => {
            let advice = "give this user the right to read the server's settings";
            vec![Finding::new(Level::Unknown, "server's settings", e.to_string(), advice)]
        }
    }
}

fn of_catalog(catalog: &Catalog, warehouses: i32) -> Finding {
    let loaded = format!("warehouses 1 to {}, seed {}", catalog.warehouses, catalog.seed);
    if !catalog.complete {
        let advice = CatalogError::Incomplete.to_string();
        return Finding::new(Level::Bad, "data", format!("{loaded}, not complete"), advice);
    }
    if warehouses > catalog.warehouses {
        let advice = format!("load them, or run with --warehouses {}", catalog.warehouses);
        return Finding::new(Level::Bad, "data", format!("{loaded}; {warehouses} were asked for"), advice);
    }
    Finding::ok("data", loaded)
}

async fn of_data(examination: &Examination, loaded: i32) -> Vec<Finding> {
    let Examination { gateways, jobs, check: all, .. } = examination;
    let progress = Arc::new(CheckProgress::default());
    let warehouses = if *all { loaded } else { loaded.min(CHEAP_WAREHOUSES) };
    let options = CheckOptions { first_warehouse: 1, warehouses, jobs: *jobs, seconds_ago: None };
    let checked = match all {
        true => check(gateways, options, progress).await,
        false => check_only(&CHEAP_CHECKS, gateways, options, progress).await,
    };
    let results = match checked {
        Ok(results) => results,
        Err(e) => return vec![Finding::new(Level::Unknown, "consistency", e.to_string(), "run `weighbridge check`")],
    };
    let broken: Vec<Finding> = results.iter().filter(|result| !result.passed).map(violation).collect();
    if !broken.is_empty() {
        return broken;
    }
    let held: Vec<&str> = results.iter().filter(|result| result.skipped.is_none()).map(|result| result.name).collect();
    let which = if *all { format!("{} checks", held.len()) } else { held.join(", ") };
    vec![Finding::ok("consistency", format!("{which} hold in warehouses 1 to {warehouses}"))]
}

fn violation(result: &CheckResult) -> Finding {
    let value = format!("{} rows violate: {}; {}", result.violations, result.what, result.examples.join("; "));
    Finding::new(Level::Bad, format!("consistency, {}", result.name), value, "load the data anew with --replace")
}
