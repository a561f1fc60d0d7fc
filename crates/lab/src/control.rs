//! Kept servers in hand: faults for them, and the way back.

use std::net::TcpStream;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;

use crate::galera::{BOOTSTRAP, allow_bootstrap};
use crate::site::{Site, once_let_go};
use crate::{Kind, LabError, Node, find, folder};

/// How long a server may take until it takes connections again, recovery included.
const RESTART: Duration = Duration::from_secs(120);

/// Kept servers, to be killed, stopped and started again. Whatever is done to them, they stay when this is dropped.
#[derive(Debug)]
pub struct Control {
    kind: Kind,
    site: Site,
    stopped: Mutex<StoppedNodes>,
    /// Held while it is decided which node begins a cluster anew, and by the one that does until it is up.
    beginning: Mutex<()>,
}

/// The servers that were brought down and are not back, in the order in which they fell.
#[derive(Debug, Default)]
struct StoppedNodes(Vec<usize>);

impl StoppedNodes {
    /// One that falls before it was back has learnt nothing: it keeps its place.
    fn add(&mut self, node: usize) {
        if !self.0.contains(&node) {
            self.0.push(node);
        }
    }

    fn remove(&mut self, node: usize) {
        self.0.retain(|other| *other != node);
    }

    /// Which of so many servers, all down, fell last: it alone has all that was acknowledged. `None` if any of them
    /// ended by itself, nobody knows when.
    fn last_of(&self, servers: usize) -> Option<usize> {
        self.0.last().copied().filter(|_| self.0.len() == servers)
    }

    /// All of so many servers, the last to fall first.
    fn way_back(&self, servers: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..servers).collect();
        order.sort_by_key(|node| std::cmp::Reverse(self.0.iter().position(|other| other == node)));
        order
    }
}

impl Control {
    /// Takes the servers of a kind below `base` in hand; `None` if there are none.
    ///
    /// # Errors
    /// As [`find`].
    pub fn of(kind: Kind, base: &Path) -> Result<Option<Self>, LabError> {
        let Some(found) = find(kind, base)? else { return Ok(None) };
        let site = Site::attach(found, &folder(kind, base))?;
        Ok(Some(Self { kind, site, stopped: Mutex::default(), beginning: Mutex::default() }))
    }

    /// The servers as they are now.
    pub fn nodes(&self) -> Vec<Node> {
        self.site.nodes()
    }

    /// Kills a server with SIGKILL, as a crash would.
    ///
    /// # Errors
    /// If it is not running.
    pub fn kill(&self, node: usize) -> Result<(), LabError> {
        // Held meanwhile, so that nobody sees it dead and not among the stopped.
        let mut stopped = lock(&self.stopped);
        self.site.kill(node)?;
        stopped.add(node);
        Ok(())
    }

    /// Stops every process of a server with SIGSTOP: it keeps its connections, and answers none of them.
    ///
    /// # Errors
    /// If it is not running.
    pub fn freeze(&self, node: usize) -> Result<(), LabError> {
        self.signal(node, Signal::STOP)
    }

    /// Lets a server go on after [`Control::freeze`].
    ///
    /// # Errors
    /// If it is not running.
    pub fn thaw(&self, node: usize) -> Result<(), LabError> {
        self.signal(node, Signal::CONT)
    }

    fn signal(&self, node: usize, signal: Signal) -> Result<(), LabError> {
        let node = self.site.node(node);
        let process = node.process.filter(crate::Process::is_alive).ok_or(LabError::NotRunning(node.name))?;
        process.signal_all(signal);
        Ok(())
    }

    /// The servers in the order in which they are to be started again: the last to fall comes first.
    pub fn way_back(&self) -> Vec<usize> {
        lock(&self.stopped).way_back(self.nodes().len())
    }

    /// Starts a server again on its address after it was killed, or stops it in order and starts it, and returns when it
    /// takes connections; it may still refuse them for its recovery. Of a Galera cluster that is down altogether the
    /// node that fell last begins it anew, from its own data.
    ///
    /// # Errors
    /// [`LabError::NotLast`] and [`LabError::NoLast`] for a node of Galera that would begin the cluster with data which
    /// may not be the latest; else what the server says.
    pub fn restart(&self, node: usize) -> Result<(), LabError> {
        // Two at once could both find no other alive.
        let deciding = lock(&self.beginning);
        self.stop(node);
        let Node { name, address, mut command, .. } = self.site.node(node);
        command.retain(|word| word != BOOTSTRAP);
        let begins = self.kind == Kind::Galera && self.nodes().iter().all(|node| !node.is_alive());
        let beginning = if begins {
            self.may_begin(node)?;
            allow_bootstrap(&self.site.folder().join(&name).join("data/grastate.dat"))?;
            command.push(BOOTSTRAP.to_owned());
            Some(deciding)
        } else {
            drop(deciding);
            None
        };
        // Those that join may come at the same time: some can't without each other.
        let Some((program, args)) = command.split_first() else { return Err(LabError::NotRunning(name)) };
        once_let_go(|| {
            let mut server = self.site.program(program);
            server.args(args);
            self.site.launch(node, address.clone(), self.kind.name(), server, RESTART, || {
                TcpStream::connect(&address).is_ok()
            })
        })?;
        lock(&self.stopped).remove(node);
        drop(beginning);
        Ok(())
    }

    /// Stops a server in order, if it runs.
    fn stop(&self, node: usize) {
        if self.site.node(node).is_alive() {
            let end = if self.kind == Kind::Postgres { Signal::INT } else { Signal::TERM };
            self.site.stop(node, end);
            lock(&self.stopped).add(node);
        }
    }

    /// Whether a node may begin anew the cluster that is down: the others will copy its data.
    fn may_begin(&self, node: usize) -> Result<(), LabError> {
        let nodes = self.nodes();
        let name = || nodes[node].name.clone();
        match lock(&self.stopped).last_of(nodes.len()) {
            Some(last) if last == node => Ok(()),
            Some(last) => Err(LabError::NotLast { name: name(), last: nodes[last].name.clone() }),
            None => Err(LabError::NoLast(name())),
        }
    }
}

/// A panic elsewhere must not keep servers from being brought back.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_to_fall_comes_back_first() {
        let mut stopped = StoppedNodes::default();
        stopped.add(0);
        stopped.add(2);
        assert_eq!((stopped.last_of(3), stopped.way_back(3)), (None, vec![2, 0, 1]), "one ended by itself");
        stopped.add(1);
        assert_eq!((stopped.last_of(3), stopped.way_back(3)), (Some(1), vec![1, 2, 0]));
        stopped.add(0);
        assert_eq!(stopped.last_of(3), Some(1), "it fell again before it was back");
        stopped.remove(0);
        stopped.add(0);
        assert_eq!((stopped.last_of(3), stopped.way_back(3)), (Some(0), vec![0, 1, 2]));
    }
}
