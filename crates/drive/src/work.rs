//! A workload as the driver sees it: what its terminals send, how that is carried out, and what is held against it.

use target::{Dialect, Error, Session};
use workload::tpcc::acknowledged::Journal;

use record::plan::Plan;
use record::run::{CheckResult, Reconciliation};

/// Where in its cycle a terminal is when the run starts.
pub(crate) enum Start<I> {
    /// In the middle of keying, with so many microseconds of it left.
    Keying(I, u64),
    /// In the middle of thinking, with so many microseconds of it left.
    Thinking(u64),
}

/// Where a shard enters what it was told.
pub(crate) struct CommitRecord<'a, L> {
    pub(crate) ledger: &'a mut L,
    /// What is written down transaction by transaction; none where nothing is.
    pub(crate) journal: Option<&'a mut Journal>,
    /// Milliseconds since the run's start.
    pub(crate) at_ms: u32,
}

/// An order of deliveries that was carried out, for the result file (2.7.2.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) w_id: i32,
    pub(crate) carrier_id: i32,
    pub(crate) o_ids: [Option<i32>; 10],
}

impl Delivery {
    /// Districts without an order to deliver.
    pub(crate) fn skipped(&self) -> u32 {
        self.o_ids.iter().filter(|o_id| o_id.is_none()).count() as u32
    }
}

/// A workload. Transactions are known by their position in the plan. One value serves a thread.
pub(crate) trait Work: Clone + Send + 'static {
    /// Who sends, and draws what is sent.
    type Terminal: Send + 'static;
    /// What is sent: the same in each attempt.
    type Input: 'static;
    /// What comes back.
    type Output: 'static;
    /// What was acknowledged, in sums.
    type Ledger: Send + 'static;
    /// What of the database the ledger is held against.
    type State;

    /// Makes a new session ready, so that no transaction pays for it.
    async fn prepare(&self, session: &mut Session) -> Result<(), Error>;

    /// The terminal of this number of a run.
    fn terminal(&self, plan: &Plan, number: u32) -> Self::Terminal;

    /// The warehouse of a terminal, which may bind it to a gateway.
    fn warehouse(&self, terminal: &Self::Terminal) -> Option<i32>;

    /// Where a terminal is when the run starts; waits are multiplied with `factor`.
    fn start(&self, terminal: &mut Self::Terminal, factor: f64) -> Start<Self::Input>;

    /// Selects the next transaction and draws its input.
    fn next_input(&self, terminal: &mut Self::Terminal) -> Self::Input;

    /// Which transaction it is.
    fn kind(&self, input: &Self::Input) -> usize;

    /// Its name for people.
    fn title(&self, kind: usize) -> &str;

    /// The keying time of a transaction, in microseconds.
    fn keying_us(&self, kind: usize, factor: f64) -> u64;

    /// The think time after a transaction, in microseconds.
    fn think_us(&self, terminal: &mut Self::Terminal, kind: usize, factor: f64) -> u64;

    /// Whether it is only queued while the terminal goes on (2.7.2).
    fn is_deferred(&self, _input: &Self::Input) -> bool {
        false
    }

    /// Runs a transaction, once. After an error the session holds no open transaction.
    async fn execute(&self, session: &mut Session, input: &Self::Input) -> Result<Self::Output, Error>;

    /// Whether it was rolled back by design.
    fn is_rolled_back(&self, output: &Self::Output) -> bool;

    /// What was delivered, of a deferred transaction.
    fn delivery(&self, _input: &Self::Input, _output: &Self::Output) -> Option<Delivery> {
        None
    }

    /// Reports (index, hits, trials) of a completed transaction, for the plan's tallies.
    fn tally(&self, _input: &Self::Input, _output: &Self::Output, _count: impl FnMut(usize, u64, u64)) {}

    /// An empty ledger.
    fn empty_ledger(&self) -> Self::Ledger;

    /// Enters an answer that says committed.
    fn acknowledge(&self, commit: CommitRecord<'_, Self::Ledger>, input: &Self::Input, output: &Self::Output);

    /// Enters a failure: it matters where nobody knows what came of the transaction.
    fn failed(&self, commit: CommitRecord<'_, Self::Ledger>, input: &Self::Input, error: &Error);

    /// Adds another thread's ledger.
    fn merge(&self, ledger: &mut Self::Ledger, other: &Self::Ledger);

    /// The first bytes of the file in which what is acknowledged is written down; none where nothing is.
    fn ledger_header(&self, _before: &Self::State) -> Option<Vec<u8>> {
        None
    }

    /// What was to be the same after the run as before it.
    fn check_invariants(&self, _before: &Self::State, _after: &Self::State) -> Vec<CheckResult> {
        Vec::new()
    }

    /// Reads what the ledger is held against.
    async fn read_state(&self, session: &mut Session) -> Result<Self::State, Error>;

    /// What was acknowledged against what the database gained, where there is anything to hold it against; `abandoned`
    /// transactions had not ended.
    fn reconcile(
        &self,
        before: &Self::State,
        after: &Self::State,
        ledger: &Self::Ledger,
        abandoned: usize,
    ) -> Option<Reconciliation>;
}

/// Checks that a database has an isolation level.
pub(crate) fn offers(dialect: &dyn Dialect, isolation: target::Isolation) -> Result<(), String> {
    if dialect.isolations().contains(&isolation) {
        return Ok(());
    }
    let offered: Vec<String> = dialect.isolations().iter().map(ToString::to_string).collect();
    Err(format!("{} does not offer the isolation level {isolation}: it has {}", dialect.name(), offered.join(", ")))
}
