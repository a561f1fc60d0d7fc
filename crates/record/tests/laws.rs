//! Laws of recording and merging, and figures with known answers.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::*;
use proptest::prelude::*;
use record::recorder::{Clock, Failure, Outcome, Phase, Recorder, Sample};
use record::summary::RateMethod;
use record::{Histogram, Histograms, RunRecord};

/// Anything that a recorder can be told.
#[derive(Debug, Clone)]
enum Event {
    Transaction(usize, Phase, Sample),
    Deferred(Phase, Sample, u32),
    Wait(usize, Phase, bool, u64),
    Lag(Phase, u64),
    Tally(usize, Phase, u64, u64),
}

fn phase() -> impl Strategy<Value = Phase> {
    prop::sample::select(Phase::ALL.to_vec())
}

fn outcome() -> impl Strategy<Value = Outcome> {
    use Failure::{Connection, Exhausted, Integrity, Other};
    let failures = [Integrity, Exhausted, Connection, Other].map(Outcome::Failed);
    prop::sample::select([vec![Outcome::Committed, Outcome::RolledBack], failures.to_vec()].concat())
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let us = 0..700_000_000u64;
    (us.clone(), us.clone(), us, 0..5u32, outcome()).prop_map(
        |(response_us, service_us, queue_us, retries, outcome)| Sample {
            response_us,
            service_us,
            queue_us,
            retries,
            outcome,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..5usize, phase(), any_sample()).prop_map(|(i, p, s)| Event::Transaction(i, p, s)),
        (phase(), any_sample(), 0..11u32).prop_map(|(p, s, n)| Event::Deferred(p, s, n)),
        (0..5usize, phase(), any::<bool>(), 0..100_000_000u64).prop_map(|(i, p, k, us)| Event::Wait(i, p, k, us)),
        (phase(), 0..1_000_000u64).prop_map(|(p, us)| Event::Lag(p, us)),
        (0..3usize, phase(), 0..15u64, 1..15u64).prop_map(|(i, p, h, t)| Event::Tally(i, p, h, t)),
    ]
}

fn apply(recorder: &mut Recorder, events: &[Event]) {
    for event in events {
        match event {
            Event::Transaction(i, p, s) => recorder.transaction(*i, *p, s),
            Event::Deferred(p, s, n) => {
                recorder.deferred(DELIVERY, *p, s);
                recorder.skipped(DELIVERY, *p, *n);
            }
            Event::Wait(i, p, true, us) => recorder.keying(*i, *p, *us),
            Event::Wait(i, p, false, us) => recorder.think(*i, *p, *us),
            Event::Lag(p, us) => recorder.lag(*p, *us),
            Event::Tally(i, p, h, t) => recorder.tally(*i, *p, *h, *t),
        }
    }
}

fn recorded(events: &[Event]) -> Recorder {
    let mut recorder = empty(&plan(1, 1.0));
    apply(&mut recorder, events);
    recorder
}

