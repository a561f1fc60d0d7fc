//! New-Order (2.4).

use ::tpcc::UNUSED_ITEM;
use ::tpcc::input::{Line, NewOrder};
use ::tpcc::money::{Cents, Rate, total_amount};
use ::tpcc::text::Text;
use target::null_reply::Column;
use target::null_reply::Kind::{Char, Int, Numeric, SmallInt, Timestamp, Varchar};
use target::null_reply::Reply;
use target::{Access, Answer, Decimal, Error, Isolation, Session, Statement, StatementBatch, Value};

use super::customer::{CREDIT, LAST};
use super::plan::{Update, step};
use super::{rate, text};

/// Columns that the null target answers with, at usual lengths.
const PRICE: Column = Column::decimal(5050, 2);
const NAME: Column = Column::text(Varchar, "vMwDdYgfCSgyWeWErT");
const DATA: Column = Column::text(Varchar, "SpfowHPpCJyPWLAOyYfyAKGFRDVXlMhcDpVfEb");
const QUANTITY: Column = Column::int(SmallInt, 55);
const DIST: Column = Column::text(Char, "kqHYTjiDnfEBDXLvdjbRCTaQ");
const STOCK_ROW: &[Column] = &[Column::per_row(Int, 1), Column::per_row(Int, 2), QUANTITY, DATA, DIST];
/// The item for which the null target has no row.
const UNUSED: i64 = UNUSED_ITEM as i64;

static WAREHOUSE: Statement =
    Statement::new("new_order.warehouse", "SELECT w_tax, LOCALTIMESTAMP FROM warehouse WHERE w_id = $1")
        .takes(&[Int])
        .replies(Reply::rows(1, &[Column::decimal(1000, 4), Column::now()]));
