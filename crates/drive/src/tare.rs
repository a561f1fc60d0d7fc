//! The tool weighs itself: CPU and memory of this process.

use std::time::{Duration, Instant};

/// Clock ticks a second in /proc; fixed in the Linux user interface.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU seconds this process has used, user and system; 0 where the system does not say.
pub(crate) fn cpu_seconds() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return 0.0 };
    // Fields after the command in parentheses; utime and stime are the 14th and 15th of all.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|v| v.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}

/// Bytes of this process's memory in use, now and at most so far.
#[must_use]
pub fn memory_bytes() -> (u64, u64) {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return (0, 0) };
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("");
        line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// The machine this client runs on.
pub(crate) fn machine_memory_bytes() -> u64 {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or("");
    total.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// CPU that this process uses between readings.
#[derive(Debug)]
pub struct CpuMeter {
    at: Instant,
    used: f64,
}

impl CpuMeter {
    /// Begins to count.
    #[must_use]
    pub fn start() -> Self {
        Self { at: Instant::now(), used: cpu_seconds() }
    }

    /// CPU seconds and time since the last reading.
    pub fn read(&mut self) -> (f64, Duration) {
        let next = Self::start();
        let passed = (next.used - self.used, next.at - self.at);
        *self = next;
        passed
    }
}
