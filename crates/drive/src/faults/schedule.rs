//! Faults as they are typed: what is to be done when, and to whom.

use std::time::Duration;

use serde::Deserialize;

use crate::duration::duration_or_zero;

/// A fault and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From the start of the run, the ramp included.
    pub at: Duration,
    /// What is done.
    pub action: Action,
}

/// What is done; nodes by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// SIGKILL.
    Kill(String),
    /// SIGSTOP.
    Stop(String),
    /// SIGCONT.
    Continue(String),
    /// Start it again, after a kill or in order.
    Restart(String),
    /// Nothing passes between this client and it.
    Cut(String),
    /// The end of a cut or delay.
    Heal(String),
    /// Close the connections to it.
    Reset(String),
    /// Make its answers later.
    Delay(String, Duration),
    /// By the shell.
    Command(UserCommand),
}

/// A command of the user's. Its name alone is told and recorded: its text may hold a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserCommand {
    /// What it is for.
    pub role: Role,
    /// The text for the shell.
    pub text: String,
}

/// What a command is for, which names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its place among the commands of a schedule, from 1.
    Scheduled(usize),
    /// It crashes the database.
    Crash,
    /// It starts the database again.
    Restart,
}

impl std::fmt::Display for UserCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.role {
            Role::Scheduled(place) => write!(f, "command {place}"),
            Role::Crash => f.write_str("the crash command"),
            Role::Restart => f.write_str("the restart command"),
        }
    }
}

impl Action {
    /// The node, if it is one's.
    pub fn node(&self) -> Option<&str> {
        match self {
            Action::Kill(node)
            | Action::Stop(node)
            | Action::Continue(node)
            | Action::Restart(node)
            | Action::Cut(node)
            | Action::Heal(node)
            | Action::Reset(node)
            | Action::Delay(node, _) => Some(node),
            Action::Command(_) => None,
        }
    }

    /// Whether it is the network's.
    pub fn needs_proxy(&self) -> bool {
        matches!(self, Action::Cut(_) | Action::Heal(_) | Action::Reset(_) | Action::Delay(..))
    }

    /// Whether it is a server's, which only its owner can do.
    pub fn needs_server(&self) -> bool {
        self.node().is_some() && !self.needs_proxy()
    }
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Action::Kill(node) => write!(f, "kill {node}"),
            Action::Stop(node) => write!(f, "stop {node}"),
            Action::Continue(node) => write!(f, "continue {node}"),
            Action::Restart(node) => write!(f, "restart {node}"),
            Action::Cut(node) => write!(f, "cut {node}"),
            Action::Heal(node) => write!(f, "heal {node}"),
            Action::Reset(node) => write!(f, "reset {node}"),
            Action::Delay(node, delay) => write!(f, "delay {node} {delay:?}"),
            Action::Command(command) => command.fmt(f),
        }
    }
}

const GRAMMAR: &str = "write a time and what to do, such as `20s kill node2`, `20s stop node2`, `25s continue node2`, \
    `30s restart node2`, `20s cut node1`, `25s heal node1`, `20s reset node1`, `20s delay node1 50ms` or `20s command '...'`";

impl std::str::FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (at, what) = text.trim().split_once(char::is_whitespace).ok_or(GRAMMAR)?;
        Ok(Fault { at: duration_or_zero(at)?, action: what.parse()? })
    }
}

impl std::str::FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (verb, rest) = text.trim().split_once(char::is_whitespace).ok_or(GRAMMAR)?;
        let rest = rest.trim();
        if verb == "command" {
            let bare = ['\'', '"'].iter().find_map(|quote| rest.strip_prefix(*quote)?.strip_suffix(*quote));
            let text = bare.unwrap_or(rest).to_owned();
            return Ok(Action::Command(UserCommand { role: Role::Scheduled(1), text }));
        }
        let mut words = rest.split_whitespace();
        let (node, argument) = (words.next().ok_or(GRAMMAR)?.to_owned(), words.next());
        let action = match (verb, argument) {
            ("kill", None) => Action::Kill(node),
            ("stop", None) => Action::Stop(node),
            ("continue", None) => Action::Continue(node),
            ("restart", None) => Action::Restart(node),
            ("cut", None) => Action::Cut(node),
            ("heal", None) => Action::Heal(node),
            ("reset", None) => Action::Reset(node),
            ("delay", Some(delay)) => Action::Delay(node, target::null::parse_delay(delay).map_err(|e| e.to_string())?),
            _ => return Err(GRAMMAR.to_owned()),
        };
        if words.next().is_some() { Err(GRAMMAR.to_owned()) } else { Ok(action) }
    }
}

/// Reads a schedule of this name: `[[fault]]` tables with `at` and `do`.
///
/// # Errors
/// One line that says what is wrong, and where.
pub fn read(name: &str, text: &str) -> Result<Vec<Fault>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Schedule {
        fault: Vec<Line>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Line {
        at: String,
        #[serde(rename = "do")]
        action: String,
    }
    let schedule: Schedule =
        toml::from_str(text).map_err(|e| format!("{name}: {}", e.to_string().trim().replace('\n', " ")))?;
    let fault = |line: &Line| {
        let at = duration_or_zero(&line.at).map_err(|e| format!("{name}: at = {:?}: {e}", line.at))?;
        let action = line.action.parse().map_err(|e| format!("{name}: do = {:?}: {e}", line.action))?;
        Ok(Fault { at, action })
    };
    schedule.fault.iter().map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_time_and_what_to_do() {
        let second = Duration::from_secs(1);
        let fault = |text: &str| text.parse::<Fault>();
        assert_eq!(fault("20s kill node2"), Ok(Fault { at: 20 * second, action: Action::Kill("node2".into()) }));
        assert_eq!(
            fault(" 1m  delay 1 50ms "),
            Ok(Fault { at: 60 * second, action: Action::Delay("1".into(), Duration::from_millis(50)) })
        );
        for quoted in ["0s command 'a b; c'", "0s command a b; c", "0s command \"a b; c\""] {
            let command = UserCommand { role: Role::Scheduled(1), text: "a b; c".into() };
            assert_eq!(fault(quoted), Ok(Fault { at: Duration::ZERO, action: Action::Command(command) }));
        }
        for bad in ["", "20s", "kill node2", "20s kill", "20s kill a b", "20s delay a", "20s dance a", "x kill a"] {
            assert!(fault(bad).is_err(), "{bad}");
        }
        for text in ["20s cut node1", "1h reset a", "5s continue b", "5s restart b"] {
            let Fault { action, .. } = fault(text).unwrap();
            assert_eq!(action.to_string().parse(), Ok(action), "as it is shown it can be typed");
        }
    }
}
