//! Progress on standard error: a bar on a terminal, a line every few seconds elsewhere.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use workload::tpcc::load::LoadProgress;

use crate::tui;

/// What to show: how far, of how much, and doing what.
pub(crate) struct Reading {
    pub(crate) done: u64,
    pub(crate) total: u64,
    pub(crate) doing: String,
}

/// Where this attempt began: what was done before, and the preparation, are none of its rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun(Option<(f64, u64)>);

impl Begun {
    /// Takes in a reading, so many seconds after the beginning of the preparation; whether this is where it begins.
    pub(crate) fn take(&mut self, at_s: f64, reading: &Reading) -> bool {
        let begins = self.0.is_none() && reading.total > 0;
        if begins {
            self.0 = Some((at_s, reading.done));
        }
        begins
    }

    /// Units a second up to a moment and what was done then.
    pub(crate) fn rate(self, at_s: f64, done: u64) -> f64 {
        self.0.map_or(0.0, |(from_s, with)| done.saturating_sub(with) as f64 / (at_s - from_s).max(1e-3))
    }
}

/// Shows progress, in a thread of its own, until it is dropped.
pub(crate) struct Progress {
    ended: Arc<AtomicBool>,
    /// Closed once the thread has ended.
    thread: mpsc::Receiver<()>,
}

const REFRESH: Duration = Duration::from_millis(100);
const LINE_EVERY: Duration = Duration::from_secs(5);
/// How long the end waits for a terminal that takes nothing.
const END_TIMEOUT: Duration = Duration::from_secs(5);

impl Progress {
    /// Starts `show`, which is to go on until it is told to end.
    pub(crate) fn shown(show: impl FnOnce(&AtomicBool) + Send + 'static) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let until = ended.clone();
        let (alive, thread) = mpsc::channel();
        std::thread::spawn(move || {
            let _alive = alive;
            show(&until);
        });
        Self { ended, thread }
    }

    /// Starts to show what `read` says; `unit` is what is counted.
    pub(crate) fn start(unit: &'static str, read: impl Fn() -> Reading + Send + 'static) -> Self {
        let show = if std::io::stderr().is_terminal() { bar } else { lines };
        Self::shown(move |ended| show(unit, &read, ended))
    }

    /// Starts to show a load, live if that is asked for and the terminal can be had.
    pub(crate) fn of_load(title: String, live: bool, progress: Arc<LoadProgress>) -> Self {
        let read = move || {
            // Before the rows, among which are those of an earlier attempt once it is known.
            let total = progress.expected_rows.load(Ordering::Acquire);
            let done = progress.rows.load(Ordering::Relaxed);
            Reading { done, total, doing: progress.doing.lock().map(|doing| doing.clone()).unwrap_or_default() }
        };
        if live && let Ok(view) = tui::show_load(title, "rows", read.clone()) {
            return view;
        }
        Self::start("rows", read)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // There is a result, whether anything can be shown or not.
        let _ = self.thread.recv_timeout(END_TIMEOUT);
    }
}

fn bar(unit: &'static str, read: &dyn Fn() -> Reading, ended: &AtomicBool) {
    let bar = ProgressBar::new(0);
    let template = "{bar:30} {percent:>3}%  {human_pos} {prefix}  {per_sec}  left {eta}  {wide_msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_prefix(unit);
    while !ended.load(Ordering::Relaxed) {
        let now = read();
        bar.set_length(now.total.max(now.done));
        bar.set_position(now.done);
        bar.set_message(now.doing);
        std::thread::sleep(REFRESH);
    }
    bar.finish_and_clear();
}

fn lines(unit: &'static str, read: &dyn Fn() -> Reading, ended: &AtomicBool) {
    let started = Instant::now();
    let mut next = started + LINE_EVERY;
    let mut begun = Begun::default();
    while !ended.load(Ordering::Relaxed) {
        std::thread::sleep(REFRESH);
        let (now, seconds) = (read(), started.elapsed().as_secs_f64());
        begun.take(seconds, &now);
        if Instant::now() < next {
            continue;
        }
        next += LINE_EVERY;
        let rate = begun.rate(seconds, now.done);
        let percent = 100.0 * now.done as f64 / now.total.max(1) as f64;
        let left = match rate > 0.0 {
            true => format!("{:.0}s", now.total.saturating_sub(now.done) as f64 / rate),
            false => "?".to_owned(),
        };
        say!("{seconds:6.0}s  {percent:5.1}%  {} {unit}  {rate:.0}/s  left {left}  {}", now.done, now.doing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_this_attempt_from_its_first_reading_on() {
        let reading = |done, total| Reading { done, total, doing: String::new() };
        let mut begun = Begun::default();
        assert!(!begun.take(0.0, &reading(0, 0)));
        assert_eq!(begun.rate(59.0, 0), 0.0);
        assert!(begun.take(60.0, &reading(900, 1000)));
        assert!(!begun.take(61.0, &reading(910, 1000)));
        assert_eq!((begun.rate(60.0, 900), begun.rate(70.0, 950)), (0.0, 5.0));
    }
}
