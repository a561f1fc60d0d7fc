//! What can be known of a file without a database: all that makes no sense is refused before anything is touched.

use std::collections::BTreeSet;

use target::schema::ColumnType;
use target::{DATABASES, Dialect};

use crate::per_database::{PerDatabase, names};
use crate::template::{Template, split};

use super::catalog::MOST_NAMES;
use super::file::{Commit, Custom, Table, Transaction, duration};
use super::reserved::is_reserved;
use super::statements;
use super::tables::{Data, column_type};
use super::transactions::Source;

/// Columns of a table, transactions of a file, steps of a transaction: more than anybody writes by hand.
const MOST: usize = 500;

/// What our own tables are called.
const OURS: &str = "weighbridge";

/// What SQLite keeps for its own tables and indexes.
const SQLITES: &str = "sqlite_";

impl Custom {
    /// Makes sure of all that can be known without a database.
    pub(super) fn check(&self) -> Result<(), String> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if self.name.is_empty() || self.name.len() > 40 || !self.name.chars().all(fits) {
            return Err(format!("name = `{}`: use 1 to 40 small letters, digits, - and _", self.name.escape_debug()));
        }
        if self.name == "tpcc" {
            return Err("name = `tpcc`: another workload needs another name".to_owned());
        }
        one_line("about", &self.about)?;
        if self.data.is_some() && !self.tables.is_empty() {
            return Err("it has tables of its own and `data`: leave one of them out".to_owned());
        }
        if self.data.is_none() && self.tables.is_empty() {
            return Err("it has no [[table]], and no data = \"movr\" either".to_owned());
        }
        if self.transactions.is_empty() {
            return Err("it has no [[transaction]]".to_owned());
        }
        if self.transactions.len() > MOST || self.tables.len() > MOST {
            return Err(format!("it has more than {MOST} tables or transactions"));
        }
        // Most databases find an index among the tables, and some a foreign key among all others.
        let indexes = self.tables.iter().flat_map(|table| table.indexes.keys());
        distinct("table or index", self.tables.iter().map(|table| &table.name).chain(indexes))?;
        distinct("foreign key", self.tables.iter().flat_map(|table| table.foreign_keys.keys()))?;
        distinct("transaction", self.transactions.iter().map(|transaction| &transaction.name))?;
        for (at, table) in self.tables.iter().enumerate() {
            let checked = table.check(&self.tables[..at]).and_then(|()| self.spares_primary_keys(table));
            checked.map_err(|why| format!("table {}: {why}", table.name.escape_debug()))?;
        }
        let listed = self.tables.iter().map(|table| table.name.len() + 1).sum::<usize>();
        if listed > MOST_NAMES {
            return Err(format!("the names of its tables are longer than {MOST_NAMES} characters together"));
        }
        let data = Data::new(self, 1.0, 1)?;
        for (name, sql) in &self.pools {
            identifier(name)
                .and_then(|()| single(sql))
                .map_err(|why| format!("pool {}: {why}", name.escape_debug()))?;
        }
        for transaction in &self.transactions {
            self.check_transaction(transaction, &data)
                .map_err(|why| format!("transaction {}: {why}", transaction.name.escape_debug()))?;
        }
        if let Some(first) = self.transactions.first().filter(|first| first.weight == 0) {
            return Err(format!(
                "transaction {}: as the first its rate is the result: it can't have weight 0",
                first.name
            ));
        }
        distinct("check", self.checks.iter().map(|check| &check.name))?;
        distinct("ledger", self.ledger.iter().map(|gain| &gain.name))?;
        for check in &self.checks {
            title("check", &check.name)?;
            single(&check.sql).map_err(|why| format!("check `{}`: {why}", check.name))?;
        }
        for gain in &self.ledger {
            title("ledger", &gain.name)?;
            let wrong = |why: String| format!("ledger `{}`: {why}", gain.name);
            single(&gain.sql).map_err(wrong)?;
            for (name, per) in &gain.per {
                if !self.transactions.iter().any(|transaction| transaction.name == *name) {
                    return Err(wrong(format!("there is no transaction `{}`", name.escape_debug())));
                }
                if *per == 0 {
                    return Err(wrong(format!("{name} adds 0: leave it out")));
                }
            }
        }
        Ok(())
    }

    /// Makes sure that all values of the transactions can be drawn from its tables at the scale that they are loaded at.
    ///
    /// # Errors
    /// The first that can't.
    pub fn require_values(&self, data: &Data) -> Result<(), String> {
        let wrong = |transaction: &Transaction, why| format!("transaction {}: {why}", transaction.name.escape_debug());
        self.transactions.iter().try_for_each(|of| of.require_values(data).map_err(|why| wrong(of, why)))
    }

    /// PostgreSQL makes an index for each primary key, and calls it after the table.
    fn spares_primary_keys(&self, table: &Table) -> Result<(), String> {
        for name in [&table.name].into_iter().chain(table.indexes.keys()).chain(table.foreign_keys.keys()) {
            let of = name.strip_suffix("_pkey").filter(|of| self.tables.iter().any(|table| table.name == *of));
            if let Some(of) = of {
                return Err(format!("`{name}` is what PostgreSQL calls the primary key of {of}: use another name"));
            }
        }
        Ok(())
    }

    fn check_transaction(&self, transaction: &Transaction, data: &Data) -> Result<(), String> {
        identifier(&transaction.name)?;
        if transaction.weight > 1_000_000 {
            return Err("its weight is above 1000000".to_owned());
        }
        if !(0.0..=1.0).contains(&transaction.rollback) {
            return Err("rollback is a share from 0 to 1".to_owned());
        }
        if transaction.steps.is_empty() || transaction.steps.len() > MOST {
            return Err(format!("it takes 1 to {MOST} steps"));
        }
        // Of several that commit one by one an attempt could not be repeated as a whole.
        if transaction.commit == Commit::Auto && (transaction.steps.len() > 1 || transaction.rollback > 0.0) {
            return Err("commit = \"auto\" is for one step that is never rolled back".to_owned());
        }
        for time in [&transaction.keying, &transaction.think, &transaction.response_limit].into_iter().flatten() {
            duration(time)?;
        }
        if transaction.response_limit.is_some() && transaction.response_limit().is_zero() {
            return Err("response_limit is above 0: without a limit leave it out".to_owned());
        }
        transaction.require_values(data)?;
        let mut kept: BTreeSet<&str> = BTreeSet::new();
        let mut used: BTreeSet<String> = BTreeSet::new();
        for (at, step) in (1..).zip(&transaction.steps) {
            let wrong = |why: String| format!("step {at}: {why}");
            single(&step.sql).map_err(wrong)?;
            if transaction.read_only {
                on_all(&step.sql, |dialect, sql| {
                    statements::writes(sql, dialect.wire())
                        .map(|by| format!("read_only = true, but it writes or locks: {by}"))
                })
                .map_err(wrong)?;
            }
            on_all(&step.sql, |dialect, sql| {
                let names = Template::parse(sql, dialect.wire());
                let given = |name: &String| {
                    let pool = name.split_once('.').is_some_and(|(pool, _)| self.pools.contains_key(pool));
                    pool || transaction.values.contains_key(name) || kept.contains(name.as_str())
                };
                let lacks = names.names().iter().find(|name| !given(name))?;
                Some(format!("nothing gives :{lacks} a value, no `values`, no pool and no `keep` of a step before it"))
            })
            .map_err(wrong)?;
            for (dialect, sql) in texts(&step.sql) {
                used.extend(Template::parse(sql, dialect.wire()).names().iter().cloned());
            }
            for name in &step.keep {
                identifier(name).map_err(wrong)?;
                if transaction.values.contains_key(name) {
                    return Err(wrong(format!("it keeps :{name}, which is drawn")));
                }
            }
            kept.extend(step.keep.iter().map(String::as_str));
        }
        match transaction.values.keys().find(|name| !used.contains(*name)) {
            Some(name) => Err(format!("no step uses the parameter :{}", name.escape_debug())),
            None => Ok(()),
        }
    }
}

