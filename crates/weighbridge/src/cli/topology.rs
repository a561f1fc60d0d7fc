//! Arguments of `topology`.

use clap::Args;

use super::{JsonArgs, TargetArgs};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge topology --url postgres://me@localhost/bench")]
pub(crate) struct TopologyArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
