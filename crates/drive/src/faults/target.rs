//! Where faults are made: the servers of a lab, which can be killed, and the network before any server.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lab::{Control, DATABASE, Kind, Proxy};
use target::Gateways;

use super::{Action, Fault, FaultError, Notify, Role, UserCommand};

/// The servers of a run under faults.
#[derive(Debug)]
pub struct FaultTarget {
    /// The gateways to drive, through the proxies.
    pub gateways: Gateways,
    /// Names by which a node is called, in the order of the nodes.
    names: Vec<Vec<String>>,
    control: Option<Control>,
    /// One a node, or none where the network is left alone.
    proxies: Vec<Proxy>,
    /// What starts again a database that the user's own command crashes.
    restart_command: Option<UserCommand>,
    /// Whether the database is down by that command.
    crashed: AtomicBool,
}

impl FaultTarget {
    /// The kept servers of a kind, reached through proxies if the faults need them.
    ///
    /// # Errors
    /// If no such server is kept, if one is not running, or if a fault can't be made there.
    pub fn lab(kind: Kind, base: &Path, faults: &[Fault]) -> Result<Self, FaultError> {
        let control = Control::of(kind, base)?;
        let me = std::env::args().next().unwrap_or_else(|| "weighbridge".to_owned());
        let control = control.ok_or_else(|| {
            FaultError::Failed(format!("there is no {kind} in {}: `{me} lab up {kind}` starts one", base.display()))
        })?;
        let nodes = control.nodes();
        if let Some(dead) = nodes.iter().find(|node| !node.is_alive()) {
            return Err(FaultError::Failed(format!("`{}` of {kind} is not running: see `{me} lab status`", dead.name)));
        }
        let names = (1..).zip(&nodes).map(|(at, node)| vec![node.name.clone(), format!("node{at}"), at.to_string()]);
        let names: Vec<Vec<String>> = names.collect();
        // Only the first takes writes where the others are its standbys.
        let driven = if kind == Kind::Postgres { &nodes[..1] } else { &nodes[..] };
        let addresses: Vec<String> = driven.iter().map(|node| node.address.clone()).collect();
        let (proxies, addresses) = behind_proxies(&addresses, faults)?;
        let urls: Vec<String> = addresses.iter().map(|address| kind.url(address, DATABASE)).collect();
        let gateways = Gateways::parse(&urls).map_err(|e| FaultError::Usage(e.to_string()))?;
        Self::new(gateways, names, Some(control), proxies, faults)
    }

    /// Whatever is behind URLs, reached through proxies if the faults need them.
    ///
    /// # Errors
    /// If the URLs can't be read, or if a fault can't be made there.
    pub fn from_urls(urls: &[String], faults: &[Fault]) -> Result<Self, FaultError> {
        let usage = |e: target::UrlError| FaultError::Usage(e.to_string());
        let mut gateways = Gateways::parse(urls).map_err(usage)?;
        let names = (1..=gateways.urls().len()).map(|at| vec![format!("node{at}"), at.to_string()]).collect();
        let mut proxies = Vec::new();
        if faults.iter().any(|fault| fault.action.needs_proxy()) {
            if urls.len() != gateways.urls().len() {
                return Err(FaultError::Usage(
                    "with faults of the network give each URL a --url of its own".to_owned(),
                ));
            }
            let hosts: Option<Vec<HostInUrl>> =
                urls.iter().zip(gateways.urls()).map(|(text, url)| HostInUrl::parse(text, url)).collect();
            let hosts =
                hosts.ok_or_else(|| FaultError::Usage(format!("there is no network to be cut before {gateways}")))?;
            let addresses: Vec<String> = hosts.iter().map(|host| host.address.clone()).collect();
            let (made, through) = behind_proxies(&addresses, faults)?;
            let urls: Vec<String> = hosts.iter().zip(&through).map(|(host, address)| host.through(address)).collect();
            gateways = Gateways::parse(&urls).map_err(usage)?;
            proxies = made;
        }
        Self::new(gateways, names, None, proxies, faults)
    }

