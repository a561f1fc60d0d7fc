//! The same data before each run of a series.

use std::process::{Command, Stdio};

use target::snapshot::{Snapshot, SnapshotError};
use target::{Gateways, Session, Url};
use workload::tpcc::catalog::Catalog;

use super::step::Step;
use super::{Failure, runtime};
use crate::cli::{Restore, RestoreArgs};
use crate::interrupt;

/// Brings the data of one database to the same state before each run.
pub(super) struct Restorer {
    name: String,
    urls: Vec<String>,
    how: Restore,
    load_with: Vec<String>,
    command: Option<String>,
    /// The copies that the database could have, whether they are used or not.
    snapshot: Option<Snapshot>,
    /// Warehouses that were loaded at first.
    loaded: Option<u32>,
}

impl Restorer {
    /// Chooses how the database at `urls` is restored.
    ///
    /// # Errors
    /// A choice that the database doesn't have; no choice where it has no snapshot.
    pub(super) fn new(name: &str, urls: &[String], args: &RestoreArgs) -> Result<Self, Failure> {
        let gateways = Gateways::parse(urls).map_err(|e| Failure::Usage(e.to_string()))?;
        let snapshot = Snapshot::for_url(gateways.first());
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
            snapshot,
            loaded: None,
        })
    }

    /// Reads which data there are before the first run, and says what must be the same when the series is resumed.
    ///
    /// # Errors
    /// No data, or fewer warehouses than are to be driven; an original that a killed series set aside, unless this one
    /// resumes it.
    pub(super) fn examine(&mut self, most: Option<u32>, resumed: bool) -> Result<String, Failure> {
        let gateways = Gateways::parse(&self.urls).map_err(|e| Failure::Usage(e.to_string()))?;
        if !gateways.dialect().stores_data() {
            return Ok(gateways.to_string());
        }
        let original = self.original(gateways.first(), resumed)?;
        if self.how == Restore::Reload && most.is_some() {
            return Ok(gateways.to_string());
        }
        super::require_file(&original)?;
        let catalog = runtime()?.block_on(async {
            Ok::<_, Failure>(Catalog::read_complete(&mut Session::connect(&original).await?).await?)
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

    /// Finds where the loaded data are now. A killed series leaves a copy in the database's place, or nothing.
    fn original(&self, url: &Url, resumed: bool) -> Result<Url, Failure> {
        let Some(snapshot) = &self.snapshot else { return Ok(url.clone()) };
        let runtime = runtime()?;
        let used = self.used_snapshot().is_some();
        let aside = match runtime.block_on(snapshot.is_set_aside()) {
            // Whoever needs no copies may have no right to look for them.
            Err(_) if !used => false,
            aside => aside.map_err(|e| self.failure(e))?,
        };
        if !aside {
            return Ok(url.clone());
        }
        if !(resumed && used) {
            return Err(Failure::Failed(format!(
                "{}{}\nhint: resume that sweep with `sweep --resume`, which puts the original back at its end; or put it \
                 back by hand: {}",
                self.prefix(),
                snapshot.set_aside_notice(),
                snapshot.manual_recovery()
            )));
        }
        runtime.block_on(snapshot.original()).map_err(|e| self.failure(e))
    }

    fn used_snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref().filter(|_| self.how == Restore::Snapshot)
    }

    /// How many warehouses are loaded, as far as that has been examined.
    pub(super) fn loaded(&self) -> Option<u32> {
        self.loaded
    }

    /// How the data are restored.
    pub(super) fn how(&self) -> Restore {
        self.how
    }

    /// Brings the data to the state that a run of so many warehouses begins with.
    ///
    /// # Errors
    /// Whatever the database, the load or the command refuses; an interruption.
    pub(super) fn before_run(&self, warehouses: Option<u32>) -> Result<(), Failure> {
        match self.how {
            Restore::None => {}
            Restore::Snapshot => self.use_copy()?,
            Restore::Reload => {
                let mut words = vec!["load".to_owned(), "--replace".to_owned()];
                words
                    .extend(warehouses.or(self.loaded).iter().flat_map(|n| ["--warehouses".to_owned(), n.to_string()]));
                words.extend(self.load_with.iter().cloned());
                Step::new(&self.urls, words).run()?;
            }
            Restore::Command => self.call(warehouses)?,
        }
        if *interrupt::stop().borrow() { Err(Failure::Failed("interrupted".to_owned())) } else { Ok(()) }
    }

    /// Puts a fresh copy in the database's place. Two targets may be one database under two names: whichever runs first
    /// sets the original aside.
    fn use_copy(&self) -> Result<(), Failure> {
        let Some(snapshot) = self.used_snapshot() else { return Ok(()) };
        say!("{}copying the loaded data", self.prefix());
        runtime()?.block_on(snapshot.begin_run(&interrupt::stop())).map_err(|e| self.failure(e))
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

    /// Puts the original database back and removes the copies.
    ///
    /// # Errors
    /// The database's refusal.
    pub(super) fn end(&self) -> Result<(), Failure> {
        let Some(snapshot) = self.used_snapshot() else { return Ok(()) };
        let runtime = runtime()?;
        runtime.block_on(snapshot.put_back()).map_err(|e| {
            let failure = self.failure(e);
            let still_aside = runtime.block_on(snapshot.is_set_aside()).unwrap_or_default();
            match failure {
                Failure::Failed(message) if still_aside => Failure::Failed(format!(
                    "{message}\nhint: the original is still set aside; put it back: {}",
                    snapshot.manual_recovery()
                )),
                other => other,
            }
        })
    }

    fn failure(&self, error: SnapshotError) -> Failure {
        let hint = if error.calls_for_another_choice() { format!("\nhint: {CHOICE}") } else { String::new() };
        Failure::Failed(format!("{}{error}{hint}", self.prefix()))
    }

    fn prefix(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) }
    }
}

/// Puts all databases back after a series that ended with `outcome`, whatever that is.
///
/// # Errors
/// The failure of the series; if it succeeded, the first failure to put a database back.
pub(super) fn end_all<T>(restorers: &[Restorer], outcome: Result<T, Failure>) -> Result<T, Failure> {
    let mut failures: Vec<Failure> = restorers.iter().filter_map(|restorer| restorer.end().err()).collect();
    if outcome.is_ok() && !failures.is_empty() {
        let first = failures.remove(0);
        failures.iter().for_each(say_failure);
        return Err(first);
    }
    failures.iter().for_each(say_failure);
    outcome
}

fn say_failure(failure: &Failure) {
    if let Failure::Failed(message) | Failure::Usage(message) = failure {
        say!("error: {message}");
    }
}

const CHOICE: &str = "choose --restore reload (drops the data and loads them anew), --restore none (the data age, and every \
    result says how far), or --restore command with a --restore-command of your own";
