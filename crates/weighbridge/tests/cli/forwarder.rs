//! A way into a server that can be closed and opened again: a TCP forwarder on a port of its own.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A forwarder to a server on this machine; it closes when dropped.
pub(crate) struct Forwarder {
    /// The server's URL with the forwarder's port.
    pub(crate) url: String,
    port: u16,
    server: u16,
    ways: Arc<Mutex<Ways>>,
    listening: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

/// The connections that went through.
#[derive(Default)]
struct Ways {
    /// Both ends of each that is open.
    open: Vec<[TcpStream; 2]>,
    /// The ports from which the server saw them come, all since the beginning.
    ports: Vec<u16>,
}

impl Forwarder {
    /// Opens one to the server at `url`.
    pub(crate) fn to(url: &str) -> Self {
        let server = url.rsplit(':').next().and_then(|end| end.split('/').next()).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = url.replace(server, &port.to_string());
        let server = server.parse().unwrap();
        let mut forwarder = Forwarder { url, port, server, ways: Arc::default(), listening: None };
        forwarder.listen(listener);
        forwarder
    }

    /// Opens again after [`Forwarder::close`], on the same port.
    pub(crate) fn reopen(&mut self) {
        self.listen(TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).unwrap());
    }

    /// Breaks all connections and refuses new ones.
    pub(crate) fn close(&mut self) {
        let Some((closing, thread)) = self.listening.take() else { return };
        closing.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        thread.join().unwrap();
        for end in self.ways.lock().unwrap().open.drain(..).flatten() {
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        self.ways.lock().unwrap().open.len()
    }

    /// The ports from which the server saw connections come, since the beginning.
    pub(crate) fn ports(&self) -> Vec<u16> {
        self.ways.lock().unwrap().ports.clone()
    }

    fn listen(&mut self, listener: TcpListener) {
        let (server, ways, closing) = (self.server, self.ways.clone(), Arc::new(AtomicBool::new(false)));
        let stop = closing.clone();
        let thread = std::thread::spawn(move || {
            for client in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server));
                if let (Ok(client), Ok(server)) = (client, server) {
                    connect(client, server, &ways).unwrap();
                }
            }
        });
        self.listening = Some((closing, thread));
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.close();
    }
}

/// Copies both ways until either end closes.
fn connect(client: TcpStream, server: TcpStream, ways: &Arc<Mutex<Ways>>) -> io::Result<()> {
    let port = server.local_addr()?.port();
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let ends = [client.try_clone()?, server.try_clone()?];
    {
        let mut ways = ways.lock().unwrap();
        ways.ports.push(port);
        ways.open.push(ends);
    }
    for (mut from, mut to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        let ways = ways.clone();
        std::thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
            let is_this = |end: &TcpStream| end.local_addr().is_ok_and(|address| address.port() == port);
            ways.lock().unwrap().open.retain(|[_, server]| !is_this(server));
        });
    }
    Ok(())
}
