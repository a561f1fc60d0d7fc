//! `weighbridge calibrate`: what the tool itself weighs on this machine.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use drive::calibrate::{Load, Reading, recording_ns, spare_memory_bytes, weigh, weigh_ledger};
use report::{Calibration, Path};
use target::{Gateways, Url};
use workload::tpcc::Style;

use super::{Ended, Failure, Status, cores};
use crate::cli::CalibrateArgs;
use crate::interrupt;

/// As many as a large run has.
const CONNECTIONS: u32 = 300;

/// A run so small that its memory is that of the program alone, with the same connections.
const SMALL: i32 = 50;

pub(crate) fn run(args: &CalibrateArgs) -> Ended {
    let stop = interrupt::stop();
    let spare_memory_bytes = spare_memory_bytes();
    let folder = std::env::temp_dir().join(format!("weighbridge-calibrate-{}", std::process::id()));
    let reading = |url: &str, style: Style, warehouses: i32| -> Result<Reading, Failure> {
        let gateways = Gateways::from(Url::parse(url)?);
        let load = Load { gateways, style, warehouses, connections: CONNECTIONS, duration: args.duration };
        say!("{warehouses} warehouses on {url}, style {style}, {} s", args.duration.as_secs());
        let reading = weigh(&load, &folder, &stop).map_err(Failure::from_run)?;
        if *stop.borrow() {
            return Err(Failure::Failed("interrupted".to_owned()));
        }
        Ok(reading)
    };
    // The peak of a process only grows, so the small one comes first.
    let small = reading("null:", Style::Batch, SMALL)?;
    let large = reading("null:", Style::Batch, args.warehouses)?;
    let mut paths = vec![path("null:", Style::Batch, &large)];
    if args.wire {
        let server = NullServer::start(args.warehouses)?;
        for style in [Style::Batch, Style::Pipeline] {
            let over_wire = reading(&server.url, style, args.warehouses)?;
            paths.push(path("null-server", style, &over_wire));
        }
    }
    let terminals = f64::from(large.terminals) - f64::from(small.terminals);
    let ledger = weigh_ledger(&folder)?;
    let calibration = Calibration {
        warehouses: args.warehouses.unsigned_abs(),
        terminals: large.terminals,
        threads: large.threads,
        cores: cores(),
        spare_memory_bytes,
        bytes_per_terminal: large.peak_rss_bytes.saturating_sub(small.peak_rss_bytes) as f64 / terminals.max(1.0),
        recording_ns: recording_ns(),
        ledger_ns: ledger.ns,
        ledger_bytes: ledger.bytes,
        paths,
    };
    args.json.print(|| report::calibration_json(&calibration), || report::calibration_table(&calibration))?;
    Ok(if calibration.fit_for().is_some() { Status::Done } else { Status::NotBelieved })
}

fn path(target: &'static str, style: Style, reading: &Reading) -> Path {
    Path {
        target,
        style: style.to_string(),
        cpu_us_per_transaction: reading.cpu_us_per_transaction(),
        warehouses_per_core: reading.warehouses_per_core(),
        lag_ms: reading.lag,
        errors: reading.errors,
    }
}

/// `weighbridge null-server` in a process of its own, ended with this value.
struct NullServer {
    child: Child,
    url: String,
}

impl NullServer {
    fn start(warehouses: i32) -> Result<Self, Failure> {
        let warehouses = warehouses.to_string();
        let mut child = Command::new(std::env::current_exe()?)
            .args(["null-server", "--listen", "127.0.0.1:0", "--warehouses", &warehouses])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut url)?;
        }
        let server = Self { child, url: url.trim().to_owned() };
        match server.url.is_empty() {
            true => Err(Failure::Failed("the null-server did not start".to_owned())),
            false => Ok(server),
        }
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
