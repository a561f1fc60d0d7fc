//! What the keys mean.

use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

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
    /// Nothing, but the terminal has another size.
    Redraw,
}

/// The line of keys, and the help on them.
pub(super) const KEYS: [(&str, &str, &str); 3] = [
    ("?", "help", "this help; h does the same, Esc closes it"),
    ("p", "pause", "the display stands still; the work goes on"),
    ("q", "end early", "as Ctrl-C: once ends in order, with a result; twice leaves at once"),
];

/// Waits for a key that means something, at most so long.
pub(super) fn next(wait: Duration) -> Option<Key> {
    match event::poll(wait) {
        Ok(true) => event::read().ok().and_then(|event| meaning(&event)),
        Ok(false) => None,
        Err(_) => {
            std::thread::sleep(wait);
            None
        }
    }
}

/// The meaning of an event, if it has one.
pub(super) fn meaning(event: &Event) -> Option<Key> {
    match event {
        Event::Resize(..) => Some(Key::Redraw),
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            let control = key.modifiers.contains(KeyModifiers::CONTROL);
            match key.code {
                KeyCode::Char('c') if control => Some(Key::End),
                _ if control => None,
                KeyCode::Char('q') => Some(Key::End),
                KeyCode::Char('?' | 'h') => Some(Key::Help),
                KeyCode::Esc => Some(Key::Back),
                KeyCode::Char('p') => Some(Key::Pause),
                _ => None,
            }
        }
        _ => None,
    }
}
