//! The same statement in another form.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Ident, Query, Statement, VisitMut, VisitorMut};
use target::{Protocol, Session};
use workload::template::Template;
use workload::values::COPY;

use crate::Error;
use crate::bench_case::{BenchCase, Step};
use crate::runner::Runner;

/// The name by which the first statement's rows give values to the second.
const KEPT: &str = "found";

/// The longest list that is written out.
const MAX_LIST_ROWS: usize = 1000;

/// Rows up to which two results are held against each other.
const MAX_COMPARED_ROWS: usize = 10_000;

/// `IN (subquery)` as two statements.
#[derive(Debug)]
pub struct Rewrite {
    statement: Statement,
    subquery: String,
}

/// Takes the first subquery of an `IN` out of its statement; `None`: it has none.
#[must_use]
pub fn two_statements(statement: &Statement) -> Option<Rewrite> {
    let mut found = Subquery { subquery: None, list: None };
    let mut copy = statement.clone();
    let _ = VisitMut::visit(&mut copy, &mut found);
    let subquery = found.subquery?;
    Some(Rewrite { statement: statement.clone(), subquery: subquery.to_string() })
}

/// Finds the first `IN (subquery)`, and puts a list in its place if it has one.
struct Subquery {
    subquery: Option<Query>,
    list: Option<Vec<Expr>>,
}

impl VisitorMut for Subquery {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Expr::InSubquery { expr: column, subquery, negated: false } = expr else {
            return ControlFlow::Continue(());
        };
        self.subquery = Some(subquery.as_ref().clone());
        if let Some(list) = self.list.take() {
            *expr = Expr::InList { expr: column.clone(), list, negated: false };
        }
        ControlFlow::Break(())
    }
}

impl Rewrite {
    /// Both statements, for people.
    #[must_use]
    pub fn shown(&self) -> Vec<String> {
        vec![self.subquery.clone(), self.with_list(vec![Expr::Identifier(Ident::new("..."))])]
    }

    fn with_list(&self, list: Vec<Expr>) -> String {
        let mut statement = self.statement.clone();
        let _ = VisitMut::visit(&mut statement, &mut Subquery { subquery: None, list: Some(list) });
        statement.to_string()
    }

    /// The two statements, for as many values as the first one returns now.
    ///
    /// # Errors
    /// If the subquery does not stand by itself, or returns nothing, or too much.
    pub async fn subject(&self, session: &mut Session) -> Result<BenchCase, Error> {
        let wire = session.dialect().wire();
        let answer = session.ask(&self.subquery, &[], Protocol::Simple).await?;
        let row = answer.get(0).ok_or_else(|| Error::Usage("the subquery returns nothing".to_owned()))?;
        if answer.len() > MAX_LIST_ROWS {
            return Err(Error::Usage(format!("the subquery returns {} values, too many for a list", answer.len())));
        }
        let columns = row.columns();
        let column = columns.first().ok_or_else(|| Error::Usage("the subquery has no column".to_owned()))?;
        let place = |number: usize| Expr::Identifier(Ident::new(format!(":{KEPT}.{column}{COPY}{number}")));
        let second = self.with_list((0..answer.len()).map(place).collect());
        let first = Step { keep: Some(KEPT.to_owned()), ..Step::from_statement(Template::parse(&self.subquery, wire)) };
        let second = Step::from_statement(Template::parse(&second, wire));
        Ok(BenchCase { steps: vec![first, second], ..BenchCase::from_statement(Template::parse("", wire)) })
    }
}

/// Whether both give the same rows, in whatever order; of more rows than are worth comparing, as many.
///
/// # Errors
/// The database's refusal.
pub async fn same_rows(runner: &mut Runner, statement: &Template, other: &BenchCase) -> Result<bool, Error> {
    let rows = |runner: &mut Runner| -> Result<(usize, Vec<String>), Error> {
        let Some(answer) = runner.take_last() else { return Ok((0, Vec::new())) };
        let mut rows = Vec::new();
        if answer.len() <= MAX_COMPARED_ROWS {
            for row in answer.rows() {
                let cells: Result<Vec<String>, target::Error> =
                    (0..row.columns().len()).map(|at| Ok(row.value(at)?.to_string())).collect();
                rows.push(cells?.join("\u{1f}"));
            }
        }
        rows.sort();
        Ok((answer.len(), rows))
    };
    runner.run(&BenchCase { ending: other.ending, ..BenchCase::from_statement(statement.clone()) }).await?;
    let first = rows(runner)?;
    runner.run(other).await?;
    Ok(rows(runner)? == first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::query_analysis::parse;
    use target::WireKind;

    #[test]
    fn a_subquery_is_taken_out_of_its_statement() {
        let sql = "SELECT a, MAX(b) FROM t WHERE c = 1 AND a IN (SELECT a FROM t GROUP BY a ORDER BY COUNT(*) DESC LIMIT 5) GROUP BY a";
        let rewrite = two_statements(&parse(sql, WireKind::Sqlite).unwrap()).unwrap();
        assert_eq!(
            rewrite.shown(),
            [
                "SELECT a FROM t GROUP BY a ORDER BY COUNT(*) DESC LIMIT 5",
                "SELECT a, MAX(b) FROM t WHERE c = 1 AND a IN (...) GROUP BY a"
            ]
        );
        for sql in ["SELECT a FROM t WHERE a IN (1, 2)", "SELECT a FROM t WHERE a NOT IN (SELECT a FROM t)"] {
            assert!(two_statements(&parse(sql, WireKind::Sqlite).unwrap()).is_none(), "{sql}");
        }
    }
}