impl Transaction {
    /// Makes sure that its values can be drawn.
    fn require_values(&self, data: &Data) -> Result<(), String> {
        let drawn = |(name, value): (&String, &String)| match Source::of(value, data) {
            Ok(_) => Ok(()),
            Err(why) => Err(format!("{}: {why}", name.escape_debug())),
        };
        self.values.iter().try_for_each(drawn)
    }
}

impl Table {
    /// Makes sure of a table that stands behind others.
    fn check(&self, before: &[Table]) -> Result<(), String> {
        relation(&self.name)?;
        if self.columns.is_empty() || self.columns.len() > MOST {
            return Err(format!("it takes 1 to {MOST} columns"));
        }
        distinct("column", self.columns.iter().map(|column| &column.name))?;
        for column in &self.columns {
            word(&column.name)?;
            column_type(&column.kind).map_err(|why| format!("{}: {why}", column.name))?;
            if !(0.0..=1.0).contains(&column.nulls) {
                return Err(format!("{}: nulls is a share from 0 to 1", column.name));
            }
            if column.nulls > 0.0 && self.primary_key.contains(&column.name) {
                return Err(format!("{}: what is part of the primary key is never NULL", column.name));
            }
        }
        if !self.primary_key.is_empty() {
            self.key("the primary key", &self.primary_key)?;
        }
        for (name, columns) in &self.indexes {
            relation(name)?;
            self.key(&format!("the index {name}"), columns)?;
        }
        for (name, key) in &self.foreign_keys {
            word(name)?;
            self.key(&format!("the foreign key {name}"), &key.columns)?;
            let parent = before.iter().chain([self]).find(|table| table.name == key.table);
            let parent = parent
                .ok_or_else(|| format!("{name}: there is no table `{}` before this one", key.table.escape_debug()))?;
            if key.columns.len() != key.references.len() {
                return Err(format!("{name}: it references {} columns by {}", key.references.len(), key.columns.len()));
            }
            // Not all databases take another order than the key's, and none takes columns that are no key.
            if key.references != parent.primary_key {
                let of = if parent.primary_key.is_empty() { "none".to_owned() } else { parent.primary_key.join(", ") };
                let (table, named) = (&parent.name, key.references.join(", "));
                return Err(format!(
                    "{name}: it references ({named}), not the primary key of {table} in its order: {of}"
                ));
            }
            for (column, referenced) in key.columns.iter().zip(&key.references) {
                if !alike(self.kind_of(column)?, parent.kind_of(referenced)?) {
                    return Err(format!("{name}: {column} has another type than {referenced} of {}", parent.name));
                }
            }
        }
        Ok(())
    }

