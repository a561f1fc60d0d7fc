//! What was said on standard error while the view had the terminal.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Lines that are kept; of more the oldest are dropped.
const MOST: usize = 1000;

/// Lines of standard error, as they came.
#[derive(Debug, Default)]
pub(super) struct Messages {
    lines: VecDeque<Vec<u8>>,
    /// The line under way.
    open: Vec<u8>,
    dropped: usize,
}

/// The pipe that stands in for standard error, and what came by it. A thread empties it at once, or the work would wait
/// for the view whenever it has much to say.
#[derive(Debug)]
pub(super) struct Said {
    pipe: File,
    messages: Mutex<Messages>,
    new: AtomicBool,
}

impl Said {
    /// Listens until nobody can write any more.
    pub(super) fn listen(pipe: OwnedFd) -> io::Result<Arc<Self>> {
        // Only this end: whoever writes waits rather than fails.
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let said = Arc::new(Self { pipe: pipe.into(), messages: Mutex::default(), new: AtomicBool::new(false) });
        let here = said.clone();
        std::thread::spawn(move || while here.take() {});
        Ok(said)
    }

    /// Waits until something is written, and takes it in; false once nobody can write any more.
    fn take(&self) -> bool {
        match poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], None) {
            Ok(_) => match self.read(&mut self.messages()) {
                Ok(read) => read > 0,
                Err(e) => e.kind() == io::ErrorKind::WouldBlock,
            },
            Err(e) => e == Errno::INTR,
        }
    }

    /// Takes in a piece. Only who holds the messages reads, so that they stay in order.
    fn read(&self, messages: &mut Messages) -> io::Result<usize> {
        let mut bytes = [0; 1 << 14];
        let read = (&self.pipe).read(&mut bytes)?;
        messages.take(&bytes[..read]);
        self.new.store(true, Ordering::Relaxed);
        Ok(read)
    }

    /// What came so far.
    pub(super) fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, with all that was written up to now.
    pub(super) fn all(&self) -> MutexGuard<'_, Messages> {
        let mut messages = self.messages();
        while let Ok(1..) = self.read(&mut messages) {}
        messages
    }

    /// Whether anything came since this was asked last.
    pub(super) fn is_new(&self) -> bool {
        self.new.swap(false, Ordering::Relaxed)
    }
}

impl Messages {
    /// Takes in what was written.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.open.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.lines.push_back(std::mem::take(&mut self.open));
            }
        }
        while self.lines.len() > MOST {
            self.lines.pop_front();
            self.dropped += 1;
        }
    }

    /// How many lines there are to be shown.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The latest lines, at most so many, the oldest first, without anything that would move a cursor or colour it.
    pub(super) fn latest(&self, most: usize) -> Vec<String> {
        let first = self.lines.len().saturating_sub(most);
        self.lines.iter().skip(first).map(|line| plain(&String::from_utf8_lossy(line))).collect()
    }

    /// Writes everything that is kept, as it came.
    pub(super) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        if self.dropped > 0 {
            writeln!(out, "({} older lines were dropped)", self.dropped)?;
        }
        self.lines.iter().try_for_each(|line| out.write_all(line))?;
        out.write_all(&self.open)
    }
}

/// A text without control characters and without terminals' sequences.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '\x1b' && chars.next_if_eq(&'[').is_some() {
            // Up to the letter that says what it does.
            let _ = chars.find(|char| ('@'..='~').contains(char));
        } else if !char.is_control() {
            plain.push(char);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_pieces_and_go_out_as_they_were() {
        let mut messages = Messages::default();
        messages.take(b"\x1b[33m WARN\x1b[0m one\r\ntw");
        assert_eq!(messages.latest(3), [" WARN one"]);
        messages.take(b"o\x07\nthree");
        assert_eq!(messages.latest(1), ["two"]);
        let mut out = Vec::new();
        messages.write_to(&mut out).unwrap();
        assert_eq!(out, b"\x1b[33m WARN\x1b[0m one\r\ntwo\x07\nthree");
    }

    #[test]
    fn more_is_said_than_a_pipe_holds_and_nobody_looks() {
        let (read, write) = io::pipe().unwrap();
        let said = Said::listen(read.into()).unwrap();
        let mut write = File::from(OwnedFd::from(write));
        (0..20_000).for_each(|n| writeln!(write, "line {n}").unwrap());
        let all = said.all();
        assert_eq!((all.len(), all.latest(1)), (MOST, vec!["line 19999".to_owned()]));
        assert!(said.is_new() && !said.is_new());
    }

    #[test]
    fn of_too_many_lines_the_oldest_go() {
        let mut messages = Messages::default();
        (0..MOST + 5).for_each(|n| messages.take(format!("line {n}\n").as_bytes()));
        assert_eq!(messages.len(), MOST);
        let mut out = Vec::new();
        messages.write_to(&mut out).unwrap();
        assert!(out.starts_with(b"(5 older lines were dropped)\nline 5\n"));
    }
}
