//! A delay line: what goes in at one end comes out at the other so much later, in its order, however much is under way.

use std::io::{self, Read};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Pieces that may be under way at once: with the size of a piece it is what the line holds before a sender must wait.
const UNDER_WAY: usize = 64;

/// Bytes of a piece, at most.
const PIECE: usize = 64 * 1024;

/// The end where pieces come out.
#[derive(Debug)]
pub(crate) struct Line {
    pieces: Receiver<(Instant, Vec<u8>)>,
}

impl Line {
    /// Reads from a stream on a thread of its own, until it ends. Nothing counts as read before `open`.
    pub(crate) fn from(stream: TcpStream, open: Instant) -> Self {
        let (send, pieces) = sync_channel(UNDER_WAY);
        std::thread::spawn(move || {
            // It ends with the stream, or with the other end of the line.
            let _ = fill(stream, open, &send);
        });
        Self { pieces }
    }

    /// The next piece, once its time has come; `None` at the end. `delay` is asked when a piece is there to be delayed.
    pub(crate) fn next(&self, delay: impl Fn() -> Duration) -> Option<Vec<u8>> {
        let (read, piece) = self.pieces.recv().ok()?;
        let left = (read + delay()).saturating_duration_since(Instant::now());
        if !left.is_zero() {
            std::thread::sleep(left);
        }
        Some(piece)
    }
}

fn fill(mut stream: TcpStream, open: Instant, send: &SyncSender<(Instant, Vec<u8>)>) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 || send.send((open.max(Instant::now()), buffer[..length].to_vec())).is_err() {
            return Ok(());
        }
    }
}
