//! A run, drawn.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use record::timeline::Stage;

use super::Picture;
use super::draw::{BAD, QUIET, STRONG, bar, bytes, chart, clock, figures, grouped, rule, short};
use super::state::{Gateway, Now, Part, RunState, Transaction};

/// A column of a table: its head, its width, the least width of a terminal that has room for it, and its cell.
struct Column<T> {
    head: &'static str,
    wide: u16,
    from: u16,
    cell: fn(&T) -> (String, Style),
}

const fn column<T>(head: &'static str, wide: u16, from: u16, cell: fn(&T) -> (String, Style)) -> Column<T> {
    Column { head, wide, from, cell }
}

type OfPart<'a> = (&'a Part, Transaction);

/// What is not nought is to be seen.
fn trouble(count: u64) -> (String, Style) {
    (grouped(count as f64), if count > 0 { BAD } else { Style::new() })
}

fn plain(text: String) -> (String, Style) {
    (text, Style::new())
}

/// A time of a transaction, as a cell.
fn time_ms<const AT: usize>((_, of): &OfPart<'_>) -> (String, Style) {
    plain(short(of.times_ms[AT]))
}

/// The 90th percentile, which the standard, or the workload's file, limits.
fn p90(of: &OfPart<'_>) -> (String, Style) {
    let (text, _) = time_ms::<1>(of);
    let limit = of.0.limit_s;
    match limit > 0.0 && of.1.times_ms[1] > 1000.0 * limit {
        true => (format!("!{text}"), BAD),
        false => plain(text),
    }
}

fn transaction_columns<'a>() -> [Column<OfPart<'a>>; 10] {
    [
        column("Transaction", 13, 0, |(part, _)| {
            (part.title.clone(), if part.headline { STRONG } else { Style::new() })
        }),
        column("a minute", 10, 0, |(_, of)| plain(grouped(of.a_minute))),
        column("share %", 9, 92, |(_, of)| {
            plain(of.share.map_or_else(String::new, |share| format!("{:.1}", 100.0 * share)))
        }),
        column("p50 ms", 9, 75, time_ms::<0>),
        column("p90 ms", 9, 0, p90),
        column("p99 ms", 9, 0, time_ms::<2>),
        column("max ms", 9, 75, time_ms::<3>),
        column("limit ms", 10, 92, |(part, _)| {
            plain(if part.limit_s > 0.0 { grouped(1000.0 * part.limit_s) } else { String::new() })
        }),
        column("errors", 8, 0, |(_, of)| trouble(of.errors)),
        column("retries", 9, 0, |(_, of)| plain(grouped(of.retries as f64))),
    ]
}

type OfGateway<'a> = (&'a str, u32, Gateway);

fn gateway_columns<'a>() -> [Column<OfGateway<'a>>; 8] {
    [
        column("conns", 7, 75, |(_, connections, _)| plain(connections.to_string())),
        column("NO/min", 9, 0, |(.., of)| plain(grouped(of.headline_a_minute))),
        column("tx/min", 9, 75, |(.., of)| plain(grouped(of.a_minute))),
        column("p90 ms", 9, 0, |(.., of)| plain(short(of.p90_ms))),
        column("errors", 8, 0, |(.., of)| trouble(of.errors)),
        column("retries", 9, 92, |(.., of)| plain(grouped(of.retries as f64))),
        column("lost", 6, 0, |(.., of)| trouble(of.moves.lost)),
        column("moved", 7, 92, |(.., of)| plain(grouped(of.moves.failovers_from as f64))),
    ]
}

/// A table; the first column is at the left, all others at the right of their width.
fn table<T>(frame: &mut Frame<'_>, area: Rect, first: u16, columns: &[Column<T>], items: &[T]) {
    let columns: Vec<&Column<T>> = columns.iter().filter(|column| area.width + 2 >= column.from).collect();
    let side = |at: usize| if at == 0 && first == 0 { Alignment::Left } else { Alignment::Right };
    let cell = |at: usize, text: String, style| Cell::from(Text::from(text).alignment(side(at))).style(style);
    let head = columns.iter().enumerate().map(|(at, column)| cell(at, column.head.to_owned(), QUIET));
    let rows = items.iter().map(|item| {
        Row::new(columns.iter().enumerate().map(|(at, column)| {
            let (text, style) = (column.cell)(item);
            cell(at, text, style)
        }))
    });
    let widths = columns.iter().map(|column| Constraint::Length(column.wide));
    let table = Table::new(rows, widths).column_spacing(0).header(Row::new(head));
    let beside = Rect { x: area.x + first.min(area.width), width: area.width.saturating_sub(first), ..area };
    frame.render_widget(table, beside);
}

