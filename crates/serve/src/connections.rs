//! Limits the number of connections and the time that one may be idle, so that silent clients don't use up the file
//! descriptors of a process that may be driving a run.
//!
//! No crate in the lock file does this: tower limits requests, not connections; hyper times the head of a request, not a
//! client that does not read its answer; and `axum::serve` exposes neither.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// Many more than look on at a time, and few beside those that a process may have (1,024 where nobody asked for more).
const MAX_CONNECTIONS: usize = 200;

/// How long a question may take from the connection, or from the last byte of the answer before it. A live page is told
/// something every 15 seconds; whoever asks for metrics less often than this connects anew.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);

/// Answers whoever connects.
///
/// # Errors
/// If the runtime can't wait for this listener.
pub(crate) async fn serve(listener: std::net::TcpListener, router: Router) -> io::Result<()> {
    limited(listener, router, MAX_CONNECTIONS, IDLE_TIMEOUT).await
}

async fn limited(
    listener: std::net::TcpListener,
    router: Router,
    limit: usize,
    idle_timeout: Duration,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let connections = Connections { listener, free: Arc::new(Semaphore::new(limit)), idle_timeout };
    let router = router.layer(middleware::from_fn(answering));
    axum::serve(connections, router.into_make_service_with_connect_info::<Answering>()).await
}

/// How many questions of a connection are being answered: that may take as long as it takes.
#[derive(Clone, Default)]
struct Answering(Arc<AtomicUsize>);

impl Connected<IncomingStream<'_, Connections>> for Answering {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Self {
        stream.io().answering.clone()
    }
}

async fn answering(ConnectInfo(answering): ConnectInfo<Answering>, request: Request, next: Next) -> Response {
    /// Also where the answer is given up.
    struct Under(Answering);
    impl Drop for Under {
        fn drop(&mut self) {
            self.0.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    answering.0.fetch_add(1, Ordering::Relaxed);
    let _under = Under(answering);
    next.run(request).await
}

/// A listener whose connections are limited.
struct Connections {
    listener: TcpListener,
    free: Arc<Semaphore>,
    idle_timeout: Duration,
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    /// The next one, as soon as there is room for it: those that have no room wait with the system, as far as its queue
    /// goes.
    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let Ok(place) = self.free.clone().acquire_owned().await else { std::future::pending().await };
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let (idle_timeout, answering) = (self.idle_timeout, Answering::default());
        (Connection { stream, idle_timeout, timer: Box::pin(sleep(idle_timeout)), answering, _place: place }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Listener::local_addr(&self.listener)
    }
}

/// A connection that ends when no question comes for too long, or its answer is not taken.
struct Connection {
    stream: TcpStream,
    idle_timeout: Duration,
    timer: Pin<Box<Sleep>>,
    answering: Answering,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    /// Starts to wait anew.
    fn wait(&mut self) {
        let until = Instant::now() + self.idle_timeout;
        self.timer.as_mut().reset(until);
    }

    /// Ends the wait for the other side once it took too long.
    fn waited<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        loop {
            ready!(self.timer.as_mut().poll(context));
            if self.answering.0.load(Ordering::Relaxed) == 0 {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.wait();
        }
    }
}

impl AsyncRead for Connection {
    /// What comes does not prolong the wait: a byte now and then makes no question.
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, into) {
            Poll::Pending => self.waited(context),
            came => came,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Pending => self.waited(context),
            went => {
                self.wait();
                went
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use axum::routing::get;

    use super::*;

    /// A question for the answer that takes so many milliseconds.
    fn asked(ms: u64) -> String {
        format!("GET /?{ms} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
    }

    /// A server with these limits, that answers until the tests end.
    fn serving(limit: usize, idle_timeout: Duration) -> SocketAddr {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let slow = |request: Request| async move {
            sleep(Duration::from_millis(request.uri().query().unwrap().parse().unwrap())).await;
            "here"
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(limited(listener, Router::new().route("/", get(slow)), limit, idle_timeout)).unwrap();
        });
        address
    }

    fn connected(address: SocketAddr) -> std::net::TcpStream {
        let stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    fn answer(mut stream: std::net::TcpStream) -> String {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn whoever_asks_nothing_is_let_go() {
        let address = serving(8, Duration::from_millis(50));
        assert_eq!(answer(connected(address)), "", "who says nothing");
        let mut drops = connected(address);
        // A byte at a time, each in time: until the other side has had enough.
        let mut bytes = std::iter::repeat(b"GET / HTTP/1.1\r\nA: ".iter().chain(&[b'a'; 60])).flatten();
        while bytes.next().is_some_and(|byte| drops.write_all(&[*byte]).is_ok()) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn an_answer_may_take_longer_than_a_question() {
        let mut stream = connected(serving(8, Duration::from_millis(50)));
        stream.write_all(asked(400).as_bytes()).unwrap();
        assert!(answer(stream).ends_with("here"));
    }

    #[test]
    fn whoever_finds_no_room_is_answered_when_there_is_some() {
        let address = serving(2, Duration::from_secs(3600));
        let silent = [connected(address), connected(address)];
        let mut third = connected(address);
        third.write_all(asked(0).as_bytes()).unwrap();
        third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        assert!(third.peek(&mut [0]).is_err(), "answered though there is no room");
        third.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        drop(silent);
        assert!(answer(third).ends_with("here"));
    }
}
