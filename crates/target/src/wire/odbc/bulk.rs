//! A table being filled by one prepared INSERT with arrays of parameters.

use std::sync::Arc;

use odbc::{Kind, Parameter, Parameters};
use tokio::sync::oneshot;

use super::{Session, gone, timestamp};
use crate::Error;
use crate::bulk::{Loaded, RowSink, put_decimal};
use crate::schema::{ColumnType, Table};

/// Values gathered before they cross to the connection's thread.
const CHUNK_VALUES: usize = 20_000;

#[derive(Debug)]
pub(crate) struct Bulk<'s> {
    session: &'s mut Session,
    sql: Arc<str>,
    scaled: bool,
    /// The rows that gather now.
    filling: Parameters,
    /// Emptied rows that were sent before, to be filled again.
    spare: Option<Parameters>,
    values: usize,
    rows: u64,
    bytes: u64,
    /// All dates of a load are the same instant: it is taken apart once.
    timestamp: Option<(i64, odbc::Timestamp)>,
    digits: Vec<u8>,
    /// What could not be added to the rows.
    fault: Option<String>,
    under_way: Option<oneshot::Receiver<Result<Parameters, Error>>>,
}

impl<'s> Bulk<'s> {
    pub(super) async fn new(session: &'s mut Session, table: &Table) -> Result<Self, Error> {
        let kinds: Vec<ColumnType> = table.columns.iter().map(|column| column.kind).collect();
        let (scaled, filling, spare) = session
            .in_transaction_on_thread(move |served| {
                let kinds: Vec<Kind> = kinds.into_iter().map(|kind| self::kind(kind, served.scaled)).collect();
                let rows = || served.connection.parameters(&kinds);
                Ok((served.scaled, rows(), rows()))
            })
            .await?;
        let places = vec!["?"; table.columns.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, table.column_list());
        Ok(Self {
            session,
            sql: sql.into(),
            scaled,
            filling,
            spare: Some(spare),
            values: 0,
            rows: 0,
            bytes: 0,
            timestamp: None,
            digits: Vec::new(),
            fault: None,
            under_way: None,
        })
    }

    pub(crate) async fn flush_if_full(&mut self) -> Result<(), Error> {
        if self.values < CHUNK_VALUES { Ok(()) } else { self.flush().await }
    }

    async fn flush(&mut self) -> Result<(), Error> {
        if let Some(fault) = self.fault.take() {
            return Err(Error::permanent(fault));
        }
        // The next rows are made while these are stored.
        self.settle().await?;
        let empty = self.spare.take().ok_or_else(gone)?;
        let mut full = std::mem::replace(&mut self.filling, empty);
        self.values = 0;
        let sql = self.sql.clone();
        self.under_way = Some(self.session.start(move |served| {
            let rows = full.rows();
            let done = served.connection.prepare(&sql).and_then(|mut insert| insert.execute_all(&mut full));
            match done.map_err(|e| served.error(e))? {
                done if done == rows => {
                    full.clear();
                    Ok(full)
                }
                done => Err(Error::integrity(format!("the driver stored {done} of {rows} rows"))),
            }
        })?);
        Ok(())
    }

    /// Waits for the rows sent before.
    async fn settle(&mut self) -> Result<(), Error> {
        if let Some(answer) = self.under_way.take() {
            self.spare = Some(answer.await.map_err(|_| gone())??);
        }
        Ok(())
    }

    pub(crate) async fn finish(mut self) -> Result<Loaded, Error> {
        self.flush().await?;
        self.settle().await?;
        Ok(Loaded { rows: self.rows, bytes: self.bytes })
    }

    fn push(&mut self, value: Parameter<'_>, bytes: usize) {
        self.values += 1;
        self.bytes += bytes as u64;
        if let Err(e) = self.filling.push(value) {
            self.fault.get_or_insert(e.to_string());
        }
    }
}

fn kind(column: ColumnType, scaled: bool) -> Kind {
    match column {
        ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt => Kind::Int,
        ColumnType::Decimal { .. } if scaled => Kind::Int,
        ColumnType::Decimal { .. } => Kind::Decimal,
        ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Uuid | ColumnType::Json => Kind::Text,
        ColumnType::Timestamp => Kind::Timestamp,
    }
}

impl RowSink for Bulk<'_> {
    fn start_row(&mut self) {
        self.rows += 1;
    }

    fn small_int(&mut self, value: i32) {
        self.int(value);
    }

    fn int(&mut self, value: i32) {
        self.big_int(value.into());
    }

    fn big_int(&mut self, value: i64) {
        self.push(Parameter::Int(value), 8);
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        if self.scaled {
            return self.push(Parameter::Int(unscaled), 8);
        }
        let mut digits = std::mem::take(&mut self.digits);
        digits.clear();
        put_decimal(&mut digits, unscaled, scale);
        self.push(Parameter::Decimal(std::str::from_utf8(&digits).unwrap_or_default()), digits.len());
        self.digits = digits;
    }

    fn text(&mut self, value: &str) {
        self.push(Parameter::Text(value), value.len());
    }

    fn timestamp(&mut self, us: i64) {
        if self.timestamp.is_none_or(|(last, _)| last != us) {
            match timestamp(us) {
                Ok(at) => self.timestamp = Some((us, at)),
                Err(e) => {
                    self.fault.get_or_insert(e.to_string());
                }
            }
        }
        if let Some((_, at)) = self.timestamp {
            self.push(Parameter::Timestamp(at), 26);
        }
    }

    fn null(&mut self) {
        self.push(Parameter::Null, 0);
    }
}