    fn new(
        gateways: Gateways,
        names: Vec<Vec<String>>,
        control: Option<Control>,
        proxies: Vec<Proxy>,
        faults: &[Fault],
    ) -> Result<Self, FaultError> {
        let restart_command = faults.iter().find_map(|fault| match &fault.action {
            Action::Command(command) if command.role == Role::Restart => Some(command.clone()),
            _ => None,
        });
        Self { gateways, names, control, proxies, restart_command, crashed: AtomicBool::new(false) }.fit_for(faults)
    }

    /// Refuses faults that can't be made here, before anything is touched.
    fn fit_for(self, faults: &[Fault]) -> Result<Self, FaultError> {
        for Fault { action, .. } in faults {
            if action.needs_server() && self.control.is_none() {
                return Err(FaultError::Usage(format!(
                    "`{action}` needs a server of `lab` (--lab KIND); elsewhere use `command '...'`"
                )));
            }
            let Some(name) = action.node() else { continue };
            let known = if action.needs_proxy() { &self.names[..self.proxies.len()] } else { &self.names[..] };
            if self.node(name).is_none_or(|node| node >= known.len()) {
                let known: Vec<&str> = known.iter().map(|names| names[0].as_str()).collect();
                return Err(FaultError::Usage(format!("`{action}`: there is no `{name}`, only {}", known.join(", "))));
            }
        }
        Ok(self)
    }

