use std::time::Duration;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (_send, stop) = tokio::sync::watch::channel(false);
    let o = drive::Options { url: target::Url::parse(&a[1]).unwrap(), warehouses: None, first_warehouse: 1, total_warehouses: None, ramp: Duration::from_secs(2), duration: Duration::from_secs(a[2].parse().unwrap()), pacing: if a[3]=="none" {drive::Pacing::None} else {drive::Pacing::Standard}, connections: Some(a[4].parse().unwrap()), terminals: None, style: a[5].parse().unwrap(), mix: tpcc::mix::Mix::standard(), isolation: a.get(6).map(|i| i.parse().unwrap()), seed: 7 };
    let dir = format!("/tmp/runs/{}", std::process::id());
    let r = drive::run(&o, &stop, |_| record::RunFolder::create(std::path::Path::new(&dir)), &mut |row| eprintln!("{:?} {:?} {:?} err {} retry {} p50 {:.2} p99 {:.2} cpu {:.0} wait {}", row.elapsed_s, row.stage, row.completed, row.errors, row.retries, row.p50_ms, row.p99_ms, row.cpu_percent, row.waiting));
    match r { Ok((_, rec)) => println!("{:#?}\n{:#?}\n{:?}\n{:?}", rec.counts.iter().map(|c| (&c.name, c.measured.completed, c.measured.failures, c.measured.retries)).collect::<Vec<_>>(), rec.reconciliation, rec.tare, rec.tallies), Err(e) => println!("ERR {e}") }
}
