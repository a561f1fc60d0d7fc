//! `weighbridge workload`: the workloads of files.

use workload::AnyWorkload;
use workload::custom::file::Commit;
use workload::custom::{Custom, Data};

use super::{Ended, Failure, Status};
use crate::cli::WorkloadCommand;
use crate::output;

pub(crate) fn run(command: &WorkloadCommand) -> Ended {
    match command {
        WorkloadCommand::List(args) => {
            let known: Vec<Custom> = Custom::names().filter_map(Custom::built_in).flatten().collect();
            if args.json.enabled {
                let entry = |custom: &Custom| serde_json::json!({ "name": custom.name, "about": custom.about });
                output::print_json(&known.iter().map(entry).collect())?;
            } else {
                let line = |custom: &Custom| format!("{:<10} {}", custom.name, custom.about);
                output::print(&known.iter().map(line).collect::<Vec<_>>().join("\n"))?;
            }
        }
        WorkloadCommand::Show(args) => {
            let custom = Custom::built_in(&args.name).transpose().map_err(Failure::Failed)?;
            output::print(custom.map(|custom| custom.text).unwrap_or_default().trim_end())?;
        }
        WorkloadCommand::Read(args) => match AnyWorkload::read(&args.workload).map_err(Failure::Usage)? {
            AnyWorkload::Tpcc(_) => return Err(Failure::Usage("tpcc has no file".to_owned())),
            AnyWorkload::Custom(custom) => output::print(&described(&custom)?)?,
        },
    }
    Ok(Status::Done)
}

/// What is in a file, for people.
fn described(custom: &Custom) -> Result<String, Failure> {
    let data = Data::new(custom, 1.0, 1).map_err(Failure::Usage)?;
    let mut lines = vec![format!("{}: {}", custom.name, custom.about)];
    for table in &custom.tables {
        let rows = data.rows_of(&table.name).unwrap_or_default();
        let fixed = if table.fixed { ", whatever the scale" } else { "" };
        lines.push(format!("  table {}: {} columns, {rows} rows{fixed}", table.name, table.columns.len()));
    }
    let weights: u32 = custom.transactions.iter().map(|transaction| transaction.weight).sum();
    for transaction in &custom.transactions {
        let share = 100.0 * f64::from(transaction.weight) / f64::from(weights.max(1));
        let commit = match (transaction.commit, transaction.steps.len()) {
            (Commit::Once, 1) => "a statement and a COMMIT".to_owned(),
            (Commit::Once, steps) => format!("{steps} statements and a COMMIT"),
            (Commit::Auto, _) => "a statement, which commits by itself".to_owned(),
        };
        lines.push(format!("  transaction {}: {share:.1} %, {commit}", transaction.name));
    }
    lines.extend(custom.ledger.iter().map(|gain| format!("  ledger: {}", gain.name)));
    lines.extend(custom.checks.iter().map(|check| format!("  check: {}", check.name)));
    Ok(lines.join("\n"))
}