    fn node(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|names| names.iter().any(|one| one == name))
    }

    /// Does it, and returns when it is done.
    pub(super) fn act(&self, action: &Action) -> Result<(), String> {
        // Both were made sure of.
        let node = action.node().and_then(|name| self.node(name)).unwrap_or_default();
        let control = || self.control.as_ref().ok_or_else(|| "no server of `lab`".to_owned());
        let proxy = || self.proxies.get(node).ok_or_else(|| "no proxy".to_owned());
        let done = match action {
            Action::Kill(_) => control()?.kill(node),
            Action::Stop(_) => control()?.freeze(node),
            Action::Continue(_) => control()?.thaw(node),
            Action::Restart(_) => control()?.restart(node),
            Action::Cut(_) => return proxy().map(Proxy::cut),
            Action::Heal(_) => return proxy().map(Proxy::heal),
            Action::Reset(_) => return proxy().map(Proxy::reset),
            Action::Delay(_, delay) => return proxy().map(|proxy| proxy.delay(*delay)),
            Action::Command(command) => return self.run(command),
        };
        done.map_err(|e| e.to_string())
    }

    fn run(&self, command: &UserCommand) -> Result<(), String> {
        // However it ends, from its beginning on it may have done its work.
        if command.role == Role::Crash {
            self.crashed.store(true, Ordering::SeqCst);
        }
        shell(&command.text)?;
        if command.role == Role::Restart {
            self.crashed.store(false, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Ends what the faults have left behind: servers of a lab run again, what the user's command has crashed is started
    /// by the user's other one unless that has succeeded already, and the network is whole. What fails keeps
    /// nothing else from being done; the first failure is told.
    pub(crate) fn restore(&self, notify: &Notify) -> Result<(), FaultError> {
        self.proxies.iter().for_each(Proxy::heal);
        if let Some(command) = self.restart_command.as_ref().filter(|_| self.crashed.load(Ordering::SeqCst)) {
            notify(&format!("running {command}"));
            self.run(command).map_err(|why| FaultError::Failed(format!("{command} failed: {why}")))?;
        }
        let Some(control) = &self.control else { return Ok(()) };
        let nodes = control.nodes();
        let (frozen, dead): (Vec<usize>, Vec<usize>) =
            control.way_back().into_iter().partition(|node| nodes[*node].is_alive());
        // A dead one may need the others for its start.
        let mut ended: Vec<_> = frozen.into_iter().map(|node| control.thaw(node)).collect();
        for node in dead {
            notify(&format!("starting {} again", nodes[node].name));
            ended.push(control.restart(node));
        }
        Ok(ended.into_iter().collect::<Result<(), _>>()?)
    }
}

/// A proxy before each address, if the faults need any, and the addresses to use.
fn behind_proxies(addresses: &[String], faults: &[Fault]) -> Result<(Vec<Proxy>, Vec<String>), FaultError> {
    if !faults.iter().any(|fault| fault.action.needs_proxy()) {
        return Ok((Vec::new(), addresses.to_vec()));
    }
    let proxies = addresses.iter().map(|address| Proxy::to(address)).collect::<std::io::Result<Vec<_>>>()?;
    let through = proxies.iter().map(|proxy| proxy.address().to_string()).collect();
    Ok((proxies, through))
}

/// A URL cut around its host and port.
struct HostInUrl {
    before: String,
    address: String,
    after: String,
}

impl HostInUrl {
    /// `None` if the URL has no single host.
    fn parse(text: &str, url: &target::Url) -> Option<Self> {
        fn cut(text: &str) -> Option<(&str, &str, &str)> {
            let (scheme, rest) = text.split_once("://")?;
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
            let start = scheme.len() + 3;
            Some((&text[..start + host], &rest[host..end], &rest[end..]))
        }
        let (before, host, after) = cut(text)?;
        // As it is shown it always has a port.
        let shown = url.to_string();
        let (_, address, _) = cut(&shown)?;
        (!host.is_empty() && !host.contains(',')).then(|| Self {
            before: before.to_owned(),
            address: address.to_owned(),
            after: after.to_owned(),
        })
    }

    fn through(&self, address: &str) -> String {
        format!("{}{address}{}", self.before, self.after)
    }
}

/// How long a user's command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(600);

/// Runs a command by the shell; what it prints goes to standard error.
fn shell(command: &str) -> Result<(), String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(std::io::stderr());
    let mut child = shell.spawn().map_err(|e| e.to_string())?;
    let give_up = Instant::now() + COMMAND_LIMIT;
    loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(status.to_string()),
            None if Instant::now() > give_up => {
                let _ = child.kill();
                return Err(format!("it had not ended after {} s", COMMAND_LIMIT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_all_but_its_host() {
        for (text, address, through) in [
            ("postgres://me:a%40b@db/bench?sslmode=disable", "db:5432", "postgres://me:a%40b@X/bench?sslmode=disable"),
            ("mariadb://me@db:3307/bench", "db:3307", "mariadb://me@X/bench"),
            ("mysql://me@[::1]/bench", "[::1]:3306", "mysql://me@X/bench"),
        ] {
            let host = HostInUrl::parse(text, &target::Url::parse(text).unwrap()).unwrap();
            assert_eq!((host.address.as_str(), host.through("X").as_str()), (address, through));
        }
        for none in ["sqlite:a.db", "postgres://a,b/bench"] {
            assert!(HostInUrl::parse(none, &target::Url::parse(none).unwrap()).is_none(), "{none}");
        }
    }

    #[test]
    fn faults_are_refused_where_they_cannot_be_made() {
        let refused = |urls: &[&str], fault: &str| {
            let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
            match FaultTarget::from_urls(&urls, &[fault.parse().unwrap()]) {
                Err(FaultError::Usage(message)) => message,
                other => panic!("{fault}: {other:?}"),
            }
        };
        assert!(refused(&["postgres://me@a/db"], "1s kill node1").contains("--lab"));
        assert!(refused(&["postgres://me@a/db"], "1s cut node2").contains("no `node2`"));
        assert!(refused(&["sqlite:a.db"], "1s cut node1").contains("no network"));
        assert!(refused(&["postgres://me@a/db,postgres://me@b/db"], "1s cut node1").contains("--url"));
    }
}
