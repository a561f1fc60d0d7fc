//! A table being filled: LOAD DATA LOCAL streamed from memory, or multi-row INSERT where the server forbids that.

use bytes::Bytes;
use futures_util::StreamExt;
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{Session, error};
use crate::bulk::{Loaded, RowSink, TimestampText, put_decimal, put_int};
use crate::schema::Table;
use crate::{Class, Error};

/// Rows are sent in pieces of about this size: far below every server's `max_allowed_packet`.
const CHUNK_BYTES: usize = 256 * 1024;

/// Room in a buffer for the rows between two checks of its size.
const ROOM: usize = 384 * 1024;

/// Pieces that wait for the server while more rows are made.
const PIECES_AHEAD: usize = 4;

#[derive(Debug)]
pub(crate) struct Bulk<'s> {
    session: &'s mut Session,
    way: LoadMethod,
    /// Every field is followed by the separator, the last one of a row until the row ends.
    buffer: Vec<u8>,
    separator: u8,
    timestamp: TimestampText,
    rows: u64,
    bytes: u64,
    stored: u64,
}

#[derive(Debug)]
enum LoadMethod {
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
        Ok(Self::new(session, LoadMethod::LoadData { pieces, running }))
    }

    pub(super) fn insert(session: &'s mut Session, table: &Table) -> Self {
        let head = format!("INSERT INTO {} ({}) VALUES ", table.name, table.column_list());
        Self::new(session, LoadMethod::Insert { head })
    }

    fn new(session: &'s mut Session, way: LoadMethod) -> Self {
        let buffer = Vec::with_capacity(CHUNK_BYTES + ROOM);
        let separator = if matches!(way, LoadMethod::LoadData { .. }) { b'\t' } else { b',' };
        Self { session, way, buffer, separator, timestamp: TimestampText::default(), rows: 0, bytes: 0, stored: 0 }
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
        let piece = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES + ROOM));
        match &mut self.way {
            LoadMethod::LoadData { pieces, .. } => {
                // Refused only if the statement has ended early: `finish` says why.
                let _ = pieces.send(piece.into()).await;
                Ok(())
            }
            LoadMethod::Insert { .. } => {
                let conn = self.session.conn()?;
                conn.query_drop(piece).await.map_err(error)?;
                self.stored += conn.affected_rows();
                Ok(())
            }
        }
    }

    pub(crate) async fn finish(mut self) -> Result<Loaded, Error> {
        self.flush().await?;
        if let LoadMethod::LoadData { pieces, running } = self.way {
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
        let end = if matches!(self.way, LoadMethod::LoadData { .. }) { b'\n' } else { b')' };
        if let Some(separator) = self.buffer.last_mut() {
            *separator = end;
        }
    }

    /// Text between quotes in an INSERT, as it is in a line; both take backslash escapes.
    #[inline]
    fn quote(&mut self) {
        if matches!(self.way, LoadMethod::Insert { .. }) {
            self.buffer.push(b'\'');
        }
    }

    #[cold]
    fn put_escaped(&mut self, value: &[u8]) {
        for byte in value {
            match byte {
                b'\\' | b'\'' => self.buffer.extend_from_slice(&[b'\\', *byte]),
                b'\t' => self.buffer.extend_from_slice(b"\\t"),
                b'\n' => self.buffer.extend_from_slice(b"\\n"),
                0 => self.buffer.extend_from_slice(b"\\0"),
                byte => self.buffer.push(*byte),
            }
        }
    }
}

impl RowSink for Bulk<'_> {
    #[inline]
    fn start_row(&mut self) {
        self.end_row();
        if let LoadMethod::Insert { head } = &self.way {
            if self.buffer.is_empty() {
                self.buffer.extend_from_slice(head.as_bytes());
            } else {
                self.buffer.push(b',');
            }
            self.buffer.push(b'(');
        }
        self.rows += 1;
    }

    #[inline]
    fn small_int(&mut self, value: i32) {
        self.int(value);
    }

    #[inline]
    fn int(&mut self, value: i32) {
        self.big_int(value.into());
    }

    #[inline]
    fn big_int(&mut self, value: i64) {
        put_int(&mut self.buffer, value);
        self.buffer.push(self.separator);
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        put_decimal(&mut self.buffer, unscaled, scale);
        self.buffer.push(self.separator);
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.ascii(value.as_bytes());
    }

    #[inline]
    fn ascii(&mut self, value: &[u8]) {
        self.quote();
        let special = |found, byte: &u8| found | matches!(byte, b'\\' | b'\t' | b'\n' | b'\'' | 0);
        if value.iter().fold(false, special) {
            self.put_escaped(value);
        } else {
            self.buffer.extend_from_slice(value);
        }
        self.quote();
        self.buffer.push(self.separator);
    }

    #[inline]
    fn timestamp(&mut self, us: i64) {
        self.quote();
        self.buffer.extend_from_slice(self.timestamp.format(us).as_bytes());
        self.quote();
        self.buffer.push(self.separator);
    }

    #[inline]
    fn null(&mut self) {
        self.buffer.extend_from_slice(if matches!(self.way, LoadMethod::LoadData { .. }) { b"\\N" } else { b"NULL" });
        self.buffer.push(self.separator);
    }
}
