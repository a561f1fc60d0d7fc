//! Statements and their results.

use std::rc::Rc;

use crate::ffi::{Cellular, Done, Handle, NULL};
use crate::{Error, Parameters, Value};

/// A prepared statement.
pub struct Statement {
    handle: Rc<Handle>,
    /// Whether the driver takes arrays of parameters, once that is known.
    arrays: Option<bool>,
}

/// The first result of an execution that has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The columns' names; none if the statement returns no rows.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// Rows inserted, changed or deleted; rows returned where there is a result.
    pub affected: u64,
}

impl std::fmt::Debug for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statement").field("arrays", &self.arrays).finish_non_exhaustive()
    }
}

impl Statement {
    pub(crate) fn new(handle: Rc<Handle>) -> Self {
        Self { handle, arrays: None }
    }

    /// Runs it with one row of parameters.
    ///
    /// # Errors
    /// The driver's refusal; [`Error::Value`] if there is not exactly one row.
    pub fn execute(&mut self, parameters: &mut Parameters) -> Result<Answer, Error> {
        if parameters.rows() != 1 {
            return Err(Error::Value(format!("{} rows of parameters where one must be", parameters.rows())));
        }
        let executed = self.handle.execute(parameters.columns(), 1).and_then(|_| answer(&self.handle));
        close(&self.handle, executed)
    }

    /// Runs it with every row of parameters: as an array where the driver takes one, else row by
    /// row. For statements without a result. Returns how many rows were done.
    ///
    /// # Errors
    /// The driver's refusal of any row; rows before it may have been done.
    pub fn execute_all(&mut self, parameters: &mut Parameters) -> Result<usize, Error> {
        let rows = parameters.rows();
        if rows > 1 && self.arrays != Some(false) {
            let done = self.handle.execute(parameters.columns(), rows);
            match close(&self.handle, done) {
                Err(Error::NoArrays) => self.arrays = Some(false),
                // Some drivers accept the size of the array, and then look at its first row only.
                Ok(done) if done < rows && self.arrays.is_none() => {
                    self.arrays = Some(false);
                    return self.one_by_one(parameters, done..rows);
                }
                other => {
                    self.arrays = Some(true);
                    return other;
                }
            }
        }
        self.one_by_one(parameters, 0..rows)
    }

    fn one_by_one(&self, parameters: &Parameters, rows: std::ops::Range<usize>) -> Result<usize, Error> {
        let end = rows.end;
        for row in rows {
            let done = self.handle.execute(&mut parameters.columns_of(row), 1);
            close(&self.handle, done)?;
        }
        Ok(end)
    }
}

/// Runs a text once, without parameters.
pub(crate) fn run(handle: &Handle, sql: &[u16]) -> Result<Answer, Error> {
    let executed = handle.execute_direct(sql).and_then(|_| answer(handle));
    close(handle, executed)
}

/// Reads the result that a function of the catalog made.
pub(crate) fn catalog(handle: &Handle, made: Result<(), Error>) -> Result<Answer, Error> {
    let executed = made.and_then(|()| answer(handle));
    close(handle, executed)
}

fn close<T>(handle: &Handle, executed: Result<T, Error>) -> Result<T, Error> {
    // What went wrong first is what there is to say.
    let closed = handle.close_cursor();
    let value = executed?;
    closed.map(|()| value)
}

fn answer(handle: &Handle) -> Result<Answer, Error> {
    match handle.column_count()? {
        0 => Ok(Answer { affected: u64::try_from(handle.row_count()?).unwrap_or(0), ..Answer::default() }),
        count => rows(handle, count),
    }
}

fn rows(handle: &Handle, count: u16) -> Result<Answer, Error> {
    let described: Vec<(String, i16)> =
        (1..=count).map(|column| handle.describe_column(column)).collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    while handle.fetch()? != Done::NoData {
        let row = (1..).zip(&described).map(|(column, (_, sql_type))| read(handle, column, *sql_type));
        rows.push(row.collect::<Result<_, _>>()?);
    }
    let columns = described.into_iter().map(|(name, _)| name).collect();
    Ok(Answer { columns, affected: rows.len() as u64, rows })
}

/// Reads a column of the current row as what its SQL type promises.
///
/// Decimals and dates are asked for as characters, whose form ODBC prescribes: structures would go
/// through the driver's own arithmetic, which not every driver has right.
fn read(handle: &Handle, column: u16, sql_type: i16) -> Result<Value, Error> {
    match sql_type {
        // SQL_INTEGER, SQL_SMALLINT, SQL_BIGINT, SQL_TINYINT, SQL_BIT
        4 | 5 | -5 | -6 | -7 => fixed(handle, column, 0_i64, Value::Int),
        // SQL_FLOAT, SQL_REAL, SQL_DOUBLE
        6..=8 => fixed(handle, column, 0_f64, Value::Float),
        // SQL_NUMERIC, SQL_DECIMAL
        2 | 3 => Ok(narrow(handle, column)?.map_or(Value::Null, Value::Decimal)),
        // SQL_TYPE_DATE, SQL_TYPE_TIMESTAMP, and their numbers before ODBC 3
        91 | 93 | 9 | 11 => match narrow(handle, column)? {
            None => Ok(Value::Null),
            Some(text) => match text.parse() {
                Ok(timestamp) => Ok(Value::Timestamp(timestamp)),
                Err(()) => Err(Error::Value(format!("column {column}: `{text}` is no date"))),
            },
        },
        // SQL_WCHAR, SQL_WVARCHAR, SQL_WLONGVARCHAR
        -10..=-8 => Ok(wide(handle, column)?.map_or(Value::Null, Value::Text)),
        _ => Ok(narrow(handle, column)?.map_or(Value::Null, Value::Text)),
    }
}

fn fixed<T: Cellular>(handle: &Handle, column: u16, zero: T, value: impl Fn(T) -> Value) -> Result<Value, Error> {
    let mut cell = [zero];
    let (_, length) = handle.get_data(column, &mut cell)?;
    Ok(if length == NULL { Value::Null } else { value(cell[0]) })
}

fn wide(handle: &Handle, column: u16) -> Result<Option<String>, Error> {
    let not_text = |_| Error::Value(format!("column {column} is not text in UTF-16"));
    units(handle, column, 0_u16)?.map(|units| String::from_utf16(&units).map_err(not_text)).transpose()
}

fn narrow(handle: &Handle, column: u16) -> Result<Option<String>, Error> {
    let not_text = |_| Error::Value(format!("column {column} is not text in UTF-8"));
    units(handle, column, 0_u8)?.map(|units| String::from_utf8(units).map_err(not_text)).transpose()
}

/// Characters of any number, piece by piece; `None` for NULL.
fn units<T: Cellular>(handle: &Handle, column: u16, zero: T) -> Result<Option<Vec<T>>, Error> {
    let mut piece = [zero; 512];
    let mut units = Vec::new();
    loop {
        let (done, length) = handle.get_data(column, &mut piece)?;
        if done == Done::NoData {
            break;
        }
        if length == NULL {
            return Ok(None);
        }
        // A piece that was cut fills the buffer up to its closing zero.
        let room = piece.len() - 1;
        let rest = usize::try_from(length).map_or(usize::MAX, |bytes| bytes / size_of::<T>());
        units.extend_from_slice(&piece[..rest.min(room)]);
        if done == Done::Plainly || rest <= room {
            break;
        }
    }
    Ok(Some(units))
}
