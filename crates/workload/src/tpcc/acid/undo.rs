//! What tests 7 and 8 change beside business transactions, noted in the database before it is changed, so that it is put
//! back even if the tests are killed.

use std::time::Duration;

use ::tpcc::money::Cents;
use target::placement::Placement;
use target::schema::{Column, ColumnType, Table};
use target::{Access, Class, Decimal, Error, Gateways, Session};

use ColumnType::{BigInt, Int, Varchar};

/// A row a change: an item's price in cents, or a district whose queue was emptied.
static TABLE: Table = Table {
    name: "weighbridge_acid",
    columns: &[
        Column::new("place", Int),
        Column::new("what", Varchar(10)),
        Column::new("a", BigInt),
        Column::new("b", BigInt),
    ],
    primary_key: &["place"],
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
    spread_by: None,
};

const NOTE: &str = "INSERT INTO weighbridge_acid (place, what, a, b) VALUES ($1, $2, $3, $4)";

/// Notes the prices that are about to change.
pub(super) async fn note_prices(session: &mut Session, prices: &[(i32, Cents)]) -> Result<(), Error> {
    make(session).await?;
    for (place, (i_id, price)) in (1..).zip(prices) {
        session.query(NOTE, &[place.into(), "price".into(), (*i_id).into(), (*price).into()]).await?;
    }
    Ok(())
}

/// Empties a district's NEW-ORDER rows, and notes it in the same transaction.
pub(super) async fn empty_queue(session: &mut Session, w_id: i32, d_id: i32) -> Result<(), Error> {
    make(session).await?;
    let (w, d) = (w_id.into(), d_id.into());
    let level = session.dialect().default_isolation();
    session.begin(level, Access::ReadWrite);
    session.query(NOTE, &[1.into(), "queue".into(), w, d]).await?;
    session.query("DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2", &[w, d]).await?;
    session.commit().await
}

/// Attempts at putting back: another session may still be ending.
const ATTEMPTS: u32 = 20;

/// Puts back whatever is noted, and says what that was.
pub(super) async fn put_back(gateways: &Gateways) -> Result<Vec<String>, Error> {
    let mut attempt = 1;
    loop {
        match put_back_at(&mut Session::connect(gateways.first()).await?).await {
            Err(e) if e.class() == Class::Retry && attempt < ATTEMPTS => {
                attempt += 1;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            done => return done.map_err(|e| e.context("putting back what a test has changed")),
        }
    }
}

async fn put_back_at(session: &mut Session) -> Result<Vec<String>, Error> {
    if !session.has_table(TABLE.name).await? {
        return Ok(Vec::new());
    }
    session.see_all_commits().await?;
    let level = session.dialect().default_isolation();
    session.begin(level, Access::ReadWrite);
    let noted = session.query("SELECT what, a, b FROM weighbridge_acid ORDER BY place", &[]).await?;
    let mut done = Vec::new();
    for row in noted.rows() {
        let (what, a, b) = (row.text(0)?, row.big(1)?, row.big(2)?);
        if what == "price" {
            let sql = "UPDATE item SET i_price = $1 WHERE i_id = $2";
            session.query(sql, &[Decimal::cents(b).into(), a.into()]).await?;
            done.push(format!("the price of item {a}"));
        } else {
            // An order without a carrier is one that waits (3.3.2.5), and the test's own new one is there already.
            let sql = "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) SELECT o_id, o_d_id, o_w_id FROM orders \
                       WHERE o_w_id = $1 AND o_d_id = $2 AND o_carrier_id IS NULL AND NOT EXISTS (SELECT 1 FROM \
                       new_order WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id)";
            session.query(sql, &[a.into(), b.into()]).await?;
            done.push(format!("the orders that wait in district {b} of warehouse {a}"));
        }
    }
    session.query("DELETE FROM weighbridge_acid", &[]).await?;
    session.commit().await?;
    session.execute("DROP TABLE weighbridge_acid").await?;
    Ok(done)
}

async fn make(session: &mut Session) -> Result<(), Error> {
    put_back_at(session).await?;
    let sql = session.dialect().create_table(&TABLE, true, false, &Placement::default());
    session.execute(&sql).await
}
