//! What recording costs: one time, one transaction, and the merge of a second.

use divan::{Bencher, black_box};
use record::histogram::Histogram;
use record::plan::TransactionRule;
use record::{Outcome, Phase, Plan, Recorder, Sample};

fn main() {
    divan::main();
}

/// Times spread over what responses take.
fn times() -> impl Iterator<Item = u64> {
    (0_u64..).map(|n| n.wrapping_mul(2_654_435_761) % 50_000)
}

fn recorder() -> Recorder {
    let rule = |headline| TransactionRule { headline, ..TransactionRule::default() };
    Recorder::new(&Plan { transactions: (0..5).map(|at| rule(at == 0)).collect(), ..Plan::default() })
}

#[divan::bench]
fn one_time(bencher: Bencher<'_, '_>) {
    let (mut histogram, mut times) = (Histogram::<u32>::new(), times());
    bencher.bench_local(|| histogram.record(black_box(times.next().unwrap_or(0))));
}

/// Keying, the transaction, thinking, and the lag of both waits: what a terminal records in a cycle.
#[divan::bench]
fn one_cycle(bencher: Bencher<'_, '_>) {
    let (mut recorder, mut times) = (recorder(), times());
    bencher.bench_local(|| {
        let us = times.next().unwrap_or(0);
        let sample =
            Sample { response_us: us, service_us: us / 2, queue_us: us / 8, retries: 0, outcome: Outcome::Committed };
        recorder.keying(0, Phase::Measured, us * 100);
        recorder.lag(Phase::Measured, us / 50);
        recorder.transaction(0, Phase::Measured, black_box(&sample));
        recorder.think(0, Phase::Measured, us * 1000);
        recorder.lag(Phase::Measured, us / 40);
    });
}

/// What the collector does for each thread once a second.
#[divan::bench]
fn merge_and_clear_a_second(bencher: Bencher<'_, '_>) {
    let (mut merged, mut second) = (recorder(), recorder());
    bencher.bench_local(|| {
        for (at, us) in times().take(100).enumerate() {
            second.keying(at % 5, Phase::Measured, us);
        }
        merged.merge(black_box(&second));
        second.clear();
    });
}
