//! `weighbridge man`: the manual's pages, from the same definitions as `--help`.

use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::{Ended, Failure, Status};
use crate::cli::{Cli, ManArgs};
use crate::output::print;
use crate::version;

pub(crate) fn run(args: &ManArgs) -> Ended {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    match &args.folder {
        Some(folder) => {
            let failed = |path: &Path, e: io::Error| Failure::Failed(format!("{}: {e}", path.display()));
            std::fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
            for command in family(&program) {
                let path = folder.join(format!("{}.1", name(command)));
                std::fs::write(&path, page(command)?).map_err(|e| failed(&path, e))?;
            }
        }
        None => print(&page(&program)?)?,
    }
    Ok(Status::Done)
}

/// A command, and all that are under it but those that are kept to ourselves.
fn family(command: &Command) -> Vec<&Command> {
    let under = command.get_subcommands().filter(|under| !under.is_hide_set()).flat_map(family);
    std::iter::once(command).chain(under).collect()
}

/// `weighbridge-lab-up`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The page of a command, as roff.
fn page(command: &Command) -> io::Result<String> {
    let mut page = Vec::new();
    let man = Man::new(command.clone())
        .date(match version::COMMIT_DATE {
            // An empty argument as roff has it.
            "" => "\"\"",
            date => date,
        })
        .source(concat!("weighbridge ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut rest = Roff::default();
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = command.get_after_help() {
        notes(&mut rest, &text.to_string());
    }
    if command.get_name() != "weighbridge" {
        rest.control("SH", ["SEE ALSO"]).text([bold("weighbridge"), roman("(1)")]);
    }
    rest.to_writer(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// What stands behind the options: prose, which is filled, and command lines, which are indented and stay as they are.
fn notes(roff: &mut Roff, text: &str) {
    roff.control("SH", ["NOTES"]);
    let mut verbatim = false;
    for line in text.lines() {
        if verbatim != line.starts_with(' ') {
            verbatim = !verbatim;
            roff.control(if verbatim { "nf" } else { "fi" }, []);
        }
        match line {
            "" => roff.control("PP", []),
            line => roff.text([roman(line)]),
        };
    }
    if verbatim {
        roff.control("fi", []);
    }
}
