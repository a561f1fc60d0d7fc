//! TPC-C as a [`Workload`]: what is settled before a run, and how its terminals' transactions are executed.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ::tpcc::DISTRICTS_PER_WAREHOUSE;
use ::tpcc::input::{Input, Kind, Warehouses};
use ::tpcc::mix::Mix;
use ::tpcc::nurand::Constants;
use ::tpcc::terminal::{self, Terminal};
use record::audit::Audit;
use record::folder::DELIVERIES;
use record::labels::Labels;
use record::plan::{Pacing, Plan};
use record::run::{CheckResult, ReconciledItem, Reconciliation};
use serde_json::Value as Json;
use target::{Dialect, Error, Gateways, Isolation, Session};

use super::acknowledged::{self, Acknowledged, Entry};
use super::catalog::{Catalog, CatalogError};
use super::check::{CheckError, CheckOptions, CheckProgress, check};
use super::ledger::{Ledger, State, reconcile};
use super::load::{self, Existing, LoadError, LoadPlan, LoadProgress};
use super::{Output, Profile, Style, audit, execute, make_routines, prepare, rules};
use crate::registry::RunFlags;
use crate::workload::{
    Capability, CheckRequest, Command, CommitRecord, Keys, LoadFlags, Loaded, ResultFile, RunRequest, Settled, Start,
    Transactions, Workload, WorkloadError, require_isolation,
};

/// TPC-C, with the options that only it takes.
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
        Self { warehouses: None, first_warehouse: 1, total_warehouses: None, style: Style::Batch, mix: Mix::standard() }
    }
}

impl Workload for Tpcc {
    type Transactions = TpccTransactions;
    type LoadPlan = LoadPlan;

    fn name(&self) -> &str {
        "tpcc"
    }

