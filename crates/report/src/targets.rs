//! The databases, and what each can do.

use serde::Serialize;
use serde_json::{Value, json};

/// A database that can be measured.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// Its name in results.
    pub name: &'static str,
    /// What its URLs begin with.
    pub scheme: String,
    /// `real server`, `grammar checked` or `not verified here`.
    pub verified: &'static str,
    /// With which versions, or in which way.
    pub verified_with: &'static str,
    /// Statement styles.
    pub styles: Vec<String>,
    /// Everything else that it can.
    pub capabilities: Capabilities,
}

/// What a database can do, as its dialect declares it.
#[derive(Clone, Debug, Serialize)]
pub struct Capabilities {
    /// The protocol.
    pub wire: &'static str,
    /// How rows are loaded.
    pub bulk_path: &'static str,
    /// In which ways `load` can spread the data.
    pub spreading: Vec<&'static str>,
    /// Isolation levels on offer, the default first.
    pub isolation: Vec<String>,
    /// Into what `topology` sees the data cut.
    pub topology: Vec<&'static str>,
    /// What before a statement shows how it is run; null: nothing does.
    pub plans: Option<&'static str>,
    /// Settings that `doctor` judges.
    pub judged_settings: usize,
}

/// The databases as text.
#[must_use]
pub fn targets_table(targets: &[Target]) -> String {
    let mut text = String::new();
    for target in targets {
        let Capabilities { wire, bulk_path, spreading, isolation, topology, plans, judged_settings } =
            &target.capabilities;
        let spreading = if spreading.is_empty() { "none".to_owned() } else { spreading.join(", ") };
        let topology = if topology.is_empty() { "tables".to_owned() } else { topology.join(", ") };
        let lines = [
            ("verified", format!("{}: {}", target.verified, target.verified_with)),
            ("wire", (*wire).to_owned()),
            ("styles", target.styles.join(", ")),
            ("bulk path", (*bulk_path).to_owned()),
            ("spreading", spreading),
            ("isolation", isolation.join(", ")),
            ("topology", topology),
            ("plans", plans.unwrap_or("not shown").to_owned()),
            ("doctor", format!("judges {judged_settings} settings")),
        ];
        text.push_str(&format!("{} ({})\n", target.name, target.scheme));
        lines.iter().for_each(|(name, value)| text.push_str(&format!("  {name:<10} {value}\n")));
        text.push('\n');
    }
    text
}

/// The databases as JSON: `targets[].{name,scheme,verified,verified_with,styles,capabilities}`.
#[must_use]
pub fn targets_json(targets: &[Target]) -> Value {
    json!({ "targets": targets })
}
