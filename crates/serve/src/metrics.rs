//! The metrics of a run under way, for Prometheus: whoever makes them replaces them every second, and they are written
//! down when they are asked for, in the format that is asked for.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use report::{Families, PROTOBUF_FORMAT, TEXT_FORMAT};
use tokio::sync::{oneshot, watch};

use crate::guard::Guard;
use crate::{ServeError, connections};

/// A server of metrics, on a thread of its own; it ends with this value.
pub struct MetricsServer {
    address: SocketAddr,
    sender: watch::Sender<Arc<Families>>,
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
        let address = listener.local_addr().map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (sender, receiver) = watch::channel(Arc::default());
        let guard = Arc::new(address.ip().is_loopback().then(|| Guard::new(address, Vec::new(), None)));
        let router = Router::new()
            .route("/metrics", get(metrics))
            .with_state(receiver)
            .layer(middleware::from_fn_with_state(guard, named));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = connections::serve(listener, router) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(MetricsServer { address, sender, running: Some((stop, thread)) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts these in the place of those before.
    pub fn tell(&self, families: Arc<Families>) {
        self.sender.send_replace(families);
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

async fn metrics(State(receiver): State<watch::Receiver<Arc<Families>>>, headers: HeaderMap) -> Response {
    let families = receiver.borrow().clone();
    let answer = if wants_protobuf(&headers) {
        ([(CONTENT_TYPE, PROTOBUF_FORMAT)], families.protobuf()).into_response()
    } else {
        ([(CONTENT_TYPE, TEXT_FORMAT)], families.text()).into_response()
    };
    ([(VARY, "accept")], answer).into_response()
}

/// Whether the protobuf format is asked for by name, and nothing that takes in the text is liked better.
fn wants_protobuf(headers: &HeaderMap) -> bool {
    let (mut protobuf, mut text) = (0.0, 0.0);
    let ranges = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(','));
    for range in ranges {
        let mut words = range.split(';').map(|word| word.trim().to_ascii_lowercase());
        let kind = words.next().unwrap_or_default();
        let words: Vec<String> = words.map(|word| word.replace([' ', '"'], "")).collect();
        let liked: f64 = words.iter().find_map(|word| word.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
        let has = |word: &str| words.iter().any(|known| known == word);
        let delimited = has("proto=io.prometheus.client.metricfamily") && has("encoding=delimited");
        match kind.as_str() {
            "application/vnd.google.protobuf" if delimited => protobuf = liked.max(protobuf),
            "text/plain" | "text/*" | "*/*" => text = liked.max(text),
            _ => {}
        }
    }
    protobuf > 0.0 && protobuf >= text
}

async fn named(State(guard): State<Arc<Option<Guard>>>, request: Request, next: Next) -> Response {
    match guard.as_ref().as_ref().map(|guard| guard.knows(request.headers(), request.uri())) {
        Some(Err(_)) => (StatusCode::MISDIRECTED_REQUEST, "This server goes by another name.\n").into_response(),
        _ => next.run(request).await,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn wants(accept: &'static str) -> bool {
        wants_protobuf(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]))
    }

    #[test]
    fn protobuf_is_for_those_who_like_it_best() {
        let protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        // As Prometheus 2 and 3 ask, with native histograms and without.
        assert!(wants(
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,\
             application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,\
             text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
        ));
        assert!(wants(
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited;q=0.6,\
             text/plain;version=0.0.4;q=0.3"
        ));
        assert!(!wants("application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
        assert!(wants(protobuf));
        assert!(!wants(
            "text/plain, application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.5"
        ));
        assert!(!wants("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text"));
        assert!(!wants(
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0"
        ));
        assert!(!wants("*/*") && !wants("text/html") && !wants_protobuf(&HeaderMap::new()));
    }
}
