//! When errors that would come again end a run.

use tokio::sync::watch;

/// What a run does about errors that would come again and again: of the data, and refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Stops if nothing succeeds: whatever is wrong was wrong from the start.
    #[default]
    StopAtStart,
    /// Stops at the first.
    Stop,
    /// Goes on.
    GoOn,
}

impl OnError {
    /// The choices that can be asked for, with their names on the command line.
    pub const NAMES: [(OnError, &'static str); 2] = [(OnError::Stop, "stop"), (OnError::GoOn, "go-on")];
}

/// Failures after which a run without a single success has no hope.
const HOPELESS: u64 = 10;

/// Decides when errors end a run.
#[derive(Debug)]
pub(crate) struct ErrorPolicy {
    on_error: OnError,
    stop: watch::Sender<bool>,
    completed: u64,
    hard: u64,
    first: Option<String>,
    stopped: Option<String>,
}

impl ErrorPolicy {
    /// Sends `true` to `stop` when a run is to end.
    pub(crate) fn new(on_error: OnError, stop: watch::Sender<bool>) -> Self {
        Self { on_error, stop, completed: 0, hard: 0, first: None, stopped: None }
    }

    /// Takes note of a thread's first failure that would come again.
    pub(crate) fn hear(&mut self, failure: Option<String>) {
        if self.first.is_none() {
            self.first = failure;
        }
    }

    /// Takes note of a second: its completed transactions, and its failures that would come again.
    pub(crate) fn second(&mut self, completed: u64, hard: u64) {
        self.completed += completed;
        self.hard += hard;
        let ends = match self.on_error {
            OnError::StopAtStart => self.completed == 0 && self.hard >= HOPELESS,
            OnError::Stop => self.hard > 0,
            OnError::GoOn => false,
        };
        if ends && self.stopped.is_none() {
            let first = self.first.clone().unwrap_or_default();
            let none = if self.completed == 0 { " and none succeeded" } else { "" };
            self.stopped = Some(format!("{first} ({} failed so{none})", self.hard));
            self.stop.send_replace(true);
        }
    }

    /// Why the run was ended, if it was.
    pub(crate) fn stopped(&self) -> Option<&String> {
        self.stopped.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stop_a_run_as_it_was_asked() {
        let stopped = |on_error, seconds: &[(u64, u64)]| {
            let (stop, stops) = watch::channel(false);
            let mut error_policy = ErrorPolicy::new(on_error, stop);
            error_policy.hear(Some("New-Order failed: no such table".into()));
            seconds.iter().for_each(|(completed, hard)| error_policy.second(*completed, *hard));
            assert_eq!(*stops.borrow(), error_policy.stopped.is_some());
            error_policy.stopped
        };
        let why = stopped(OnError::StopAtStart, &[(0, 9), (0, 1)]).unwrap();
        assert_eq!(why, "New-Order failed: no such table (10 failed so and none succeeded)");
        assert_eq!(stopped(OnError::StopAtStart, &[(1, 0), (0, 1000)]), None);
        assert_eq!(stopped(OnError::StopAtStart, &[(0, 0), (0, 9)]), None);
        assert!(stopped(OnError::Stop, &[(50, 0), (50, 1)]).is_some());
        assert_eq!(stopped(OnError::GoOn, &[(0, 1000)]), None);
    }
}
