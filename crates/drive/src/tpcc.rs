//! TPC-C as the driver's [`Work`]: what is settled before a run, and how its terminals' transactions are carried out.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ::tpcc::input::{Input, Kind, Warehouses};
use ::tpcc::mix::Mix;
use ::tpcc::nurand::Constants;
use ::tpcc::terminal::{self, Terminal};
use record::labels::Labels;
use record::plan::{Pacing, Plan};
use record::run::{ReconciledItem, Reconciliation};
use target::{Description, Error, Session};
use workload::tpcc::catalog::Catalog;
use workload::tpcc::ledger::{Ledger, State, reconcile};
use workload::tpcc::{Output, Profile, Style, execute, make_routines, prepare as prepare_statements, rules};

use crate::assignment::{self, Gateway};
use crate::run::{Options, Prepared, RunError, planned, topology_of};
use crate::work::{CommitRecord, Delivery, Start, Work, offers};

/// What only a run of TPC-C is asked.
#[derive(Clone, Debug)]
pub struct Tpcc {
    /// Warehouses that this client drives, or of which a worker of a fleet has its slice; none: all that are loaded.
    pub warehouses: Option<i32>,
    /// The first of them.
    pub first_warehouse: i32,
    /// Warehouses that all clients drive together, from 1 on; none: only this client's, or those of the fleet.
    pub total_warehouses: Option<i32>,
    /// Statement style.
    pub style: Style,
    /// The mix.
    pub mix: Mix,
}

impl Default for Tpcc {
    /// All that is loaded, with the standard's mix, in style `batch`.
    fn default() -> Self {
        let (warehouses, total_warehouses) = (None, None);
        Self { warehouses, first_warehouse: 1, total_warehouses, style: Style::Batch, mix: Mix::standard() }
    }
}

/// The transactions of TPC-C, on the warehouses that a run drives.
#[derive(Clone)]
pub(crate) struct Transactions {
    profile: Profile,
    mix: Mix,
    constants: Constants,
    first_warehouse: i32,
    warehouses: u32,
}

impl Work for Transactions {
    type Terminal = Terminal;
    type Input = Input;
    type Output = Output;
    type Ledger = Ledger;
    type State = State;

    async fn prepare(&self, session: &mut Session) -> Result<(), Error> {
        prepare_statements(session, self.profile.style).await
    }

    /// Spread over the warehouses, each fixed to a warehouse and a district.
    fn terminal(&self, plan: &Plan, number: u32) -> Terminal {
        let (at, warehouses) = (u64::from(number), u64::from(plan.warehouses));
        let w_id = plan.first_warehouse as i32 + (at % warehouses) as i32;
        let d_id = (at / warehouses % ::tpcc::DISTRICTS_PER_WAREHOUSE as u64) as i32 + 1;
        // Numbered over the whole database, so that no two clients share a stream.
        let number = (w_id as u64 - 1) + (at / warehouses) * u64::from(plan.loaded_warehouses);
        Terminal::new(plan.seed, number, w_id, d_id, active(plan), self.constants, self.mix)
    }

    fn warehouse(&self, terminal: &Terminal) -> Option<i32> {
        Some(terminal.w_id())
    }

    fn start(&self, terminal: &mut Terminal, factor: f64) -> Start<Input> {
        match terminal.start(factor) {
            terminal::Start::Keying { input, remaining_us } => Start::Keying(input, remaining_us),
            terminal::Start::Thinking { remaining_us } => Start::Thinking(remaining_us),
        }
    }

    fn next_input(&self, terminal: &mut Terminal) -> Input {
        terminal.next_input()
    }

    fn kind(&self, input: &Input) -> usize {
        input.kind().index()
    }

    fn title(&self, kind: usize) -> &str {
        Kind::ALL[kind].title()
    }

    fn keying_us(&self, kind: usize, factor: f64) -> u64 {
        Kind::ALL[kind].timing().keying_us(factor)
    }

