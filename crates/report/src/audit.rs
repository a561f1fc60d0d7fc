//! The audit of a ledger as text.

use record::audit::Audit;

use crate::columns::columns;

/// The audit as a table, with the first few that are missing; every line ends.
#[must_use]
pub fn audit_table(audit: &Audit) -> String {
    let rows = audit.items.iter().map(|held| {
        let counts = [held.acknowledged, held.missing, held.surplus];
        std::iter::once(held.name.clone()).chain(counts.map(|count| count.to_string())).collect()
    });
    let mut text = columns(&["<audit", "acknowledged", "missing", "surplus"], rows.collect());
    for (what, examples) in
        audit.items.iter().flat_map(|held| [("missing", &held.missing_examples), ("surplus", &held.surplus_examples)])
    {
        examples.iter().for_each(|example| text.push_str(&format!("    {what}: {example}\n")));
    }
    for kind in &audit.unknown {
        if kind.committed + kind.not_committed > 0 {
            text.push_str(&format!(
                "{} whose COMMIT got no answer: {} had been committed, {} not\n",
                kind.name, kind.committed, kind.not_committed
            ));
        }
    }
    let outcome = if audit.passed { "passed" } else { "FAILED" };
    text.push_str(&format!("Audit: {outcome}; {}\n", audit.detail));
    text
}
