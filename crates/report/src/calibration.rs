//! What the tool itself weighs on this machine, and the size of run that it is fit for.

use record::Stats;
use serde::Serialize;
use serde_json::{Value, json};

use crate::columns::columns;

/// Latest that the tool may wake one terminal in a hundred, ms: a run beyond it is invalid.
const MAX_LAG_MS: f64 = 50.0;

/// The share of the machine that a run may take, so that it never waits for the tool.
const SHARE: f64 = 0.5;

/// One way from a terminal to its answer.
#[derive(Clone, Debug, Serialize)]
pub struct Path {
    /// Where the answers came from: `null:` or `null-server`.
    pub target: &'static str,
    /// Statement style.
    pub style: String,
    /// CPU a transaction of the mix, microseconds: timers, inputs, statements, recording, all of it.
    pub cpu_us_per_transaction: f64,
    /// Warehouses at the standard's pace that one core drives.
    pub warehouses_per_core: f64,
    /// How late the timer woke the terminals.
    pub lag_ms: Stats,
    /// Transactions that failed.
    pub errors: u64,
}

/// What the tool weighs.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// Warehouses that were driven.
    pub warehouses: u32,
    /// Terminals.
    pub terminals: u32,
    /// Driver threads.
    pub threads: u32,
    /// Cores of this machine.
    pub cores: usize,
    /// Memory to spare, bytes.
    pub spare_memory_bytes: u64,
    /// Memory a terminal, bytes.
    pub bytes_per_terminal: f64,
    /// CPU to record a transaction with its waits, nanoseconds.
    pub recording_ns: f64,
    /// CPU to enter a transaction in the ledger of acknowledgements, nanoseconds.
    pub ledger_ns: f64,
    /// Bytes of the ledger a transaction.
    pub ledger_bytes: f64,
    /// The ways that were weighed, the one inside this process first.
    pub paths: Vec<Path>,
}

impl Calibration {
    /// The most warehouses of a run that takes half of the cores and half of the memory to spare, by the dearest way;
    /// none if the timer is too late already.
    #[must_use]
    pub fn fit_for(&self) -> Option<u64> {
        let sound = |path: &Path| path.errors == 0 && path.lag_ms.count > 0 && path.lag_ms.p99 <= MAX_LAG_MS;
        if !self.paths.iter().all(sound) {
            return None;
        }
        let a_core = self.paths.iter().map(|path| path.warehouses_per_core).fold(f64::INFINITY, f64::min);
        let by_cpu = SHARE * self.cores as f64 * a_core;
        let by_memory = SHARE * self.spare_memory_bytes as f64 / (self.bytes_per_terminal * 10.0).max(1.0);
        let fits = by_cpu.min(by_memory);
        // Two digits: it is no more exact than that.
        let unit = 10_f64.powf((fits.max(1.0).log10().floor() - 1.0).max(0.0));
        Some(((fits / unit).floor() * unit) as u64)
    }
}

/// The calibration as text.
#[must_use]
pub fn calibration_table(calibration: &Calibration) -> String {
    let Calibration { warehouses, terminals, threads, cores, .. } = calibration;
    let row = |path: &Path| {
        vec![
            format!("{}, {}", path.target, path.style),
            format!("{:.1}", path.cpu_us_per_transaction),
            format!("{:.0}", path.warehouses_per_core),
            format!("{:.2}", path.lag_ms.p50),
            format!("{:.2}", path.lag_ms.p99),
            format!("{:.1}", path.lag_ms.max),
            path.errors.to_string(),
        ]
    };
    let header = ["<answers", "CPU us/tx", "warehouses/core", "lag p50 ms", "lag p99 ms", "lag max ms", "errors"];
    let mut text = format!(
        "{warehouses} warehouses, {terminals} terminals at the standard's pace, {threads} threads, {cores} cores\n\n{}\n",
        columns(&header, calibration.paths.iter().map(row).collect())
    );
    text.push_str(&format!(
        "Memory: {:.0} bytes a terminal, {:.4} MiB a warehouse\n",
        calibration.bytes_per_terminal,
        calibration.bytes_per_terminal * 10.0 / f64::from(1 << 20)
    ));
    text.push_str(&format!(
        "Recording: {:.0} ns a transaction with its waits; the ledger: {:.0} ns and {:.0} bytes\n\n",
        calibration.recording_ns, calibration.ledger_ns, calibration.ledger_bytes
    ));
    text.push_str(&match calibration.fit_for() {
        Some(fits) => format!("Fit for runs of up to {fits} warehouses, with half of the cores and of the memory to spare\n"),
        None => format!(
            "NOT fit: transactions failed, or one terminal in a hundred was woken more than {MAX_LAG_MS:.0} ms late; is this \
             machine busy with other work?\n"
        ),
    });
    text
}

/// The calibration as JSON, with `fit_for_warehouses`: null if it is fit for none.
#[must_use]
pub fn calibration_json(calibration: &Calibration) -> Value {
    let mut document = json!(calibration);
    document["fit_for_warehouses"] = json!(calibration.fit_for());
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration(warehouses_per_core: f64, lag_p99: f64) -> Calibration {
        let path = |warehouses_per_core| Path {
            target: "null:",
            style: "batch".into(),
            cpu_us_per_transaction: 10.0,
            warehouses_per_core,
            lag_ms: Stats { count: 1, p99: lag_p99, ..Stats::default() },
            errors: 0,
        };
        Calibration {
            warehouses: 100,
            terminals: 1000,
            threads: 2,
            cores: 2,
            spare_memory_bytes: 1_000_000_000,
            bytes_per_terminal: 1000.0,
            recording_ns: 100.0,
            ledger_ns: 10.0,
            ledger_bytes: 30.0,
            paths: vec![path(150_000.0), path(warehouses_per_core)],
        }
    }

    #[test]
    fn the_scarcest_decides_what_size_fits() {
        assert_eq!(calibration(12_345.0, 1.0).fit_for(), Some(12_000), "half of the cores, by the dearest way");
        assert_eq!(calibration(140_000.0, 1.0).fit_for(), Some(50_000), "half of the memory");
        assert_eq!(calibration(12_345.0, 60.0).fit_for(), None, "too late already");
        assert!(calibration_json(&calibration(1.0, 60.0))["fit_for_warehouses"].is_null());
        assert!(calibration_table(&calibration(12_345.0, 1.0)).contains("up to 12000 warehouses"));
    }
}
