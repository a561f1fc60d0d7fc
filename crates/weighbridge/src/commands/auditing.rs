//! Holding a run's ledger against the database, once that answers again.

use std::path::Path;
use std::time::{Duration, Instant};

use record::RecordError;
use record::audit::Audit;
use record::folder::ACKNOWLEDGED;
use target::{Class, Error, Gateways, Session};
use workload::tpcc::acknowledged::Acknowledged;
use workload::tpcc::audit::audit;

use super::{Failure, runtime};
use crate::interrupt;

/// How long a database may take to recover after the faults.
const RECOVERY: Duration = Duration::from_secs(180);

/// How long it may refuse what will not come right by waiting, such as a password: a server that starts may say so too.
const PERMANENT: Duration = Duration::from_secs(10);

/// How often it is asked.
const ASK: Duration = Duration::from_millis(500);

/// Between two looks at transactions of unknown outcome: a server's session may still be ending one.
const SETTLE: Duration = Duration::from_secs(2);

/// Looks at most, until two in succession agree.
const LOOKS: u32 = 5;

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

/// Waits until the database answers, and holds a run's ledger against it. What can't be done is an audit that failed:
/// the rest of the result stays.
pub(super) fn after_run(gateways: &Gateways, folder: &Path) -> Option<Audit> {
    let ledger = match ledger(folder) {
        Ok(ledger) => ledger?,
        Err(why) => return Some(could_not_be_done(why)),
    };
    let audited = await_recovery(gateways).and_then(|()| against(gateways, &ledger));
    Some(audited.unwrap_or_else(could_not_be_done))
}

fn could_not_be_done(why: Failure) -> Audit {
    let why = match why {
        Failure::Usage(why) | Failure::Failed(why) => why,
        Failure::OutputClosed => String::new(),
    };
    Audit { detail: format!("could not be done: {why}"), ..Audit::default() }
}

/// Holds a ledger against a database that is at rest.
pub(super) fn against(gateways: &Gateways, ledger: &Acknowledged) -> Result<Audit, Failure> {
    runtime()?.block_on(async {
        let mut session = Session::connect(gateways.living().await?.first()).await?;
        let mut found = audit(&mut session, ledger).await?;
        for _ in 1..LOOKS {
            if found.unknown.iter().all(|kind| kind.not_committed == 0) {
                break;
            }
            tokio::time::sleep(SETTLE).await;
            let before = std::mem::replace(&mut found, audit(&mut session, ledger).await?);
            if found == before {
                break;
            }
        }
        Ok(found)
    })
}

/// Waits until the database answers through one of its gateways.
pub(super) fn await_recovery(gateways: &Gateways) -> Result<(), Failure> {
    let begin = Instant::now();
    let stop = interrupt::stop();
    runtime()?.block_on(async {
        loop {
            let mut refusal = None;
            for url in gateways.urls() {
                match ask(url).await {
                    Ok(()) => return Ok(()),
                    Err(e) => refusal = Some(e),
                }
            }
            if let Some(e) = refusal {
                let limit = if e.class() == Class::Permanent { PERMANENT } else { RECOVERY };
                let waited = begin.elapsed();
                if waited > limit || *stop.borrow() {
                    let waited = waited.as_secs();
                    return Err(Failure::Failed(format!("the database did not recover within {waited} s: {e}")));
                }
            }
            tokio::time::sleep(ASK).await;
        }
    })
}

async fn ask(url: &target::Url) -> Result<(), Error> {
    let mut session = Session::connect(url).await?;
    session.query("SELECT COUNT(*) FROM warehouse", &[]).await.map(drop)
}
