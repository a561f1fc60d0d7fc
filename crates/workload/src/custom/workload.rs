//! A workload of a file as a [`Workload`]: what is settled before a run, and how its transactions are executed.

use std::collections::BTreeMap;
use std::sync::Arc;

use record::audit::Audit;
use record::folder::WORKLOAD;
use record::labels::Labels;
use record::plan::{Pacing, Plan, TransactionRule};
use record::run::{CheckResult, Reconciliation};
use serde_json::Value as Json;
use target::{Dialect, Error, Gateways, Isolation, Session};

use super::conditions::{self, Ledger, State};
use super::file::{KnownData, Transaction};
use super::{Custom, Data, FactsError, FileTransactions, Input, Output, Terminal, hash, loaded};
use crate::data_set::{DataSet, LoadError};
use crate::movr::Options;
use crate::workload::{
    CheckRequest, Command, CommitRecord, Keys, LoadFlags, Loaded, RunRequest, Settled, Start, Transactions, Workload,
    WorkloadError, require_isolation,
};
use crate::{CheckProgress, Existing, LoadProgress};

impl Workload for Arc<Custom> {
    type Transactions = CustomTransactions;
    type LoadPlan = CustomLoad;

    fn name(&self) -> &str {
        &self.name
    }

    fn flags(command: Command) -> &'static [&'static str] {
        match command {
            Command::Load => &["scale"],
            Command::Run | Command::Check => &[],
        }
    }

    fn require(&self, dialect: &dyn Dialect) -> Result<(), WorkloadError> {
        Custom::require(self, dialect).map_err(WorkloadError::Usage)
    }

    fn files(&self) -> Vec<(&'static str, &str)> {
        vec![(WORKLOAD, &self.text)]
    }

    async fn plan_load(&self, gateways: &Gateways, flags: &LoadFlags) -> Result<CustomLoad, WorkloadError> {
        let scale = flags.scale.unwrap_or(1.0);
        let data = match self.data {
            Some(KnownData::Movr) if scale > ::movr::MAX_SCALE => {
                return Err(WorkloadError::Usage(format!("--scale {scale}: movr has at most {}", ::movr::MAX_SCALE)));
            }
            Some(KnownData::Movr) => CustomData::Movr(Options { scale, seed: flags.seed, foreign_keys: true }),
            None => {
                Custom::require(self, gateways.dialect()).map_err(WorkloadError::Usage)?;
                let data = Data::new(self, scale, flags.seed).map_err(WorkloadError::Usage)?;
                // A run would refuse them when all rows are there.
                let drawn = self.require_values(&data);
                drawn.map_err(|why| WorkloadError::Usage(format!("at --scale {scale}: {why}")))?;
                CustomData::File(data)
            }
        };
        let replace = flags.existing == Existing::Replace;
        Ok(CustomLoad { data, scale, seed: flags.seed, sessions: flags.sessions(gateways), replace })
    }

    fn load_title(&self, plan: &CustomLoad) -> String {
        format!("{} at scale {}", self.name, plan.scale)
    }

    async fn load(
        &self,
        gateways: &Gateways,
        plan: CustomLoad,
        progress: Arc<LoadProgress>,
    ) -> Result<Loaded, WorkloadError> {
        match &plan.data {
            CustomData::Movr(data) => self.load_data(gateways, &plan, data, progress).await,
            CustomData::File(data) => self.load_data(gateways, &plan, data, progress).await,
        }
    }

    async fn is_loaded(&self, session: &mut Session) -> Result<bool, WorkloadError> {
        Ok(loaded(self, session).await.is_ok())
    }

    async fn settle(
        &self,
        request: &RunRequest<'_>,
        session: &mut Session,
    ) -> Result<Settled<CustomTransactions>, WorkloadError> {
        let usage = WorkloadError::Usage;
        let dialect = request.gateways.dialect();
        if !dialect.stores_data() {
            return Err(usage(format!("{} keeps no data: a workload of your own needs its tables", request.gateways)));
        }
        if request.worker.is_some() {
            return Err(usage("--shard is for tpcc: a workload of your own is driven by one process".to_owned()));
        }
        let isolation = request.isolation.unwrap_or(dialect.default_isolation());
        require_isolation(dialect, isolation)?;
        let data = loaded(self, session).await?;
        let description = session.describe().await?;
        let transactions = FileTransactions::new(self, data.clone(), isolation, session).await?;
        session.commit().await?;
        let pacing = if transactions.waits() { request.pacing } else { Pacing::None };
        let plan = plan(self, &data, isolation, pacing, &description.deviations);
        let transactions = CustomTransactions { custom: self.clone(), transactions: Arc::new(transactions) };
        Ok(Settled {
            transactions,
            description,
            plan,
            placement: BTreeMap::new(),
            keys: Keys { loaded: 1, driven: 1..=1 },
            terminals: None,
        })
    }

    async fn check(
        &self,
        gateways: &Gateways,
        _request: &CheckRequest,
        progress: Arc<CheckProgress>,
    ) -> Result<Vec<CheckResult>, WorkloadError> {
        let mut session = Session::connect(gateways.first()).await?;
        session.see_all_commits().await?;
        loaded(self, &mut session).await?;
        Ok(conditions::check(self, &mut session, &progress).await?)
    }

    async fn check_after_run(
        &self,
        gateways: &Gateways,
        _plan: &Plan,
        progress: Arc<CheckProgress>,
    ) -> Result<Vec<CheckResult>, WorkloadError> {
        let request = CheckRequest { first: 1, count: None, worker: None, jobs: 1, seconds_ago: None };
        let mut checks = self.check(gateways, &request, progress).await?;
        // The run's reconciliation has what is compared over the whole run.
        checks.retain(|check| check.skipped.is_none());
        Ok(checks)
    }

    async fn audit(&self, _session: &mut Session, _ledger: &[u8]) -> Result<Audit, WorkloadError> {
        Err(WorkloadError::NotLoaded(format!("{} has no ledger to audit", self.name)))
    }

    fn check_ledger(&self, _ledger: &[u8]) -> Result<(), WorkloadError> {
        Err(WorkloadError::NotLoaded(format!("{} has no ledger to audit", self.name)))
    }

    async fn probe(&self, session: &mut Session) -> Result<(), Error> {
        loaded(self, session).await.map(drop).map_err(|e| match e {
            FactsError::Database(error) => error,
            other => Error::permanent(other.to_string()),
        })
    }
}

