//! The commands that repeat a run, built from its plan. No password is in a record, so none is here.

use record::RunRecord;
use record::folder::WORKLOAD;
use record::plan::Plan;

/// The commands that load the same data and run the same plan, without and with what only this run had.
pub(super) struct Commands {
    /// `weighbridge load …`
    pub(super) load: String,
    /// `weighbridge run …`
    pub(super) run: String,
}

impl Commands {
    pub(super) fn for_run(record: &RunRecord) -> Self {
        Commands { load: load(record), run: run(record) }
    }
}

/// Flags that a placement's facts were asked for with.
const PLACEMENT: [(&str, &str); 5] = [
    ("partitions", "--partitions"),
    ("localities", "--localities"),
    ("ranges", "--split"),
    ("tablets", "--tablets"),
    ("sharding", "--sharding"),
];

fn load(record: &RunRecord) -> String {
    let plan = &record.plan;
    let mut words = Words::new("load");
    if !plan.workload_file.is_empty() {
        words.word(WORKLOAD);
        words.urls(record);
        words.flag("--scale", plan.data_scale);
        words.flag("--seed", plan.load_seed);
        // The same inputs again would make the same keys again.
        words.word("--replace");
        return words.0;
    }
    words.urls(record);
    words.flag("--warehouses", plan.loaded_warehouses);
    words.flag("--seed", plan.load_seed);
    for (fact, flag) in PLACEMENT {
        if let Some(value) = record.target.placement.get(fact) {
            words.flag(flag, value);
        }
    }
    for (fact, flag) in [("scatter", "--scatter"), ("foreign_keys", "--foreign-keys")] {
        if record.target.placement.contains_key(fact) {
            words.word(flag);
        }
    }
    words.0
}

fn run(record: &RunRecord) -> String {
    let plan = &record.plan;
    let mut words = Words::new("run");
    if !plan.workload_file.is_empty() {
        words.word(WORKLOAD);
    }
    words.urls(record);
    if plan.has_warehouses() {
        words.flag("--warehouses", plan.warehouses);
        slice(plan, &mut words);
    }
    words.flag("--ramp", format!("{:.0}s", plan.ramp_seconds));
    words.flag("--duration", format!("{:.0}s", plan.duration_seconds));
    if plan.initial_delay_seconds > 0.0 {
        words.flag("--initial-delay", format!("{:.0}s", plan.initial_delay_seconds));
    }
    words.flag("--pacing", plan.pacing);
    words.flag("--connections", plan.connections);
    words.flag("--terminals", plan.terminals);
    if plan.workload_file.is_empty() {
        if !plan.gateways.is_empty() {
            words.flag("--affinity", &plan.affinity);
        }
        words.flag("--style", &plan.style);
        words.flag("--mix", &plan.mix);
    }
    words.flag("--isolation", &plan.isolation);
    words.flag("--seed", plan.seed);
    if plan.statements {
        words.word("--statements");
    }
    if record.checks.is_some() {
        words.word("--check");
    }
    words.0
}

/// The part of the warehouses that this client drives, where it is not all of them.
fn slice(plan: &Plan, words: &mut Words) {
    if plan.first_warehouse > 1 {
        words.flag("--first-warehouse", plan.first_warehouse);
    }
    if plan.total_warehouses > plan.warehouses {
        words.flag("--total-warehouses", plan.total_warehouses);
    }
}

/// A command line that a shell takes apart into the words it was made of.
struct Words(String);

impl Words {
    fn new(command: &str) -> Self {
        Words(format!("weighbridge {command}"))
    }

    fn word(&mut self, word: &str) {
        self.0.push(' ');
        self.0.push_str(&quoted(word));
    }

    fn flag(&mut self, flag: &str, value: impl ToString) {
        self.word(flag);
        self.word(&value.to_string());
    }

    fn urls(&mut self, record: &RunRecord) {
        if record.plan.gateways.is_empty() {
            self.flag("--url", &record.target.url);
        }
        record.plan.gateways.iter().for_each(|gateway| self.flag("--url", &gateway.url));
    }
}

/// Quotes a word for a POSIX shell where it needs quotes. `shlex` would quote `a=1,b=2` too.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_program_through_a_shell_as_they_are() {
        assert_eq!(quoted("postgres://me@host:5432/bench"), "postgres://me@host:5432/bench");
        assert_eq!(quoted("sqlite:my file;rm -rf $HOME"), "'sqlite:my file;rm -rf $HOME'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
