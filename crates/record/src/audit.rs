//! What came of everything that a client was told: the audit of its ledger (3.5.4).

use serde::{Deserialize, Serialize};

/// A ledger of acknowledgements held against the database, transaction by transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Audit {
    /// Whether nothing acknowledged is missing, and nothing is there that cannot be explained.
    pub passed: bool,
    /// One line for people.
    pub detail: String,
    /// New-Orders, Payments, and orders delivered.
    #[serde(rename = "held")]
    pub items: Vec<AuditedItem>,
    /// The transactions whose COMMIT got no answer, each looked up.
    pub unknown: Vec<LookedUp>,
    /// Transactions under way when the client ended; `None`: the client did not come to its end, and what it was told
    /// last stands in no ledger, so that a surplus is not judged.
    pub abandoned: Option<u32>,
    /// Bytes at the end of the ledger that hold no whole record.
    pub torn_bytes: u64,
}

/// What was acknowledged of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditedItem {
    /// What: `New-Orders`.
    pub name: String,
    /// Acknowledged.
    pub acknowledged: u64,
    /// Those of them that are not in the database as they were acknowledged.
    pub missing: u64,
    /// The first few of them, by key.
    pub missing_examples: Vec<String>,
    /// What is there and was neither acknowledged nor of unknown outcome.
    pub surplus: u64,
    /// The first few of them, by key.
    pub surplus_examples: Vec<String>,
}

/// Transactions of one kind whose COMMIT got no answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LookedUp {
    /// What: `New-Orders`.
    pub name: String,
    /// Found: they had been committed.
    pub committed: u64,
    /// Not found: they had not.
    pub not_committed: u64,
}

/// Examples that are kept of each list.
const EXAMPLES: usize = 5;

impl AuditedItem {
    /// Nothing yet of a kind.
    #[must_use]
    pub fn new(name: &str) -> Self {
        AuditedItem { name: name.to_owned(), ..AuditedItem::default() }
    }

    /// Counts something that is missing.
    pub fn miss(&mut self, what: impl FnOnce() -> String) {
        self.missing += 1;
        keep(&mut self.missing_examples, what);
    }

    /// Counts something that nobody was told of.
    pub fn find_surplus(&mut self, what: impl FnOnce() -> String) {
        self.surplus += 1;
        keep(&mut self.surplus_examples, what);
    }
}

fn keep(examples: &mut Vec<String>, what: impl FnOnce() -> String) {
    if examples.len() < EXAMPLES {
        examples.push(what());
    }
}

impl LookedUp {
    /// Nothing yet of a kind.
    #[must_use]
    pub fn new(name: &str) -> Self {
        LookedUp { name: name.to_owned(), ..LookedUp::default() }
    }

    /// Counts one.
    pub fn count(&mut self, committed: bool) {
        *if committed { &mut self.committed } else { &mut self.not_committed } += 1;
    }
}

impl Audit {
    /// Judges what was found.
    #[must_use]
    pub fn judge(items: Vec<AuditedItem>, unknown: Vec<LookedUp>, abandoned: Option<u32>, torn_bytes: u64) -> Self {
        let sum = |of: fn(&AuditedItem) -> u64| items.iter().map(of).sum::<u64>();
        let (acknowledged, missing, surplus) = (sum(|h| h.acknowledged), sum(|h| h.missing), sum(|h| h.surplus));
        // Each transaction that was left under way may have committed one order or payment, or delivered ten orders.
        let tolerated = |item: &AuditedItem| match abandoned {
            None => u64::MAX,
            Some(abandoned) => u64::from(abandoned) * if item.name == DELIVERED { 10 } else { 1 },
        };
        let explained = items.iter().all(|item| item.surplus <= tolerated(item));
        let passed = missing == 0 && explained;
        let mut detail = if missing > 0 {
            format!("{missing} of {acknowledged} acknowledged are MISSING")
        } else {
            format!("all {acknowledged} acknowledged are there")
        };
        if surplus > 0 {
            let why = match (abandoned, explained) {
                (None, _) => " of the time after the last entry of a client that was killed",
                (Some(_), true) => " of transactions that were still under way at the end",
                (Some(_), false) => ", which nobody was told of",
            };
            detail.push_str(&format!("; {surplus} more are there{why}"));
        }
        let (committed, not) =
            unknown.iter().fold((0, 0), |(yes, no), kind| (yes + kind.committed, no + kind.not_committed));
        if committed + not > 0 {
            detail.push_str(&format!(
                "; of {} whose COMMIT got no answer {committed} had been committed, {not} not",
                committed + not
            ));
        }
        Audit { passed, detail, items, unknown, abandoned, torn_bytes }
    }

