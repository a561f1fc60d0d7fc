//! The databases' ways of writing a plan.

use serde_json::Value as Json;

use super::{Form, How, Plan, Table, TableAccess};
use crate::Error;

/// Reads a plan as it was answered.
pub(super) fn read(form: Form, table: &Table) -> Result<Plan, Error> {
    match form {
        Form::PostgresJson => postgres(table),
        Form::MysqlTable => Ok(mysql(table)),
        Form::TidbOperators => Ok(tidb(table)),
        Form::SqliteLoops => Ok(sqlite(table)),
        Form::CockroachTree => Ok(cockroach(table)),
    }
}

const ROWS: &str = "rows read";

fn postgres(table: &Table) -> Result<Plan, Error> {
    let text: String = table.rows.iter().flatten().map(String::as_str).collect();
    let unreadable = || Error::permanent("a plan that can't be read");
    let document: Json = serde_json::from_str(&text).map_err(|_| unreadable())?;
    let root = document.get(0).and_then(|first| first.get("Plan")).ok_or_else(unreadable)?;
    let mut plan = Plan { unit: ROWS.to_owned(), ..Plan::default() };
    walk(root, 0, &mut plan);
    let counted = plan.accesses.iter().any(|access| access.rows.is_some());
    plan.work = counted.then(|| plan.accesses.iter().filter_map(|access| access.rows).sum());
    Ok(plan)
}

fn walk(node: &Json, depth: usize, plan: &mut Plan) {
    let text = |name: &str| node.get(name).and_then(Json::as_str);
    let number = |name: &str| node.get(name).and_then(Json::as_f64);
    let kind = text("Node Type").unwrap_or("?");
    let mut line = format!("{}{kind}", "  ".repeat(depth));
    if let Some(index) = text("Index Name") {
        line.push_str(&format!(" using {index}"));
    }
    if let Some(relation) = text("Relation Name") {
        line.push_str(&format!(" on {relation}"));
    }
    let estimated = number("Plan Rows");
    let loops = number("Actual Loops").unwrap_or(1.0);
    let actual = number("Actual Rows").map(|rows| rows * loops);
    if let Some(rows) = estimated {
        line.push_str(&format!(" (expected {rows:.0} rows"));
        if let Some(actual) = actual {
            line.push_str(&format!(", got {actual:.0}"));
        }
        line.push(')');
    }
    let conditions = ["Index Cond", "Recheck Cond", "Hash Cond", "Merge Cond", "Join Filter", "Filter"];
    for name in conditions {
        if let Some(condition) = text(name) {
            line.push_str(&format!(" {name}: {condition}"));
        }
    }
    plan.lines.push(line);
    let removed = ["Rows Removed by Filter", "Rows Removed by Index Recheck"];
    let read = actual.map(|rows| rows + removed.iter().filter_map(|name| number(name)).sum::<f64>() * loops);
    let children = || node.get("Plans").and_then(Json::as_array).into_iter().flatten();
    let relation = text("Relation Name").filter(|_| kind.contains("Scan"));
    if let Some(relation) = relation {
        let below = |name: &str| children().find_map(|child| child.get(name).and_then(Json::as_str));
        let (index, condition) = match kind {
            "Bitmap Heap Scan" => (below("Index Name"), below("Index Cond")),
            _ => (text("Index Name"), text("Index Cond")),
        };
        let how = match (index, condition) {
            (None, _) => How::Scan,
            (Some(_), None) => How::IndexScan,
            (Some(_), Some(_)) => How::Seek,
        };
        plan.accesses.push(TableAccess {
            table: relation.to_owned(),
            index: index.map(str::to_owned),
            how,
            covering: kind == "Index Only Scan",
            estimated_rows: estimated,
            rows: read,
        });
    }
    for child in children() {
        walk(child, depth + 1, plan);
    }
}

