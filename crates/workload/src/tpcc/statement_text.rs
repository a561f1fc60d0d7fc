//! The statements of the transactions as text.

use ::tpcc::input::Kind;
use target::{Dialect, Statement, null_reply};

use super::Style;
use super::plan::Plan;
use crate::values::Generator;

/// A statement of a transaction, as a database takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementText {
    /// Its name in results, such as `new_order.district`. One that several transactions share starts with its table.
    pub name: &'static str,
    /// The transaction that sends it.
    pub transaction: Kind,
    /// The number of rows that it is written for; 1 if the statement is not multi-row.
    pub rows: usize,
    /// The database's own SQL, as [`target::Session::ask`] takes it.
    pub sql: String,
    /// The types of the values at its places, in order.
    pub parameters: Vec<null_reply::Kind>,
}

/// The statements of each transaction in a style; none in a style that the database does not have.
fn by_transaction(style: Style, dialect: &dyn Dialect) -> Vec<(Kind, Vec<&'static Statement>)> {
    Plan::resolve(style, dialect).map(Plan::by_transaction).unwrap_or_default()
}

/// The statements of all transactions in a style as text, in the order of the profiles. A multi-row statement is written
/// for the middle of its usual numbers of rows.
pub fn statement_texts(style: Style, dialect: &dyn Dialect) -> Vec<StatementText> {
    let each = by_transaction(style, dialect).into_iter();
    each.flat_map(|(transaction, statements)| {
        statements.into_iter().map(move |statement| {
            let rows = usize::midpoint(statement.rows.0, statement.rows.1);
            let (sql, parameters) = statement.in_dialect(dialect, rows);
            StatementText { name: statement.name, transaction, rows, sql, parameters }
        })
    })
    .collect()
}

/// A statement of style `row` with parameters named after their columns, and generators that draw the parameters' values
/// as the transactions do.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The database's own SQL, parameters as `:c_id`.
    pub sql: String,
    /// The generator of each parameter.
    pub generators: Vec<(String, Generator)>,
    /// Whether it changes rows.
    pub writes: bool,
}

/// The statement of this name with named parameters, for a number of warehouses.
///
/// # Errors
/// Lists the names if no statement has this one.
pub fn named(name: &str, dialect: &dyn Dialect, warehouses: i32) -> Result<Named, String> {
    let all: Vec<_> = by_transaction(Style::Row, dialect).into_iter().flat_map(|(_, statements)| statements).collect();
    let Some(statement) = all.iter().find(|statement| statement.name == name) else {
        let names: Vec<&str> = all.iter().map(|statement| statement.name).collect();
        return Err(format!("no statement `{name}` in style row: there are {}", names.join(", ")));
    };
    let mut sql = statement.expand(1);
    let kinds: Vec<null_reply::Kind> = statement.parameters(1).collect();
    let inserts = sql.starts_with("INSERT");
    let mut generators: Vec<(String, Generator)> = Vec::new();
    // From the last, so that `$1` is not taken for the start of `$10`.
    for (at, kind) in kinds.iter().enumerate().rev() {
        let place = format!("${}", at + 1);
        let column = column_of(&sql, &place);
        let mut parameter = column.clone().unwrap_or_else(|| format!("p{}", at + 1));
        if generators.iter().any(|(known, _)| *known == parameter) {
            parameter.push_str(&format!("_{}", at + 1));
        }
        let generator = generator(column.as_deref().unwrap_or(""), *kind, inserts, warehouses);
        generators.push((parameter.clone(), Generator::parse(&generator)?));
        sql = sql.replace(&place, &format!(":{parameter}"));
    }
    generators.reverse();
    Ok(Named { sql: dialect.adapt(sql), generators, writes: !statement.sql.starts_with("SELECT") })
}

/// The column that a parameter is compared with, set to, or stored in.
fn column_of(sql: &str, place: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if sql.starts_with("INSERT") {
        let mut lists = sql.split(['(', ')']);
        let (columns, values) = (lists.nth(1)?, lists.nth(1)?);
        let at = values.split(',').position(|value| value.trim() == place)?;
        return columns.split(',').nth(at).map(|column| column.trim().to_owned());
    }
    let (before, behind) = sql.split_once(place)?;
    let word = before.trim_end_matches(|c: char| " =<>+-".contains(c)).rsplit(|c| !is_word(c)).next().unwrap_or("");
    let is_column = |word: &str| word.contains('_');
    if is_column(word) && before.ends_with([' ', '=']) {
        return Some(word.to_owned());
    }
    let next = behind.trim_start_matches([' ', '|']).split(|c| !is_word(c)).next().unwrap_or("");
    is_column(next).then(|| next.to_owned())
}

