//! Atomicity (3.2.2): a Payment changes all three of its tables, or none.

use ::tpcc::money::Cents;
use target::Error;
use target::breakpoint::{Resume, Stop, breakpoint};

use super::Seen;
use super::bench::{Bench, Customer};

/// How the Payment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Commit,
    Rollback,
}

/// What a Payment changes.
#[derive(Debug, PartialEq, Eq)]
struct Money {
    w_ytd: Cents,
    d_ytd: Cents,
    c_balance: Cents,
    c_ytd_payment: Cents,
    c_payment_cnt: i32,
    history: i64,
}

pub(super) async fn test(bench: &mut Bench<'_>, which: Which) -> Result<Seen, Error> {
    let customer = bench.customer();
    let amount = Cents::from(bench.any(100, 500_000));
    let before = money(bench, customer).await?;
    let [payer] = bench.actors().await?;
    let expected = match which {
        Which::Commit => {
            payer.transact(customer.payment(amount)).end().await?.payment()?;
            Money {
                w_ytd: before.w_ytd + amount,
                d_ytd: before.d_ytd + amount,
                c_balance: before.c_balance - amount,
                c_ytd_payment: before.c_ytd_payment + amount,
                c_payment_cnt: before.c_payment_cnt + 1,
                history: before.history + 1,
            }
        }
        Which::Rollback => {
            let (breakpoint, mut held) = breakpoint(Stop::End);
            let mut paying = payer.transact_to_fail(customer.payment(amount), breakpoint);
            paying.until(&mut held).await?;
            held.resume(Resume::Rollback);
            if paying.end().await.is_ok() {
                return Ok(Seen::that(false, "the Payment committed instead of rolling back"));
            }
            before
        }
    };
    let after = money(bench, customer).await?;
    Ok(match (after == expected, which) {
        (true, Which::Commit) => Seen::that(true, "warehouse, district, customer and history changed"),
        (true, Which::Rollback) => Seen::that(true, "nothing changed"),
        (false, _) => Seen::that(false, format!("{after:?} where {expected:?} must be")),
    })
}

async fn money(bench: &Bench<'_>, customer: Customer) -> Result<Money, Error> {
    let sql = "SELECT w_ytd, d_ytd, c_balance, c_ytd_payment, c_payment_cnt, \
               (SELECT COUNT(*) FROM history WHERE h_c_w_id = $1 AND h_c_d_id = $2 AND h_c_id = $3) \
               FROM warehouse, district, customer \
               WHERE w_id = $1 AND d_w_id = $1 AND d_id = $2 AND c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
    let answer = bench.row(sql, &customer.key()).await?;
    let row = answer.only()?;
    Ok(Money {
        w_ytd: row.cents(0)?,
        d_ytd: row.cents(1)?,
        c_balance: row.cents(2)?,
        c_ytd_payment: row.cents(3)?,
        c_payment_cnt: row.int(4)?,
        history: row.big(5)?,
    })
}
