//! Isolation tests 1 to 6 (3.4.2.1 to 3.4.2.6): a transaction is stopped before its end, another one comes.
//!
//! The clauses say "verify that T2 waits", which is what locking does. A database with snapshots, or one that finds conflicts
//! at COMMIT, need not wait: the results are judged, and how they came about is said (3.4.2 allows it with disclosure).

use ::tpcc::input::Input;
use ::tpcc::money::Cents;
use target::Error;
use target::breakpoint::{Paused, Resume, Stop, breakpoint};

use super::Seen;
use super::actor::{Actor, Got, Pending};
use super::bench::{Bench, Customer, manner};

/// Titles and clauses of all nine.
pub(super) const TESTS: [(&str, &str); 9] = [
    ("Order-Status beside a New-Order that commits", "3.4.2.1"),
    ("Order-Status beside a New-Order that rolls back", "3.4.2.2"),
    ("New-Order beside a New-Order that commits", "3.4.2.3"),
    ("New-Order beside a New-Order that rolls back", "3.4.2.4"),
    ("Payment beside a Delivery that commits", "3.4.2.5"),
    ("Payment beside a Delivery that rolls back", "3.4.2.6"),
    ("prices change within a New-Order: repeatable reads", "3.4.2.7"),
    ("a New-Order comes within a Delivery: phantoms", "3.4.2.8"),
    ("a New-Order comes within an Order-Status: phantoms", "3.4.2.9"),
];

pub(super) async fn test(bench: &mut Bench<'_>, number: u8) -> Result<Seen, Error> {
    match number {
        1 => order_status_beside_commit(bench).await,
        2 => order_status_beside_rollback(bench).await,
        3 => new_order_beside_commit(bench).await,
        4 => new_order_beside_rollback(bench).await,
        5 => payment_beside_delivery(bench, Resume::Continue).await,
        _ => payment_beside_delivery(bench, Resume::Rollback).await,
    }
}

/// What came of a transaction that was stopped before its end, and of the one beside it.
struct Beside {
    first: Result<Got, Error>,
    second: Result<Got, Error>,
    waited: bool,
}

/// Waits until the first stands at its breakpoint, has the second come, and opens the breakpoint.
async fn beside(mut first: Pending, mut held: Paused, t2: &Actor, second: Input, go: Resume) -> Result<Beside, Error> {
    first.until(&mut held).await?;
    let mut second = t2.transact(second);
    let soon = second.soon().await;
    held.resume(go);
    let first = first.end().await;
    let (waited, second) = match soon {
        Some(second) => (false, second),
        None => (true, second.end().await),
    };
    Ok(Beside { first, second, waited })
}

async fn order_status_beside_commit(bench: &mut Bench<'_>) -> Result<Seen, Error> {
    let customer = bench.customer();
    let before = bench.status(customer).await?.o_id;
    let [t1, t2] = bench.actors().await?;
    let (breakpoint, held) = breakpoint(Stop::End);
    let first = t1.transact_to(bench.order(customer, 0), breakpoint);
    let second = customer.status();
    let Beside { first, second, waited } = beside(first, held, &t2, second, Resume::Continue).await?;
    let (order, _) = first?.new_order()?;
    let (seen, refusals) = second?.order_status()?;
    let how = manner("T2", waited, &refusals);
    if seen.o_id == order.o_id && !waited {
        return Ok(Seen::that(false, format!("{how} and returned T1's order before T1 had committed")));
    }
    if seen.o_id != order.o_id && seen.o_id != before {
        return Ok(Seen::that(false, format!("{how} and returned order {}, neither T1's nor the last", seen.o_id)));
    }
    let returned = if seen.o_id == order.o_id { "T1's order" } else { "the last order that was committed" };
    Ok(match bench.until(customer, |status| status.o_id == order.o_id).await? {
        Some(_) => Seen::that(true, format!("{how} and returned {returned}")),
        None => Seen::that(false, format!("{how}; T1's order was not seen within 10 s after its commit")),
    })
}

async fn order_status_beside_rollback(bench: &mut Bench<'_>) -> Result<Seen, Error> {
    let customer = bench.customer();
    let before = bench.status(customer).await?;
    let [t1, t2] = bench.actors().await?;
    let (breakpoint, held) = breakpoint(Stop::End);
    let first = t1.transact_to_fail(bench.order(customer, 0), breakpoint);
    let second = customer.status();
    let Beside { first, second, waited } = beside(first, held, &t2, second, Resume::Rollback).await?;
    if first.is_ok() {
        return Ok(Seen::that(false, "T1 committed instead of rolling back"));
    }
    let (seen, refusals) = second?.order_status()?;
    let how = manner("T2", waited, &refusals);
    Ok(match seen == before {
        true => Seen::that(true, format!("{how} and returned what T0 had returned")),
        false => Seen::that(false, format!("{how} and returned order {}, T0 had returned {}", seen.o_id, before.o_id)),
    })
}

