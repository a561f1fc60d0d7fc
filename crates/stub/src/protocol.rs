//! PostgreSQL's messages (version 3.0), as far as a client of ours uses them.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use target::null_reply::{Kind, Parameters};
use target::{Decimal, Value};

/// The epoch of PostgreSQL's dates, 2000-01-01, in microseconds since the Unix epoch.
const EPOCH_US: i64 = 946_684_800_000_000;

/// The longest message that is believed, in bytes.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellForm {
    Text,
    Binary,
}

impl CellForm {
    fn from_code(code: u16) -> Self {
        if code == 0 { CellForm::Text } else { CellForm::Binary }
    }
}

/// Something that is no message of this protocol.
#[derive(Debug)]
pub(crate) struct Malformed;

/// Cuts the first message, its type and its body, off what was read; `None` if it is not whole yet.
pub(crate) fn cut(read: &mut BytesMut) -> Result<Option<(u8, Bytes)>, Malformed> {
    let [kind, length @ ..] = match read.first_chunk::<5>() {
        Some(head) => *head,
        None => return Ok(None),
    };
    let length = u32::from_be_bytes(length) as usize;
    if !(4..MAX_MESSAGE_BYTES).contains(&length) {
        return Err(Malformed);
    }
    if read.len() < length + 1 {
        return Ok(None);
    }
    let mut message = read.split_to(length + 1).freeze();
    message.advance(5);
    Ok(Some((kind, message)))
}

/// Cuts the first message of a connection, which has no type, off what was read.
pub(crate) fn cut_first(read: &mut BytesMut) -> Result<Option<Bytes>, Malformed> {
    let length = match read.first_chunk::<4>() {
        Some(length) => u32::from_be_bytes(*length) as usize,
        None => return Ok(None),
    };
    if !(8..MAX_MESSAGE_BYTES).contains(&length) {
        return Err(Malformed);
    }
    if read.len() < length {
        return Ok(None);
    }
    let mut message = read.split_to(length).freeze();
    message.advance(4);
    Ok(Some(message))
}

/// Cuts a text that ends with a zero byte off a message.
pub(crate) fn cut_text(message: &mut Bytes) -> Result<Bytes, Malformed> {
    let end = message.iter().position(|byte| *byte == 0).ok_or(Malformed)?;
    let text = message.split_to(end);
    message.advance(1);
    Ok(text)
}

fn cut_u16(message: &mut Bytes) -> Result<u16, Malformed> {
    message.try_get_u16().map_err(|_| Malformed)
}

/// A bound call: its parameters, and how its results are wanted.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    parameters: Vec<(CellForm, Option<Bytes>)>,
    results: Vec<CellForm>,
}

impl Bound {
    /// Reads Bind behind the names of portal and statement.
    pub(crate) fn read(&mut self, mut message: Bytes) -> Result<(), Malformed> {
        self.parameters.clear();
        self.results.clear();
        let mut forms = [CellForm::Text; 1];
        let given = cut_u16(&mut message)?;
        let mut own = Vec::new();
        match given {
            0 => {}
            1 => forms[0] = CellForm::from_code(cut_u16(&mut message)?),
            _ => {
                for _ in 0..given {
                    own.push(CellForm::from_code(cut_u16(&mut message)?));
                }
            }
        }
        for at in 0..usize::from(cut_u16(&mut message)?) {
            let length = message.try_get_i32().map_err(|_| Malformed)?;
            let value = match usize::try_from(length) {
                Err(_) => None,
                Ok(length) if length <= message.len() => Some(message.split_to(length)),
                Ok(_) => return Err(Malformed),
            };
            self.parameters.push((own.get(at).copied().unwrap_or(forms[0]), value));
        }
        for _ in 0..cut_u16(&mut message)? {
            self.results.push(CellForm::from_code(cut_u16(&mut message)?));
        }
        Ok(())
    }

    /// How a column of the result is wanted.
    pub(crate) fn form(&self, column: usize) -> CellForm {
        match self.results.as_slice() {
            [] => CellForm::Text,
            [all] => *all,
            each => each.get(column).copied().unwrap_or(CellForm::Text),
        }
    }

    fn value(&self, at: usize) -> Option<(CellForm, &[u8])> {
        let (form, value) = self.parameters.get(at)?;
        Some((*form, value.as_deref()?))
    }
}

