//! The plan of each transaction: the statements that it consists of in a style and a dialect.
//!
//! A plan is resolved once, in [`super::Profile::new`]. A session prepares the statements that the plan lists, and a
//! transaction sends the statements that the same plan holds, so that none is prepared during a run.

use ::tpcc::input::Kind;
use target::{Dialect, MultiRowUpdate, RoutineLanguage, Statement};

use super::{Style, delivery, new_order, order_status, payment, procedure, stock_level};

/// The plans of all transactions.
#[derive(Debug)]
pub(super) enum Plan {
    /// Each transaction sends several statements.
    Statements {
        new_order: &'static new_order::Plan,
        payment: &'static payment::Plan,
        delivery: &'static delivery::Plan,
    },
    /// Each transaction calls its routine.
    Routines(RoutineLanguage),
}

static ROW: Plan = Plan::Statements { new_order: &new_order::ROW, payment: &payment::APART, delivery: &delivery::ROW };
static RETURNING: Plan =
    Plan::Statements { new_order: &new_order::RETURNING, payment: &payment::RETURNING, delivery: &delivery::RETURNING };
// No statement of Payment writes several rows: without RETURNING it is the same in every style.
static JOIN: Plan =
    Plan::Statements { new_order: &new_order::JOIN, payment: &payment::APART, delivery: &delivery::JOIN };
static ONE_BY_ONE: Plan =
    Plan::Statements { new_order: &new_order::ONE_BY_ONE, payment: &payment::APART, delivery: &delivery::ONE_BY_ONE };
static PL_PG_SQL: Plan = Plan::Routines(RoutineLanguage::PlPgSql);
static SQL_PSM: Plan = Plan::Routines(RoutineLanguage::SqlPsm);

impl Plan {
    /// The plans in a style; none in a style that the database does not have.
    pub(super) fn resolve(style: Style, dialect: &dyn Dialect) -> Option<&'static Plan> {
        Some(match (style, dialect.multi_row_update()) {
            (Style::Row, _) => &ROW,
            (Style::Procedure, _) => match dialect.routines()? {
                RoutineLanguage::PlPgSql => &PL_PG_SQL,
                RoutineLanguage::SqlPsm => &SQL_PSM,
            },
            (Style::Batch | Style::Pipeline, MultiRowUpdate::FromReturning) => &RETURNING,
            (Style::Batch | Style::Pipeline, MultiRowUpdate::Join) => &JOIN,
            (Style::Batch | Style::Pipeline, MultiRowUpdate::OneByOne) => &ONE_BY_ONE,
        })
    }

    /// The statements of each transaction.
    pub(super) fn by_transaction(&self) -> Vec<(Kind, Vec<&'static Statement>)> {
        match self {
            Plan::Statements { new_order, payment, delivery } => vec![
                (Kind::NewOrder, new_order.list()),
                (Kind::Payment, payment.list()),
                (Kind::OrderStatus, order_status::PLAN.list()),
                (Kind::Delivery, delivery.list()),
                (Kind::StockLevel, stock_level::PLAN.list()),
            ],
            Plan::Routines(language) => {
                Kind::ALL.into_iter().map(|kind| (kind, vec![procedure::call_of(kind, *language)])).collect()
            }
        }
    }

    /// The statements of all transactions, each once.
    pub(super) fn statements(&self) -> Vec<&'static Statement> {
        let mut all: Vec<&'static Statement> = Vec::new();
        for statement in self.by_transaction().into_iter().flat_map(|(_, statements)| statements) {
            if !all.iter().any(|known| std::ptr::eq(*known, statement)) {
                all.push(statement);
            }
        }
        all
    }
}

/// What a plan is made of: statements, and parts that hold statements.
pub(super) trait Step {
    /// The statements, in the order of the profile.
    fn list(&self) -> Vec<&'static Statement>;
}

impl Step for &'static Statement {
    fn list(&self) -> Vec<&'static Statement> {
        vec![self]
    }
}

/// Declares a step: a struct of steps (statements where no type is named), or an enum whose variants hold statements.
/// Its list of statements is made of all its fields.
macro_rules! step {
    ($(#[$about:meta])* struct $name:ident { $($field:ident $(: $step:ty)?),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name { $($field: $crate::tpcc::plan::step!(@type $($step)?)),+ }

        impl $crate::tpcc::plan::Step for $name {
            fn list(&self) -> Vec<&'static target::Statement> {
                [$($crate::tpcc::plan::Step::list(&self.$field)),+].concat()
            }
        }
    };
    ($(#[$about:meta])* enum $name:ident {
        $($(#[$when:meta])* $variant:ident { $($field:ident $(: $step:ty)?),+ $(,)? }),+ $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub(super) enum $name {
            $($(#[$when])* $variant { $($field: $crate::tpcc::plan::step!(@type $($step)?)),+ }),+
        }

        impl $crate::tpcc::plan::Step for $name {
            fn list(&self) -> Vec<&'static target::Statement> {
                match self {
                    $(Self::$variant { $($field),+ } => [$($crate::tpcc::plan::Step::list($field)),+].concat()),+
                }
            }
        }
    };
    (@type) => { &'static target::Statement };
    (@type $step:ty) => { $step };
}
pub(super) use step;

step! {
    /// A row that is written and read.
    enum Update {
        /// One statement does both.
        Returning { update },
        /// The dialect or the style has a statement for each.
        Apart { read, write },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ::tpcc::input::Warehouses;
    use ::tpcc::mix::Mix;
    use ::tpcc::terminal::Terminal;
    use target::{Session, Url};

    use super::super::catalog::Catalog;
    use super::super::{Profile, execute};
    use super::*;

    /// On the null target, which answers the statements of every dialect. Each travels alone, so that its name is noted.
    #[tokio::test]
    async fn transactions_send_exactly_the_statements_that_are_prepared() {
        for dialect in target::DATABASES {
            for style in Style::of(*dialect) {
                let profile = Profile::new(style, dialect.default_isolation(), *dialect).unwrap();
                let mut session = Session::connect(&Url::parse("null:").unwrap()).await.unwrap();
                session.time_statements();
                let active = Warehouses { first: 1, count: 100 };
                let mut terminal = Terminal::new(1, 0, 1, 1, active, Catalog::without_data(100).run, Mix::standard());
                for _ in 0..1000 {
                    execute(&mut session, profile, &terminal.next_input()).await.unwrap();
                }
                let sent: BTreeSet<_> = session.take_timings().into_iter().map(|timing| timing.name).collect();
                let sent: BTreeSet<&str> = sent.iter().map(AsRef::as_ref).filter(|name| name.contains('.')).collect();
                let prepared: BTreeSet<&str> =
                    profile.plan.statements().iter().map(|statement| statement.name).collect();
                assert_eq!(sent, prepared, "{style} on {}", dialect.name());
            }
        }
    }
}
