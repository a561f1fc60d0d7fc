//! Golden frames: a state goes in, the text of a frame comes out. With `RENEW_FRAMES` in the environment they are
//! written anew, to be looked at.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use record::gateway::Moves;
use record::plan::{GatewayPlan, Pacing, ScaleRule, TransactionRule};
use record::timeline::Stage;
use record::{Plan, TimelineRow};

use super::keys::{Key, meanings};
use super::messages::Messages;
use super::state::{Gateway, LoadState, Now, RunState, Transaction};
use super::{Mode, Picture, draw};
use crate::progress::Reading;

/// A frame as text, without blanks at the ends of lines.
fn frame(picture: &impl Picture, messages: &Messages, mode: Mode, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw::whole(frame, picture, messages, mode)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned() + "\n";
    (0..height).map(line).collect()
}

/// Holds a frame against the one that is kept under `name`.
fn golden(name: &str, frame: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/tui/frames/{name}.txt"));
    if std::env::var_os("RENEW_FRAMES").is_some() {
        std::fs::write(&path, frame).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == frame, "{name} is now\n{frame}\nand was\n{kept}");
}

fn rule(title: &str, response_limit_seconds: f64) -> TransactionRule {
    let headline = title == "New-Order";
    TransactionRule { title: title.to_owned(), headline, response_limit_seconds, ..Default::default() }
}

fn plan() -> Plan {
    Plan {
        workload: "tpcc".into(),
        warehouses: 10,
        terminals: 100,
        connections: 20,
        threads: 2,
        pacing: Pacing::Standard,
        style: "batch".into(),
        isolation: "serializable".into(),
        ramp_seconds: 30.0,
        duration_seconds: 300.0,
        transactions: vec![
            rule("New-Order", 5.0),
            rule("Payment", 5.0),
            rule("Order-Status", 5.0),
            TransactionRule { deferred_limit_seconds: Some(80.0), ..rule("Delivery", 5.0) },
            rule("Stock-Level", 20.0),
        ],
        scale: ScaleRule { max_per_warehouse: 12.86, ..Default::default() },
        ..Default::default()
    }
}

/// A second that ends at `at`.
fn second(at: u32) -> Now {
    let stage = if at <= 30 { Stage::Ramp } else { Stage::Measured };
    let new_orders = u64::from(at.min(30) / 15 + u32::from(at.is_multiple_of(7)));
    let row = TimelineRow {
        elapsed_s: f64::from(at),
        stage,
        completed: vec![new_orders, 2, 0, 0, 1],
        p90_ms: 12.0 + f64::from(at % 10),
        queue_p99_ms: 0.3,
        lag_p99_ms: 1.4,
        cpu_percent: 3.4,
        rss_bytes: 48 << 20,
        ..Default::default()
    };
    let of = |a_minute, share, p90| Transaction {
        a_minute,
        share: (share > 0.0).then_some(share),
        times_ms: [p90 / 2.0, p90, p90 * 2.0, p90 * 3.0],
        ..Default::default()
    };
    let transactions = vec![
        of(60.0 * new_orders as f64, 0.448, 14.2),
        of(120.0, 0.431, 6.9),
        of(0.0, 0.04, 2.2),
        of(0.0, 0.041, 0.1),
        of(0.0, 0.0, 44.0),
        of(60.0, 0.04, 31.0),
    ];
    Now { row, seconds: 1.0, idle: 17, transactions, gateways: Vec::new() }
}

fn run(seconds: u32) -> RunState {
    let mut state = RunState::new(plan(), "postgres://me@localhost/bench".into(), false);
    (1..=seconds).for_each(|at| state.take(second(at)));
    state
}

/// A run in trouble, by three gateways.
fn troubled() -> (RunState, Messages) {
    let mut plan = plan();
    plan.nonstandard = vec!["no keying and think times".into()];
    plan.pacing = Pacing::None;
    plan.gateways = [1, 2, 3]
        .map(|n| GatewayPlan {
            url: format!("postgres://root@node{n}:26257/bench"),
            connections: 7,
            ..Default::default()
        })
        .into();
    let mut state =
        RunState::new(plan, "postgres://root@node1:26257/bench postgres://root@node2:26257/bench".into(), false);
    (1..=200).for_each(|at| state.take(second(at)));
    let mut last = second(201);
    (last.row.waiting, last.row.backlog, last.row.queue_p99_ms) = (1234, 17, 812.5);
    let [first, second, ..] = last.transactions.as_mut_slice() else { unreachable!() };
    (first.errors, first.retries, first.times_ms) = (12, 34_567, [1800.0, 6100.0, 9000.0, 30_000.0]);
    second.errors = 3;
    let gateway = |rate, errors, lost, failovers_from| Gateway {
        headline_a_minute: rate,
        a_minute: rate * 2.2,
        p90_ms: 6100.0,
        errors,
        retries: 11_522,
        moves: Moves { lost, failovers_from, ..Default::default() },
    };
    last.gateways = vec![gateway(612.0, 0, 0, 0), gateway(0.0, 15, 7, 7), gateway(588.0, 0, 0, 0)];
    state.take(last);
    let mut messages = Messages::default();
    messages.take(b"\x1b[33m WARN\x1b[0m postgres://root@node2:26257/bench: connection lost\n");
    messages.take(b"fault 1: node 2 stopped\n");
    (state, messages)
}

