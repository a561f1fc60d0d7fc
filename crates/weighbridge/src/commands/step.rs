//! Another command of this program, in a process of its own: its weight is its own, and its line can be typed again.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use clap::Parser;
pub(super) use report::shell_quoted as quoted;
use serde_json::Value;

use super::{Failure, Status};
use crate::cli::Cli;
use crate::interrupt;

/// A command line and the database that it is for.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The words behind the program's name, without URLs: those may hold passwords.
    pub(crate) words: Vec<String>,
    /// URLs, as they were given.
    pub(crate) urls: Vec<String>,
}

impl Step {
    pub(crate) fn new(urls: &[String], words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { words: words.into_iter().map(Into::into).collect(), urls: urls.to_vec() }
    }

    /// The line as it can be typed again, for which the URL stands in `WEIGHBRIDGE_URL`.
    pub(crate) fn typed(&self) -> String {
        let words = self.words.iter().map(|word| quoted(word));
        std::iter::once("weighbridge".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Runs it to its end. What it says on the way goes to standard error, as ever.
    ///
    /// # Errors
    /// If it can't be started, fails, or was interrupted: its own line on standard error has said why.
    pub(crate) fn run(&self) -> Result<(Status, Value), Failure> {
        let failed = |what: String| Failure::Failed(format!("{}: {what}", self.typed()));
        let program = std::env::current_exe().map_err(|e| failed(format!("can't find this program: {e}")))?;
        let child = Command::new(program)
            .args(&self.words)
            .arg("--json")
            // The environment is seen by its owner alone, an argument list by everybody.
            .env("WEIGHBRIDGE_URL", self.urls.join(","))
            .env(interrupt::PARENT, std::process::id().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|e| failed(format!("can't be started: {e}")))?;
        let output = interrupt::wait_for(child).map_err(|e| failed(format!("can't be waited for: {e}")))?;
        if *interrupt::stop().borrow() {
            return Err(failed("interrupted".to_owned()));
        }
        let status = match output.status.code() {
            Some(0) => Status::Done,
            Some(3) => Status::NotBelieved,
            Some(2) => return Err(Failure::Usage(format!("{}: see the line above", self.typed()))),
            Some(_) => return Err(failed("failed, see the line above".to_owned())),
            None => return Err(failed(format!("was killed: {}", output.status))),
        };
        let document = serde_json::from_slice(&output.stdout).map_err(|e| failed(format!("said no JSON: {e}")))?;
        Ok((status, document))
    }
}

/// Reads a line as this program would read it.
///
/// # Errors
/// What it would refuse, in one line.
pub(super) fn parsed(words: &[String]) -> Result<crate::cli::Command, Failure> {
    let line = std::iter::once("weighbridge".to_owned()).chain(words.iter().cloned());
    let cli = Cli::try_parse_from(line).map_err(|e| {
        let said = e.to_string();
        let paragraph: Vec<&str> = said.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        let said = paragraph.join(" ");
        Failure::Usage(format!("`{}`: {}", words.join(" "), said.trim_start_matches("error: ")))
    })?;
    Ok(cli.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_typed_again() {
        let step = Step::new(&["sqlite:x".to_owned()], ["run", "--out", "it's here", "--mix", "a=1,b=2", ""]);
        assert_eq!(step.typed(), r"weighbridge run --out 'it'\''s here' --mix a=1,b=2 ''");
    }
}
