//! A workload that uses nothing but the traits: docs/add-a-workload.md shows how it is made.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use drive::{Event, Options, Pacing, run};
use record::audit::Audit;
use record::labels::Labels;
use record::plan::{Plan, TransactionRule};
use record::run::{CheckResult, Ended, ReconciledItem, Reconciliation};
use record::verdict::Status;
use target::{Access, Error, Gateways, Isolation, Session, Url};
use workload::{
    CheckProgress, CheckRequest, CommitRecord, Keys, LoadFlags, LoadProgress, Loaded, RunRequest, Settled, Start,
    Transactions, Workload, WorkloadError,
};

/// A table of one row, which transactions count up.
#[derive(Clone)]
struct Counter;

/// Its transactions in a run.
#[derive(Clone)]
struct Increments {
    isolation: Isolation,
}

impl Workload for Counter {
    type Transactions = Increments;
    type LoadPlan = ();

    fn name(&self) -> &str {
        "counter"
    }

    async fn plan_load(&self, _gateways: &Gateways, _flags: &LoadFlags) -> Result<(), WorkloadError> {
        Ok(())
    }

    fn load_title(&self, _plan: &()) -> String {
        "a counter".to_owned()
    }

    async fn load(
        &self,
        gateways: &Gateways,
        _plan: (),
        _progress: Arc<LoadProgress>,
    ) -> Result<Loaded, WorkloadError> {
        let mut session = Session::connect(gateways.first()).await?;
        session.execute("CREATE TABLE counter (n BIGINT NOT NULL)").await?;
        session.execute("INSERT INTO counter VALUES (0)").await?;
        let rows = [("counter", 1)].into_iter().collect();
        Ok(Loaded { what: self.load_title(&()), facts: Default::default(), rows, bytes: 8, complete: true })
    }

    async fn is_loaded(&self, session: &mut Session) -> Result<bool, WorkloadError> {
        Ok(session.has_table("counter").await?)
    }

    async fn settle(
        &self,
        request: &RunRequest<'_>,
        session: &mut Session,
    ) -> Result<Settled<Increments>, WorkloadError> {
        let isolation = request.isolation.unwrap_or(request.gateways.dialect().default_isolation());
        let increment = TransactionRule {
            name: "increment".to_owned(),
            title: "Increment".to_owned(),
            headline: true,
            ..TransactionRule::default()
        };
        Ok(Settled {
            transactions: Increments { isolation },
            description: session.describe().await?,
            plan: Plan {
                workload: self.name().to_owned(),
                labels: Labels::custom(self.name(), "increment"),
                pacing: Pacing::None,
                isolation: isolation.to_string(),
                transactions: vec![increment],
                ..Plan::default()
            },
            placement: Default::default(),
            keys: Keys { loaded: 1, driven: 1..=1 },
            terminals: None,
        })
    }

    async fn check(
        &self,
        gateways: &Gateways,
        _request: &CheckRequest,
        _progress: Arc<CheckProgress>,
    ) -> Result<Vec<CheckResult>, WorkloadError> {
        let counted = count(&mut Session::connect(gateways.first()).await?).await?;
        let check = CheckResult {
            name: "not negative".to_owned(),
            passed: counted >= 0,
            detail: format!("n = {counted}"),
            ..CheckResult::default()
        };
        Ok(vec![check])
    }

    async fn check_after_run(
        &self,
        gateways: &Gateways,
        _plan: &Plan,
        progress: Arc<CheckProgress>,
    ) -> Result<Vec<CheckResult>, WorkloadError> {
        let request = CheckRequest { first: 1, count: None, worker: None, jobs: 1, seconds_ago: None };
        self.check(gateways, &request, progress).await
    }

    fn check_ledger(&self, _ledger: &[u8]) -> Result<(), WorkloadError> {
        Err(WorkloadError::NotLoaded("counter writes no ledger file".to_owned()))
    }

    async fn audit(&self, _session: &mut Session, _ledger: &[u8]) -> Result<Audit, WorkloadError> {
        Err(WorkloadError::NotLoaded("counter writes no ledger file".to_owned()))
    }

    async fn probe(&self, session: &mut Session) -> Result<(), Error> {
        count(session).await.map(drop)
    }
}

