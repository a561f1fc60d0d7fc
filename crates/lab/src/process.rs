//! A server's process, known by its id and its start, so that an id given to somebody else meanwhile is never signalled.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};

/// How often an ending process is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long the operating system may take to end a process after SIGKILL.
const KILLED: Duration = Duration::from_secs(20);

/// A process that was started here, perhaps by an earlier command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it started, in the operating system's own terms: two processes of one id differ in it.
    pub born: String,
}

impl Process {
    /// Spawns a command in a process group of its own, so that Ctrl-C at the terminal is for the caller alone, who ends
    /// it in order. Whenever it ends, it is reaped.
    pub(crate) fn spawn(command: &mut Command) -> std::io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let process = Self { pid: child.id(), born: look(child.id()).map_or_else(String::new, |seen| seen.born) };
        reap(child);
        Ok(process)
    }

    /// The calling process.
    pub(crate) fn this() -> Option<Self> {
        let pid = std::process::id();
        Some(Self { pid, born: look(pid)?.born })
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        look(self.pid).is_some_and(|seen| seen.born == self.born && !seen.ended)
    }

    /// Sends a signal to it and to all that it started, wherever their process groups are.
    pub(crate) fn signal_all(&self, signal: Signal) {
        if !self.is_alive() {
            return;
        }
        for pid in with_descendants(self.pid).into_iter().filter_map(|pid| Pid::from_raw(pid.cast_signed())) {
            // One of them may just have ended.
            let _ = kill_process(pid, signal);
        }
    }

    /// Sends a signal, if it still runs; SIGKILL to what it started, too.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.is_alive()) {
            // It may end between the look and the signal, which is what was wanted.
            let _ = if signal == Signal::KILL { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
        }
    }

    /// Waits until it has ended; `false` if it hasn't after `limit`.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while self.is_alive() {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        true
    }

    /// Kills it and waits until it is gone; `false` if it goes on, being somebody else's.
    pub(crate) fn kill(&self) -> bool {
        self.signal(Signal::KILL);
        self.wait(KILLED)
    }
}

/// Ends all of them together: `signal` first, SIGKILL for those that still run after `grace`.
pub(crate) fn end_all<'a>(processes: impl Iterator<Item = &'a Process> + Clone, signal: Signal, grace: Duration) {
    processes.clone().for_each(|process| process.signal(signal));
    let deadline = Instant::now() + grace;
    for process in processes {
        if !process.wait(deadline.saturating_duration_since(Instant::now())) {
            process.kill();
        }
    }
}

fn reap(mut child: Child) {
    std::thread::spawn(move || child.wait());
}

/// A process and all that descend from it, parents first.
fn with_descendants(pid: u32) -> Vec<u32> {
    let parents = parents();
    let mut family = vec![pid];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(child, _)| *child));
        at += 1;
    }
    family
}

/// Every process with its parent.
#[cfg(target_os = "linux")]
fn parents() -> Vec<(u32, u32)> {
    let parent = |entry: std::io::Result<std::fs::DirEntry>| {
        let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?))
    };
    std::fs::read_dir("/proc").into_iter().flatten().filter_map(parent).collect()
}

#[cfg(not(target_os = "linux"))]
fn parents() -> Vec<(u32, u32)> {
    let Ok(output) = Command::new("ps").args(["-axo", "pid=,ppid="]).output() else { return Vec::new() };
    let pair = |line: &str| {
        let (pid, parent) = line.trim().split_once(' ')?;
        Some((pid.parse().ok()?, parent.trim().parse().ok()?))
    };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(pair).collect()
}

/// What the operating system says of a process.
struct Seen {
    born: String,
    /// It has ended, and nobody has asked how.
    ended: bool,
}

#[cfg(target_os = "linux")]
fn look(pid: u32) -> Option<Seen> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, and may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let state = *fields.first()?;
    let threads = *fields.get(17)?;
    let start = fields.get(19)?;
    // The start counts from the boot, so it takes both to know one.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    // A dead first thread leaves the process alive, and its sockets open, until the others are dead, too.
    Some(Seen { born: format!("{}+{start}", boot.trim()), ended: matches!(state, "Z" | "X") && threads <= "1" })
}

#[cfg(not(target_os = "linux"))]
fn look(pid: u32) -> Option<Seen> {
    let output = Command::new("ps").args(["-o", "stat=,lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (stat, born) = text.trim().split_once(' ')?;
    Some(Seen { born: born.trim().to_owned(), ended: stat.starts_with('Z') })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Process {
        Process::spawn(Command::new("sleep").arg("1000")).unwrap()
    }

    #[test]
    fn a_process_is_alive_until_it_is_killed() {
        let process = sleeper();
        assert!(process.is_alive() && !process.born.is_empty());
        process.kill();
        assert!(!process.is_alive());
    }

    #[test]
    fn an_id_that_was_given_to_another_process_is_never_signalled() {
        let other = sleeper();
        let gone = Process { pid: other.pid, born: "at another time".to_owned() };
        assert!(!gone.is_alive());
        gone.kill();
        assert!(other.is_alive(), "somebody else's process was killed");
        other.kill();
    }

    /// A shell that starts a process, prints its number and waits; and that process.
    fn shell_and_its_child(script: &str) -> (Process, Process) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(std::process::Stdio::piped());
        let mut child = command.process_group(0).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        let process = |pid| Process { pid, born: look(pid).unwrap().born };
        let both = (process(child.id()), process(line.trim().parse().unwrap()));
        reap(child);
        both
    }

    #[test]
    fn what_it_started_is_killed_with_it() {
        let (first, second) = shell_and_its_child("sleep 1000 & echo $!; wait");
        first.kill();
        assert!(second.wait(KILLED), "it still runs");
    }

    #[test]
    fn a_signal_for_all_reaches_what_has_left_the_group() {
        let (first, second) = shell_and_its_child("setsid sleep 1000 & echo $!; wait");
        first.signal_all(Signal::KILL);
        assert!(first.wait(KILLED) && second.wait(KILLED), "one still runs");
    }

    #[test]
    fn what_ignores_the_signal_is_killed_after_its_grace() {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; while :; do sleep 0.1; done"]);
        let processes = [Process::spawn(&mut command).unwrap(), sleeper()];
        std::thread::sleep(Duration::from_millis(100));
        end_all(processes.iter(), Signal::TERM, Duration::from_millis(300));
        assert!(processes.iter().all(|process| !process.is_alive()));
    }
}
