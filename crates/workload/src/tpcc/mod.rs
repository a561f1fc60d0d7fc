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
mod plan;
mod procedure;
pub mod rows;
pub mod rules;
pub mod schema;
mod statement_text;
mod stock_level;
mod style;
mod workload;

use ::tpcc::input::{Delivery, Input};
use ::tpcc::text::Text;
use target::{Class, Dialect, Error, Isolation, Row, Session, Statement};

pub use delivery::Delivered;
pub use new_order::{NewOrderOutput, OrderedLine};
pub use order_status::{OrderStatusOutput, StatusLine};
pub use payment::PaymentOutput;
pub use procedure::make_routines;
pub use statement_text::{Named, StatementText, named, statement_texts};
pub use stock_level::StockLevelOutput;
pub use style::Style;
pub use workload::{Tpcc, TpccTransactions};

use plan::Plan;

/// How a run's transactions are sent. The statements are chosen here, once.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The statement style.
    pub style: Style,
    /// The isolation level of all transactions; Stock-Level, which needs less (3.4.1), has it in style `procedure` only.
    pub isolation: Isolation,
    plan: &'static Plan,
}

impl Profile {
    /// Chooses the statements that a dialect has in a style.
    ///
    /// # Errors
    /// The style is `procedure` and the database has no routines.
    pub fn new(style: Style, isolation: Isolation, dialect: &dyn Dialect) -> Result<Self, Error> {
        let plan = Plan::resolve(style, dialect).ok_or_else(|| procedure::no_routines(dialect))?;
        Ok(Self { style, isolation, plan })
    }
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

/// Prepares a session for a profile's transactions, so that no transaction has to prepare a statement.
///
/// # Errors
/// The database refuses a statement.
pub async fn prepare(session: &mut Session, profile: Profile) -> Result<(), Error> {
    if profile.style == Style::Pipeline {
        session.pipeline();
    }
    session.prepare(&profile.plan.statements()).await
}

/// How many statements a connection keeps prepared in a style; a multi-row statement counts once for each number of rows.
pub fn statements_kept(style: Style, dialect: &dyn Dialect) -> u64 {
    statements(style, dialect).iter().map(|statement| (statement.rows.1 - statement.rows.0 + 1) as u64).sum()
}

/// The statements of all transactions in a style; none in a style that the database does not have.
pub fn statements(style: Style, dialect: &dyn Dialect) -> Vec<&'static Statement> {
    Plan::resolve(style, dialect).map(Plan::statements).unwrap_or_default()
}

/// Runs one transaction, once. After an error the session holds no open transaction.
///
/// # Errors
/// [`Class::Retry`] asks for another attempt with the same input; [`Class::Integrity`] means that
/// the database contradicts the profile (2.3.6).
pub async fn execute(session: &mut Session, profile: Profile, input: &Input) -> Result<Output, Error> {
    let isolation = profile.isolation;
    let done = match (profile.plan, input) {
        (Plan::Routines(language), _) => procedure::execute(session, isolation, *language, input).await,
        (Plan::Statements { new_order, .. }, Input::NewOrder(input)) => {
            new_order::run(session, new_order, isolation, input).await.map(Box::new).map(Output::NewOrder)
        }
        (Plan::Statements { payment, .. }, Input::Payment(input)) => {
            payment::run(session, payment, isolation, input).await.map(Box::new).map(Output::Payment)
        }
        (Plan::Statements { .. }, Input::OrderStatus(input)) => {
            order_status::run(session, isolation, input).await.map(Box::new).map(Output::OrderStatus)
        }
        (Plan::Statements { .. }, Input::Delivery(input)) => {
            return deliver(session, profile, input).await.map(Output::Delivery);
        }
        (Plan::Statements { .. }, Input::StockLevel(input)) => {
            stock_level::run(session, input).await.map(Output::StockLevel)
        }
    };
    clean_up(session, done).await
}

/// Runs the deferred part of a Delivery, once (2.7.2).
///
/// # Errors
/// As [`execute`].
pub async fn deliver(session: &mut Session, profile: Profile, input: &Delivery) -> Result<Delivered, Error> {
    let done = match profile.plan {
        Plan::Routines(language) => procedure::delivery(session, profile.isolation, *language, input).await,
        Plan::Statements { delivery, .. } => delivery::run(session, delivery, profile.isolation, input).await,
    };
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
