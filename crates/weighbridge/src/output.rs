//! Standard output: results only. Standard error: everything else. No panic when nobody reads them any more.

use std::io::{self, Write};

use crate::commands::Failure;

/// Says a line on standard error, like `eprintln!`, which would panic where nobody listens any more: after Ctrl-C, say,
/// that ended the `tee` behind the pipe as well. What is worked at goes on, and has its result.
macro_rules! say {
    ($($what:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stderr().lock(), format_args!("{}\n", format_args!($($what)*)));
    }};
}

/// Writes text and a line end to standard output. Whoever closed it has read enough: what came of the work is in the exit
/// status all the same.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::Failed(format!("can't write to standard output: {e}"))),
    }
}

/// Writes one JSON document to standard output.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}"))
}
