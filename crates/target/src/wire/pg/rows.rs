//! Values on the wire: parameters to their binary form, columns from it.

use std::ops::Range;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use postgres_protocol::IsNull;
use tokio_postgres::types::Type;

use crate::{Decimal, OwnedValue, Value};

/// The epoch of PostgreSQL's dates, 2000-01-01, in microseconds since the Unix epoch.
pub(super) const EPOCH_US: i64 = 946_684_800_000_000;

/// A value that its parameter's type can't hold.
#[derive(Debug, thiserror::Error)]
#[error("{value} does not fit a parameter of type {parameter}")]
pub(super) struct TypeMismatch {
    value: OwnedValue,
    parameter: Type,
}

/// Types of text, whose binary form is the text itself.
const TEXTS: [Type; 5] = [Type::TEXT, Type::VARCHAR, Type::BPCHAR, Type::NAME, Type::UNKNOWN];

/// Whether the server is to read a parameter from its text: of a type whose binary form is not known here, or a text for
/// what is none, which it reads as it would a literal.
pub(super) fn travels_as_text(value: Value<'_>, ty: Option<&Type>) -> bool {
    match (value, ty) {
        (Value::Null, _) => false,
        (Value::Text(_), Some(ty)) => !TEXTS.contains(ty),
        (Value::Int(_), Some(ty)) => {
            ![Type::INT2, Type::INT4, Type::INT8, Type::NUMERIC].contains(ty) && !TEXTS.contains(ty)
        }
        (Value::Decimal(_), Some(ty)) => *ty != Type::NUMERIC && !TEXTS.contains(ty),
        (Value::Timestamp(_), Some(ty)) => ![Type::TIMESTAMP, Type::TIMESTAMPTZ].contains(ty) && !TEXTS.contains(ty),
        (_, None) => true,
    }
}

/// Appends a parameter in its binary form, or as text where it [travels so](travels_as_text).
pub(super) fn put(value: Value<'_>, ty: Option<&Type>, out: &mut BytesMut) -> Result<IsNull, TypeMismatch> {
    if travels_as_text(value, ty) {
        match value {
            Value::Text(text) => out.put_slice(text.as_bytes()),
            other => out.put_slice(other.to_owned().to_string().as_bytes()),
        }
        return Ok(IsNull::No);
    }
    let ty = ty.unwrap_or(&Type::ANY);
    let misfit = || TypeMismatch { value: value.to_owned(), parameter: ty.clone() };
    match (value, ty) {
        (Value::Null, _) => return Ok(IsNull::Yes),
        (Value::Int(v), &Type::INT2) => out.put_i16(v.try_into().map_err(|_| misfit())?),
        (Value::Int(v), &Type::INT4) => out.put_i32(v.try_into().map_err(|_| misfit())?),
        (Value::Int(v), &Type::INT8) => out.put_i64(v),
        (Value::Int(v), &Type::NUMERIC) => put_numeric(v, 0, out),
        (Value::Decimal(d), &Type::NUMERIC) => put_numeric(d.unscaled, d.scale, out),
        (Value::Text(v), &Type::TEXT | &Type::VARCHAR | &Type::BPCHAR | &Type::NAME | &Type::UNKNOWN) => {
            out.put_slice(v.as_bytes());
        }
        (Value::Timestamp(us), &Type::TIMESTAMP | &Type::TIMESTAMPTZ) => out.put_i64(us - EPOCH_US),
        _ => return Err(misfit()),
    }
    Ok(IsNull::No)
}

/// A column of an answer.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// `None` for a type that is not built in.
    pub(super) ty: Option<Type>,
    /// Whether it comes in its binary form, or as text.
    pub(super) binary: bool,
}

/// Types that are read in their binary form.
const READ: [Type; 13] = [
    Type::INT2,
    Type::INT4,
    Type::INT8,
    Type::BOOL,
    Type::FLOAT8,
    Type::NUMERIC,
    Type::TIMESTAMP,
    Type::TIMESTAMPTZ,
    Type::TEXT,
    Type::VARCHAR,
    Type::BPCHAR,
    Type::NAME,
    Type::UNKNOWN,
];

/// The rows of an answer, as they came.
#[derive(Debug)]
pub(crate) struct Rows {
    columns: Arc<[Column]>,
    /// What came for the whole batch.
    data: Bytes,
    cells: Cells,
}

/// The parameters' types that a ParameterDescription tells.
pub(super) fn parameters(body: &[u8]) -> Option<Vec<Option<Type>>> {
    let (_, types) = body.split_first_chunk::<2>()?;
    Some(
        types.chunks_exact(4).map(|oid| Type::from_oid(u32::from_be_bytes([oid[0], oid[1], oid[2], oid[3]]))).collect(),
    )
}

