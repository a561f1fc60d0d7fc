//! What the server knows: an answer a text.

use std::collections::HashMap;
use std::sync::Arc;

use target::null_reply::{Kind, Parameters};
use target::{Dialect, Statement, Value};

use crate::protocol::{CellForm, Row};

/// What is answered to a text.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// What the statement declares, for so many rows of its call.
    Declared { statement: &'static Statement, rows: usize, verb: &'static str },
    /// What was laid down for it.
    Canned(Arc<Canned>),
    /// That it is done.
    Done { tag: String },
    /// That rows may follow, of so many columns.
    Copy { columns: usize },
    /// Nothing: there was nothing asked.
    Empty,
}

/// An answer to a text that is no statement of a workload.
#[derive(Clone, Debug)]
pub struct Canned {
    /// How the text begins.
    pub begins: &'static str,
    /// The types of its parameters.
    pub parameters: &'static [Kind],
    /// The columns that come back: names and types.
    pub columns: &'static [(&'static str, Kind)],
    /// The rows that come back.
    pub rows: Vec<Vec<Value<'static>>>,
    /// If there are no columns: how many rows were changed.
    pub changed: u64,
}

impl Canned {
    /// Rows that come back.
    pub fn rows(
        begins: &'static str,
        parameters: &'static [Kind],
        columns: &'static [(&'static str, Kind)],
        rows: Vec<Vec<Value<'static>>>,
    ) -> Self {
        Self { begins, parameters, columns, rows, changed: 0 }
    }

    /// One row was changed.
    pub fn changed(begins: &'static str, parameters: &'static [Kind]) -> Self {
        Self { begins, parameters, columns: &[], rows: Vec::new(), changed: 1 }
    }
}

/// Everything that a server answers.
#[derive(Clone, Debug)]
pub struct Answers {
    declared: HashMap<String, Answer>,
    canned: Vec<Arc<Canned>>,
}

/// First words of texts that change something, or nothing that there is; all are agreed to.
const AGREED_TO: [&str; 18] = [
    "ALTER",
    "ANALYZE",
    "BEGIN",
    "COMMENT",
    "COMMIT",
    "CREATE",
    "DEALLOCATE",
    "DELETE",
    "DISCARD",
    "DROP",
    "END",
    "INSERT",
    "RESET",
    "ROLLBACK",
    "SET",
    "START",
    "UPDATE",
    "VACUUM",
];

impl Answers {
    /// Knows `statements` as `dialect` writes them, for one to `max_rows` rows a call, and the `canned` answers.
    pub fn new(
        dialect: &dyn Dialect,
        statements: impl IntoIterator<Item = &'static Statement>,
        max_rows: usize,
        canned: impl IntoIterator<Item = Canned>,
    ) -> Self {
        let mut declared = HashMap::new();
        for statement in statements {
            let most = if statement.rows == (1, 1) { 1 } else { max_rows.max(statement.rows.1) };
            for rows in 1..=most {
                let sql = dialect.adapt(statement.expand(rows));
                let verb = verb(&sql);
                declared.insert(sql, Answer::Declared { statement, rows, verb });
            }
        }
        Self { declared, canned: canned.into_iter().map(Arc::new).collect() }
    }

    /// The answer to a text; `None` if it is not known.
    pub(crate) fn to(&self, sql: &str) -> Option<Answer> {
        if let Some(declared) = self.declared.get(sql) {
            return Some(declared.clone());
        }
        let sql = sql.trim();
        if let Some(canned) = self.canned.iter().find(|canned| sql.starts_with(canned.begins)) {
            return Some(Answer::Canned(canned.clone()));
        }
        let first = sql.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("").to_ascii_uppercase();
        match first.as_str() {
            "" if sql.is_empty() => Some(Answer::Empty),
            "COPY" => Some(Answer::Copy { columns: columns_of_copy(sql) }),
            "DELETE" | "UPDATE" => Some(Answer::Done { tag: format!("{first} 0") }),
            "INSERT" => Some(Answer::Done { tag: "INSERT 0 1".to_owned() }),
            first if AGREED_TO.contains(&first) => Some(Answer::Done { tag: first.to_owned() }),
            _ => None,
        }
    }
}

