//! Rows as PostgreSQL's COPY takes them in binary form.

use super::RowSink;

/// The epoch of PostgreSQL's dates, 2000-01-01, in microseconds since the Unix epoch.
const EPOCH_US: i64 = 946_684_800_000_000;

/// The version of JSONB's binary form.
pub(crate) const JSONB_VERSION: u8 = 1;

/// Signature, no flags, no extension of the header.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Rows of a table in the binary form of COPY: a header, rows, a trailer.
///
/// What has gathered is read with [`CopyBinary::bytes`], and forgotten with [`CopyBinary::clear`] once it is sent.
#[derive(Debug)]
pub struct CopyBinary {
    buffer: Vec<u8>,
    columns: [u8; 2],
}

impl CopyBinary {
    /// The header of the rows of a table with so many columns (at most 1600, as PostgreSQL has them).
    pub fn new(columns: usize) -> Self {
        Self { buffer: HEADER.to_vec(), columns: (columns as u16).to_be_bytes() }
    }

    /// What has gathered.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Forgets what has gathered. Its memory serves for more.
    pub fn clear(&mut self) {
        self.buffer.clear();
    }

    /// The trailer, behind the last row.
    pub fn end(&mut self) {
        self.buffer.extend_from_slice(&(-1_i16).to_be_bytes());
    }
}

/// A field of a known length, so that it is one store.
fn field<const N: usize, const WITH_LENGTH: usize>(value: [u8; N]) -> [u8; WITH_LENGTH] {
    let mut field = [0; WITH_LENGTH];
    field[..4].copy_from_slice(&(N as u32).to_be_bytes());
    field[4..].copy_from_slice(&value);
    field
}

impl RowSink for CopyBinary {
    #[inline]
    fn start_row(&mut self) {
        self.buffer.extend_from_slice(&self.columns);
    }

    #[inline]
    fn small_int(&mut self, value: i32) {
        self.buffer.extend_from_slice(&field::<2, 6>((value as i16).to_be_bytes()));
    }

    #[inline]
    fn int(&mut self, value: i32) {
        self.buffer.extend_from_slice(&field::<4, 8>(value.to_be_bytes()));
    }

    #[inline]
    fn big_int(&mut self, value: i64) {
        self.buffer.extend_from_slice(&field::<8, 12>(value.to_be_bytes()));
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        let (numeric, length) = numeric(unscaled, scale);
        self.buffer.extend_from_slice(&(length as u32).to_be_bytes());
        self.buffer.extend_from_slice(&numeric[..length]);
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.ascii(value.as_bytes());
    }

    #[inline]
    fn ascii(&mut self, value: &[u8]) {
        self.buffer.extend_from_slice(&(value.len() as u32).to_be_bytes());
        self.buffer.extend_from_slice(value);
    }

    #[inline]
    fn timestamp(&mut self, us: i64) {
        self.buffer.extend_from_slice(&field::<8, 12>((us - EPOCH_US).to_be_bytes()));
    }

    #[inline]
    fn uuid(&mut self, value: [u8; 16]) {
        self.buffer.extend_from_slice(&field::<16, 20>(value));
    }

    /// As JSONB, whose version stands before the text.
    #[inline]
    fn json(&mut self, value: &str) {
        self.buffer.extend_from_slice(&(value.len() as u32 + 1).to_be_bytes());
        self.buffer.push(JSONB_VERSION);
        self.buffer.extend_from_slice(value.as_bytes());
    }

    #[inline]
    fn null(&mut self) {
        self.buffer.extend_from_slice(&(-1_i32).to_be_bytes());
    }
}

/// The longest NUMERIC that a 64-bit number makes: eight bytes of a head and six groups of four digits.
const NUMERIC_BYTES: usize = 8 + 6 * 2;

