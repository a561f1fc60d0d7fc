//! A run told to others while it goes: to whoever asks, and to a collector.

use std::sync::Arc;

use drive::Second;
use serve::MetricsServer;

use crate::cli::MetricsArgs;
use crate::commands::Failure;
use crate::otlp::Exporter;

/// The metrics of a run, and where they are told.
pub(crate) struct Metrics {
    server: Option<MetricsServer>,
    exporter: Option<Exporter>,
    metrics: report::Metrics,
}

impl Metrics {
    /// Begins to tell what was asked for, and says where it can be had; `None` if nothing was asked for.
    ///
    /// # Errors
    /// If an address can't be had or used.
    pub(crate) fn start(args: &MetricsArgs) -> Result<Option<Self>, Failure> {
        let exporter = args.otlp.as_deref().map(Exporter::start).transpose().map_err(Failure::Usage)?;
        let server = args.metrics.map(MetricsServer::start).transpose()?;
        if let Some(server) = &server {
            say!("metrics: http://{}/metrics", server.address());
        }
        let wanted = exporter.is_some() || server.is_some();
        Ok(wanted.then(|| Metrics { server, exporter, metrics: report::Metrics::default() }))
    }

    pub(crate) fn second(&mut self, second: Second<'_>) {
        let Second { row, recorder, record, idle } = second;
        let families = Arc::new(self.metrics.second(row, recorder, record, idle));
        if let Some(exporter) = &mut self.exporter {
            exporter.tell(families.clone(), &record.target);
        }
        if let Some(server) = &self.server {
            server.tell(families);
        }
    }
}
