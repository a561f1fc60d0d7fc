//! A statement as people write it: the database's own SQL, with parameters by name.
//!
//! `:name` (which may hold dots), `$1`, and `?` where the database's own clients write it, are parameters; not inside
//! strings, quoted names and comments, and `::` is a cast.

use target::{Dialect, OwnedValue, WireKind};

/// A statement with its parameters found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The text before each place, and behind the last one.
    texts: Vec<String>,
    /// The parameter of each place, among `names`.
    places: Vec<usize>,
    names: Vec<String>,
}

impl Template {
    /// Finds the parameters of a statement for a database of this wire.
    #[must_use]
    pub fn parse(sql: &str, wire: WireKind) -> Self {
        let (mut texts, mut places, mut names) = (vec![String::new()], Vec::new(), Vec::<String>::new());
        let mut unnamed = 0;
        for piece in pieces(sql, wire) {
            let name = match piece {
                Piece::Text(text) | Piece::End(text) => {
                    if let Some(last) = texts.last_mut() {
                        last.push_str(text);
                    }
                    continue;
                }
                Piece::Named(name) => name.to_owned(),
                Piece::Unnamed => {
                    unnamed += 1;
                    unnamed.to_string()
                }
            };
            let at = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            places.push(at);
            texts.push(String::new());
        }
        Self { texts, places, names }
    }

    /// The parameters, each once, in the order in which they first come; `$1` and the first `?` are called `1`.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The statement to be prepared, and for each of its places the parameter that stands there, among
    /// [`Template::names`].
    #[must_use]
    pub fn prepared(&self, dialect: &dyn Dialect) -> (String, Vec<usize>) {
        // Where places have numbers, one number stands for all places of a parameter.
        let numbered = dialect.place(1) != dialect.place(2);
        let order = if numbered { (0..self.names.len()).collect() } else { self.places.clone() };
        let place = |at: usize| dialect.place(if numbered { self.places[at] + 1 } else { at + 1 });
        (self.filled(place), order)
    }

    /// The statement with the parameters' values, in the order of [`Template::names`], written into it.
    #[must_use]
    pub fn literal(&self, dialect: &dyn Dialect, values: &[OwnedValue]) -> String {
        self.filled(|at| values.get(self.places[at]).map_or_else(|| "NULL".to_owned(), |value| dialect.literal(value)))
    }

    /// The statement with its parameters' names in their places.
    #[must_use]
    pub fn named(&self) -> String {
        self.filled(|at| format!(":{}", self.names[self.places[at]]))
    }

    fn filled(&self, place: impl Fn(usize) -> String) -> String {
        let mut sql = String::new();
        for (at, text) in self.texts.iter().enumerate() {
            sql.push_str(text);
            if at < self.places.len() {
                sql.push_str(&place(at));
            }
        }
        sql
    }
}

/// The statements of a text, without the semicolons between them; what is empty but for comments is none.
#[must_use]
pub fn split(text: &str, wire: WireKind) -> Vec<String> {
    let mut statements = vec![String::new()];
    for piece in pieces(text, wire) {
        let Some(last) = statements.last_mut() else { break };
        match piece {
            Piece::End(_) => statements.push(String::new()),
            Piece::Text(text) => last.push_str(text),
            Piece::Named(name) if name.starts_with(|c: char| c.is_ascii_digit()) => last.push_str(&format!("${name}")),
            Piece::Named(name) => last.push_str(&format!(":{name}")),
            Piece::Unnamed => last.push('?'),
        }
    }
    let said = |statement: &String| {
        pieces(statement, wire).iter().any(|piece| match piece {
            Piece::Text(text) => !is_comment(text) && !text.trim().is_empty(),
            _ => true,
        })
    };
    statements.into_iter().filter(said).map(|statement| statement.trim().to_owned()).collect()
}

fn is_comment(text: &str) -> bool {
    text.starts_with("--") || text.starts_with("/*") || text.starts_with('#')
}

#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// What is taken as it is: a stretch of plain text, a string, a quoted name, or a comment.
    Text(&'a str),
    /// A parameter with a name or a number.
    Named(&'a str),
    /// A `?`.
    Unnamed,
    /// A semicolon.
    End(&'a str),
}

/// Cuts a text where quoting begins and ends, and at parameters and semicolons.
fn pieces(sql: &str, wire: WireKind) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut rest, mut plain) = (sql, 0);
    // The plain stretch before `rest`, of `plain` bytes, ends here.
    let before = |rest: &str, plain: usize| &sql[sql.len() - rest.len() - plain..sql.len() - rest.len()];
    while let Some(first) = rest.chars().next() {
        let taken = quoted(rest, wire);
        let (piece, length) = match first {
            _ if taken > 0 => (Piece::Text(&rest[..taken]), taken),
            ';' => (Piece::End(&rest[..1]), 1),
            // SQLite numbers its places.
            '?' if wire == WireKind::Sqlite && digits(&rest[1..]) > 0 => {
                (Piece::Named(&rest[1..=digits(&rest[1..])]), digits(&rest[1..]) + 1)
            }
            '?' if matches!(wire, WireKind::Mysql | WireKind::Odbc | WireKind::Sqlite) => (Piece::Unnamed, 1),
            '$' => match digits(&rest[1..]) {
                0 => (Piece::Text(""), 0),
                length => (Piece::Named(&rest[1..=length]), length + 1),
            },
            ':' if rest.starts_with("::") => {
                plain += 2;
                rest = &rest[2..];
                continue;
            }
            ':' => match name(&rest[1..]) {
                0 => (Piece::Text(""), 0),
                length => (Piece::Named(&rest[1..=length]), length + 1),
            },
            _ => (Piece::Text(""), 0),
        };
        if length == 0 {
            // A word as a whole, so that a `$` inside it is not taken for a parameter.
            let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
            let step = if first.is_alphanumeric() || first == '_' { word } else { first.len_utf8() };
            plain += step;
            rest = &rest[step..];
            continue;
        }
        if plain > 0 {
            pieces.push(Piece::Text(before(rest, plain)));
            plain = 0;
        }
        pieces.push(piece);
        rest = &rest[length..];
    }
    if plain > 0 {
        pieces.push(Piece::Text(before(rest, plain)));
    }
    pieces
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The length of a parameter's name at the start of `text`: letters, digits and underscores, with dots between.
fn name(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return 0;
    }
    let length = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count();
    text[..length].trim_end_matches('.').len()
}

