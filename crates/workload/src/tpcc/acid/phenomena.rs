//! Phenomena that the standard does not name, or names without a test of its own.
//!
//! A phenomenon is data: who does what in which order, and how the history is recognised. Where a session waits the others
//! go on, and what was to follow in it follows later; where one is refused the rest of it is left out.

use std::collections::{BTreeMap, VecDeque};

use target::placement::Placement;
use target::schema::{Column, ColumnType, Table};
use target::{Class, Error, Gateways, Session};

use Step::{All, Commit, Insert, Read, Rollback, Set};

use super::Seen;
use super::actor::{Actor, Got, Pending, named};
use super::bench::Bench;

/// Rows to play with: 1 holds 10, 2 holds 20.
static TABLE: Table = Table {
    name: "weighbridge_phenomena",
    columns: &[
        Column::new("id", ColumnType::Int),
        Column::new("class", ColumnType::Int),
        Column::new("amount", ColumnType::Int),
    ],
    primary_key: &["id"],
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
    spread_by: None,
};

/// What a session does; sessions count from 1, and begin with their first step.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Reads a row.
    Read(usize, i32),
    /// Reads the rows of the class.
    All(usize),
    /// Writes a row's amount.
    Set(usize, i32, i32),
    /// Adds a row to the class.
    Insert(usize, i32, i32),
    Commit(usize),
    Rollback(usize),
}

impl Step {
    fn session(self) -> usize {
        match self {
            Read(t, _) | All(t) | Set(t, ..) | Insert(t, ..) | Commit(t) | Rollback(t) => t - 1,
        }
    }
}

/// Amounts by row, as a read returned them.
type Rows = BTreeMap<i32, i32>;

/// What a session saw, and what became of it.
#[derive(Debug, Default)]
struct Story {
    reads: Vec<Rows>,
    committed: bool,
    waited: bool,
    refused: Option<String>,
}

/// All sessions' stories, and the rows at the end.
#[derive(Debug, Default)]
struct History {
    stories: Vec<Story>,
    last: Rows,
}

impl History {
    fn committed(&self) -> bool {
        self.stories.iter().all(|story| story.committed)
    }

    /// What read `number` (from 0) of session `t` returned for a row, if it was made.
    fn read(&self, t: usize, number: usize, id: i32) -> Option<i32> {
        self.stories[t - 1].reads.get(number)?.get(&id).copied()
    }

    fn size(&self, t: usize, number: usize) -> Option<usize> {
        self.stories[t - 1].reads.get(number).map(Rows::len)
    }

    fn at_end(&self, id: i32) -> Option<i32> {
        self.last.get(&id).copied()
    }

    /// How the database kept it out, for people.
    fn means(&self) -> String {
        let mut said = Vec::new();
        for (story, number) in self.stories.iter().zip(1..) {
            match (story.waited, &story.refused) {
                (true, Some(code)) => said.push(format!("T{number} waited and was refused ({code})")),
                (false, Some(code)) => said.push(format!("T{number} was refused ({code})")),
                (true, None) => said.push(format!("T{number} waited")),
                (false, None) => {}
            }
        }
        if said.is_empty() { "nobody waited and nobody was refused".to_owned() } else { said.join(", ") }
    }
}

/// One phenomenon.
#[derive(Debug)]
pub(super) struct Phenomenon {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) source: &'static str,
    steps: &'static [Step],
    /// Whether the history shows it.
    shows: fn(&History) -> bool,
}

