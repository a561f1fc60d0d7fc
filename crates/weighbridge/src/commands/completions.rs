//! `weighbridge completions`: what a shell needs to complete our command lines.

use clap::CommandFactory;

use super::{Ended, Status};
use crate::cli::{Cli, CompletionsArgs};
use crate::output::print;

pub(crate) fn run(args: &CompletionsArgs) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "weighbridge", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}
