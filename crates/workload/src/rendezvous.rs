//! Where the workers of a fleet meet: a small table in the database under test, a row a worker.
//!
//! Here is only what can be said and read there; when a fleet is whole and who is lost, is decided above. All times are
//! by the database's clock, so that workers on machines of different clocks mean the same.

use target::placement::Placement;
use target::schema::{Column, ColumnType, Table};
use target::{Error, Session};

use ColumnType::{BigInt, Int, Varchar};

/// The table. It is no part of a load, so that loads can meet in it too.
static TABLE: Table = Table {
    name: "weighbridge_fleet",
    columns: &[
        Column::new("worker", Int),
        Column::new("workers", Int),
        Column::new("token", BigInt),
        // The column keeps the name that databases of version 0.1 have.
        Column::new("errand", Varchar(10)),
        Column::new("host", Varchar(200)),
        Column::new("version", Varchar(40)),
        Column::new("facts", Varchar(4000)),
        Column::new("seed", Varchar(20)),
        Column::new("phase", Int),
        Column::new("arrived_us", BigInt),
        Column::new("seen_us", BigInt),
    ],
    primary_key: &["worker"],
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
    spread_by: None,
};

/// How far a worker has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It waits until the fleet is whole.
    #[default]
    Waiting,
    /// It has seen the fleet whole, and makes ready what it must.
    Whole,
    /// It is ready to begin, or at work.
    Ready,
    /// It has done its work.
    Ended,
    /// It gave up after the fleet was whole.
    Left,
}

impl Phase {
    const ALL: [Phase; 5] = [Phase::Waiting, Phase::Whole, Phase::Ready, Phase::Ended, Phase::Left];

    fn of(number: i32) -> Result<Self, Error> {
        let phase = Self::ALL.into_iter().find(|phase| *phase as i32 == number);
        phase.ok_or_else(|| {
            Error::integrity(format!("a worker of a fleet is in phase {number}, which this version does not know"))
        })
    }

    /// Whether a worker in it has still something to do.
    pub fn is_open(self) -> bool {
        self < Phase::Ended
    }
}

/// What a worker says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its number, from 1.
    pub worker: u32,
    /// How many the fleet has.
    pub workers: u32,
    /// What no other process has: tells it from another with its number.
    pub token: i64,
    /// What the fleet is at: `load`, `run`. At most 10 characters.
    pub task: String,
    /// Where it runs, for people. At most 200 characters.
    pub host: String,
    /// The tool's version.
    pub version: String,
    /// What all must have in common, a line a fact: `name: value`. At most 4000 characters.
    pub facts: String,
    /// The seed of its inputs.
    pub seed: u64,
    /// How far it has come.
    pub phase: Phase,
    /// When it came there, in microseconds since the Unix epoch.
    pub arrived_us: i64,
    /// When it was last seen, in microseconds since the Unix epoch.
    pub seen_us: i64,
    /// How long that was ago when it was read, in microseconds.
    pub silent_us: i64,
}

/// The clock's expression.
fn clock(session: &Session) -> Result<&'static str, Error> {
    let dialect = session.dialect();
    dialect.clock().ok_or_else(|| Error::permanent(format!("{} can't be asked for its clock", dialect.name())))
}

/// The database's clock, in microseconds since the Unix epoch.
///
/// # Errors
/// The database's refusal, or that it has no clock to be asked.
pub async fn now(session: &mut Session) -> Result<i64, Error> {
    let sql = format!("SELECT {}", clock(session)?);
    session.query(&sql, &[]).await?.only()?.big(0)
}

/// Makes the table where it is not there, whoever else does so at the same moment.
///
/// # Errors
/// The database's refusal.
pub async fn open(session: &mut Session) -> Result<(), Error> {
    if session.has_table(TABLE.name).await? {
        return Ok(());
    }
    let sql = session.dialect().create_table(&TABLE, true, false, &Placement::default());
    match session.execute(&sql).await {
        // Refused because another was quicker: then it is there.
        Err(e) if !session.has_table(TABLE.name).await? => Err(e.context("the table in which a fleet meets")),
        _ => Ok(()),
    }
}