    /// The type of a column that it has.
    fn kind_of(&self, name: &str) -> Result<Option<ColumnType>, String> {
        self.columns.iter().find(|column| column.name == name).map(|column| column_type(&column.kind)).transpose()
    }

    /// Makes sure of a list of columns.
    fn key(&self, what: &str, columns: &[String]) -> Result<(), String> {
        if columns.is_empty() {
            return Err(format!("{what} has no columns"));
        }
        distinct("column", columns.iter()).map_err(|why| format!("{what}: {why}"))?;
        match columns.iter().find(|column| !self.columns.iter().any(|known| known.name == **column)) {
            Some(column) => Err(format!("{what}: there is no column `{}`", column.escape_debug())),
            None => Ok(()),
        }
    }
}

/// Makes sure that statements are given for databases that there are.
fn known(sql: &PerDatabase<String>) -> Result<(), String> {
    if sql.all().next().is_none() {
        return Err("there is no statement".to_owned());
    }
    let unknown = sql.names().find(|name| !DATABASES.iter().any(|dialect| names(*dialect).contains(name)));
    match unknown {
        Some(name) => Err(format!("there is no database `{}`: `weighbridge targets` lists them", name.escape_debug())),
        None => Ok(()),
    }
}

/// Makes sure that each text is one statement.
fn single(sql: &PerDatabase<String>) -> Result<(), String> {
    known(sql)?;
    on_all(sql, |dialect, sql| match split(sql, dialect.wire()).len() {
        0 => Some("there is no statement in its text".to_owned()),
        1 => None,
        more => Some(format!("its text has {more} statements where one must be")),
    })
}