/// Names and histories after Berenson et al. 1995, Adya 1999 and Fekete et al. 2004.
pub(super) static ALL: &[Phenomenon] = &[
    Phenomenon {
        name: "dirty write",
        title: "two writers leave rows of both",
        source: "P0, Berenson et al. 1995",
        steps: &[Set(1, 1, 11), Set(2, 1, 12), Set(1, 2, 21), Commit(1), Set(2, 2, 22), Commit(2)],
        shows: |h| h.committed() && !matches!((h.at_end(1), h.at_end(2)), (Some(11), Some(21)) | (Some(12), Some(22))),
    },
    Phenomenon {
        name: "aborted read",
        title: "a read returns what is rolled back",
        source: "G1a, Adya 1999",
        steps: &[Set(1, 1, 101), Read(2, 1), Rollback(1), Read(2, 1), Commit(2)],
        shows: |h| h.read(2, 0, 1) == Some(101) || h.read(2, 1, 1) == Some(101),
    },
    Phenomenon {
        name: "intermediate read",
        title: "a read returns what its writer overwrites",
        source: "G1b, Adya 1999",
        steps: &[Set(1, 1, 101), Read(2, 1), Set(1, 1, 11), Commit(1), Read(2, 1), Commit(2)],
        shows: |h| h.read(2, 0, 1) == Some(101) || h.read(2, 1, 1) == Some(101),
    },
    Phenomenon {
        name: "circular flow",
        title: "two transactions see each other's writes",
        source: "G1c, Adya 1999",
        steps: &[Set(1, 1, 11), Set(2, 2, 22), Read(1, 2), Read(2, 1), Commit(1), Commit(2)],
        shows: |h| h.committed() && h.read(1, 0, 2) == Some(22) && h.read(2, 0, 1) == Some(11),
    },
    Phenomenon {
        name: "non-repeatable read",
        title: "a row read again has changed",
        source: "P2, Berenson et al. 1995",
        steps: &[Read(1, 1), Set(2, 1, 12), Commit(2), Read(1, 1), Commit(1)],
        shows: |h| h.committed() && h.read(1, 0, 1) != h.read(1, 1, 1),
    },
    Phenomenon {
        name: "read skew",
        title: "two rows are read from before and after a change",
        source: "A5A, Berenson et al. 1995",
        steps: &[Read(1, 1), Set(2, 1, 12), Set(2, 2, 18), Commit(2), Read(1, 2), Commit(1)],
        shows: |h| h.committed() && h.read(1, 0, 1) == Some(10) && h.read(1, 1, 2) == Some(18),
    },
    Phenomenon {
        name: "phantom",
        title: "a class read again has another row",
        source: "P3, Berenson et al. 1995",
        steps: &[All(1), Insert(2, 3, 30), Commit(2), All(1), Commit(1)],
        shows: |h| h.committed() && h.size(1, 0) != h.size(1, 1),
    },
    Phenomenon {
        name: "lost update",
        title: "a write built on an old read wipes another out",
        source: "P4, Berenson et al. 1995",
        steps: &[Read(1, 1), Read(2, 1), Set(1, 1, 11), Set(2, 1, 12), Commit(1), Commit(2)],
        shows: |h| h.committed() && h.read(1, 0, 1) == Some(10) && h.read(2, 0, 1) == Some(10),
    },
    Phenomenon {
        name: "write skew",
        title: "each writes what the other has read",
        source: "A5B, Berenson et al. 1995",
        steps: &[Read(1, 1), Read(1, 2), Read(2, 1), Read(2, 2), Set(1, 1, 11), Set(2, 2, 21), Commit(1), Commit(2)],
        shows: |h| h.committed() && h.read(1, 1, 2) == Some(20) && h.read(2, 0, 1) == Some(10),
    },
    Phenomenon {
        name: "write skew by a class",
        title: "each adds a row to the class that the other has read",
        source: "G2, Adya 1999",
        steps: &[All(1), All(2), Insert(1, 3, 30), Insert(2, 4, 42), Commit(1), Commit(2)],
        shows: |h| h.committed() && h.size(1, 0) == Some(2) && h.size(2, 0) == Some(2),
    },
    Phenomenon {
        name: "read-only anomaly",
        title: "a reader sees a state that no order of the writers has",
        source: "Fekete et al. 2004",
        steps: &[
            Read(2, 1),
            Read(2, 2),
            Read(1, 2),
            Set(1, 2, 25),
            Commit(1),
            Read(3, 1),
            Read(3, 2),
            Commit(3),
            Set(2, 1, 0),
            Commit(2),
        ],
        shows: |h| {
            h.committed() && h.read(2, 1, 2) == Some(20) && (h.read(3, 0, 1), h.read(3, 1, 2)) == (Some(10), Some(25))
        },
    },
];

/// Makes the table, in place of one that was left behind.
pub(super) async fn make_table(gateways: &Gateways) -> Result<(), Error> {
    drop_table(gateways).await?;
    let mut session = Session::connect(gateways.first()).await?;
    let sql = session.dialect().create_table(&TABLE, true, false, &Placement::default());
    session.execute(&sql).await
}

