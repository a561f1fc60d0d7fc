//! How the data lie: nodes, tables, notes.

use target::Topology;
use target::topology::{Node, Part};

use crate::columns::columns;

/// The topology as text. Columns of which nothing is known are left out.
#[must_use]
pub fn topology_table(topology: &Topology) -> String {
    let mut text = String::new();
    if !topology.nodes.is_empty() {
        let header = ["<node", "<address", "<role", "<region", "<zone", "<locality", "<version", "<lives", "<state"];
        text.push_str(&known_columns(&header, topology.nodes.iter().map(node).collect()));
        text.push('\n');
    }
    if !topology.tables.is_empty() {
        let header =
            ["<table", "<index", "<partition", "count", "<of", "rows", "MiB", "<led by node", "copies", "<placement"];
        text.push_str(&known_columns(&header, topology.tables.iter().map(part).collect()));
        text.push('\n');
    }
    topology.notes.iter().for_each(|note| text.push_str(&format!("{note}\n")));
    text
}

fn node(node: &Node) -> Vec<Option<String>> {
    // A locality of region and zone alone says nothing new.
    let tiers = node.region.iter().chain(&node.zone).count();
    let locality = node.locality.clone().filter(|locality| locality.split(',').count() > tiers);
    let lives = node.live.map(|lives| if lives { "yes" } else { "NO" }.to_owned());
    vec![
        Some(node.name.clone()),
        node.address.clone(),
        node.role.clone(),
        node.region.clone(),
        node.zone.clone(),
        locality,
        node.version.clone(),
        lives,
        node.state.clone(),
    ]
}

fn part(part: &Part) -> Vec<Option<String>> {
    let leaders: Vec<String> = part.leaders.iter().map(|(node, count)| format!("{node}: {count}")).collect();
    vec![
        Some(part.table.clone()),
        part.index.clone(),
        part.partition.clone(),
        part.count.map(|count| count.to_string()),
        part.unit.map(str::to_owned),
        part.rows.map(|rows| rows.to_string()),
        part.bytes.map(|bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20))),
        (!leaders.is_empty()).then(|| leaders.join(", ")),
        part.replicas.map(|replicas| replicas.to_string()),
        part.placement.clone(),
    ]
}

/// The columns of which at least one row knows something.
fn known_columns(header: &[&str], rows: Vec<Vec<Option<String>>>) -> String {
    let known: Vec<usize> = (0..header.len()).filter(|at| rows.iter().any(|row| row[*at].is_some())).collect();
    let header: Vec<&str> = known.iter().map(|at| header[*at]).collect();
    let cell = |row: &Vec<Option<String>>, at: &usize| row[*at].clone().unwrap_or_default();
    columns(&header, rows.iter().map(|row| known.iter().map(|at| cell(row, at)).collect()).collect())
}
