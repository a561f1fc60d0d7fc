//! The only unsafe code of the house: the calls into the driver manager.
//!
//! Why it is needed: ODBC is a C interface, and there is no other way to a database that offers
//! nothing else. It is opened at run time, so that a program that is never asked for ODBC neither
//! links nor needs it.
//!
//! Why it is sound: every function here is safe to call with any argument. It rests on these points.
//!
//! * The signatures are those of unixODBC's `sql.h`, `sqlext.h` and `sqlucode.h` on a 64-bit system
//!   (`SQLWCHAR` is 16 bits, `SQLLEN` and `SQLULEN` are as wide as a pointer).
//! * The driver manager checks a handle's kind, and the state it is in, before anything else.
//! * A [`Handle`] is made by `SQLAllocHandle` alone, freed once, in `drop`, and keeps its parent
//!   alive. It holds a raw pointer, so the compiler keeps it on one thread.
//! * Memory is lent to the driver for the length of one call, with its true length. What ODBC
//!   keeps longer (bound parameters) is unbound before [`Handle::execute`] returns.
//! * The driver manager and the driver keep ODBC's contract: they write no more than the length given.
//!   They are the user's choice, like any other library of the process.
#![allow(unsafe_code, reason = "the one module that calls C")]

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::OnceLock;

use libloading::Library;

use crate::parameters::{Cells, Column};
use crate::{Diagnostic, Error};

/// Where unixODBC's driver manager is, by the name that its interface's version gives it.
#[cfg(not(target_os = "macos"))]
const LIBRARY: &str = "libodbc.so.2";
#[cfg(target_os = "macos")]
const LIBRARY: &str = "libodbc.2.dylib";

type Raw = *mut c_void;

macro_rules! functions {
    ($($name:ident: $symbol:literal fn($($argument:ty),*);)*) => {
        /// The driver manager's functions that are used here. All return an SQLRETURN.
        struct Functions {
            $($name: unsafe extern "system" fn($($argument),*) -> i16,)*
            /// Keeps the code behind the pointers in memory.
            _library: Library,
        }

        impl Functions {
            fn find(library: Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: the symbol is a function of the interface's standard, with the signature above.
                    // The copied pointer stays valid, since the library is stored beside it and never closed.
                    $($name: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }?,)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    alloc_handle: "SQLAllocHandle" fn(i16, Raw, *mut Raw);
    free_handle: "SQLFreeHandle" fn(i16, Raw);
    set_env_attr: "SQLSetEnvAttr" fn(Raw, i32, Raw, i32);
    driver_connect: "SQLDriverConnectW" fn(Raw, Raw, *const u16, i16, *mut u16, i16, *mut i16, u16);
    disconnect: "SQLDisconnect" fn(Raw);
    set_connect_attr: "SQLSetConnectAttrW" fn(Raw, i32, Raw, i32);
    get_info: "SQLGetInfoW" fn(Raw, u16, Raw, i16, *mut i16);
    end_tran: "SQLEndTran" fn(i16, Raw, i16);
    prepare: "SQLPrepareW" fn(Raw, *const u16, i32);
    exec_direct: "SQLExecDirectW" fn(Raw, *const u16, i32);
    bind_parameter: "SQLBindParameter" fn(Raw, u16, i16, i16, i16, usize, i16, Raw, isize, *mut isize);
    execute: "SQLExecute" fn(Raw);
    set_stmt_attr: "SQLSetStmtAttrW" fn(Raw, i32, Raw, i32);
    get_stmt_attr: "SQLGetStmtAttrW" fn(Raw, i32, Raw, i32, *mut i32);
    num_result_cols: "SQLNumResultCols" fn(Raw, *mut i16);
    describe_col: "SQLDescribeColW" fn(Raw, u16, *mut u16, i16, *mut i16, *mut i16, *mut usize, *mut i16, *mut i16);
    fetch: "SQLFetch" fn(Raw);
    get_data: "SQLGetData" fn(Raw, u16, i16, Raw, isize, *mut isize);
    row_count: "SQLRowCount" fn(Raw, *mut isize);
    free_stmt: "SQLFreeStmt" fn(Raw, u16);
    tables: "SQLTablesW" fn(Raw, *const u16, i16, *const u16, i16, *const u16, i16, *const u16, i16);
    get_type_info: "SQLGetTypeInfoW" fn(Raw, i16);
    get_diag_rec: "SQLGetDiagRecW" fn(i16, Raw, i16, *mut u16, *mut i32, *mut u16, i16, *mut i16);
}

/// The driver manager, opened when it is first asked for.
fn functions() -> Result<&'static Functions, Error> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    let opened = FUNCTIONS.get_or_init(|| {
        if cfg!(target_feature = "crt-static") {
            return Err("this weighbridge is linked statically, so it can't open ODBC drivers: use one that \
                        `cargo build --release` makes for this machine's C library"
                .to_owned());
        }
        // SAFETY: opening a library runs its initialisers. unixODBC's only set up its own locale and mutexes.
        let library = unsafe { Library::new(LIBRARY) };
        library.and_then(Functions::find).map_err(|e| {
            format!("can't open the ODBC driver manager {LIBRARY}: {e}; install it (apt-get install unixodbc)")
        })
    });
    opened.as_ref().map_err(|reason| Error::Manager(reason.clone()))
}

