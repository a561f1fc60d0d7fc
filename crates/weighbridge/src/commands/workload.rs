//! `weighbridge workload`: the workloads of files.

use workload::own::file::Commit;
use workload::own::{Data, Own};

use super::{Ended, Failure, Status};
use crate::cli::{Workload, WorkloadCommand};
use crate::output;

pub(crate) fn run(command: &WorkloadCommand) -> Ended {
    match command {
        WorkloadCommand::List(args) => {
            let known: Vec<Own> = Own::names().filter_map(Own::built_in).flatten().collect();
            if args.json {
                let entry = |own: &Own| serde_json::json!({ "name": own.name, "about": own.about });
                output::print_json(&known.iter().map(entry).collect())?;
            } else {
                let line = |own: &Own| format!("{:<10} {}", own.name, own.about);
                output::print(&known.iter().map(line).collect::<Vec<_>>().join("\n"))?;
            }
        }
        WorkloadCommand::Show(args) => {
            let own = Own::built_in(&args.name).transpose().map_err(Failure::Failed)?;
            output::print(own.map(|own| own.text).unwrap_or_default().trim_end())?;
        }
        WorkloadCommand::Read(args) => match Workload::read(&args.workload).map_err(Failure::Usage)? {
            Workload::Tpcc => return Err(Failure::Usage("tpcc stands in no file".to_owned())),
            Workload::Own(own) => output::print(&described(&own)?)?,
        },
    }
    Ok(Status::Done)
}

/// What is in a file, for people.
fn described(own: &Own) -> Result<String, Failure> {
    let data = Data::new(own, 1.0, 1).map_err(Failure::Usage)?;
    let mut lines = vec![format!("{}: {}", own.name, own.about)];
    for table in &own.tables {
        let rows = data.rows_of(&table.name).unwrap_or_default();
        let fixed = if table.fixed { ", whatever the scale" } else { "" };
        lines.push(format!("  table {}: {} columns, {rows} rows{fixed}", table.name, table.columns.len()));
    }
    let weights: u32 = own.transactions.iter().map(|transaction| transaction.weight).sum();
    for transaction in &own.transactions {
        let share = 100.0 * f64::from(transaction.weight) / f64::from(weights.max(1));
        let commit = match (transaction.commit, transaction.steps.len()) {
            (Commit::Once, 1) => "a statement and a COMMIT".to_owned(),
            (Commit::Once, steps) => format!("{steps} statements and a COMMIT"),
            (Commit::Auto, _) => "a statement, which commits by itself".to_owned(),
        };
        lines.push(format!("  transaction {}: {share:.1} %, {commit}", transaction.name));
    }
    lines.extend(own.ledger.iter().map(|gain| format!("  ledger: {}", gain.name)));
    lines.extend(own.checks.iter().map(|check| format!("  check: {}", check.name)));
    Ok(lines.join("\n"))
}
