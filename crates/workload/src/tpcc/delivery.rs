//! The deferred part of Delivery (2.7.4).

use ::tpcc::DISTRICTS_PER_WAREHOUSE;
use ::tpcc::input::Delivery;
use ::tpcc::money::Cents;
use target::null_reply::Column;
use target::null_reply::Kind::{Int, Numeric, SmallInt};
use target::null_reply::Reply;
use target::{Access, Class, Decimal, Error, Isolation, Session, Statement, StatementBatch, Value};

use super::plan::step;

/// Columns that the null target answers with; an order has ten lines on average.
pub(super) const AMOUNT: Column = Column::decimal(2525, 2);
const LINES_AN_ORDER: usize = 10;
const ORDER_ROW: &[Column] = &[Column::per_row(SmallInt, 1), Column::int(Int, 1)];
const LINE_ROW: &[Column] = &[Column::per_row(SmallInt, 1), AMOUNT];

/// Takes no lock: on TiDB a locking read ignores the snapshot, so that a new order could appear (3.4.2.8). If another
/// Delivery takes the order first, this one notices when it deletes the row.
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

step! {
    /// The statements of Delivery.
    enum Plan {
        /// One row a statement.
        Row { row: Row },
        /// All districts in a statement.
        Batch { batch: Batch },
    }
}
step! {
    struct Row { oldest, take, order_read, order_write, lines_read, lines_write, customer }
}
step! {
    struct Batch { oldest: Districts, take, updates: Updates, customers: Districts }
}
step! {
    /// How the rows of all districts are read or written.
    enum Districts {
        /// By one statement.
        Together { statement },
        /// By a statement for each district.
        Each { statement },
    }
}
step! {
    /// How the orders and their lines are written and read.
    enum Updates {
        /// One statement does both.
        Returning { orders, lines },
        /// One statement writes, one reads.
        Apart { orders_write, orders_read, lines_write, lines_read },
    }
}

const UPDATES_APART: Updates = Updates::Apart {
    orders_write: &ORDERS_WRITE,
    orders_read: &ORDERS_READ,
    lines_write: &ALL_LINES_WRITE,
    lines_read: &ALL_LINES_READ,
};

pub(super) const ROW: Plan = Plan::Row {
    row: Row {
        oldest: &OLDEST,
        take: &TAKE,
        order_read: &ORDER_READ,
        order_write: &ORDER_WRITE,
        lines_read: &LINES_READ,
        lines_write: &LINES_WRITE,
        customer: &CUSTOMER,
    },
};
pub(super) const RETURNING: Plan = in_batches(
    Districts::Together { statement: &OLDEST_OF_ALL },
    Updates::Returning { orders: &ORDERS, lines: &LINES },
    Districts::Together { statement: &CUSTOMERS },
);
pub(super) const JOIN: Plan = in_batches(
    Districts::Together { statement: &OLDEST_OF_ALL },
    UPDATES_APART,
    Districts::Together { statement: &CUSTOMERS_JOIN },
);
pub(super) const ONE_BY_ONE: Plan =
    in_batches(Districts::Each { statement: &OLDEST }, UPDATES_APART, Districts::Each { statement: &CUSTOMER });

const fn in_batches(oldest: Districts, updates: Updates, customers: Districts) -> Plan {
    Plan::Batch { batch: Batch { oldest, take: &TAKE, updates, customers } }
}

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

/// Runs one database transaction for the ten districts (2.7.4.2 allows one to ten), so that a retry starts over.
pub(super) async fn run(
    session: &mut Session,
    plan: &Plan,
    isolation: Isolation,
    input: &Delivery,
) -> Result<Delivered, Error> {
    session.begin(isolation, Access::ReadWrite);
    let delivered = match plan {
        Plan::Row { row } => by_rows(session, row, input).await?,
        Plan::Batch { batch } => in_batch(session, batch, input).await?,
    };
    session.commit().await?;
    Ok(delivered)
}

/// Delivers district by district, with one row a statement.
async fn by_rows(session: &mut Session, plan: &Row, input: &Delivery) -> Result<Delivered, Error> {
    let mut delivered = Delivered::default();
    for (o_id, d_id) in delivered.o_ids.iter_mut().zip(1..) {
        *o_id = deliver_district(session, plan, input, d_id).await?;
    }
    Ok(delivered)
}

