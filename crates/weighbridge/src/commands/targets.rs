//! `weighbridge targets`: the databases, and what each can do, as their dialects declare it.

use report::{Capabilities, Target};
use target::placement::Spread;
use target::topology::TopologyQuery;
use target::{DATABASES, Dialect};
use workload::tpcc::Style;

use super::{Ended, Status};
use crate::cli::JsonArgs;

pub(crate) fn run(json: &JsonArgs) -> Ended {
    let targets: Vec<Target> = DATABASES.iter().map(|dialect| listed(*dialect)).collect();
    json.print(|| report::targets_json(&targets), || report::targets_table(&targets))?;
    Ok(Status::Done)
}

fn listed(dialect: &dyn Dialect) -> Target {
    let (verified, verified_with) = dialect.verified().said();
    let mut isolation = dialect.isolations().to_vec();
    isolation.sort_by_key(|level| *level != dialect.default_isolation());
    let unit = |look: &TopologyQuery| match look {
        TopologyQuery::Parts { unit, .. } => *unit,
        _ => None,
    };
    Target {
        name: dialect.name(),
        scheme: format!("{}:", dialect.name()),
        verified,
        verified_with,
        styles: Style::of(dialect).iter().map(ToString::to_string).collect(),
        capabilities: Capabilities {
            wire: dialect.wire().name(),
            bulk_path: dialect.wire().bulk_path(),
            spreading: dialect.spreads().iter().copied().map(Spread::name).collect(),
            isolation: isolation.iter().map(ToString::to_string).collect(),
            topology: dialect.topology().iter().filter_map(unit).collect(),
            plans: dialect.explain().map(|explain| explain.run),
            judged_settings: dialect.judged_settings().len(),
        },
    }
}
