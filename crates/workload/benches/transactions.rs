//! What a transaction costs the client, with answers that cost nothing: each in each style, and a terminal's whole cycle.

use divan::{Bencher, black_box};
use record::{Outcome, Phase, Plan, Recorder, Sample};
use target::{Session, Url};
use tokio::runtime::Runtime;
use tpcc::input::{Input, Kind, Warehouses};
use tpcc::mix::Mix;
use tpcc::terminal::Terminal;
use workload::tpcc::catalog::Catalog;
use workload::tpcc::ledger::Ledger;
use workload::tpcc::{Profile, Style, execute, prepare, rules};

fn main() {
    divan::main();
}

const WAREHOUSES: i32 = 1000;
const STYLES: [Style; 4] = [Style::Row, Style::Batch, Style::Pipeline, Style::Procedure];

fn terminal() -> Terminal {
    let constants = Catalog::without_data(WAREHOUSES).run;
    Terminal::new(1, 1, 1, 1, Warehouses { first: 1, count: WAREHOUSES }, constants, Mix::standard())
}

/// Many inputs of a kind, since no two are alike.
fn inputs(kind: Kind) -> impl Iterator<Item = Input> {
    let mut terminal = terminal();
    let drawn = std::iter::repeat_with(move || terminal.next_input()).filter(move |input| input.kind() == kind);
    drawn.take(100).collect::<Vec<_>>().into_iter().cycle()
}

/// A session on the target without data, ready for transactions.
fn ready(style: Style) -> (Runtime, Session, Profile) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let url = Url::parse("null:").expect("a URL");
    let profile = Profile::new(style, url.dialect().default_isolation(), url.dialect()).expect("a profile");
    let session = runtime.block_on(async {
        let mut session = Session::connect(&url).await.expect("a session");
        prepare(&mut session, profile).await.expect("statements");
        session
    });
    (runtime, session, profile)
}

fn transactions(bencher: Bencher<'_, '_>, style: Style, kind: Kind) {
    let (runtime, mut session, profile) = ready(style);
    let mut inputs = inputs(kind);
    bencher.bench_local(|| {
        let input = inputs.next().expect("inputs never end");
        runtime.block_on(execute(&mut session, profile, black_box(&input))).expect("it completes")
    });
}

#[divan::bench(args = STYLES)]
fn new_order(bencher: Bencher<'_, '_>, style: Style) {
    transactions(bencher, style, Kind::NewOrder);
}

#[divan::bench(args = STYLES)]
fn payment(bencher: Bencher<'_, '_>, style: Style) {
    transactions(bencher, style, Kind::Payment);
}

#[divan::bench(args = STYLES)]
fn order_status(bencher: Bencher<'_, '_>, style: Style) {
    transactions(bencher, style, Kind::OrderStatus);
}

#[divan::bench(args = STYLES)]
fn delivery(bencher: Bencher<'_, '_>, style: Style) {
    transactions(bencher, style, Kind::Delivery);
}

#[divan::bench(args = STYLES)]
fn stock_level(bencher: Bencher<'_, '_>, style: Style) {
    transactions(bencher, style, Kind::StockLevel);
}

/// Choosing and drawing the input, and the think time behind it.
#[divan::bench]
fn input_and_think_time(bencher: Bencher<'_, '_>) {
    let mut terminal = terminal();
    bencher.bench_local(|| {
        let input = terminal.next_input();
        let think = terminal.think_us(input.kind(), 1.0);
        (input, think)
    });
}

/// A terminal's cycle but for its waits: input, transaction, ledger, tallies, recording.
#[divan::bench(args = STYLES)]
fn cycle_of_the_mix(bencher: Bencher<'_, '_>, style: Style) {
    let (runtime, mut session, profile) = ready(style);
    let plan = Plan {
        transactions: rules::transactions(&Mix::standard()),
        tallies: rules::tallies(WAREHOUSES),
        ..Plan::default()
    };
    let (mut terminal, mut recorder, mut ledger) =
        (terminal(), Recorder::new(&plan), Ledger::new(1, WAREHOUSES as u32));
    bencher.bench_local(|| {
        let input = terminal.next_input();
        let output = runtime.block_on(execute(&mut session, profile, &input)).expect("it completes");
        ledger.acknowledge(&input, &output);
        rules::tally(&input, &output, |index, hits, trials| recorder.tally(index, Phase::Measured, hits, trials));
        let (kind, think) = (input.kind(), terminal.think_us(input.kind(), 1.0));
        let sample = Sample { response_us: 10, service_us: 8, queue_us: 2, retries: 0, outcome: Outcome::Committed };
        recorder.transaction(kind.index(), Phase::Measured, &sample);
        recorder.think(kind.index(), Phase::Measured, think);
    });
}