fn mysql(table: &Table) -> Plan {
    let mut plan = Plan { unit: ROWS.to_owned(), ..Plan::default() };
    for row in &table.rows {
        let cell = |name: &str| table.cell(row, name);
        let extra = cell("extra").unwrap_or("");
        let words = ["select_type", "table", "type", "key", "ref"].map(|name| cell(name).unwrap_or("-"));
        let rows = cell("rows").and_then(|rows| rows.parse::<f64>().ok());
        let real = cell("r_rows").and_then(|rows| rows.parse::<f64>().ok());
        let mut line = words.join(" ");
        if let Some(rows) = rows {
            line.push_str(&format!(" (expected {rows:.0} rows"));
            if let Some(real) = real {
                line.push_str(&format!(", got {real:.0} a loop"));
            }
            line.push(')');
        }
        if !extra.is_empty() {
            line.push_str(&format!(" {extra}"));
        }
        plan.lines.push(line);
        let (Some(name), Some(kind)) = (cell("table"), cell("type")) else { continue };
        // What is derived is no table.
        if name.starts_with('<') {
            continue;
        }
        let how = match kind {
            "ALL" => How::Scan,
            "index" => How::IndexScan,
            _ => How::Seek,
        };
        let covering = extra.split("; ").any(|part| part == "Using index");
        let index = cell("key").map(str::to_owned);
        plan.accesses.push(TableAccess {
            table: name.to_owned(),
            index,
            how,
            covering,
            estimated_rows: rows,
            rows: real,
        });
    }
    plan
}

fn tidb(table: &Table) -> Plan {
    let mut plan = Plan { unit: ROWS.to_owned(), ..Plan::default() };
    let mut work = None;
    let mut keys = None;
    let mut filtered = false;
    for row in &table.rows {
        let cell = |name: &str| table.cell(row, name);
        let operator = cell("id").unwrap_or("");
        let object = cell("access object").unwrap_or("");
        let number = |name: &str| cell(name).and_then(|rows| rows.parse::<f64>().ok());
        let estimated = number("estrows");
        let actual = number("actrows");
        let mut line = operator.to_owned();
        if !object.is_empty() {
            line.push_str(&format!(" {object}"));
        }
        if let Some(rows) = estimated {
            line.push_str(&format!(" (expected {rows:.0} rows"));
            if let Some(actual) = actual {
                line.push_str(&format!(", got {actual:.0}"));
            }
            line.push(')');
        }
        if let Some(info) = cell("operator info") {
            line.push_str(&format!(" {info}"));
        }
        plan.lines.push(line);
        let name: String = operator.trim_start_matches(['│', '├', '└', '─', ' ']).chars().collect();
        let name = name.split('_').next().unwrap_or("").to_owned();
        let above = std::mem::replace(&mut filtered, name == "Selection");
        if let Some(count) = cell("execution info").and_then(|info| after(info, "total_process_keys: ")) {
            *keys.get_or_insert(0.0) += count;
        }
        // Rows that an index led to belong to the index's access.
        let looked_up = name == "TableRowIDScan";
        let how = match name.as_str() {
            "TableFullScan" => How::Scan,
            "IndexFullScan" => How::IndexScan,
            _ if name.ends_with("RangeScan") || name.ends_with("PointGet") || name == "Point" || looked_up => How::Seek,
            _ => continue,
        };
        // The embedded store counts what passed the filter; a full scan has read the whole table.
        let read = match (actual, estimated) {
            (Some(rows), Some(all)) if above && how != How::Seek => Some(rows.max(all)),
            _ => actual,
        };
        if let Some(rows) = read {
            *work.get_or_insert(0.0) += rows;
        }
        let part = |label: &str| {
            let rest = object.split_once(label)?.1;
            Some(rest.split([',', '(']).next().unwrap_or(rest).trim().to_owned())
        };
        let Some(of) = part("table:") else { continue };
        if looked_up {
            if let Some(access) = plan.accesses.iter_mut().rev().find(|access| access.table == of) {
                access.covering = false;
            }
            continue;
        }
        let index = part("index:");
        let covering = index.is_some() && !object.contains("clustered index:") && name.starts_with("Index");
        plan.accesses.push(TableAccess { table: of, index, how, covering, estimated_rows: estimated, rows: read });
    }
    // Where the store tells how many keys it read, that is the figure.
    plan.work = keys.or(work);
    plan
}