async fn deliver_district(
    session: &mut Session,
    plan: &Row,
    input: &Delivery,
    d_id: i32,
) -> Result<Option<i32>, Error> {
    let w = input.w_id.into();
    let d = d_id.into();
    let mut batch = StatementBatch::new();
    batch.call(plan.oldest, &[w, d]);
    let [oldest] = session.send(&batch).await?;
    let Some(oldest) = oldest.get(0) else { return Ok(None) };
    let o_id = oldest.int(0)?;
    let key = [w, d, o_id.into()];

    let mut batch = StatementBatch::new();
    batch.call_rows(plan.take, &[w], [[d, o_id.into()]].into_iter());
    // Writes come before reads: a snapshot older than the order shows the order once this transaction has written it.
    batch.call(plan.order_write, &[w, d, o_id.into(), input.carrier_id.into()]);
    batch.call(plan.order_read, &key);
    batch.call(plan.lines_write, &key);
    batch.call(plan.lines_read, &key);
    let [taken, order_write, order, lines_write, lines] = session.send(&batch).await?;
    expect_taken(taken.affected(), 1)?;
    order_write.expect_affected(1)?;
    lines_write.expect_affected(lines.len())?;
    if lines.is_empty() {
        return Err(without_lines(d_id, o_id));
    }
    let amount: Cents = lines.rows().map(|row| row.cents(1)).sum::<Result<_, _>>()?;

    let mut batch = StatementBatch::new();
    batch.call(plan.customer, &[w, d, order.only()?.int(1)?.into(), Decimal::cents(amount).into()]);
    let [customer] = session.send(&batch).await?;
    customer.expect_affected(1)?;
    Ok(Some(o_id))
}

/// Delivers all districts at once, with one statement for each step.
async fn in_batch(session: &mut Session, plan: &Batch, input: &Delivery) -> Result<Delivered, Error> {
    let w = input.w_id.into();
    let delivered = Delivered { o_ids: oldest_orders(session, plan.oldest, input.w_id).await? };
    let found = delivered.o_ids.iter().zip(1..).filter_map(|(o_id, d_id)| Some((d_id, (*o_id)?)));
    let orders: Vec<[Value<'_>; 2]> = found.map(|(d_id, o_id): (i32, i32)| [d_id.into(), o_id.into()]).collect();
    if orders.is_empty() {
        return Ok(delivered);
    }

    let carrier = [w, input.carrier_id.into()];
    let mut batch = StatementBatch::new();
    batch.call_rows(plan.take, &[w], orders.iter().copied());
    let [taken, updated, lines] = match plan.updates {
        Updates::Returning { orders: orders_update, lines: lines_update } => {
            batch.call_rows(orders_update, &carrier, orders.iter().copied());
            batch.call_rows(lines_update, &[w], orders.iter().copied());
            session.send(&batch).await?
        }
        Updates::Apart { orders_write, orders_read, lines_write, lines_read } => {
            batch.call_rows(orders_write, &carrier, orders.iter().copied());
            batch.call_rows(orders_read, &[w], orders.iter().copied());
            batch.call_rows(lines_write, &[w], orders.iter().copied());
            batch.call_rows(lines_read, &[w], orders.iter().copied());
            let [taken, orders_write, updated, lines_write, lines] = session.send(&batch).await?;
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

    let mut batch = StatementBatch::new();
    match plan.customers {
        Districts::Together { statement } => batch.call_rows(statement, &[w], customers.into_iter()),
        Districts::Each { statement } => {
            customers.into_iter().fold(&mut batch, |batch, [d, c, amount]| batch.call(statement, &[w, d, c, amount]))
        }
    };
    let paid: u64 = session.send_all(&batch).await?.iter().map(|answer| answer.affected()).sum();
    if paid != orders.len() as u64 {
        return Err(Error::integrity(format!("{paid} customers were paid for {} orders", orders.len())));
    }
    Ok(delivered)
}

/// Finds the oldest undelivered order of each district.
async fn oldest_orders(
    session: &mut Session,
    oldest: Districts,
    w_id: i32,
) -> Result<[Option<i32>; DISTRICTS_PER_WAREHOUSE as usize], Error> {
    let mut o_ids = [None; DISTRICTS_PER_WAREHOUSE as usize];
    let mut batch = StatementBatch::new();
    match oldest {
        Districts::Together { statement } => {
            batch.call(statement, &[w_id.into()]);
            let [oldest] = session.send(&batch).await?;
            for row in oldest.rows() {
                o_ids[district_index(row.int(0)?)?] = row.opt_int(1)?;
            }
        }
        Districts::Each { statement } => {
            for d_id in 1..=DISTRICTS_PER_WAREHOUSE {
                batch.call(statement, &[w_id.into(), d_id.into()]);
            }
            for (answer, o_id) in session.send_all(&batch).await?.iter().zip(&mut o_ids) {
                *o_id = answer.get(0).map(|row| row.int(0)).transpose()?;
            }
        }
    }
    Ok(o_ids)
}

/// At weak isolation levels another Delivery may take an order first: that is a conflict, not a skip.
fn expect_taken(taken: u64, expected: usize) -> Result<(), Error> {
    if taken == expected as u64 {
        return Ok(());
    }
    Err(Error::new(Class::Retry, None, format!("{taken} of {expected} orders were still there to deliver")))
}

/// Every order has at least five lines: an order without lines is an integrity error (2.3.6).
fn without_lines(d_id: i32, o_id: i32) -> Error {
    Error::integrity(format!("order {o_id} of district {d_id} has no lines"))
}

pub(super) fn district_index(d_id: i32) -> Result<usize, Error> {
    let index = usize::try_from(d_id - 1).ok().filter(|index| *index < DISTRICTS_PER_WAREHOUSE as usize);
    index.ok_or_else(|| Error::integrity(format!("district {d_id}")))
}
