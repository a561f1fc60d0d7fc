//! All clients: a listener, and threads that serve what it takes in.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use target::null::Delay;
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use crate::answers::Answers;
use crate::connection;

/// A server that listens. It serves as long as the process lives.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
}

impl Server {
    /// Listens, and serves on so many threads of its own.
    ///
    /// `version` is what it calls itself in its greeting.
    ///
    /// # Errors
    /// If the address can't be had, or a thread.
    pub fn start(
        listen: SocketAddr,
        answers: Answers,
        version: &'static str,
        delay: Delay,
        threads: usize,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(listen)?;
        let address = listener.local_addr()?;
        let answers = Arc::new(answers);
        let workers: Vec<_> = (0..threads.max(1))
            .map(|number| worker(number, answers.clone(), version, delay))
            .collect::<io::Result<_>>()?;
        std::thread::Builder::new().name("stub-accept".to_owned()).spawn(move || {
            let mut turn = workers.iter().cycle();
            for stream in listener.incoming() {
                match stream {
                    Ok(stream) => {
                        // Dealt out in turn, so that few clients are spread over all threads.
                        let _ = turn.next().map(|worker| worker.send(stream));
                    }
                    Err(e) => tracing::debug!("accepting: {e}"),
                }
            }
        })?;
        Ok(Self { address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A thread that serves the clients it is given.
fn worker(
    number: usize,
    answers: Arc<Answers>,
    version: &'static str,
    delay: Delay,
) -> io::Result<mpsc::UnboundedSender<TcpStream>> {
    let (give, mut given) = mpsc::unbounded_channel::<TcpStream>();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name(format!("stub-{number}")).spawn(move || {
        LocalSet::new().block_on(&runtime, async {
            while let Some(stream) = given.recv().await {
                let answers = answers.clone();
                let mut rng = u64::from(stream.peer_addr().map_or(1, |peer| peer.port())) | 1;
                tokio::task::spawn_local(async move {
                    let served = async {
                        stream.set_nonblocking(true)?;
                        let stream = tokio::net::TcpStream::from_std(stream)?;
                        connection::serve(stream, &answers, version, || pause(delay, &mut rng)).await
                    };
                    if let Err(e) = served.await {
                        tracing::debug!("a client's connection ended: {e}");
                    }
                });
            }
        });
    })?;
    Ok(give)
}

fn pause(delay: Delay, rng: &mut u64) -> Duration {
    if delay == Delay::default() {
        return Duration::ZERO;
    }
    delay.at(target::null::fraction(rng))
}