impl Transactions for Increments {
    type Terminal = ();
    type Input = ();
    type Output = ();
    /// Increments that were acknowledged.
    type Ledger = u64;
    /// The counter.
    type State = i64;

    fn note_nonstandard(&self, plan: &mut Plan) {
        plan.nonstandard.push("counter follows no standard".to_owned());
    }

    async fn begin(
        &self,
        session: &mut Session,
        _gateways: &Gateways,
        _plan: &mut Plan,
    ) -> Result<Option<i64>, WorkloadError> {
        Ok(Some(self.read_state(session).await?))
    }

    async fn prepare(&self, _session: &mut Session) -> Result<(), Error> {
        Ok(())
    }

    fn terminal(&self, _plan: &Plan, _number: u32) {}

    fn start(&self, _terminal: &mut (), _factor: f64) -> Start<()> {
        Start::Thinking(0)
    }

    fn next_input(&self, _terminal: &mut ()) {}

    fn transaction_type(&self, _input: &()) -> usize {
        0
    }

    fn title(&self, _transaction_type: usize) -> &str {
        "Increment"
    }

    fn keying_us(&self, _transaction_type: usize, _factor: f64) -> u64 {
        0
    }

    fn think_us(&self, _terminal: &mut (), _transaction_type: usize, _factor: f64) -> u64 {
        0
    }

    async fn execute(&self, session: &mut Session, _input: &()) -> Result<(), Error> {
        session.begin(self.isolation, Access::ReadWrite);
        let changed = session.query("UPDATE counter SET n = n + 1", &[]).await;
        match changed {
            Ok(_) => session.commit().await,
            Err(error) => session.rollback().await.and(Err(error)),
        }
    }

    fn is_rolled_back(&self, _output: &()) -> bool {
        false
    }

    fn empty_ledger(&self) -> u64 {
        0
    }

    fn acknowledge(&self, commit: CommitRecord<'_, u64>, _input: &(), _output: &()) {
        *commit.ledger += 1;
    }

    fn failed(&self, _commit: CommitRecord<'_, u64>, _input: &(), _error: &Error) {}

    fn merge(&self, ledger: &mut u64, other: &u64) {
        *ledger += other;
    }

    async fn read_state(&self, session: &mut Session) -> Result<i64, Error> {
        count(session).await
    }

    fn reconcile(&self, before: &i64, after: &i64, ledger: &u64, _abandoned: usize) -> Option<Reconciliation> {
        let gained = (after - before).unsigned_abs();
        let item =
            ReconciledItem { name: "increments".to_owned(), acknowledged: *ledger, gained, ..Default::default() };
        Some(Reconciliation { checked: vec![item], passed: gained == *ledger, detail: format!("n = {after}") })
    }
}

async fn count(session: &mut Session) -> Result<i64, Error> {
    session.query("SELECT n FROM counter", &[]).await?.only()?.big(0)
}

#[test]
fn a_small_workload_runs_and_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let url = Url::parse(&format!("sqlite:{}", folder.path().join("counter.db").display())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let gateways = Gateways::from(url);
    let loaded = runtime.block_on(Counter.load(&gateways, (), Arc::default())).unwrap();
    assert_eq!((loaded.rows["counter"], loaded.complete), (1, true));

    let options = Options {
        pacing: Pacing::None,
        connections: Some(1),
        check: true,
        out: Some(folder.path().join("run")),
        ..Options::new(gateways, Duration::from_secs(1))
    };
    let (_go_on, stop) = tokio::sync::watch::channel(false);
    let judged = AtomicU32::new(0);
    let finished = run(&Counter, &options, &stop, &mut |event| {
        if let Event::Judged(_) = event {
            judged.fetch_add(1, Ordering::Relaxed);
        }
    })
    .unwrap();

    let record = &finished.run.record;
    assert_eq!((&record.ended, judged.into_inner()), (&Ended::Completed, 1));
    assert_eq!(record.verdict.as_ref().unwrap().status, Status::Unconstrained, "{:?}", record.verdict);
    let reconciliation = record.reconciliation.as_ref().unwrap();
    assert!(reconciliation.passed && reconciliation.checked[0].acknowledged > 0, "{reconciliation:?}");
    assert!(record.checks.as_ref().unwrap().iter().any(|check| check.name == "not negative" && check.passed));
}