/// Reads warehouse and customer in one statement.
static ENTRY: Statement = Statement::new(
    "new_order.entry",
    "SELECT w_tax, c_discount, c_last, c_credit, LOCALTIMESTAMP FROM warehouse, customer \
     WHERE w_id = $1 AND c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::rows(1, &[Column::decimal(1000, 4), Column::decimal(2500, 4), LAST, CREDIT, Column::now()]));
static CUSTOMER: Statement = Statement::new(
    "new_order.customer",
    "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::rows(1, &[Column::decimal(2500, 4), LAST, CREDIT]));
static DISTRICT_READ: Statement = Statement::new(
    "new_order.district_read",
    "SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2 FOR UPDATE",
)
.takes(&[Int, SmallInt])
.replies(Reply::rows(1, &[Column::decimal(1000, 4), Column::int(Int, 3001)]));
static DISTRICT_WRITE: Statement = Statement::new(
    "new_order.district_write",
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2",
)
.takes(&[Int, SmallInt]);
static DISTRICT: Statement = Statement::new(
    "new_order.district",
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2 RETURNING d_tax, d_next_o_id - 1",
).takes(&[Int, SmallInt]).replies(Reply::rows(1, &[Column::decimal(1000, 4), Column::int(Int, 3001)]));
static ORDER: Statement = Statement::new(
    "new_order.order",
    "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) \
     VALUES ($1, $2, $3, $4, $5, NULL, $6, $7)",
)
.takes(&[Int, SmallInt, Int, Int, Timestamp, SmallInt, SmallInt]);
static NEW_ORDER: Statement =
    Statement::new("new_order.new_order", "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES ($1, $2, $3)")
        .takes(&[Int, SmallInt, Int]);
static ITEM: Statement =
    Statement::new("new_order.item", "SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id = $1")
        .takes(&[Int])
        .replies(Reply::each(1, &[Column::fixed(Int, 1), PRICE, NAME, DATA]).without(1, UNUSED));
static ITEMS: Statement = Statement::multi_row(
    "new_order.items",
    "SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({#1})",
    5,
    15,
)
.takes_a_row(&[Int])
.replies(Reply::each(1, &[Column::per_row(Int, 1), PRICE, NAME, DATA]).without(1, UNUSED));
static STOCK_READ: Statement = Statement::new(
    "new_order.stock_read",
    "SELECT s_quantity, s_data, CASE CAST($3 AS INTEGER) WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 \
     WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 \
     WHEN 9 THEN s_dist_09 ELSE s_dist_10 END FROM stock WHERE s_w_id = $1 AND s_i_id = $2 FOR UPDATE",
).takes(&[Int, Int, Int]).replies(Reply::rows(1, &[QUANTITY, DATA, DIST]));
static STOCK_WRITE: Statement = Statement::new(
    "new_order.stock_write",
    "UPDATE stock SET s_quantity = $3, s_ytd = s_ytd + $4, s_order_cnt = s_order_cnt + 1, \
     s_remote_cnt = s_remote_cnt + $5 WHERE s_w_id = $1 AND s_i_id = $2",
)
.takes(&[Int, Int, SmallInt, Int, Int]);
/// Updates a row once however often it is listed, so an item that an order repeats needs a call for each line.
static STOCK: Statement = Statement::multi_row(
    "new_order.stock",
    "WITH line(w_id, i_id, quantity, remote) AS (VALUES {(CAST(#1 AS INTEGER), CAST(#2 AS INTEGER), \
     CAST(#3 AS INTEGER), CAST(#4 AS INTEGER))}) \
     UPDATE stock SET s_quantity = CASE WHEN s_quantity - quantity >= 10 THEN s_quantity - quantity \
     ELSE s_quantity - quantity + 91 END, \
     s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + remote \
     FROM line WHERE s_w_id = w_id AND s_i_id = i_id \
     RETURNING s_w_id, s_i_id, s_quantity, s_data, CASE CAST($1 AS INTEGER) WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 \
     WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 \
     WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END",
    4,
    15,
).takes(&[Int]).takes_a_row(&[Int, Int, Int, Int]).replies(Reply::each(1, STOCK_ROW));
static STOCKS_READ: Statement = Statement::multi_row(
    "new_order.stocks_read",
    "SELECT s_w_id, s_i_id, s_quantity, s_data, CASE CAST($1 AS INTEGER) WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 \
     WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 \
     WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END \
     FROM stock WHERE (s_w_id, s_i_id) IN ({(#1, #2)}) FOR UPDATE",
    4,
    15,
)
.takes(&[Int])
.takes_a_row(&[Int, Int])
.replies(Reply::each(1, STOCK_ROW));
static STOCKS_READ_PLAIN: Statement = Statement::multi_row(
    "new_order.stocks_read_plain",
    "SELECT s_w_id, s_i_id, s_quantity, s_data, CASE CAST($1 AS INTEGER) WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 \
     WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 \
     WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END \
     FROM stock WHERE {(s_w_id = #1 AND s_i_id = #2)| OR } FOR UPDATE",
    4,
    15,
)
.takes(&[Int])
.takes_a_row(&[Int, Int])
.replies(Reply::each(1, STOCK_ROW));
static STOCK_UPDATE: Statement = Statement::new(
    "new_order.stock_update",
    "UPDATE stock SET s_quantity = CASE WHEN s_quantity - $3 >= 10 THEN s_quantity - $3 ELSE s_quantity - $3 + 91 END, \
     s_ytd = s_ytd + $3, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $4 \
     WHERE s_w_id = $1 AND s_i_id = $2",
)
.takes(&[Int, Int, Int, Int]);
static STOCKS_WRITE: Statement = Statement::multi_row(
    "new_order.stocks_write",
    "UPDATE stock JOIN ({SELECT CAST(#1 AS INTEGER) AS w_id, CAST(#2 AS INTEGER) AS i_id, CAST(#3 AS INTEGER) AS quantity, \
     CAST(#4 AS INTEGER) AS remote| UNION ALL }) AS line ON s_w_id = w_id AND s_i_id = i_id \
     SET s_quantity = CASE WHEN s_quantity - quantity >= 10 THEN s_quantity - quantity \
     ELSE s_quantity - quantity + 91 END, \
     s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + remote",
    4,
    15,
).takes_a_row(&[Int, Int, Int, Int]);
static ORDER_LINES: Statement = Statement::multi_row(
    "new_order.order_lines",
    "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, \
     ol_quantity, ol_amount, ol_dist_info) VALUES {($1, $2, $3, #1, #2, #3, NULL, #4, #5, #6)}",
    1,
    15,
)
.takes(&[Int, SmallInt, Int])
.takes_a_row(&[SmallInt, Int, Int, SmallInt, Numeric, Char]);

/// I_DATA and S_DATA of a brand item both contain this text.
const ORIGINAL: &str = "ORIGINAL";

step! {
    /// The statements of New-Order.
    enum Plan {
        /// One row a statement.
        Row { row: Row },
        /// All lines in a statement.
        Batch { batch: Batch },
    }
}
step! {
    struct Row {
        warehouse,
        district_read,
        district_write,
        customer,
        inserts: Inserts,
        item,
        stock_read,
        stock_write,
        order_lines,
    }
}
step! {
    struct Batch { entry, district: Update, inserts: Inserts, items, stocks: Stocks, order_lines }
}
step! {
    /// Step 4 of the profile: ORDER and NEW-ORDER.
    struct Inserts { order, new_order }
}
step! {
    /// How the stock of all lines is updated and read.
    enum Stocks {
        /// One statement does both.
        Returning { update },
        /// One statement reads, one writes.
        Join { read, write },
        /// One statement reads, and each line has a write.
        OneByOne { read, write },
    }
}

const INSERTS: Inserts = Inserts { order: &ORDER, new_order: &NEW_ORDER };
const DISTRICT_APART: Update = Update::Apart { read: &DISTRICT_READ, write: &DISTRICT_WRITE };

pub(super) const ROW: Plan = Plan::Row {
    row: Row {
        warehouse: &WAREHOUSE,
        district_read: &DISTRICT_READ,
        district_write: &DISTRICT_WRITE,
        customer: &CUSTOMER,
        inserts: INSERTS,
        item: &ITEM,
        stock_read: &STOCK_READ,
        stock_write: &STOCK_WRITE,
        order_lines: &ORDER_LINES,
    },
};
pub(super) const RETURNING: Plan =
    in_batches(Update::Returning { update: &DISTRICT }, Stocks::Returning { update: &STOCK });
pub(super) const JOIN: Plan = in_batches(DISTRICT_APART, Stocks::Join { read: &STOCKS_READ, write: &STOCKS_WRITE });
pub(super) const ONE_BY_ONE: Plan =
    in_batches(DISTRICT_APART, Stocks::OneByOne { read: &STOCKS_READ_PLAIN, write: &STOCK_UPDATE });

/// The dialects differ only in how they update the district and the stocks.
const fn in_batches(district: Update, stocks: Stocks) -> Plan {
    Plan::Batch {
        batch: Batch { entry: &ENTRY, district, inserts: INSERTS, items: &ITEMS, stocks, order_lines: &ORDER_LINES },
    }
}

/// What New-Order shows (2.4.3.3); rolled back, only the header up to `o_id` counts (2.4.3.4).
#[derive(Clone, Debug, PartialEq)]
pub struct NewOrderOutput {
    /// Whether the unused item number rolled it back: `Item number is not valid`.
    pub rolled_back: bool,
    /// `O_ID`; of a rolled-back order the proof that the work was done.
    pub o_id: i32,
    /// `C_LAST`.
    pub c_last: Text<16>,
    /// `C_CREDIT`.
    pub c_credit: Text<2>,
    /// `C_DISCOUNT` in ten-thousandths.
    pub c_discount: Rate,
    /// `W_TAX` in ten-thousandths.
    pub w_tax: Rate,
    /// `D_TAX` in ten-thousandths.
    pub d_tax: Rate,
    /// `O_ENTRY_D` in microseconds since the Unix epoch.
    pub o_entry_d_us: i64,
    /// The order's total with discount and taxes, in cents.
    pub total: Cents,
    /// The valid lines in the order they were entered.
    pub lines: Vec<OrderedLine>,
}

/// A line as shown (2.4.3.3), with the column that goes into ORDER-LINE.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderedLine {
    /// What was ordered.
    pub line: Line,
    /// `I_NAME`.
    pub i_name: Text<24>,
    /// `I_PRICE` in cents.
    pub i_price: Cents,
    /// `OL_AMOUNT` = quantity × price, in cents; no tax, no discount.
    pub amount: Cents,
    /// The new `S_QUANTITY` (2.2.2.5).
    pub s_quantity: i32,
    /// Brand-generic `B`: both `I_DATA` and `S_DATA` contain `ORIGINAL`.
    pub brand: bool,
    /// `S_DIST_xx` of the order's district.
    pub dist_info: Text<24>,
}

/// In style `row`, New-Order first sends this statement after it has read the first item and no other (3.4.2.7).
pub(super) const AFTER_FIRST_ITEM: &str = "new_order.stock_read";

/// The item of a line.
struct Item {
    price: Cents,
    name: Text<24>,
    original: bool,
}

/// The stock of a line after its update.
struct Stock {
    quantity: i32,
    original: bool,
    dist_info: Text<24>,
}

pub(super) async fn run(
    session: &mut Session,
    plan: &Plan,
    isolation: Isolation,
    input: &NewOrder,
) -> Result<NewOrderOutput, Error> {
    session.begin(isolation, Access::ReadWrite);
    let mut order = match plan {
        Plan::Row { row } => by_rows(session, row, input).await?,
        Plan::Batch { batch } => in_batch(session, batch, input).await?,
    };
    let sum = order.lines.iter().map(|line| line.amount).sum();
    order.total = total_amount(sum, order.c_discount, order.w_tax, order.d_tax);
    Ok(order)
}

/// Commits, or rolls back an order with the unused item after all its other work (2.4.2.3).
async fn end(session: &mut Session, input: &NewOrder, order: &mut NewOrderOutput) -> Result<(), Error> {
    // Only the unused item, the last one, can be missing here.
    order.rolled_back = order.lines.len() < input.lines.len();
    if order.rolled_back { session.rollback().await } else { session.commit().await }
}

/// Runs the profile with one row a statement.
async fn by_rows(session: &mut Session, plan: &Row, input: &NewOrder) -> Result<NewOrderOutput, Error> {
    let mut order = open_by_rows(session, plan, input).await?;
    let mut batch = StatementBatch::new();
    insert_order(&mut batch, plan.inserts, input, &order);
    let [inserted, queued] = session.send(&batch).await?;
    inserted.expect_affected(1)?;
    queued.expect_affected(1)?;
    order.lines = lines_by_rows(session, plan, input, order.o_id).await?;
    end(session, input, &mut order).await?;
    Ok(order)
}

/// Runs the profile in three batches, whatever the number of lines; an item that repeats takes one more.
async fn in_batch(session: &mut Session, plan: &Batch, input: &NewOrder) -> Result<NewOrderOutput, Error> {
    let (mut order, items) = open_in_batch(session, plan, input).await?;
    let mut found = Vec::with_capacity(input.lines.len());
    for line in input.lines.iter() {
        if let Some(item) = find_item(&items, line)? {
            found.push((line, item));
        }
    }
    let lines: Vec<&Line> = found.iter().map(|(line, _)| *line).collect();
    let stocks = update_stocks(session, plan, input, &order, &lines).await?;
    order.lines = found.into_iter().zip(stocks).map(|((line, item), stock)| show(line, item, stock)).collect();

    let mut batch = StatementBatch::new();
    insert_lines(&mut batch, plan.order_lines, input, order.o_id, 1, &order.lines);
    order.rolled_back = order.lines.len() < input.lines.len();
    let [inserted] = if order.rolled_back {
        let inserted = session.send(&batch).await?;
        session.rollback().await?;
        inserted
    } else {
        // An INSERT stores all of its rows or fails.
        session.send_and_commit(&batch).await?
    };
    inserted.expect_affected(order.lines.len())?;
    Ok(order)
}

/// Runs steps 1 to 3 of the profile with one row a statement.
async fn open_by_rows(session: &mut Session, plan: &Row, input: &NewOrder) -> Result<NewOrderOutput, Error> {
    let w = input.w_id.into();
    let d = input.d_id.into();
    let mut batch = StatementBatch::new();
    batch.call(plan.warehouse, &[w]).call(plan.district_read, &[w, d]).call(plan.district_write, &[w, d]);
    batch.call(plan.customer, &[w, d, input.c_id.into()]);
    let [warehouse, district, district_write, customer] = session.send(&batch).await?;
    district_write.expect_affected(1)?;
    let warehouse = warehouse.only()?;
    let district = district.only()?;
    let customer = customer.only()?;
    Ok(NewOrderOutput {
        rolled_back: false,
        o_id: district.int(1)?,
        c_last: text(customer, 1)?,
        c_credit: text(customer, 2)?,
        c_discount: rate(customer, 0)?,
        w_tax: rate(warehouse, 0)?,
        d_tax: rate(district, 0)?,
        o_entry_d_us: warehouse.timestamp(1)?,
        total: 0,
        lines: Vec::new(),
    })
}

/// Runs steps 1 to 3 of the profile and reads the items of all lines.
async fn open_in_batch(
    session: &mut Session,
    plan: &Batch,
    input: &NewOrder,
) -> Result<(NewOrderOutput, Answer), Error> {
    let w = input.w_id.into();
    let d = input.d_id.into();
    let mut batch = StatementBatch::new();
    // The district comes last because this locks its row.
    batch.call(plan.entry, &[w, d, input.c_id.into()]);
    batch.call_rows(plan.items, &[], input.lines.iter().map(|line| [line.i_id.into()]));
    let [entry, items, district] = match plan.district {
        Update::Returning { update } => {
            batch.call(update, &[w, d]);
            session.send(&batch).await?
        }
        Update::Apart { read, write } => {
            batch.call(read, &[w, d]).call(write, &[w, d]);
            let [entry, items, district, district_write] = session.send(&batch).await?;
            district_write.expect_affected(1)?;
            [entry, items, district]
        }
    };
    let entry = entry.only()?;
    let district = district.only()?;
    let order = NewOrderOutput {
        rolled_back: false,
        o_id: district.int(1)?,
        c_last: text(entry, 2)?,
        c_credit: text(entry, 3)?,
        c_discount: rate(entry, 1)?,
        w_tax: rate(entry, 0)?,
        d_tax: rate(district, 0)?,
        o_entry_d_us: entry.timestamp(4)?,
        total: 0,
        lines: Vec::new(),
    };
    Ok((order, items))
}

/// Adds step 4 of the profile: the inserts into ORDER and NEW-ORDER.
fn insert_order(batch: &mut StatementBatch<'_>, inserts: Inserts, input: &NewOrder, order: &NewOrderOutput) {
    let w = input.w_id.into();
    let d = input.d_id.into();
    let o = order.o_id.into();
    let ol_cnt = Value::Int(input.lines.len() as i64);
    let all_local = i32::from(input.all_local()).into();
    // The time that is shown, by the server's clock (2.4.1.6).
    let entry_d = Value::Timestamp(order.o_entry_d_us);
    batch.call(inserts.order, &[w, d, o, input.c_id.into(), entry_d, ol_cnt, all_local]);
    batch.call(inserts.new_order, &[w, d, o]);
}

/// Runs step 5 of the profile line by line. Ends early at the unused item.
async fn lines_by_rows(
    session: &mut Session,
    plan: &Row,
    input: &NewOrder,
    o_id: i32,
) -> Result<Vec<OrderedLine>, Error> {
    let mut ordered = Vec::with_capacity(input.lines.len());
    for line in input.lines.iter() {
        let mut batch = StatementBatch::new();
        batch.call(plan.item, &[line.i_id.into()]);
        let [item] = session.send(&batch).await?;
        let Some(item) = find_item(&item, line)? else { break };

        let key = [line.supply_w_id.into(), line.i_id.into()];
        let mut batch = StatementBatch::new();
        batch.call(plan.stock_read, &[key[0], key[1], input.d_id.into()]);
        let [stock] = session.send(&batch).await?;
        let row = stock.only()?;
        let quantity = quantity_after(row.int(0)?, line.quantity);
        let stock = Stock { quantity, original: row.text(1)?.contains(ORIGINAL), dist_info: text(row, 2)? };

        let remote = i32::from(line.supply_w_id != input.w_id);
        let mut batch = StatementBatch::new();
        batch.call(plan.stock_write, &[key[0], key[1], quantity.into(), line.quantity.into(), remote.into()]);
        ordered.push(show(line, item, stock));
        insert_lines(&mut batch, plan.order_lines, input, o_id, ordered.len(), &ordered[ordered.len() - 1..]);
        let [written, inserted] = session.send(&batch).await?;
        written.expect_affected(1)?;
        inserted.expect_affected(1)?;
    }
    Ok(ordered)
}

/// Finds the item of a line; `None` for the unused item.
fn find_item(answer: &Answer, line: &Line) -> Result<Option<Item>, Error> {
    for row in answer.rows() {
        if row.int(0)? == line.i_id {
            let original = row.text(3)?.contains(ORIGINAL);
            return Ok(Some(Item { price: row.cents(1)?, name: text(row, 2)?, original }));
        }
    }
    if line.i_id == UNUSED_ITEM {
        return Ok(None);
    }
    Err(Error::integrity(format!("item {} is missing from the item table", line.i_id)))
}

/// Runs step 4 of the profile, and updates and reads the stock of all lines. Returns the stocks in the order of the lines.
async fn update_stocks(
    session: &mut Session,
    plan: &Batch,
    input: &NewOrder,
    order: &NewOrderOutput,
    lines: &[&Line],
) -> Result<Vec<Stock>, Error> {
    let mut stocks: Vec<Option<Stock>> = lines.iter().map(|_| None).collect();
    let mut open: Vec<usize> = (0..lines.len()).collect();
    // Two orders that lock stocks in the order of the key can't deadlock.
    open.sort_by_key(|&at| (lines[at].supply_w_id, lines[at].i_id, at));
    let mut inserts_order = true;
    while !open.is_empty() {
        // An item that repeats waits for the next round: its second line must see the first line's update.
        let same = |a: usize, b: usize| (lines[a].supply_w_id, lines[a].i_id) == (lines[b].supply_w_id, lines[b].i_id);
        let mut round: Vec<usize> = Vec::with_capacity(open.len());
        let mut later = Vec::new();
        for at in open {
            let repeats = round.last().is_some_and(|&last| same(last, at));
            if repeats { later.push(at) } else { round.push(at) }
        }
        let mut batch = StatementBatch::new();
        if inserts_order {
            insert_order(&mut batch, plan.inserts, input, order);
        }
        let rows = round.iter().map(|&at| {
            let line = lines[at];
            let remote = i32::from(line.supply_w_id != input.w_id);
            [line.supply_w_id.into(), line.i_id.into(), line.quantity.into(), remote.into()]
        });
        let keys = round.iter().map(|&at| [lines[at].supply_w_id.into(), lines[at].i_id.into()]);
        match plan.stocks {
            Stocks::Returning { update } => batch.call_rows(update, &[input.d_id.into()], rows),
            Stocks::Join { read, write } => {
                batch.call_rows(read, &[input.d_id.into()], keys).call_rows(write, &[], rows)
            }
            Stocks::OneByOne { read, write } => {
                batch.call_rows(read, &[input.d_id.into()], keys);
                rows.fold(&mut batch, |batch, row| batch.call(write, &row))
            }
        };
        let mut answers = session.send_all(&batch).await?.into_iter();
        if std::mem::take(&mut inserts_order) {
            answers.by_ref().take(2).try_for_each(|inserted| inserted.expect_affected(1))?;
        }
        let answer = answers.next().ok_or_else(|| Error::integrity("an answer is missing"))?;
        answer.expect_affected(round.len())?;
        if answers.len() > 0 {
            let written: u64 = answers.map(|written| written.affected()).sum();
            if written != round.len() as u64 {
                return Err(Error::integrity(format!("{written} stocks changed where {} must be", round.len())));
            }
        }
        for row in answer.rows() {
            let key = (row.int(0)?, row.int(1)?);
            let at = round.iter().find(|&&at| (lines[at].supply_w_id, lines[at].i_id) == key);
            let at = *at.ok_or_else(|| Error::integrity(format!("stock {key:?} was updated unasked")))?;
            let original = row.text(3)?.contains(ORIGINAL);
            let quantity = match plan.stocks {
                Stocks::Returning { .. } => row.int(2)?,
                // The batch reads the stock before it writes it.
                Stocks::Join { .. } | Stocks::OneByOne { .. } => quantity_after(row.int(2)?, lines[at].quantity),
            };
            stocks[at] = Some(Stock { quantity, original, dist_info: text(row, 4)? });
        }
        open = later;
    }
    stocks.into_iter().map(|stock| stock.ok_or_else(|| Error::integrity("a line's stock was not updated"))).collect()
}

/// S_QUANTITY after a line of `quantity` (2.4.2.2), always within 10..=100.
fn quantity_after(s_quantity: i32, quantity: i32) -> i32 {
    if s_quantity - quantity >= 10 { s_quantity - quantity } else { s_quantity - quantity + 91 }
}

fn show(line: &Line, item: Item, stock: Stock) -> OrderedLine {
    OrderedLine {
        line: *line,
        i_name: item.name,
        i_price: item.price,
        amount: Cents::from(line.quantity) * item.price,
        s_quantity: stock.quantity,
        brand: item.original && stock.original,
        dist_info: stock.dist_info,
    }
}

/// Adds the insert of `lines`, the first of which is line number `first` of its order.
fn insert_lines<'a>(
    batch: &mut StatementBatch<'a>,
    order_lines: &'static Statement,
    input: &NewOrder,
    o_id: i32,
    first: usize,
    lines: &'a [OrderedLine],
) {
    let order = [input.w_id.into(), input.d_id.into(), o_id.into()];
    let rows = lines.iter().enumerate().map(|(at, shown)| {
        let line = &shown.line;
        let number = Value::Int((first + at) as i64);
        let amount = Decimal::cents(shown.amount).into();
        let dist_info = shown.dist_info.as_str().into();
        [number, line.i_id.into(), line.supply_w_id.into(), line.quantity.into(), amount, dist_info]
    });
    batch.call_rows(order_lines, &order, rows);
}

#[cfg(test)]
mod tests {
    use super::quantity_after;

    /// The vectors rule out `S > q` (Appendix A) and a restock of 91 that ignores the quantity.
    #[test]
    fn stock_quantity_follows_the_clause() {
        let vectors =
            [(20, 10, 10), (19, 10, 100), (10, 1, 100), (10, 10, 91), (100, 10, 90), (14, 5, 100), (15, 5, 10)];
        for (before, quantity, after) in vectors {
            assert_eq!(quantity_after(before, quantity), after);
        }
        for before in 10..=100 {
            for quantity in 1..=10 {
                assert!((10..=100).contains(&quantity_after(before, quantity)));
            }
        }
    }
}