    fn think_us(&self, terminal: &mut Terminal, kind: usize, factor: f64) -> u64 {
        terminal.think_us(Kind::ALL[kind], factor)
    }

    /// A Delivery: the terminal's answer is that it has been queued (2.7.3.3).
    fn is_deferred(&self, input: &Input) -> bool {
        matches!(input, Input::Delivery(_))
    }

    async fn execute(&self, session: &mut Session, input: &Input) -> Result<Output, Error> {
        execute(session, self.profile, input).await
    }

    fn is_rolled_back(&self, output: &Output) -> bool {
        matches!(output, Output::NewOrder(order) if order.rolled_back)
    }

    fn delivery(&self, input: &Input, output: &Output) -> Option<Delivery> {
        match (input, output) {
            (Input::Delivery(request), Output::Delivery(done)) => {
                Some(Delivery { w_id: request.w_id, carrier_id: request.carrier_id, o_ids: done.o_ids })
            }
            _ => None,
        }
    }

    fn tally(&self, input: &Input, output: &Output, count: impl FnMut(usize, u64, u64)) {
        rules::tally(input, output, count);
    }

    fn empty_ledger(&self) -> Ledger {
        Ledger::new(self.first_warehouse, self.warehouses)
    }

    fn acknowledge(&self, commit: CommitRecord<'_, Ledger>, input: &Input, output: &Output) {
        commit.ledger.acknowledge(input, output);
        if let Some(journal) = commit.journal {
            journal.acknowledge(commit.at_ms, input, output);
        }
    }

    fn failed(&self, commit: CommitRecord<'_, Ledger>, input: &Input, error: &Error) {
        commit.ledger.failed(input, error);
        if let Some(journal) = commit.journal {
            journal.failed(commit.at_ms, input, error);
        }
    }

    fn merge(&self, ledger: &mut Ledger, other: &Ledger) {
        ledger.merge(other);
    }

    fn ledger_header(&self, before: &State) -> Option<Vec<u8>> {
        Some(before.ledger_header())
    }

    async fn read_state(&self, session: &mut Session) -> Result<State, Error> {
        let last = self.first_warehouse + self.warehouses as i32 - 1;
        State::read(session, self.first_warehouse, last).await
    }

    fn reconcile(&self, before: &State, after: &State, ledger: &Ledger, abandoned: usize) -> Option<Reconciliation> {
        Some(reconciliation(before, after, ledger, abandoned))
    }
}

/// Looks at the database and settles what was left open.
pub(crate) async fn prepare(options: &Options, tpcc: &Tpcc) -> Result<Prepared<Transactions>, RunError> {
    let mut session = Session::connect(options.gateways.first()).await?;
    session.see_all_commits().await?;
    let catalog = match options.gateways.dialect().stores_data() {
        true => Catalog::read_complete(&mut session).await?,
        false => Catalog::without_data(warehouses_asked_for(tpcc)),
    };
    let description = session.describe().await?;
    let (mut plan, gateways) = plan(options, tpcc, &catalog, &description)?;
    let work = Transactions {
        profile: Profile {
            style: tpcc.style,
            isolation: options.isolation.unwrap_or(options.gateways.dialect().default_isolation()),
        },
        mix: tpcc.mix,
        constants: catalog.run,
        first_warehouse: plan.first_warehouse as i32,
        warehouses: plan.warehouses,
    };
    let before = match catalog.stores_data {
        true => Some(state_before(&mut session, &work, &mut plan).await?),
        false => None,
    };
    if tpcc.style == Style::Procedure && catalog.stores_data {
        make_routines(&mut session).await?;
    }
    if gateways.len() > 1 && catalog.stores_data {
        // A connection prepares its statements, which names tables and routines.
        Catalog::await_everywhere(&options.gateways).await?;
    }
    let gateway_of = assignment::connections(plan.connections, gateways.len(), plan.threads as usize);
    if gateways.len() > 1 {
        plan.gateways = planned(&gateways, &gateway_of);
    }
    let topology = topology_of(options.gateways.first()).await;
    let mut placement = catalog.placement.facts();
    if catalog.foreign_keys {
        placement.insert("foreign_keys".to_owned(), "declared".to_owned());
    }
    Ok(Prepared { work, description, topology, before, plan, placement, gateways, gateway_of })
}