/// A load of a file's workload.
#[derive(Debug)]
pub struct CustomLoad {
    data: CustomData,
    scale: f64,
    seed: u64,
    sessions: usize,
    replace: bool,
}

/// The rows to load.
#[derive(Debug)]
enum CustomData {
    /// Those of the file's own tables.
    File(Data),
    /// Those of MovR.
    Movr(Options),
}

impl Custom {
    async fn load_data(
        &self,
        gateways: &Gateways,
        plan: &CustomLoad,
        data: &impl DataSet,
        progress: Arc<LoadProgress>,
    ) -> Result<Loaded, WorkloadError> {
        let what = (data, plan.scale, plan.seed);
        let loaded = super::load(gateways, self, what, plan.sessions, plan.replace, progress).await?;
        let tables = data.tables().iter().enumerate();
        let facts = [
            ("workload", Json::from(self.name.as_str())),
            ("scale", Json::from(plan.scale)),
            ("seed", Json::from(plan.seed)),
        ];
        Ok(Loaded {
            what: format!("{} at scale {}", self.name, plan.scale),
            facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            rows: tables.map(|(at, table)| (table.name, data.rows(at))).collect(),
            bytes: loaded.bytes,
            complete: true,
        })
    }
}

impl From<LoadError> for WorkloadError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Database(error) => WorkloadError::Database(error),
            other => WorkloadError::NotLoaded(other.to_string()),
        }
    }
}

impl From<FactsError> for WorkloadError {
    fn from(error: FactsError) -> Self {
        match error {
            FactsError::Database(error) => WorkloadError::Database(error),
            other => WorkloadError::NotLoaded(other.to_string()),
        }
    }
}

/// The plan, without what the driver decides.
fn plan(custom: &Custom, data: &Data, isolation: Isolation, pacing: Pacing, deviations: &[String]) -> Plan {
    let shares = custom.transactions.iter().map(|transaction| format!("{} {}", transaction.name, transaction.weight));
    let rows = data.tables().iter().enumerate();
    Plan {
        workload: custom.name.clone(),
        labels: Labels::custom(&custom.name, &custom.transactions[0].name),
        pacing,
        style: "statements".into(),
        isolation: isolation.to_string(),
        workload_file: hash(&custom.text),
        mix: shares.collect::<Vec<_>>().join(", "),
        load_seed: data.seed(),
        data_scale: data.scale(),
        constants: rows.map(|(at, table)| (format!("rows of {}", table.name), data.rows(at) as i64)).collect(),
        transactions: rules(custom),
        deviations: deviations.to_vec(),
        ..Plan::default()
    }
}

