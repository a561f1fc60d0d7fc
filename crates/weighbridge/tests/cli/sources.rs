//! The binary's sources hold no SQL: statements belong to the libraries that know their databases.

use std::path::{Path, PathBuf};

/// The words with which SQL begins in a string literal.
const SQL: [&str; 7] = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "DROP ", "ALTER "];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether a string literal of a line begins with SQL. A quote behind a backslash begins none: it is an example in help.
fn has_sql(line: &str) -> bool {
    let begins =
        |(at, _): (usize, &str)| !line[..at].ends_with('\\') && SQL.iter().any(|word| line[at + 1..].starts_with(word));
    line.match_indices('"').any(begins)
}

#[test]
fn the_binary_holds_no_sql() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 50, "only {} files were found", files.len());
    let mut lines = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        let found = text.lines().zip(1..).filter(|(line, _)| has_sql(line));
        lines.extend(found.map(|(line, number)| format!("{name}:{number}: {}", line.trim())));
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn sql_in_a_literal_is_found() {
    assert!(has_sql(r#"session.query("SELECT COUNT(*) FROM warehouse", &[])"#));
    assert!(!has_sql(r#"weighbridge time --statement \"SELECT 1\""#));
    assert!(!has_sql(r#""select a row""#));
}
