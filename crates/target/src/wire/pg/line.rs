//! The framed byte stream to a server: messages gathered and sent in one write, messages read where they arrived.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes, BytesMut};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::{Class, Error};

/// The longest message that a server sends (its own limit of a value, and some).
const MAX_MESSAGE: u32 = 0x4000_0000;

/// Room for the answers of most batches.
const ROOM_BYTES: usize = 8 * 1024;

/// Tags of messages from the server.
pub(super) mod tag {
    pub(in super::super) const BIND_COMPLETE: u8 = b'2';
    pub(in super::super) const COMMAND_COMPLETE: u8 = b'C';
    pub(in super::super) const COPY_IN: u8 = b'G';
    pub(in super::super) const DATA_ROW: u8 = b'D';
    pub(in super::super) const EMPTY_QUERY: u8 = b'I';
    pub(in super::super) const ERROR: u8 = b'E';
    pub(in super::super) const NO_DATA: u8 = b'n';
    pub(in super::super) const PARAMETER_DESCRIPTION: u8 = b't';
    pub(in super::super) const PARSE_COMPLETE: u8 = b'1';
    pub(in super::super) const READY: u8 = b'Z';
    pub(in super::super) const ROW_DESCRIPTION: u8 = b'T';
    /// These may come at any time, and are nobody's answer.
    pub(super) const ASIDES: [u8; 3] = [b'A', b'N', b'S'];
}

/// What the bytes travel on.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// A stream with the messages to be sent and those that came.
#[derive(Debug)]
pub(super) struct Line {
    stream: Stream,
    /// Messages not sent yet.
    pub(super) out: BytesMut,
    /// What came; before `at` it has been read.
    input: BytesMut,
    at: usize,
    /// Set while answers are outstanding: a caller that stops reading then leaves the line unusable.
    engaged: bool,
}

impl Line {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, out: BytesMut::new(), input: BytesMut::with_capacity(ROOM_BYTES), at: 0, engaged: false }
    }

    /// Sends what has gathered; answers are outstanding from now on.
    pub(super) async fn send(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.engaged, true) {
            return Err(lost("an earlier answer was not awaited"));
        }
        let sent = self.stream.write_all(&self.out).await;
        self.out.clear();
        sent.map_err(|e| lost(&e.to_string()))?;
        // TLS may keep a record back.
        self.stream.flush().await.map_err(|e| lost(&e.to_string()))
    }

    /// Sends bytes that are messages already, in the midst of a COPY.
    pub(super) async fn pour(&mut self, messages: &[u8]) -> Result<(), Error> {
        self.stream.write_all(messages).await.map_err(|e| lost(&e.to_string()))
    }

    /// The tag and the place of the next message's body, for [`Line::body`].
    pub(super) async fn message(&mut self) -> Result<(u8, Range<usize>), Error> {
        loop {
            let waiting = &self.input[self.at..];
            if let &[tag, a, b, c, d, ..] = waiting {
                // The length counts itself. Who waited for the end of a nonsensical one would wait for ever.
                let length = u32::from_be_bytes([a, b, c, d]);
                if !(4..=MAX_MESSAGE).contains(&length) {
                    return Err(lost("what came is no message of PostgreSQL's protocol"));
                }
                let end = self.at + 1 + length as usize;
                if end <= self.input.len() {
                    let body = self.at + 5..end;
                    self.at = body.end;
                    if tag::ASIDES.contains(&tag) {
                        continue;
                    }
                    return Ok((tag, body));
                }
                self.input.reserve(end - self.input.len());
            } else {
                self.input.reserve(ROOM_BYTES);
            }
            match self.stream.read_buf(&mut self.input).await {
                Ok(0) => return Err(lost("the server closed it")),
                Ok(_) => {}
                Err(e) => return Err(lost(&e.to_string())),
            }
        }
    }

    /// The bytes of a message that has been read and not been taken.
    pub(super) fn body(&self, place: Range<usize>) -> &[u8] {
        &self.input[place]
    }

    /// All that has been read, as one piece that answers can share: places in it stay what they were.
    pub(super) fn take(&mut self) -> Bytes {
        self.input.split_to(std::mem::take(&mut self.at)).freeze()
    }

    /// Drops what has been read.
    pub(super) fn forget(&mut self) {
        self.input.advance(std::mem::take(&mut self.at));
    }

    /// No answer is outstanding any more.
    pub(super) fn answered(&mut self) {
        self.engaged = false;
    }
}

impl Drop for Line {
    /// Takes leave, if the line has room for it: the server need not wonder.
    fn drop(&mut self) {
        let mut farewell = BytesMut::new();
        frontend::terminate(&mut farewell);
        let mut nobody = Context::from_waker(Waker::noop());
        if Pin::new(&mut self.stream).poll_write(&mut nobody, &farewell).is_ready() {
            let _ = Pin::new(&mut self.stream).poll_flush(&mut nobody);
        }
    }
}

pub(super) fn lost(why: &str) -> Error {
    Error::new(Class::Lost, None, format!("the connection is lost: {why}"))
}
