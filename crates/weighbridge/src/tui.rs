//! The live view of a load or a run on a terminal.
//!
//! A thread of its own owns what is shown, takes in what is new, and draws at most four times a second. The run tells it
//! once a second, from the collector; nothing of it lies on a transaction's way.

mod draw;
mod feed;
mod keys;
mod load;
mod messages;
mod run;
mod screen;
mod state;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use drive::{CpuMeter, Second, memory_bytes};
use ratatui::Frame;
use ratatui::layout::Rect;
use record::Plan;
use target::Gateways;

use crate::interrupt;
use crate::progress::{Progress, Reading};

use feed::Feed;
use keys::Key;
use state::{LoadState, RunState};

pub(crate) use screen::leave;

/// The shortest time from one frame to the next.
const FRAME: Duration = Duration::from_millis(250);

/// Whether a view can be shown: there is a terminal to draw on and to read keys from, and it is ours.
pub(crate) fn possible() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    // A background process that touches the terminal would be stopped.
    let foreground = || {
        let group = rustix::termios::tcgetpgrp(io::stdin());
        group.is_ok_and(|group| group == rustix::process::getpgrp())
    };
    !dumb && io::stderr().is_terminal() && io::stdin().is_terminal() && foreground()
}

/// What can be drawn.
trait Picture: Clone + Send + 'static {
    /// Draws all but the messages and the line of keys.
    fn draw(&self, frame: &mut Frame<'_>, area: Rect);
    /// What the figures mean, for the help: term and explanation.
    fn terms(&self) -> &'static [(&'static str, &'static str)];
}

/// What the viewer has asked for.
#[derive(Clone, Copy, Debug, Default)]
struct Mode {
    help: bool,
    paused: bool,
    ending: bool,
}

/// Takes the terminal, and shows the picture on it. `refresh` brings it up to date, and says whether it has changed.
fn view<P: Picture>(picture: P, refresh: impl FnMut(&mut P) -> bool + Send + 'static) -> io::Result<Progress> {
    screen::take()?;
    let given_back = GivenBack;
    Ok(Progress::shown(move |ended| {
        let _given_back = given_back;
        show(picture, refresh, ended);
    }))
}

/// Shows a load whose progress `read` tells; `unit` is what is counted.
pub(crate) fn show_load(
    title: String,
    unit: &'static str,
    read: impl Fn() -> Reading + Send + 'static,
) -> io::Result<Progress> {
    let mut meter = CpuMeter::start();
    view(LoadState::new(title, unit), move |state| {
        let seconds = state.past.len();
        let new = state.take(read());
        if state.past.len() > seconds {
            let (cpu, wall) = meter.read();
            state.weight = Some((100.0 * cpu / wall.as_secs_f64().max(1e-9), memory_bytes().0));
        }
        new
    })
}

/// The view of a run.
pub(crate) struct RunView {
    feed: Feed,
    seconds: mpsc::Sender<state::Now>,
    _shown: Progress,
}

impl RunView {
    /// Shows a run of `plan` on a database.
    pub(crate) fn start(plan: &Plan, gateways: &Gateways) -> io::Result<Self> {
        let (seconds, inbox) = mpsc::channel();
        let state = RunState::new(plan.clone(), gateways.to_string(), gateways.dialect().embedded());
        let shown = view(state, move |state: &mut RunState| {
            let before = state.seconds();
            inbox.try_iter().for_each(|now| state.take(now));
            state.seconds() > before
        })?;
        Ok(Self { feed: Feed::new(plan), seconds, _shown: shown })
    }

    /// Tells a second.
    pub(crate) fn second(&mut self, second: &Second<'_>) {
        // A view that has ended looks at nothing any more.
        let _ = self.seconds.send(self.feed.second(second));
    }
}

/// Gives the terminal back however its owner ends.
struct GivenBack;

impl Drop for GivenBack {
    fn drop(&mut self) {
        leave();
    }
}

fn show<P: Picture>(mut picture: P, mut refresh: impl FnMut(&mut P) -> bool, ended: &AtomicBool) {
    let (mut mode, mut frozen) = (Mode::default(), None);
    let (mut stale, mut drawn) = (true, None::<Instant>);
    let mut size = None;
    while !ended.load(Ordering::Relaxed) {
        stale |= refresh(&mut picture);
        stale |= screen::heard();
        let before = std::mem::replace(&mut size, screen::size());
        stale |= size != before;
        let wait = drawn.map_or(Duration::ZERO, |at| FRAME.saturating_sub(at.elapsed()));
        if stale && wait.is_zero() {
            let shown = frozen.as_ref().unwrap_or(&picture);
            if !screen::draw(|frame, messages| draw::whole(frame, shown, messages, mode)) {
                return;
            }
            (stale, drawn) = (false, Some(Instant::now()));
        }
        let Some(keys) = keys::next(if wait.is_zero() { FRAME } else { wait }) else { return };
        for key in keys {
            stale = true;
            match key {
                Key::Help => mode.help = !mode.help,
                Key::Back => mode.help = false,
                Key::Pause => {
                    mode.paused = !mode.paused;
                    frozen = mode.paused.then(|| picture.clone());
                }
                Key::End => {
                    mode.ending = true;
                    interrupt::raise();
                }
            }
        }
    }
}
