//! ODBC: a small, safe, blocking interface to any database that has an ODBC driver.
//!
//! The driver manager (unixODBC) is opened when the first [`Connection`] is made, and not before: a
//! program with this crate in it starts on a machine without ODBC, and [`Error::Manager`] says what
//! to install. Calls block, and a connection stays on the thread that made it.
//!
//! Text travels as UTF-16 wherever the driver knows it, because that is the one encoding that drivers
//! don't take from the locale. Whole numbers travel as 64 bits, decimals and dates as characters, so
//! nothing is rounded.
//!
//! ```no_run
//! # fn main() -> Result<(), odbc::Error> {
//! let connection = odbc::Connection::open("Driver={SQLite3};Database=numbers.db")?;
//! let mut select = connection.prepare("SELECT a FROM numbers WHERE b = ?")?;
//! let answer = select.execute(&mut connection.row(&[odbc::Parameter::Int(7)])?)?;
//! # Ok(())
//! # }
//! ```

mod connection;
mod error;
mod ffi;
mod parameters;
mod statement;
mod value;

pub use connection::{Connection, Info, Isolation};
pub use error::{Diagnostic, Error};
pub use parameters::{Kind, Parameter, Parameters};
pub use statement::{Answer, Statement};
pub use value::{Timestamp, Value};
