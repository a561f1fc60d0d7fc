//! Ctrl-C, SIGTERM and SIGHUP: the first ends the work early and in order, the second at once.

use std::io;
use std::process::{Child, Output};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// The process that works for this one; 0: none.
static WORKER: AtomicI32 = AtomicI32::new(0);

static STOP: OnceLock<watch::Receiver<bool>> = OnceLock::new();

/// How long an end waits for a terminal that takes nothing.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The variable that tells a process for which one it works.
pub(crate) const PARENT: &str = "WEIGHBRIDGE_PARENT";

/// Ends this process early, as Ctrl-C would, once the one that it works for is gone, however that came about: nobody
/// would wait for it, and what comes next may touch the same data.
pub(crate) fn end_with_parent() {
    let Some(parent) = std::env::var(PARENT).ok().and_then(|parent| parent.parse().ok()).and_then(Pid::from_raw) else {
        return;
    };
    let watched = set_parent_process_death_signal(Some(Signal::INT));
    // It may have gone before it was watched.
    if watched.is_ok() && getppid() != Some(parent) {
        let _ = kill_process(getpid(), Signal::INT);
    }
}

/// Does what Ctrl-C does where the terminal sends no signal for it.
pub(crate) fn raise() {
    let _ = kill_process(getpid(), Signal::INT);
}

/// Becomes true at the first signal. Listens from the first call on.
pub(crate) fn stop() -> watch::Receiver<bool> {
    STOP.get_or_init(|| {
        let (send, receive) = watch::channel(false);
        std::thread::spawn(move || listen(&send));
        receive
    })
    .clone()
}

fn listen(stop: &watch::Sender<bool>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        // A terminal that is closed, or a connection to it that is lost, must leave nothing half-done either.
        let mut hangup = if hangup_ends() { signal(SignalKind::hangup()).ok() } else { None };
        for first in [true, false] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                // Of a terminal that goes both the shell and the system may tell.
                Some(()) = async { hangup.as_mut()?.recv().await }, if first => {}
            }
            // Before anything that may fail or wait.
            stop.send_replace(true);
            if let Some(worker) = Pid::from_raw(WORKER.load(Ordering::SeqCst)) {
                // It may have ended just now.
                let _ = kill_process(worker, Signal::INT);
            }
            if !first {
                briefly(|| {
                    crate::tui::leave();
                    say!("interrupted again: leaving at once");
                });
                std::process::exit(130);
            }
            briefly(|| say!("interrupted: ending early (once more to leave at once)"));
        }
    });
}

/// Whether SIGHUP is to end the work: not if whoever started this process had it ignored, as `nohup` does. Where the
/// system doesn't tell, it does what it always did.
fn hangup_ends() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|signals| signals & 1 == 0)
}

/// Does what may wait for a terminal, and goes on without it where that takes long.
fn briefly(act: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        act();
        drop(done);
    });
    let _ = is_done.recv_timeout(END_TIMEOUT);
}

/// Waits for a process that works for this one, which gets every signal that this one gets.
///
/// It must be in a process group of its own, or a Ctrl-C would reach it twice.
pub(crate) fn wait_for(mut worker: Child) -> io::Result<Output> {
    let stop = stop();
    WORKER.store(worker.id().cast_signed(), Ordering::SeqCst);
    if *stop.borrow() {
        // The signal came before the worker was known.
        worker.kill()?;
    }
    let output = worker.wait_with_output();
    WORKER.store(0, Ordering::SeqCst);
    output
}

/// Calls `act` once the first signal comes.
pub(crate) fn on_stop(act: impl FnOnce() + Send + 'static) {
    let mut stop = stop();
    std::thread::spawn(move || {
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build()
            && runtime.block_on(stop.wait_for(|stop| *stop)).is_ok()
        {
            act();
        }
    });
}
