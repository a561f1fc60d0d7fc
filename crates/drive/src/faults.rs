//! Faults injected while a run goes on: servers killed, networks cut, the user's own commands.

mod inject;
mod schedule;
mod target;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use inject::Injector;
pub use schedule::{Action, Fault, Role, UserCommand, read as read_schedule};
pub use target::FaultTarget;

/// Receives each line about a fault as it happens, from any thread.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// The faults of a run.
#[derive(Clone)]
pub struct Faults {
    /// Where they are made.
    pub target: Arc<FaultTarget>,
    /// What is done when.
    pub list: Vec<Fault>,
    /// Receives a line for each.
    pub notify: Notify,
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Faults").field("target", &self.target).field("list", &self.list).finish_non_exhaustive()
    }
}

/// Why faults can't be made.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The faults don't fit the servers or the run; nothing was touched.
    #[error("{0}")]
    Usage(String),
    /// A server or a command refused.
    #[error("{0}")]
    Failed(String),
    /// A server of the lab refused.
    #[error(transparent)]
    Lab(#[from] lab::LabError),
    /// The machine refused a proxy.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The faults of the command line and, after them, those of a schedule file, with their commands numbered.
///
/// # Errors
/// If the file can't be read or has a line that is no fault, or if a fault is due after the run, which takes `lasts`.
pub fn requested(typed: &[Fault], schedule: Option<&Path>, lasts: Duration) -> Result<Vec<Fault>, FaultError> {
    let mut faults = typed.to_vec();
    if let Some(path) = schedule {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| FaultError::Usage(format!("{name}: {e}")))?;
        faults.extend(schedule::read(&name, &text).map_err(FaultError::Usage)?);
    }
    let commands = faults.iter_mut().filter_map(|fault| match &mut fault.action {
        Action::Command(command) => Some(command),
        _ => None,
    });
    (1..).zip(commands).for_each(|(number, command)| command.role = Role::Scheduled(number));
    match faults.iter().find(|fault| fault.at >= lasts) {
        None => Ok(faults),
        Some(Fault { at, action }) => {
            let at = at.as_secs();
            let lasts = lasts.as_secs();
            Err(FaultError::Usage(format!("`{action}` at {at} s: the run, ramp included, is over after {lasts} s")))
        }
    }
}