const SUCCESS: i16 = 0;
const SUCCESS_WITH_INFO: i16 = 1;
const NO_DATA: i16 = 100;
const NULL_TERMINATED: i16 = -3;

const HANDLE_ENVIRONMENT: i16 = 1;
const HANDLE_CONNECTION: i16 = 2;
const HANDLE_STATEMENT: i16 = 3;

const ATTR_ODBC_VERSION: i32 = 200;
const VERSION_3_80: usize = 380;
const DRIVER_NOPROMPT: u16 = 0;
const END_ROLLBACK: i16 = 1;
const END_COMMIT: i16 = 0;
const CLOSE: u16 = 0;
const RESET_PARAMS: u16 = 3;
const PARAM_INPUT: i16 = 1;
const ATTR_PARAM_STATUS_PTR: i32 = 20;
const ATTR_PARAMS_PROCESSED_PTR: i32 = 21;
const ATTR_PARAMSET_SIZE: i32 = 22;
const PARAM_UNUSED: u16 = 7;
const PARAM_ERROR: u16 = 5;

/// SQL_NULL_DATA: in place of a length, NULL.
pub(crate) const NULL: isize = -1;

/// How a call went that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Plainly,
    /// With a diagnostic: a warning, or a value that was cut.
    WithInfo,
    /// There was nothing (more): no row, no further result, no row changed.
    NoData,
}

/// What a driver may write a column into.
///
/// # Safety
/// Any bytes must be a value of the type, and `C_TYPE` must name the C type that it is.
pub(crate) unsafe trait Cellular: Copy {
    const C_TYPE: i16;
}
// SAFETY: SQL_C_SBIGINT is a signed integer of 64 bits.
unsafe impl Cellular for i64 {
    const C_TYPE: i16 = -25;
}
// SAFETY: SQL_C_DOUBLE is a float of 64 bits.
unsafe impl Cellular for f64 {
    const C_TYPE: i16 = 8;
}
// SAFETY: SQL_C_WCHAR is made of units of 16 bits.
unsafe impl Cellular for u16 {
    const C_TYPE: i16 = -8;
}
// SAFETY: SQL_C_CHAR is made of bytes.
unsafe impl Cellular for u8 {
    const C_TYPE: i16 = 1;
}

/// An environment, a connection or a statement, freed when dropped.
pub(crate) struct Handle {
    functions: &'static Functions,
    kind: i16,
    raw: Raw,
    /// A connection that was made, and must be closed.
    connected: Cell<bool>,
    /// A statement to which the driver would not let go of bound memory.
    unusable: Cell<bool>,
    /// Freed after its children.
    _parent: Option<Rc<Handle>>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.connected.get() {
            // A connection with an open transaction refuses to be closed.
            // SAFETY: the handle is a connection's, alive until the end of this function.
            unsafe { (self.functions.end_tran)(HANDLE_CONNECTION, self.raw, END_ROLLBACK) };
            // SAFETY: as above; its statements hold it as their parent, so all are gone.
            unsafe { (self.functions.disconnect)(self.raw) };
        }
        // SAFETY: made by SQLAllocHandle, freed here and nowhere else, its children gone before it.
        unsafe { (self.functions.free_handle)(self.kind, self.raw) };
    }
}

