//! The machine that drives: what `/proc` and `/sys` tell of it.

use std::net::{IpAddr, TcpListener};

use target::{Finding, Level, Url};

/// Files that a run opens beside its connections: its folder, its runtimes, the libraries.
const OTHER_FILES: u64 = 64;

/// Memory below which the system may begin to swap.
const LEAST_MEMORY: u64 = 512 << 20;

/// What a run with these connections finds here.
pub(super) fn findings(connections: Option<u32>) -> Vec<Finding> {
    vec![open_files(connections), cores(), governor(), memory()]
}

fn open_files(connections: Option<u32>) -> Finding {
    const WHAT: &str = "open files of this process";
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    let needed = u64::from(connections.unwrap_or(0)) + OTHER_FILES;
    match soft.map(|soft| (soft, soft.parse::<u64>())) {
        Some((soft @ "unlimited", _)) => Finding::ok(WHAT, soft),
        Some((_, Ok(limit))) if limit >= needed => {
            Finding::ok(WHAT, format!("at most {limit} (this run needs {needed})"))
        }
        Some((_, Ok(limit))) => Finding::new(
            Level::Bad,
            WHAT,
            format!("at most {limit} (this run needs {needed})"),
            format!("raise the limit in the shell that starts the run: ulimit -n {needed}"),
        ),
        _ => Finding::new(
            Level::Unknown,
            WHAT,
            "not told by this system",
            "see to it that the limit is above the connections",
        ),
    }
}

fn cores() -> Finding {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    match text.split_whitespace().next().and_then(|load| load.parse::<f64>().ok()) {
        None => {
            Finding::new(Level::Unknown, "cores and load", format!("{cores} cores"), "see to it that nothing else runs")
        }
        Some(load) => {
            let value = format!("{cores} cores, load average {load:.1}");
            let advice = "other work takes this machine's cores: wait for its end, or drive from another machine";
            match load > cores as f64 / 2.0 {
                true => Finding::new(Level::Warn, "cores and load", value, advice),
                false => Finding::ok("cores and load", value),
            }
        }
    }
}

fn governor() -> Finding {
    const WHAT: &str = "frequency governor";
    match std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") {
        Ok(governor) if governor.trim() == "performance" => Finding::ok(WHAT, governor.trim()),
        Ok(governor) => {
            let advice =
                "cores that slow down between transactions lengthen them: cpupower frequency-set -g performance";
            Finding::new(Level::Warn, WHAT, governor.trim(), advice)
        }
        Err(_) => {
            Finding::new(Level::Unknown, WHAT, "not told by this system", "a virtual machine's host decides, as a rule")
        }
    }
}

fn memory() -> Finding {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    };
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    match (bytes("MemAvailable:"), bytes("MemTotal:")) {
        (Some(available), Some(total)) => {
            let value = format!("{:.1} GiB available of {:.1}", gib(available), gib(total));
            match available < LEAST_MEMORY {
                true => {
                    Finding::new(Level::Warn, "memory", value, "end what else runs here: the system may begin to swap")
                }
                false => Finding::ok("memory", value),
            }
        }
        _ => Finding::new(Level::Unknown, "memory", "not told by this system", ""),
    }
}

/// Whether client and server share a machine.
pub(super) async fn distance(url: &Url) -> Finding {
    const WHAT: &str = "client and server";
    if url.dialect().embedded() {
        return Finding::ok(WHAT, "embedded: the database works inside the tool, and its work is in the tool's tare");
    }
    let Some(host) = url.host() else {
        let advice = "see to it that they are on different machines";
        return Finding::new(Level::Unknown, WHAT, "only the driver knows where the server is", advice);
    };
    // What can be listened on is an address of this machine.
    let here = |ip: IpAddr| ip.is_loopback() || TcpListener::bind((ip, 0)).is_ok();
    let found = tokio::net::lookup_host((host.as_str(), 0)).await;
    match found.map(|mut addresses| addresses.any(|address| here(address.ip()))) {
        Ok(true) => {
            let advice = "they take each other's cores: good to try things on; to measure, drive from another machine";
            Finding::new(Level::Warn, WHAT, format!("on the same machine ({host})"), advice)
        }
        Ok(false) => Finding::ok(WHAT, format!("on different machines ({host})")),
        Err(e) => {
            Finding::new(Level::Unknown, WHAT, format!("{host}: {e}"), "see to it that they are on different machines")
        }
    }
}
