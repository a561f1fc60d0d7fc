//! Every lesson on every database that is real here: what is certain holds, and nothing is left behind.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::cell::Cell;
use std::time::Duration;

use record::tuning::{Outcome, TuningResult};
use target::{Session, Url};
use tokio::sync::watch;
use tuning::lesson::Lesson;
use tuning::lesson_runner::{self, Options};
use tuning::runner::Limits;

/// Small, and as few pairs as have an interval.
fn options() -> Options {
    Options { repeat: 6, rounds: 6, scale: 0.02, seed: 1, budget: Duration::from_millis(500) }
}

fn limits(stop: &watch::Receiver<bool>) -> Limits {
    Limits { timeout: Duration::from_secs(60), stop: stop.clone() }
}

/// Tables with their indexes, partitions and rows, and whether the lessons' schema is there.
async fn catalog(url: &Url) -> (Vec<String>, bool) {
    let mut session = Session::connect(url).await.unwrap();
    let topology = target::topology::read(&mut session).await;
    let name = |part: &target::topology::Part| format!("{} {:?} {:?}", part.table, part.index, part.partition);
    (topology.tables.iter().map(name).collect(), lesson_runner::schema(url).unwrap().exists().await.unwrap())
}

/// A database that somebody uses: a table named as one of the data set's, with an index.
async fn somebodys(url: &Url) {
    let mut session = Session::connect(url).await.unwrap();
    session.execute("CREATE TABLE users (k INTEGER PRIMARY KEY, name VARCHAR(20))").await.unwrap();
    session.execute("INSERT INTO users (k, name) VALUES (1, 'mine')").await.unwrap();
    session.execute("CREATE INDEX users_by_name ON users (name)").await.unwrap();
}

async fn every_lesson_on(url: &str, not_offered: &[&str]) -> TuningResult {
    let url = Url::parse(url).unwrap();
    somebodys(&url).await;
    let before = catalog(&url).await;
    let lessons = Lesson::all().unwrap();
    let (_keep, stop) = watch::channel(false);
    let result = lesson_runner::run(&url, &lessons, &options(), &limits(&stop), |_| {}).await.unwrap();
    assert_eq!(catalog(&url).await, before, "{url}: left behind");
    let mut wrong = Vec::new();
    for lesson in &result.lessons {
        let expected =
            if not_offered.contains(&lesson.name.as_str()) { Outcome::NotOffered } else { Outcome::Measured };
        if lesson.outcome != expected {
            wrong.push(format!("{}: {:?}, {:?}", lesson.name, lesson.outcome, lesson.reason));
        }
        if lesson.outcome == Outcome::Measured && lesson.comparison.is_none_or(|speedup| speedup.pairs < 6) {
            wrong.push(format!("{}: {:?}", lesson.name, lesson.comparison));
        }
        wrong.extend(
            lesson
                .certain
                .iter()
                .filter(|certainty| !certainty.holds)
                .map(|certainty| format!("{}: {}: {}", lesson.name, certainty.what, certainty.seen)),
        );
    }
    assert!(wrong.is_empty(), "{url}: {wrong:#?}");
    result
}

/// Ends the lesson_runner at its third lesson, as Ctrl-C would.
async fn an_interrupted_course_leaves_nothing(url: &str) {
    let url = Url::parse(url).unwrap();
    let before = catalog(&url).await;
    let lessons = Lesson::all().unwrap();
    let (send, stop) = watch::channel(false);
    let heard = Cell::new(0);
    let tell = |_: &str| {
        heard.set(heard.get() + 1);
        if heard.get() == 3 {
            send.send_replace(true);
        }
    };
    let result = lesson_runner::run(&url, &lessons, &options(), &limits(&stop), tell).await.unwrap();
    assert!(result.interrupted && result.lessons.len() < lessons.len());
    assert_eq!(catalog(&url).await, before, "{url}: left behind");
}

#[tokio::test]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("somebodys.db").display());
    let missing = ["one-round-trip", "hot-row", "optimistic", "stale-reads", "isolation-level"];
    let result = every_lesson_on(&url, &missing).await;
    let covering = result.lessons.iter().find(|lesson| lesson.name == "covering-index").unwrap();
    assert!(covering.verdict.contains("index that holds credit_card"), "{}", covering.verdict);
    an_interrupted_course_leaves_nothing(&url).await;
}

#[tokio::test]
async fn postgres() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("somebodys").unwrap();
    let url = server.url("somebodys");
    let result = every_lesson_on(&url, &["stale-reads"]).await;
    // The space that an index takes is told by the database.
    let index = result.lessons.iter().find(|lesson| lesson.name == "secondary-index").unwrap();
    assert!(index.space.is_some_and(|space| space.after_bytes > space.before_bytes), "{:?}", index.space);
    an_interrupted_course_leaves_nothing(&url).await;
}

#[tokio::test]
async fn mariadb() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    server.create_database("somebodys").unwrap();
    every_lesson_on(&server.url("somebodys"), &["stale-reads"]).await;
    an_interrupted_course_leaves_nothing(&server.url("somebodys")).await;
}

#[tokio::test]
async fn tidb() {
    let Some(server) = lab::tidb_or_skip() else { return };
    server.create_database("somebodys").unwrap();
    every_lesson_on(&server.url("somebodys"), &[]).await;
    an_interrupted_course_leaves_nothing(&server.url("somebodys")).await;
}
