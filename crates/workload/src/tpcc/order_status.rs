//! Order-Status (2.6).

use ::tpcc::input::{CustomerBy, OrderStatus};
use ::tpcc::money::Cents;
use ::tpcc::text::Text;
use target::null_reply::Column;
use target::null_reply::Kind::{Int, SmallInt, Timestamp};
use target::null_reply::Reply;
use target::{Access, Error, Isolation, Row, Session, Statement, StatementBatch, Value};

use super::customer::{BALANCE, FIRST, LAST, MIDDLE};
use super::delivery::AMOUNT;
use super::plan::step;
use super::{customer, text};

static CUSTOMER: Statement = Statement::new(
    "order_status.customer",
    "SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::rows(1, &[Column::fixed(Int, 3), BALANCE, FIRST, MIDDLE, LAST]));
pub(super) static LAST_ORDER: Statement = Statement::new(
    "order_status.last_order",
    "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 \
     ORDER BY o_id DESC LIMIT 1",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::rows(1, &[Column::int(Int, 3000), Column::now(), Column::null(SmallInt)]));
static LINES: Statement = Statement::new(
    "order_status.lines",
    "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
     WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
)
.takes(&[Int, SmallInt, Int])
.replies(Reply::rows(
    10,
    &[Column::number(Int), Column::fixed(Int, 1), Column::int(SmallInt, 5), AMOUNT, Column::null(Timestamp)],
));

step! {
    /// The statements of Order-Status, the same in every style and dialect.
    struct Plan { customer, by_name, last_order, lines }
}

pub(super) const PLAN: Plan =
    Plan { customer: &CUSTOMER, by_name: &customer::BY_NAME, last_order: &LAST_ORDER, lines: &LINES };

/// What Order-Status shows (2.6.3.3).
#[derive(Clone, Debug, PartialEq)]
pub struct OrderStatusOutput {
    /// `C_ID`, found by name or entered.
    pub c_id: i32,
    /// `C_BALANCE` in cents.
    pub c_balance: Cents,
    /// `C_FIRST`.
    pub c_first: Text<16>,
    /// `C_MIDDLE`.
    pub c_middle: Text<2>,
    /// `C_LAST`.
    pub c_last: Text<16>,
    /// `O_ID` of the customer's latest order.
    pub o_id: i32,
    /// `O_ENTRY_D` in microseconds since the Unix epoch.
    pub o_entry_d_us: i64,
    /// `O_CARRIER_ID`; none before the delivery.
    pub o_carrier_id: Option<i32>,
    /// The order's lines.
    pub lines: Vec<StatusLine>,
}

/// An order line as shown.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusLine {
    /// `OL_I_ID`.
    pub i_id: i32,
    /// `OL_SUPPLY_W_ID`.
    pub supply_w_id: i32,
    /// `OL_QUANTITY`.
    pub quantity: i32,
    /// `OL_AMOUNT` in cents.
    pub amount: Cents,
    /// `OL_DELIVERY_D` in microseconds since the Unix epoch; none before the delivery.
    pub delivery_d_us: Option<i64>,
}

impl StatusLine {
    /// Reads the five columns from `first` on.
    pub(super) fn read(row: Row<'_>, first: usize) -> Result<Self, Error> {
        Ok(Self {
            i_id: row.int(first)?,
            supply_w_id: row.int(first + 1)?,
            quantity: row.int(first + 2)?,
            amount: row.cents(first + 3)?,
            delivery_d_us: row.opt_timestamp(first + 4)?,
        })
    }
}

pub(super) async fn run(
    session: &mut Session,
    isolation: Isolation,
    input: &OrderStatus,
) -> Result<OrderStatusOutput, Error> {
    session.begin(isolation, Access::ReadOnly);
    let w = input.w_id.into();
    let d = input.d_id.into();
    let (customer, order) = match &input.customer {
        CustomerBy::Number(c_id) => {
            let key: [Value<'_>; 3] = [w, d, (*c_id).into()];
            let mut batch = StatementBatch::new();
            batch.call(PLAN.customer, &key).call(PLAN.last_order, &key);
            let [customer, order] = session.send(&batch).await?;
            (customer, order)
        }
        CustomerBy::LastName(name) => {
            let mut batch = StatementBatch::new();
            batch.call(PLAN.by_name, &[w, d, name.as_str().into()]);
            let [found] = session.send(&batch).await?;
            let mut batch = StatementBatch::new();
            batch.call(PLAN.last_order, &[w, d, customer::middle(&found)?.int(0)?.into()]);
            let [order] = session.send(&batch).await?;
            (found, order)
        }
    };
    let customer = customer::middle(&customer)?;
    // The load gives every customer an order.
    let order = order.only()?;
    let o_id = order.int(0)?;

    let mut batch = StatementBatch::new();
    batch.call(PLAN.lines, &[w, d, o_id.into()]);
    let [lines] = session.send_and_commit(&batch).await?;
    if lines.is_empty() {
        return Err(Error::integrity(format!("order {o_id} of district {} has no lines", input.d_id)));
    }
    let lines = lines.rows().map(|row| StatusLine::read(row, 0)).collect::<Result<Vec<_>, Error>>()?;

    Ok(OrderStatusOutput {
        c_id: customer.int(0)?,
        c_balance: customer.cents(1)?,
        c_first: text(customer, 2)?,
        c_middle: text(customer, 3)?,
        c_last: text(customer, 4)?,
        o_id,
        o_entry_d_us: order.timestamp(1)?,
        o_carrier_id: order.opt_int(2)?,
        lines,
    })
}
