//! What no order of steps can force, and only many rounds can show: how writes reach readers at other gateways.

use target::{Class, Error};

use super::Seen;
use super::actor::{Actor, Got};
use super::bench::Bench;
use super::phenomena::reset;

/// Rounds made.
const ROUNDS: i32 = 100;

/// Two writers and two readers at once: did one reader see only the first write, and the other only the second?
pub(super) async fn long_fork(bench: &Bench<'_>) -> Result<Seen, Error> {
    reset(bench).await?;
    let [w1, w2, r1, r2] = bench.actors().await?;
    for round in 1..=ROUNDS {
        let set = |id: i32| {
            let sql = "UPDATE weighbridge_phenomena SET amount = $1 WHERE id = $2".to_owned();
            vec![(sql, vec![(1000 + round).into(), id.into()])]
        };
        let (first, second) = (w1.change(set(1)), w2.change(set(2)));
        // A reader's snapshot is taken by its first read.
        let reading = [look(&r1), look(&r2)];
        let mut seen = Vec::new();
        for [begun, read, ended] in reading {
            begun.end().await?;
            let rows = read.end().await;
            let ended = ended.end().await;
            if let (Ok(rows), Ok(_)) = (rows, ended) {
                seen.push(new(rows, round)?);
            }
        }
        // A refused writer makes a round without a result, and nothing else.
        let _ = first.end().await;
        let _ = second.end().await;
        if let [a, b] = seen.as_slice()
            && matches!((a, b), ([true, false], [false, true]) | ([false, true], [true, false]))
        {
            return Ok(Seen::that(false, format!("seen in round {round} of {ROUNDS}")));
        }
    }
    Ok(Seen::that(true, format!("not seen in {ROUNDS} rounds{}", through(bench))))
}

fn look(reader: &Actor) -> [super::actor::Pending; 3] {
    let both = "SELECT id, amount FROM weighbridge_phenomena WHERE id IN (1, 2) ORDER BY id";
    [reader.begin(), reader.query(both, vec![]), reader.commit()]
}

/// Which of the two rows show this round's write.
fn new(rows: Got, round: i32) -> Result<[bool; 2], Error> {
    let rows = rows.answer()?;
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
    let (mut stale, mut refused) = (0, 0);
    for round in 1..=ROUNDS {
        let sql = "UPDATE weighbridge_phenomena SET amount = $1 WHERE id = 1".to_owned();
        let written = writer.change(vec![(sql, vec![(1000 + round).into()])]).end().await;
        let [begun, read, ended] = look(&reader);
        begun.end().await?;
        let (rows, ended) = (read.end().await, ended.end().await);
        match written.and_then(|_| ended.and(rows)) {
            Ok(rows) => stale += i32::from(!new(rows, round)?[0]),
            Err(e) if e.class() == Class::Retry => refused += 1,
            Err(e) => return Err(e),
        }
    }
    let (made, through) = (ROUNDS - refused, through(bench));
    Ok(match stale {
        0 => Seen::that(made > 0, format!("not seen in {made} rounds{through}")),
        _ => Seen::that(false, format!("seen in {stale} of {made} rounds{through}")),
    })
}

/// How telling the rounds are.
fn through(bench: &Bench<'_>) -> String {
    match bench.gateways() {
        1 => " through one gateway".to_owned(),
        count => format!(" through {count} gateways"),
    }
}
