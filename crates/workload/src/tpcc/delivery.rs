//! The deferred part of Delivery (2.7.4).

use ::tpcc::DISTRICTS_PER_WAREHOUSE;
use ::tpcc::input::Delivery;
use ::tpcc::money::Cents;
use target::null_reply::Column;
use target::null_reply::Kind::{Int, Numeric, SmallInt};
use target::null_reply::Reply;
use target::{Access, Class, Decimal, Error, MultiRowUpdate, Session, Statement, StatementBatch, Value};

use super::{Profile, Style, procedure};

/// Columns of a target without data; an order has ten lines on average.
pub(super) const AMOUNT: Column = Column::decimal(2525, 2);
const LINES_AN_ORDER: usize = 10;
const ORDER_ROW: &[Column] = &[Column::per_row(SmallInt, 1), Column::int(Int, 1)];
const LINE_ROW: &[Column] = &[Column::per_row(SmallInt, 1), AMOUNT];

/// Without a lock, which would look past the snapshot on TiDB, and see an order come that was not there (3.4.2.8). Another
/// Delivery that was quicker is noticed when the row is taken.
pub(super) static OLDEST: Statement = Statement::new(
    "delivery.oldest",
    "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1",
)
.takes(&[Int, SmallInt])
.replies(Reply::rows(1, &[Column::int(Int, 2101)]));
static OLDEST_OF_ALL: Statement = Statement::new(
    "delivery.oldest_of_all",
    "WITH district_ids(d_id) AS (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 \
     UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10) \
     SELECT d_id, (SELECT MIN(no_o_id) FROM new_order WHERE no_w_id = $1 AND no_d_id = d_id) FROM district_ids",
)
.takes(&[Int])
.replies(Reply::rows(10, &[Column::number(Int), Column::int(Int, 2101)]));
static TAKE: Statement = Statement::multi_row(
    "delivery.take",
    "DELETE FROM new_order WHERE {(no_w_id = $1 AND no_d_id = #1 AND no_o_id = #2)| OR }",
    1,
    10,
)
.takes(&[Int])
.takes_a_row(&[SmallInt, Int]);
static ORDER_READ: Statement = Statement::new(
    "delivery.order_read",
    "SELECT o_d_id, o_c_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::rows(1, &[Column::fixed(SmallInt, 2), Column::int(Int, 1)]));
static ORDER_WRITE: Statement = Statement::new(
    "delivery.order_write",
    "UPDATE orders SET o_carrier_id = $4 WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3",
)
.takes(&[Int, SmallInt, Int, SmallInt]);
static ORDERS: Statement = Statement::multi_row(
    "delivery.orders",
    "UPDATE orders SET o_carrier_id = $2 WHERE {(o_w_id = $1 AND o_d_id = #1 AND o_id = #2)| OR } \
     RETURNING o_d_id, o_c_id",
    10,
    10,
)
.takes(&[Int, SmallInt])
.takes_a_row(&[SmallInt, Int])
.replies(Reply::each(1, ORDER_ROW));
static ORDERS_READ: Statement = Statement::multi_row(
    "delivery.orders_read",
    "SELECT o_d_id, o_c_id FROM orders WHERE {(o_w_id = $1 AND o_d_id = #1 AND o_id = #2)| OR }",
    10,
    10,
)
.takes(&[Int])
.takes_a_row(&[SmallInt, Int])
.replies(Reply::each(1, ORDER_ROW));
static ORDERS_WRITE: Statement = Statement::multi_row(
    "delivery.orders_write",
    "UPDATE orders SET o_carrier_id = $2 WHERE {(o_w_id = $1 AND o_d_id = #1 AND o_id = #2)| OR }",
    10,
    10,
)
.takes(&[Int, SmallInt])
.takes_a_row(&[SmallInt, Int]);
static LINES_READ: Statement = Statement::new(
    "delivery.lines_read",
    "SELECT ol_d_id, ol_amount FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::rows(LINES_AN_ORDER, &[Column::fixed(SmallInt, 2), AMOUNT]));
static LINES_WRITE: Statement = Statement::new(
    "delivery.lines_write",
    "UPDATE order_line SET ol_delivery_d = LOCALTIMESTAMP WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::changed(LINES_AN_ORDER));
static LINES: Statement = Statement::multi_row(
    "delivery.lines",
    "UPDATE order_line SET ol_delivery_d = LOCALTIMESTAMP \
     WHERE {(ol_w_id = $1 AND ol_d_id = #1 AND ol_o_id = #2)| OR } RETURNING ol_d_id, ol_amount",
    10,
    10,
)
.takes(&[Int])
.takes_a_row(&[SmallInt, Int])
.replies(Reply::each(LINES_AN_ORDER, LINE_ROW));
static ALL_LINES_READ: Statement = Statement::multi_row(
    "delivery.all_lines_read",
    "SELECT ol_d_id, ol_amount FROM order_line WHERE {(ol_w_id = $1 AND ol_d_id = #1 AND ol_o_id = #2)| OR }",
    10,
    10,
)
.takes(&[Int])
.takes_a_row(&[SmallInt, Int])
.replies(Reply::each(LINES_AN_ORDER, LINE_ROW));
static ALL_LINES_WRITE: Statement = Statement::multi_row(
    "delivery.all_lines_write",
    "UPDATE order_line SET ol_delivery_d = LOCALTIMESTAMP \
     WHERE {(ol_w_id = $1 AND ol_d_id = #1 AND ol_o_id = #2)| OR }",
    10,
    10,
)
.takes(&[Int])
.takes_a_row(&[SmallInt, Int])
.replies(Reply::each(LINES_AN_ORDER, &[]));
static CUSTOMER: Statement = Statement::new(
    "delivery.customer",
    "UPDATE customer SET c_balance = c_balance + $4, c_delivery_cnt = c_delivery_cnt + 1 \
     WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
)
.takes(&[Int, SmallInt, Int, Numeric]);
static CUSTOMERS: Statement = Statement::multi_row(
    "delivery.customers",
    "WITH delivered(d_id, number, amount) AS (VALUES {(CAST(#1 AS INTEGER), CAST(#2 AS INTEGER), \
     CAST(#3 AS DECIMAL(12,2)))}) \
     UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1 \
     FROM delivered WHERE c_w_id = $1 AND c_d_id = d_id AND c_id = number",
    10,
    10,
)
.takes(&[Int])
.takes_a_row(&[Int, Int, Numeric]);

static CUSTOMERS_JOIN: Statement = Statement::multi_row(
    "delivery.customers_join",
    "UPDATE customer JOIN ({SELECT CAST(#1 AS INTEGER) AS d_id, CAST(#2 AS INTEGER) AS number, \
     CAST(#3 AS DECIMAL(12,2)) AS amount| UNION ALL }) AS delivered \
     ON c_w_id = $1 AND c_d_id = d_id AND c_id = number \
     SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1",
    10,
    10,
)
.takes(&[Int])
.takes_a_row(&[Int, Int, Numeric]);

pub(super) const ROW: &[&Statement] =
    &[&OLDEST, &TAKE, &ORDER_READ, &ORDER_WRITE, &LINES_READ, &LINES_WRITE, &CUSTOMER];
pub(super) const BATCH: &[&Statement] = &[&OLDEST_OF_ALL, &TAKE, &ORDERS, &LINES, &CUSTOMERS];
pub(super) const BATCH_JOIN: &[&Statement] =
    &[&OLDEST_OF_ALL, &TAKE, &ORDERS_WRITE, &ORDERS_READ, &ALL_LINES_WRITE, &ALL_LINES_READ, &CUSTOMERS_JOIN];
pub(super) const BATCH_ONE_BY_ONE: &[&Statement] =
    &[&OLDEST, &TAKE, &ORDERS_WRITE, &ORDERS_READ, &ALL_LINES_WRITE, &ALL_LINES_READ, &CUSTOMER];

/// What a Delivery delivered, district by district: O_ID, or none where nothing waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// `O_ID` of district `index + 1`; `None` is a skipped district.
    pub o_ids: [Option<i32>; DISTRICTS_PER_WAREHOUSE as usize],
}

impl Delivered {
    /// Districts without an order to deliver (2.7.4.2).
    pub fn skipped(&self) -> usize {
        self.o_ids.iter().filter(|o_id| o_id.is_none()).count()
    }
}

/// One database transaction for the ten districts (2.7.4.2 allows one to ten), so that a retry begins anew.
pub(super) async fn run(session: &mut Session, profile: Profile, input: &Delivery) -> Result<Delivered, Error> {
    if profile.style == Style::Procedure {
        return procedure::delivery(session, profile.isolation, input).await;
    }
    session.begin(profile.isolation, Access::ReadWrite);
    let delivered =
        if profile.style == Style::Row { by_rows(session, input).await? } else { in_batch(session, input).await? };
    session.commit().await?;
    Ok(delivered)
}

/// District by district, a row a statement.
async fn by_rows(session: &mut Session, input: &Delivery) -> Result<Delivered, Error> {
    let mut delivered = Delivered::default();
    for (o_id, d_id) in delivered.o_ids.iter_mut().zip(1..) {
        *o_id = deliver_district(session, input, d_id).await?;
    }
    Ok(delivered)
}

async fn deliver_district(session: &mut Session, input: &Delivery, d_id: i32) -> Result<Option<i32>, Error> {
    let (w, d) = (input.w_id.into(), d_id.into());
    let mut wave = StatementBatch::new();
    wave.call(&OLDEST, &[w, d]);
    let [oldest] = session.send(&wave).await?;
    let Some(oldest) = oldest.get(0) else { return Ok(None) };
    let o_id = oldest.int(0)?;
    let key = [w, d, o_id.into()];

    let mut wave = StatementBatch::new();
    wave.call_rows(&TAKE, &[w], [[d, o_id.into()]].into_iter());
    // Written before they are read: a snapshot older than the order shows it once it is our own.
    wave.call(&ORDER_WRITE, &[w, d, o_id.into(), input.carrier_id.into()]);
    wave.call(&ORDER_READ, &key);
    wave.call(&LINES_WRITE, &key);
    wave.call(&LINES_READ, &key);
    let [taken, order_write, order, lines_write, lines] = session.send(&wave).await?;
    expect_taken(taken.affected(), 1)?;
    order_write.expect_affected(1)?;
    lines_write.expect_affected(lines.len())?;
    if lines.is_empty() {
        return Err(without_lines(d_id, o_id));
    }
    let amount: Cents = lines.rows().map(|row| row.cents(1)).sum::<Result<_, _>>()?;

    let mut wave = StatementBatch::new();
    wave.call(&CUSTOMER, &[w, d, order.only()?.int(1)?.into(), Decimal::cents(amount).into()]);
    let [customer] = session.send(&wave).await?;
    customer.expect_affected(1)?;
    Ok(Some(o_id))
}

/// All districts in a statement a step.
async fn in_batch(session: &mut Session, input: &Delivery) -> Result<Delivered, Error> {
    let w = input.w_id.into();
    let multi_row_update = session.dialect().multi_row_update();
    let delivered = Delivered { o_ids: oldest_orders(session, multi_row_update, input.w_id).await? };
    let found = delivered.o_ids.iter().zip(1..).filter_map(|(o_id, d_id)| Some((d_id, (*o_id)?)));
    let orders: Vec<[Value<'_>; 2]> = found.map(|(d_id, o_id): (i32, i32)| [d_id.into(), o_id.into()]).collect();
    if orders.is_empty() {
        return Ok(delivered);
    }

    let carrier = [w, input.carrier_id.into()];
    let mut wave = StatementBatch::new();
    wave.call_rows(&TAKE, &[w], orders.iter().copied());
    let [taken, updated, lines] = match multi_row_update {
        MultiRowUpdate::FromReturning => {
            wave.call_rows(&ORDERS, &carrier, orders.iter().copied());
            wave.call_rows(&LINES, &[w], orders.iter().copied());
            session.send(&wave).await?
        }
        MultiRowUpdate::Join | MultiRowUpdate::OneByOne => {
            wave.call_rows(&ORDERS_WRITE, &carrier, orders.iter().copied());
            wave.call_rows(&ORDERS_READ, &[w], orders.iter().copied());
            wave.call_rows(&ALL_LINES_WRITE, &[w], orders.iter().copied());
            wave.call_rows(&ALL_LINES_READ, &[w], orders.iter().copied());
            let [taken, orders_write, updated, lines_write, lines] = session.send(&wave).await?;
            orders_write.expect_affected(updated.len())?;
            lines_write.expect_affected(lines.len())?;
            [taken, updated, lines]
        }
    };
    expect_taken(taken.affected(), orders.len())?;
    updated.expect_affected(orders.len())?;
    let mut amounts = [None; DISTRICTS_PER_WAREHOUSE as usize];
    for row in lines.rows() {
        *amounts[district_index(row.int(0)?)?].get_or_insert(0) += row.cents(1)?;
    }
    let mut customers: Vec<[Value<'_>; 3]> = Vec::with_capacity(orders.len());
    for row in updated.rows() {
        let d_id = row.int(0)?;
        let index = district_index(d_id)?;
        let amount = amounts[index].ok_or_else(|| without_lines(d_id, delivered.o_ids[index].unwrap_or_default()))?;
        let amount = Decimal::cents(amount);
        customers.push([d_id.into(), row.int(1)?.into(), amount.into()]);
    }

    let mut wave = StatementBatch::new();
    match multi_row_update {
        MultiRowUpdate::FromReturning => wave.call_rows(&CUSTOMERS, &[w], customers.into_iter()),
        MultiRowUpdate::Join => wave.call_rows(&CUSTOMERS_JOIN, &[w], customers.into_iter()),
        MultiRowUpdate::OneByOne => {
            customers.into_iter().fold(&mut wave, |wave, [d, c, amount]| wave.call(&CUSTOMER, &[w, d, c, amount]))
        }
    };
    let paid: u64 = session.send_all(&wave).await?.iter().map(|answer| answer.affected()).sum();
    if paid != orders.len() as u64 {
        return Err(Error::integrity(format!("{paid} customers were paid for {} orders", orders.len())));
    }
    Ok(delivered)
}

/// The oldest undelivered order of each district, where there is one.
async fn oldest_orders(
    session: &mut Session,
    multi_row_update: MultiRowUpdate,
    w_id: i32,
) -> Result<[Option<i32>; DISTRICTS_PER_WAREHOUSE as usize], Error> {
    let mut o_ids = [None; DISTRICTS_PER_WAREHOUSE as usize];
    let mut wave = StatementBatch::new();
    if multi_row_update == MultiRowUpdate::OneByOne {
        for d_id in 1..=DISTRICTS_PER_WAREHOUSE {
            wave.call(&OLDEST, &[w_id.into(), d_id.into()]);
        }
        for (answer, o_id) in session.send_all(&wave).await?.iter().zip(&mut o_ids) {
            *o_id = answer.get(0).map(|row| row.int(0)).transpose()?;
        }
        return Ok(o_ids);
    }
    wave.call(&OLDEST_OF_ALL, &[w_id.into()]);
    let [oldest] = session.send(&wave).await?;
    for row in oldest.rows() {
        o_ids[district_index(row.int(0)?)?] = row.opt_int(1)?;
    }
    Ok(o_ids)
}

/// At levels that don't refuse it, another Delivery may have taken an order first: that is a conflict, not a skip.
fn expect_taken(taken: u64, expected: usize) -> Result<(), Error> {
    if taken == expected as u64 {
        return Ok(());
    }
    Err(Error::new(Class::Retry, None, format!("{taken} of {expected} orders were still there to deliver")))
}

/// Every order has five lines or more: one without any is a defect of the data (2.3.6).
fn without_lines(d_id: i32, o_id: i32) -> Error {
    Error::integrity(format!("order {o_id} of district {d_id} has no lines"))
}

pub(super) fn district_index(d_id: i32) -> Result<usize, Error> {
    let index = usize::try_from(d_id - 1).ok().filter(|index| *index < DISTRICTS_PER_WAREHOUSE as usize);
    index.ok_or_else(|| Error::integrity(format!("district {d_id}")))
}
