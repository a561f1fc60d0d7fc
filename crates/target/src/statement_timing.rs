//! How long each part of a transaction took in its session. Sessions that time nothing pay nothing.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use crate::statement_batch::Call;

/// The timing of a part of a transaction: a statement, a round trip of several, COMMIT or ROLLBACK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementTiming {
    /// The statement's name; those of all statements in a round trip, as in `new_order.entry+district+items`; or the verb.
    pub name: Cow<'static, str>,
    /// From sending it to the last byte of its answer or error. Includes a BEGIN that travels with it.
    pub took: Duration,
}

/// The timings since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct Laps(Vec<StatementTiming>);

impl Laps {
    /// Adds a timing that began at `started`.
    pub(crate) fn end(&mut self, name: impl Into<Cow<'static, str>>, started: Instant) {
        self.0.push(StatementTiming { name: name.into(), took: started.elapsed() });
    }

    pub(crate) fn take(&mut self) -> Vec<StatementTiming> {
        std::mem::take(&mut self.0)
    }
}

/// The name of calls in one round trip, with or without COMMIT. A statement that repeats is named once.
pub(crate) fn round_trip(calls: &[Call], commits: bool) -> Cow<'static, str> {
    let Some(first) = calls.first() else { return if commits { "COMMIT".into() } else { "".into() } };
    if calls.len() == 1 && !commits {
        return first.statement.name.into();
    }
    let transaction = first.statement.name.split_once('.').map_or("", |(transaction, _)| transaction);
    let mut name = first.statement.name.to_owned();
    for pair in calls.windows(2).filter(|pair| !std::ptr::eq(pair[0].statement, pair[1].statement)) {
        let next = pair[1].statement.name;
        let role = next.strip_prefix(transaction).and_then(|rest| rest.strip_prefix('.'));
        name.push('+');
        name.push_str(role.unwrap_or(next));
    }
    if commits {
        name.push_str("+COMMIT");
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Statement, StatementBatch};

    #[test]
    fn a_flight_is_named_after_its_statements() {
        static ORDER: Statement = Statement::new("new_order.order", "");
        static STOCK: Statement = Statement::new("new_order.stock", "");
        static BY_NAME: Statement = Statement::new("customer.by_name", "");
        let mut batch = StatementBatch::new();
        batch.call(&ORDER, &[]);
        assert_eq!(round_trip(&batch.calls, false), "new_order.order");
        assert_eq!(round_trip(&batch.calls, true), "new_order.order+COMMIT");
        batch.call(&STOCK, &[]).call(&STOCK, &[]).call(&BY_NAME, &[]);
        assert_eq!(round_trip(&batch.calls, false), "new_order.order+stock+customer.by_name");
        assert_eq!(round_trip(&[], true), "COMMIT");
    }
}