async fn new_order_beside_commit(bench: &mut Bench<'_>) -> Result<Seen, Error> {
    let customer = bench.customer();
    let next = bench.next_order(customer).await?;
    let [t1, t2] = bench.actors().await?;
    let (breakpoint, held) = breakpoint(Stop::End);
    let first = t1.transact_to(bench.order(customer, 0), breakpoint);
    let second = bench.order(customer, 1);
    let Beside { first, second, waited } = beside(first, held, &t2, second, Resume::Continue).await?;
    let (first, first_refusals) = first?.new_order()?;
    let (second, refusals) = second?.new_order()?;
    let now = bench.next_order(customer).await?;
    let mut how = manner("T2", waited, &refusals);
    if let [code, ..] = first_refusals.as_slice() {
        how += &format!("; T1 was refused ({code}) and tried again");
    }
    // Whoever was refused comes behind the other.
    let follows = if first_refusals.is_empty() { second.o_id == first.o_id + 1 } else { first.o_id == second.o_id + 1 };
    let passes = follows && first.o_id.min(second.o_id) == next && now == next + 2;
    let numbers = format!("O_IDs {} and {}, D_NEXT_O_ID from {next} to {now}", first.o_id, second.o_id);
    Ok(Seen::that(passes, format!("{how}; {numbers}")))
}

async fn new_order_beside_rollback(bench: &mut Bench<'_>) -> Result<Seen, Error> {
    let customer = bench.customer();
    let next = bench.next_order(customer).await?;
    let [t1, t2] = bench.actors().await?;
    let (breakpoint, held) = breakpoint(Stop::End);
    let first = t1.transact_to(bench.invalid_order(customer), breakpoint);
    let second = bench.order(customer, 1);
    let Beside { first, second, waited } = beside(first, held, &t2, second, Resume::Continue).await?;
    let (first, _) = first?.new_order()?;
    let (second, refusals) = second?.new_order()?;
    let now = bench.next_order(customer).await?;
    let passes = first.rolled_back && second.o_id == next && now == next + 1;
    let how = manner("T2", waited, &refusals);
    Ok(Seen::that(passes, format!("{how}; O_ID {}, D_NEXT_O_ID from {next} to {now}", second.o_id)))
}

async fn payment_beside_delivery(bench: &mut Bench<'_>, go: Resume) -> Result<Seen, Error> {
    let (customer, o_id, delivered) = oldest(bench).await?;
    let before = bench.balance(customer).await?;
    let [t1, t2] = bench.actors().await?;
    let (breakpoint, held) = breakpoint(Stop::End);
    let first = match go {
        Resume::Continue => t1.transact_to(customer.delivery(7), breakpoint),
        Resume::Rollback => t1.transact_to_fail(customer.delivery(7), breakpoint),
    };
    let amount = Cents::from(bench.any(100, 500_000));
    let second = customer.payment(amount);
    let Beside { first, second, waited } = beside(first, held, &t2, second, go).await?;
    let (_, refusals) = second?.payment()?;
    let mut how = manner("T2", waited, &refusals);
    let expected = match go {
        Resume::Continue => {
            let (done, first_refusals) = first?.delivery()?;
            if let [code, ..] = first_refusals.as_slice() {
                how += &format!("; T1 was refused ({code}) and tried again");
            }
            if done.o_ids[(customer.d_id - 1) as usize] != Some(o_id) {
                return Ok(Seen::that(false, format!("{how}; T1 did not deliver the oldest order {o_id}")));
            }
            before + delivered - amount
        }
        Resume::Rollback if first.is_ok() => return Ok(Seen::that(false, "T1 committed instead of rolling back")),
        Resume::Rollback => before - amount,
    };
    let after = bench.balance(customer).await?;
    let reflects = if go == Resume::Continue { "both" } else { "T2 alone" };
    Ok(match after == expected {
        true => Seen::that(true, format!("{how}; C_BALANCE reflects {reflects}")),
        false => Seen::that(
            false,
            format!("{how}; C_BALANCE went from {before} to {after} cents where {expected} reflects {reflects}"),
        ),
    })
}

/// The customer of the oldest undelivered order of some district, the order, and its amount.
async fn oldest(bench: &mut Bench<'_>) -> Result<(Customer, i32, Cents), Error> {
    let Customer { w_id, d_id: first, .. } = bench.customer();
    for turn in 0..10 {
        let d_id = (first + turn - 1) % 10 + 1;
        let sql = "SELECT o_id, o_c_id, (SELECT SUM(ol_amount) FROM order_line \
                   WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id) \
                   FROM orders WHERE o_w_id = $1 AND o_d_id = $2 \
                   AND o_id = (SELECT MIN(no_o_id) FROM new_order WHERE no_w_id = $1 AND no_d_id = $2)";
        let answer = bench.observer().await?.query(sql, &[w_id.into(), d_id.into()]).await?;
        if let Some(row) = answer.get(0) {
            return Ok((Customer { w_id, d_id, c_id: row.int(1)? }, row.int(0)?, row.cents(2)?));
        }
    }
    Err(Error::permanent(format!("no order of warehouse {w_id} waits for its delivery: load the data anew")))
}
