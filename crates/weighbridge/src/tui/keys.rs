//! What the keys mean.
//!
//! They are read here rather than by crossterm, which reads on until what it has makes an event: bytes that never do
//! would hold the view, and with it the end of the work.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What the viewer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Help, or no help any more.
    Help,
    /// No help any more.
    Back,
    /// The display stands still, or goes on.
    Pause,
    /// The work ends early.
    End,
}

/// The line of keys, and the help on them.
pub(super) const KEYS: [(&str, &str, &str); 3] = [
    ("?", "help", "this help; h does the same, Esc closes it"),
    ("p", "pause", "the display stands still; the work goes on"),
    ("q", "end early", "as Ctrl-C: once ends in order, with a result; twice leaves at once"),
];

/// Most bytes that are taken at once.
const MOST: usize = 1024;

/// Waits for keys, at most so long, and returns those that mean something; none if the terminal is gone.
pub(super) fn next(wait: Duration) -> Option<Vec<Key>> {
    let stdin = io::stdin();
    let wait = Timespec::try_from(wait).ok()?;
    let mut bytes = [0; MOST];
    let read = match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait)) {
        Ok(0) => return Some(Vec::new()),
        // Once, as there is something now: a second time might wait.
        Ok(_) => rustix::io::read(&stdin, &mut bytes),
        Err(e) => Err(e),
    };
    match read {
        Ok(0) => None,
        Ok(read) => Some(meanings(&bytes[..read])),
        Err(Errno::INTR | Errno::AGAIN) => Some(Vec::new()),
        Err(_) => None,
    }
}

/// The meanings of the keys that have one, of what came at once. What a key sends beyond a byte comes at once as well.
pub(super) fn meanings(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut bytes = bytes.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\x1b' if bytes.next_if_eq(&b'[').is_some() => {
                // An arrow or the like, up to the letter that ends it.
                let _ = bytes.find(|byte| (b'@'..=b'~').contains(byte));
            }
            b'\x1b' if bytes.next_if_eq(&b'O').is_some() => {
                let _ = bytes.next();
            }
            b'\x1b' => keys.push(Key::Back),
            b'?' | b'h' => keys.push(Key::Help),
            b'p' => keys.push(Key::Pause),
            // Ctrl-C, for which no signal comes here.
            b'q' | b'\x03' => keys.push(Key::End),
            _ => {}
        }
    }
    keys
}