/// The transactions of a file, settled for a run. Threads share them.
#[derive(Clone, Debug)]
pub struct CustomTransactions {
    custom: Arc<Custom>,
    transactions: Arc<FileTransactions>,
}

impl Transactions for CustomTransactions {
    type Terminal = Terminal;
    type Input = Input;
    type Output = Output;
    type Ledger = Ledger;
    type State = State;

    fn note_nonstandard(&self, plan: &mut Plan) {
        plan.nonstandard.push(format!("a workload of its own: {}", self.custom.name));
        if let Pacing::Factor(factor) = plan.pacing {
            plan.nonstandard.push(format!("keying and think times multiplied by {factor}"));
        }
    }

    async fn begin(
        &self,
        session: &mut Session,
        _gateways: &Gateways,
        _plan: &mut Plan,
    ) -> Result<Option<State>, WorkloadError> {
        Ok(Some(self.read_state(session).await?))
    }

    async fn prepare(&self, session: &mut Session) -> Result<(), Error> {
        self.transactions.prepare(session).await
    }

    fn terminal(&self, plan: &Plan, number: u32) -> Terminal {
        self.transactions.terminal(plan.seed, number.into())
    }

    fn start(&self, terminal: &mut Terminal, factor: f64) -> Start<Input> {
        Start::Thinking(if factor > 0.0 { self.transactions.first_wait_us(terminal, factor) } else { 0 })
    }

    fn next_input(&self, terminal: &mut Terminal) -> Input {
        self.transactions.draw(terminal)
    }

    fn transaction_type(&self, input: &Input) -> usize {
        input.kind
    }

    fn title(&self, transaction_type: usize) -> &str {
        self.transactions.name(transaction_type)
    }

    fn keying_us(&self, transaction_type: usize, factor: f64) -> u64 {
        self.transactions.keying_us(transaction_type, factor)
    }

    fn think_us(&self, terminal: &mut Terminal, transaction_type: usize, factor: f64) -> u64 {
        self.transactions.think_us(terminal, transaction_type, factor)
    }

    async fn execute(&self, session: &mut Session, input: &Input) -> Result<Output, Error> {
        self.transactions.execute(session, input).await
    }

    /// What ended early has done nothing either, however often it is counted.
    fn is_rolled_back(&self, output: &Output) -> bool {
        output.rolled_back || output.ended_early
    }

    fn empty_ledger(&self) -> Ledger {
        Ledger::new(self.transactions.len())
    }

    fn acknowledge(&self, commit: CommitRecord<'_, Ledger>, input: &Input, output: &Output) {
        if !self.is_rolled_back(output) {
            commit.ledger.acknowledge(input.kind);
        }
    }

    fn failed(&self, commit: CommitRecord<'_, Ledger>, input: &Input, error: &Error) {
        commit.ledger.failed(input.kind, error);
    }

    fn merge(&self, ledger: &mut Ledger, other: &Ledger) {
        ledger.merge(other);
    }

    async fn read_state(&self, session: &mut Session) -> Result<State, Error> {
        State::read(&self.custom, session).await
    }

    fn reconcile(&self, before: &State, after: &State, ledger: &Ledger, abandoned: usize) -> Option<Reconciliation> {
        conditions::reconcile(&self.custom, before, after, ledger, abandoned)
    }

    fn check_invariants(&self, before: &State, after: &State) -> Vec<CheckResult> {
        conditions::check_invariants(&self.custom, before, after)
    }
}

/// The rules of the file's transactions; the first is the one whose rate is the result.
fn rules(custom: &Custom) -> Vec<TransactionRule> {
    let rule = |(at, transaction): (usize, &Transaction)| TransactionRule {
        name: transaction.name.clone(),
        title: transaction.name.clone(),
        headline: at == 0,
        keying_seconds: transaction.keying().as_secs_f64(),
        mean_think_seconds: transaction.think().as_secs_f64(),
        response_limit_seconds: transaction.response_limit().as_secs_f64(),
        ..TransactionRule::default()
    };
    custom.transactions.iter().enumerate().map(rule).collect()
}
