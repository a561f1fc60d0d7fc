//! The tests of clause 3: atomicity (3.2.2) and isolation (3.4.2), and phenomena that the standard does not name.
//!
//! Each test has sessions of its own, at one isolation level, dealt out over the gateways. The transactions are those of a
//! run in style `row`; a breakpoint stops them where the clause says. Whether a session waits for another, is refused, or goes
//! on with a snapshot of its own is for the database to choose: what must not be is that the result is wrong.

mod actor;
mod atomicity;
mod bench;
mod isolation;
mod phenomena;
mod reads;
mod rounds;
mod undo;

use std::time::Duration;

use record::acid::{Outcome, TestResult};
use target::{Error, Gateways, Isolation};

use bench::Bench;

/// How long a test may take in all.
const LONGEST: Duration = Duration::from_secs(300);

/// What a test saw.
#[derive(Debug)]
struct Seen {
    passes: bool,
    case: Option<char>,
    text: String,
}

impl Seen {
    fn that(passes: bool, text: impl Into<String>) -> Self {
        Self { passes, case: None, text: text.into() }
    }
}

/// Where the tests are made.
#[derive(Clone, Debug)]
pub struct TestDatabase {
    /// The database.
    pub gateways: Gateways,
    /// Its first warehouses, from which the tests choose.
    pub warehouses: i32,
    /// Of the choices.
    pub seed: u64,
}

/// Puts back what tests that were killed have left changed. Returns what that was, a line each.
///
/// # Errors
/// The database's refusal.
pub async fn put_back(place: &TestDatabase) -> Result<Vec<String>, Error> {
    undo::put_back(&place.gateways).await
}

/// A test by its number in the table.
#[derive(Clone, Copy, Debug)]
struct Test {
    name: &'static str,
    title: &'static str,
    source: &'static str,
    required: bool,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Atomicity(atomicity::Which),
    Isolation(u8),
    Phenomenon(&'static phenomena::Phenomenon),
    LongFork,
    StaleRead,
}

fn all() -> impl Iterator<Item = Test> {
    let required = |name, title, source, what| Test { name, title, source, required: true, what };
    let atomicity = [
        required("atomicity 1", "a Payment commits", "3.2.2.1", What::Atomicity(atomicity::Which::Commit)),
        required("atomicity 2", "a Payment rolls back", "3.2.2.2", What::Atomicity(atomicity::Which::Rollback)),
    ];
    let isolation = isolation::TESTS.iter().zip(1..).map(move |((title, source), number)| {
        let name = ISOLATION[usize::from(number - 1)];
        required(name, *title, *source, What::Isolation(number))
    });
    let beyond = |name, title, source, what| Test { name, title, source, required: false, what };
    let phenomena = phenomena::ALL.iter().map(move |phenomenon| {
        beyond(phenomenon.name, phenomenon.title, phenomenon.source, What::Phenomenon(phenomenon))
    });
    let rounds = [
        beyond("long fork", "two readers see two writes in different orders", "Sovran et al. 2011", What::LongFork),
        beyond("stale read", "a read misses what was acknowledged before it began", "2.8.2.3", What::StaleRead),
    ];
    atomicity.into_iter().chain(isolation).chain(phenomena).chain(rounds)
}

const ISOLATION: [&str; 9] = [
    "isolation 1",
    "isolation 2",
    "isolation 3",
    "isolation 4",
    "isolation 5",
    "isolation 6",
    "isolation 7",
    "isolation 8",
    "isolation 9",
];

/// Makes all tests at one level, until `stopped` says so between two; `told` hears of each as it ends.
///
/// # Errors
/// If the database can't be reached, or what the tests need can't be set up or put back. What goes wrong within a test is its result.
pub async fn test_level(
    place: &TestDatabase,
    level: Isolation,
    stopped: impl Fn() -> bool,
    mut told: impl FnMut(&TestResult),
) -> Result<Vec<TestResult>, Error> {
    let mut results = Vec::new();
    phenomena::make_table(&place.gateways).await?;
    let patience = Bench::patience(place, level).await?;
    for (number, test) in (0..).zip(all()) {
        if stopped() {
            break;
        }
        let mut bench = Bench::new(place, level, number, patience);
        let ended = tokio::time::timeout(LONGEST, make(&mut bench, test.what))
            .await
            .unwrap_or_else(|_| Err(Error::permanent(format!("the test had not ended after {} s", LONGEST.as_secs()))));
        // Whatever came of it; its sessions, and what they lock, are gone.
        put_back(place).await?;
        let (outcome, case, seen) = match ended {
            Ok(Seen { passes: true, case, text }) => (Outcome::Passes, case, text),
            Ok(Seen { passes: false, case, text }) => (Outcome::Fails, case, text),
            Err(e) => (Outcome::Undecided, None, e.to_string()),
        };
        let Test { name, title, source, required, .. } = test;
        let result =
            TestResult { name: name.into(), title: title.into(), source: source.into(), required, outcome, case, seen };
        told(&result);
        results.push(result);
    }
    phenomena::drop_table(&place.gateways).await?;
    Ok(results)
}

async fn make(bench: &mut Bench<'_>, what: What) -> Result<Seen, Error> {
    match what {
        What::Atomicity(which) => atomicity::test(bench, which).await,
        What::Isolation(number @ 1..=6) => isolation::test(bench, number).await,
        What::Isolation(number) => reads::test(bench, number).await,
        What::Phenomenon(phenomenon) => phenomena::test(bench, phenomenon).await,
        What::LongFork => rounds::long_fork(bench).await,
        What::StaleRead => rounds::stale_read(bench).await,
    }
}

/// The same table for a level that the database does not have.
#[must_use]
pub fn not_offered() -> Vec<TestResult> {
    let result = |test: Test| TestResult {
        name: test.name.into(),
        title: test.title.into(),
        source: test.source.into(),
        required: test.required,
        outcome: Outcome::NotOffered,
        ..TestResult::default()
    };
    all().map(result).collect()
}