    fn flags(command: Command) -> &'static [&'static str] {
        match command {
            Command::Load => &[
                "warehouses",
                "first-warehouse",
                "total-warehouses",
                "shard",
                "resume",
                "foreign-keys",
                "foreign-keys-only",
                "load-time",
                "partitions",
                "localities",
                "split",
                "scatter",
                "tablets",
                "sharding",
                "import-listen",
                "import-url",
                "import-from",
                "copy-batch",
                "snapshot-rate",
                "settle",
            ],
            Command::Run => &["warehouses", "first-warehouse", "total-warehouses", "shard", "affinity", "style", "mix"],
            Command::Check => &["warehouses", "first-warehouse", "shard", "jobs", "as-of"],
        }
    }

    fn configure(&mut self, flags: &RunFlags) {
        let RunFlags { warehouses, first_warehouse, total_warehouses, style, mix } = *flags;
        *self = Self { warehouses, first_warehouse, total_warehouses, style, mix };
    }

    fn can(&self, _capability: Capability) -> bool {
        true
    }

    fn require(&self, dialect: &dyn Dialect) -> Result<(), WorkloadError> {
        self.style.require(dialect).map_err(WorkloadError::Usage)
    }

    async fn plan_load(&self, gateways: &Gateways, flags: &LoadFlags) -> Result<LoadPlan, WorkloadError> {
        let begun = if flags.existing == Existing::Resume {
            Some(Catalog::read(&mut Session::connect(gateways.first()).await?).await?.warehouses)
        } else {
            None
        };
        load::plan_from_flags(gateways, flags, begun).map_err(WorkloadError::Usage)
    }

    fn load_title(&self, plan: &LoadPlan) -> String {
        plan.title()
    }

    fn load_facts(&self, plan: &LoadPlan, flags: &LoadFlags) -> Vec<(&'static str, String)> {
        let catalog = &plan.catalog;
        let date = flags.load_time.map_or_else(|| "that of the first worker".to_owned(), |date| date.to_string());
        vec![
            ("warehouses of the whole database", catalog.warehouses.to_string()),
            ("seed", catalog.seed.to_string()),
            ("date", date),
            ("foreign keys", catalog.foreign_keys.to_string()),
            ("placement", catalog.placement.to_string()),
            ("--replace", (flags.existing == Existing::Replace).to_string()),
        ]
    }

    async fn begin_load(&self, gateways: &Gateways, plan: LoadPlan) -> Result<LoadPlan, WorkloadError> {
        Ok(load::begin(gateways, plan).await?)
    }

    fn join_load(&self, plan: LoadPlan) -> LoadPlan {
        LoadPlan { existing: Existing::Refuse, ..plan }
    }

    async fn load(
        &self,
        gateways: &Gateways,
        plan: LoadPlan,
        progress: Arc<LoadProgress>,
    ) -> Result<Loaded, WorkloadError> {
        let what = plan.title();
        let warehouses = plan.warehouses;
        let report = load::load(gateways, plan, progress).await?;
        Ok(Loaded {
            what,
            facts: [("warehouses".to_owned(), Json::from(warehouses))].into_iter().collect(),
            rows: report.rows,
            bytes: report.bytes,
            complete: report.complete,
        })
    }

    async fn is_loaded(&self, session: &mut Session) -> Result<bool, WorkloadError> {
        Ok(Catalog::read(session).await?.complete)
    }

    async fn add_foreign_keys(&self, gateways: &Gateways, progress: Arc<LoadProgress>) -> Result<(), WorkloadError> {
        let dialect = gateways.dialect();
        load::require_late_foreign_keys(dialect)?;
        let placement = Catalog::read(&mut Session::connect(gateways.first()).await?).await?.placement;
        if let Some(why) = dialect.refuses_foreign_keys(&placement) {
            return Err(WorkloadError::Usage(format!("--foreign-keys-only: {why}")));
        }
        Ok(load::add_foreign_keys(gateways, progress).await?)
    }

    async fn settle(
        &self,
        request: &RunRequest<'_>,
        session: &mut Session,
    ) -> Result<Settled<TpccTransactions>, WorkloadError> {
        let dialect = request.gateways.dialect();
        let catalog = if dialect.stores_data() {
            Catalog::read_complete(session).await?
        } else {
            Catalog::without_data(self.warehouses_without_data())
        };
        let description = session.describe().await?;
        let (driven, fleet_drives) = self.driven(request, catalog.warehouses).map_err(WorkloadError::Usage)?;
        let isolation = request.isolation.unwrap_or(dialect.default_isolation());
        require_isolation(dialect, isolation)?;
        let keys = Keys { loaded: catalog.warehouses, driven };
        let plan = self.plan(request, &catalog, &keys, fleet_drives, isolation, &description.deviations);
        let mut placement = catalog.placement.facts();
        if catalog.foreign_keys {
            placement.insert("foreign_keys".to_owned(), "declared".to_owned());
        }
        let transactions = TpccTransactions {
            profile: Profile::new(self.style, isolation, dialect)?,
            mix: self.mix,
            constants: catalog.run,
            first_warehouse: plan.first_warehouse as i32,
            warehouses: plan.warehouses,
            stores_data: catalog.stores_data,
            passes_clause_3_4: dialect.passes_clause_3_4(isolation),
        };
        let terminals = Some(transactions.standard_terminals());
        Ok(Settled { transactions, description, plan, placement, keys, terminals })
    }

    async fn check(
        &self,
        gateways: &Gateways,
        request: &CheckRequest,
        progress: Arc<CheckProgress>,
    ) -> Result<Vec<CheckResult>, WorkloadError> {
        let dialect = gateways.dialect();
        if request.seconds_ago.is_some() && dialect.instant(0).is_none() {
            return Err(WorkloadError::Usage(format!("{} can't read the past: leave out --as-of", dialect.name())));
        }
        let catalog = Catalog::read_complete(&mut Session::connect(gateways.first()).await?).await?;
        if !catalog.stores_data {
            return Err(WorkloadError::Usage(format!("{gateways} keeps no data: there is nothing to check")));
        }
        let loaded = catalog.warehouses;
        let mut first_warehouse = request.first;
        let mut warehouses = request.count.unwrap_or((loaded - first_warehouse + 1).max(1));
        if i64::from(first_warehouse) + i64::from(warehouses) - 1 > i64::from(loaded) {
            return Err(WorkloadError::Usage(format!(
                "{warehouses} warehouses from {first_warehouse} on were asked for, but only {loaded} are loaded"
            )));
        }
        if let Some(worker) = request.worker {
            let slice = worker.slice(warehouses).map_err(WorkloadError::Usage)?;
            first_warehouse = *slice.start();
            warehouses = slice.end() - slice.start() + 1;
        }
        let options =
            CheckOptions { first_warehouse, warehouses, jobs: request.jobs, seconds_ago: request.seconds_ago };
        Ok(check(gateways, options, progress).await?.iter().map(CheckResult::from).collect())
    }

    async fn check_after_run(
        &self,
        gateways: &Gateways,
        plan: &Plan,
        progress: Arc<CheckProgress>,
    ) -> Result<Vec<CheckResult>, WorkloadError> {
        let options = CheckOptions {
            first_warehouse: plan.first_warehouse as i32,
            warehouses: plan.warehouses as i32,
            jobs: gateways.default_sessions(),
            seconds_ago: None,
        };
        Ok(check(gateways, options, progress).await?.iter().map(CheckResult::from).collect())
    }

    fn check_ledger(&self, ledger: &[u8]) -> Result<(), WorkloadError> {
        Acknowledged::parse(ledger).map(drop).map_err(|e| WorkloadError::NotLoaded(e.to_string()))
    }

    async fn audit(&self, session: &mut Session, ledger: &[u8]) -> Result<Audit, WorkloadError> {
        let ledger = Acknowledged::parse(ledger).map_err(|e| WorkloadError::NotLoaded(e.to_string()))?;
        Ok(audit::audit(session, &ledger).await?)
    }

    async fn probe(&self, session: &mut Session) -> Result<(), Error> {
        session.query("SELECT COUNT(*) FROM warehouse", &[]).await.map(drop)
    }
}

