//! Statements from a file, and where their parameters take their values.

use std::path::Path;

use target::{OwnedValue, Protocol, Session, WireKind};
use workload::template::split;
use workload::tpcc::catalog::Catalog;
use workload::tpcc::{Named, named};
use workload::values::{Rows, Values};

use super::Failure;
use crate::cli::ValueArgs;

/// The statements of a file.
pub(super) fn statements_of(file: &Path, wire: WireKind) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|e| Failure::Usage(format!("{}: {e}", file.display())))?;
    Ok(split(&text, wire))
}

/// A statement of TPC-C by its name, its parameters drawn as in its transaction.
pub(super) async fn tpcc_subject(name: &str, session: &mut Session, values: &mut Values) -> Result<Named, Failure> {
    let loaded = Catalog::read_complete(session).await?.warehouses;
    let subject = named(name, session.dialect(), loaded).map_err(Failure::Usage)?;
    for (parameter, generator) in &subject.generators {
        values.generate(parameter, generator.clone());
    }
    Ok(subject)
}

/// Where the parameters take their values.
pub(super) async fn values(args: &ValueArgs, session: &mut Session, seed: u64) -> Result<Values, Failure> {
    let mut values = Values::new(seed);
    for (name, generator) in &args.values {
        values.generate(name, generator.clone());
    }
    if let Some(file) = &args.csv {
        let unreadable = |e: csv::Error| Failure::Usage(format!("{}: {e}", file.display()));
        let mut reader = csv::Reader::from_path(file).map_err(unreadable)?;
        let columns = reader.headers().map_err(unreadable)?.iter().map(|name| name.trim().to_owned()).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            rows.push(record.map_err(unreadable)?.iter().map(|cell| OwnedValue::Text(cell.to_owned())).collect());
        }
        if rows.is_empty() {
            return Err(Failure::Usage(format!("{}: no rows behind the names of the parameters", file.display())));
        }
        values.take_from(None, Rows { columns, rows, in_order: true });
    }
    for (name, sql) in &args.pool {
        let answer = session.ask(sql, &[], Protocol::Prepared).await?;
        values.take_from(Some(name), Rows::of(&answer)?);
    }
    Ok(values)
}