pub(super) async fn drop_table(gateways: &Gateways) -> Result<(), Error> {
    let mut session = Session::connect(gateways.first()).await?;
    match session.has_table(TABLE.name).await? {
        true => session.execute("DROP TABLE weighbridge_phenomena").await,
        false => Ok(()),
    }
}

/// Sets both rows back, at every gateway.
pub(super) async fn reset(bench: &Bench<'_>) -> Result<(), Error> {
    let mut session = bench.observer().await?;
    session.query("DELETE FROM weighbridge_phenomena", &[]).await?;
    session.query("INSERT INTO weighbridge_phenomena (id, class, amount) VALUES (1, 1, 10), (2, 1, 20)", &[]).await?;
    bench.everywhere().await
}

pub(super) async fn test(bench: &Bench<'_>, phenomenon: &Phenomenon) -> Result<Seen, Error> {
    reset(bench).await?;
    let history = play(bench, phenomenon.steps).await?;
    Ok(match (phenomenon.shows)(&history) {
        true => Seen::that(false, format!("seen: {}", history.means())),
        false => Seen::that(true, history.means()),
    })
}

/// What is under way in a session.
struct Part {
    actor: Actor,
    has_begun: bool,
    pending: VecDeque<(Step, Pending)>,
    story: Story,
}

async fn play(bench: &Bench<'_>, steps: &[Step]) -> Result<History, Error> {
    let actors = bench.actors::<3>().await?;
    let part = |actor| Part { actor, has_begun: false, pending: VecDeque::new(), story: Story::default() };
    let mut parts: Vec<Part> = actors.into_iter().map(part).collect();
    parts.truncate(steps.iter().map(|step| step.session() + 1).max().unwrap_or(0));
    for step in steps {
        let part = &mut parts[step.session()];
        part.start(*step);
        part.settle(false).await?;
        if part.story.committed {
            bench.everywhere().await?;
        }
    }
    let mut history = History::default();
    for part in &mut parts {
        part.settle(true).await?;
        history.stories.push(std::mem::take(&mut part.story));
    }
    let rows = bench.observer().await?.query("SELECT id, amount FROM weighbridge_phenomena", &[]).await?;
    history.last = read(&rows)?;
    Ok(history)
}

impl Part {
    fn start(&mut self, step: Step) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.pending.push_back((step, self.actor.begin()));
        }
        let pending = match step {
            Read(_, id) => {
                self.actor.query("SELECT id, amount FROM weighbridge_phenomena WHERE id = $1", vec![id.into()])
            }
            All(_) => self.actor.query("SELECT id, amount FROM weighbridge_phenomena WHERE class = 1", vec![]),
            Set(_, id, amount) => self
                .actor
                .query("UPDATE weighbridge_phenomena SET amount = $1 WHERE id = $2", vec![amount.into(), id.into()]),
            Insert(_, id, amount) => self.actor.query(
                "INSERT INTO weighbridge_phenomena (id, class, amount) VALUES ($1, 1, $2)",
                vec![id.into(), amount.into()],
            ),
            Commit(_) => self.actor.commit(),
            Rollback(_) => self.actor.roll_back(),
        };
        self.pending.push_back((step, pending));
    }

    /// Takes the answers that are there, or all of them.
    async fn settle(&mut self, all: bool) -> Result<(), Error> {
        while let Some((step, mut pending)) = self.pending.pop_front() {
            let answer = match pending.soon().await {
                Some(answer) => answer,
                None if all => pending.end().await,
                None => {
                    self.story.waited = true;
                    self.pending.push_front((step, pending));
                    return Ok(());
                }
            };
            match answer {
                Ok(Got::Answer(answer)) if matches!(step, Read(..) | All(_)) => self.story.reads.push(read(&answer)?),
                Ok(_) => self.story.committed |= matches!(step, Commit(_)),
                Err(e) if e.class() == Class::Retry => {
                    self.story.refused.get_or_insert_with(|| named(&e));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

fn read(answer: &target::Answer) -> Result<Rows, Error> {
    answer.rows().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}
