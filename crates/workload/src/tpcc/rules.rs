//! What a run is judged by, as data of the run record: limits, windows and their clauses.

use ::tpcc::input::{CustomerBy, Input, Kind};
use ::tpcc::limits::{self, Window};
use ::tpcc::mix::Mix;
use ::tpcc::timing::DEFERRED_DELIVERY_LIMIT_SECONDS;
use record::plan::{ScaleRule, SkipRule, TallyKind, TallyRule, TransactionRule};

use super::Output;

/// The rules of the five transactions. A mix of the user's own is not held to the standard's shares.
pub fn transactions(mix: &Mix) -> Vec<TransactionRule> {
    Kind::ALL
        .into_iter()
        .map(|kind| {
            let timing = kind.timing();
            TransactionRule {
                name: kind.name().into(),
                title: kind.title().into(),
                headline: kind == Kind::NewOrder,
                minimum_share: timing.minimum_share.filter(|_| mix.is_standard()),
                share_clause: "5.2.3".into(),
                keying_seconds: timing.keying_seconds,
                mean_think_seconds: timing.mean_think_seconds,
                waits_clause: "5.2.5.7".into(),
                response_limit_seconds: timing.response_limit_seconds,
                response_clause: "5.2.5.3".into(),
                deferred_limit_seconds: (kind == Kind::Delivery).then_some(DEFERRED_DELIVERY_LIMIT_SECONDS),
                deferred_clause: "2.7.2.2".into(),
            }
        })
        .collect()
}

/// Throughput per warehouse.
pub fn scale() -> ScaleRule {
    ScaleRule {
        max_per_warehouse: limits::MAX_TPMC_PER_WAREHOUSE,
        min_per_warehouse: limits::MIN_TPMC_PER_WAREHOUSE,
        terminals_per_warehouse: ::tpcc::TERMINALS_PER_WAREHOUSE as u32,
        clause: "4.1.3".into(),
        terminals_clause: "4.2.2".into(),
    }
}

/// Skipped deliveries.
pub fn skips() -> SkipRule {
    SkipRule { max_share: limits::SKIPPED_DELIVERIES_SHARE, max_count: 1, clause: "2.7.4.2".into() }
}

/// The tallies of the generated input, in the order of [`tally`]'s indexes.
pub fn tallies(warehouses: i32) -> Vec<TallyRule> {
    let mut rules: Vec<TallyRule> = limits::WINDOWS.iter().map(rule).collect();
    if warehouses == 1 {
        // With one warehouse everything is local (4.2.2); the counts stay, without a window.
        for index in [REMOTE_LINES, REMOTE_PAYMENTS] {
            (rules[index].low, rules[index].high, rules[index].expected) = (0.0, 0.0, 0.0);
            rules[index].variance_per_trial = 0.0;
            rules[index].sample_for_3_sigma = 1;
        }
    }
    rules
}

const ROLLED_BACK: usize = 0;
const LINES: usize = 1;
const REMOTE_LINES: usize = 2;
const REMOTE_PAYMENTS: usize = 3;
const PAYMENTS_BY_NAME: usize = 4;
const ORDER_STATUS_BY_NAME: usize = 5;

fn rule(window: &Window) -> TallyRule {
    let lines = window.name == limits::LINES_PER_ORDER.name;
    TallyRule {
        name: window.name.into(),
        clause: window.clause.into(),
        kind: if lines { TallyKind::Mean } else { TallyKind::Share },
        low: window.low,
        high: window.high,
        expected: window.expected,
        sample_for_3_sigma: window.sample_for_3_sigma,
        // Uniform on 5..=15 has variance 10.
        variance_per_trial: if lines { 10.0 } else { window.expected * (1.0 - window.expected) },
    }
}

/// Reports (index, hits, trials) of a completed transaction.
pub fn tally(input: &Input, output: &Output, mut count: impl FnMut(usize, u64, u64)) {
    match (input, output) {
        (Input::NewOrder(order), Output::NewOrder(shown)) => {
            let lines = order.lines.len() as u64;
            let remote = order.lines.iter().filter(|line| line.supply_w_id != order.w_id).count() as u64;
            count(ROLLED_BACK, u64::from(shown.rolled_back), 1);
            count(LINES, lines, 1);
            count(REMOTE_LINES, remote, lines);
        }
        (Input::Payment(payment), _) => {
            count(REMOTE_PAYMENTS, u64::from(payment.c_w_id != payment.w_id), 1);
            count(PAYMENTS_BY_NAME, u64::from(by_name(&payment.customer)), 1);
        }
        (Input::OrderStatus(status), _) => count(ORDER_STATUS_BY_NAME, u64::from(by_name(&status.customer)), 1),
        _ => {}
    }
}

fn by_name(customer: &CustomerBy) -> bool {
    matches!(customer, CustomerBy::LastName(_))
}