impl Answer {
    /// The types of its parameters.
    pub(crate) fn parameters(&self) -> Vec<Kind> {
        match self {
            Answer::Declared { statement, rows, .. } => statement.parameters(*rows).collect(),
            Answer::Canned(canned) => canned.parameters.to_vec(),
            Answer::Done { .. } | Answer::Copy { .. } | Answer::Empty => Vec::new(),
        }
    }

    /// Names and types of the columns that come back.
    pub(crate) fn columns(&self) -> Vec<(&'static str, Kind)> {
        match self {
            Answer::Declared { statement, .. } => {
                statement.reply().columns().iter().map(|column| ("column", column.kind())).collect()
            }
            Answer::Canned(canned) => canned.columns.to_vec(),
            Answer::Done { .. } | Answer::Copy { .. } | Answer::Empty => Vec::new(),
        }
    }

    /// Writes the rows to `out`, and gives the tag that ends them. Nothing of a copy, which has more to say.
    pub(crate) fn write(
        &self,
        parameters: &impl Parameters,
        form: impl Fn(usize) -> CellForm,
        out: &mut bytes::BytesMut,
    ) -> String {
        let counted = |verb: &str, count: u64| match verb {
            "INSERT" => format!("INSERT 0 {count}"),
            verb => format!("{verb} {count}"),
        };
        match self {
            Answer::Declared { statement, rows, verb } => {
                let columns = statement.reply().columns().len();
                let touched = statement.reply().make(statement, *rows, parameters, |cells| {
                    let mut row = Row::begin(out, columns);
                    cells.enumerate().for_each(|(at, (kind, value))| row.cell(kind, value, form(at)));
                    row.end();
                });
                counted(verb, touched)
            }
            Answer::Canned(canned) => {
                for values in &canned.rows {
                    let mut row = Row::begin(out, canned.columns.len());
                    values.iter().enumerate().for_each(|(at, value)| row.cell(canned.columns[at].1, *value, form(at)));
                    row.end();
                }
                match canned.columns {
                    [] => counted(verb(canned.begins), canned.changed),
                    _ => counted("SELECT", canned.rows.len() as u64),
                }
            }
            Answer::Done { tag } => tag.clone(),
            Answer::Copy { .. } | Answer::Empty => String::new(),
        }
    }
}

/// The word that ends the answer to a text that touches rows.
fn verb(sql: &str) -> &'static str {
    let first = sql.split_whitespace().next().unwrap_or("");
    match first {
        "INSERT" => "INSERT",
        "UPDATE" => "UPDATE",
        "DELETE" => "DELETE",
        "WITH" if sql.contains(" UPDATE ") => "UPDATE",
        _ => "SELECT",
    }
}

/// The columns that COPY names between parentheses.
fn columns_of_copy(sql: &str) -> usize {
    let list = sql.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(list, _)| list);
    list.split(',').filter(|name| !name.trim().is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::postgres::Postgres;

    #[test]
    fn texts_are_known_by_what_they_say() {
        static INSERT: Statement = Statement::multi_row("s", "INSERT INTO t VALUES {(#1)}", 2, 3);
        let known = Canned::rows("SELECT version()", &[], &[("version", Kind::Text)], vec![vec!["stub".into()]]);
        let answers = Answers::new(&Postgres, [&INSERT], 15, [known]);
        for rows in [1, 15] {
            assert!(
                matches!(answers.to(&INSERT.expand(rows)), Some(Answer::Declared { rows: found, .. }) if found == rows)
            );
        }
        assert!(matches!(answers.to("SELECT version()"), Some(Answer::Canned(_))));
        assert!(matches!(answers.to("set TIME ZONE 'UTC'"), Some(Answer::Done { tag }) if tag == "SET"));
        assert!(matches!(answers.to("COPY t (a, b) FROM STDIN (FORMAT binary)"), Some(Answer::Copy { columns: 2 })));
        assert!(matches!(answers.to("  "), Some(Answer::Empty)));
        for unknown in ["SELECT 2", "WITH a AS (SELECT 1) SELECT 1", "-"] {
            assert!(answers.to(unknown).is_none(), "{unknown}");
        }
    }

    #[test]
    fn answers_end_with_the_word_of_their_statement() {
        assert_eq!(
            ["SELECT 1 FOR UPDATE", "WITH a AS (VALUES (1)) UPDATE t", "UPDATE t"].map(verb),
            ["SELECT", "UPDATE", "UPDATE"]
        );
    }
}
