//! What a statement does with the columns of its tables.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, ObjectName, OrderByKind, Query, SelectItem, SetExpr, Statement,
    TableFactor, Visit, Visitor,
};
use sqlparser::dialect::{Dialect as Grammar, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use target::WireKind;

use crate::Error;
use crate::error::excerpt;

/// A column as a statement names it: the table's name or alias, if it is said, and its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name before the dot.
    pub table: Option<String>,
    /// The column's own.
    pub column: String,
}

/// What a statement does with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It must be one of some constants.
    Equal,
    /// It must be within bounds.
    Range,
    /// It must equal a column of another table, or of a subquery.
    Join,
    /// The rows are sorted by it.
    Order,
    /// The rows are grouped by it.
    Group,
    /// It is mentioned, whatever for.
    Mention,
}

/// A statement as it is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The tables by the names under which columns are found in them: their own, or an alias.
    pub tables: BTreeMap<String, String>,
    /// The columns, in the order in which they come.
    pub columns: Vec<(Named, Use)>,
    /// Whether all columns of a table are asked for.
    pub takes_all: bool,
    /// Whether it changes rows.
    pub writes: bool,
    /// Whether it skips rows to come to a page.
    pub skips: bool,
    /// Columns inside a function that is compared, which no plain index of the column can serve.
    pub hidden: Vec<Named>,
}

fn grammar(wire: WireKind) -> Box<dyn Grammar> {
    match wire {
        WireKind::Postgres => Box::new(PostgreSqlDialect {}),
        WireKind::Mysql => Box::new(MySqlDialect {}),
        WireKind::Sqlite => Box::new(SQLiteDialect {}),
        WireKind::Null | WireKind::Odbc => Box::new(GenericDialect {}),
    }
}

/// Parses one statement.
///
/// # Errors
/// What can't be read, and where.
pub fn parse(sql: &str, wire: WireKind) -> Result<Statement, Error> {
    let refused = |why: String| Error::Usage(format!("can't read the statement: {why}: {}", excerpt(sql)));
    let mut statements = Parser::parse_sql(grammar(wire).as_ref(), sql).map_err(|e| refused(e.to_string()))?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement @ (Statement::Query(_) | Statement::Update { .. } | Statement::Delete(_))), true) => {
            Ok(statement)
        }
        (Some(_), true) => Err(refused("advice is for SELECT, UPDATE and DELETE".to_owned())),
        (_, false) => Err(refused("it is more than one".to_owned())),
        (None, true) => Err(refused("it is empty".to_owned())),
    }
}

/// Reads a statement.
#[must_use]
pub fn read(statement: &Statement) -> Reading {
    let mut reading = Reading { writes: !matches!(statement, Statement::Query(_)), ..Reading::default() };
    let ControlFlow::Continue(()) = statement.visit(&mut reading);
    reading
}

fn last(name: &ObjectName) -> Option<String> {
    name.0.last().and_then(|part| part.as_ident()).map(folded)
}

/// A name as the catalog has it: small letters, unless it was quoted.
fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() }
}

fn named(expr: &Expr) -> Option<Named> {
    match expr {
        Expr::Identifier(column) => Some(Named { table: None, column: folded(column) }),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [.., table, column] => Some(Named { table: Some(folded(table)), column: folded(column) }),
            _ => None,
        },
        Expr::Nested(inner) => named(inner),
        _ => None,
    }
}

/// All columns that an expression mentions.
fn mentioned(expr: &Expr) -> Vec<Named> {
    struct Columns(Vec<Named>);
    impl Visitor for Columns {
        type Break = std::convert::Infallible;
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
            self.0.extend(named(expr).filter(|_| !matches!(expr, Expr::Nested(_))));
            ControlFlow::Continue(())
        }
    }
    let mut columns = Columns(Vec::new());
    let ControlFlow::Continue(()) = expr.visit(&mut columns);
    columns.0
}

/// Whether a pattern has a fixed beginning, so that it is a range.
fn begins_fixed(pattern: &Expr) -> bool {
    !pattern.to_string().trim_start_matches('\'').starts_with(['%', '_'])
}

impl Reading {
    fn note(&mut self, expr: &Expr, use_: Use) {
        self.columns.extend(named(expr).map(|column| (column, use_)));
    }

    /// A column compared with something: a constant, or a column of another table.
    fn compared(&mut self, column: &Expr, with: &Expr, use_: Use) {
        if named(column).is_none() {
            // A constant, or a column that a function hides.
            let inside = mentioned(column);
            if mentioned(with).is_empty() {
                self.hidden.extend(inside);
            }
            return;
        }
        self.note(column, if mentioned(with).is_empty() { use_ } else { Use::Join });
    }
}