/// The columns that a RowDescription tells. A prepared statement's are asked for in the form that is read best; those of
/// a simple query (`simple`) come as text, all of them.
pub(super) fn columns(body: &[u8], simple: bool) -> Option<Vec<Column>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut columns = Vec::new();
    for _ in 0..i16::from_be_bytes(*count) {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        // The table, the column's number in it, the type; its size, modifier and format follow.
        let (facts, behind) = rest[end + 1..].split_first_chunk::<18>()?;
        let ty = Type::from_oid(u32::from_be_bytes([facts[6], facts[7], facts[8], facts[9]]));
        let binary = !simple && ty.as_ref().is_some_and(|ty| READ.contains(ty));
        columns.push(Column { name, ty, binary });
        rest = behind;
    }
    Some(columns)
}

/// Where the columns of an answer's rows lie, row by row; `None` for NULL.
pub(super) type Cells = Vec<Option<Range<u32>>>;

/// Notes where the columns of a DataRow lie; its body begins at `start`. `None` if it is not one.
pub(super) fn note_cells(body: &[u8], start: usize, cells: &mut Cells) -> Option<()> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut at = start + 2;
    for _ in 0..i16::from_be_bytes(*count) {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        at += 4;
        let length = i32::from_be_bytes(*length);
        if length < 0 {
            cells.push(None);
            rest = behind;
            continue;
        }
        rest = behind.get(length as usize..)?;
        let end = at + length as usize;
        cells.push(Some(u32::try_from(at).ok()?..u32::try_from(end).ok()?));
        at = end;
    }
    Some(())
}

impl Rows {
    pub(super) fn new(columns: Arc<[Column]>, data: Bytes, cells: Cells) -> Self {
        Self { columns, data, cells }
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len() / self.columns.len().max(1)
    }

    pub(crate) fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// A column's type and bytes; `None` for NULL. What came as text is text, whatever its type.
    fn cell(&self, row: usize, column: usize) -> Result<(&Type, Option<&[u8]>), String> {
        let declared = self.columns.get(column).ok_or("no such column")?;
        let ty = match &declared.ty {
            Some(ty) if declared.binary => ty,
            _ => &Type::TEXT,
        };
        let cell = self.cells.get(row * self.columns.len() + column).ok_or("no such row")?;
        Ok((ty, cell.as_ref().map(|place| &self.data[place.start as usize..place.end as usize])))
    }

    /// A column as text.
    pub(crate) fn text(&self, row: usize, column: usize) -> Option<&str> {
        match self.cell(row, column).ok()? {
            (&Type::TEXT | &Type::VARCHAR | &Type::BPCHAR | &Type::NAME | &Type::UNKNOWN, Some(raw)) => {
                std::str::from_utf8(raw).ok()
            }
            _ => None,
        }
    }

    /// A column as a whole number, without a detour: the hot path's most frequent type.
    pub(crate) fn int(&self, row: usize, column: usize) -> Result<Option<i64>, String> {
        match self.cell(row, column)? {
            (_, None) => Ok(None),
            (&Type::INT4, Some(raw)) => fixed(raw).map(|raw| Some(i32::from_be_bytes(raw).into())),
            (&Type::INT2, Some(raw)) => fixed(raw).map(|raw| Some(i16::from_be_bytes(raw).into())),
            (&Type::INT8, Some(raw)) => fixed(raw).map(|raw| Some(i64::from_be_bytes(raw))),
            (&Type::NUMERIC, Some(raw)) => {
                let whole = get_numeric(raw).and_then(|d| d.at_scale(0));
                whole.map(Some).ok_or_else(|| "not a whole number".to_owned())
            }
            _ => Err("not a number".to_owned()),
        }
    }

    /// A column as a value of ours.
    pub(crate) fn value(&self, row: usize, column: usize) -> Result<OwnedValue, String> {
        let (ty, Some(raw)) = self.cell(row, column)? else { return Ok(OwnedValue::Null) };
        Ok(match *ty {
            Type::INT2 => OwnedValue::Int(i16::from_be_bytes(fixed(raw)?).into()),
            Type::INT4 => OwnedValue::Int(i32::from_be_bytes(fixed(raw)?).into()),
            Type::INT8 => OwnedValue::Int(i64::from_be_bytes(fixed(raw)?)),
            Type::BOOL => OwnedValue::Int(u8::from_be_bytes(fixed(raw)?).into()),
            Type::FLOAT8 => OwnedValue::Float(f64::from_be_bytes(fixed(raw)?)),
            Type::NUMERIC => OwnedValue::Decimal(get_numeric(raw).ok_or("a number of too many digits")?),
            Type::TIMESTAMP | Type::TIMESTAMPTZ => {
                OwnedValue::Timestamp(i64::from_be_bytes(fixed(raw)?).saturating_add(EPOCH_US))
            }
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => {
                OwnedValue::Text(std::str::from_utf8(raw).map_err(|e| e.to_string())?.to_owned())
            }
            ref other => return Err(format!("a column of type {other}")),
        })
    }
}

