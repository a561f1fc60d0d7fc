//! Kept servers in hand: faults for them, and the way back.

use std::net::TcpStream;
use std::path::Path;
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
}

impl Control {
    /// Takes the servers of a kind below `base` in hand; `None` if there are none.
    ///
    /// # Errors
    /// As [`find`].
    pub fn of(kind: Kind, base: &Path) -> Result<Option<Self>, LabError> {
        let Some(found) = find(kind, base)? else { return Ok(None) };
        Ok(Some(Self { kind, site: Site::attach(found, &folder(kind, base))? }))
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
        self.site.kill(node)
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

    /// Starts a server again on its address after it was killed, or stops it in order and starts it, and returns when it
    /// takes connections; it may still refuse them for its recovery. A node of Galera that finds no other alive begins
    /// the cluster anew from its own data.
    ///
    /// # Errors
    /// What the server says.
    pub fn restart(&self, node: usize) -> Result<(), LabError> {
        let end = if self.kind == Kind::Postgres { Signal::INT } else { Signal::TERM };
        self.site.stop(node, end);
        let Node { name, address, mut command, .. } = self.site.node(node);
        if self.kind == Kind::Galera {
            command.retain(|word| word != BOOTSTRAP);
            if self.nodes().iter().all(|node| !node.is_alive()) {
                allow_bootstrap(&self.site.folder().join(&name).join("data/grastate.dat"))?;
                command.push(BOOTSTRAP.to_owned());
            }
        }
        let Some((program, args)) = command.split_first() else { return Err(LabError::NotRunning(name)) };
        once_let_go(|| {
            let mut server = self.site.program(program);
            server.args(args);
            self.site.launch(node, address.clone(), self.kind.name(), server, RESTART, || {
                TcpStream::connect(&address).is_ok()
            })
        })
    }
}
