//! The statements of the transactions as text, for whoever looks at them one by one.

use ::tpcc::input::Kind;
use target::Dialect;
use target::reply;

use super::{Style, by_transaction};

/// A statement of a transaction, as a database takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its name, as results show it: `new_order.district`. One that several transactions share is named after none.
    pub name: &'static str,
    /// The transaction that sends it.
    pub transaction: Kind,
    /// How many rows it is written for; 1 of a statement that can't have several.
    pub rows: usize,
    /// The database's own SQL, as [`target::Session::ask`] takes it.
    pub sql: String,
    /// The types of the values at its places, in order.
    pub parameters: Vec<reply::Kind>,
}

/// The statements of all transactions in a style, in the order of the profiles; a multi-row statement for as many rows as
/// lie in the middle of what is usual. None in a style that the database does not have.
pub fn subjects(style: Style, dialect: &dyn Dialect) -> Vec<Subject> {
    let each = by_transaction(style, dialect).into_iter();
    each.flat_map(|(transaction, statements)| {
        statements.into_iter().map(move |statement| {
            let rows = usize::midpoint(statement.rows.0, statement.rows.1);
            let (sql, parameters) = statement.in_dialect(dialect, rows);
            Subject { name: statement.name, transaction, rows, sql, parameters }
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of a text, however the database marks them.
    fn places(sql: &str, dialect: &dyn Dialect) -> usize {
        match dialect.place(1).as_str() {
            "?" => sql.matches('?').count(),
            _ => (1..).take_while(|number| sql.contains(&dialect.place(*number))).count(),
        }
    }

    #[test]
    fn every_statement_has_a_value_for_each_of_its_places() {
        for dialect in target::DATABASES {
            for style in [Style::Row, Style::Batch, Style::Pipeline, Style::Procedure] {
                let subjects = subjects(style, *dialect);
                for subject in &subjects {
                    let said = (dialect.name(), subject.name);
                    assert_eq!(places(&subject.sql, *dialect), subject.parameters.len(), "{said:?}: {}", subject.sql);
                    assert!(!subject.sql.contains(['{', '#']), "{said:?}: {}", subject.sql);
                }
                let all = style != Style::Procedure || dialect.routines().is_some();
                assert_eq!(Kind::ALL.iter().all(|kind| subjects.iter().any(|s| s.transaction == *kind)), all);
            }
        }
    }
}