/// The generator that draws a column's values as the transactions do.
fn generator(column: &str, kind: null_reply::Kind, inserts: bool, warehouses: i32) -> String {
    match column {
        _ if column.ends_with("w_id") => format!("uniform(1, {warehouses})"),
        _ if column.ends_with("d_id") => "uniform(1, 10)".to_owned(),
        _ if column.ends_with("c_id") => "nurand(1023, 1, 3000)".to_owned(),
        _ if column.ends_with("i_id") => "nurand(8191, 1, 100000)".to_owned(),
        // Orders that don't exist yet.
        _ if column.ends_with("o_id") && inserts => "sequence(1000000)".to_owned(),
        "no_o_id" => "uniform(2101, 3000)".to_owned(),
        _ if column.ends_with("o_id") => "uniform(1, 3000)".to_owned(),
        "c_last" => {
            let names: Vec<String> = (0..1000).map(|n| ::tpcc::text::last_name(n).as_str().to_owned()).collect();
            format!("choice({})", names.join(", "))
        }
        "ol_dist_info" => "text(24, 24)".to_owned(),
        "ol_number" => "uniform(1, 15)".to_owned(),
        "o_all_local" => "uniform(1, 1)".to_owned(),
        _ => match kind {
            null_reply::Kind::SmallInt | null_reply::Kind::Int | null_reply::Kind::BigInt => {
                "uniform(1, 10)".to_owned()
            }
            null_reply::Kind::Numeric => "decimal(1.00, 99.00)".to_owned(),
            null_reply::Kind::Timestamp => "now(0)".to_owned(),
            null_reply::Kind::Char | null_reply::Kind::Varchar | null_reply::Kind::Text => "text(12, 24)".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;
    use crate::values::Values;

    #[test]
    fn every_statement_of_style_row_has_named_parameters_with_values() {
        for dialect in target::DATABASES.iter().filter(|dialect| dialect.stores_data()) {
            for (_, statements) in by_transaction(Style::Row, *dialect) {
                for statement in statements {
                    let named = named(statement.name, *dialect, 5).unwrap();
                    let mut values = Values::new(1);
                    for (name, generator) in &named.generators {
                        values.generate(name, generator.clone());
                    }
                    let template = Template::parse(&named.sql, dialect.wire());
                    let drawn = values.draw(template.names()).unwrap_or_else(|e| panic!("{}: {e}", named.sql));
                    assert_eq!(drawn.len(), named.generators.len(), "{}", named.sql);
                    assert!(!named.sql.contains(['$', '{']), "{}", named.sql);
                }
            }
        }
        let lines = named("order_status.lines", &target::postgres::Postgres, 5).unwrap();
        assert!(
            lines.sql.ends_with("WHERE ol_w_id = :ol_w_id AND ol_d_id = :ol_d_id AND ol_o_id = :ol_o_id"),
            "{}",
            lines.sql
        );
        assert!(!lines.writes);
        let history = named("payment.history", &target::postgres::Postgres, 5).unwrap();
        assert!(history.sql.contains(":h_amount") && history.writes, "{}", history.sql);
        assert!(named("nothing", &target::postgres::Postgres, 5).unwrap_err().contains("order_status.lines"));
    }

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
                let statement_texts = statement_texts(style, *dialect);
                for subject in &statement_texts {
                    let said = (dialect.name(), subject.name);
                    assert_eq!(places(&subject.sql, *dialect), subject.parameters.len(), "{said:?}: {}", subject.sql);
                    assert!(!subject.sql.contains(['{', '#']), "{said:?}: {}", subject.sql);
                }
                let all = style != Style::Procedure || dialect.routines().is_some();
                assert_eq!(Kind::ALL.iter().all(|kind| statement_texts.iter().any(|s| s.transaction == *kind)), all);
            }
        }
    }
}
