use super::{Ended, Failure, Status};
pub(crate) fn run(_: &crate::cli::CheckArgs) -> Ended {
    Ok(Status::Done)
}
pub(super) fn after_run(_: &target::Url, _: &record::Plan) -> Result<Vec<record::run::CheckResult>, Failure> {
    Ok(vec![])
}
