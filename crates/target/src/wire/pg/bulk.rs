//! COPY BINARY: rows written as they go over the wire, sent in large pieces.

use bytes::{BufMut, BytesMut};

use super::Session;
use super::rows::{EPOCH_US, put_numeric};
use crate::Error;
use crate::bulk::{BulkOptions, JSONB_VERSION, Loaded, RowSink};
use crate::schema::Table;

/// COPY data are sent in pieces of about this size.
const PIECE_BYTES: usize = 256 * 1024;

/// The head of a CopyData message: its tag, and the length that is filled in when it is sent.
const HEAD: [u8; 5] = [b'd', 0, 0, 0, 0];

/// CopyDone.
const DONE: [u8; 5] = [b'c', 0, 0, 0, 4];

/// A table being filled.
pub(crate) struct Bulk<'s> {
    session: &'s mut Session,
    /// One CopyData message.
    buffer: BytesMut,
    columns: i16,
    sent_rows: u64,
    sent_bytes: u64,
}

impl std::fmt::Debug for Bulk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bulk").field("rows", &self.sent_rows).finish_non_exhaustive()
    }
}

impl<'s> Bulk<'s> {
    pub(super) async fn open(session: &'s mut Session, table: &Table, options: &BulkOptions) -> Result<Self, Error> {
        session.flush_begin().await?;
        let into = options.into.as_deref().unwrap_or(table.name);
        let sql = session.dialect.copy(into, &table.column_list(), options.rows_per_commit);
        session.open_copy(&sql).await?;
        let mut buffer = BytesMut::with_capacity(PIECE_BYTES + 4096);
        buffer.put_slice(&HEAD);
        buffer.put_slice(b"PGCOPY\n\xff\r\n\0");
        buffer.put_u64(0); // no flags, no header extension
        let columns = i16::try_from(table.columns.len()).unwrap_or(i16::MAX);
        Ok(Self { session, buffer, columns, sent_rows: 0, sent_bytes: 0 })
    }

    pub(crate) async fn flush_if_full(&mut self) -> Result<(), Error> {
        if self.buffer.len() < PIECE_BYTES {
            return Ok(());
        }
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), Error> {
        let length = self.buffer.len() as u32 - 1; // counts itself, not the tag
        self.buffer[1..HEAD.len()].copy_from_slice(&length.to_be_bytes());
        self.sent_bytes += (self.buffer.len() - HEAD.len()) as u64;
        self.session.line.pour(&self.buffer).await?;
        self.buffer.truncate(HEAD.len());
        Ok(())
    }

    pub(crate) async fn finish(mut self) -> Result<Loaded, Error> {
        self.buffer.put_i16(-1); // the trailer
        self.flush().await?;
        self.session.line.pour(&DONE).await?;
        let stored = self.session.close_copy().await?;
        if stored != self.sent_rows {
            return Err(Error::integrity(format!("COPY stored {stored} of {} rows", self.sent_rows)));
        }
        Ok(Loaded { rows: stored, bytes: self.sent_bytes })
    }
}

impl RowSink for Bulk<'_> {
    fn start_row(&mut self) {
        self.sent_rows += 1;
        self.buffer.put_i16(self.columns);
    }

    fn small_int(&mut self, value: i32) {
        self.buffer.put_i32(2);
        self.buffer.put_i16(value as i16);
    }

    fn int(&mut self, value: i32) {
        self.buffer.put_i32(4);
        self.buffer.put_i32(value);
    }

    fn big_int(&mut self, value: i64) {
        self.buffer.put_i32(8);
        self.buffer.put_i64(value);
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        let at = self.buffer.len();
        self.buffer.put_i32(0);
        put_numeric(unscaled, scale, &mut self.buffer);
        let length = (self.buffer.len() - at - 4) as i32;
        self.buffer[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn text(&mut self, value: &str) {
        self.buffer.put_i32(value.len() as i32);
        self.buffer.put_slice(value.as_bytes());
    }

    fn timestamp(&mut self, us: i64) {
        self.buffer.put_i32(8);
        self.buffer.put_i64(us - EPOCH_US);
    }

    fn uuid(&mut self, value: [u8; 16]) {
        self.buffer.put_i32(16);
        self.buffer.put_slice(&value);
    }

    fn json(&mut self, value: &str) {
        self.buffer.put_i32(value.len() as i32 + 1);
        self.buffer.put_u8(JSONB_VERSION);
        self.buffer.put_slice(value.as_bytes());
    }

    fn null(&mut self) {
        self.buffer.put_i32(-1);
    }
}
