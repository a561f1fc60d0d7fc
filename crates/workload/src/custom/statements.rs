//! What can be told of a statement by its words: whether it fits a transaction that only reads.

use target::WireKind;

/// First words of statements that change rows.
const CHANGES: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"];

/// Last clauses of queries that lock rows.
const LOCKS: [&str; 5] = ["FOR UPDATE", "FOR NO KEY UPDATE", "FOR SHARE", "FOR KEY SHARE", "LOCK IN SHARE MODE"];

/// Words with which such a clause goes on.
const BEHIND_LOCKS: [&str; 4] = ["OF", "NOWAIT", "SKIP", "WAIT"];

/// By what a statement changes or locks rows, as far as its first and last words tell.
pub(super) fn writes(sql: &str, wire: WireKind) -> Option<&'static str> {
    let words = bare(sql, wire).to_ascii_uppercase();
    let words = words.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    let first = words.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    if let Some(change) = CHANGES.into_iter().find(|change| *change == first) {
        return Some(change);
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    LOCKS.into_iter().find(|lock| {
        let Some((before, behind)) = words.rsplit_once(lock) else { return false };
        let ends = |text: &str| text.ends_with(|c: char| c.is_whitespace() || c == ')');
        // In quotes or parentheses it is no last clause.
        let plain = behind.chars().all(|c| c.is_ascii_alphanumeric() || "_ ,.".contains(c));
        let goes_on = behind.strip_prefix(' ').and_then(|behind| behind.split(' ').next());
        ends(before) && plain && (behind.is_empty() || goes_on.is_some_and(|word| BEHIND_LOCKS.contains(&word)))
    })
}

/// A statement from its first word on: what comes before are comments and parentheses.
fn bare(sql: &str, wire: WireKind) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
        let close = match rest {
            _ if rest.starts_with("--") || rest.starts_with('#') && wire == WireKind::Mysql => "\n",
            _ if rest.starts_with("/*") => "*/",
            _ => return rest,
        };
        rest = rest.split_once(close).map_or("", |(_, behind)| behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_or_locks_is_told_from_what_reads() {
        let cases = [
            ("SELECT a FROM t", None),
            ("update t SET a = 1", Some("UPDATE")),
            ("-- SELECT\n /* x */ Insert INTO t VALUES (1)", Some("INSERT")),
            ("# why\nDELETE FROM t", Some("DELETE")),
            ("MERGE INTO t USING u ON 1 = 1;", Some("MERGE")),
            ("(SELECT a FROM t WHERE b = 1)\n for   update ;\n", Some("FOR UPDATE")),
            ("SELECT a FROM t FOR UPDATE SKIP LOCKED", Some("FOR UPDATE")),
            ("SELECT a FROM t FOR NO KEY UPDATE OF t NOWAIT", Some("FOR NO KEY UPDATE")),
            ("SELECT a FROM t LOCK IN SHARE MODE", Some("LOCK IN SHARE MODE")),
            ("SELECT a FROM t WHERE b = 'x FOR UPDATE'", None),
            ("SELECT a FROM waiting_for updates", None),
            ("SELECT updated FROM t", None),
            ("SELECT replace(a, 'b', 'c') FROM t", None),
            ("REPLACE INTO t VALUES (1)", Some("REPLACE")),
        ];
        for (sql, by) in cases {
            assert_eq!(writes(sql, WireKind::Mysql), by, "{sql}");
        }
    }
}
