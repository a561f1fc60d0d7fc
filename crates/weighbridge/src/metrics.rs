//! A run told to Prometheus while it goes.

use std::net::SocketAddr;

use drive::Second;
use serve::{MetricsServer, ServeError};

/// The metrics of a run, and where they are told.
pub(crate) struct Metrics {
    server: MetricsServer,
    metrics: report::Metrics,
}

impl Metrics {
    /// Begins to listen, and says where.
    pub(crate) fn start(listen: SocketAddr) -> Result<Self, ServeError> {
        let server = MetricsServer::start(listen)?;
        eprintln!("metrics: http://{}/metrics", server.address());
        Ok(Metrics { server, metrics: report::Metrics::default() })
    }

    pub(crate) fn second(&mut self, second: Second<'_>) {
        let Second { row, recorder, record, idle } = second;
        self.server.tell(self.metrics.second(row, recorder, record, idle));
    }
}
