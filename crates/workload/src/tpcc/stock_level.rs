//! Stock-Level (2.8).

use ::tpcc::input::StockLevel;
use target::null_reply::Column;
use target::null_reply::Kind::{BigInt, Int, SmallInt};
use target::null_reply::Reply;
use target::{Error, Session, Statement, StatementBatch};

use super::{Profile, Style, procedure};

static DISTRICT: Statement =
    Statement::new("stock_level.district", "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2")
        .takes(&[Int, SmallInt])
        .replies(Reply::rows(1, &[Column::int(Int, 3001)]));
/// The stock of the home warehouse, whichever supplied the line.
static LOW_STOCK: Statement = Statement::new(
    "stock_level.low_stock",
    "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
     WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id < $3 AND ol_o_id >= $3 - 20 \
     AND s_w_id = $1 AND s_i_id = ol_i_id AND s_quantity < $4",
)
.takes(&[Int, SmallInt, Int, SmallInt])
.replies(Reply::rows(1, &[Column::int(BigInt, 20)]));

pub(super) const STATEMENTS: &[&Statement] = &[&DISTRICT, &LOW_STOCK];

/// What Stock-Level shows (2.8.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StockLevelOutput {
    /// Items of the last 20 orders whose stock is below the threshold.
    pub low_stock: i32,
}

/// Two statements, each a transaction of its own: committed data are all it needs (2.8.2.3).
pub(super) async fn run(
    session: &mut Session,
    profile: Profile,
    input: &StockLevel,
) -> Result<StockLevelOutput, Error> {
    if profile.style == Style::Procedure {
        return procedure::stock_level(session, profile.isolation, input).await;
    }
    let (w, d) = (input.w_id.into(), input.d_id.into());
    let mut wave = StatementBatch::new();
    wave.call(&DISTRICT, &[w, d]);
    let [district] = session.send(&wave).await?;
    let next_o_id = district.only()?.int(0)?;

    let mut wave = StatementBatch::new();
    wave.call(&LOW_STOCK, &[w, d, next_o_id.into(), input.threshold.into()]);
    let [count] = session.send(&wave).await?;
    Ok(StockLevelOutput { low_stock: count.only()?.int(0)? })
}
