//! What all views have in common: the line of keys, messages, help, bars and charts, and how numbers are written.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Margin, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::line;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, LineGauge, Padding, Paragraph, Sparkline, SparklineBar};

use super::keys::KEYS;
use super::messages::Messages;
use super::{Mode, Picture};

/// What is to be seen first. Colours only add to it: where there are none, nothing is lost.
pub(super) const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// What explains.
pub(super) const QUIET: Style = Style::new().fg(Color::DarkGray);
/// What is not as it should be.
pub(super) const BAD: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
/// What is measured.
pub(super) const MEASURED: Style = Style::new().fg(Color::Cyan);
/// What comes before that.
pub(super) const RAMP: Style = Style::new().fg(Color::DarkGray);

/// Most messages that are shown.
const MESSAGES: u16 = 4;

/// Draws a frame.
pub(super) fn whole<P: Picture>(frame: &mut Frame<'_>, picture: &P, messages: &Messages, mode: Mode) {
    let area = frame.area();
    let most = if area.height >= 24 { MESSAGES } else { 1 };
    let said = u16::try_from(messages.len()).unwrap_or(u16::MAX).min(most);
    let [main, below, keys] = Layout::vertical([
        Constraint::Min(0),
        Constraint::Length(if said > 0 { said + 1 } else { 0 }),
        Constraint::Length(1),
    ])
    .areas(area);
    picture.draw(frame, main.inner(Margin::new(1, 0)));
    if said > 0 {
        let lines: Vec<Line<'_>> =
            messages.latest(said.into()).iter().map(|line| Line::from(format!(" {line}"))).collect();
        let block = Block::new().borders(Borders::TOP).border_style(QUIET).title(" Messages ");
        frame.render_widget(Paragraph::new(lines).block(block), below);
    }
    frame.render_widget(keys_line(mode), keys);
    if mode.help {
        help(frame, picture, area);
    }
}

fn keys_line(mode: Mode) -> Line<'static> {
    let mut spans = vec![Span::raw(" ")];
    for (key, what, _) in KEYS {
        let what = match (key, mode) {
            ("p", Mode { paused: true, .. }) => "go on",
            ("q", Mode { ending: true, .. }) => "leave at once",
            _ => what,
        };
        spans.extend([Span::styled(key, STRONG), Span::styled(format!(" {what}   "), QUIET)]);
    }
    if mode.ending {
        spans.push(Span::styled("ENDING", BAD));
    } else if mode.paused {
        spans.push(Span::styled("DISPLAY PAUSED", STRONG));
    }
    Line::from(spans)
}

fn help<P: Picture>(frame: &mut Frame<'_>, picture: &P, area: Rect) {
    let width = area.width.min(92);
    // Beside the border, the padding and the term.
    let room = usize::from(width.saturating_sub(4 + TERM as u16)).max(1);
    let item = |(term, what): (&'static str, &'static str)| {
        let terms = [term].into_iter().chain(std::iter::repeat(""));
        let lines = terms.zip(wrapped(what, room));
        let line = |(term, what)| Line::from(vec![Span::styled(format!("{term:<TERM$}"), STRONG), Span::raw(what)]);
        lines.map(line).collect::<Vec<_>>()
    };
    let keys = KEYS.iter().flat_map(|(key, _, what)| item((key, what)));
    let terms = picture.terms().iter().copied().flat_map(item);
    let lines: Vec<Line<'_>> = keys.chain([Line::default()]).chain(terms).collect();
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let block = Block::bordered().title(" Help ").padding(Padding::horizontal(1));
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(block), place);
}

/// Cells of a term in the help.
const TERM: usize = 13;

/// A text in lines of at most so many characters, cut between words.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// How far something has come, from 0 to 1, with words on both sides.
pub(super) fn bar(frame: &mut Frame<'_>, area: Rect, before: &str, share: f64, after: &str) {
    let share = share.clamp(0.0, 1.0);
    let [bar, rest] = Layout::horizontal([Constraint::Min(0), Constraint::Length(width(after))]).areas(area);
    let gauge = LineGauge::default()
        .label(Span::styled(before.to_owned(), STRONG))
        .ratio(share)
        .filled_symbol("█")
        .unfilled_symbol("░")
        .filled_style(MEASURED)
        .unfilled_style(QUIET);
    frame.render_widget(gauge, bar);
    frame.render_widget(Paragraph::new(after.to_owned()).alignment(Alignment::Right), rest);
}

/// A series over time as columns, the latest last: a second each, or the mean of several where there are more
/// seconds than columns. `strong` tells which seconds are drawn as those that count.
pub(super) fn chart(frame: &mut Frame<'_>, area: Rect, title: &str, values: &[f64], strong: impl Fn(usize) -> bool) {
    let columns = usize::from(area.width.saturating_sub(2)).max(1);
    let each = values.len().div_ceil(columns).max(1);
    let means: Vec<f64> = values.chunks(each).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
    let peak = means.iter().copied().fold(0.0, f64::max);
    // Sparklines are of whole numbers: thousandths of the peak are finer than any terminal.
    let bars = means.iter().enumerate().map(|(at, mean)| {
        let style = if strong(at * each) { MEASURED } else { RAMP };
        SparklineBar::from((1000.0 * mean / peak.max(1e-9)) as u64).style(style)
    });
    let footing = match each {
        1 => " a column a second ".to_owned(),
        _ => format!(" a column: {each} s "),
    };
    let block = Block::bordered()
        .border_style(QUIET)
        .title(Line::from(vec![
            Span::styled(format!(" {title}, "), STRONG),
            Span::raw(format!("top {} ", short(peak))),
        ]))
        .title_bottom(Line::styled(footing, QUIET).right_aligned());
    frame.render_widget(Sparkline::default().data(bars).max(1000).block(block), area);
}

/// A rule above a part.
pub(super) fn rule(frame: &mut Frame<'_>, area: Rect) {
    let rule = line::HORIZONTAL.repeat(area.width.into());
    frame.render_widget(Paragraph::new(rule).style(QUIET), Rect { height: area.height.min(1), ..area });
}

/// Term and value pairs in one line, as many as fit.
pub(super) fn figures(pairs: &[(&str, String, Style)], room: u16) -> Line<'static> {
    let mut spans = Vec::new();
    let mut used = 0;
    for (term, value, style) in pairs {
        let gap = if spans.is_empty() { "" } else { "   " };
        let space = if term.is_empty() { "" } else { " " };
        let wide = width(gap) + width(term) + width(space) + width(value);
        if used + wide > room {
            break;
        }
        used += wide;
        spans.extend([Span::styled(format!("{gap}{term}{space}"), QUIET), Span::styled(value.clone(), *style)]);
    }
    Line::from(spans)
}

/// How many cells a text takes.
pub(super) fn width(text: &str) -> u16 {
    u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX)
}

/// A whole number with its thousands apart.
pub(super) fn grouped(number: f64) -> String {
    // The sum of nothing is -0.
    let digits = format!("{:.0}", number + 0.0);
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number with a tenth where it is small.
pub(super) fn short(number: f64) -> String {
    if number < 100.0 { format!("{number:.1}") } else { grouped(number) }
}

/// Seconds as on a clock: 1:05, 2:00:00.
pub(super) fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Bytes, as people read them.
pub(super) fn bytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}