/// NUMERIC's binary form and its length: groups of four decimal digits around the point, without leading or trailing zero
/// groups.
#[inline]
fn numeric(unscaled: i64, scale: u8) -> ([u8; NUMERIC_BYTES], usize) {
    let mut digits = unscaled.unsigned_abs();
    // From the lowest group, which the point may cut short, upwards.
    let mut groups = [0_u16; 6];
    let mut count = 0;
    let cut = match scale % 4 {
        1 => Some((10, 1000)),
        2 => Some((100, 100)),
        3 => Some((1000, 10)),
        _ => None,
    };
    if let Some((unit, filled)) = cut.filter(|_| digits > 0) {
        groups[0] = (digits % unit * filled) as u16;
        digits /= unit;
        count = 1;
    }
    while digits > 0 {
        groups[count] = (digits % 10_000) as u16;
        digits /= 10_000;
        count += 1;
    }
    let weight = if count == 0 { 0 } else { count as i16 - i16::from(scale.div_ceil(4)) - 1 };
    let trailing = groups[..count].iter().take_while(|group| **group == 0).count();

    let mut bytes = [0; NUMERIC_BYTES];
    bytes[..2].copy_from_slice(&((count - trailing) as u16).to_be_bytes());
    bytes[2..4].copy_from_slice(&weight.to_be_bytes());
    bytes[4..6].copy_from_slice(&(if unscaled < 0 { 0x4000_u16 } else { 0 }).to_be_bytes());
    bytes[6..8].copy_from_slice(&u16::from(scale).to_be_bytes());
    for (to, group) in bytes[8..].chunks_exact_mut(2).zip(groups[trailing..count].iter().rev()) {
        to.copy_from_slice(&group.to_be_bytes());
    }
    (bytes, 8 + 2 * (count - trailing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_has_postgres_own_bytes() {
        let bytes = |unscaled, scale| {
            let (bytes, length) = numeric(unscaled, scale);
            bytes[..length].to_vec()
        };
        // As `numeric_send` writes them: count, weight, sign, scale, groups.
        assert_eq!(bytes(0, 2), [0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(bytes(-1000, 2), [0, 1, 0, 0, 0x40, 0, 0, 2, 0, 10]);
        assert_eq!(bytes(1, 2), [0, 1, 0xff, 0xff, 0, 0, 0, 2, 0, 100]);
        assert_eq!(bytes(30_000_000, 2), [0, 1, 0, 1, 0, 0, 0, 2, 0, 30]);
        assert_eq!(bytes(1999, 4), [0, 1, 0xff, 0xff, 0, 0, 0, 4, 0x07, 0xcf]);
        assert_eq!(bytes(123_456_789, 3), [0, 3, 0, 1, 0, 0, 0, 3, 0, 12, 0x0d, 0x80, 0x1e, 0xd2]);
        assert_eq!(bytes(7, 0), [0, 1, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(bytes(i64::MIN, 1)[8..], [92, 2337, 2036, 8547, 7580, 8000].map(u16::to_be_bytes).concat());
    }

    #[test]
    fn a_row_has_the_bytes_of_the_manual() {
        let mut copy = CopyBinary::new(8);
        copy.start_row();
        copy.small_int(-2);
        copy.int(258);
        copy.decimal(5, 2);
        copy.text("ab");
        copy.timestamp(EPOCH_US + 1);
        copy.uuid([7; 16]);
        copy.json("{}");
        copy.null();
        copy.end();
        let expected: [&[u8]; 12] = [
            HEADER,
            &[0, 8],
            &[0, 0, 0, 2, 0xff, 0xfe],
            &[0, 0, 0, 4, 0, 0, 1, 2],
            &[0, 0, 0, 10, 0, 1, 0xff, 0xff, 0, 0, 0, 2, 0x01, 0xf4],
            &[0, 0, 0, 2, b'a', b'b'],
            &[0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1],
            &[0, 0, 0, 16],
            &[7; 16],
            &[0, 0, 0, 3, 1, b'{', b'}'],
            &[0xff; 4],
            &[0xff, 0xff],
        ];
        assert_eq!(copy.bytes(), expected.concat());
        copy.clear();
        assert!(copy.bytes().is_empty());
    }
}