    /// The audits of several clients as one; `None` if none of them made one. What failed for one fails for all.
    #[must_use]
    pub fn merged(parts: &[Option<&Audit>]) -> Option<Self> {
        let made: Vec<&Audit> = parts.iter().copied().flatten().collect();
        let first = made.first()?;
        let mut whole = Audit::default();
        for (at, kind) in first.items.iter().enumerate() {
            let mut item = AuditedItem::new(&kind.name);
            for part in made.iter().filter_map(|audit| audit.items.get(at)) {
                item.acknowledged += part.acknowledged;
                item.missing += part.missing;
                item.surplus += part.surplus;
                item.missing_examples.extend(part.missing_examples.iter().cloned());
                item.surplus_examples.extend(part.surplus_examples.iter().cloned());
            }
            item.missing_examples.truncate(EXAMPLES);
            item.surplus_examples.truncate(EXAMPLES);
            whole.items.push(item);
        }
        for (at, kind) in first.unknown.iter().enumerate() {
            let mut looked_up = LookedUp::new(&kind.name);
            for part in made.iter().filter_map(|audit| audit.unknown.get(at)) {
                looked_up.committed += part.committed;
                looked_up.not_committed += part.not_committed;
            }
            whole.unknown.push(looked_up);
        }
        whole.passed = made.iter().all(|audit| audit.passed);
        whole.abandoned = made.iter().map(|audit| audit.abandoned).sum();
        whole.torn_bytes = made.iter().map(|audit| audit.torn_bytes).sum();
        let details = parts.iter().zip(1..).filter_map(|(audit, client)| Some((client, (*audit)?)));
        let details: Vec<String> =
            details.map(|(client, audit)| format!("client {client}: {}", audit.detail)).collect();
        whole.detail = details.join("; ");
        Some(whole)
    }

    /// Acknowledged transactions that are missing, of all kinds.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.items.iter().map(|item| item.missing).sum()
    }
}

/// The name of delivered orders, of which a transaction has ten.
pub const DELIVERED: &str = "orders delivered";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_fails_and_what_is_left_over_must_be_explained() {
        let held = |missing, surplus| {
            let mut held = AuditedItem { acknowledged: 10, ..AuditedItem::new("New-Orders") };
            (0..missing).for_each(|n| held.miss(|| format!("order {n}")));
            (0..surplus).for_each(|n| held.find_surplus(|| format!("order {n}")));
            vec![held]
        };
        assert!(Audit::judge(held(0, 0), Vec::new(), Some(0), 0).passed);
        let missing = Audit::judge(held(7, 0), Vec::new(), None, 0);
        assert!(!missing.passed && missing.detail.starts_with("7 of 10 acknowledged are MISSING"));
        assert_eq!(missing.items[0].missing_examples.len(), EXAMPLES);
        for (surplus, abandoned, passes) in
            [(1, Some(0), false), (1, Some(1), true), (2, Some(1), false), (9, None, true)]
        {
            assert_eq!(Audit::judge(held(0, surplus), Vec::new(), abandoned, 0).passed, passes);
        }
        let (good, bad) =
            (Audit::judge(held(0, 0), Vec::new(), Some(0), 0), Audit::judge(held(1, 0), Vec::new(), None, 0));
        let whole = Audit::merged(&[Some(&good), None, Some(&bad)]).unwrap();
        assert!(!whole.passed && whole.abandoned.is_none());
        assert_eq!((whole.items[0].acknowledged, whole.items[0].missing), (20, 1));
        assert!(whole.detail.contains("client 3: 1 of 10 acknowledged are MISSING"), "{}", whole.detail);
        assert!(Audit::merged(&[None, None]).is_none());
        let mut unknown = LookedUp::new("Payments");
        [true, false, false].into_iter().for_each(|committed| unknown.count(committed));
        let told = Audit::judge(held(0, 0), vec![unknown], Some(0), 0);
        assert!(told.passed && told.detail.ends_with("of 3 whose COMMIT got no answer 1 had been committed, 2 not"));
    }
}
