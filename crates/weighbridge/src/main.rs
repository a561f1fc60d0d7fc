use std::sync::Arc;
use std::sync::atomic::Ordering;
use workload::tpcc::{catalog::Catalog, load::*};
#[tokio::main]
async fn main() {
    let a: Vec<String> = std::env::args().collect();
    let url = target::Url::parse(&a[1]).unwrap();
    let w: i32 = a[2].parse().unwrap();
    let t = std::time::Instant::now();
    let p = Arc::new(LoadProgress::default());
    let r = load(&url, LoadPlan { first_warehouse: 1, warehouses: w, catalog: Catalog::new(1, w, 1_790_000_000_000_000, false), jobs: a[3].parse().unwrap(), existing: Existing::Replace }, p.clone()).await;
    println!("{:?} {:?} {}", t.elapsed(), r, p.rows.load(Ordering::Relaxed));
}
