//! What a load asks of the cluster as a whole: how fast replicas may move, and that they come to rest.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use target::{Error, Session};

use super::{LoadError, LoadPlan, LoadProgress};

/// A setting of the cluster and the value that it had.
pub(super) struct PreviousSetting {
    setting: &'static str,
    value: String,
}

/// Sets the rate that was asked for. Returns what is to be put back.
pub(super) async fn raise_snapshot_rate(
    session: &mut Session,
    plan: &LoadPlan,
) -> Result<Option<PreviousSetting>, Error> {
    let (Some(setting), Some(rate)) = (session.dialect().snapshot_rate(), &plan.snapshot_rate) else {
        return Ok(None);
    };
    let value = session.query(&format!("SHOW CLUSTER SETTING {setting}"), &[]).await?.only()?.text(0)?.to_owned();
    set(session, setting, rate).await?;
    Ok(Some(PreviousSetting { setting, value }))
}

/// Puts back the rate that was there before the load.
pub(super) async fn restore_snapshot_rate(session: &mut Session, former: Option<PreviousSetting>) -> Result<(), Error> {
    match former {
        Some(PreviousSetting { setting, value }) => set(session, setting, &value).await,
        None => Ok(()),
    }
}

async fn set(session: &mut Session, setting: &str, value: &str) -> Result<(), Error> {
    session.execute(&format!("SET CLUSTER SETTING {setting} = '{}'", value.replace('\'', "''"))).await
}

/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Looks in a row that find nothing: stores report every ten seconds, so one alone says little.
const QUIET_LOOKS: u32 = 5;

/// Waits until nothing is to be moved any more.
pub(super) async fn settle(session: &mut Session, limit: Duration, progress: &LoadProgress) -> Result<(), LoadError> {
    let Some(unsettled) = session.dialect().unsettled() else { return Ok(()) };
    let started = Instant::now();
    let mut quiet = 0;
    loop {
        let open = session.query(unsettled, &[]).await.map_err(|e| e.context("asking what is still to be moved"))?;
        let open = open.only()?.big(0)?;
        quiet = if open == 0 { quiet + 1 } else { 0 };
        if quiet == QUIET_LOOKS {
            return Ok(());
        }
        if started.elapsed() >= limit {
            return Err(LoadError::Unsettled { open, limit });
        }
        if progress.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted);
        }
        progress.say(format!("replicas come to rest: {open} ranges still to be moved"));
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
