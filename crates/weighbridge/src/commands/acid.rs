//! `weighbridge acid`: the tests of clause 3.

use super::{Ended, Failure, durability};
use crate::cli::{AcidArgs, AcidCommand};

pub(crate) fn run(args: &AcidArgs) -> Ended {
    match &args.command {
        Some(AcidCommand::Durability(args)) => durability::run(args),
        None => Err(Failure::Usage("which test? `acid durability`".to_owned())),
    }
}
