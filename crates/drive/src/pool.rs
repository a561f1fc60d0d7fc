//! A driver thread's connections, apart from its terminals: first come, first served.

use std::cell::RefCell;
use std::collections::VecDeque;

use target::Session;
use tokio::sync::oneshot;

/// A session and its place among the gateways.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) session: Session,
    /// The gateway that it was dealt to.
    pub(crate) assigned: usize,
    /// The gateway that it goes through: another while its own is down.
    pub(crate) gateway: usize,
}

/// Connections of one driver thread. A terminal that finds none idle waits: in one queue for all, or one per gateway.
#[derive(Debug)]
pub(crate) struct Pool {
    wait_queues: Vec<RefCell<WaitQueue>>,
}

#[derive(Debug)]
struct WaitQueue {
    /// Idle connections by the gateway that they go through.
    idle: Vec<Vec<Connection>>,
    /// Where to look first, so that gateways are used by turns.
    turn: usize,
    waiting: VecDeque<oneshot::Sender<Connection>>,
}

impl WaitQueue {
    fn take_idle(&mut self) -> Option<Connection> {
        let gateways = self.idle.len();
        for gateway in (self.turn..self.turn + gateways).map(|at| at % gateways) {
            if let Some(connection) = self.idle[gateway].pop() {
                self.turn = gateway + 1;
                return Some(connection);
            }
        }
        None
    }
}

impl Pool {
    /// An empty pool with so many wait queues, for connections through so many gateways.
    pub(crate) fn new(wait_queues: usize, gateways: usize) -> Self {
        let queue =
            || WaitQueue { idle: (0..gateways).map(|_| Vec::new()).collect(), turn: 0, waiting: VecDeque::new() };
        Self { wait_queues: (0..wait_queues).map(|_| RefCell::new(queue())).collect() }
    }

    /// A connection from a queue, at once or after all who came before.
    pub(crate) async fn take(&self, queue: usize) -> Connection {
        loop {
            if let Some(connection) = self.wait_queues[queue].borrow_mut().take_idle() {
                return connection;
            }
            let (hand, mine) = oneshot::channel();
            self.wait_queues[queue].borrow_mut().waiting.push_back(hand);
            if let Ok(connection) = mine.await {
                return connection;
            }
        }
    }

    /// Hands a connection to the first in its queue, or lays it aside.
    pub(crate) fn give_back(&self, mut connection: Connection) {
        let mut queue = self.queue_of(connection.assigned).borrow_mut();
        while let Some(first) = queue.waiting.pop_front() {
            match first.send(connection) {
                Ok(()) => return,
                // That one has stopped waiting.
                Err(back) => connection = back,
            }
        }
        let gateway = connection.gateway;
        queue.idle[gateway].push(connection);
    }

    /// Takes an idle connection of `assigned` that goes through another gateway.
    pub(crate) fn take_stand_in(&self, assigned: usize) -> Option<Connection> {
        let mut queue = self.queue_of(assigned).borrow_mut();
        let others = queue.idle.iter_mut().enumerate().filter(|(gateway, _)| *gateway != assigned);
        others.into_iter().find_map(|(_, idle)| {
            let at = idle.iter().position(|connection| connection.assigned == assigned)?;
            Some(idle.swap_remove(at))
        })
    }

    /// How many wait for a connection now.
    pub(crate) fn waiting(&self) -> usize {
        self.wait_queues.iter().map(|queue| queue.borrow().waiting.len()).sum()
    }

    /// How many connections nobody uses now.
    pub(crate) fn idle(&self) -> usize {
        self.wait_queues.iter().map(|queue| queue.borrow().idle.iter().map(Vec::len).sum::<usize>()).sum()
    }

    /// The only queue, or that of a gateway's own connections.
    fn queue_of(&self, assigned: usize) -> &RefCell<WaitQueue> {
        &self.wait_queues[assigned % self.wait_queues.len()]
    }
}