/// Takes a place for `me`, waiting. False if its number is taken.
///
/// # Errors
/// The database's refusal.
pub async fn join(session: &mut Session, me: &Member) -> Result<bool, Error> {
    let clock = clock(session)?;
    let sql = format!(
        "INSERT INTO weighbridge_fleet (worker, workers, token, errand, host, version, facts, seed, phase, arrived_us, \
         seen_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, {clock}, {clock}) ON CONFLICT DO NOTHING"
    );
    let seed = me.seed.to_string();
    let values = [
        i64::from(me.worker).into(),
        i64::from(me.workers).into(),
        me.token.into(),
        me.task.as_str().into(),
        me.host.as_str().into(),
        me.version.as_str().into(),
        me.facts.as_str().into(),
        seed.as_str().into(),
    ];
    Ok(session.query(&sql, &values).await?.affected() == 1)
}

/// Everybody who has a place, by number.
///
/// # Errors
/// The database's refusal.
pub async fn members(session: &mut Session) -> Result<Vec<Member>, Error> {
    let clock = clock(session)?;
    let sql = format!(
        "SELECT worker, workers, token, errand, host, version, facts, seed, phase, arrived_us, seen_us, {clock} \
         FROM weighbridge_fleet ORDER BY worker"
    );
    let answer = session.query(&sql, &[]).await?;
    let member = |row: target::Row<'_>| {
        let seen_us = row.big(10)?;
        let seed = row.text(7)?;
        Ok(Member {
            worker: row.int(0)?.unsigned_abs(),
            workers: row.int(1)?.unsigned_abs(),
            token: row.big(2)?,
            task: row.text(3)?.to_owned(),
            host: row.text(4)?.to_owned(),
            version: row.text(5)?.to_owned(),
            facts: row.text(6)?.to_owned(),
            seed: seed.parse().map_err(|_| Error::integrity(format!("`{seed}` is no seed")))?,
            phase: Phase::of(row.int(8)?)?,
            arrived_us: row.big(9)?,
            seen_us,
            silent_us: row.big(11)? - seen_us,
        })
    };
    answer.rows().map(member).collect()
}

/// Says that the worker has come to a phase.
///
/// # Errors
/// The database's refusal; [`target::Class::Integrity`] if the worker has no place any more.
pub async fn arrive(session: &mut Session, me: &Member, phase: Phase) -> Result<(), Error> {
    let clock = clock(session)?;
    let sql = format!(
        "UPDATE weighbridge_fleet SET phase = $1, arrived_us = {clock}, seen_us = {clock} \
         WHERE worker = $2 AND token = $3"
    );
    let values = [(phase as i32).into(), i64::from(me.worker).into(), me.token.into()];
    session.query(&sql, &values).await?.expect_affected(1)
}

/// Says that the worker lives.
///
/// # Errors
/// As [`arrive`].
pub async fn be_seen(session: &mut Session, me: &Member) -> Result<(), Error> {
    let clock = clock(session)?;
    let sql = format!("UPDATE weighbridge_fleet SET seen_us = {clock} WHERE worker = $1 AND token = $2");
    session.query(&sql, &[i64::from(me.worker).into(), me.token.into()]).await?.expect_affected(1)
}

/// Gives one's place up. If the fleet was whole a mark stays, for whoever counts on this worker.
///
/// # Errors
/// The database's refusal; as [`arrive`].
pub async fn leave(session: &mut Session, me: &Member) -> Result<(), Error> {
    let sql = "DELETE FROM weighbridge_fleet WHERE worker = $1 AND token = $2 AND phase = 0";
    let values = [i64::from(me.worker).into(), me.token.into()];
    match session.query(sql, &values).await?.affected() {
        0 => arrive(session, me, Phase::Left).await,
        _ => Ok(()),
    }
}

/// Removes what a process that is gone has left behind.
///
/// # Errors
/// The database's refusal.
pub async fn remove(session: &mut Session, gone: &Member) -> Result<(), Error> {
    let sql = "DELETE FROM weighbridge_fleet WHERE worker = $1 AND token = $2";
    session.query(sql, &[i64::from(gone.worker).into(), gone.token.into()]).await.map(|_| ())
}