/// Looks for a fault in a statement as each database reads it, whose rules for quotes, comments and parameters differ.
fn on_all(sql: &PerDatabase<String>, fault: impl Fn(&dyn Dialect, &str) -> Option<String>) -> Result<(), String> {
    let faults: Vec<(&str, String)> =
        texts(sql).filter_map(|(dialect, sql)| Some((dialect.name(), fault(dialect, sql)?))).collect();
    let Some((_, first)) = faults.first() else { return Ok(()) };
    if faults.len() == texts(sql).count() {
        return Err(first.clone());
    }
    let on: Vec<&str> = faults.iter().filter(|(_, fault)| fault == first).map(|(on, _)| *on).collect();
    Err(format!("{first} (as it is read for {})", on.join(", ")))
}

/// The texts of a statement, each with a database that it may be sent to.
fn texts(sql: &PerDatabase<String>) -> impl Iterator<Item = (&'static dyn Dialect, &String)> {
    DATABASES.iter().filter_map(|dialect| Some((*dialect, sql.of(*dialect)?)))
}

/// Whether a column can reference one of the other type; the widths of texts may differ.
fn alike(kind: Option<ColumnType>, referenced: Option<ColumnType>) -> bool {
    matches!(
        (kind, referenced),
        (Some(ColumnType::Char(_)), Some(ColumnType::Char(_)))
            | (Some(ColumnType::Varchar(_)), Some(ColumnType::Varchar(_)))
    ) || kind == referenced
}

/// The name of a table or an index.
fn relation(name: &str) -> Result<(), String> {
    word(name)?;
    match [OURS, SQLITES].iter().find(|of| name.starts_with(**of)) {
        Some(&OURS) => Err(format!("names that begin with {OURS} are of this program's own tables")),
        Some(of) => Err(format!("`{name}`: SQLite keeps names that begin with {of} to itself")),
        None => Ok(()),
    }
}

/// A name that databases are told when tables are made.
fn word(name: &str) -> Result<(), String> {
    identifier(name)?;
    match is_reserved(name) {
        true => Err(format!("`{name}` is a reserved word in one database or another: use another name")),
        false => Ok(()),
    }
}

/// A name that stands in SQL as it is.
fn identifier(name: &str) -> Result<(), String> {
    let first = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    match first && name.len() <= 60 && name.chars().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "`{}`: use up to 60 small letters, digits and _ for a name, no digit first",
            name.escape_debug()
        )),
    }
}

/// Words that are shown: no line ends and no terminal's codes in them.
fn one_line(what: &str, text: &str) -> Result<(), String> {
    match text.chars().any(char::is_control) {
        true => Err(format!("{what} = `{}`: leave out control characters", text.escape_debug())),
        false => Ok(()),
    }
}

