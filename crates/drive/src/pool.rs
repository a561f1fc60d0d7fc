//! A shard's connections, apart from its terminals: first come, first served.

use std::cell::RefCell;
use std::collections::VecDeque;

use target::Session;
use tokio::sync::oneshot;

/// A session and its place among the gateways.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) session: Session,
    /// The gateway that it was dealt to.
    pub(crate) home: usize,
    /// The gateway that it goes through: another while its own is down.
    pub(crate) gateway: usize,
}

/// Connections of one shard. Whoever finds none idle waits in line: one line for all, or one a gateway.
#[derive(Debug)]
pub(crate) struct Pool {
    lines: Vec<RefCell<Line>>,
}

#[derive(Debug)]
struct Line {
    /// Idle connections by the gateway that they go through.
    idle: Vec<Vec<Connection>>,
    /// Where to look first, so that gateways are used by turns.
    turn: usize,
    waiting: VecDeque<oneshot::Sender<Connection>>,
}

impl Line {
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
    /// An empty pool with so many lines, for connections through so many gateways.
    pub(crate) fn new(lines: usize, gateways: usize) -> Self {
        let line = || Line { idle: (0..gateways).map(|_| Vec::new()).collect(), turn: 0, waiting: VecDeque::new() };
        Self { lines: (0..lines).map(|_| RefCell::new(line())).collect() }
    }

    /// A connection from a line, at once or after all who came before.
    pub(crate) async fn take(&self, line: usize) -> Connection {
        loop {
            if let Some(connection) = self.lines[line].borrow_mut().take_idle() {
                return connection;
            }
            let (hand, mine) = oneshot::channel();
            self.lines[line].borrow_mut().waiting.push_back(hand);
            if let Ok(connection) = mine.await {
                return connection;
            }
        }
    }

    /// Hands a connection to the first in its line, or lays it aside.
    pub(crate) fn give_back(&self, mut connection: Connection) {
        let mut line = self.line_of(connection.home).borrow_mut();
        while let Some(first) = line.waiting.pop_front() {
            match first.send(connection) {
                Ok(()) => return,
                // That one has stopped waiting.
                Err(back) => connection = back,
            }
        }
        let gateway = connection.gateway;
        line.idle[gateway].push(connection);
    }

    /// Takes an idle connection of `home` that goes through another gateway.
    pub(crate) fn take_stand_in(&self, home: usize) -> Option<Connection> {
        let mut line = self.line_of(home).borrow_mut();
        let others = line.idle.iter_mut().enumerate().filter(|(gateway, _)| *gateway != home);
        others.into_iter().find_map(|(_, idle)| {
            let at = idle.iter().position(|connection| connection.home == home)?;
            Some(idle.swap_remove(at))
        })
    }

    /// How many wait for a connection now.
    pub(crate) fn waiting(&self) -> usize {
        self.lines.iter().map(|line| line.borrow().waiting.len()).sum()
    }

    /// How many connections nobody uses now.
    pub(crate) fn idle(&self) -> usize {
        self.lines.iter().map(|line| line.borrow().idle.iter().map(Vec::len).sum::<usize>()).sum()
    }

    /// The only line, or that of a gateway's own connections.
    fn line_of(&self, home: usize) -> &RefCell<Line> {
        &self.lines[home % self.lines.len()]
    }
}
