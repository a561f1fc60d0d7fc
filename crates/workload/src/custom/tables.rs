//! The rows of a workload's tables: any row from (seed, table, position), in whatever order.

use std::sync::Arc;

use target::bulk::{Bulk, RowSink};
use target::schema::{self, ColumnType};
use target::{Decimal, OwnedValue};
use tpcc::rng::Stream;

use crate::data_set::DataSet;
use crate::values::Generator;

use super::file::{self, Custom};
use super::{fnv, reference, with_rows};

/// The tables of a workload at a scale.
#[derive(Clone, Debug)]
pub struct Data(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    scale: f64,
    seed: u64,
    schemas: Vec<&'static schema::Table>,
    tables: Vec<Filled>,
}

/// A table's rows.
#[derive(Debug)]
struct Filled {
    rows: u64,
    seed: u64,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    kind: ColumnType,
    nulls: f64,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Sequence(i64),
    Drawn(Generator),
    /// The value of a column of any row of a table.
    Of(usize, usize),
}

/// Rows of a table.
const MOST_ROWS: u64 = 100_000_000_000;

/// The largest scale.
pub const MAX_SCALE: f64 = 1_000_000.0;

impl Data {
    /// The tables of a workload at a scale above 0.
    ///
    /// # Errors
    /// A type or a generator that can't be read, or that don't go together.
    pub fn new(custom: &Custom, scale: f64, seed: u64) -> Result<Self, String> {
        let rows = |table: &file::Table| match table.fixed {
            true => table.rows,
            false => ((table.rows as f64 * scale).round() as u64).max(u64::from(table.rows > 0)),
        };
        let rows_of = |name: &str| custom.tables.iter().find(|table| table.name == name).map(rows);
        let (mut schemas, mut tables) = (Vec::new(), Vec::<Filled>::new());
        for table in &custom.tables {
            let mut columns = Vec::new();
            for column in &table.columns {
                let wrong = |why: String| format!("table {}: {}: {why}", table.name, column.name);
                let kind = column_type(&column.kind).map_err(wrong)?;
                let value = match reference(&column.value) {
                    // Nothing is ever drawn for it.
                    _ if table.rows == 0 && column.value.is_empty() => Value::Sequence(0),
                    Some((of, named)) => {
                        let (at, parent) = place(&custom.tables[..tables.len()], of, named).map_err(wrong)?;
                        let taken = &tables[at].columns[parent];
                        if tables[at].rows == 0 && table.rows > 0 {
                            return Err(wrong(format!("the table {of} is empty: no row can be taken from it")));
                        }
                        if !holds(kind, taken.kind) {
                            return Err(wrong(format!("{} has another type, or a wider one", column.value)));
                        }
                        if taken.nulls > 0.0 && column.nulls == 0.0 {
                            return Err(wrong(format!("{} may be NULL: give this column `nulls` too", column.value)));
                        }
                        Value::Of(at, parent)
                    }
                    None => {
                        let written = with_rows(&column.value, rows_of).map_err(wrong)?;
                        let generator = Generator::parse(&written).map_err(wrong)?;
                        fits(&generator, kind, rows(table)).map_err(wrong)?;
                        match generator {
                            Generator::Sequence(first) => Value::Sequence(first),
                            drawn => Value::Drawn(drawn),
                        }
                    }
                };
                columns.push(Column { kind, nulls: column.nulls, value });
            }
            if rows(table) > MOST_ROWS {
                return Err(format!("table {}: at this scale it has more than {MOST_ROWS} rows", table.name));
            }
            schemas.push(schema_of(table, &columns));
            // Other tables of other names have other rows; the same name and seed make the same ones.
            let seed = fnv(seed, &table.name);
            tables.push(Filled { rows: rows(table), seed, columns });
        }
        Ok(Self(Arc::new(Inner { name: custom.name.clone(), scale, seed, schemas, tables })))
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.0.scale
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The rows of a table, by its name.
    pub fn rows_of(&self, table: &str) -> Option<u64> {
        let at = self.0.schemas.iter().position(|known| known.name == table)?;
        Some(self.0.tables[at].rows)
    }

    /// The positions of a table and one of its columns, by their names.
    ///
    /// # Errors
    /// If there is no such table, or column.
    pub(super) fn place(&self, table: &str, column: &str) -> Result<(usize, usize), String> {
        let at = self.0.schemas.iter().position(|known| known.name == table);
        let at = at.ok_or_else(|| format!("there is no table `{table}` in this file"))?;
        let named = self.0.schemas[at].columns.iter().position(|known| known.name == column);
        Ok((at, named.ok_or_else(|| format!("the table {table} has no column `{column}`"))?))
    }

    /// The value of a column of the row at a position.
    pub(super) fn value(&self, table: usize, column: usize, position: u64) -> OwnedValue {
        let taken = &self.0.tables[table].columns[column];
        if let Value::Sequence(first) = taken.value
            && taken.nulls == 0.0
        {
            return of_kind(taken.kind, OwnedValue::Int(first + position as i64));
        }
        self.row(table, position).nth(column).unwrap_or(OwnedValue::Null)
    }

    /// The values of the row at a position, in the order of its columns.
    pub(super) fn row(&self, table: usize, position: u64) -> impl Iterator<Item = OwnedValue> {
        let filled = &self.0.tables[table];
        let mut rng = Stream::for_terminal(filled.seed, position);
        // Of one table all values are of one row.
        let mut picked: Vec<(usize, u64)> = Vec::new();
        filled.columns.iter().map(move |column| {
            let is_null = column.nulls > 0.0 && rng.unit() <= column.nulls;
            let value = match &column.value {
                Value::Sequence(first) => OwnedValue::Int(first + position as i64),
                Value::Drawn(generator) => generator.draw(&mut rng, &mut 0),
                Value::Of(parent, of) => {
                    let known = picked.iter().find(|(table, _)| table == parent).map(|(_, position)| *position);
                    let position = known.unwrap_or_else(|| {
                        let position = rng.uniform(0, self.0.tables[*parent].rows as i64 - 1) as u64;
                        picked.push((*parent, position));
                        position
                    });
                    self.value(*parent, *of, position)
                }
            };
            if is_null { OwnedValue::Null } else { of_kind(column.kind, value) }
        })
    }
}

impl DataSet for Data {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn tables(&self) -> &[&'static schema::Table] {
        &self.0.schemas
    }

