//! The same data before each run of a series.

use std::process::{Command, Stdio};

use target::snapshot::Snapshot;
use target::{Error, Gateways, Session};
use workload::tpcc::catalog::Catalog;

use super::step::Step;
use super::{Failure, runtime};
use crate::cli::{Restore, RestoreArgs};

/// One database whose data are brought back to the same state.
pub(super) struct Keeper {
    name: String,
    urls: Vec<String>,
    how: Restore,
    load_with: Vec<String>,
    command: Option<String>,
    snapshot: Option<Snapshot>,
    /// Warehouses that were loaded at first.
    loaded: Option<u32>,
}

impl Keeper {
    /// Settles how, for the database at `urls`.
    ///
    /// # Errors
    /// A way that the database doesn't have; none asked for where it has no cheap one.
    pub(super) fn new(name: &str, urls: &[String], args: &RestoreArgs) -> Result<Self, Failure> {
        let gateways = Gateways::parse(urls).map_err(|e| Failure::Usage(e.to_string()))?;
        let snapshot = Snapshot::of(gateways.first());
        let how = match args.restore {
            Some(Restore::Snapshot) if snapshot.is_none() => {
                return Err(Failure::Usage(format!("--restore snapshot: {gateways} has none; {CHOICE}")));
            }
            Some(how) => how,
            None if !gateways.dialect().stores_data() => Restore::None,
            None if snapshot.is_some() => Restore::Snapshot,
            None => {
                return Err(Failure::Usage(format!(
                    "{gateways} has no snapshot to bring the data back to the same state before each run: {CHOICE}"
                )));
            }
        };
        let idle = [
            ("--restore-command", args.restore_command.is_some(), Restore::Command),
            ("--load-with", args.load_with.is_some(), Restore::Reload),
        ];
        if let Some((flag, _, with)) = idle.into_iter().find(|(_, given, with)| *given && *with != how) {
            return Err(Failure::Usage(format!("{flag} goes with --restore {}, not {}", with.name(), how.name())));
        }
        let load_with = args.load_with.iter().flat_map(|flags| flags.split_whitespace()).map(str::to_owned).collect();
        Ok(Self {
            name: name.to_owned(),
            urls: urls.to_vec(),
            how,
            load_with,
            command: args.restore_command.clone(),
            snapshot: snapshot.filter(|_| how == Restore::Snapshot),
            loaded: None,
        })
    }

    /// Looks at the data before the first run, and tells which they are: what must be the same when the series goes on.
    ///
    /// # Errors
    /// No data, or fewer warehouses than are to be driven; a snapshot that an earlier series has left, unless this one
    /// goes on with it.
    pub(super) fn examine(&mut self, most: Option<u32>, resumed: bool) -> Result<String, Failure> {
        let gateways = Gateways::parse(&self.urls).map_err(|e| Failure::Usage(e.to_string()))?;
        if !gateways.dialect().stores_data() {
            return Ok(gateways.to_string());
        }
        if self.how == Restore::Reload && most.is_some() {
            return Ok(gateways.to_string());
        }
        super::require_file(gateways.first())?;
        let catalog = runtime()?.block_on(async {
            Ok::<_, Failure>(Catalog::read_complete(&mut Session::connect(gateways.first()).await?).await?)
        })?;
        let loaded = catalog.warehouses.unsigned_abs();
        self.loaded = Some(loaded);
        if let Some(most) = most.filter(|most| *most > loaded && matches!(self.how, Restore::Snapshot | Restore::None))
        {
            return Err(Failure::Usage(format!(
                "{}{most} warehouses were asked for, but only {loaded} are loaded: ask for fewer, or load more",
                self.prefix()
            )));
        }
        if let Some(snapshot) = self.snapshot.as_ref().filter(|_| !resumed)
            && runtime()?.block_on(snapshot.is_there())?
        {
            return Err(Failure::Failed(format!(
                "{}an earlier series has left its snapshot, {snapshot}: go on with that one (--resume), or remove it",
                self.prefix()
            )));
        }
        // A load anew has a date of its own each time.
        let load = match self.how {
            Restore::Reload => String::new(),
            _ => {
                let date = jiff::Timestamp::from_microsecond(catalog.load_time_us)
                    .map_or_else(|_| catalog.load_time_us.to_string(), |date| date.to_string());
                format!(", {loaded} warehouses loaded with seed {} and dated {date}", catalog.seed)
            }
        };
        Ok(format!("{gateways}{load}"))
    }

    /// How it is done, as the folder keeps it.
    pub(super) fn how(&self) -> Restore {
        self.how
    }

    /// Goes on with a snapshot that an interrupted series has left.
    ///
    /// # Errors
    /// If it is gone: the state that the first runs had can't be had again.
    pub(super) fn resume(&self) -> Result<(), Failure> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        match runtime()?.block_on(snapshot.is_there())? {
            true => Ok(()),
            false => Err(Failure::Failed(format!(
                "{}the snapshot that the first runs began with is gone: load the data anew, and begin a new series",
                self.prefix()
            ))),
        }
    }

    /// Brings the data to the state that a run of so many warehouses begins with.
    ///
    /// # Errors
    /// Whatever the database, the load or the command refuses.
    pub(super) fn before_run(&self, warehouses: Option<u32>) -> Result<(), Failure> {
        match self.how {
            Restore::None => Ok(()),
            Restore::Snapshot => self.use_snapshot(),
            Restore::Reload => {
                let mut words = vec!["load".to_owned(), "--replace".to_owned()];
                words
                    .extend(warehouses.or(self.loaded).iter().flat_map(|n| ["--warehouses".to_owned(), n.to_string()]));
                words.extend(self.load_with.iter().cloned());
                Step::new(&self.urls, words).run().map(drop)
            }
            Restore::Command => self.call(warehouses),
        }
    }

    /// Two targets may be one database, reached by other ways: the first of them to be measured takes the snapshot. One
    /// that was there before the series would have been refused.
    fn use_snapshot(&self) -> Result<(), Failure> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        let runtime = runtime()?;
        if runtime.block_on(snapshot.is_there())? {
            say!("{}bringing the data back", self.prefix());
            return Ok(runtime.block_on(snapshot.restore())?);
        }
        say!("{}taking a snapshot of the data", self.prefix());
        Ok(runtime.block_on(snapshot.take())?)
    }

    fn call(&self, warehouses: Option<u32>) -> Result<(), Failure> {
        let Some(command) = &self.command else { return Ok(()) };
        // Its words are not for standard output, where only the result goes.
        let status = Command::new("sh")
            .args(["-c", command])
            .env("WEIGHBRIDGE_URL", self.urls.join(","))
            .env("WEIGHBRIDGE_TARGET", &self.name)
            .env("WEIGHBRIDGE_WAREHOUSES", warehouses.or(self.loaded).map_or_else(String::new, |n| n.to_string()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::Failed(format!("--restore-command `{command}`: {status}"))),
            Err(e) => Err(Failure::Failed(format!("--restore-command `{command}` can't be started: {e}"))),
        }
    }

    /// Leaves the data as they were found, and gives the snapshot's room back.
    ///
    /// # Errors
    /// The database's refusal.
    pub(super) fn end(&self) -> Result<(), Failure> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        let back = async {
            if snapshot.is_there().await? {
                snapshot.restore().await?;
                snapshot.discard().await?;
            }
            Ok::<(), Error>(())
        };
        Ok(runtime()?.block_on(back)?)
    }

    fn prefix(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) }
    }
}

const CHOICE: &str = "choose --restore reload (drops the data and loads them anew), --restore none (the data age, and every \
    result says how far), or --restore command with a --restore-command of your own";
