//! Holding a run's ledger against the database, once that answers again.

use std::path::Path;
use std::time::{Duration, Instant};

use record::RecordError;
use record::audit::Audit;
use record::folder::ACKNOWLEDGED;
use target::{Error, Gateways, Session};
use workload::tpcc::acknowledged::Acknowledged;
use workload::tpcc::audit::audit;

use super::{Failure, runtime};

/// How long a database may take to recover after the faults.
const RECOVERY: Duration = Duration::from_secs(180);

/// How often it is asked.
const ASK: Duration = Duration::from_millis(500);

/// Reads a run's ledger; `None` if the run has none, as on a target without data.
pub(super) fn ledger(folder: &Path) -> Result<Option<Acknowledged>, Failure> {
    let path = folder.join(ACKNOWLEDGED);
    if !path.exists() {
        return Ok(None);
    }
    let bytes = std::fs::read(&path).map_err(|e| RecordError::io("read", &path, e))?;
    let ledger = Acknowledged::parse(&bytes).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
    Ok(Some(ledger))
}

/// Holds a ledger against a database that is at rest.
pub(super) fn against(gateways: &Gateways, ledger: &Acknowledged) -> Result<Audit, Failure> {
    runtime()?.block_on(async {
        let mut session = Session::connect(gateways.living().await?.first()).await?;
        Ok(audit(&mut session, ledger).await?)
    })
}

/// Waits until the database answers through one of its gateways.
pub(super) fn await_recovery(gateways: &Gateways) -> Result<(), Failure> {
    let give_up = Instant::now() + RECOVERY;
    runtime()?.block_on(async {
        loop {
            let mut refusal = None;
            for url in gateways.urls() {
                match ask(url).await {
                    Ok(()) => return Ok(()),
                    Err(e) => refusal = Some(e),
                }
            }
            match refusal {
                Some(e) if Instant::now() > give_up => {
                    let limit = RECOVERY.as_secs();
                    return Err(Failure::Failed(format!("the database did not recover within {limit} s: {e}")));
                }
                _ => tokio::time::sleep(ASK).await,
            }
        }
    })
}

async fn ask(url: &target::Url) -> Result<(), Error> {
    let mut session = Session::connect(url).await?;
    session.query("SELECT COUNT(*) FROM warehouse", &[]).await.map(drop)
}