impl Handle {
    /// An environment for ODBC 3.8.
    pub(crate) fn environment() -> Result<Rc<Self>, Error> {
        let functions = functions()?;
        let mut raw = null_mut();
        // SAFETY: an environment has no parent; `raw` outlives the call.
        let code = unsafe { (functions.alloc_handle)(HANDLE_ENVIRONMENT, null_mut(), &raw mut raw) };
        if code != SUCCESS && code != SUCCESS_WITH_INFO {
            return Err(Error::Manager("the ODBC driver manager gives no environment".into()));
        }
        let handle = Self::new(functions, HANDLE_ENVIRONMENT, raw, None);
        // SAFETY: the attribute's value is a number in the pointer's place, not an address.
        let code = unsafe { (functions.set_env_attr)(raw, ATTR_ODBC_VERSION, VERSION_3_80 as Raw, 0) };
        handle.check(code)?;
        Ok(Rc::new(handle))
    }

    /// A connection of this environment, not yet made.
    pub(crate) fn connection(self: &Rc<Self>) -> Result<Rc<Self>, Error> {
        self.child(HANDLE_CONNECTION)
    }

    /// A statement of this connection.
    pub(crate) fn statement(self: &Rc<Self>) -> Result<Rc<Self>, Error> {
        self.child(HANDLE_STATEMENT)
    }

    fn child(self: &Rc<Self>, kind: i16) -> Result<Rc<Self>, Error> {
        let mut raw = null_mut();
        // SAFETY: the parent is alive; the manager refuses a parent of the wrong kind; `raw` outlives the call.
        let code = unsafe { (self.functions.alloc_handle)(kind, self.raw, &raw mut raw) };
        self.check(code)?;
        Ok(Rc::new(Self::new(self.functions, kind, raw, Some(self.clone()))))
    }

    fn new(functions: &'static Functions, kind: i16, raw: Raw, parent: Option<Rc<Handle>>) -> Self {
        Self { functions, kind, raw, connected: Cell::new(false), unusable: Cell::new(false), _parent: parent }
    }

    /// Makes the connection.
    pub(crate) fn connect(&self, connection_string: &[u16]) -> Result<(), Error> {
        let length = i16::try_from(connection_string.len())
            .map_err(|_| Error::Value("the connection string is too long".into()))?;
        // SAFETY: the string is lent with its length; no window and no completed string are asked for.
        let code = unsafe {
            (self.functions.driver_connect)(
                self.raw,
                null_mut(),
                connection_string.as_ptr(),
                length,
                null_mut(),
                0,
                null_mut(),
                DRIVER_NOPROMPT,
            )
        };
        self.check(code)?;
        self.connected.set(true);
        Ok(())
    }

    /// Sets an attribute of a connection that is a number.
    pub(crate) fn set_connection_attribute(&self, attribute: Attribute, value: usize) -> Result<(), Error> {
        // SAFETY: the attributes of the enumeration are numbers, which stand in the pointer's place.
        let code = unsafe { (self.functions.set_connect_attr)(self.raw, attribute as i32, value as Raw, 0) };
        self.check(code).map(drop)
    }

    /// A text that the driver or the data source has to say of itself.
    pub(crate) fn info_text(&self, info: u16) -> Result<String, Error> {
        let mut text = [0_u16; 512];
        let mut bytes: i16 = 0;
        // SAFETY: the buffer is lent with its length in bytes, which bounds a number's answer too.
        let code = unsafe { (self.functions.get_info)(self.raw, info, text.as_mut_ptr().cast(), 1024, &raw mut bytes) };
        self.check(code)?;
        let units = usize::try_from(bytes / 2).unwrap_or(0).min(text.len() - 1);
        Ok(String::from_utf16_lossy(&text[..units]))
    }

