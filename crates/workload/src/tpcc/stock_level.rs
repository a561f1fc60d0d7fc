//! Stock-Level (2.8).

use ::tpcc::input::StockLevel;
use target::null_reply::Column;
use target::null_reply::Kind::{BigInt, Int, SmallInt};
use target::null_reply::Reply;
use target::{Error, Session, Statement, StatementBatch};

use super::plan::step;

static DISTRICT: Statement =
    Statement::new("stock_level.district", "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2")
        .takes(&[Int, SmallInt])
        .replies(Reply::rows(1, &[Column::int(Int, 3001)]));
/// Counts the stock of the home warehouse, whichever warehouse supplied the line.
static LOW_STOCK: Statement = Statement::new(
    "stock_level.low_stock",
    "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
     WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id < $3 AND ol_o_id >= $3 - 20 \
     AND s_w_id = $1 AND s_i_id = ol_i_id AND s_quantity < $4",
)
.takes(&[Int, SmallInt, Int, SmallInt])
.replies(Reply::rows(1, &[Column::int(BigInt, 20)]));

step! {
    /// The statements of Stock-Level, the same in every style and dialect.
    struct Plan { district, low_stock }
}

pub(super) const PLAN: Plan = Plan { district: &DISTRICT, low_stock: &LOW_STOCK };

/// What Stock-Level shows (2.8.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StockLevelOutput {
    /// Items of the last 20 orders whose stock is below the threshold.
    pub low_stock: i32,
}

/// Runs two statements, each a transaction of its own: Stock-Level needs only committed data (2.8.2.3).
pub(super) async fn run(session: &mut Session, input: &StockLevel) -> Result<StockLevelOutput, Error> {
    let w = input.w_id.into();
    let d = input.d_id.into();
    let mut batch = StatementBatch::new();
    batch.call(PLAN.district, &[w, d]);
    let [district] = session.send(&batch).await?;
    let next_o_id = district.only()?.int(0)?;

    let mut batch = StatementBatch::new();
    batch.call(PLAN.low_stock, &[w, d, next_o_id.into(), input.threshold.into()]);
    let [count] = session.send(&batch).await?;
    Ok(StockLevelOutput { low_stock: count.only()?.int(0)? })
}
