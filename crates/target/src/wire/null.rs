//! No wire: the answers are made where the questions are asked.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::null::{Delay, VERSION, fraction};
use crate::statement_batch::Rows;
use crate::wire::WireDefaults;
use crate::{Answer, Error, Statement, StatementBatch, Value};

pub(crate) const DEFAULTS: WireDefaults = WireDefaults {
    name: "none: answered in this process",
    bulk_path: "none: nothing is kept",
    pipelines: true,
    ..WireDefaults::STANDARD
};

#[derive(Debug)]
pub(crate) struct Session {
    delay: Delay,
    /// State of a small generator for the spread.
    rng: u64,
    in_transaction: bool,
    /// Whether the statements of a batch share a flight.
    pub(crate) pipelined: bool,
}

/// What it says to whatever needs data.
pub(crate) fn without_data() -> Error {
    Error::permanent("the null target keeps no data and answers only the statements of a workload")
}

impl Session {
    pub(crate) fn new(delay: Delay) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { delay, rng: now.as_nanos() as u64 | 1, in_transaction: false, pipelined: false }
    }

    pub(crate) fn begin(&mut self) {
        self.in_transaction = true;
    }

    pub(crate) async fn send(&mut self, batch: &StatementBatch<'_>) -> Vec<Answer> {
        for _ in 0..if self.pipelined { 1 } else { batch.calls.len() } {
            self.round_trip().await;
        }
        batch.calls.iter().map(|call| answer(call.statement, call.rows, &batch.values[call.values.clone()])).collect()
    }

    pub(crate) async fn send_and_commit(&mut self, batch: &StatementBatch<'_>) -> Vec<Answer> {
        self.in_transaction = false;
        self.send(batch).await
    }

    pub(crate) async fn transact(&mut self, statement: &'static Statement, values: &[Value<'_>]) -> Answer {
        self.round_trip().await;
        answer(statement, 1, values)
    }

    /// COMMIT or ROLLBACK.
    pub(crate) async fn end(&mut self) {
        if std::mem::take(&mut self.in_transaction) {
            self.round_trip().await;
        }
    }

    pub(crate) fn describe(&self) -> (String, BTreeMap<String, String>) {
        (VERSION.to_owned(), BTreeMap::new())
    }

    async fn round_trip(&mut self) {
        if self.delay == Delay::default() {
            return;
        }
        tokio::time::sleep(self.delay.at(fraction(&mut self.rng))).await;
    }
}

fn answer(statement: &'static Statement, rows: usize, values: &[Value<'_>]) -> Answer {
    let columns = statement.reply.columns().len();
    let mut cells = Vec::with_capacity(statement.reply.most(rows) * columns);
    let affected = statement.reply.make(statement, rows, &values, |row| cells.extend(row.map(|(_, value)| value)));
    Answer { statement: statement.name, rows: Rows::Made { columns, cells }, affected }
}