impl From<CatalogError> for WorkloadError {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::Database(error) => WorkloadError::Database(error),
            other => WorkloadError::NotLoaded(other.to_string()),
        }
    }
}

impl From<LoadError> for WorkloadError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Catalog(error) => error.into(),
            LoadError::Database(error) => WorkloadError::Database(error),
            other => WorkloadError::NotLoaded(other.to_string()),
        }
    }
}

impl From<CheckError> for WorkloadError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Catalog(error) => error.into(),
            CheckError::Database(error) => WorkloadError::Database(error),
            other => WorkloadError::NotLoaded(other.to_string()),
        }
    }
}

/// TPC-C's transactions, on the warehouses that a run drives.
#[derive(Clone, Debug)]
pub struct TpccTransactions {
    profile: Profile,
    mix: Mix,
    constants: Constants,
    first_warehouse: i32,
    warehouses: u32,
    /// Whether the target has rows, rather than declared answers alone.
    stores_data: bool,
    /// Whether the isolation level passes the standard's tests (3.4.1).
    passes_clause_3_4: bool,
}

impl TpccTransactions {
    /// Ten terminals a warehouse (4.2.2).
    fn standard_terminals(&self) -> u32 {
        self.warehouses * ::tpcc::TERMINALS_PER_WAREHOUSE as u32
    }
}

impl Transactions for TpccTransactions {
    type Terminal = Terminal;
    type Input = Input;
    type Output = Output;
    type Ledger = Ledger;
    type State = State;

    fn size_suffix(&self) -> String {
        format!("-{}w", self.warehouses)
    }

