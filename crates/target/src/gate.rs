//! Stopping a session in the midst of a transaction, as the isolation tests ask for (3.4.2).

use tokio::sync::oneshot;

use crate::{Class, Error, Wave};

/// Where a session stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Before the first wave with a statement of this name.
    Before(&'static str),
    /// Before COMMIT or ROLLBACK.
    End,
}

/// How a stopped session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// As if nothing had been.
    On,
    /// With a ROLLBACK, whatever it was about to do.
    Back,
}

/// The session's end of a gate: it stops there once.
#[derive(Debug)]
pub struct Gate {
    stop: Stop,
    reached: oneshot::Sender<()>,
    go: oneshot::Receiver<Go>,
}

/// The other end. Dropped, it sends the session back.
#[derive(Debug)]
pub struct Held {
    reached: oneshot::Receiver<()>,
    go: oneshot::Sender<Go>,
}

/// A gate, and who opens it.
#[must_use]
pub fn gate(stop: Stop) -> (Gate, Held) {
    let (reached, reaches) = oneshot::channel();
    let (go, goes) = oneshot::channel();
    (Gate { stop, reached, go: goes }, Held { reached: reaches, go })
}

impl Held {
    /// Waits until the session stands there. False if it ended before.
    pub async fn reached(&mut self) -> bool {
        (&mut self.reached).await.is_ok()
    }

    /// Opens the gate.
    pub fn let_go(self, go: Go) {
        // A session that is gone has nothing to be told.
        let _ = self.go.send(go);
    }
}

impl Gate {
    pub(crate) fn is_at_end(&self) -> bool {
        self.stop == Stop::End
    }

    pub(crate) fn is_before(&self, wave: &Wave<'_>) -> bool {
        let Stop::Before(name) = self.stop else { return false };
        wave.calls.iter().any(|call| call.statement.name == name)
    }

    /// Stands there until the gate opens.
    ///
    /// # Errors
    /// If the transaction is to go back.
    pub(crate) async fn stand(self) -> Result<(), Error> {
        let _ = self.reached.send(());
        match self.go.await {
            Ok(Go::On) => Ok(()),
            Ok(Go::Back) | Err(_) => Err(Error::new(Class::Permanent, None, "sent back at a gate")),
        }
    }
}