/// Everything in a recorder, comparable.
fn contents(recorder: &Recorder) -> String {
    let mut text = String::new();
    for phase in Phase::ALL {
        for index in 0..recorder.transactions() {
            text += &format!("{:?}", recorder.counts(index, phase));
            for clock in Clock::ALL {
                let histogram = recorder.histogram(index, phase, clock);
                text += &format!("{:?}", histogram.buckets().collect::<Vec<_>>());
                text += &format!("{} {:?}", histogram.clipped(), histogram.stats());
            }
        }
        text += &format!("{:?}", recorder.tallies(phase));
        text += &format!("{:?}", recorder.lag_histogram(phase).buckets().collect::<Vec<_>>());
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn merging_is_as_if_one_had_recorded_all(
        a in prop::collection::vec(event(), 0..40),
        b in prop::collection::vec(event(), 0..40),
    ) {
        let all = recorded(&[a.clone(), b.clone()].concat());
        let mut ab = recorded(&a);
        ab.merge(&recorded(&b));
        let mut ba = recorded(&b);
        ba.merge(&recorded(&a));
        prop_assert_eq!(contents(&ab), contents(&all));
        prop_assert_eq!(contents(&ba), contents(&all));
    }

    #[test]
    fn cleared_is_new_and_merging_nothing_changes_nothing(events in prop::collection::vec(event(), 0..40)) {
        let mut recorder = recorded(&events);
        recorder.merge(&recorded(&[]));
        prop_assert_eq!(contents(&recorder), contents(&recorded(&events)));
        recorder.clear();
        prop_assert_eq!(contents(&recorder), contents(&recorded(&[])));
    }

    #[test]
    fn the_record_counts_what_was_recorded(events in prop::collection::vec(event(), 0..60)) {
        let mut record = RunRecord::new(plan(1, 1.0));
        let mut histograms = Histograms::default();
        for event in &events {
            let interval = recorded(std::slice::from_ref(event));
            record.add(&interval);
            histograms.add(&interval, &record.plan);
        }
        let tried = events.iter().filter(|event| matches!(event, Event::Transaction(..))).count() as u64;
        let known: u64 = record.counts.iter().map(|counts| {
            counts.acknowledged() + counts.measured.failures.total() + counts.outside.failures.total()
        }).sum();
        prop_assert_eq!(known, tried);
        for counts in &record.counts {
            // Failed ones are timed apart from completed ones.
            let stats = |clock| histograms.stats(&counts.name, Phase::Measured, clock).count;
            prop_assert_eq!(stats(Clock::Response), counts.measured.completed);
            prop_assert_eq!(stats(Clock::Failed), counts.measured.failures.total());
            prop_assert_eq!(stats(Clock::Deferred), counts.measured.deferred.completed);
        }
    }

    #[test]
    fn percentiles_are_nearest_rank_to_three_digits(mut times in prop::collection::vec(1..600_000_000u64, 1..300)) {
        let mut histogram = Histogram::<u32>::new();
        times.iter().for_each(|&us| histogram.record(us));
        times.sort_unstable();
        let stats = histogram.stats();
        for (share, found) in [(0.5, stats.p50), (0.9, stats.p90), (0.99, stats.p99), (0.999, stats.p999), (1.0, stats.max)] {
            let rank = (share * times.len() as f64 - 1e-9).ceil() as usize;
            let exact = times[rank.max(1) - 1] as f64 / 1000.0;
            // The upper edge of the bucket: never below, and above by a thousandth at most.
            prop_assert!((exact..=exact * 1.001 + 0.001).contains(&found), "{share}: {exact} {found}");
        }
        prop_assert!(stats.min <= times[0] as f64 / 1000.0);
    }
}

#[test]
fn times_beyond_the_bound_are_counted_and_said() {
    let mut recorder = empty(&plan(1, 1.0));
    recorder.think(NEW_ORDER, Phase::Measured, 600_000_000);
    recorder.think(NEW_ORDER, Phase::Measured, 600_000_001);
    recorder.think(NEW_ORDER, Phase::Measured, u64::MAX);
    let histogram = recorder.histogram(NEW_ORDER, Phase::Measured, Clock::Think);
    assert_eq!((histogram.count(), histogram.clipped()), (3, 2));
    assert_eq!(recorder.counts(NEW_ORDER, Phase::Measured).clipped, 2);
}

#[test]
fn three_clocks_stay_three() {
    let mut recorder = empty(&plan(1, 1.0));
    let sample =
        Sample { response_us: 9_000, service_us: 5_000, queue_us: 3_000, retries: 2, outcome: Outcome::Committed };
    recorder.transaction(NEW_ORDER, Phase::Measured, &sample);
    let mut merged = empty(&plan(1, 1.0));
    merged.merge(&recorder);
    let max = |clock| merged.histogram(NEW_ORDER, Phase::Measured, clock).stats().max.floor();
    assert_eq!([Clock::Response, Clock::Service, Clock::Queue].map(max), [9.0, 5.0, 3.0]);
    assert_eq!(merged.counts(NEW_ORDER, Phase::Measured).retries, 2);
}

#[test]
fn six_hundred_orders_in_a_minute_are_600_tpmc() {
    let mut run = good(50, 60.0);
    let figures = run.summary();
    assert_eq!((figures.nopm, figures.tpmc), (600.0, Some(600)));
    // Six designed rollbacks: in tpmC, not in what others count.
    assert_eq!(figures.nopm_committed, 594.0);
    assert!((figures.efficiency.unwrap() - 600.0 / 643.0).abs() < 1e-12);
    // 105.548 is 105 (5.4.4).
    run.record.counts[NEW_ORDER].measured.completed = 105_548;
    run.record.measured_seconds = 60_000.0;
    assert_eq!(run.summary().tpmc, Some(105));
    run.record.plan.nonstandard.push("no think times".into());
    assert_eq!((run.summary().tpmc, run.summary().efficiency), (None, None));
}

#[test]
fn rate_intervals() {
    let few = good(1, 60.0).summary().nopm_interval;
    assert_eq!(few.method, RateMethod::Poisson);
    assert!(few.low < 7.0 && few.high > 19.0, "{few:?}");
    let mut dice = Dice(5);
    let mut run = good(10, 600.0);
    let mut covered = 0;
    for _ in 0..200 {
        let rates: Vec<f64> = (0..600).map(|_| (0..20).filter(|_| dice.roll() < 0.1).count() as f64).collect();
        run.timeline = timeline(&rates);
        run.record.counts[NEW_ORDER].measured.completed = rates.iter().sum::<f64>() as u64;
        let interval = run.summary().nopm_interval;
        assert_eq!(interval.method, RateMethod::BatchMeans);
        covered += u32::from((interval.low..=interval.high).contains(&120.0));
    }
    // 95 % of 200, give or take four standard errors.
    assert!((178..=200).contains(&covered), "{covered} of 200 intervals hold the true rate");
}
