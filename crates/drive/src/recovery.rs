//! Waiting until a database answers again, and auditing a run's ledger in it.

use std::path::Path;
use std::time::{Duration, Instant};

use record::RecordError;
use record::audit::Audit;
use record::folder::ACKNOWLEDGED;
use target::{Class, Error, Gateways, Session};
use workload::Workload;

use crate::options::{RunError, Stop, runtime};

/// How long a database may take to recover after faults.
const RECOVERY_LIMIT: Duration = Duration::from_secs(180);

/// How long a refusal that waiting does not mend, such as a wrong password, is taken for part of a start.
const REFUSAL_LIMIT: Duration = Duration::from_secs(10);

/// Pause between two attempts to reach the database.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Pause between two audits of unknown outcomes: a server session may still be ending one.
const SETTLE_INTERVAL: Duration = Duration::from_secs(2);

/// Audits at most, until two in succession agree.
const MAX_AUDITS: u32 = 5;

/// Reads a run's ledger file; `None` if the run has none, as on a null target.
///
/// # Errors
/// If the file can't be read, or is not a ledger of the workload.
pub fn read_ledger<W: Workload>(workload: &W, folder: &Path) -> Result<Option<Vec<u8>>, RunError> {
    let path = folder.join(ACKNOWLEDGED);
    if !path.exists() {
        return Ok(None);
    }
    let ledger = std::fs::read(&path).map_err(|e| RecordError::io("read", &path, e))?;
    workload.check_ledger(&ledger).map_err(|why| RunError::NotLoaded(format!("{}: {why}", path.display())))?;
    Ok(Some(ledger))
}

/// Waits until the database answers, and audits the run's ledger. An audit that can't be done has failed: the rest of
/// the result stays.
pub(crate) fn audit_after_run<W: Workload>(
    workload: &W,
    gateways: &Gateways,
    folder: &Path,
    stop: &Stop,
) -> Option<Audit> {
    let ledger = match read_ledger(workload, folder) {
        Ok(ledger) => ledger?,
        Err(why) => return Some(not_done(&why.to_string())),
    };
    let audited = await_recovery(workload, gateways, stop).and_then(|()| audit_ledger(workload, gateways, &ledger));
    Some(audited.unwrap_or_else(|why| not_done(&why.to_string())))
}

fn not_done(why: &str) -> Audit {
    Audit { detail: format!("could not be done: {why}"), ..Audit::default() }
}

/// Audits a ledger in a database that is at rest.
///
/// # Errors
/// If the database refuses.
pub fn audit_ledger<W: Workload>(workload: &W, gateways: &Gateways, ledger: &[u8]) -> Result<Audit, RunError> {
    runtime()?.block_on(async {
        let mut session = Session::connect(gateways.living().await?.first()).await?;
        let mut found = workload.audit(&mut session, ledger).await?;
        for _ in 1..MAX_AUDITS {
            if found.unknown.iter().all(|kind| kind.not_committed == 0) {
                break;
            }
            tokio::time::sleep(SETTLE_INTERVAL).await;
            let before = std::mem::replace(&mut found, workload.audit(&mut session, ledger).await?);
            if found == before {
                break;
            }
        }
        Ok(found)
    })
}

/// Waits until the database answers through one of its gateways.
///
/// # Errors
/// If it does not within three minutes, or if `stop` ends the wait.
pub fn await_recovery<W: Workload>(workload: &W, gateways: &Gateways, stop: &Stop) -> Result<(), RunError> {
    let begin = Instant::now();
    runtime()?.block_on(async {
        loop {
            let mut refusal = None;
            for url in gateways.urls() {
                match probe(workload, url).await {
                    Ok(()) => return Ok(()),
                    Err(e) => refusal = Some(e),
                }
            }
            if let Some(e) = refusal {
                let limit = if e.class() == Class::Permanent { REFUSAL_LIMIT } else { RECOVERY_LIMIT };
                let waited = begin.elapsed();
                if waited > limit || *stop.borrow() {
                    let waited = waited.as_secs();
                    return Err(RunError::Machine(format!("the database did not recover within {waited} s: {e}")));
                }
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    })
}

async fn probe<W: Workload>(workload: &W, url: &target::Url) -> Result<(), Error> {
    workload.probe(&mut Session::connect(url).await?).await
}