    /// A number of 32 bits that the driver or the data source has to say of itself.
    pub(crate) fn info_number(&self, info: u16) -> Result<u32, Error> {
        let mut number = [0_u32; 256];
        // SAFETY: the buffer is lent with its length in bytes, which bounds a text's answer too.
        let code = unsafe { (self.functions.get_info)(self.raw, info, number.as_mut_ptr().cast(), 1024, null_mut()) };
        self.check(code)?;
        Ok(number[0])
    }

    /// Ends the connection's transaction.
    pub(crate) fn end(&self, commit: bool) -> Result<(), Error> {
        let how = if commit { END_COMMIT } else { END_ROLLBACK };
        // SAFETY: the handle is alive; the manager checks its kind.
        let code = unsafe { (self.functions.end_tran)(HANDLE_CONNECTION, self.raw, how) };
        self.check(code).map(drop)
    }

    /// Prepares a statement.
    pub(crate) fn prepare(&self, sql: &[u16]) -> Result<(), Error> {
        // SAFETY: the text is lent with its length.
        let code = unsafe { (self.functions.prepare)(self.raw, sql.as_ptr(), length(sql)?) };
        self.check(code).map(drop)
    }

    /// Runs a text without parameters.
    pub(crate) fn execute_direct(&self, sql: &[u16]) -> Result<Done, Error> {
        // SAFETY: the text is lent with its length; no memory is bound, see `execute`.
        let code = unsafe { (self.functions.exec_direct)(self.raw, sql.as_ptr(), length(sql)?) };
        self.check(code)
    }

    /// Runs the prepared statement with `rows` sets of parameters. Returns how many sets were done.
    pub(crate) fn execute(&self, columns: &mut [Column], rows: usize) -> Result<usize, Error> {
        if self.unusable.get() {
            return Err(Error::Value("the driver did not let go of an earlier execution's parameters".into()));
        }
        let mut processed: usize = 0;
        let mut status = vec![PARAM_UNUSED; rows];
        let mut bound = Bound { statement: self, attributes: Vec::new() };
        for (number, column) in (1..).zip(columns) {
            self.bind(number, column, rows)?;
        }
        if rows != 1 {
            let taken = bound.set(ATTR_PARAMSET_SIZE, rows as Raw)
                && self.statement_attribute(ATTR_PARAMSET_SIZE).is_ok_and(|size| size == rows)
                && bound.set(ATTR_PARAMS_PROCESSED_PTR, (&raw mut processed).cast())
                && bound.set(ATTR_PARAM_STATUS_PTR, status.as_mut_ptr().cast());
            if !taken {
                return Err(Error::NoArrays);
            }
        }
        // SAFETY: all bound memory (the columns, `processed`, `status`) outlives `bound`, which unbinds it.
        let code = unsafe { (self.functions.execute)(self.raw) };
        let done = self.check(code);
        drop(bound);
        let done = done?;
        if rows == 1 {
            return Ok(1);
        }
        if status.contains(&PARAM_ERROR) {
            return Err(if done == Done::WithInfo { self.failure() } else { Error::Value("a row was refused".into()) });
        }
        Ok(processed)
    }

    /// Lends a column of parameters until it is unbound.
    fn bind(&self, number: u16, column: &mut Column, rows: usize) -> Result<(), Error> {
        let (sql_type, size, digits) = (column.sql_type, column.size(), column.scale);
        let (c_type, address, cell) = match &mut column.cells {
            Cells::Int(cells) => lend(cells, column.width, rows),
            Cells::Narrow(cells) => lend(cells, column.width, rows),
            Cells::Wide(cells) => lend(cells, column.width, rows),
        }?;
        let cell = isize::try_from(cell).unwrap_or(isize::MAX);
        let lengths = &mut column.lengths;
        // The driver reads as many lengths as rows, and as many bytes as a length says.
        if lengths.len() < rows || lengths.iter().any(|&length| length > cell || (length < 0 && length != NULL)) {
            return Err(Error::Value(format!("the values of parameter {number} are not whole")));
        }
        // SAFETY: address and lengths are the column's own memory, for `rows` cells of `cell` bytes as just
        // checked, and stay bound only while `execute` borrows the column.
        let code = unsafe {
            (self.functions.bind_parameter)(
                self.raw,
                number,
                PARAM_INPUT,
                c_type,
                sql_type,
                size,
                digits,
                address,
                cell,
                lengths.as_mut_ptr(),
            )
        };
        self.check(code).map(drop)
    }