/// The most gateways that are shown by name.
const GATEWAYS: usize = 8;

/// Lines of the charts that are worth drawing.
const CHART: u16 = 4;

impl Picture for RunState {
    fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let before = Now { transactions: vec![Transaction::default(); self.parts.len()], ..Now::default() };
        let now = self.now.as_ref().unwrap_or(&before);
        let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX).saturating_add(1);
        let lines = if area.width < 100 { 2 } else { 1 };
        let types = rows(self.parts.len());
        // What matters most has its place first; the charts take what is left.
        let mut left = area.height.saturating_sub(2 + lines + types + 2);
        let mut take = |want: u16| {
            let given = if want <= left { want } else { 0 };
            left -= given;
            given
        };
        let shown = now.gateways.len().min(GATEWAYS);
        let gateways = take(if shown > 1 { rows(shown) } else { 0 });
        let plan = take(1);
        let gap = take(1);
        let gateway_gap = take(u16::from(gateways > 0));
        let charts = if left >= CHART { left } else { 0 };
        let [title, plan_place, progress, rates, charts, of_types, _, of_gateways, gap, client] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(plan),
            Constraint::Length(1),
            Constraint::Length(lines),
            Constraint::Length(charts),
            Constraint::Length(types),
            Constraint::Length(gateway_gap),
            Constraint::Length(gateways),
            Constraint::Length(gap),
            Constraint::Length(2),
        ])
        .areas(area);

        frame.render_widget(Line::styled(format!("{} on {}", self.plan.workload, self.target), STRONG), title);
        frame.render_widget(self.plan_line(), plan_place);
        self.progress(frame, progress, now);
        frame.render_widget(self.rates(now, rates), rates);
        self.charts(frame, charts);
        let of: Vec<OfPart<'_>> = self.parts.iter().zip(now.transactions.iter().cloned()).collect();
        table(frame, of_types, 0, &transaction_columns(), &of);
        if gateways > 0 {
            self.gateways(frame, of_gateways, now);
        }
        rule(frame, gap);
        frame.render_widget(self.client(now, client.width), client);
    }

    fn terms(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("now", "the rate in the last second, a minute; mean: since the measurement began"),
            (
                "efficiency",
                "the mean as a share of the most that the standard lets the warehouses give; n/a: not at its pace",
            ),
            ("times", "response times; of the ramp, then of the measurement. ! is above the limit"),
            ("errors", "transactions that failed; retries: attempts beyond the first; both of the whole run"),
            ("connections", "waiting: terminals in the queue for one; wait: how long they waited, 99th percentile"),
            ("this tool", "its CPU, memory, and how late its timer woke terminals (lag, 99th percentile)"),
        ]
    }
}