fn fixed<const N: usize>(raw: &[u8]) -> Result<[u8; N], String> {
    raw.try_into().map_err(|_| format!("{} bytes where {N} must be", raw.len()))
}

/// NUMERIC's wire form: groups of four decimal digits around the point, without leading or trailing zero groups.
pub(super) fn put_numeric(unscaled: i64, scale: u8, out: &mut impl BufMut) {
    let pad = (4 - scale % 4) % 4;
    let mut digits = u128::from(unscaled.unsigned_abs()) * 10_u128.pow(u32::from(pad));
    let fraction_groups = i16::from((scale + pad) / 4);
    let mut groups = [0_i16; 12];
    let mut count = 0;
    while digits > 0 {
        groups[count] = (digits % 10_000) as i16;
        digits /= 10_000;
        count += 1;
    }
    let weight = count as i16 - fraction_groups - 1;
    let trailing = groups[..count].iter().take_while(|g| **g == 0).count();
    out.put_i16((count - trailing) as i16);
    out.put_i16(if count == 0 { 0 } else { weight });
    out.put_u16(if unscaled < 0 { 0x4000 } else { 0 });
    out.put_u16(u16::from(scale));
    for group in groups[trailing..count].iter().rev() {
        out.put_i16(*group);
    }
}

fn get_numeric(raw: &[u8]) -> Option<Decimal> {
    let mut words = raw.chunks_exact(2).map(|w| i16::from_be_bytes([w[0], w[1]]));
    let (count, weight, sign, scale) = (words.next()?, words.next()?, words.next()? as u16, words.next()?);
    if !matches!(sign, 0 | 0x4000) {
        return None; // NaN or infinite
    }
    // The value is Σ group × 10000^(weight - position); brought to `scale` digits behind the point.
    let mut unscaled: i128 = 0;
    for group in words.by_ref().take(usize::try_from(count).ok()?) {
        unscaled = unscaled.checked_mul(10_000)?.checked_add(i128::from(group))?;
    }
    let last_group_exponent = 4 * (i32::from(weight) - i32::from(count) + 1);
    let shift = last_group_exponent + i32::from(scale);
    if shift >= 0 {
        unscaled = unscaled.checked_mul(10_i128.checked_pow(shift as u32)?)?;
    } else {
        unscaled /= 10_i128.checked_pow(shift.unsigned_abs())?;
    }
    let unscaled = i64::try_from(if sign == 0 { unscaled } else { -unscaled }).ok()?;
    Some(Decimal { unscaled, scale: u8::try_from(scale).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_has_postgres_own_bytes() {
        let bytes = |unscaled, scale| {
            let mut out = BytesMut::new();
            put_numeric(unscaled, scale, &mut out);
            out.to_vec()
        };
        // As `numeric_send` writes them: count, weight, sign, scale, groups.
        assert_eq!(bytes(0, 2), [0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(bytes(-1000, 2), [0, 1, 0, 0, 0x40, 0, 0, 2, 0, 10]);
        assert_eq!(bytes(1, 2), [0, 1, 0xff, 0xff, 0, 0, 0, 2, 0, 100]);
        assert_eq!(bytes(30_000_000, 2), [0, 1, 0, 1, 0, 0, 0, 2, 0, 30]);
        assert_eq!(bytes(1999, 4), [0, 1, 0xff, 0xff, 0, 0, 0, 4, 0x07, 0xcf]);
    }

    #[test]
    fn numeric_survives_the_round_trip() {
        for scale in [0, 1, 2, 4, 5] {
            for unscaled in [0, 1, -1, 9, 10, 99_99, 10_000, -123_456_789, 99_999_999_999_999, i64::MAX, i64::MIN + 1] {
                let mut out = BytesMut::new();
                put_numeric(unscaled, scale, &mut out);
                assert_eq!(get_numeric(&out), Some(Decimal { unscaled, scale }), "{unscaled} at {scale}");
            }
        }
    }
}