/// What a check or the like is called where it is shown.
fn title(what: &str, name: &str) -> Result<(), String> {
    match name.trim().is_empty() {
        true => Err(format!("a {what} has an empty name")),
        false => one_line(what, name),
    }
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("there are two of the {what} `{}`", name.escape_debug()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with all that the cases change.
    const FILE: &str = r#"
name = "little"

[[table]]
name = "parent"
rows = 50
primary_key = ["a", "b"]
indexes = { by_b = ["b"] }
columns = [
    { name = "a", type = "bigint", value = "sequence(1)" },
    { name = "b", type = "varchar(20)", value = "text(5, 20)" },
]

[[table]]
name = "child"
rows = 100
indexes = { by_pb = ["pb"] }
columns = [
    { name = "pa", type = "bigint", value = "of(parent.a)" },
    { name = "pb", type = "varchar(30)", value = "of(parent.b)" },
    { name = "size", type = "int", value = "uniform(1, 5)" },
]

[table.foreign_keys.child_parent]
columns = ["pa", "pb"]
table = "parent"
references = ["a", "b"]

[[table]]
name = "other"
rows = 0
columns = [{ name = "pa", type = "bigint" }, { name = "pb", type = "varchar(20)", value = "text(1, 9)" }]

[table.foreign_keys.other_parent]
columns = ["pa", "pb"]
table = "parent"
references = ["a", "b"]

[pools]
user = "SELECT a FROM parent"

[[transaction]]
name = "update"
weight = 5
response_limit = "1s"
values = { a = "uniform(5, rows(parent))" }
steps = [{ sql = "UPDATE parent SET b = 'x;' WHERE a = :a; -- no more" }]

[[transaction]]
name = "read"
weight = 0
read_only = true
steps = [{ sql = "SELECT b FROM parent WHERE a = :user.a" }]

[[ledger]]
name = "rows of one"
sql = "SELECT COUNT(*) FROM child"
per = { update = 1 }

[[ledger]]
name = "rows of another"
sql = "SELECT COUNT(*) FROM other"
per = { update = 1 }

[[check]]
name = "one"
sql = "SELECT 1"
must = "stay"

[[check]]
name = "two"
sql = "SELECT 2"
must = "stay"
"#;

    /// Each change of the file must be refused, in one line that has these words.
    fn refused(cases: &[(&str, &str, &str)]) {
        Custom::parse(FILE).unwrap();
        for (from, to, words) in cases {
            assert!(FILE.contains(from), "{from}");
            let Err(why) = Custom::parse(&FILE.replacen(from, to, 1)) else { panic!("it is accepted: {to}") };
            assert!(why.contains(words) && !why.contains('\n'), "{to}: {why}");
        }
    }

    #[test]
    fn a_foreign_key_that_no_database_takes_is_refused() {
        refused(&[
            (
                "references = [\"a\", \"b\"]",
                "references = [\"b\", \"a\"]",
                "not the primary key of parent in its order",
            ),
            (
                "columns = [\"pa\", \"pb\"]\ntable = \"parent\"\nreferences = [\"a\", \"b\"]",
                "columns = [\"pa\"]\ntable = \"parent\"\nreferences = [\"a\"]",
                "table child: child_parent: it references (a), not",
            ),
            ("primary_key = [\"a\", \"b\"]", "", "not the primary key of parent in its order: none"),
            ("columns = [\"pa\", \"pb\"]", "columns = [\"size\", \"pb\"]", "size has another type than a of parent"),
            ("columns = [\"pa\", \"pb\"]", "columns = [\"pb\", \"pa\"]", "pb has another type than a of parent"),
            ("other_parent", "child_parent", "two of the foreign key `child_parent`"),
        ]);
    }

    #[test]
    fn names_that_databases_know_already_are_refused() {
        refused(&[
            ("by_pb", "by_b", "two of the table or index `by_b`"),
            ("by_pb", "parent", "two of the table or index `parent`"),
            ("by_pb", "parent_pkey", "table child: `parent_pkey` is what PostgreSQL calls the primary key of parent"),
            ("name = \"other\"", "name = \"child_pkey\"", "primary key of child"),
            ("child_parent", "child_pkey", "primary key of child"),
            ("name = \"other\"", "name = \"order\"", "table order: `order` is a reserved word"),
            ("by_pb", "index", "table child: `index` is a reserved word"),
            ("name = \"size\"", "name = \"key\"", "`key` is a reserved word"),
            ("other_parent", "references", "`references` is a reserved word"),
            ("by_pb", "sqlite_pb", "SQLite keeps"),
            ("by_pb", "weighbridge_workload", "this program's own"),
        ]);
        let many: Vec<String> = (0..80).map(|n| format!("t{n}{}", "x".repeat(55))).collect();
        let table =
            |name| format!("[[table]]\nname = \"{name}\"\nrows = 0\ncolumns = [{{ name = \"a\", type = \"int\" }}]\n");
        let all = many.iter().map(table).collect::<String>();
        refused(&[(
            "[[table]]\nname = \"other\"",
            &format!("{all}[[table]]\nname = \"other\""),
            "longer than 4000 characters",
        )]);
    }

    #[test]
    fn a_text_that_is_not_one_statement_is_refused() {
        let [step, pool, ledger, check] = [
            "SELECT b FROM parent WHERE a = :user.a",
            "SELECT a FROM parent\"",
            "SELECT COUNT(*) FROM other",
            "SELECT 2",
        ];
        for (from, place) in [
            (step, "transaction read: step 1"),
            (pool, "pool user"),
            (ledger, "ledger `rows of another`"),
            (check, "check `two`"),
        ] {
            let end = if from.ends_with('"') { "\"" } else { "" };
            refused(&[
                (from, end, &format!("{place}: there is no statement")),
                (from, &format!("-- SELECT 1; SELECT 2{end}"), &format!("{place}: there is no statement")),
                (from, &format!("SELECT 1; SELECT 2;{end}"), &format!("{place}: its text has 2 statements")),
            ]);
        }
        refused(&[(
            "sql = \"SELECT 2\"",
            "sql = { any = \"SELECT 2\", mysql = \"# SELECT 2\" }",
            "there is no statement in its text (as it is read for mysql, mariadb, tidb)",
        )]);
    }

    #[test]
    fn a_parameter_of_one_databases_rules_is_found() {
        let why = "transaction read: step 1: nothing gives :1 a value, no `values`, no pool and no `keep` of a step before it (as it is read for sqlite, mysql, mariadb, tidb";
        refused(&[
            ("WHERE a = :user.a", "WHERE a = ?", why),
            ("WHERE a = :user.a", "WHERE a = :b", "nothing gives :b a value"),
        ]);
        let custom = "sql = { any = \"SELECT 1\", postgres = \"SELECT j ? 'a' FROM parent\" }";
        Custom::parse(&FILE.replace("sql = \"SELECT b FROM parent WHERE a = :user.a\"", custom)).unwrap();
    }

    #[test]
    fn what_would_spoil_a_run_is_refused() {
        refused(&[
            (
                "weight = 5",
                "weight = 0",
                "transaction update: as the first its rate is the result: it can't have weight 0",
            ),
            ("response_limit = \"1s\"", "response_limit = \"0s\"", "transaction update: response_limit is above 0"),
            ("\"SELECT b FROM", "\"UPDATE parent SET b = '' WHERE a IN (SELECT a FROM", "it writes or locks: UPDATE"),
            (
                ":user.a\"",
                ":user.a FOR UPDATE\"",
                "transaction read: step 1: read_only = true, but it writes or locks: FOR UPDATE",
            ),
            ("text(1, 9)", "nonsense(", "table other: pb: `nonsense(` is no generator"),
            ("name = \"two\"", "name = \"one\"", "two of the check `one`"),
            ("name = \"two\"", "name = \" \"", "a check has an empty name"),
            ("rows of another", "rows of one", "two of the ledger `rows of one`"),
            ("rows of another", "", "a ledger has an empty name"),
        ]);
    }

    #[test]
    fn values_are_held_against_the_scale_that_is_loaded() {
        let custom = Custom::parse(FILE).unwrap();
        let why = custom.require_values(&Data::new(&custom, 0.02, 1).unwrap()).unwrap_err();
        assert!(why.starts_with("transaction update: a: `uniform(5, 1)` is no generator"), "{why}");
        custom.require_values(&Data::new(&custom, 2.0, 1).unwrap()).unwrap();
    }
}