    fn rows(&self, table: usize) -> u64 {
        self.0.tables[table].rows
    }

    fn write(&self, table: usize, position: u64, sink: &mut Bulk<'_>) {
        write(self, table, position, sink);
    }

    fn foreign_keys(&self) -> bool {
        true
    }
}

/// Says a row to any sink.
pub fn write(data: &Data, table: usize, position: u64, sink: &mut impl RowSink) {
    sink.start_row();
    for (column, value) in data.0.tables[table].columns.iter().zip(data.row(table, position)) {
        match (column.kind, value) {
            (_, OwnedValue::Null) => sink.null(),
            (ColumnType::SmallInt, OwnedValue::Int(number)) => sink.small_int(number as i32),
            (ColumnType::Int, OwnedValue::Int(number)) => sink.int(number as i32),
            (ColumnType::BigInt, OwnedValue::Int(number)) => sink.big_int(number),
            (ColumnType::Decimal { scale, .. }, OwnedValue::Decimal(decimal)) => sink.decimal(decimal.unscaled, scale),
            (ColumnType::Timestamp, OwnedValue::Timestamp(us)) => sink.timestamp(us),
            (ColumnType::Uuid, OwnedValue::Text(text)) => sink.uuid(uuid(&text)),
            (_, value) => sink.text(&value.to_string()),
        }
    }
}

/// A value that [`fits`] let through as the column has it, so that it also finds the column's rows as a parameter.
fn of_kind(kind: ColumnType, value: OwnedValue) -> OwnedValue {
    match (kind, value) {
        (ColumnType::Decimal { scale, .. }, OwnedValue::Decimal(decimal)) => {
            OwnedValue::Decimal(Decimal { unscaled: decimal.at_scale(scale).unwrap_or_default(), scale })
        }
        (ColumnType::Decimal { scale, .. }, OwnedValue::Int(number)) => {
            let whole = Decimal { unscaled: number, scale: 0 };
            OwnedValue::Decimal(Decimal { unscaled: whole.at_scale(scale).unwrap_or_default(), scale })
        }
        (ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt, OwnedValue::Text(text)) => {
            OwnedValue::Int(text.parse().unwrap_or_default())
        }
        (ColumnType::Char(_) | ColumnType::Varchar(_), OwnedValue::Int(number)) => OwnedValue::Text(number.to_string()),
        (_, value) => value,
    }
}

/// The bytes of an identifier as its generator writes it.
fn uuid(text: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    let digits = text.bytes().filter_map(|byte| char::from(byte).to_digit(16));
    for (at, digit) in digits.take(32).enumerate() {
        bytes[at / 2] = bytes[at / 2] << 4 | digit as u8;
    }
    bytes
}

/// The positions of a table among those before it, and of one of its columns.
fn place(before: &[file::Table], table: &str, column: &str) -> Result<(usize, usize), String> {
    let at = before.iter().position(|known| known.name == table);
    let at = at.ok_or_else(|| format!("there is no table `{table}` before this one"))?;
    let named = before[at].columns.iter().position(|known| known.name == column);
    Ok((at, named.ok_or_else(|| format!("the table {table} has no column `{column}`"))?))
}

/// Reads a type as it is written.
pub(super) fn column_type(text: &str) -> Result<ColumnType, String> {
    let bad = || {
        format!(
            "`{text}` is no type: use smallint, int, bigint, decimal(12, 2), char(10), varchar(40), timestamp or uuid"
        )
    };
    let (name, inside) = match text.trim().split_once('(') {
        Some((name, rest)) => (name.trim(), rest.trim().strip_suffix(')').ok_or_else(bad)?),
        None => (text.trim(), ""),
    };
    let numbers: Vec<u16> = match inside {
        "" => Vec::new(),
        inside => inside.split(',').map(|part| part.trim().parse().map_err(|_| bad())).collect::<Result<_, _>>()?,
    };
    Ok(match (name, numbers.as_slice()) {
        ("smallint", []) => ColumnType::SmallInt,
        ("int", []) => ColumnType::Int,
        ("bigint", []) => ColumnType::BigInt,
        ("timestamp", []) => ColumnType::Timestamp,
        ("uuid", []) => ColumnType::Uuid,
        ("decimal", &[precision @ 2..=18, scale @ 1..=8]) if scale < precision => {
            ColumnType::Decimal { precision: precision as u8, scale: scale as u8 }
        }
        ("char", &[length @ 1..=255]) => ColumnType::Char(length),
        ("varchar", &[length @ 1..=16_000]) => ColumnType::Varchar(length),
        _ => return Err(bad()),
    })
}

/// Whether a type holds all values of another one.
fn holds(kind: ColumnType, taken: ColumnType) -> bool {
    match (kind, taken) {
        (ColumnType::Varchar(width), ColumnType::Char(taken) | ColumnType::Varchar(taken)) => width >= taken,
        (ColumnType::Decimal { precision, scale }, ColumnType::Decimal { precision: digits, scale: behind }) => {
            scale == behind && precision >= digits
        }
        (ColumnType::BigInt, ColumnType::Int | ColumnType::SmallInt) | (ColumnType::Int, ColumnType::SmallInt) => true,
        (kind, taken) => kind == taken,
    }
}

/// Whether all values of a generator are of a type.
fn fits(generator: &Generator, kind: ColumnType, rows: u64) -> Result<(), String> {
    let (low, high) = match generator {
        Generator::Uniform(low, high) | Generator::Nurand(_, low, high) => (*low, *high),
        Generator::Zipf(n, _) => (1, *n),
        Generator::Sequence(first) => (*first, first.saturating_add_unsigned(rows.saturating_sub(1))),
        _ => (0, 0),
    };
    let whole = matches!(
        generator,
        Generator::Uniform(..) | Generator::Nurand(..) | Generator::Zipf(..) | Generator::Sequence(_)
    );
    let bounds = match kind {
        ColumnType::SmallInt => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        ColumnType::Int => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        ColumnType::BigInt => Some((i64::MIN, i64::MAX)),
        ColumnType::Decimal { precision, scale } => {
            let most = 10_i64.pow(u32::from(precision - scale)) - 1;
            Some((-most, most))
        }
        _ => None,
    };
    match (kind, generator, bounds) {
        (_, _, Some((least, most))) if whole => match low < least || high > most {
            true => Err(format!("{low} to {high} go beyond the type")),
            false => Ok(()),
        },
        (
            ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt,
            Generator::Choice(texts),
            Some((least, most)),
        ) => match texts.iter().all(|text| text.parse().is_ok_and(|number: i64| (least..=most).contains(&number))) {
            true => Ok(()),
            false => Err("not all choices are numbers of the type".to_owned()),
        },
        (ColumnType::Decimal { precision, scale }, Generator::Decimal(low, high), _) => {
            let most = 10_i64.pow(u32::from(precision));
            // Between ends of more digits are values of more digits.
            let inside =
                |end: &Decimal| end.scale <= scale && end.at_scale(scale).is_some_and(|digits| digits.abs() < most);
            match inside(low) && inside(high) {
                true => Ok(()),
                false => Err("its ends have more digits than the type".to_owned()),
            }
        }
        (ColumnType::Timestamp, Generator::Timestamp(..), _) | (ColumnType::Uuid, Generator::Uuid, _) => Ok(()),
        (_, Generator::Now(_), _) => {
            Err("the time of the load would make other rows each time: use timestamp(2026-01-01, 2026-12-31)"
                .to_owned())
        }
        (ColumnType::Char(length) | ColumnType::Varchar(length), generator, _) => {
            let longest = match generator {
                Generator::Text(_, most) => *most,
                Generator::Choice(texts) => texts.iter().map(|text| text.chars().count()).max().unwrap_or(0),
                Generator::Uuid => 36,
                _ if whole => low.to_string().len().max(high.to_string().len()),
                _ => return Err("no generator of texts".to_owned()),
            };
            match longest > usize::from(length) {
                true => Err(format!("its values have up to {longest} characters, the type {length}")),
                false => Ok(()),
            }
        }
        _ => Err("its generator makes values of another type".to_owned()),
    }
}

/// The table's schema. It lives as long as the process, which reads a file or two.
fn schema_of(table: &file::Table, columns: &[Column]) -> &'static schema::Table {
    let columns = table.columns.iter().zip(columns).map(|(written, column)| schema::Column {
        name: leaked(&written.name),
        kind: column.kind,
        nullable: column.nulls > 0.0,
    });
    let index =
        |(name, columns): (&String, &Vec<String>)| schema::Index { name: leaked(name), columns: names(columns) };
    let key = |(name, key): (&String, &file::ForeignKey)| schema::ForeignKey {
        name: leaked(name),
        columns: names(&key.columns),
        parent: leaked(&key.table),
        parent_columns: names(&key.references),
    };
    Box::leak(Box::new(schema::Table {
        name: leaked(&table.name),
        columns: Vec::leak(columns.collect()),
        primary_key: names(&table.primary_key),
        foreign_keys: Vec::leak(table.foreign_keys.iter().map(key).collect()),
        checks: &[],
        indexes: Vec::leak(table.indexes.iter().map(index).collect()),
        spread_by: None,
    }))
}

fn leaked(text: &str) -> &'static str {
    String::leak(text.to_owned())
}

fn names(list: &[String]) -> &'static [&'static str] {
    Vec::leak(list.iter().map(|name| leaked(name)).collect())
}