impl Parameters for Bound {
    fn int(&self, at: usize) -> Option<i64> {
        match self.value(at)? {
            (CellForm::Text, text) => std::str::from_utf8(text).ok()?.parse().ok(),
            (CellForm::Binary, [a, b]) => Some(i16::from_be_bytes([*a, *b]).into()),
            (CellForm::Binary, &[a, b, c, d]) => Some(i32::from_be_bytes([a, b, c, d]).into()),
            (CellForm::Binary, bytes) => Some(i64::from_be_bytes(bytes.try_into().ok()?)),
        }
    }

    fn text(&self, at: usize) -> Option<&str> {
        std::str::from_utf8(self.value(at)?.1).ok()
    }
}

/// Writes a message: its type, its length, its body.
pub(crate) fn message(out: &mut BytesMut, kind: u8, body: impl FnOnce(&mut BytesMut)) {
    out.put_u8(kind);
    let at = out.len();
    out.put_u32(0);
    body(out);
    set_length(out, at);
}

/// Sets a length, its own four bytes included, of what was written from `at` on.
fn set_length(out: &mut BytesMut, at: usize) {
    let length = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

fn put_text(out: &mut BytesMut, text: &str) {
    out.put_slice(text.as_bytes());
    out.put_u8(0);
}

/// A row on its way out.
pub(crate) struct Row<'a> {
    out: &'a mut BytesMut,
    at: usize,
}

impl<'a> Row<'a> {
    pub(crate) fn begin(out: &'a mut BytesMut, columns: usize) -> Self {
        out.put_u8(b'D');
        let at = out.len();
        out.put_u32(0);
        out.put_u16(columns as u16);
        Self { out, at }
    }

