//! What no order of steps can force, and only many rounds can show: how writes reach readers at other gateways.

use target::{Class, Error};

use super::Seen;
use super::actor::{Actor, Pending};
use super::bench::Bench;
use super::phenomena::reset;

/// Rounds made.
const ROUNDS: i32 = 100;

/// Two writers and two readers at once: did one reader see only the first write, and the other only the second?
pub(super) async fn long_fork(bench: &Bench<'_>) -> Result<Seen, Error> {
    reset(bench).await?;
    let [w1, w2, r1, r2] = bench.actors().await?;
    let mut made = 0;
    for round in 1..=ROUNDS {
        let set = |id: i32| {
            let sql = "UPDATE weighbridge_phenomena SET amount = $1 WHERE id = $2".to_owned();
            vec![(sql, vec![(1000 + round).into(), id.into()])]
        };
        let (first, second) = (w1.change(set(1)), w2.change(set(2)));
        // A reader's snapshot is taken by its first read.
        let (a, b) = (look(&r1), look(&r2));
        let seen = [unless_refused(rows(a, round).await)?, unless_refused(rows(b, round).await)?];
        let written = [unless_refused(first.end().await)?, unless_refused(second.end().await)?];
        let ([Some(a), Some(b)], [Some(_), Some(_)]) = (seen, written) else { continue };
        made += 1;
        if matches!((a, b), ([true, false], [false, true]) | ([false, true], [true, false])) {
            return Ok(Seen::that(false, format!("seen in round {round} of {ROUNDS}")));
        }
    }
    not_seen(bench, made)
}

/// A refusal makes a round without a result, and nothing else.
fn unless_refused<T>(done: Result<T, Error>) -> Result<Option<T>, Error> {
    match done {
        Err(e) if e.class() == Class::Retry => Ok(None),
        done => done.map(Some),
    }
}

fn not_seen(bench: &Bench<'_>, made: i32) -> Result<Seen, Error> {
    match made {
        0 => Err(Error::permanent(format!("each of {ROUNDS} rounds was refused"))),
        _ => Ok(Seen::that(true, format!("not seen in {made} rounds{}", through(bench)))),
    }
}

fn look(reader: &Actor) -> [Pending; 3] {
    let both = "SELECT id, amount FROM weighbridge_phenomena WHERE id IN (1, 2) ORDER BY id";
    [reader.begin(), reader.query(both, vec![]), reader.commit()]
}

/// Which of the two rows show this round's write.
async fn rows([begun, read, ended]: [Pending; 3], round: i32) -> Result<[bool; 2], Error> {
    begun.end().await?;
    let read = read.end().await;
    ended.end().await?;
    let rows = read?.answer()?;
    let mut new = [false; 2];
    for (row, new) in rows.rows().zip(&mut new) {
        *new = row.int(1)? == 1000 + round;
    }
    Ok(new)
}

/// A write is acknowledged, and a reader at the next gateway begins: does it see it?
pub(super) async fn stale_read(bench: &Bench<'_>) -> Result<Seen, Error> {
    reset(bench).await?;
    let [writer, reader] = bench.actors().await?;
    let (mut stale, mut made) = (0, 0);
    for round in 1..=ROUNDS {
        let sql = "UPDATE weighbridge_phenomena SET amount = $1 WHERE id = 1".to_owned();
        let written = writer.change(vec![(sql, vec![(1000 + round).into()])]).end().await;
        let seen = unless_refused(rows(look(&reader), round).await)?;
        let (Some(_), Some([shown, _])) = (unless_refused(written)?, seen) else { continue };
        made += 1;
        stale += i32::from(!shown);
    }
    match stale {
        0 => not_seen(bench, made),
        _ => Ok(Seen::that(false, format!("seen in {stale} of {made} rounds{}", through(bench)))),
    }
}

/// How telling the rounds are.
fn through(bench: &Bench<'_>) -> String {
    match bench.gateways() {
        1 => " through one gateway".to_owned(),
        count => format!(" through {count} gateways"),
    }
}
