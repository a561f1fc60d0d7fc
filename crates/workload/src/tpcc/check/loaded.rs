//! Whether the data are still as the load left them.

use target::{Error, Session};

use super::CheckOptions;

/// Whether any district of the whole database has entered an order: its lines may be supplied by the warehouses checked.
const ORDERS_ANYWHERE: &str = "SELECT COUNT(*) FROM district WHERE d_next_o_id <> 3001";

/// Traces that transactions leave in the warehouses checked, and what they show. A query answers
/// with one number, which is 0 without them.
///
/// Only what a transaction adds is taken for a trace, so that a row lost from a fresh load is
/// reported as a fault and not taken for work done.
const TRACES: [(&str, &str); 4] = [
    ("orders have been entered", "SELECT COUNT(*) FROM orders WHERE o_w_id BETWEEN $1 AND $2 AND o_id > 3000"),
    (
        "orders have been delivered",
        "SELECT COUNT(*) FROM (SELECT o_w_id, o_d_id FROM orders \
         WHERE o_w_id BETWEEN $1 AND $2 AND o_carrier_id IS NOT NULL \
         GROUP BY o_w_id, o_d_id HAVING COUNT(*) > 2100) AS delivered",
    ),
    (
        "payments have been made",
        "SELECT COUNT(*) FROM (SELECT h_w_id FROM history WHERE h_w_id BETWEEN $1 AND $2 \
         GROUP BY h_w_id HAVING COUNT(*) > 30000) AS received",
    ),
    (
        "payments have been made",
        "SELECT COUNT(*) FROM (SELECT h_c_w_id FROM history WHERE h_c_w_id BETWEEN $1 AND $2 \
         GROUP BY h_c_w_id HAVING COUNT(*) > 30000) AS paid",
    ),
];

/// What has been done to the data since the load, or `None` if they are as loaded.
pub(super) async fn done_since(session: &mut Session, options: &CheckOptions) -> Result<Option<&'static str>, Error> {
    if session.query(ORDERS_ANYWHERE, &[]).await?.only()?.big(0)? > 0 {
        return Ok(Some("orders have been entered"));
    }
    let range = [options.first_warehouse.into(), options.last_warehouse().into()];
    for (trace, sql) in TRACES {
        if session.query(sql, &range).await?.only()?.big(0)? > 0 {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}
