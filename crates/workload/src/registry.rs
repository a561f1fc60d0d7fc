//! All workloads: a variant, an arm of [`dispatch!`](crate::dispatch), and a line of [`FLAGS`] each.

use std::path::Path;
use std::sync::Arc;

use tpcc::mix::Mix;

use crate::custom::Custom;
use crate::tpcc::{Style, Tpcc};
use crate::workload::{Capability, Command, Workload};

/// A workload that was chosen by its name, with the options that only it takes.
#[derive(Clone, Debug)]
pub enum AnyWorkload {
    /// The TPC-C derived workload.
    Tpcc(Tpcc),
    /// A workload of a file: one that comes with the program, or the user's.
    Custom(Arc<Custom>),
}

/// Evaluates an expression with the chosen [`Workload`], compiled once for each.
#[macro_export]
macro_rules! dispatch {
    ($any:expr, $chosen:ident => $code:expr) => {
        match $any {
            $crate::AnyWorkload::Tpcc($chosen) => $code,
            $crate::AnyWorkload::Custom($chosen) => $code,
        }
    };
}

/// The flags of a workload in a command.
type Flags = fn(Command) -> &'static [&'static str];

/// Which flags are not for every workload: for whom they are, and how to ask for them.
const FLAGS: [(&str, Flags); 2] = [("tpcc", Tpcc::flags), ("other workloads", Arc::<Custom>::flags)];

/// What the flags of `run` say to a workload, which takes those that it declares ([`Workload::flags`]).
#[derive(Clone, Copy, Debug)]
pub struct RunFlags {
    /// `--warehouses`: those that this client drives; none: all that are loaded.
    pub warehouses: Option<i32>,
    /// `--first-warehouse`.
    pub first_warehouse: i32,
    /// `--total-warehouses`: those that all clients drive together.
    pub total_warehouses: Option<i32>,
    /// `--style`.
    pub style: Style,
    /// `--mix`.
    pub mix: Mix,
}

impl AnyWorkload {
    /// Finds a workload by its name, or reads its file.
    ///
    /// # Errors
    /// An unknown name; a file that can't be read, or that makes no workload.
    pub fn read(text: &str) -> Result<Self, String> {
        if text == "tpcc" {
            return Ok(AnyWorkload::Tpcc(Tpcc::default()));
        }
        let custom = match Custom::built_in(text) {
            Some(custom) => custom,
            None if Path::new(text).extension().is_some_and(|extension| extension == "toml") => {
                let read = std::fs::read_to_string(text);
                let custom = read.map_err(|e| format!("can't read it: {e}")).and_then(|read| Custom::parse(&read));
                custom.map(|custom| Custom { called: text.to_owned(), ..custom })
            }
            None => {
                let names: Vec<&str> = Custom::names().collect();
                Err(format!("no workload has this name: use tpcc, {}, or a file such as mine.toml", names.join(", ")))
            }
        };
        custom.map(|custom| AnyWorkload::Custom(Arc::new(custom))).map_err(|why| format!("{text}: {why}"))
    }

    /// The name in commands and plans.
    pub fn name(&self) -> &str {
        dispatch!(self, workload => workload.name())
    }

    /// Takes over the flags of `run`.
    #[must_use]
    pub fn configure(mut self, flags: &RunFlags) -> Self {
        dispatch!(&mut self, workload => workload.configure(flags));
        self
    }

    /// Refuses a command that the workload can't be used with.
    ///
    /// # Errors
    /// One line that names the workload.
    pub fn require(&self, capability: Capability) -> Result<(), String> {
        if dispatch!(self, workload => workload.can(capability)) {
            return Ok(());
        }
        Err(format!("{}: a {capability} is of tpcc; other workloads are run one by one", self.name()))
    }

    /// Refuses a flag that was given although it belongs to other workloads.
    ///
    /// # Errors
    /// One line that says for whom the flag is.
    pub fn refuse_other_flags<'a>(
        &self,
        command: Command,
        mut given: impl Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        let taken = self.flags(command);
        let owner = |flag: &str| FLAGS.iter().find(|(_, flags)| flags(command).contains(&flag)).map(|(whose, _)| whose);
        let refused = given.find_map(|flag| owner(flag).filter(|_| !taken.contains(&flag)).map(|whose| (flag, whose)));
        let Some((flag, whose)) = refused else { return Ok(()) };
        let alternatives = match taken {
            [] => String::new(),
            [only] => format!(": {} takes --{only}", self.name()),
            [first, ..] => format!(": {} takes --{first} and others", self.name()),
        };
        Err(format!("--{flag} is for {whose}{alternatives}"))
    }

    fn flags(&self, command: Command) -> &'static [&'static str] {
        fn flags<W: Workload>(_: &W, command: Command) -> &'static [&'static str] {
            W::flags(command)
        }
        dispatch!(self, workload => flags(workload, command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_has_a_name_or_a_file() {
        assert!(matches!(AnyWorkload::read("tpcc"), Ok(AnyWorkload::Tpcc(_))));
        assert!(matches!(AnyWorkload::read("movr"), Ok(AnyWorkload::Custom(custom)) if custom.name == "movr"));
        assert!(AnyWorkload::read("nothing").unwrap_err().contains("bank"));
        assert!(AnyWorkload::read("/nowhere/mine.toml").unwrap_err().starts_with("/nowhere/mine.toml: can't read it"));
    }

    #[test]
    fn flags_of_other_workloads_are_refused() {
        let refused = |name: &str, command, flag: &str| {
            AnyWorkload::read(name).unwrap().refuse_other_flags(command, std::iter::once(flag)).err()
        };
        assert_eq!(refused("tpcc", Command::Run, "mix"), None);
        assert_eq!(refused("bank", Command::Run, "duration"), None);
        assert_eq!(refused("bank", Command::Run, "mix").as_deref(), Some("--mix is for tpcc"));
        assert_eq!(
            refused("bank", Command::Load, "resume").as_deref(),
            Some("--resume is for tpcc: bank takes --scale")
        );
        let scale = refused("tpcc", Command::Load, "scale").unwrap();
        assert!(scale.starts_with("--scale is for other workloads: tpcc takes --warehouses and"), "{scale}");
    }
}
