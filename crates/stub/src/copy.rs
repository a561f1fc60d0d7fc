//! Rows of COPY BINARY, counted and forgotten.

/// The signature, flags and length of the extension, none of which is ever there.
const HEADER: usize = 19;

/// Counts the rows of a stream that comes in pieces.
#[derive(Debug)]
pub(crate) struct RowCounter {
    rows: u64,
    /// Fields of the row under way that are still to come.
    fields: u16,
    /// Bytes to pass over before the next number.
    skip: usize,
    /// The bytes of the next number that are there.
    number: [u8; 4],
    there: usize,
}

impl RowCounter {
    pub(crate) fn new() -> Self {
        Self { rows: 0, fields: 0, skip: HEADER, number: [0; 4], there: 0 }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes the next piece.
    pub(crate) fn take(&mut self, mut piece: &[u8]) {
        loop {
            let skipped = self.skip.min(piece.len());
            self.skip -= skipped;
            piece = &piece[skipped..];
            // Each row begins with the number of its fields, each field with its length.
            let wanted = if self.fields == 0 { 2 } else { 4 };
            let copied = (wanted - self.there).min(piece.len());
            self.number[self.there..self.there + copied].copy_from_slice(&piece[..copied]);
            self.there += copied;
            piece = &piece[copied..];
            if self.skip > 0 || self.there < wanted {
                return;
            }
            self.there = 0;
            if self.fields > 0 {
                self.fields -= 1;
                // NULL has a length of -1, and no bytes.
                self.skip = usize::try_from(i32::from_be_bytes(self.number)).unwrap_or(0);
            } else if let Ok(fields) = u16::try_from(i16::from_be_bytes([self.number[0], self.number[1]])) {
                self.fields = fields;
                self.rows += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_however_the_stream_is_cut() {
        let mut stream = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
        for text in ["a", "", "long enough to be cut"] {
            stream.extend([0, 3, 0, 0, 0, 2, 0, 7, 0xff, 0xff, 0xff, 0xff]);
            stream.extend((text.len() as u32).to_be_bytes());
            stream.extend(text.bytes());
        }
        stream.extend([0xff, 0xff]);
        for piece in 1..=stream.len() {
            let mut counter = RowCounter::new();
            stream.chunks(piece).for_each(|piece| counter.take(piece));
            assert_eq!(counter.rows(), 3, "pieces of {piece}");
        }
    }
}
