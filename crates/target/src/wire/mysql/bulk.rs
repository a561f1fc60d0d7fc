//! A table being filled: LOAD DATA LOCAL streamed from memory, or multi-row INSERT where the server forbids that.

use bytes::Bytes;
use futures_util::StreamExt;
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Session, error};
use crate::bulk::{Loaded, RowSink, TimestampText, put_decimal};
use crate::schema::Table;
use crate::{Class, Error};

/// Rows are sent in pieces of about this size: far below every server's `max_allowed_packet`.
const CHUNK_BYTES: usize = 256 * 1024;

/// Pieces that wait for the server while more rows are made.
const PIECES_AHEAD: usize = 4;

#[derive(Debug)]
pub(crate) struct Bulk<'s> {
    session: &'s mut Session,
    way: Way,
    buffer: Vec<u8>,
    at_row_start: bool,
    timestamp: TimestampText,
    rows: u64,
    bytes: u64,
    stored: u64,
}

#[derive(Debug)]
enum Way {
    /// Lines of fields, taken by a statement that runs until the last piece; it has the connection so long.
    LoadData { pieces: mpsc::Sender<Bytes>, running: JoinHandle<(Conn, mysql_async::Result<()>)> },
    /// Lists of literals behind this INSERT.
    Insert { head: String },
}

impl<'s> Bulk<'s> {
    pub(super) fn load_data(session: &'s mut Session, table: &Table) -> Result<Self, Error> {
        session.conn()?;
        let Some(mut conn) = session.conn.take() else {
            return Err(Error::permanent("the connection is in a bulk load already"));
        };
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' \
             ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ({})",
            table.name,
            table.column_list()
        );
        let (pieces, taken) = mpsc::channel::<Bytes>(PIECES_AHEAD);
        conn.set_infile_handler(async move {
            let next = |mut taken: mpsc::Receiver<Bytes>| async { taken.recv().await.map(|piece| (Ok(piece), taken)) };
            Ok(futures_util::stream::unfold(taken, next).boxed())
        });
        let running = tokio::spawn(async move {
            let done = conn.query_drop(sql).await;
            (conn, done)
        });
        Ok(Self::new(session, Way::LoadData { pieces, running }))
    }

    pub(super) fn insert(session: &'s mut Session, table: &Table) -> Self {
        let head = format!("INSERT INTO {} ({}) VALUES ", table.name, table.column_list());
        Self::new(session, Way::Insert { head })
    }

    fn new(session: &'s mut Session, way: Way) -> Self {
        let buffer = Vec::with_capacity(CHUNK_BYTES + 4096);
        let timestamp = TimestampText::default();
        Self { session, way, buffer, at_row_start: true, timestamp, rows: 0, bytes: 0, stored: 0 }
    }

    pub(crate) async fn flush_if_full(&mut self) -> Result<(), Error> {
        if self.buffer.len() < CHUNK_BYTES { Ok(()) } else { self.flush().await }
    }

    async fn flush(&mut self) -> Result<(), Error> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.end_row();
        self.bytes += self.buffer.len() as u64;
        let piece = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES + 4096));
        match &mut self.way {
            Way::LoadData { pieces, .. } => {
                // Refused only if the statement has ended early: `finish` says why.
                let _ = pieces.send(piece.into()).await;
                Ok(())
            }
            Way::Insert { .. } => {
                let conn = self.session.conn()?;
                conn.query_drop(piece).await.map_err(error)?;
                self.stored += conn.affected_rows();
                Ok(())
            }
        }
    }

    pub(crate) async fn finish(mut self) -> Result<Loaded, Error> {
        self.flush().await?;
        if let Way::LoadData { pieces, running } = self.way {
            drop(pieces);
            let (conn, done) = running
                .await
                .map_err(|e| Error::new(Class::Lost, None, format!("the bulk load's task failed: {e}")))?;
            self.stored = conn.affected_rows();
            self.session.conn = Some(conn);
            done.map_err(error)?;
        }
        if self.stored != self.rows {
            return Err(Error::integrity(format!("the server stored {} of {} rows", self.stored, self.rows)));
        }
        Ok(Loaded { rows: self.rows, bytes: self.bytes })
    }

    fn end_row(&mut self) {
        match self.way {
            Way::LoadData { .. } => self.buffer.push(b'\n'),
            Way::Insert { .. } => self.buffer.push(b')'),
        }
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.at_row_start) {
            self.buffer.push(if matches!(self.way, Way::LoadData { .. }) { b'\t' } else { b',' });
        }
    }

    /// Text between quotes in an INSERT, as it is in a line; both take backslash escapes.
    fn quote(&mut self) {
        if matches!(self.way, Way::Insert { .. }) {
            self.buffer.push(b'\'');
        }
    }
}

impl RowSink for Bulk<'_> {
    fn start_row(&mut self) {
        if !self.buffer.is_empty() {
            self.end_row();
        }
        if let Way::Insert { head } = &self.way {
            if self.buffer.is_empty() {
                self.buffer.extend_from_slice(head.as_bytes());
            } else {
                self.buffer.push(b',');
            }
            self.buffer.push(b'(');
        }
        self.at_row_start = true;
        self.rows += 1;
    }

    fn small_int(&mut self, value: i32) {
        self.int(value);
    }

    fn int(&mut self, value: i32) {
        self.separate();
        self.buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        self.separate();
        put_decimal(&mut self.buffer, unscaled, scale);
    }

    fn text(&mut self, value: &str) {
        self.separate();
        self.quote();
        if value.bytes().any(|b| matches!(b, b'\\' | b'\t' | b'\n' | b'\'' | 0)) {
            for byte in value.bytes() {
                match byte {
                    b'\\' | b'\'' => self.buffer.extend_from_slice(&[b'\\', byte]),
                    b'\t' => self.buffer.extend_from_slice(b"\\t"),
                    b'\n' => self.buffer.extend_from_slice(b"\\n"),
                    0 => self.buffer.extend_from_slice(b"\\0"),
                    byte => self.buffer.push(byte),
                }
            }
        } else {
            self.buffer.extend_from_slice(value.as_bytes());
        }
        self.quote();
    }

    fn timestamp(&mut self, us: i64) {
        self.separate();
        self.quote();
        self.buffer.extend_from_slice(self.timestamp.of(us).as_bytes());
        self.quote();
    }

    fn null(&mut self) {
        self.separate();
        self.buffer.extend_from_slice(if matches!(self.way, Way::LoadData { .. }) { b"\\N" } else { b"NULL" });
    }
}
