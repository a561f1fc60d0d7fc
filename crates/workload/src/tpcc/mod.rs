//! TPC-C against a session: one file a transaction, each to be read beside its clause.

pub mod acid;
pub mod acknowledged;
pub mod audit;
pub mod catalog;
pub mod check;
mod customer;
mod delivery;
pub mod generate;
pub mod ledger;
pub mod load;
mod new_order;
pub mod null_server;
mod order_status;
mod payment;
mod procedure;
pub mod rows;
pub mod rules;
pub mod schema;
mod statement_text;
mod stock_level;
mod style;

use ::tpcc::input::{Delivery, Input, Kind};
use ::tpcc::text::Text;
use target::{Class, Dialect, Error, Isolation, MultiRowUpdate, Row, Session, Statement};

pub use delivery::Delivered;
pub use new_order::{NewOrderOutput, OrderedLine};
pub use order_status::{OrderStatusOutput, StatusLine};
pub use payment::PaymentOutput;
pub use procedure::make_routines;
pub use statement_text::{Named, StatementText, named, statement_texts};
pub use stock_level::StockLevelOutput;
pub use style::Style;

/// How the transactions of a run are sent.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The statement style.
    pub style: Style,
    /// The isolation level of all transactions; Stock-Level, which needs less (3.4.1), has it in style `procedure` only.
    pub isolation: Isolation,
}

/// What a terminal is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// New-Order's screen, committed or rolled back.
    NewOrder(Box<NewOrderOutput>),
    /// Payment's screen.
    Payment(Box<PaymentOutput>),
    /// Order-Status' screen.
    OrderStatus(Box<OrderStatusOutput>),
    /// What a Delivery delivered.
    Delivery(Delivered),
    /// Stock-Level's screen.
    StockLevel(StockLevelOutput),
}

/// Makes a session ready for transactions in a style, so that none of them pays for it.
///
/// # Errors
/// The database's refusal.
pub async fn prepare(session: &mut Session, style: Style) -> Result<(), Error> {
    if style == Style::Pipeline {
        session.pipeline();
    }
    session.prepare(&statements(style, session.dialect())).await
}

/// How many statements a connection keeps prepared in a style, each number of rows counted.
pub fn statements_kept(style: Style, dialect: &dyn Dialect) -> u64 {
    statements(style, dialect).iter().map(|statement| (statement.rows.1 - statement.rows.0 + 1) as u64).sum()
}

/// The statements of all transactions in a style, as a database takes them.
pub fn statements(style: Style, dialect: &dyn Dialect) -> Vec<&'static Statement> {
    let mut all: Vec<&'static Statement> = Vec::new();
    for statement in by_transaction(style, dialect).into_iter().flat_map(|(_, statements)| statements) {
        if !all.iter().any(|known| std::ptr::eq(*known, statement)) {
            all.push(statement);
        }
    }
    all
}

/// The statements of each transaction in a style; none in a style that the database does not have.
fn by_transaction(style: Style, dialect: &dyn Dialect) -> Vec<(Kind, Vec<&'static Statement>)> {
    let [new_order, payment, delivery] = match (style, dialect.multi_row_update()) {
        (Style::Row, _) => [new_order::ROW, payment::ROW, delivery::ROW],
        (Style::Procedure, _) => {
            let routines = dialect.routines().map(procedure::statements).unwrap_or_default();
            return Kind::ALL.into_iter().zip(routines).map(|(kind, routine)| (kind, vec![routine])).collect();
        }
        (_, MultiRowUpdate::FromReturning) => [new_order::BATCH, payment::BATCH, delivery::BATCH],
        (_, MultiRowUpdate::Join) => [new_order::BATCH_JOIN, payment::ROW, delivery::BATCH_JOIN],
        (_, MultiRowUpdate::OneByOne) => [new_order::BATCH_ONE_BY_ONE, payment::ROW, delivery::BATCH_ONE_BY_ONE],
    };
    vec![
        (Kind::NewOrder, new_order.to_vec()),
        (Kind::Payment, payment.to_vec()),
        (Kind::OrderStatus, order_status::STATEMENTS.to_vec()),
        (Kind::Delivery, delivery.to_vec()),
        (Kind::StockLevel, stock_level::STATEMENTS.to_vec()),
    ]
}

/// Runs one transaction, once. After an error the session holds no open transaction.
///
/// # Errors
/// [`Class::Retry`] asks for another attempt with the same input; [`Class::Integrity`] means that
/// the database contradicts the profile (2.3.6).
pub async fn execute(session: &mut Session, profile: Profile, input: &Input) -> Result<Output, Error> {
    let done = match input {
        Input::NewOrder(input) => new_order::run(session, profile, input).await.map(Box::new).map(Output::NewOrder),
        Input::Payment(input) => payment::run(session, profile, input).await.map(Box::new).map(Output::Payment),
        Input::OrderStatus(input) => {
            order_status::run(session, profile, input).await.map(Box::new).map(Output::OrderStatus)
        }
        Input::Delivery(input) => return deliver(session, profile, input).await.map(Output::Delivery),
        Input::StockLevel(input) => stock_level::run(session, profile, input).await.map(Output::StockLevel),
    };
    clean_up(session, done).await
}

/// Runs the deferred part of a Delivery, once (2.7.2).
///
/// # Errors
/// As [`execute`].
pub async fn deliver(session: &mut Session, profile: Profile, input: &Delivery) -> Result<Delivered, Error> {
    let done = delivery::run(session, profile, input).await;
    clean_up(session, done).await
}

/// Rolls back what a failed attempt left open.
pub(crate) async fn clean_up<T>(session: &mut Session, done: Result<T, Error>) -> Result<T, Error> {
    let Err(error) = done else { return done };
    if matches!(error.class(), Class::Lost | Class::Unknown) {
        return Err(error);
    }
    match session.rollback().await {
        Ok(()) => Err(error),
        Err(lost) => Err(lost),
    }
}

/// A text column of at most `N` characters.
fn text<const N: usize>(row: Row<'_>, column: usize) -> Result<Text<N>, Error> {
    let value = row.text(column)?;
    Text::try_from(value).map_err(|e| Error::integrity(format!("`{value}`: {e}")))
}

/// Taxes and discounts: four digits behind the point.
fn rate(row: Row<'_>, column: usize) -> Result<i32, Error> {
    let digits = row.decimal(column, 4)?;
    i32::try_from(digits).map_err(|_| Error::integrity(format!("a rate of {digits} ten-thousandths")))
}
