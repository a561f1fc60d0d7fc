//! `weighbridge lab regions`: the lesson of the regions.

use super::{Ended, Failure};
use crate::cli::LabRegionsArgs;

pub(super) fn run(_args: &LabRegionsArgs) -> Ended {
    Err(Failure::Usage("soon".to_owned()))
}
