//! Faults laid over a run.

mod inject;
mod place;
mod schedule;

use std::path::Path;
use std::time::Duration;

use crate::cli::duration_or_zero;
use crate::commands::Failure;

pub(crate) use inject::Injector;
pub(crate) use place::FaultTarget;
pub(crate) use schedule::{Action, Fault, Role, UserCommand};

/// The faults that were asked for on the command line and, behind them, those of a schedule, their commands numbered.
/// Refuses what a run that takes `lasts` would never come to.
pub(crate) fn asked(typed: &[Fault], schedule: Option<&Path>, lasts: Duration) -> Result<Vec<Fault>, Failure> {
    let mut faults = typed.to_vec();
    if let Some(path) = schedule {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("{name}: {e}")))?;
        faults.extend(schedule::read(&name, &text).map_err(Failure::Usage)?);
    }
    let commands = faults.iter_mut().filter_map(|fault| match &mut fault.action {
        Action::Command(command) => Some(command),
        _ => None,
    });
    (1..).zip(commands).for_each(|(place, command)| command.role = Role::Scheduled(place));
    match faults.iter().find(|fault| fault.at >= lasts) {
        None => Ok(faults),
        Some(Fault { at, action }) => {
            let (at, lasts) = (at.as_secs(), lasts.as_secs());
            Err(Failure::Usage(format!("`{action}` at {at} s: the run, ramp included, is over after {lasts} s")))
        }
    }
}