impl Visitor for Reading {
    type Break = std::convert::Infallible;

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<Self::Break> {
        if let TableFactor::Table { name, alias, args: None, .. } = table
            && let Some(name) = last(name)
        {
            let known_as = alias.as_ref().map_or_else(|| name.clone(), |alias| folded(&alias.name));
            self.tables.insert(known_as, name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        if let Some(OrderByKind::Expressions(by)) = query.order_by.as_ref().map(|order| &order.kind) {
            by.iter().for_each(|by| self.note(&by.expr, Use::Order));
        }
        self.skips |= query.limit_clause.as_ref().is_some_and(|limit| limit.to_string().contains("OFFSET"));
        if let SetExpr::Select(select) = query.body.as_ref() {
            self.takes_all |= select
                .projection
                .iter()
                .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
            if let GroupByExpr::Expressions(by, _) = &select.group_by {
                by.iter().for_each(|by| self.note(by, Use::Group));
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        self.note(expr, Use::Mention);
        match expr {
            Expr::BinaryOp { left, op, right } => {
                let use_ = match op {
                    BinaryOperator::Eq | BinaryOperator::Spaceship => Use::Equal,
                    BinaryOperator::Gt | BinaryOperator::GtEq | BinaryOperator::Lt | BinaryOperator::LtEq => Use::Range,
                    _ => return ControlFlow::Continue(()),
                };
                self.compared(left, right, use_);
                self.compared(right, left, use_);
            }
            Expr::InList { expr, negated: false, .. } => self.note(expr, Use::Equal),
            Expr::InSubquery { expr, negated: false, .. } => self.note(expr, Use::Join),
            Expr::Between { expr, negated: false, .. } => self.note(expr, Use::Range),
            Expr::Like { expr, pattern, negated: false, .. } if begins_fixed(pattern) => self.note(expr, Use::Range),
            Expr::IsNull(expr) => self.note(expr, Use::Equal),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(sql: &str) -> Vec<String> {
        let reading = read(&parse(sql, WireKind::Postgres).unwrap());
        let named = |(named, use_): &(Named, Use)| {
            let table = named.table.as_ref().map(|table| format!("{table}.")).unwrap_or_default();
            format!("{table}{} {use_:?}", named.column)
        };
        let used = reading.columns.iter().filter(|(_, use_)| *use_ != Use::Mention);
        used.map(named).collect()
    }

    #[test]
    fn columns_are_known_by_what_is_done_with_them() {
        assert_eq!(uses("SELECT name FROM users WHERE name = 'Cheyenne Smith'"), ["name Equal"]);
        assert_eq!(
            uses(
                "SELECT COUNT(DISTINCT users.id) FROM users INNER JOIN rides ON rides.rider_id = users.id \
                  WHERE start_time BETWEEN '2018-07-20' AND '2018-07-21'"
            ),
            ["rides.rider_id Join", "users.id Join", "start_time Range"]
        );
        assert_eq!(uses("SELECT a FROM t WHERE 5 < b AND c IN (1, 2) ORDER BY d"), ["d Order", "b Range", "c Equal"]);
        assert_eq!(uses("SELECT a FROM t WHERE lower(b) = 'x' AND c LIKE '%x' AND d LIKE 'x%'"), ["d Range"]);
        assert_eq!(uses("DELETE FROM t WHERE a = $1"), ["a Equal"]);
        assert_eq!(uses("UPDATE t SET a = 1 WHERE \"B\" >= 2"), ["B Range"]);
    }

    #[test]
    fn what_hides_an_index_is_seen() {
        let reading =
            read(&parse("SELECT * FROM t x WHERE lower(x.b) = 'x' LIMIT 5 OFFSET 10", WireKind::Sqlite).unwrap());
        assert_eq!(reading.hidden, [Named { table: Some("x".into()), column: "b".into() }]);
        assert!(reading.takes_all && reading.skips && !reading.writes);
        assert_eq!(reading.tables, BTreeMap::from([("x".to_owned(), "t".to_owned())]));
    }

    #[test]
    fn what_can_not_be_read_is_said_in_one_line() {
        for (sql, why) in [
            ("SELECT FROM WHERE", "can't read"),
            ("CREATE TABLE t (k INT)", "SELECT, UPDATE"),
            ("SELECT 1; SELECT 2", "more than one"),
        ] {
            let said = parse(sql, WireKind::Mysql).unwrap_err().to_string();
            assert!(said.contains(why) && said.lines().count() == 1, "{said}");
        }
    }
}
