//! Stopping a session in the midst of a transaction, as the isolation tests ask for (3.4.2).

use tokio::sync::oneshot;

use crate::{Class, Error, StatementBatch};

/// Where a session stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Before the first batch with a statement of this name.
    Before(&'static str),
    /// Before COMMIT or ROLLBACK.
    End,
}

/// How a stopped session resumes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// As if nothing had been.
    Continue,
    /// With a ROLLBACK, whatever it was about to do.
    Rollback,
}

/// The session's end of a breakpoint: it stops there once.
#[derive(Debug)]
pub struct Breakpoint {
    stop: Stop,
    reached: oneshot::Sender<()>,
    go: oneshot::Receiver<Resume>,
}

/// The other end. Dropped, it sends the session back.
#[derive(Debug)]
pub struct Paused {
    reached: oneshot::Receiver<()>,
    go: oneshot::Sender<Resume>,
}

/// A breakpoint, and who opens it.
#[must_use]
pub fn breakpoint(stop: Stop) -> (Breakpoint, Paused) {
    let (reached, reaches) = oneshot::channel();
    let (go, resumes) = oneshot::channel();
    (Breakpoint { stop, reached, go: resumes }, Paused { reached: reaches, go })
}

impl Paused {
    /// Waits until the session pauses at the breakpoint. False if it ended before.
    pub async fn reached(&mut self) -> bool {
        (&mut self.reached).await.is_ok()
    }

    /// Opens the breakpoint.
    pub fn resume(self, go: Resume) {
        // The session may be gone.
        let _ = self.go.send(go);
    }
}

impl Breakpoint {
    pub(crate) fn is_at_end(&self) -> bool {
        self.stop == Stop::End
    }

    pub(crate) fn is_before(&self, batch: &StatementBatch<'_>) -> bool {
        let Stop::Before(name) = self.stop else { return false };
        batch.calls.iter().any(|call| call.statement.name == name)
    }

    /// Waits until the breakpoint opens.
    ///
    /// # Errors
    /// If the transaction is to go back.
    pub(crate) async fn pause(self) -> Result<(), Error> {
        let _ = self.reached.send(());
        match self.go.await {
            Ok(Resume::Continue) => Ok(()),
            Ok(Resume::Rollback) | Err(_) => Err(Error::new(Class::Permanent, None, "sent back at a breakpoint")),
        }
    }
}
