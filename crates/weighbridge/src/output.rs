//! Standard output: results only, and no panic when nobody reads it any more.

use std::io::{self, Write};

use crate::commands::Failure;

/// Writes text and a line end to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(Failure::OutputClosed),
        Err(e) => Err(Failure::Failed(format!("can't write to standard output: {e}"))),
    }
}

/// Writes one JSON document to standard output.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}"))
}
