//! Writes a script for `pgbench -M prepared` that sends New-Order as style `batch` does: the same texts, ten lines each.
//!
//! It takes `-D scale=WAREHOUSES -D info=TEXT`, 24 characters for OL_DIST_INFO, which `\set` can't hold.
//!
//! What pgbench can't do is left out: the 1 % that rolls back, remote lines, orders of other lengths.

use target::Statement;
use target::postgres::Postgres;
use workload::tpcc::{Style, statements};

/// Lines of each order, each with an item of its own: the average.
const LINES: usize = 10;

/// What stands for the parameters of each statement: fixed ones, then those of each row.
fn arguments(name: &str) -> Vec<String> {
    let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let rows = |row: &dyn Fn(usize) -> String| (1..=LINES).flat_map(|line| words(&row(line))).collect::<Vec<_>>();
    let with = |fixed: &str, row: &dyn Fn(usize) -> String| [words(fixed), rows(row)].concat();
    match name {
        "new_order.entry" => words(":w :d :c"),
        "new_order.items" => rows(&|line| format!(":i{line}")),
        "new_order.district" => words(":w :d"),
        "new_order.order" => words(":w :d :o_id :c :localtimestamp :lines :one"),
        "new_order.new_order" => words(":w :d :o_id"),
        "new_order.stock" => with(":d", &|line| format!(":w :i{line} :q{line} :zero")),
        "new_order.order_lines" => with(":w :d :o_id", &|line| format!(":n{line} :i{line} :w :q{line} :amount :info")),
        other => unreachable!("{other} is no statement of New-Order in batch"),
    }
}

/// The text of a statement with pgbench's variables in place of `$n`.
fn script_of(statement: &Statement) -> String {
    let rows = if statement.rows == (1, 1) { 1 } else { LINES };
    let arguments = arguments(statement.name);
    let text = statement.expand(rows);
    let mut parts = text.split('$');
    let mut script = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = part[..digits].parse().unwrap_or(1);
        script.push_str(&arguments[number - 1]);
        script.push_str(&part[digits..]);
    }
    script
}

fn main() {
    let batch = statements(Style::Batch, &Postgres);
    let find = |name: &str| batch.iter().find(|statement| statement.name == name).map(|found| script_of(found));
    let send = |name: &str, end: &str| println!("{}{end}", find(name).unwrap_or_default());
    println!("\\set w random(1, :scale)\n\\set d random(1, 10)\n\\set c random(1, 3000)");
    println!("\\set lines {LINES}\n\\set one 1\n\\set zero 0\n\\set amount 25.25");
    for line in 1..=LINES {
        // An item of each tenth: in the order of the key, and none twice.
        println!("\\set i{line} random({}, {})", (line - 1) * 10_000 + 1, line * 10_000);
        println!("\\set q{line} random(1, 10)\n\\set n{line} {line}");
    }
    println!("BEGIN ISOLATION LEVEL REPEATABLE READ;");
    send("new_order.entry", " \\gset");
    send("new_order.items", ";");
    // Only with a name can the number be used further down.
    send("new_order.district", " AS o_id \\gset");
    send("new_order.order", ";");
    send("new_order.new_order", ";");
    send("new_order.stock", ";");
    send("new_order.order_lines", ";");
    println!("COMMIT;");
}
