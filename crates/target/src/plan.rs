//! How a database runs a statement: which index, scan or seek, estimated and real rows.

mod forms;

pub use record::query_plan::{How, Plan, TableAccess};

use crate::{Access, Answer, Class, Error, Session};

/// How a database is asked for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explain {
    /// What stands before a statement to see its plan without running it.
    pub plain: &'static str,
    /// What stands before a statement to have it run and see its plan with what was counted; the same as `plain` where
    /// it is run apart and its counters are read.
    pub run: &'static str,
    /// How the answer is read.
    pub form: Form,
}

/// How a plan is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A document, as PostgreSQL has it.
    PostgresJson,
    /// A row a table, as MySQL has it.
    MysqlTable,
    /// A row an operator, as TiDB has it.
    TidbOperators,
    /// A line a loop, as SQLite has it.
    SqliteLoops,
    /// A tree of text, as CockroachDB has it.
    CockroachTree,
}

/// Sum of what a session of MySQL or MariaDB has read since it began.
const ROWS_READ: &str = "SHOW SESSION STATUS LIKE 'Handler_read%'";

impl Session {
    /// The plan of a statement in the database's own SQL, with its values written into it. With `run` it is run too, in a
    /// transaction that is rolled back, and what the database counts comes with it. `None`: the database shows no plans.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn plan(&mut self, sql: &str, run: bool) -> Result<Option<Plan>, Error> {
        let Some(explain) = self.dialect().explain() else { return Ok(None) };
        if !run {
            return self.explained(explain.plain, sql, explain.form).await.map(Some);
        }
        let isolation = self.dialect().default_isolation();
        self.begin(isolation, Access::ReadWrite);
        let run = self.run_and_explained(explain, sql).await;
        if !run.as_ref().is_err_and(|e| e.class() == Class::Lost) {
            self.rollback().await?;
        }
        run.map(Some)
    }

    async fn run_and_explained(&mut self, explain: Explain, sql: &str) -> Result<Plan, Error> {
        match explain.form {
            Form::MysqlTable => {
                // Asking costs reads of its own.
                let (first, second) = (self.rows_read().await?, self.rows_read().await?);
                let mut plan = self.explained(explain.plain, sql, explain.form).await?;
                let before = self.rows_read().await?;
                self.ask(sql, &[], crate::Protocol::Simple).await?;
                let after = self.rows_read().await?;
                plan.work = Some((after - before - (second - first)).max(0.0));
                if explain.run != explain.plain {
                    let counted = self.explained(explain.run, sql, explain.form).await?;
                    (plan.lines, plan.accesses) = (counted.lines, counted.accesses);
                }
                Ok(plan)
            }
            Form::SqliteLoops => {
                let mut plan = self.explained(explain.plain, sql, explain.form).await?;
                plan.work = self.steps(sql).await?.map(|steps| steps as f64);
                Ok(plan)
            }
            Form::PostgresJson | Form::TidbOperators | Form::CockroachTree => {
                self.explained(explain.run, sql, explain.form).await
            }
        }
    }

    async fn explained(&mut self, prefix: &str, sql: &str, form: Form) -> Result<Plan, Error> {
        if form == Form::SqliteLoops {
            // It looks for changes of the schema by other connections only when it runs something.
            self.ask("SELECT COUNT(*) FROM sqlite_master", &[], crate::Protocol::Simple).await?;
        }
        let answer = self.ask(&format!("{prefix} {sql}"), &[], crate::Protocol::Simple).await?;
        forms::read(form, &Table::of(&answer)?)
    }

    async fn rows_read(&mut self) -> Result<f64, Error> {
        let answer = self.ask(ROWS_READ, &[], crate::Protocol::Simple).await?;
        let mut sum = 0.0;
        for row in answer.rows() {
            sum += row.value(1)?.to_string().parse::<f64>().unwrap_or(0.0);
        }
        Ok(sum)
    }
}

/// An answer as texts, with its columns' names in small letters.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn of(answer: &Answer) -> Result<Self, Error> {
        let columns: Vec<String> =
            answer.get(0).map(|row| row.columns().iter().map(|name| name.to_lowercase()).collect()).unwrap_or_default();
        let mut rows = Vec::new();
        for row in answer.rows() {
            let cells: Result<Vec<String>, Error> =
                (0..columns.len()).map(|at| row.value(at).map(|value| value.to_string())).collect();
            rows.push(cells?);
        }
        Ok(Self { columns, rows })
    }

    /// A cell by its column's name; `None` for NULL and for a column that is not there.
    fn cell<'a>(&self, row: &'a [String], column: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|name| name == column)?;
        row.get(at).map(String::as_str).filter(|cell| *cell != "NULL" && !cell.is_empty())
    }
}
