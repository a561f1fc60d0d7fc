//! The terminal while the view has it, and how it is given back.
//!
//! Whatever anybody writes to standard error meanwhile, the view shows as a message and writes there afterwards: it comes
//! by a pipe that stands in for standard error.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::stdio::dup2_stderr;

use super::messages::{Messages, Said};

/// More than nearly all frames have, so that each is one write.
const FRAME_BYTES: usize = 1 << 16;

/// The one terminal of this process, while a view has it.
static SCREEN: Mutex<Option<Screen>> = Mutex::new(None);

fn screen() -> MutexGuard<'static, Option<Screen>> {
    // Who failed while drawing must not keep others from giving the terminal back.
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<File>>>,
    /// Standard error as it was.
    stderr: OwnedFd,
    /// What is written to it now.
    said: Arc<Said>,
}

/// Takes the terminal of standard error.
pub(super) fn take() -> io::Result<()> {
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    let (said, say) = pipe_with(PipeFlags::CLOEXEC)?;
    let said = Said::listen(said)?;
    let out = BufWriter::with_capacity(FRAME_BYTES, File::from(stderr.try_clone()?));
    let terminal = Terminal::new(CrosstermBackend::new(out))?;
    let mut taken = screen();
    // From here on dropping it gives everything back.
    let screen = taken.insert(Screen { terminal, stderr, said });
    let begun = screen.begin(&say);
    if begun.is_err() {
        *taken = None;
    }
    begun
}

/// Gives the terminal back, if a view has it, and writes what was said meanwhile.
pub(crate) fn leave() {
    let left = screen().take();
    drop(left);
}

/// Columns and rows of the terminal; none if it is gone.
pub(super) fn size() -> Option<(u16, u16)> {
    rustix::termios::tcgetwinsize(io::stdin()).ok().map(|size| (size.ws_col, size.ws_row))
}

/// Whether anything was said since it was asked last.
pub(super) fn heard() -> bool {
    screen().as_ref().is_some_and(|screen| screen.said.is_new())
}

/// Draws a frame; false if the terminal has been given back, or is gone.
pub(super) fn draw(draw: impl FnOnce(&mut Frame<'_>, &Messages)) -> bool {
    let mut screen = screen();
    let Some(Screen { terminal, said, .. }) = screen.as_mut() else { return false };
    // What is said is held up only while the frame is made, not while the terminal takes it.
    terminal.draw(|frame| draw(frame, &said.messages())).is_ok()
}

impl Screen {
    fn begin(&mut self, say: &OwnedFd) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(self.terminal.backend_mut(), EnterAlternateScreen, Clear(ClearType::All), Hide)?;
        dup2_stderr(say)?;
        Ok(())
    }
}

impl Drop for Screen {
    /// Goes on after any failure: each step that works is worth it.
    fn drop(&mut self) {
        let _ = execute!(self.terminal.backend_mut(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        let _ = dup2_stderr(&self.stderr);
        let mut stderr = io::stderr();
        let _ = self.said.all().write_to(&mut stderr).and_then(|()| stderr.flush());
    }
}
