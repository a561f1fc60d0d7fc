//! A shard's connections, apart from its terminals: first come, first served.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use target::{Error, Session, Url};
use tokio::sync::oneshot;
use workload::tpcc::{Style, make_ready};

/// How long to wait between attempts to replace a lost connection: from the first to the longest.
const RECONNECT: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Connections of one shard. Whoever finds none idle waits in line.
#[derive(Debug)]
pub(crate) struct Pool {
    url: Url,
    style: Style,
    idle: RefCell<Vec<Session>>,
    waiting: RefCell<VecDeque<oneshot::Sender<Session>>>,
}

impl Pool {
    /// Connects `size` sessions and makes them ready for a style.
    pub(crate) async fn connect(url: &Url, size: u32, style: Style) -> Result<Rc<Self>, Error> {
        let mut idle = Vec::with_capacity(size as usize);
        for number in 1..=size {
            let session = open(url, style).await;
            idle.push(session.map_err(|e| e.context(format_args!("connection {number} of a thread's {size}")))?);
        }
        let (idle, waiting) = (RefCell::new(idle), RefCell::default());
        Ok(Rc::new(Self { url: url.clone(), style, idle, waiting }))
    }

    /// A session, at once or after all who came before.
    pub(crate) async fn take(&self) -> Session {
        loop {
            if let Some(session) = self.idle.borrow_mut().pop() {
                return session;
            }
            let (hand, mine) = oneshot::channel();
            self.waiting.borrow_mut().push_back(hand);
            if let Ok(session) = mine.await {
                return session;
            }
        }
    }

    /// Hands a session to the first in line, or lays it aside.
    pub(crate) fn give_back(&self, mut session: Session) {
        loop {
            let Some(first) = self.waiting.borrow_mut().pop_front() else { break };
            match first.send(session) {
                Ok(()) => return,
                // That one has stopped waiting.
                Err(back) => session = back,
            }
        }
        self.idle.borrow_mut().push(session);
    }

    /// Replaces a lost session, for as long as it takes.
    pub(crate) fn replace(self: &Rc<Self>) {
        let pool = self.clone();
        tokio::task::spawn_local(async move {
            let mut pause = RECONNECT.0;
            loop {
                match open(&pool.url, pool.style).await {
                    Ok(session) => return pool.give_back(session),
                    Err(e) => tracing::debug!("reconnecting: {e}"),
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(RECONNECT.1);
            }
        });
    }

    /// How many wait for a connection now.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.borrow().len()
    }
}

async fn open(url: &Url, style: Style) -> Result<Session, Error> {
    let mut session = Session::connect(url).await?;
    make_ready(&mut session, style).await?;
    Ok(session)
}
