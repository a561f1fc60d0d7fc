//! `weighbridge null-server`: a server without data on PostgreSQL's wire, to measure a client with its network path.

use stub::Server;
use target::null::Delay;
use workload::tpcc::null_server::answers;

use super::{Ended, Failure, Status, cores};
use crate::cli::NullServerArgs;
use crate::{interrupt, output};

/// The version in its greeting, whose protocol it speaks.
const GREETING: &str = "15.0 (weighbridge null-server)";

pub(crate) fn run(args: &NullServerArgs) -> Ended {
    let delay = Delay::new(args.latency, args.spread).map_err(|e| Failure::Usage(e.to_string()))?;
    let mut stop = interrupt::stop();
    let server = Server::start(args.listen, answers(args.warehouses), GREETING, delay, cores())
        .map_err(|e| Failure::Failed(format!("can't serve at {}: {e}", args.listen)))?;
    output::print(&format!("postgres://null@{}/null", server.address()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    // A signal came, or nobody can send one any more.
    let _ = runtime.block_on(stop.wait_for(|stop| *stop));
    Ok(Status::Done)
}
