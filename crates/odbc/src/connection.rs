//! Connections and their transactions.

use std::rc::Rc;

use crate::ffi::{Attribute, Handle};
use crate::statement::{catalog, run};
use crate::{Answer, Error, Kind, Parameter, Parameters, Statement, Value};

/// Seconds that a connection may take to be made.
const LOGIN_TIMEOUT: usize = 10;

/// An isolation level, by its name in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// READ UNCOMMITTED.
    ReadUncommitted = 1,
    /// READ COMMITTED.
    ReadCommitted = 2,
    /// REPEATABLE READ.
    RepeatableRead = 4,
    /// SERIALIZABLE.
    Serializable = 8,
}

/// What a driver can be asked of itself and of its data source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Info {
    /// The driver's file.
    DriverName = 6,
    /// The driver's version.
    DriverVersion = 7,
    /// The database system's name.
    DbmsName = 17,
    /// The database system's version.
    DbmsVersion = 18,
    /// What stands around a quoted name; a blank if names can't be quoted.
    IdentifierQuote = 29,
}

/// SQL_TXN_ISOLATION_OPTION.
const ISOLATION_OPTIONS: u16 = 72;
/// SQL_TYPE_TIMESTAMP.
const TIMESTAMP: i16 = 93;
/// SQL_WVARCHAR.
const WIDE_TEXT: i16 = -9;

/// A connection to a data source, with autocommit on. Dropped, it rolls back what is open and closes.
pub struct Connection {
    handle: Rc<Handle>,
    /// Whether the driver takes text as UTF-16.
    wide: bool,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connection")
    }
}

impl Connection {
    /// Connects by a connection string such as `Driver={SQLite3};Database=numbers.db`.
    ///
    /// # Errors
    /// [`Error::Manager`] where there is no driver manager; else what it or the driver says.
    pub fn open(connection_string: &str) -> Result<Self, Error> {
        // An environment of its own, so that connections on different threads share nothing.
        let handle = Handle::environment()?.connection()?;
        // A driver that knows no such limit has its own.
        let _ = handle.set_connection_attribute(Attribute::LoginTimeout, LOGIN_TIMEOUT);
        handle.connect(&utf16(connection_string))?;
        let mut connection = Self { handle, wide: false };
        // A driver for one byte a character doesn't know these types, and would refuse the text.
        connection.wide = connection.types(WIDE_TEXT).is_ok_and(|types| !types.rows.is_empty());
        Ok(connection)
    }

    /// No row yet, of parameters of these kinds.
    pub fn parameters(&self, kinds: &[Kind]) -> Parameters {
        Parameters::new(kinds.iter().copied(), self.wide)
    }

    /// One row of parameters.
    ///
    /// # Errors
    /// If a decimal is none.
    pub fn row(&self, row: &[Parameter<'_>]) -> Result<Parameters, Error> {
        Parameters::row(row, self.wide)
    }

    /// Whether each statement commits at once (the state at first), or opens a transaction.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn set_autocommit(&self, on: bool) -> Result<(), Error> {
        self.handle.set_connection_attribute(Attribute::Autocommit, usize::from(on))
    }

    /// The isolation of the transactions to come. Not to be called while one is open.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn set_isolation(&self, level: Isolation) -> Result<(), Error> {
        self.handle.set_connection_attribute(Attribute::TransactionIsolation, level as usize)
    }

    /// The isolation levels that the data source offers.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn isolations(&self) -> Result<Vec<Isolation>, Error> {
        let bits = self.handle.info_number(ISOLATION_OPTIONS)?;
        let all =
            [Isolation::ReadUncommitted, Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
        Ok(all.into_iter().filter(|level| bits & *level as u32 != 0).collect())
    }

    /// What the driver says of itself or of the data source.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn info(&self, info: Info) -> Result<String, Error> {
        self.handle.info_text(info as u16)
    }

    /// The data source's name for a column of dates with times.
    ///
    /// # Errors
    /// The driver's refusal, or that there is no such type.
    pub fn timestamp_type(&self) -> Result<String, Error> {
        match self.types(TIMESTAMP)?.rows.first().and_then(|row| row.first()) {
            Some(Value::Text(name)) => Ok(name.clone()),
            _ => Err(Error::Value("the data source has no type for a date and time".into())),
        }
    }

    /// The data source's types that hold an SQL type, the closest first.
    fn types(&self, sql_type: i16) -> Result<Answer, Error> {
        let handle = self.handle.statement()?;
        catalog(&handle, handle.type_info(sql_type))
    }

    /// Whether the catalog shows a table or view of this name, in whatever case it keeps it.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn has_table(&self, name: &str) -> Result<bool, Error> {
        for pattern in [name.to_owned(), name.to_uppercase()] {
            let handle = self.handle.statement()?;
            let tables = catalog(&handle, handle.tables(&utf16(&pattern)))?;
            // `_` in a name is also a pattern that other names match.
            let same = |row: &Vec<Value>| matches!(row.get(2), Some(Value::Text(t)) if t.eq_ignore_ascii_case(name));
            if tables.rows.iter().any(same) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Prepares a statement with `?` for each parameter.
    ///
    /// # Errors
    /// The driver's refusal; some drivers only refuse when it is run.
    pub fn prepare(&self, sql: &str) -> Result<Statement, Error> {
        let handle = self.handle.statement()?;
        handle.prepare(&utf16(sql))?;
        Ok(Statement::new(handle))
    }

    /// Runs a text without parameters.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn execute(&self, sql: &str) -> Result<Answer, Error> {
        run(&*self.handle.statement()?, &utf16(sql))
    }

    /// Commits the transaction, if one is open.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn commit(&self) -> Result<(), Error> {
        self.handle.end(true)
    }

    /// Rolls back the transaction, if one is open.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn rollback(&self) -> Result<(), Error> {
        self.handle.end(false)
    }
}

fn utf16(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}
