//! Arguments of `targets`.

use clap::Args;

use super::JsonArgs;

#[derive(Debug, Args)]
pub(crate) struct TargetsArgs {
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}
