//! Arguments of `null-server`.

use std::time::Duration;

use clap::Args;

use super::warehouse_count;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge null-server --warehouses 10000 &\n  \
    weighbridge run --url postgres://null@127.0.0.1:5439/null --style pipeline")]
pub(crate) struct NullServerArgs {
    /// Where to listen; port 0 takes any that is free. The URL is the first line of standard output
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5439")]
    pub(crate) listen: std::net::SocketAddr,
    /// Warehouses of which it says that they are loaded
    #[arg(long, short = 'w', value_name = "N", default_value_t = 100, value_parser = warehouse_count::<i32>())]
    pub(crate) warehouses: i32,
    /// How long each round trip takes besides, such as 5ms
    #[arg(long, value_name = "TIME", value_parser = target::null::parse_delay, default_value = "0s")]
    pub(crate) latency: Duration,
    /// At most this much less or more
    #[arg(long, value_name = "TIME", value_parser = target::null::parse_delay, default_value = "0s")]
    pub(crate) spread: Duration,
}
