//! Arguments of the metrics of a run.

use std::net::SocketAddr;

use clap::Args;

/// Who else looks on.
#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// Tell the run to Prometheus at this address while it goes, such as 127.0.0.1:9100; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
}