    fn statement_attribute(&self, attribute: i32) -> Result<usize, Error> {
        let mut value: usize = 0;
        // SAFETY: private; the attribute asked for is a number no wider than `value`.
        let code =
            unsafe { (self.functions.get_stmt_attr)(self.raw, attribute, (&raw mut value).cast(), 8, null_mut()) };
        self.check(code)?;
        Ok(value)
    }

    /// How many columns the result has; 0 if there is none.
    pub(crate) fn column_count(&self) -> Result<u16, Error> {
        let mut count: i16 = 0;
        // SAFETY: `count` outlives the call.
        let code = unsafe { (self.functions.num_result_cols)(self.raw, &raw mut count) };
        self.check(code)?;
        Ok(u16::try_from(count).unwrap_or(0))
    }

    /// A result column's name and SQL type. Columns are counted from 1.
    pub(crate) fn describe_column(&self, column: u16) -> Result<(String, i16), Error> {
        let mut name = [0_u16; 256];
        let (mut units, mut sql_type, mut size, mut digits, mut nullable) = (0_i16, 0_i16, 0_usize, 0_i16, 0_i16);
        // SAFETY: every address is a local variable's; the name's buffer is lent with its length in units.
        let code = unsafe {
            (self.functions.describe_col)(
                self.raw,
                column,
                name.as_mut_ptr(),
                256,
                &raw mut units,
                &raw mut sql_type,
                &raw mut size,
                &raw mut digits,
                &raw mut nullable,
            )
        };
        self.check(code)?;
        let units = usize::try_from(units).unwrap_or(0).min(name.len() - 1);
        Ok((String::from_utf16_lossy(&name[..units]), sql_type))
    }

    /// Goes to the result's next row.
    pub(crate) fn fetch(&self) -> Result<Done, Error> {
        // SAFETY: no column is bound, so nothing but the cursor is touched.
        let code = unsafe { (self.functions.fetch)(self.raw) };
        self.check(code)
    }

    /// Reads a column of the current row, or its next piece. Returns its length in bytes, or [`NULL`],
    /// or another negative number where the driver doesn't know.
    pub(crate) fn get_data<T: Cellular>(&self, column: u16, buffer: &mut [T]) -> Result<(Done, isize), Error> {
        let mut length: isize = 0;
        let bytes = isize::try_from(size_of_val(buffer)).unwrap_or(isize::MAX);
        // SAFETY: the buffer is lent with its length, and any bytes are a `T`.
        let code = unsafe {
            (self.functions.get_data)(self.raw, column, T::C_TYPE, buffer.as_mut_ptr().cast(), bytes, &raw mut length)
        };
        Ok((self.check(code)?, length))
    }

    /// How many rows the statement changed; negative where the driver doesn't know.
    pub(crate) fn row_count(&self) -> Result<isize, Error> {
        let mut count: isize = 0;
        // SAFETY: `count` outlives the call.
        let code = unsafe { (self.functions.row_count)(self.raw, &raw mut count) };
        self.check(code)?;
        Ok(count)
    }

    /// Closes the cursor, if one is open.
    pub(crate) fn close_cursor(&self) -> Result<(), Error> {
        // SAFETY: SQL_CLOSE keeps the handle; the prepared statement can be run again.
        let code = unsafe { (self.functions.free_stmt)(self.raw, CLOSE) };
        self.check(code).map(drop)
    }

    /// Makes a result of the tables and views whose names match a pattern.
    pub(crate) fn tables(&self, pattern: &[u16]) -> Result<(), Error> {
        let pattern: Vec<u16> = pattern.iter().copied().chain([0]).collect();
        // SAFETY: the pattern ends with a zero, as its length says; the other arguments are left out.
        let code = unsafe {
            (self.functions.tables)(self.raw, null(), 0, null(), 0, pattern.as_ptr(), NULL_TERMINATED, null(), 0)
        };
        self.check(code).map(drop)
    }

