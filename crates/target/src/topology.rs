//! How a database's data lie on its nodes, as its own catalog tells it.
//!
//! A dialect declares its [`TopologyQuery`]s: queries of its catalog whose columns have the names of the fields here. What can't
//! be read, and what a database does not offer, is a note and never an error.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Answer, Class, Error, OwnedValue, Session};

/// Nodes, and how the tables lie on them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Topology {
    /// The nodes, as the cluster counts them.
    pub nodes: Vec<Node>,
    /// Tables with their indexes and partitions, in the order of their names.
    pub tables: Vec<Part>,
    /// What the database does not offer, what could not be read, and what fits nowhere else.
    pub notes: Vec<String>,
}

/// A node of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Node {
    /// Its name or number, by which leaders are named.
    pub name: String,
    /// Where it listens.
    pub address: Option<String>,
    /// What it does: `primary`, `standby (sync)`, `tikv`, …
    pub role: Option<String>,
    /// The region it lies in.
    pub region: Option<String>,
    /// The zone it lies in.
    pub zone: Option<String>,
    /// All that is said of its place, as `region=eu,zone=a,rack=1`.
    pub locality: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Whether it lives, where the cluster says so.
    pub live: Option<bool>,
    /// Its state in the database's own words.
    pub state: Option<String>,
}

/// A table, or an index or a partition of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Part {
    /// The table.
    pub table: String,
    /// The index; `None`: the table's own rows.
    pub index: Option<String>,
    /// The partition; `None`: the whole.
    pub partition: Option<String>,
    /// What its data are cut into: `ranges`, `tablets`, `regions`, `partitions`.
    pub unit: Option<&'static str>,
    /// How many of them.
    pub count: Option<u64>,
    /// Rows, as the database estimates them.
    pub rows: Option<u64>,
    /// Bytes on disk, of one copy. With a table's are those of its indexes, where they have no line of their own.
    pub bytes: Option<u64>,
    /// How many of the units each node leads, by the node's name.
    pub leaders: BTreeMap<String, u64>,
    /// The fewest copies that any of its units has.
    pub replicas: Option<u64>,
    /// Where it is configured to be: a zone configuration, a placement policy, a storage group.
    pub placement: Option<String>,
}

impl Topology {
    /// Bytes of all tables and indexes, once each; `None` if the database tells of none.
    pub fn bytes(&self) -> Option<u64> {
        let whole = self.tables.iter().filter(|part| part.partition.is_none());
        whole.filter_map(|part| part.bytes).reduce(|a, b| a + b)
    }
}

/// A query into the catalog. Of several queries the first one counts that the server accepts and answers with rows;
/// older versions have older names. `{table}` stands for each table that earlier queries have found.
#[derive(Clone, Copy, Debug)]
pub enum TopologyQuery {
    /// Nodes: `node`, `address`, `role`, `region`, `zone`, `locality`, `version`, `live`, `state`.
    Nodes(&'static [&'static str]),
    /// Parts: `table_name`, `index_name`, `partition_name`, `units` (else each row is one), `row_count`, `bytes`,
    /// `leader` (of the row's units), `replicas`, `placement`.
    Parts {
        /// What the rows count; `None` if they count nothing.
        unit: Option<&'static str>,
        /// The queries.
        queries: &'static [&'static str],
        /// Columns that go by another name, where a statement can't rename them: ours, theirs.
        renamed: &'static [(&'static str, &'static str)],
    },
    /// Sentences: `note`, or else every column by its name.
    Notes(&'static [&'static str]),
    /// What the database does not offer, or does not tell.
    Unsupported(&'static str),
}

/// Reads the topology. What can't be read is a note.
pub async fn read(session: &mut Session) -> Topology {
    let mut reading = Reading::default();
    for look in session.dialect().topology() {
        let (queries, what) = match look {
            TopologyQuery::Nodes(queries) => (*queries, "nodes"),
            TopologyQuery::Parts { unit, queries, .. } => (*queries, unit.unwrap_or("tables")),
            TopologyQuery::Notes(queries) => (*queries, "notes"),
            TopologyQuery::Unsupported(what) => {
                reading.notes.push((*what).to_owned());
                continue;
            }
        };
        match reading.first_answered(session, queries).await {
            Ok(answers) => answers.iter().for_each(|(table, answer)| reading.add(look, table, answer)),
            Err(e) => {
                reading.notes.push(format!("the {what} can't be read: {e}"));
                if e.class() == Class::Lost {
                    break;
                }
            }
        }
    }
    Topology { nodes: reading.nodes, tables: reading.parts.into_values().collect(), notes: reading.notes }
}

