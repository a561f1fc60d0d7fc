//! A workload of the user's own as the driver's [`Work`]: what is settled before a run, and how it is carried out.

use std::collections::BTreeMap;
use std::sync::Arc;

use record::labels::Labels;
use record::plan::{Pacing, Plan, TransactionRule};
use record::run::{CheckResult, Reconciliation};
use target::{Error, Session};
use workload::custom::conditions::{self, Ledger, State};
use workload::custom::{Custom, Input, Output, Terminal, Transactions, hash, loaded};
use workload::data_set::DataSet;

use crate::assignment;
use crate::run::{Options, Prepared, RunError, planned, topology_of};
use crate::work::{CommitRecord, Start, Work, offers};

/// The transactions of a file, which all threads share.
#[derive(Clone)]
pub(crate) struct CustomTransactions {
    custom: Arc<Custom>,
    transactions: Arc<Transactions>,
}

impl Work for CustomTransactions {
    type Terminal = Terminal;
    type Input = Input;
    type Output = Output;
    type Ledger = Ledger;
    type State = State;

    async fn prepare(&self, session: &mut Session) -> Result<(), Error> {
        self.transactions.prepare(session).await
    }

    fn terminal(&self, plan: &Plan, number: u32) -> Terminal {
        self.transactions.terminal(plan.seed, number.into())
    }

    fn warehouse(&self, _terminal: &Terminal) -> Option<i32> {
        None
    }

    fn start(&self, terminal: &mut Terminal, factor: f64) -> Start<Input> {
        Start::Thinking(if factor > 0.0 { self.transactions.first_wait_us(terminal, factor) } else { 0 })
    }

    fn next_input(&self, terminal: &mut Terminal) -> Input {
        self.transactions.draw(terminal)
    }

    fn kind(&self, input: &Input) -> usize {
        input.kind
    }

    fn title(&self, kind: usize) -> &str {
        self.transactions.name(kind)
    }

    fn keying_us(&self, kind: usize, factor: f64) -> u64 {
        self.transactions.keying_us(kind, factor)
    }

    fn think_us(&self, terminal: &mut Terminal, kind: usize, factor: f64) -> u64 {
        self.transactions.think_us(terminal, kind, factor)
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

/// Looks at the database and settles what was left open.
pub(crate) async fn prepare(options: &Options, custom: Arc<Custom>) -> Result<Prepared<CustomTransactions>, RunError> {
    let usage = RunError::Usage;
    let dialect = options.gateways.dialect();
    if !dialect.stores_data() {
        return Err(usage(format!("{} keeps no data: a workload of your own needs its tables", options.gateways)));
    }
    if options.start.worker.is_some() {
        return Err(usage("--shard is for tpcc: a workload of your own is driven by one process".to_owned()));
    }
    custom.require(dialect).map_err(usage)?;
    let isolation = options.isolation.unwrap_or(dialect.default_isolation());
    offers(dialect, isolation).map_err(usage)?;

    let mut session = Session::connect(options.gateways.first()).await?;
    session.see_all_commits().await?;
    let data = loaded(&custom, &mut session).await.map_err(|e| RunError::NotLoaded(e.to_string()))?;
    let description = session.describe().await?;
    let transactions = Transactions::new(&custom, data.clone(), isolation, &mut session).await?;
    session.commit().await?;
    let gateways = assignment::gateways(&options.gateways, options.affinity, 1, &(1..=1)).map_err(usage)?;
    let connections = options.connections_for(1, gateways.len()).map_err(usage)?;
    // A terminal that waits needs no connection while it does, so only the user can say how many there are.
    let waits = options.pacing != Pacing::None && transactions.waits();
    let terminals = match (options.terminals, waits) {
        (Some(terminals), _) => terminals,
        (None, false) => connections,
        (None, true) => return Err(usage("this workload has keying or think times: say how many --terminals".into())),
    };
    let pacing = if waits { options.pacing } else { Pacing::None };
    let mut nonstandard = vec![format!("a workload of its own: {}", custom.name)];
    if let Pacing::Factor(factor) = pacing {
        nonstandard.push(format!("keying and think times multiplied by {factor}"));
    }
    let rows = data.tables().iter().enumerate();
    let constants: BTreeMap<String, i64> =
        rows.map(|(at, table)| (format!("rows of {}", table.name), data.rows(at) as i64)).collect();
    let mut plan = Plan {
        workload: custom.name.clone(),
        labels: Labels::custom(&custom.name, &custom.transactions[0].name),
        pacing,
        style: "statements".into(),
        isolation: isolation.to_string(),
        workload_file: hash(&custom.text),
        mix: custom
            .transactions
            .iter()
            .map(|transaction| format!("{} {}", transaction.name, transaction.weight))
            .collect::<Vec<_>>()
            .join(", "),
        load_seed: data.seed(),
        data_scale: data.scale(),
        constants,
        transactions: rules(&custom),
        nonstandard,
        deviations: description.deviations.clone(),
        ..options.plan(connections, terminals)
    };
    let gateway_of = assignment::connections(plan.connections, gateways.len(), plan.threads as usize);
    if gateways.len() > 1 {
        plan.gateways = planned(&gateways, &gateway_of);
    }
    let work = CustomTransactions { custom, transactions: Arc::new(transactions) };
    let before = Some(work.read_state(&mut session).await?);
    let topology = topology_of(options.gateways.first()).await;
    Ok(Prepared { work, description, topology, before, plan, placement: BTreeMap::new(), gateways, gateway_of })
}

/// The rules of the file's transactions; the first is the one whose rate is the result.
fn rules(custom: &Custom) -> Vec<TransactionRule> {
    let rule = |(at, transaction): (usize, &workload::custom::file::Transaction)| TransactionRule {
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