    fn note_nonstandard(&self, plan: &mut Plan) {
        match plan.pacing {
            Pacing::Standard => {}
            Pacing::None => plan.nonstandard.push("no keying and think times (5.2.5)".to_owned()),
            Pacing::Factor(factor) => {
                plan.nonstandard.push(format!("keying and think times multiplied by {factor} (5.2.5)"));
            }
        }
        if !self.mix.is_standard() {
            plan.nonstandard.push(format!("the mix {} (5.2.3)", self.mix));
        }
        let standard_terminals = self.standard_terminals();
        if plan.terminals != standard_terminals {
            plan.nonstandard.push(record::merge::left_by_terminals(plan.terminals, standard_terminals));
        }
        if !self.passes_clause_3_4 {
            plan.nonstandard.push(format!("isolation level {} (3.4.1)", self.profile.isolation));
        }
    }

    async fn begin(
        &self,
        session: &mut Session,
        gateways: &Gateways,
        plan: &mut Plan,
    ) -> Result<Option<State>, WorkloadError> {
        if !self.stores_data {
            return Ok(None);
        }
        let before = self.read_state(session).await?;
        if before.warehouses() != plan.warehouses as usize {
            return Err(WorkloadError::Database(Error::integrity(format!(
                "of the warehouses {} to {} only {} are there: load the data anew with --replace",
                plan.first_warehouse,
                plan.first_warehouse + plan.warehouses - 1,
                before.warehouses()
            ))));
        }
        let age = before.orders_since_load();
        if age > 0 {
            let why = format!("the data are not as loaded: {age} orders have been entered since (5.5.1.3)");
            plan.deviations.push(why);
        }
        if self.profile.style == Style::Procedure {
            make_routines(session).await?;
        }
        if gateways.urls().len() > 1 {
            // A connection prepares its statements, which name tables and routines.
            Catalog::await_everywhere(gateways).await?;
        }
        Ok(Some(before))
    }

