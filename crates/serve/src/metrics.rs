//! The metrics of a run under way, for Prometheus: one text, which whoever makes it replaces every second.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{oneshot, watch};

use crate::ServeError;
use crate::guard::Guard;

/// The text format of Prometheus.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A server of metrics, on a thread of its own; it ends with this value.
pub struct MetricsServer {
    address: SocketAddr,
    told: watch::Sender<Arc<str>>,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl MetricsServer {
    /// Begins to listen. On this machine's own address alone a request must name this machine, as a page of somebody else
    /// could make a browser ask; at another address anybody may ask by any name, as that was asked for.
    ///
    /// # Errors
    /// If the address can't be had.
    pub fn start(listen: SocketAddr) -> Result<Self, ServeError> {
        let failed = |source| ServeError::listening(listen, source);
        let listener = TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (told, tells) = watch::channel(Arc::from(""));
        let guard = Arc::new(address.ip().is_loopback().then(|| Guard::new(address, Vec::new(), None)));
        let router = Router::new()
            .route("/metrics", get(metrics))
            .with_state(tells)
            .layer(middleware::from_fn_with_state(guard, named));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    _ = async { axum::serve(listener, router).await } => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(MetricsServer { address, told, running: Some((stop, thread)) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts a text in the place of the one before.
    pub fn tell(&self, text: String) {
        self.told.send_replace(text.into());
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            let _ = stop.send(());
            let _ = thread.join();
        }
    }
}

async fn metrics(State(tells): State<watch::Receiver<Arc<str>>>) -> Response {
    let text = tells.borrow().to_string();
    ([(CONTENT_TYPE, FORMAT)], text).into_response()
}

async fn named(State(guard): State<Arc<Option<Guard>>>, request: Request, next: Next) -> Response {
    match guard.as_ref().as_ref().map(|guard| guard.knows(request.headers(), request.uri())) {
        Some(Err(_)) => (StatusCode::MISDIRECTED_REQUEST, "This server goes by another name.\n").into_response(),
        _ => next.run(request).await,
    }
}