fn load(seconds: u32) -> LoadState {
    let mut state = LoadState::new("load of warehouses 1 to 10 into sqlite:weighbridge.db".into(), "rows");
    for at in 0..=seconds {
        let table = ["item", "stock", "customer", "order_line"][(at / 8 % 4) as usize];
        let (done, doing) = (u64::from(at) * 160_000, format!("{table} of warehouse {}", at / 8 + 1));
        state.weight = Some((87.0, 66 << 20));
        state.take_at(f64::from(at), Reading { done: done.min(5_000_000), total: 5_000_000, doing });
    }
    state
}

const WIDE: (u16, u16) = (140, 40);
const USUAL: (u16, u16) = (100, 30);
const NARROW: (u16, u16) = (60, 15);

#[test]
fn a_run() {
    let quiet = (Messages::default(), Mode::default());
    golden("run", &frame(&run(75), &quiet.0, quiet.1, USUAL));
    golden("run-wide", &frame(&run(330), &quiet.0, quiet.1, WIDE));
    golden("run-narrow", &frame(&run(75), &quiet.0, quiet.1, NARROW));
    golden("run-start", &frame(&run(0), &quiet.0, quiet.1, USUAL));
}

#[test]
fn a_run_in_trouble_by_several_gateways() {
    let (state, messages) = troubled();
    golden("trouble", &frame(&state, &messages, Mode { ending: true, ..Mode::default() }, USUAL));
    golden("trouble-wide", &frame(&state, &messages, Mode::default(), WIDE));
    golden("trouble-narrow", &frame(&state, &messages, Mode::default(), NARROW));
}

#[test]
fn the_documentation_shows_a_real_frame() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = std::fs::read_to_string(folder.join("src/tui/frames/trouble.txt")).unwrap();
    let indented = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let shown: String = kept.lines().map(indented).collect();
    let page = std::fs::read_to_string(folder.join("../../docs/commands.md")).unwrap();
    assert!(page.contains(&shown), "docs/commands.md lacks\n{shown}");
}

#[test]
fn a_load() {
    let none = Messages::default();
    golden("load", &frame(&load(20), &none, Mode::default(), USUAL));
    golden("load-wide", &frame(&load(40), &none, Mode { paused: true, ..Mode::default() }, WIDE));
    golden("load-narrow", &frame(&load(20), &none, Mode::default(), NARROW));
}

#[test]
fn a_resumed_load_has_the_rates_of_its_own_rows() {
    let mut state = LoadState::new("load".into(), "rows");
    for (at, done, total) in [(0.0, 0, 0), (60.0, 900, 1000), (65.0, 930, 1000), (70.0, 950, 1000)] {
        state.take_at(at, Reading { done, total, doing: String::new() });
    }
    assert_eq!((state.mean(), state.past.as_slice()), (5.0, &[6.0, 4.0][..]));
}

#[test]
fn help() {
    let none = Messages::default();
    let mode = Mode { help: true, ..Mode::default() };
    golden("help-run", &frame(&run(75), &none, mode, USUAL));
    golden("help-load", &frame(&load(20), &none, mode, NARROW));
}

#[test]
fn no_terminal_is_too_small() {
    let (state, messages) = troubled();
    let mode = Mode { help: true, ..Mode::default() };
    for width in [1, 2, 7, 20, 59] {
        for height in [1, 2, 3, 6, 9] {
            assert_eq!(frame(&state, &messages, mode, (width, height)).lines().count(), usize::from(height));
            frame(&state, &messages, Mode::default(), (width, height));
            frame(&load(9), &messages, mode, (width, height));
        }
    }
}

#[test]
fn keys_mean_what_the_help_says() {
    for (pressed, meant) in [("?", Key::Help), ("h", Key::Help), ("p", Key::Pause), ("\x1b", Key::Back)] {
        assert_eq!(meanings(pressed.as_bytes()), [meant], "{pressed:?}");
    }
    assert_eq!(meanings(b"q\x03"), [Key::End; 2]);
    assert_eq!(meanings(b"?p\x1b\x1bq"), [Key::Help, Key::Pause, Key::Back, Key::Back, Key::End]);
}

#[test]
fn other_keys_mean_nothing() {
    // Letters, Ctrl-Q, an arrow, Ctrl and an arrow, F1, a mouse, begun and never ended, no UTF-8.
    for pressed in
        [&b"cPH\r\x11"[..], b"\x1b[A", b"\x1b[1;5D", b"\x1bOP", b"\x1b[<0;12;5M", b"\x1b[", b"\x1bO", b"\xc3\xff\xc3"]
    {
        assert_eq!(meanings(pressed), [], "{pressed:?}");
        assert_eq!(meanings(&[pressed, b"\x1b[Ap"].concat()).last(), Some(&Key::Pause), "{pressed:?}");
    }
}
