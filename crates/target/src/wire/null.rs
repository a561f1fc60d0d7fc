//! No wire: this process makes the answers.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::bulk::{Bulk, BulkOptions};
use crate::null::{Delay, VERSION, fraction};
use crate::schema::Table;
use crate::statement_batch::Rows;
use crate::wire::{End, Wire, WireDefaults};
use crate::{Access, Answer, Error, Isolation, Protocol, Statement, StatementBatch, Value};

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
    /// Whether the statements of a batch share one round trip.
    pipelined: bool,
}

/// The error of a call that needs data.
pub(crate) fn without_data() -> Error {
    Error::permanent("the null target keeps no data and answers only the statements of a workload")
}

impl Session {
    pub(crate) fn new(delay: Delay) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { delay, rng: now.as_nanos() as u64 | 1, in_transaction: false, pipelined: false }
    }

    async fn round_trip(&mut self) {
        if self.delay == Delay::default() {
            return;
        }
        tokio::time::sleep(self.delay.at(fraction(&mut self.rng))).await;
    }
}

impl Wire for Session {
    fn begin(&mut self, _isolation: Isolation, _access: Access) {
        self.in_transaction = true;
    }

    async fn send(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        for _ in 0..if self.pipelined { 1 } else { batch.calls.len() } {
            self.round_trip().await;
        }
        let calls = batch.calls.iter();
        Ok(calls.map(|call| answer(call.statement, call.rows, &batch.values[call.values.clone()])).collect())
    }

    fn is_pipelined(&self) -> bool {
        self.pipelined
    }

    fn pipeline(&mut self) {
        self.pipelined = true;
    }

    async fn send_and_commit(&mut self, batch: &StatementBatch<'_>) -> Result<Vec<Answer>, Error> {
        self.in_transaction = false;
        self.send(batch).await
    }

    async fn transact(
        &mut self,
        _isolation: Isolation,
        statement: &'static Statement,
        values: &[Value<'_>],
    ) -> Result<Answer, Error> {
        self.round_trip().await;
        Ok(answer(statement, 1, values))
    }

    async fn end(&mut self, _end: End) -> Result<(), Error> {
        if std::mem::take(&mut self.in_transaction) {
            self.round_trip().await;
        }
        Ok(())
    }

    async fn execute(&mut self, _sql: &str) -> Result<(), Error> {
        Err(without_data())
    }

    async fn query(&mut self, _sql: &str, _values: &[Value<'_>]) -> Result<Answer, Error> {
        Err(without_data())
    }

    async fn ask(&mut self, _sql: &str, _values: &[Value<'_>], _protocol: Protocol) -> Result<Answer, Error> {
        Err(without_data())
    }

    async fn has_table(&mut self, _name: &str) -> Result<bool, Error> {
        Ok(false)
    }

    async fn bulk(&mut self, _table: &Table, _options: &BulkOptions) -> Result<Bulk<'_>, Error> {
        Err(without_data())
    }

    async fn describe(&mut self) -> Result<(String, BTreeMap<String, String>), Error> {
        Ok((VERSION.to_owned(), BTreeMap::new()))
    }
}

fn answer(statement: &'static Statement, rows: usize, values: &[Value<'_>]) -> Answer {
    let columns = statement.reply.columns().len();
    let mut cells = Vec::with_capacity(statement.reply.most(rows) * columns);
    let affected = statement.reply.make(statement, rows, &values, |row| cells.extend(row.map(|(_, value)| value)));
    Answer { statement: statement.name, rows: Rows::Made { columns, cells }, affected }
}