/// The length of a string, a quoted name or a comment at the start of `text`; 0 if there is none. One that is not closed
/// reaches to the end.
fn quoted(text: &str, wire: WireKind) -> usize {
    let mysql = wire == WireKind::Mysql;
    let until = |open: usize, close: &str| {
        text.get(open..).and_then(|rest| rest.find(close)).map_or(text.len(), |at| open + at + close.len())
    };
    let mut chars = text.chars();
    let (Some(first), second) = (chars.next(), chars.next()) else { return 0 };
    match (first, second) {
        ('\'' | '"', _) => enclosed(text, first, mysql),
        ('E' | 'e', Some('\'')) if wire == WireKind::Postgres => 1 + enclosed(&text[1..], '\'', true),
        ('`', _) if mysql || wire == WireKind::Sqlite => enclosed(text, '`', false),
        ('-', Some('-')) => until(2, "\n"),
        ('#', _) if mysql => until(1, "\n"),
        ('/', Some('*')) => until(2, "*/"),
        ('$', _) if wire == WireKind::Postgres => {
            let tag = text[1..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            let dollar = text[1 + tag..].starts_with('$') && !text[1..].starts_with(|c: char| c.is_ascii_digit());
            if dollar { until(tag + 2, &text[..tag + 2]) } else { 0 }
        }
        _ => 0,
    }
}

/// The length of what `quote` encloses; two of them stand for one, and a backslash for the next character.
fn enclosed(text: &str, quote: char, backslash: bool) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if backslash && c == '\\' {
            chars.next();
        } else if c == quote {
            match chars.peek() {
                Some((_, next)) if *next == quote => {
                    chars.next();
                }
                _ => return at + 1,
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::mysql::MYSQL;
    use target::postgres::Postgres;
    use target::sqlite::Sqlite;

    #[test]
    fn a_parameter_that_comes_twice_is_one() {
        let template = Template::parse("SELECT :b, :a FROM t WHERE x = :user.city AND y = :b", WireKind::Mysql);
        assert_eq!(template.names(), ["b", "a", "user.city"]);
        let (sql, order) = template.prepared(&MYSQL);
        assert_eq!((sql.as_str(), order), ("SELECT ?, ? FROM t WHERE x = ? AND y = ?", vec![0, 1, 2, 0]));
        let (sql, order) = template.prepared(&Postgres);
        assert_eq!((sql.as_str(), order), ("SELECT $1, $2 FROM t WHERE x = $3 AND y = $1", vec![0, 1, 2]));
    }

    #[test]
    fn quoting_hides_what_looks_like_a_parameter() {
        let cases = [
            ("SELECT ':a', ':b''c :d', x::int FROM t -- :e\n WHERE y = :f", WireKind::Postgres, &["f"][..]),
            (r"SELECT '\':a' , :b # :c", WireKind::Mysql, &["b"]),
            (r"SELECT '\', :b", WireKind::Sqlite, &["b"]),
            (r"SELECT E'\':a', :b", WireKind::Postgres, &["b"]),
            ("SELECT $$ :a $1 $$, $x$ $$ :b $x$, $1, j ? 'k'", WireKind::Postgres, &["1"]),
            ("SELECT \":a\", `?`, ?, /* ? */ ?", WireKind::Mysql, &["1", "2"]),
            ("SELECT a$1, :a.b.", WireKind::Postgres, &["a.b"]),
            ("SET @x := 5, t = '12:30:00'", WireKind::Mysql, &[]),
            ("SELECT 'never closed :a", WireKind::Postgres, &[]),
        ];
        for (sql, wire, names) in cases {
            assert_eq!(Template::parse(sql, wire).names(), names, "{sql}");
        }
    }

    #[test]
    fn values_are_written_in_as_literals() {
        let template = Template::parse("SELECT :a, :b, :a", WireKind::Postgres);
        let values = [OwnedValue::Text("O'Hara".into()), OwnedValue::Int(-5)];
        assert_eq!(template.literal(&Postgres, &values), "SELECT 'O''Hara', -5, 'O''Hara'");
        let hostile = [OwnedValue::Text(r"\'; DROP TABLE t; --".into()), OwnedValue::Null];
        assert_eq!(
            template.literal(&MYSQL, &hostile[..1]),
            r"SELECT '\\''; DROP TABLE t; --', NULL, '\\''; DROP TABLE t; --'"
        );
        assert_eq!(Template::parse("x = ?", WireKind::Sqlite).literal(&Sqlite, &hostile[1..]), "x = NULL");
    }

    #[test]
    fn a_file_is_split_at_its_semicolons() {
        let text = "SELECT ';' ; -- only a comment; \n; /* one */ UPDATE t SET a = :a\nWHERE b = $1;\n";
        let found = split(text, WireKind::Postgres);
        assert_eq!(found, ["SELECT ';'", "/* one */ UPDATE t SET a = :a\nWHERE b = $1"]);
        assert!(split(" -- nothing\n", WireKind::Mysql).is_empty());
    }
}
