//! Servers that outlive the command that started them: one folder a kind, with a file that describes it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Kind, LabError, Node};

/// The file in a kept site's folder.
const FILE: &str = "lab.json";

/// What a kept site's file says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Description {
    /// The kind.
    pub kind: Kind,
    /// Whether the start came to its end.
    pub complete: bool,
    /// The servers, the first being the one to connect to.
    pub nodes: Vec<Node>,
}

impl Description {
    /// Writes it in one step, so that a reader finds the old or the new one.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        let partial = folder.join(format!("{FILE}.partial"));
        std::fs::write(&partial, text + "\n")?;
        Ok(std::fs::rename(partial, folder.join(FILE))?)
    }
}
