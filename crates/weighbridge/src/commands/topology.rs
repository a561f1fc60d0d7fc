//! `weighbridge topology`: how the data lie on the nodes.

use target::Session;

use super::{Ended, Failure, Status, gateways, require_data, require_file, runtime};
use crate::cli::TopologyArgs;

pub(crate) fn run(args: &TopologyArgs) -> Ended {
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "show")?;
    require_file(gateways.first())?;
    let topology = runtime()?.block_on(async {
        let mut session = Session::connect(gateways.living().await?.first()).await?;
        Ok::<_, Failure>(target::topology::read(&mut session).await)
    })?;
    let document = serde_json::to_value(&topology)?;
    args.json.print(|| document, || report::topology_table(&topology))?;
    Ok(Status::Done)
}
