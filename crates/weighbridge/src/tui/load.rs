//! A load, drawn.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::Picture;
use super::draw::{QUIET, STRONG, bar, bytes, chart, clock, figures, grouped};
use super::state::LoadState;

/// Steps that are shown where there is room.
const STEPS: u16 = 8;

impl Picture for LoadState {
    fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let steps = STEPS.min(area.height.saturating_sub(4) / 2).max(1);
        let [title, progress, rates, charts, head, list] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(0),
            Constraint::Length(1),
            Constraint::Length(steps),
        ])
        .areas(area);
        frame.render_widget(Line::styled(self.title.clone(), STRONG), title);

        let share = self.done as f64 / self.total.max(1) as f64;
        let mean = self.mean();
        let left = self.total.saturating_sub(self.done) as f64 / mean.max(1e-9);
        let after = match self.total {
            0 => String::new(),
            total if self.done >= total => " all sent".to_owned(),
            _ if mean <= 0.0 => format!(" {:.0} %", 100.0 * share),
            _ => format!(" {:.0} %  {} left", 100.0 * share, clock(left)),
        };
        let before = format!("{} of {} {} ", grouped(self.done as f64), grouped(self.total as f64), self.unit);
        bar(frame, progress, &before, share, &after);

        let now = self.past.last().copied().unwrap_or(mean);
        let pairs = [
            ("elapsed", clock(self.elapsed_s), Style::new()),
            ("a second: now", grouped(now), STRONG),
            ("mean", grouped(mean), STRONG),
        ];
        let weight = self.weight.map(|(cpu, memory)| {
            [("this process", format!("{cpu:.0} % of a core"), Style::new()), ("", bytes(memory), Style::new())]
        });
        let pairs: Vec<_> = pairs.into_iter().chain(weight.into_iter().flatten()).collect();
        frame.render_widget(figures(&pairs, rates.width), rates);
        if charts.height >= 4 {
            chart(frame, charts, &format!("{} a second", self.unit), &self.past, |_| true);
        }
        frame.render_widget(Line::styled("Steps", QUIET), head);
        let shown = self.steps.iter().skip(self.steps.len().saturating_sub(list.height.into()));
        let lines = shown.map(|(at, what)| {
            Line::from(vec![Span::styled(format!("{:>8}  ", clock(*at)), QUIET), Span::raw(what.clone())])
        });
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), list);
    }

    fn terms(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("rows", "sent, those of an earlier attempt included; keys, indexes and statistics come after the last"),
            ("now", "rows in the last second; mean: since the first row"),
            ("steps", "what is under way, the latest last, with the time at which it began"),
        ]
    }
}
