//! Arguments of the metrics of a run.

use std::net::SocketAddr;

use clap::Args;

/// Who else looks on.
#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// Tell the run to Prometheus at this address while it goes, such as 127.0.0.1:9100; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Export the metrics of the run by OpenTelemetry's protocol (HTTP) while it goes [default URL: that of
    /// OTEL_EXPORTER_OTLP_ENDPOINT, or http://127.0.0.1:4318]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    pub(crate) otlp: Option<String>,
}
