//! Statements: declared once, in plain SQL, at the top of the file that uses them.

use crate::Dialect;
use crate::null_reply::{Kind, Reply};

/// A named SQL statement.
///
/// `$1`, `$2`, … are its parameters. A part in braces is written once a row of a multi-row
/// statement, joined by `, ` or by what follows a `|` inside; `#1`, `#2`, … are that row's own
/// parameters and come after the `$` ones. Written in standard SQL as far as there is one
/// (`LOCALTIMESTAMP` for the server's clock); [`crate::Dialect::adapt`] does the rest.
///
/// ```text
/// INSERT INTO order_line (ol_w_id, ol_number) VALUES {($1, #1)}
/// DELETE FROM new_order WHERE {(no_w_id = $1 AND no_d_id = #1)| OR }
/// ```
#[derive(Debug)]
pub struct Statement {
    /// `transaction.role`, as reports show it.
    pub name: &'static str,
    /// The SQL text.
    pub sql: &'static str,
    /// The numbers of rows to prepare it for when a connection is made; others are prepared when they first come.
    pub rows: (usize, usize),
    /// The types of the `$` parameters, for the null target.
    pub(crate) fixed: &'static [Kind],
    /// The types of a row's own `#` parameters, for the null target.
    pub(crate) per_row: &'static [Kind],
    /// The null target's answer.
    pub(crate) reply: Reply,
}

impl Statement {
    /// A statement without a repeated part.
    pub const fn new(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql, rows: (1, 1), fixed: &[], per_row: &[], reply: Reply::CHANGED }
    }

    /// A multi-row statement that usually has `least` to `most` rows.
    pub const fn multi_row(name: &'static str, sql: &'static str, least: usize, most: usize) -> Self {
        Self { rows: (least, most), ..Self::new(name, sql) }
    }

    /// The key of this statement's form for a number of rows, in a map of prepared statements. A statement is a static,
    /// so that its address identifies it.
    pub(crate) fn key(&'static self, rows: usize) -> (usize, usize) {
        (std::ptr::from_ref(self) as usize, rows)
    }

    /// With the types of its `$` parameters.
    #[must_use]
    pub const fn takes(self, fixed: &'static [Kind]) -> Self {
        Self { fixed, ..self }
    }

    /// With the types of a row's own `#` parameters.
    #[must_use]
    pub const fn takes_a_row(self, per_row: &'static [Kind]) -> Self {
        Self { per_row, ..self }
    }

    /// With the null target's answer, if it is not [`Reply::CHANGED`].
    #[must_use]
    pub const fn replies(self, reply: Reply) -> Self {
        Self { reply, ..self }
    }

    /// The null target's answer.
    pub const fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The types of the parameters of a call with `rows` rows.
    pub fn parameters(&self, rows: usize) -> impl Iterator<Item = Kind> {
        self.fixed.iter().chain(std::iter::repeat_n(self.per_row, rows).flatten()).copied()
    }

    /// The text for `rows` repetitions of the part in braces as [`crate::Session::ask`] takes it, and the type of the
    /// value at each of its places.
    pub fn in_dialect(&self, dialect: &dyn Dialect, rows: usize) -> (String, Vec<Kind>) {
        let sql = dialect.adapt(self.expand(rows));
        let kinds: Vec<Kind> = self.parameters(rows).collect();
        match dialect.place(1).as_str() {
            "?" => {
                let (sql, order) = positional(&sql);
                let kinds = order.into_iter().filter_map(|at| kinds.get(at).copied()).collect();
                (sql, kinds)
            }
            _ => (sql, kinds),
        }
    }

    /// The text for `rows` repetitions of the part in braces, every parameter as `$n`.
    pub fn expand(&self, rows: usize) -> String {
        let Some((before, rest)) = self.sql.split_once('{') else {
            return self.sql.to_owned();
        };
        let (group, after) = rest.split_once('}').unwrap_or((rest, ""));
        let (body, separator) = group.rsplit_once('|').unwrap_or((group, ", "));
        let fixed = highest(self.sql, '$');
        let own = highest(body, '#');
        let mut sql = before.to_owned();
        for row in 0..rows {
            if row > 0 {
                sql.push_str(separator);
            }
            renumber(body, fixed + row * own, &mut sql);
        }
        sql.push_str(after);
        sql
    }
}

/// A text with `$n` as one with `?` in their places, and the parameter (from 0) of each place.
pub(crate) fn positional(sql: &str) -> (String, Vec<usize>) {
    let mut parts = sql.split('$');
    let mut text = parts.next().unwrap_or("").to_owned();
    let mut order = Vec::new();
    for part in parts {
        let (number, digits) = leading_number(part);
        order.push(number.saturating_sub(1));
        text.push('?');
        text.push_str(&part[digits..]);
    }
    (text, order)
}

/// The highest number behind `mark`.
fn highest(text: &str, mark: char) -> usize {
    text.split(mark).skip(1).map(|tail| leading_number(tail).0).max().unwrap_or(0)
}

/// The number that `text` starts with (0 if none), and how many digits it has.
fn leading_number(text: &str) -> (usize, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (text[..digits].parse().unwrap_or(0), digits)
}

/// Copies `body` to `out` with each `#n` as `$(offset + n)`.
fn renumber(body: &str, offset: usize, out: &mut String) {
    let mut parts = body.split('#');
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let (number, digits) = leading_number(part);
        out.push('$');
        out.push_str(&(offset + number).to_string());
        out.push_str(&part[digits..]);
    }
}

#[cfg(test)]
mod tests {
    use super::{Statement, positional};

    #[test]
    fn a_parameter_that_repeats_has_several_places() {
        let (text, order) = positional("SELECT $2 FROM t WHERE a = $1 AND b = $2");
        assert_eq!((text.as_str(), order.as_slice()), ("SELECT ? FROM t WHERE a = ? AND b = ?", &[1, 0, 1][..]));
    }

    #[test]
    fn a_statement_without_braces_is_taken_as_it_is() {
        let s = Statement::new("s", "SELECT w_tax FROM warehouse WHERE w_id = $1");
        assert_eq!(s.expand(1), s.sql);
    }

    #[test]
    fn rows_are_numbered_after_the_fixed_parameters() {
        let s = Statement::new("s", "INSERT INTO t VALUES {($1, #1, #2)} RETURNING $2");
        assert_eq!(s.expand(1), "INSERT INTO t VALUES ($1, $3, $4) RETURNING $2");
        assert_eq!(s.expand(2), "INSERT INTO t VALUES ($1, $3, $4), ($1, $5, $6) RETURNING $2");
    }

    #[test]
    fn a_group_can_be_joined_by_another_word() {
        let s = Statement::new("s", "DELETE FROM t WHERE {(a = $1 AND b = #1)| OR }");
        assert_eq!(s.expand(2), "DELETE FROM t WHERE (a = $1 AND b = $2) OR (a = $1 AND b = $3)");
    }

    #[test]
    fn the_concatenation_operator_before_the_group_is_not_a_separator() {
        let s = Statement::new("s", "SELECT a || b FROM t WHERE c IN ({#1})");
        assert_eq!(s.expand(2), "SELECT a || b FROM t WHERE c IN ($1, $2)");
    }
}
