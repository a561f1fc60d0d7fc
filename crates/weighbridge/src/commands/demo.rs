//! `weighbridge demo`: all of it on embedded SQLite.

use std::path::PathBuf;
use std::time::Duration;

use drive::{Options, Pacing};
use target::{Gateways, Url};
use workload::AnyWorkload;
use workload::tpcc::Tpcc;
use workload::tpcc::catalog::Catalog;
use workload::tpcc::load::LoadPlan;

use super::{
    Ended, Failure, Status, me,
    run::{Observer, measure},
    runtime,
};
use crate::cli::{DemoArgs, ResultFormat};

/// Long enough for the statement caches, short enough for the patience of a newcomer.
const RAMP: Duration = Duration::from_secs(2);

fn what_next() -> String {
    let me = me();
    let lines = [
        ("load --warehouses 10", "the same on a larger SQLite file, weighbridge.db"),
        ("run --duration 5m", "at the standard's pace, with keying and think times"),
        ("load --url postgres://USER@HOST/DATABASE", "your own database"),
        ("--help", "everything else"),
    ];
    let lines = lines.map(|(arguments, why)| format!("  {me} {arguments:<42} {why}\n"));
    format!("\nTry next:\n{}", lines.concat())
}

pub(crate) fn run(args: &DemoArgs) -> Ended {
    let (file, temporary) = match &args.file {
        Some(file) if file.exists() => {
            return Err(Failure::Failed(format!("{}: the file exists; name another, or remove it", file.display())));
        }
        Some(file) => (file.clone(), false),
        None => (std::env::temp_dir().join(format!("weighbridge-demo-{}.db", std::process::id())), true),
    };
    let ended = demo(args, &file);
    if temporary {
        for end in ["", "-wal", "-shm"] {
            let mut name = file.clone().into_os_string();
            name.push(end);
            let _ = std::fs::remove_file(PathBuf::from(name));
        }
    }
    let status = ended?;
    if args.output.format() != ResultFormat::Json {
        say!("{}", what_next().trim_end());
    }
    Ok(status)
}

fn demo(args: &DemoArgs, file: &std::path::Path) -> Result<Status, Failure> {
    let gateways = Gateways::from(Url::parse(&format!("sqlite:{}", file.display()))?);
    say!("1. load: one warehouse into {gateways}");
    let plan = LoadPlan::new(Catalog::new(1, 1, jiff::Timestamp::now().as_second() * 1_000_000, false));
    super::load::with_progress(&Tpcc::default(), &runtime()?, &gateways, plan, false)?;
    say!("2. run: five transactions, no keying and think times; then 3. the checks");
    let options = Options {
        ramp: RAMP,
        pacing: Pacing::None,
        check: true,
        out: args.out.clone(),
        ..Options::new(gateways, args.duration)
    };
    measure(&AnyWorkload::Tpcc(Tpcc::default()), &options, Observer::new(None, false), args.output.format())
}