/// The number behind a label.
fn after(text: &str, label: &str) -> Option<f64> {
    let rest = text.split_once(label)?.1;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn sqlite(table: &Table) -> Plan {
    let mut plan = Plan { unit: "steps of SQLite's virtual machine".to_owned(), ..Plan::default() };
    for row in &table.rows {
        let Some(detail) = table.cell(row, "detail") else { continue };
        plan.lines.push(detail.to_owned());
        let words: Vec<&str> = detail.split_whitespace().collect();
        let (seek, name) = match words.as_slice() {
            ["SEARCH", name, ..] => (true, *name),
            ["SCAN", name, ..] if *name != "CONSTANT" => (false, *name),
            _ => continue,
        };
        let index = words.iter().position(|word| *word == "INDEX").and_then(|at| words.get(at + 1));
        let index = index.map(|name| (*name).to_owned()).filter(|name| !name.starts_with('('));
        let how = match (seek, &index) {
            (true, _) => How::Seek,
            (false, Some(_)) => How::IndexScan,
            (false, None) => How::Scan,
        };
        let covering = detail.contains("COVERING INDEX");
        let table = name.to_owned();
        plan.accesses.push(TableAccess { table, index, how, covering, estimated_rows: None, rows: None });
    }
    plan
}

fn cockroach(table: &Table) -> Plan {
    let mut plan = Plan { unit: ROWS.to_owned(), ..Plan::default() };
    let number = |text: &str| {
        let digits: String = text.chars().filter(|c| !matches!(c, ',')).take_while(|c| c.is_ascii_digit()).collect();
        digits.parse::<f64>().ok()
    };
    let (mut estimated, mut real, mut of): (Option<f64>, Option<f64>, Option<String>) = (None, None, None);
    for line in table.rows.iter().filter_map(|row| row.first()) {
        plan.lines.push(line.clone());
        let told = line.trim_start_matches(['│', '├', '└', '─', ' ', '•']);
        if line.contains('•') {
            (estimated, real, of) = (None, None, None);
        }
        let Some((name, value)) = told.split_once(": ") else { continue };
        match name {
            "estimated row count" => estimated = number(value),
            "KV rows decoded" | "KV rows read" => real = number(value),
            "table" => of = Some(value.to_owned()),
            "spans" => {
                let Some(object) = of.take() else { continue };
                let (name, index) = object.split_once('@').unwrap_or((&object, ""));
                let primary = index.is_empty() || index.ends_with("_pkey") || index == "primary";
                let how = match (value.starts_with("FULL SCAN"), primary) {
                    (true, true) => How::Scan,
                    (true, false) => How::IndexScan,
                    (false, _) => How::Seek,
                };
                plan.accesses.push(TableAccess {
                    table: name.to_owned(),
                    index: (!index.is_empty()).then(|| index.to_owned()),
                    how,
                    covering: !primary,
                    estimated_rows: estimated,
                    rows: real,
                });
            }
            _ => {}
        }
    }
    // Where an index join follows, the index alone did not answer.
    if plan.lines.iter().any(|line| line.contains("• index join")) {
        plan.accesses.iter_mut().for_each(|access| access.covering = false);
    }
    let counted = plan.accesses.iter().any(|access| access.rows.is_some());
    plan.work = counted.then(|| plan.accesses.iter().filter_map(|access| access.rows).sum());
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(plan: &Plan) -> String {
        let accesses = plan.accesses.iter().map(|access| {
            let how = match access.how {
                How::Scan => "full scan",
                How::IndexScan => "full index scan",
                How::Seek => "seek",
            };
            let index = access.index.as_ref().map_or(String::new(), |index| format!(" by {index}"));
            format!("{}: {how}{index}{}", access.table, if access.covering { ", covering" } else { "" })
        });
        accesses.collect::<Vec<_>>().join("; ")
    }

    fn table(columns: &[&str], rows: &[&[&str]]) -> Table {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
        Table { columns: owned(columns), rows: rows.iter().map(|row| owned(row)).collect() }
    }

    #[test]
    fn postgres_counts_what_a_filter_removed() {
        let document = r#"[{"Plan": {"Node Type": "Nested Loop", "Plan Rows": 3, "Actual Rows": 2, "Actual Loops": 1, "Plans": [
            {"Node Type": "Seq Scan", "Relation Name": "rides", "Plan Rows": 9, "Actual Rows": 2, "Actual Loops": 1, "Rows Removed by Filter": 98},
            {"Node Type": "Index Only Scan", "Relation Name": "users", "Index Name": "u", "Index Cond": "(id = 1)", "Plan Rows": 1, "Actual Rows": 1, "Actual Loops": 2}]}}]"#;
        let plan = read(Form::PostgresJson, &table(&["query plan"], &[&[document]])).unwrap();
        assert_eq!(summary(&plan), "rides: full scan; users: seek by u, covering");
        assert_eq!((plan.work, plan.lines.len()), (Some(102.0), 3));
    }

    #[test]
    fn mysqls_rows_are_read_by_their_columns() {
        let columns = ["id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "extra"];
        let rows: [&[&str]; 2] = [
            &["1", "SIMPLE", "r", "ALL", "NULL", "NULL", "NULL", "NULL", "1000", "Using where"],
            &["1", "SIMPLE", "u", "ref", "x", "x", "4", "r.id", "1", "Using where; Using index"],
        ];
        let plan = read(Form::MysqlTable, &table(&columns, &rows)).unwrap();
        assert_eq!(summary(&plan), "r: full scan; u: seek by x, covering");
        assert_eq!(plan.accesses[0].estimated_rows, Some(1000.0));
    }

    #[test]
    fn tidbs_operators_are_read_by_their_names() {
        let columns = ["id", "estrows", "actrows", "task", "access object", "execution info", "operator info"];
        let full: [&[&str]; 2] = [
            &["Selection_3", "400.00", "0", "cop[tikv]", "", "", ""],
            &["└─TableFullScan_2", "500.00", "0", "cop[tikv]", "table:users", "", ""],
        ];
        let plan = read(Form::TidbOperators, &table(&columns, &full)).unwrap();
        assert_eq!(plan.work, Some(500.0));
        let rows: [&[&str]; 4] = [
            &["IndexLookUp_7", "10.00", "3", "root", "", "", ""],
            &["├─IndexRangeScan_5(Build)", "10.00", "3", "cop[tikv]", "table:users, index:n(name)", "", "range:[a,a]"],
            &["└─TableRowIDScan_6(Probe)", "10.00", "3", "cop[tikv]", "table:users", "", "keep order:false"],
            &["Point_Get_1", "1.00", "1", "root", "table:vehicles, clustered index:PRIMARY(city, id)", "", ""],
        ];
        let plan = read(Form::TidbOperators, &table(&columns, &rows)).unwrap();
        assert_eq!(summary(&plan), "users: seek by n; vehicles: seek by PRIMARY");
        assert_eq!(plan.work, Some(7.0));
    }

    #[test]
    fn sqlites_loops_are_read_by_their_words() {
        let rows: [&[&str]; 4] = [
            &["SCAN rides"],
            &["SEARCH u USING COVERING INDEX users_name (name=?)"],
            &["SEARCH v USING PRIMARY KEY (city=? AND id=?)"],
            &["USE TEMP B-TREE FOR ORDER BY"],
        ];
        let plan = read(Form::SqliteLoops, &table(&["detail"], &rows)).unwrap();
        assert_eq!(summary(&plan), "rides: full scan; u: seek by users_name, covering; v: seek");
    }

    #[test]
    fn cockroachs_tree_is_read_by_its_labels() {
        let rows: [&[&str]; 7] = [
            &["• index join"],
            &["│ table: users@users_pkey"],
            &["└── • scan"],
            &["      estimated row count: 1,200"],
            &["      KV rows decoded: 3"],
            &["      table: users@users_name"],
            &["      spans: [/'a' - /'a']"],
        ];
        let plan = read(Form::CockroachTree, &table(&["info"], &rows)).unwrap();
        assert_eq!(summary(&plan), "users: seek by users_name");
        assert_eq!((plan.accesses[0].estimated_rows, plan.work), (Some(1200.0), Some(3.0)));
    }
}
