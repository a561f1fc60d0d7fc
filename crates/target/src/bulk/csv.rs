//! Rows as CSV.

use super::RowSink;
use super::text::{TimestampText, put_decimal, put_int};

/// Rows as CSV (RFC 4180): no header, NULL as an empty field, text quoted only where it must be.
///
/// What has gathered is read with [`Csv::rows`], and forgotten with [`Csv::clear`] once it is written.
#[derive(Debug, Default)]
pub struct Csv {
    /// Every field is followed by a comma, the last one of a row until the next row begins.
    buffer: Vec<u8>,
    timestamp: TimestampText,
}

impl Csv {
    /// Room for about so many bytes of rows.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { buffer: Vec::with_capacity(bytes), timestamp: TimestampText::default() }
    }

    /// Ends the last row and shows what has gathered.
    pub fn rows(&mut self) -> &[u8] {
        self.end_row();
        &self.buffer
    }

    /// Forgets what has gathered. Its memory serves for more.
    pub fn clear(&mut self) {
        self.buffer.clear();
    }

    /// Bytes gathered so far.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether nothing has gathered.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    #[inline]
    fn put_text(&mut self, value: &[u8]) {
        // The search covers all bytes, because it takes sixteen at a time. Empty text is quoted, to differ from NULL.
        let special = |found, byte: &u8| found | matches!(byte, b',' | b'"' | b'\n' | b'\r');
        if value.is_empty() || value.iter().fold(false, special) {
            self.put_quoted(value);
        } else {
            self.buffer.extend_from_slice(value);
        }
        self.buffer.push(b',');
    }

    #[cold]
    fn put_quoted(&mut self, value: &[u8]) {
        self.buffer.push(b'"');
        for byte in value {
            self.buffer.extend_from_slice(if *byte == b'"' { b"\"\"" } else { std::slice::from_ref(byte) });
        }
        self.buffer.push(b'"');
    }

    fn end_row(&mut self) {
        if let Some(comma) = self.buffer.last_mut() {
            *comma = b'\n';
        }
    }
}

impl RowSink for Csv {
    #[inline]
    fn start_row(&mut self) {
        self.end_row();
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
        self.buffer.push(b',');
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        put_decimal(&mut self.buffer, unscaled, scale);
        self.buffer.push(b',');
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.put_text(value.as_bytes());
    }

    #[inline]
    fn ascii(&mut self, value: &[u8]) {
        self.put_text(value);
    }

    #[inline]
    fn timestamp(&mut self, us: i64) {
        self.buffer.extend_from_slice(self.timestamp.format(us).as_bytes());
        self.buffer.push(b',');
    }

    #[inline]
    fn null(&mut self) {
        self.buffer.push(b',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_tells_null_from_empty_text_and_quotes_what_it_must() {
        let mut csv = Csv::default();
        assert!(csv.rows().is_empty());
        csv.start_row();
        csv.int(-7);
        csv.decimal(-1000, 2);
        csv.decimal(5, 4);
        csv.null();
        csv.text("");
        csv.text("a,\"b\"");
        csv.timestamp(0);
        csv.start_row();
        csv.small_int(1);
        csv.null();
        let text = str::from_utf8(csv.rows()).unwrap();
        assert_eq!(text, "-7,-10.00,0.0005,,\"\",\"a,\"\"b\"\"\",1970-01-01 00:00:00\n1,\n");
        csv.clear();
        assert!(csv.rows().is_empty() && csv.is_empty());
    }
}
