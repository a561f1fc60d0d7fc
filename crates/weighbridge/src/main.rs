//! weighbridge: what did the database carry, and can the reading be believed?
#![warn(clippy::print_stderr, reason = "`say!` does not panic where nobody listens")]

#[macro_use]
mod output;

mod cli;
mod commands;
mod interrupt;
mod metrics;
#[cfg_attr(not(feature = "otlp"), path = "otlp/absent.rs")]
mod otlp;
mod progress;
mod scenario;
mod tui;
mod version;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::cli::{Cli, Command};
use crate::commands::{Failure, Status};

/// musl's own allocator makes threads wait for each other: a run without data cost eight times the processor time. The
/// feature `override` has SQLite, which is C, use this one too.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    log_to_stderr();
    interrupt::end_with_parent();
    record::run::Tool::built_from(version::COMMIT);
    let ended = cli::refuse_other_flags(&matches).map_err(Failure::Usage).and_then(|()| match cli.command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Load(args) => commands::load::run(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Acid(args) => commands::acid::run(&args),
        Command::Chaos(args) => commands::chaos::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Merge(args) => commands::merge::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Search(args) => commands::search::run(&args),
        Command::Scenario(command) => commands::scenario::run(&command),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Time(args) => commands::time::run(&args),
        Command::Tune(command) => commands::tune::run(&command),
        Command::Advise(args) => commands::advise::run(&args),
        Command::Workload(command) => commands::workload::run(&command),
        Command::Topology(args) => commands::topology::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Targets(args) => commands::targets::run(&args),
        Command::Calibrate(args) => commands::calibrate::run(&args),
        Command::NullServer(args) => commands::null_server::run(&args),
        Command::Lab(command) => commands::lab::run(&command),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    });
    match ended {
        Ok(Status::Done) => ExitCode::SUCCESS,
        Ok(Status::NotBelieved) => ExitCode::from(3),
        // Whoever reads us has read enough.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            say!("error: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Failed(message)) => {
            say!("error: {message}");
            ExitCode::from(1)
        }
    }
}

/// Warnings to standard error; `WEIGHBRIDGE_LOG=debug` for more.
fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("WEIGHBRIDGE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .without_time()
        // It would say on standard error, and panic, that standard error can't be written to.
        .log_internal_errors(false)
        .init();
}
