//! How a database runs a statement: which index, scan or seek, estimated and real rows.

mod forms;

use crate::{Access, Answer, Class, Error, Session};

/// How a database ran, or would run, a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The plan as text for people: one line per operator.
    pub lines: Vec<String>,
    /// How each table is reached, in the plan's order.
    pub accesses: Vec<TableAccess>,
    /// What the database counted while it ran the statement, in [`Plan::unit`]s; `None` if it did not run it or counts
    /// nothing.
    pub work: Option<f64>,
    /// What `work` counts, such as `rows`.
    pub unit: String,
}

/// How a plan reaches a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableAccess {
    /// The table or its alias, as the database names it in the plan.
    pub table: String,
    /// The index; `None` if there is none, or if it is the primary key and the database does not name it.
    pub index: Option<String>,
    /// Whether the database looks for keys or reads everything.
    pub how: How,
    /// Whether the index alone answers.
    pub covering: bool,
    /// The rows that the optimizer expected here.
    pub estimated_rows: Option<f64>,
    /// The rows that the database read here in all, if it ran the statement.
    pub rows: Option<f64>,
}

/// Whether the database looks for keys in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It reads all rows of the table.
    Scan,
    /// It reads a whole index.
    IndexScan,
    /// It looks for keys or ranges of keys.
    Seek,
}

/// How a database is asked for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explain {
    /// The words before a statement to show its plan without running it.
    pub plain: &'static str,
    /// The words before a statement to run it and show its plan with counters; the same as `plain` if the statement runs
    /// apart and the session's counters are read.
    pub run: &'static str,
    /// The form of the answer.
    pub form: Form,
}

/// The form of a plan.
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
                // The query for the counter itself adds to the counter.
                let first = self.rows_read().await?;
                let second = self.rows_read().await?;
                let mut plan = self.explained(explain.plain, sql, explain.form).await?;
                let before = self.rows_read().await?;
                self.ask(sql, &[], crate::Protocol::Simple).await?;
                let after = self.rows_read().await?;
                plan.work = Some((after - before - (second - first)).max(0.0));
                if explain.run != explain.plain {
                    let counted = self.explained(explain.run, sql, explain.form).await?;
                    plan.lines = counted.lines;
                    plan.accesses = counted.accesses;
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
            // SQLite notices other connections' schema changes only when it runs a statement.
            self.ask("SELECT COUNT(*) FROM sqlite_master", &[], crate::Protocol::Simple).await?;
        }
        let answer = self.ask(&format!("{prefix} {sql}"), &[], crate::Protocol::Simple).await?;
        forms::read(form, &Table::from_answer(&answer)?)
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
    fn from_answer(answer: &Answer) -> Result<Self, Error> {
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