    async fn prepare(&self, session: &mut Session) -> Result<(), Error> {
        prepare(session, self.profile).await
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

    fn affinity_key(&self, terminal: &Terminal) -> Option<i32> {
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

    fn transaction_type(&self, input: &Input) -> usize {
        input.kind().index()
    }

    fn title(&self, transaction_type: usize) -> &str {
        Kind::ALL[transaction_type].title()
    }

    fn keying_us(&self, transaction_type: usize, factor: f64) -> u64 {
        Kind::ALL[transaction_type].timing().keying_us(factor)
    }

    fn think_us(&self, terminal: &mut Terminal, transaction_type: usize, factor: f64) -> u64 {
        terminal.think_us(Kind::ALL[transaction_type], factor)
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

    /// The result file of clause 2.7.2.3.
    fn result_file(&self) -> Option<ResultFile> {
        let mut header = "queued_us,completed_us,w_id,carrier_id".to_owned();
        (1..=DISTRICTS_PER_WAREHOUSE).for_each(|d_id| header.push_str(&format!(",o_id_{d_id}")));
        header.push('\n');
        Some(ResultFile { name: DELIVERIES, header })
    }

    fn write_result(&self, lines: &mut Vec<u8>, input: &Input, output: &Output, queued_us: u64, completed_us: u64) {
        let (Input::Delivery(request), Output::Delivery(done)) = (input, output) else { return };
        // Writing to memory does not fail.
        let _ = write!(lines, "{queued_us},{completed_us},{},{}", request.w_id, request.carrier_id);
        for o_id in done.o_ids {
            let _ = match o_id {
                Some(o_id) => write!(lines, ",{o_id}"),
                None => lines.write_all(b","),
            };
        }
        lines.push(b'\n');
    }

    fn skipped_parts(&self, output: &Output) -> u32 {
        match output {
            Output::Delivery(done) => done.o_ids.iter().filter(|o_id| o_id.is_none()).count() as u32,
            _ => 0,
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
            acknowledged::acknowledge(journal, commit.at_ms, input, output);
        }
    }

    fn failed(&self, commit: CommitRecord<'_, Ledger>, input: &Input, error: &Error) {
        commit.ledger.failed(input, error);
        if let Some(journal) = commit.journal {
            acknowledged::failed(journal, commit.at_ms, input, error);
        }
    }

    fn merge(&self, ledger: &mut Ledger, other: &Ledger) {
        ledger.merge(other);
    }

    fn ledger_header(&self, before: &State) -> Option<Vec<u8>> {
        Some(before.ledger_header())
    }

    fn ledger_end(&self, abandoned: usize) -> Vec<u8> {
        let mut end = Vec::new();
        acknowledged::append(&mut end, 0, Entry::End { abandoned: u32::try_from(abandoned).unwrap_or(u32::MAX) });
        end
    }

    async fn read_state(&self, session: &mut Session) -> Result<State, Error> {
        let last = self.first_warehouse + self.warehouses as i32 - 1;
        State::read(session, self.first_warehouse, last).await
    }

    fn reconcile(&self, before: &State, after: &State, ledger: &Ledger, abandoned: usize) -> Option<Reconciliation> {
        Some(reconciliation(before, after, ledger, abandoned))
    }
}

/// Warehouses of a null target where nobody asks for a number.
const WAREHOUSES_WITHOUT_DATA: i32 = 100;

impl Tpcc {
    /// The warehouses for which a null target answers: all that any client drives.
    fn warehouses_without_data(&self) -> i32 {
        let warehouses = self.warehouses.unwrap_or(WAREHOUSES_WITHOUT_DATA);
        let last = self.first_warehouse.saturating_add(warehouses - 1);
        self.total_warehouses.unwrap_or(last).max(last)
    }

    /// The warehouses that this client drives, and, if others drive the rest, the last of those of all.
    fn driven(&self, request: &RunRequest<'_>, loaded: i32) -> Result<(RangeInclusive<i32>, Option<i32>), String> {
        let first = self.first_warehouse;
        let warehouses = match self.warehouses {
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
        if let Some(worker) = request.worker {
            return Ok((worker.slice(warehouses)?, Some(warehouses)));
        }
        match self.total_warehouses {
            Some(total) if total < last || total > loaded => Err(format!(
                "--total-warehouses {total} must lie between this client's last warehouse, {last}, and the {loaded} \
                 that are loaded"
            )),
            total => Ok((first..=last, total)),
        }
    }

    /// The plan, without what the driver decides.
    fn plan(
        &self,
        request: &RunRequest<'_>,
        catalog: &Catalog,
        keys: &Keys,
        fleet_drives: Option<i32>,
        isolation: Isolation,
        deviations: &[String],
    ) -> Plan {
        let warehouses = keys.driven_count();
        let total = fleet_drives.unwrap_or(warehouses as i32);
        let mut deviations = deviations.to_vec();
        if warehouses < catalog.warehouses as u32 && fleet_drives.is_none() {
            deviations.push(format!("{warehouses} of {} warehouses are driven (4.2.2)", catalog.warehouses));
        }
        Plan {
            workload: self.name().into(),
            labels: Labels::tpcc(),
            pacing: request.pacing,
            warehouses,
            first_warehouse: *keys.driven.start() as u32,
            total_warehouses: total as u32,
            loaded_warehouses: catalog.warehouses as u32,
            style: self.style.to_string(),
            isolation: isolation.to_string(),
            mix: self.mix.to_string(),
            ceiling_per_warehouse: self.mix.ceiling_per_warehouse(),
            load_seed: catalog.seed,
            constants: BTreeMap::from([
                ("c_last_load".into(), i64::from(catalog.load.c_last)),
                ("c_last_run".into(), i64::from(catalog.run.c_last)),
                ("c_id_run".into(), i64::from(catalog.run.c_id)),
                ("ol_i_id_run".into(), i64::from(catalog.run.ol_i_id)),
            ]),
            transactions: rules::transactions(&self.mix),
            tallies: rules::tallies(total),
            skips: Some(rules::skips()),
            scale: rules::scale(),
            standard_interval_seconds: ::tpcc::limits::MEASUREMENT_INTERVAL_SECONDS as f64,
            interval_clause: "5.5.2.1".into(),
            steady_state_clause: "5.5.1.1".into(),
            percentile_clause: "5.2.5.6".into(),
            errors_clause: "2.3.6".into(),
            deviations,
            ..Plan::default()
        }
    }
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