impl RunState {
    fn plan_line(&self) -> Line<'static> {
        let plan = &self.plan;
        let what =
            if plan.has_warehouses() { format!("warehouses {}", plan.warehouses) } else { plan.workload.clone() };
        let text = format!(
            "{what}, terminals {}, pacing {}, style {}, {}",
            plan.terminals, plan.pacing, plan.style, plan.isolation
        );
        Line::styled(text, QUIET)
    }

    fn progress(&self, frame: &mut Frame<'_>, area: Rect, now: &Now) {
        let total = self.plan.ramp_seconds + self.plan.duration_seconds;
        let at = now.row.elapsed_s;
        let stage = match self.now {
            None => "starting",
            Some(_) => now.row.stage.name(),
        };
        let share = at / total.max(1e-9);
        let after = match now.row.stage {
            Stage::Drain => " the last transactions end".to_owned(),
            _ => format!(" {:.0} %  {} left", 100.0 * share.min(1.0), clock((total - at).ceil())),
        };
        bar(frame, area, &format!("{stage}  {} of {} ", clock(at), clock(total)), share, &after);
    }

    fn rates(&self, now: &Now, area: Rect) -> Text<'static> {
        let mean = self.rate_measured().map_or_else(|| "-".to_owned(), short);
        let efficiency = match self.efficiency() {
            Some(efficiency) => format!("{:.1} %", 100.0 * efficiency),
            None if self.plan.is_standard() => "-".to_owned(),
            None => "n/a".to_owned(),
        };
        let all: f64 = now.transactions.iter().filter(|of| of.share.is_some()).map(|of| of.a_minute).sum();
        let counted = format!("{}s a minute: now", self.plan.headline_title());
        let first = [(counted.as_str(), grouped(self.rate_now()), STRONG), ("mean", mean, STRONG)];
        let second = [("efficiency", efficiency, STRONG), ("all transactions a minute", grouped(all), Style::new())];
        let lines = match area.height {
            1 => vec![figures(&[first, second].concat(), area.width)],
            _ => vec![figures(&first, area.width), figures(&second, area.width)],
        };
        Text::from(lines)
    }

    fn charts(&self, frame: &mut Frame<'_>, area: Rect) {
        if area.height < CHART {
            return;
        }
        let rates: Vec<f64> = self.past.iter().map(|past| past.headline_a_minute).collect();
        let times: Vec<f64> = self.past.iter().map(|past| past.p90_ms).collect();
        let measured = |at: usize| self.past.get(at).is_some_and(|past| past.measured);
        let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).spacing(1).areas(area);
        let title = self.plan.headline_title();
        chart(frame, left, &format!("{title}s a minute"), &rates, measured);
        chart(frame, right, &format!("p90 of {title}, ms"), &times, measured);
    }

    fn gateways(&self, frame: &mut Frame<'_>, area: Rect, now: &Now) {
        let all: Vec<OfGateway<'_>> = self
            .plan
            .gateways
            .iter()
            .zip(&now.gateways)
            .map(|(planned, of)| (planned.url.as_str(), planned.connections, of.clone()))
            .collect();
        let columns = gateway_columns();
        let taken: u16 = columns.iter().filter(|column| area.width + 2 >= column.from).map(|column| column.wide).sum();
        let first = area.width.saturating_sub(taken).min(48);
        let shown = &all[..all.len().min(GATEWAYS)];
        let head = match all.len() - shown.len() {
            0 => "Gateway".to_owned(),
            more => format!("Gateway (and {more} more)"),
        };
        let names =
            [Line::styled(head, QUIET)].into_iter().chain(shown.iter().map(|(url, ..)| Line::from((*url).to_owned())));
        let place = Rect { width: first, ..area };
        frame.render_widget(Paragraph::new(names.collect::<Vec<_>>()), place);
        table(frame, area, first, &columns, shown);
    }

    fn client(&self, now: &Now, room: u16) -> Text<'static> {
        let row = &now.row;
        let used = u64::from(self.plan.connections).saturating_sub(now.idle);
        let waiting = if row.waiting > 0 { STRONG } else { Style::new() };
        let defers = self.plan.transactions.iter().any(|rule| rule.deferred_limit_seconds.is_some());
        let connections = [
            (
                "connections",
                format!("{} of {} used", if self.now.is_some() { used } else { 0 }, self.plan.connections),
                Style::new(),
            ),
            ("waiting", grouped(row.waiting as f64), waiting),
            ("wait p99", format!("{} ms", short(row.queue_p99_ms)), Style::new()),
            ("Deliveries queued", grouped(row.backlog as f64), Style::new()),
        ];
        let connections = &connections[..if defers { 4 } else { 3 }];
        let tool = [
            (
                if self.embedded { "this tool and the database" } else { "this tool" },
                format!("{:.0} % of a core", row.cpu_percent),
                Style::new(),
            ),
            ("", bytes(row.rss_bytes), Style::new()),
            ("lag p99", format!("{} ms", short(row.lag_p99_ms)), Style::new()),
            ("threads", self.plan.threads.to_string(), Style::new()),
        ];
        Text::from(vec![figures(connections, room), figures(&tool, room)])
    }
}
