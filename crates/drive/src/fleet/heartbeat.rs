//! What tells the other workers that this one lives: a row touched every two seconds, by a thread with a session of its
//! own, so that neither waits for the run's transactions nor they for it.

use std::thread::JoinHandle;
use std::time::Duration;

use target::{Error, Gateways, Session};
use tokio::sync::oneshot;
use workload::rendezvous::{self, Member, Phase};

/// Time between two beats.
const BEAT: Duration = Duration::from_secs(2);

/// How long the last word may take; a worker does not stay for it.
const LAST_WORD: Duration = Duration::from_secs(5);

/// Beats until it is dropped, which gives the worker's place up, or ended.
#[derive(Debug)]
pub(super) struct Heartbeat {
    /// Sent: the work is done. Dropped: the worker leaves.
    ended: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts to beat for `me`, who has a place.
    pub(super) fn start(gateways: Gateways, me: Member) -> std::io::Result<Self> {
        let (ended, end) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new()
            .name("heartbeat".to_owned())
            .spawn(move || runtime.block_on(beat(gateways, me, end)))?;
        Ok(Self { ended: Some(ended), thread: Some(thread) })
    }

    /// Says that the worker has done its work, and waits until that is said.
    pub(super) fn end(mut self) {
        if let Some(ended) = self.ended.take() {
            let _ = ended.send(());
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.ended = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn beat(gateways: Gateways, me: Member, mut end: oneshot::Receiver<()>) {
    let mut session = None;
    let ended = loop {
        let beat = async {
            tokio::time::sleep(BEAT).await;
            speak(&gateways, &mut session, &me, None).await
        };
        tokio::select! {
            ended = &mut end => break ended.is_ok(),
            // A database that is away for a while is no reason to end: what matters is seen at the end.
            told = beat => if let Err(e) = told {
                tracing::debug!("a beat was not heard: {e}");
                session = None;
            },
        }
    };
    // A beat may have been broken off in the middle, so this has a session of its own.
    let mut fresh = None;
    let last_word = speak(&gateways, &mut fresh, &me, Some(ended));
    match tokio::time::timeout(LAST_WORD, last_word).await {
        Ok(Ok(())) => {}
        Ok(Err(e)) => tracing::warn!("the other workers were not told of the end: {e}"),
        Err(_) => tracing::warn!("the other workers were not told of the end within {} s", LAST_WORD.as_secs()),
    }
}

/// Says that the worker lives; at the end that it has ended its work, or leaves.
async fn speak(
    gateways: &Gateways,
    session: &mut Option<Session>,
    me: &Member,
    ended: Option<bool>,
) -> Result<(), Error> {
    let session = match session {
        Some(session) => session,
        None => session.insert(Session::connect(gateways.living().await?.first()).await?),
    };
    match ended {
        None => rendezvous::be_seen(session, me).await,
        Some(true) => rendezvous::arrive(session, me, Phase::Ended).await,
        Some(false) => rendezvous::leave(session, me).await,
    }
}