    pub(crate) fn cell(&mut self, kind: Kind, value: Value<'_>, form: CellForm) {
        let out = &mut *self.out;
        if value == Value::Null {
            return out.put_i32(-1);
        }
        let at = out.len();
        out.put_u32(0);
        match (form, value, kind) {
            (CellForm::Binary, Value::Int(v), Kind::SmallInt) => out.put_i16(v as i16),
            (CellForm::Binary, Value::Int(v), Kind::Int) => out.put_i32(v as i32),
            (CellForm::Binary, Value::Int(v), _) => out.put_i64(v),
            (CellForm::Binary, Value::Decimal(v), _) => put_numeric(v, out),
            (CellForm::Binary, Value::Timestamp(us), _) => out.put_i64(us - EPOCH_US),
            (_, Value::Text(v), _) => out.put_slice(v.as_bytes()),
            (_, value, _) => out.put_slice(value.to_owned().to_string().as_bytes()),
        }
        let length = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    pub(crate) fn end(self) {
        set_length(self.out, self.at);
    }
}

/// NUMERIC's binary form: groups of four decimal digits around the point, without leading or trailing zero groups.
fn put_numeric(value: Decimal, out: &mut BytesMut) {
    let pad = (4 - value.scale % 4) % 4;
    let mut digits = u128::from(value.unscaled.unsigned_abs()) * 10_u128.pow(u32::from(pad));
    let mut groups = [0_i16; 12];
    let mut count = 0;
    while digits > 0 {
        groups[count] = (digits % 10_000) as i16;
        digits /= 10_000;
        count += 1;
    }
    let weight = count as i16 - i16::from((value.scale + pad) / 4) - 1;
    let trailing = groups[..count].iter().take_while(|group| **group == 0).count();
    out.put_i16((count - trailing) as i16);
    out.put_i16(if count == 0 { 0 } else { weight });
    out.put_u16(if value.unscaled < 0 { 0x4000 } else { 0 });
    out.put_u16(value.scale.into());
    groups[trailing..count].iter().rev().for_each(|group| out.put_i16(*group));
}

/// A type's number and length.
fn oid(kind: Kind) -> (u32, i16) {
    match kind {
        Kind::SmallInt => (21, 2),
        Kind::Int => (23, 4),
        Kind::BigInt => (20, 8),
        Kind::Numeric => (1700, -1),
        Kind::Char => (1042, -1),
        Kind::Varchar => (1043, -1),
        Kind::Text => (25, -1),
        Kind::Timestamp => (1114, 8),
    }
}

/// ParameterDescription.
pub(crate) fn parameter_description(out: &mut BytesMut, parameters: &[Kind]) {
    message(out, b't', |out| {
        out.put_u16(parameters.len() as u16);
        parameters.iter().for_each(|kind| out.put_u32(oid(*kind).0));
    });
}

/// RowDescription, or NoData.
pub(crate) fn row_description(out: &mut BytesMut, columns: &[(&str, Kind)], form: impl Fn(usize) -> CellForm) {
    if columns.is_empty() {
        return message(out, b'n', |_| {});
    }
    message(out, b'T', |out| {
        out.put_u16(columns.len() as u16);
        for (at, (name, kind)) in columns.iter().enumerate() {
            let (oid, length) = oid(*kind);
            put_text(out, name);
            // Of no table, and so no column of one.
            out.put_u32(0);
            out.put_u16(0);
            out.put_u32(oid);
            out.put_i16(length);
            out.put_i32(-1);
            out.put_u16(u16::from(form(at) == CellForm::Binary));
        }
    });
}

/// CommandComplete.
pub(crate) fn command_complete(out: &mut BytesMut, tag: &str) {
    message(out, b'C', |out| put_text(out, tag));
}

/// ErrorResponse.
pub(crate) fn error(out: &mut BytesMut, code: &str, text: &str) {
    message(out, b'E', |out| {
        for (field, value) in [(b'S', "ERROR"), (b'V', "ERROR"), (b'C', code), (b'M', text)] {
            out.put_u8(field);
            put_text(out, value);
        }
        out.put_u8(0);
    });
}

/// CopyInResponse: binary, in all columns.
pub(crate) fn copy_in(out: &mut BytesMut, columns: usize) {
    message(out, b'G', |out| {
        out.put_u8(1);
        out.put_u16(columns as u16);
        (0..columns).for_each(|_| out.put_u16(1));
    });
}

/// What a server says at first: come in, this is who I am.
pub(crate) fn greeting(out: &mut BytesMut, version: &str) {
    message(out, b'R', |out| out.put_u32(0));
    let told = [
        ("server_version", version),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("TimeZone", "UTC"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
    ];
    for (name, value) in told {
        message(out, b'S', |out| {
            put_text(out, name);
            put_text(out, value);
        });
    }
    message(out, b'K', |out| out.put_u64(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_has_postgres_own_bytes() {
        let bytes = |unscaled, scale| {
            let mut out = BytesMut::new();
            put_numeric(Decimal { unscaled, scale }, &mut out);
            out.to_vec()
        };
        // As `numeric_send` writes them: count, weight, sign, scale, groups.
        assert_eq!(bytes(0, 2), [0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(bytes(-1000, 2), [0, 1, 0, 0, 0x40, 0, 0, 2, 0, 10]);
        assert_eq!(bytes(1999, 4), [0, 1, 0xff, 0xff, 0, 0, 0, 4, 0x07, 0xcf]);
    }

    #[test]
    fn a_bound_call_is_read_in_either_form() {
        let mut message = BytesMut::new();
        message.put_slice(&[0, 3, 0, 1, 0, 0, 0, 1]); // three forms: binary, text, binary
        message.put_slice(&[0, 3, 0, 0, 0, 2, 0, 7, 0, 0, 0, 2, b'4', b'2', 0xff, 0xff, 0xff, 0xff]);
        message.put_slice(&[0, 1, 0, 1]); // all results binary
        let mut bound = Bound::default();
        bound.read(message.clone().freeze()).unwrap();
        assert_eq!([0, 1, 2].map(|at| bound.int(at)), [Some(7), Some(42), None]);
        assert_eq!((bound.text(1), bound.form(5)), (Some("42"), CellForm::Binary));
        for end in 0..message.len() {
            assert!(bound.read(message.clone().freeze().slice(..end)).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn messages_are_cut_when_they_are_whole() {
        let mut out = BytesMut::new();
        command_complete(&mut out, "SELECT 1");
        let whole = out.clone();
        for end in 0..whole.len() {
            assert!(cut(&mut BytesMut::from(&whole[..end])).unwrap().is_none());
        }
        assert_eq!(cut(&mut out).unwrap().unwrap(), (b'C', Bytes::from_static(b"SELECT 1\0")));
        assert!(cut(&mut BytesMut::from(&b"C\0\0\0\x01"[..])).is_err());
    }
}