/// What the queries have found so far.
#[derive(Default)]
struct Reading {
    nodes: Vec<Node>,
    /// By table, index and partition.
    parts: BTreeMap<(String, Option<String>, Option<String>), Part>,
    notes: Vec<String>,
}

impl Reading {
    /// The answers to the first query that the server accepts and answers with rows, each with the table it was asked
    /// for. An error is that of the first query, which is the one for today's versions.
    async fn first_answered(&self, session: &mut Session, queries: &[&str]) -> Result<Vec<(String, Answer)>, Error> {
        let mut refusal = None;
        let mut accepted = false;
        for query in queries {
            match self.ask(session, query).await {
                Ok(answers) if answers.iter().any(|(_, answer)| !answer.is_empty()) => return Ok(answers),
                Ok(_) => accepted = true,
                Err(e) if e.class() == Class::Lost => return Err(e),
                Err(e) => refusal = refusal.or(Some(e)),
            }
        }
        match refusal {
            Some(e) if !accepted => Err(e),
            _ => Ok(Vec::new()),
        }
    }

    async fn ask(&self, session: &mut Session, query: &str) -> Result<Vec<(String, Answer)>, Error> {
        if !query.contains("{table}") {
            return Ok(vec![(String::new(), session.query(query, &[]).await?)]);
        }
        let mut tables: Vec<&String> = self.parts.keys().map(|(table, _, _)| table).collect();
        tables.dedup();
        let mut answers = Vec::with_capacity(tables.len());
        for table in tables {
            answers.push((table.clone(), session.query(&query.replace("{table}", table), &[]).await?));
        }
        Ok(answers)
    }

    fn add(&mut self, look: &TopologyQuery, table: &str, answer: &Answer) {
        let renamed = if let TopologyQuery::Parts { renamed, .. } = look { *renamed } else { &[] };
        for fields in fields(answer, renamed) {
            match look {
                TopologyQuery::Nodes(_) => self.nodes.push(fields.node()),
                TopologyQuery::Notes(_) => self.notes.push(fields.note()),
                TopologyQuery::Parts { unit, .. } => {
                    let name = fields.text("table_name").unwrap_or_else(|| table.to_owned());
                    let index = fields.text("index_name");
                    let partition = fields.text("partition_name");
                    let part = self.parts.entry((name.clone(), index.clone(), partition.clone()));
                    let part = part.or_insert_with(|| Part { table: name, index, partition, ..Part::default() });
                    fields.add_to(part, *unit);
                }
                TopologyQuery::Unsupported(_) => {}
            }
        }
    }
}

/// A row of a query: its columns' names in lower case, and the values that are not NULL.
struct Fields(Vec<(String, OwnedValue)>);

fn fields<'a>(answer: &'a Answer, renamed: &'a [(&str, &str)]) -> impl Iterator<Item = Fields> + 'a {
    let columns = answer.get(0).map(|row| row.columns()).unwrap_or_default();
    let ours = |theirs: &String| {
        let known = renamed.iter().find(|(_, name)| name.eq_ignore_ascii_case(theirs));
        known.map_or_else(|| theirs.to_ascii_lowercase(), |(ours, _)| (*ours).to_owned())
    };
    let columns: Vec<String> = columns.iter().map(ours).collect();
    answer.rows().map(move |row| {
        let value = |(at, name): (usize, &String)| match row.value(at).ok()?.into_owned() {
            OwnedValue::Null => None,
            value => Some((name.clone(), value)),
        };
        Fields(columns.iter().enumerate().filter_map(value).collect())
    })
}