/// Warehouses of a target without data where nobody asks for a number.
const WAREHOUSES_WITHOUT_DATA: i32 = 100;

/// The warehouses for which a target without data is to answer: all that are asked for, by whichever client.
fn warehouses_asked_for(tpcc: &Tpcc) -> i32 {
    let own = tpcc.warehouses.unwrap_or(WAREHOUSES_WITHOUT_DATA);
    let last = tpcc.first_warehouse.saturating_add(own - 1);
    tpcc.total_warehouses.unwrap_or(last).max(last)
}

/// The state of the warehouses before the run; that the data have aged is noted in the plan.
async fn state_before(session: &mut Session, work: &Transactions, plan: &mut Plan) -> Result<State, Error> {
    let before = work.read_state(session).await?;
    if before.warehouses() != plan.warehouses as usize {
        return Err(Error::integrity(format!(
            "of the warehouses {} to {} only {} are there: load the data anew with --replace",
            plan.first_warehouse,
            plan.first_warehouse + plan.warehouses - 1,
            before.warehouses()
        )));
    }
    let age = before.orders_since_load();
    if age > 0 {
        let why = format!("the data are not as loaded: {age} orders have been entered since (5.5.1.3)");
        plan.deviations.push(why);
    }
    Ok(before)
}

/// The warehouses that this client drives, and, if others drive the rest, those of all: 1 to that.
fn driven(options: &Options, tpcc: &Tpcc, loaded: i32) -> Result<(RangeInclusive<i32>, Option<i32>), String> {
    let first = tpcc.first_warehouse;
    let warehouses = match tpcc.warehouses {
        Some(warehouses) => warehouses,
        None if first <= loaded => loaded - first + 1,
        None => return Err(format!("--first-warehouse {first}: only {loaded} are loaded")),
    };
    let last = first.saturating_add(warehouses - 1);
    if last > loaded {
        return Err(format!(
            "warehouses {first} to {last} were asked for, but only {loaded} are loaded: ask for fewer, or load more"
        ));
    }
    if let Some(worker) = options.start.worker {
        return Ok((worker.slice(warehouses)?, Some(warehouses)));
    }
    match tpcc.total_warehouses {
        Some(total) if total < last || total > loaded => Err(format!(
            "--total-warehouses {total} must lie between this client's last warehouse, {last}, and the {loaded} that \
             are loaded"
        )),
        total => Ok((first..=last, total)),
    }
}

