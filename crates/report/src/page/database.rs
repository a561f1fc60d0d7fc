//! The database of a run: version, settings, placement, nodes, and how the data lay on them.

use maud::{Markup, html};
use record::RunRecord;
use serde_json::Value;

use super::table::{facts, table};
use super::words::{bytes, count, several};

/// A column of a table of the topology: its header, the field it comes from, and how it is said.
type Column = (&'static str, &'static str, fn(&Value) -> Option<String>);

const NODES: [Column; 8] = [
    ("<node", "name", text),
    ("<address", "address", text),
    ("<role", "role", text),
    ("<region", "region", text),
    ("<zone", "zone", text),
    ("<version", "version", text),
    ("<lives", "live", yes),
    ("<state", "state", text),
];

const PARTS: [Column; 10] = [
    ("<table", "table", text),
    ("<index", "index", text),
    ("<partition", "partition", text),
    ("count", "count", number),
    ("<of", "unit", text),
    ("rows", "rows", number),
    ("size", "bytes", size),
    ("<led by node", "leaders", leaders),
    ("copies", "replicas", number),
    ("<placement", "placement", text),
];

/// Everything that is known of the database.
pub(super) fn database(run: &RunRecord) -> Markup {
    let target = &run.target;
    let placement: Vec<String> = target.placement.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let settings: Vec<Vec<String>> =
        target.settings.iter().map(|(name, value)| vec![name.clone(), value.clone()]).collect();
    html! {
        (facts(&[
            ("Database", target.kind.clone()),
            ("Version", target.version.clone()),
            ("Address", target.url.clone()),
            ("Asked for at the load", placement.join(", ")),
        ]))
        h3 { "Settings" }
        @if settings.is_empty() { p { "None were read." } }
        @else {
            details {
                summary { (several(settings.len() as u64, "setting")) " as they were at the start" }
                (table("Settings of the database", &["<setting", "<value"], &settings))
            }
        }
        h3 { "Topology" }
        @match &run.topology {
            None => p { "Not read in this run." },
            Some(topology) => (lie_of_the_data(topology)),
        }
    }
}

/// Nodes, tables and notes, as `weighbridge topology --json` tells them; what is not there is left out.
fn lie_of_the_data(topology: &Value) -> Markup {
    let list = |name: &str| topology.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let (nodes, parts, notes) = (list("nodes"), list("tables"), list("notes"));
    html! {
        @if !nodes.is_empty() { (known_columns("Nodes", &NODES, nodes)) }
        @if !parts.is_empty() {
            details {
                summary { "How tables, indexes and partitions lay at the start (" (several(parts.len() as u64, "line")) ")" }
                (known_columns("Tables, indexes and partitions", &PARTS, parts))
            }
        }
        @for note in notes { @if let Some(note) = note.as_str() { p.note { (note) } } }
    }
}

/// A table of the columns of which at least one row knows something.
fn known_columns(caption: &str, columns: &[Column], rows: &[Value]) -> Markup {
    let cell = |row: &Value, (_, field, say): &Column| row.get(field).and_then(say);
    let known: Vec<&Column> =
        columns.iter().filter(|column| rows.iter().any(|row| cell(row, column).is_some())).collect();
    let header: Vec<&str> = known.iter().map(|(name, ..)| *name).collect();
    let cells = |row: &Value| known.iter().map(|column| cell(row, column).unwrap_or_default()).collect();
    table(caption, &header, &rows.iter().map(cells).collect::<Vec<Vec<String>>>())
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn yes(value: &Value) -> Option<String> {
    value.as_bool().map(|yes| if yes { "yes" } else { "NO" }.to_owned())
}

fn number(value: &Value) -> Option<String> {
    value.as_u64().map(count)
}

fn size(value: &Value) -> Option<String> {
    value.as_u64().map(bytes)
}

fn leaders(value: &Value) -> Option<String> {
    let leaders = value.as_object()?;
    let said: Vec<String> = leaders.iter().map(|(node, count)| format!("{node}: {count}")).collect();
    (!said.is_empty()).then(|| said.join(", "))
}
