//! A web page over a folder of results: the list, runs while they go, finished runs, comparisons, series; and the metrics of
//! a run under way, for programs.
//!
//! Nothing is measured and nothing is kept here: every answer is derived from the files in the folder, of which nothing
//! outside it is ever shown. It knows no database. What may be asked by whom is `guard`; what may be read is `root`; what
//! there is to be shown is `result_types`.

mod catalog;
mod compare;
mod connections;
mod frame;
mod guard;
mod list;
mod live;
mod metrics;
mod result_types;
mod root;
mod site;
mod tags;

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::guard::Guard;
use crate::root::Root;
use crate::site::Site;
use crate::tags::TagFile;

pub use guard::{MIN_TOKEN_CHARS, Token, TokenError};
pub use metrics::MetricsServer;

/// What to serve, and to whom.
#[derive(Debug)]
pub struct Options {
    /// The folder of results.
    pub folder: PathBuf,
    /// Where to listen; port 0 takes any that is free.
    pub listen: SocketAddr,
    /// Other names that lead to the server, besides its address and localhost.
    pub names: Vec<String>,
    /// What whoever asks must show; needed where others than this machine can ask.
    pub token: Option<Token>,
    /// Whether tags can be changed.
    pub writable: bool,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is no such folder.
    #[error("{}: there is no such folder; runs make it, or name another", .0.display())]
    Nowhere(PathBuf),
    /// The folder can't be read.
    #[error("{}: {source}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Others than this machine could ask, and nothing would keep them off.
    #[error(
        "{0} can be reached from other machines, so it needs a token: give one with --token-file, or in WEIGHBRIDGE_TOKEN"
    )]
    Open(SocketAddr),
    /// Another program listens there.
    #[error("{0}: the port is taken; name another, or port 0 for any that is free")]
    Taken(SocketAddr),
    /// The system refuses to listen there.
    #[error("can't listen at {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
}

impl ServeError {
    fn listening(address: SocketAddr, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::AddrInUse => ServeError::Taken(address),
            _ => ServeError::Listen { address, source },
        }
    }
}

/// A server that listens, and does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    site: Arc<Site>,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// If the folder can't be read, the address can't be had, or it is open to others and there is no token.
    pub fn bind(options: Options) -> Result<Self, ServeError> {
        let Options { folder, listen, names, token, writable } = options;
        if !listen.ip().is_loopback() && token.is_none() {
            return Err(ServeError::Open(listen));
        }
        let root = Root::open(&folder).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ServeError::Nowhere(folder),
            _ => ServeError::Folder { folder, source },
        })?;
        let failed = |source| ServeError::listening(listen, source);
        let listener = TcpListener::bind(listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let site = Site {
            tags: TagFile::new(&root),
            place: root.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            root,
            catalog: catalog::Catalog::default(),
            glances: live::Glances::default(),
            guard: Guard::new(address, names, token),
            writable,
            pages: Arc::new(Semaphore::new(cores)),
        };
        Ok(Server { listener, address, site: Arc::new(site) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` comes, and then ends at once, whoever still listens.
    ///
    /// # Errors
    /// If the system gives it no threads.
    pub fn run(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let served = runtime.block_on(async {
            let site = self.site.clone();
            // Whoever asks first need not wait for everything to be read.
            tokio::task::spawn_blocking(move || site.catalog.list(&site.root));
            tokio::select! {
                ended = connections::serve(self.listener, site::router(self.site)) => ended,
                () = stop => Ok(()),
            }
        });
        runtime.shutdown_background();
        served
    }
}
