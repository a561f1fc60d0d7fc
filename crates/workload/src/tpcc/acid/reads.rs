//! Isolation tests 7 to 9 (3.4.2.7 to 3.4.2.9): what a transaction has read it reads again, and no row comes in between.

use ::tpcc::input::Line;
use ::tpcc::money::Cents;
use target::breakpoint::{Resume, Stop, breakpoint};
use target::{Class, Decimal, Error};

use super::actor::{Actor, Got};
use super::bench::{Bench, refusal};
use super::{Seen, undo};
use crate::tpcc::{delivery, new_order, order_status};

pub(super) async fn test(bench: &mut Bench<'_>, number: u8) -> Result<Seen, Error> {
    match number {
        7 => prices(bench).await,
        8 => a_district_without_orders(bench).await,
        _ => a_later_order(bench).await,
    }
}

/// T2 orders x twice and y, and is stopped after it has read x once; T3 raises both prices.
async fn prices(bench: &mut Bench<'_>) -> Result<Seen, Error> {
    let customer = bench.customer();
    let mut lines: Vec<Line> = bench.lines(0);
    lines.iter_mut().for_each(|line| line.supply_w_id = customer.w_id);
    let (x, y) = (lines[0].i_id, lines[2].i_id);
    lines[1].i_id = x;
    let before = [price(bench, x).await?, price(bench, y).await?];
    let raised = before.map(|price| price * 110 / 100);
    undo::note_prices(&mut bench.observer().await?, &[(x, before[0]), (y, before[1])]).await?;

    let [t2, t3] = bench.actors().await?;
    let (breakpoint, mut held) = breakpoint(Stop::Before(new_order::AFTER_FIRST_ITEM));
    let mut ordering = t2.transact_to(customer.order(&lines), breakpoint);
    ordering.until(&mut held).await?;
    let raise = |i_id: i32, price: Cents| {
        let sql = "UPDATE item SET i_price = $1 WHERE i_id = $2".to_owned();
        (sql, vec![Decimal::cents(price).into(), i_id.into()])
    };
    let mut raising = t3.change(vec![raise(x, raised[0]), raise(y, raised[1])]);
    let soon = raising.soon().await;
    let stalled = soon.is_none();
    bench.everywhere().await?;
    held.resume(Resume::Continue);
    let ordered = ordering.end().await;
    let changed = match soon {
        Some(changed) => changed,
        None => raising.end().await,
    };
    let last = [price(bench, x).await?, price(bench, y).await?];

    let (order, refusals) = ordered?.new_order()?;
    let shown = [order.lines[0].i_price, order.lines[1].i_price, order.lines[2].i_price];
    let (case, what, expected) = match (&changed, stalled, refusals.as_slice()) {
        (Err(e), ..) if e.class() == Class::Retry => ('C', format!("T3 was {}, T2 went on", refusal(e)), before),
        (Err(e), ..) => return Err(e.clone()),
        (Ok(_), true, []) => ('A', "T3 waited for T2".to_owned(), raised),
        (Ok(_), false, []) => ('D', "T3 committed at once, T2 went on".to_owned(), raised),
        (Ok(_), _, [code, ..]) => ('B', format!("T3 committed, T2 was refused ({code}) and tried again"), raised),
    };
    // Tried again it is another transaction, which sees one set of prices, whichever.
    let of_t2 = if case == 'B' { [shown[0], shown[0], last[1]] } else { [before[0], before[0], before[1]] };
    let seen =
        format!("{what}; T2 saw {} {} {}, before T3 {} and {}", shown[0], shown[1], shown[2], before[0], before[1]);
    let passes = shown == of_t2 && last == expected;
    Ok(Seen { passes, case: Some(case), text: if passes { what } else { format!("{seen} cents") } })
}

async fn price(bench: &Bench<'_>, i_id: i32) -> Result<Cents, Error> {
    bench.row("SELECT i_price FROM item WHERE i_id = $1", &[i_id.into()]).await?.only()?.cents(0)
}

/// T1 finds nothing to deliver in a district; T2 orders there; T1 looks again, as Delivery does.
async fn a_district_without_orders(bench: &mut Bench<'_>) -> Result<Seen, Error> {
    let customer = bench.customer();
    undo::empty_queue(&mut bench.observer().await?, customer.w_id, customer.d_id).await?;
    let [t1, t2] = bench.actors().await?;
    let look = |actor: &Actor| actor.call(&delivery::OLDEST, customer.district());
    within(&t1, look, async |bench: &mut Bench<'_>| Ok(t2.transact(bench.order(customer, 0))), bench).await
}

/// T1 reads a customer's latest order; T2 is a later one; T1 reads again, as Order-Status does.
async fn a_later_order(bench: &mut Bench<'_>) -> Result<Seen, Error> {
    let customer = bench.customer();
    let [t1, t2] = bench.actors().await?;
    let look = |actor: &Actor| actor.call(&order_status::LAST_ORDER, customer.key());
    within(&t1, look, async |bench: &mut Bench<'_>| Ok(t2.transact(bench.order(customer, 0))), bench).await
}

/// T1 looks twice, and T2 orders in between.
async fn within(
    t1: &Actor,
    look: impl Fn(&Actor) -> super::actor::Pending,
    order: impl AsyncFnOnce(&mut Bench<'_>) -> Result<super::actor::Pending, Error>,
    bench: &mut Bench<'_>,
) -> Result<Seen, Error> {
    t1.begin().end().await?;
    let first = found(look(t1).end().await?)?;
    let mut ordering = order(bench).await?;
    let soon = ordering.soon().await;
    let case = if soon.is_none() { 'A' } else { 'B' };
    bench.everywhere().await?;
    let again = look(t1).end().await.and_then(found);
    let ended = match &again {
        Ok(_) => t1.commit().end().await.map(drop),
        Err(_) => Ok(()),
    };
    let ordered = match soon {
        Some(ordered) => ordered,
        None => ordering.end().await,
    };
    ordered?.new_order()?;
    let t2 = if case == 'A' { "T2 waited" } else { "T2 committed" };
    let (passes, text) = match (again, ended) {
        (Err(e), _) if e.class() == Class::Retry => (true, format!("{t2}, and T1's second look was {}", refusal(&e))),
        (Err(e), _) => return Err(e),
        (Ok(_), Err(e)) if e.class() == Class::Retry => (true, format!("{t2}, and T1's commit was {}", refusal(&e))),
        (Ok(_), Err(e)) => return Err(e),
        (Ok(again), Ok(())) if again == first => (true, format!("{t2}, and T1 saw the same again")),
        (Ok(again), Ok(())) => (false, format!("{t2}, and T1 saw {} where it had seen {}", said(again), said(first))),
    };
    Ok(Seen { passes, case: Some(case), text })
}

fn found(got: Got) -> Result<Option<i32>, Error> {
    got.answer()?.get(0).map(|row| row.int(0)).transpose()
}

fn said(order: Option<i32>) -> String {
    order.map_or_else(|| "no order".to_owned(), |o_id| format!("order {o_id}"))
}