impl Fields {
    fn get(&self, name: &str) -> Option<&OwnedValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Text in one line; nothing where there is only blank.
    fn text(&self, name: &str) -> Option<String> {
        let text = self.get(name)?.to_string();
        let words: Vec<&str> = text.split_whitespace().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            OwnedValue::Int(v) => u64::try_from(*v).ok(),
            OwnedValue::Float(v) => Some(v.max(0.0) as u64),
            other => other.to_string().split('.').next()?.parse().ok(),
        }
    }

    fn node(&self) -> Node {
        let locality = self.text("locality");
        let tier = |name: &str| {
            let tiers = locality.as_deref().unwrap_or("").split(',').filter_map(|tier| tier.split_once('='));
            tiers.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next()
        };
        Node {
            name: self.text("node").unwrap_or_default(),
            address: self.text("address"),
            role: self.text("role"),
            region: self.text("region").or_else(|| tier("region")),
            zone: self.text("zone").or_else(|| tier("zone")),
            version: self.text("version"),
            live: self.number("live").map(|live| live != 0),
            state: self.text("state"),
            locality,
        }
    }

    fn note(&self) -> String {
        let all = || self.0.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
        self.text("note").unwrap_or_else(all)
    }

    fn add_to(&self, part: &mut Part, unit: Option<&'static str>) {
        if let Some(unit) = unit {
            let units = self.number("units").unwrap_or(1);
            part.unit = Some(unit);
            part.count = Some(part.count.unwrap_or(0) + units);
            if let Some(leader) = self.text("leader") {
                *part.leaders.entry(leader).or_default() += units;
            }
        }
        let sum = |known: Option<u64>, more: Option<u64>| known.map_or(more, |known| Some(known + more.unwrap_or(0)));
        part.rows = sum(part.rows, self.number("row_count"));
        part.bytes = sum(part.bytes, self.number("bytes"));
        // Where a statement lists the copies, they are as many as its entries.
        let listed = || Some(self.text("replica_list")?.split(',').count() as u64);
        let replicas = self.number("replicas").or_else(listed);
        part.replicas = part.replicas.into_iter().chain(replicas).min();
        part.placement = part.placement.take().or_else(|| self.text("placement"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(values: &[(&str, OwnedValue)]) -> Fields {
        Fields(values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    fn text(text: &str) -> OwnedValue {
        OwnedValue::Text(text.to_owned())
    }

    #[test]
    fn region_and_zone_come_from_the_locality() {
        let node = fields(&[("node", OwnedValue::Int(3)), ("locality", text("region=eu,zone=a,rack=1"))]).node();
        assert_eq!((node.name.as_str(), node.region.as_deref(), node.zone.as_deref()), ("3", Some("eu"), Some("a")));
        assert_eq!(node.live, None, "what is not said is not known");
        let told = fields(&[("region", text("us")), ("live", OwnedValue::Int(0))]).node();
        assert_eq!((told.region.as_deref(), told.live), (Some("us"), Some(false)));
    }

    #[test]
    fn units_of_one_part_add_up_and_the_fewest_copies_count() {
        let mut part = Part::default();
        fields(&[("units", OwnedValue::Int(4)), ("leader", text("1")), ("replicas", OwnedValue::Int(3))])
            .add_to(&mut part, Some("ranges"));
        fields(&[("leader", text("2")), ("replica_list", text("7, 8")), ("bytes", OwnedValue::Int(10))])
            .add_to(&mut part, Some("ranges"));
        fields(&[("row_count", OwnedValue::Int(9)), ("placement", text("num_replicas = 3,\n\tgc.ttl = 1"))])
            .add_to(&mut part, None);
        assert_eq!((part.count, part.replicas, part.rows, part.bytes), (Some(5), Some(2), Some(9), Some(10)));
        assert_eq!(part.leaders, BTreeMap::from([("1".to_owned(), 4), ("2".to_owned(), 1)]));
        assert_eq!(part.placement.as_deref(), Some("num_replicas = 3, gc.ttl = 1"));
    }

    #[test]
    fn bytes_are_counted_once_where_partitions_have_lines_of_their_own() {
        let part = |partition: Option<&str>, bytes| Part {
            partition: partition.map(str::to_owned),
            bytes: Some(bytes),
            ..Part::default()
        };
        let tables = vec![part(None, 30), part(Some("p0"), 10), part(Some("p1"), 20)];
        assert_eq!(Topology { tables, ..Topology::default() }.bytes(), Some(30));
        assert_eq!(Topology::default().bytes(), None);
    }
}
