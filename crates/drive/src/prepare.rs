//! Everything that is settled before a run: plan, gateways, connections, the state that it begins with.

use std::collections::BTreeMap;
use std::time::Duration;

use record::plan::{GatewayPlan, Pacing, Plan};
use target::{Description, Error, Session, Topology, Url, topology};
use workload::{RunRequest, Settled, Transactions, Workload, require_isolation};

use crate::assignment::{self, Gateway};
use crate::options::{Options, RunError};

/// How long reading the catalog may take; a cluster of many ranges is slow to answer.
const TOPOLOGY_LIMIT: Duration = Duration::from_secs(5);

/// A run that can start.
pub(crate) struct Prepared<T: Transactions> {
    pub(crate) transactions: T,
    pub(crate) description: Description,
    pub(crate) topology: Topology,
    /// The state before the run; none of a null target.
    pub(crate) before: Option<T::State>,
    pub(crate) plan: Plan,
    /// How the load placed the data.
    pub(crate) placement: BTreeMap<String, String>,
    pub(crate) gateways: Vec<Gateway>,
    /// The gateways of each thread's connections.
    pub(crate) gateway_of: Vec<Vec<usize>>,
}

/// Reads what was loaded, completes the plan, and makes the database ready.
pub(crate) async fn prepare<W: Workload>(
    workload: &W,
    options: &Options,
) -> Result<Prepared<W::Transactions>, RunError> {
    let dialect = options.gateways.dialect();
    workload.require(dialect)?;
    if let Some(isolation) = options.isolation {
        require_isolation(dialect, isolation)?;
    }
    let request = RunRequest {
        gateways: &options.gateways,
        isolation: options.isolation,
        pacing: options.pacing,
        worker: options.start.worker,
    };
    let mut session = Session::connect(options.gateways.first()).await?;
    session.see_all_commits().await?;
    let settled = workload.settle(&request, &mut session).await?;
    let Settled { transactions, description, mut plan, placement, keys, terminals } = settled;

    let gateways = assignment::gateways(&options.gateways, options.affinity, &keys).map_err(RunError::Usage)?;
    let connections = options.connections_for(keys.driven_count(), gateways.len()).map_err(RunError::Usage)?;
    // A terminal that waits needs no connection meanwhile, so the connections don't say how many terminals there are.
    let default_terminals = if plan.pacing == Pacing::None { Some(connections) } else { terminals };
    let terminals = options.terminals.or(default_terminals).ok_or_else(|| {
        RunError::Usage("this workload has keying or think times: say how many --terminals".to_owned())
    })?;
    options.complete(&mut plan, connections, terminals);
    transactions.note_nonstandard(&mut plan);
    let gateway_of = assignment::connections(plan.connections, gateways.len(), plan.threads as usize);
    if gateways.len() > 1 {
        plan.gateways = planned(&gateways, &gateway_of);
    }
    let before = transactions.begin(&mut session, &options.gateways, &mut plan).await?;
    let topology = topology_of(options.gateways.first()).await;
    Ok(Prepared { transactions, description, topology, before, plan, placement, gateways, gateway_of })
}

/// How the data lie, read in a session of its own that may be given up: a run doesn't fail for it.
async fn topology_of(url: &Url) -> Topology {
    let note = |note: String| Topology { notes: vec![note], ..Topology::default() };
    let read = async {
        let mut session = Session::connect(url).await?;
        Ok::<_, Error>(topology::read(&mut session).await)
    };
    match tokio::time::timeout(TOPOLOGY_LIMIT, read).await {
        Ok(Ok(topology)) => topology,
        Ok(Err(e)) => note(format!("not read: {e}")),
        Err(_) => note(format!("not read: it took more than {} s", TOPOLOGY_LIMIT.as_secs())),
    }
}

/// The gateways as the record keeps them.
fn planned(gateways: &[Gateway], gateway_of: &[Vec<usize>]) -> Vec<GatewayPlan> {
    let plan = |(index, gateway): (usize, &Gateway)| GatewayPlan {
        url: gateway.url.to_string(),
        connections: gateway_of.iter().flatten().filter(|assigned| **assigned == index).count() as u32,
        first_warehouse: *gateway.keys.start() as u32,
        warehouses: gateway.keys.clone().count() as u32,
    };
    gateways.iter().enumerate().map(plan).collect()
}
