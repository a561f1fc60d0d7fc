//! How Payment and Order-Status find a customer by last name (2.5.2.2, 2.6.2.2).

use target::null_reply::Column;
use target::null_reply::Kind::{Char, Int, SmallInt, Text, Varchar};
use target::null_reply::Reply;
use target::{Answer, Error, Row, Statement};

/// Columns that the null target answers with, at usual lengths.
pub(super) const FIRST: Column = Column::text(Varchar, "FJikSyXNtBbK");
pub(super) const MIDDLE: Column = Column::text(Char, "OE");
pub(super) const LAST: Column = Column::text(Varchar, "BARBARATION");
pub(super) const CREDIT: Column = Column::text(Char, "GC");
/// One customer in ten has bad credit (4.3.3.1): those of the last district, where the district is the second parameter.
pub(super) const CREDIT_BY_DISTRICT: Column = Column::text_where(Char, 2, 10, "BC", "GC");
pub(super) const CREDIT_LIM: Column = Column::decimal(5_000_000, 2);
pub(super) const DISCOUNT: Column = Column::decimal(2500, 4);
pub(super) const BALANCE: Column = Column::decimal(-1000, 2);

/// Reads all customers of a district with a last name, in the order that decides which one is meant.
pub(super) static BY_NAME: Statement = Statement::new(
    "customer.by_name",
    "SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer \
     WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first, c_id",
)
.takes(&[Int, SmallInt, Text])
.replies(Reply::rows(3, &[Column::number(Int), BALANCE, FIRST, MIDDLE, LAST]));

/// Picks the customer at position ⌈n/2⌉, counted from 1, of n customers sorted by first name.
pub(super) fn middle(found: &Answer) -> Result<Row<'_>, Error> {
    // The load gives every district all 1,000 names, so an empty answer is an integrity error.
    found.get(middle_of(found.len())).ok_or_else(|| Error::integrity("no customer has the last name that was entered"))
}

/// Position ⌈n/2⌉ counted from 0.
fn middle_of(n: usize) -> usize {
    n.div_ceil(2).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::middle_of;

    #[test]
    fn the_middle_rounds_up_and_counts_from_one() {
        let positions: Vec<_> = (1..=6).map(|n| middle_of(n) + 1).collect();
        assert_eq!(positions, [1, 1, 2, 2, 3, 3]);
    }
}