    /// Makes a result of the data source's types that hold an SQL type, the closest first.
    pub(crate) fn type_info(&self, sql_type: i16) -> Result<(), Error> {
        // SAFETY: no memory is lent.
        let code = unsafe { (self.functions.get_type_info)(self.raw, sql_type) };
        self.check(code).map(drop)
    }

    fn check(&self, code: i16) -> Result<Done, Error> {
        match code {
            SUCCESS => Ok(Done::Plainly),
            SUCCESS_WITH_INFO => Ok(Done::WithInfo),
            NO_DATA => Ok(Done::NoData),
            _ => Err(self.failure()),
        }
    }

    /// What the last call left to say.
    fn failure(&self) -> Error {
        Error::Driver((1..=8).map_while(|record| self.diagnostic(record)).collect())
    }

    fn diagnostic(&self, record: i16) -> Option<Diagnostic> {
        let mut state = [0_u16; 6];
        let mut native: i32 = 0;
        let mut message = [0_u16; 1024];
        let mut units: i16 = 0;
        // SAFETY: the state's buffer has the five units and the zero that the function writes; the message's is
        // lent with its length in units.
        let code = unsafe {
            (self.functions.get_diag_rec)(
                self.kind,
                self.raw,
                record,
                state.as_mut_ptr(),
                &raw mut native,
                message.as_mut_ptr(),
                1024,
                &raw mut units,
            )
        };
        if code != SUCCESS && code != SUCCESS_WITH_INFO {
            return None;
        }
        let units = usize::try_from(units).unwrap_or(0).min(message.len() - 1);
        let message = String::from_utf16_lossy(&message[..units]);
        Some(Diagnostic {
            state: String::from_utf16_lossy(&state[..5]),
            native,
            message: message.split_whitespace().collect::<Vec<_>>().join(" "),
        })
    }
}

/// A connection's attributes that are set here; all are numbers.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub(crate) enum Attribute {
    Autocommit = 102,
    LoginTimeout = 103,
    TransactionIsolation = 108,
}

/// Memory bound to a statement; unbound when dropped, whatever happened in between.
struct Bound<'a> {
    statement: &'a Handle,
    /// What else was set, to be unset.
    attributes: Vec<i32>,
}

impl Bound<'_> {
    /// Sets an attribute: a number, or the address of memory that outlives this. False if the driver has no such thing.
    fn set(&mut self, attribute: i32, value: Raw) -> bool {
        let statement = self.statement;
        // SAFETY: the caller's memory outlives this value, which unsets the attribute.
        let code = unsafe { (statement.functions.set_stmt_attr)(statement.raw, attribute, value, 0) };
        let set = code == SUCCESS;
        if set {
            self.attributes.push(attribute);
        }
        set
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        let statement = self.statement;
        // SAFETY: SQL_RESET_PARAMS only makes the driver forget addresses.
        let mut freed = unsafe { (statement.functions.free_stmt)(statement.raw, RESET_PARAMS) } == SUCCESS;
        for &attribute in &self.attributes {
            let default = usize::from(attribute == ATTR_PARAMSET_SIZE);
            // SAFETY: one set of parameters, and no address, are the attributes' defaults.
            let code = unsafe { (statement.functions.set_stmt_attr)(statement.raw, attribute, default as Raw, 0) };
            freed &= code == SUCCESS;
        }
        // What the driver may still hold is never used again.
        statement.unusable.set(!freed);
    }
}

/// The C type, address and bytes a cell of `rows` cells of `width` values each.
fn lend<T: Cellular>(cells: &mut [T], width: usize, rows: usize) -> Result<(i16, Raw, usize), Error> {
    if width.checked_mul(rows).is_none_or(|needed| cells.len() < needed) {
        return Err(Error::Value("fewer values than rows of parameters".into()));
    }
    Ok((T::C_TYPE, cells.as_mut_ptr().cast(), width * size_of::<T>()))
}

fn length(sql: &[u16]) -> Result<i32, Error> {
    i32::try_from(sql.len()).map_err(|_| Error::Value("the statement is too long".into()))
}
