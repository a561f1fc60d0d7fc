//! Making the faults of a schedule while a run goes on, each by a thread of its own: one that takes long delays no other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use record::fault::Fault as Made;

use super::{Fault, FaultTarget, Faults, Notify};

/// How often a fault that is not yet due checks whether the run is over.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The faults of a run under way.
#[derive(Debug)]
pub(crate) struct Injector {
    faults: Vec<JoinHandle<Made>>,
    over: Arc<AtomicBool>,
}

impl Injector {
    /// Makes each fault at its time after `start`.
    pub(crate) fn start(faults: &Faults, start: Instant) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let make = |fault: &Fault| {
            let (target, notify) = (faults.target.clone(), faults.notify.clone());
            let (fault, over) = (fault.clone(), over.clone());
            std::thread::spawn(move || inject(&target, &notify, &fault, start, &over))
        };
        Self { faults: faults.list.iter().map(make).collect(), over }
    }

    /// Waits for the faults that have begun, and returns them all; those that have not are never made.
    pub(crate) fn end(self) -> Vec<Made> {
        self.over.store(true, Ordering::Relaxed);
        let mut made: Vec<Made> = self.faults.into_iter().filter_map(|fault| fault.join().ok()).collect();
        made.sort_by(|a, b| a.at_seconds.total_cmp(&b.at_seconds));
        made
    }
}

fn inject(target: &FaultTarget, notify: &Notify, fault: &Fault, start: Instant, over: &AtomicBool) -> Made {
    let what = fault.action.to_string();
    let due = start + fault.at;
    while let Some(wait) = due.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero()) {
        if over.load(Ordering::Relaxed) {
            let failed = Some("the run had ended".to_owned());
            return Made { what, at_seconds: fault.at.as_secs_f64(), took_seconds: 0.0, failed };
        }
        std::thread::sleep(wait.min(POLL_INTERVAL));
    }
    let began = Instant::now();
    notify(&format!("fault: {what}"));
    let failed = target.act(&fault.action).err();
    let made = Made {
        what,
        at_seconds: began.saturating_duration_since(start).as_secs_f64(),
        took_seconds: began.elapsed().as_secs_f64(),
        failed,
    };
    if let Some(why) = &made.failed {
        tracing::warn!("{} failed: {why}", made.what);
    }
    made
}