/// The plan of the run, with all that it leaves or bends of the standard, and the gateways that it uses.
fn plan(
    options: &Options,
    tpcc: &Tpcc,
    catalog: &Catalog,
    description: &Description,
) -> Result<(Plan, Vec<Gateway>), RunError> {
    let usage = |message: String| RunError::Usage(message);
    let dialect = options.gateways.dialect();
    let (driven, fleet_drives) = driven(options, tpcc, catalog.warehouses).map_err(usage)?;
    let (first, last) = (*driven.start(), *driven.end());
    let warehouses = last - first + 1;
    let total = fleet_drives.unwrap_or(warehouses);
    let isolation = options.isolation.unwrap_or(dialect.default_isolation());
    offers(dialect, isolation).map_err(usage)?;
    tpcc.style.require(dialect).map_err(usage)?;

    let gateways = assignment::gateways(&options.gateways, options.affinity, catalog.warehouses, &(first..=last));
    let gateways = gateways.map_err(usage)?;
    let standard_terminals = warehouses as u32 * ::tpcc::TERMINALS_PER_WAREHOUSE as u32;
    let connections = options.connections_for(warehouses as u32, gateways.len()).map_err(usage)?;
    let waits = options.pacing != Pacing::None;
    let terminals = options.terminals.unwrap_or(if waits { standard_terminals } else { connections });

    let mut nonstandard = Vec::new();
    match options.pacing {
        Pacing::Standard => {}
        Pacing::None => nonstandard.push("no keying and think times (5.2.5)".to_owned()),
        Pacing::Factor(factor) => nonstandard.push(format!("keying and think times multiplied by {factor} (5.2.5)")),
    }
    if !tpcc.mix.is_standard() {
        nonstandard.push(format!("the mix {} (5.2.3)", tpcc.mix));
    }
    if terminals != standard_terminals {
        nonstandard.push(record::merge::left_by_terminals(terminals, standard_terminals));
    }
    if !dialect.passes_clause_3_4(isolation) {
        nonstandard.push(format!("isolation level {isolation} (3.4.1)"));
    }
    let mut deviations = description.deviations.clone();
    if warehouses < catalog.warehouses && fleet_drives.is_none() {
        deviations.push(format!("{warehouses} of {} warehouses are driven (4.2.2)", catalog.warehouses));
    }

    let constants = BTreeMap::from([
        ("c_last_load".into(), i64::from(catalog.load.c_last)),
        ("c_last_run".into(), i64::from(catalog.run.c_last)),
        ("c_id_run".into(), i64::from(catalog.run.c_id)),
        ("ol_i_id_run".into(), i64::from(catalog.run.ol_i_id)),
    ]);
    let plan = Plan {
        workload: "tpcc".into(),
        labels: Labels::tpcc(),
        warehouses: warehouses as u32,
        first_warehouse: first as u32,
        total_warehouses: total as u32,
        loaded_warehouses: catalog.warehouses as u32,
        style: tpcc.style.to_string(),
        isolation: isolation.to_string(),
        mix: tpcc.mix.to_string(),
        ceiling_per_warehouse: tpcc.mix.ceiling_per_warehouse(),
        load_seed: catalog.seed,
        constants,
        transactions: rules::transactions(&tpcc.mix),
        tallies: rules::tallies(total),
        skips: Some(rules::skips()),
        scale: rules::scale(),
        standard_interval_seconds: ::tpcc::limits::MEASUREMENT_INTERVAL_SECONDS as f64,
        interval_clause: "5.5.2.1".into(),
        steady_state_clause: "5.5.1.1".into(),
        percentile_clause: "5.2.5.6".into(),
        errors_clause: "2.3.6".into(),
        nonstandard,
        deviations,
        ..options.plan(connections, terminals)
    };
    Ok((plan, gateways))
}

/// The active warehouses from which remote ones are drawn: those of all clients, or this one's.
fn active(plan: &Plan) -> Warehouses {
    match plan.total_warehouses > plan.warehouses {
        true => Warehouses { first: 1, count: plan.total_warehouses as i32 },
        false => Warehouses { first: plan.first_warehouse as i32, count: plan.warehouses as i32 },
    }
}

/// What was acknowledged against what the database gained.
fn reconciliation(before: &State, after: &State, ledger: &Ledger, abandoned: usize) -> Reconciliation {
    let held = reconcile(before, after, ledger);
    let mut passed = held.iter().all(|item| item.passed());
    let count = |n: i64| u64::try_from(n).unwrap_or(0);
    let faults: Vec<&str> =
        held.iter().flat_map(|item| item.missing.iter().chain(&item.surplus)).map(String::as_str).collect();
    let mut detail = match faults.as_slice() {
        [] => "everything acknowledged is there, and nothing else".to_owned(),
        [first, ..] => format!("{} places differ, such as {first}", faults.len()),
    };
    if abandoned > 0 {
        passed = false;
        detail = format!("{abandoned} transactions had not ended 30 s after the interval; {detail}");
    }
    let checked = held
        .iter()
        .map(|item| ReconciledItem {
            name: item.name.into(),
            acknowledged: count(item.acknowledged),
            gained: count(item.gained),
            unknown: count(item.unknown),
            missing: item.missing.len() as u64,
        })
        .collect();
    Reconciliation { checked, passed, detail }
}
