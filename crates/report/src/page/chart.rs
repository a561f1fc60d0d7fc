//! A chart as inline SVG: complete without a script, with its values beside it for the script that zooms and tells them.
//!
//! What lies in the inner `svg.plot` is stretched by a zoom; ticks and labels around it are set anew by the script.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};
use serde_json::json;

use super::axis::Axis;

/// A chart with its words.
pub(super) struct Chart {
    /// Unique in the page.
    pub(super) id: String,
    /// Its heading.
    pub(super) title: String,
    /// What it shows, in a sentence or two.
    pub(super) says: String,
    /// What it would tell somebody who can't see it: the figures that matter.
    pub(super) summary: String,
    /// The horizontal axis.
    pub(super) x: Axis,
    /// The vertical axis.
    pub(super) y: Axis,
    /// Shaded parts, behind everything.
    pub(super) zones: Vec<(f64, f64)>,
    /// What is drawn, from back to front.
    pub(super) series: Vec<Series>,
    /// Lines with a label, in front.
    pub(super) marks: Vec<Mark>,
    /// The values to be read under the cursor, and as a table.
    pub(super) values: Values,
    /// How wide it is.
    pub(super) size: Size,
}

/// One thing that is drawn.
pub(super) struct Series {
    /// Its name in the legend; empty: not listed there.
    pub(super) name: String,
    /// Class of its colour.
    pub(super) colour: String,
    /// How it is drawn.
    pub(super) shape: Shape,
}

/// How a series is drawn. A point whose ordinate is no number is a gap.
pub(super) enum Shape {
    /// A line through points.
    Line(Vec<(f64, f64)>),
    /// An area between two ordinates: (x, lower, upper).
    Band(Vec<(f64, f64, f64)>),
    /// Bars from the axis up: (from, to, height).
    Bars(Vec<(f64, f64, f64)>),
    /// Points on their own.
    Dots(Vec<(f64, f64)>),
}

/// A line with a label.
pub(super) enum Mark {
    /// Upright, at a value of the horizontal axis.
    At(f64, String),
    /// Level, at a value of the vertical axis.
    Level(f64, String),
}

/// The values of a chart by their place on the horizontal axis.
#[derive(Default)]
pub(super) struct Values {
    /// Places.
    pub(super) x: Vec<f64>,
    /// What the places are called, where a number alone says too little.
    pub(super) names: Vec<String>,
    /// Names and values; one for each place, and no number where there is none.
    pub(super) columns: Vec<(String, Vec<f64>)>,
}

/// How wide a chart is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// As wide as the page.
    Wide,
    /// Two beside each other.
    Half,
}

/// Room around the plot.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Room above for the title of the vertical axis; each row of labels takes its own.
const TOP: f64 = 24.0;
const ROW: f64 = 15.0;
/// Width of a character of a label, about.
const CHARACTER: f64 = 6.4;

/// Where the plot lies in the picture.
#[derive(Clone, Copy)]
struct Frame {
    top: f64,
    width: f64,
    height: f64,
}

impl Chart {
    /// The figure: heading, sentence, legend, picture, values.
    pub(super) fn render(&self) -> Markup {
        html! {
            figure id=(self.id) class={ "figure " (self.size.class()) } {
                figcaption {
                    h3 { (self.title) }
                    p { (self.says) }
                }
                (self.legend())
                div.chart { (self.picture()) }
            }
        }
    }

    /// Whether any value is above zero.
    pub(super) fn says_something(&self) -> bool {
        self.values.columns.iter().flat_map(|(_, values)| values).any(|value| *value > 0.0)
    }

    fn legend(&self) -> Markup {
        let listed = || self.series.iter().filter(|series| !series.name.is_empty());
        html! {
            @if listed().count() > 1 {
                ul.legend {
                    @for series in listed() {
                        li { span class={ "key " (series.shape.class()) " " (series.colour) } {} (series.name) }
                    }
                }
            }
        }
    }

    fn picture(&self) -> Markup {
        let (labels, rows) = self.placed_labels();
        let (width, height) = self.size.picture();
        let top = TOP + rows as f64 * ROW;
        let frame = Frame { top, width: width - LEFT - RIGHT, height: height - top - BOTTOM };
        let id = &self.id;
        html! {
            svg viewBox={ "0 0 " (width) " " (height) } role="img" aria-labelledby={ (id) "-t " (id) "-d" } {
                title id={ (id) "-t" } { (self.title) }
                desc id={ (id) "-d" } { (self.says) " " (self.summary) }
                text.axis-title x="0" y="12" { (self.y.title) }
                (self.y_ticks(frame))
                g.x-ticks { (self.x_ticks(frame)) }
                svg.plot x=(LEFT) y=(px(top)) width=(px(frame.width)) height=(px(frame.height))
                    viewBox={ "0 0 " (px(frame.width)) " " (px(frame.height)) } preserveAspectRatio="none" {
                    @for (from, to) in &self.zones {
                        rect.zone x=(self.x_px(*from, frame)) y="0" height=(px(frame.height))
                            width=(px((self.x.at(*to) - self.x.at(*from)) * frame.width)) {}
                    }
                    @for series in &self.series {
                        path class={ (series.shape.class()) " " (series.colour) } d=(self.path(&series.shape, frame)) {}
                    }
                    @for mark in &self.marks { (self.mark_line(mark, frame)) }
                }
                line.base x1=(LEFT) x2=(px(LEFT + frame.width)) y1=(px(top + frame.height)) y2=(px(top + frame.height)) {}
                @for label in &labels { (label.render(self, frame)) }
                @for mark in &self.marks { (self.level_label(mark, frame)) }
                text.axis-title x=(px(LEFT + frame.width / 2.0)) y=(px(height - 6.0)) text-anchor="middle" { (self.x.title) }
            }
            script type="application/json" { (self.data(frame)) }
        }
    }

    fn y_ticks(&self, frame: Frame) -> Markup {
        html! {
            @for (value, label) in self.y.ticks() {
                @let y = frame.top + (1.0 - self.y.at(value)) * frame.height;
                line.grid x1=(LEFT) x2=(px(LEFT + frame.width)) y1=(px(y)) y2=(px(y)) {}
                text.tick x=(px(LEFT - 6.0)) y=(px(y + 4.0)) text-anchor="end" { (label) }
            }
        }
    }

    fn x_ticks(&self, frame: Frame) -> Markup {
        let bottom = frame.top + frame.height;
        html! {
            @for (value, label) in self.x.ticks() {
                @let x = px(LEFT + self.x.at(value) * frame.width);
                line.notch x1=(x) x2=(x) y1=(px(bottom)) y2=(px(bottom + 4.0)) {}
                text.tick x=(x) y=(px(bottom + 17.0)) text-anchor="middle" { (label) }
            }
        }
    }

    fn mark_line(&self, mark: &Mark, frame: Frame) -> Markup {
        match mark {
            Mark::At(value, _) => {
                let x = self.x_px(*value, frame);
                html! { line.mark x1=(x) x2=(x) y1="0" y2=(px(frame.height)) {} }
            }
            Mark::Level(value, _) => {
                let y = self.y_px(*value, frame);
                html! { line.mark.level x1="0" x2=(px(frame.width)) y1=(y) y2=(y) {} }
            }
        }
    }

    fn level_label(&self, mark: &Mark, frame: Frame) -> Markup {
        let Mark::Level(value, label) = mark else { return html! {} };
        let y = frame.top + (1.0 - self.y.at(*value)) * frame.height;
        // Below its line where there is no room above.
        let y = if y - frame.top < 16.0 { y + 14.0 } else { y - 5.0 };
        html! { text.mark-label.halo x=(px(LEFT + frame.width - 4.0)) y=(px(y)) text-anchor="end" { (label) } }
    }

    /// Labels of the upright marks, each in the first row where it fits, and the number of rows.
    fn placed_labels(&self) -> (Vec<Label<'_>>, usize) {
        let width = self.size.picture().0 - LEFT - RIGHT;
        let mut upright: Vec<(f64, &str)> = self
            .marks
            .iter()
            .filter_map(|mark| match mark {
                Mark::At(value, label) => Some((*value, label.as_str())),
                Mark::Level(..) => None,
            })
            .collect();
        upright.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut ends: Vec<f64> = Vec::new();
        let labels = upright
            .into_iter()
            .map(|(value, text)| {
                let (at, wide) = (self.x.at(value) * width, text.chars().count() as f64 * CHARACTER);
                let before = at + wide > width;
                let start = if before { at - wide } else { at };
                let row = ends.iter().position(|end| *end <= start).unwrap_or(ends.len());
                if row == ends.len() {
                    ends.push(0.0);
                }
                ends[row] = start + wide + CHARACTER;
                Label { value, text, row, before }
            })
            .collect();
        (labels, ends.len())
    }

    fn path(&self, shape: &Shape, frame: Frame) -> String {
        let mut d = String::new();
        match shape {
            Shape::Line(points) => {
                for run in points.split(|(_, y)| y.is_nan()) {
                    self.trace(&mut d, run.iter().copied(), frame);
                    // A point between two gaps would be a line without length.
                    if run.len() == 1 {
                        d.push_str("h0");
                    }
                }
            }
            Shape::Band(points) => {
                for run in points.split(|(_, lower, upper)| lower.is_nan() || upper.is_nan()) {
                    let upper = run.iter().map(|(x, _, upper)| (*x, *upper));
                    self.trace(&mut d, upper.chain(run.iter().rev().map(|(x, lower, _)| (*x, *lower))), frame);
                    if !run.is_empty() {
                        d.push('Z');
                    }
                }
            }
            Shape::Bars(bars) => {
                for (from, to, height) in bars.iter().filter(|(_, _, height)| *height > 0.0) {
                    let (x, y) = (self.x_px(*from, frame), self.y_px(*height, frame));
                    let _ = write!(d, "M{x} {}V{y}H{}V{0}Z", px(frame.height), self.x_px(*to, frame));
                }
            }
            Shape::Dots(points) => {
                for (x, y) in points.iter().filter(|(_, y)| !y.is_nan()) {
                    let _ = write!(d, "M{} {}h0", self.x_px(*x, frame), self.y_px(*y, frame));
                }
            }
        }
        d
    }

    fn trace(&self, d: &mut String, points: impl Iterator<Item = (f64, f64)>, frame: Frame) {
        for (index, (x, y)) in points.enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(d, "{command}{} {}", self.x_px(x, frame), self.y_px(y, frame));
        }
    }

    fn x_px(&self, value: f64, frame: Frame) -> String {
        px(self.x.at(value) * frame.width)
    }

    fn y_px(&self, value: f64, frame: Frame) -> String {
        px((1.0 - self.y.at(value)) * frame.height)
    }

    /// Everything that the script needs, as JSON that can't end the element it stands in.
    fn data(&self, frame: Frame) -> PreEscaped<String> {
        let columns: Vec<_> = self
            .values
            .columns
            .iter()
            .map(|(name, values)| json!({ "name": name, "y": values.iter().map(|v| rounded(*v)).collect::<Vec<_>>() }))
            .collect();
        let data = json!({
            "title": self.title,
            "scale": self.x.scale.name(),
            "from": self.x.low,
            "to": rounded(self.x.high),
            "xTitle": self.x.title,
            "box": ([LEFT, frame.top, frame.width, frame.height].map(rounded)),
            "x": self.values.x.iter().map(|x| rounded(*x)).collect::<Vec<_>>(),
            "names": self.values.names,
            "columns": columns,
        });
        PreEscaped(data.to_string().replace('<', "\\u003c"))
    }
}

/// A label above its upright mark.
struct Label<'a> {
    value: f64,
    text: &'a str,
    row: usize,
    before: bool,
}

impl Label<'_> {
    fn render(&self, chart: &Chart, frame: Frame) -> Markup {
        let x = LEFT + chart.x.at(self.value) * frame.width;
        let y = TOP + self.row as f64 * ROW + 9.0;
        let (anchor, shift) = if self.before { ("end", -3.0) } else { ("start", 3.0) };
        html! {
            g.at data-x=(rounded(self.value)) transform={ "translate(" (px(x)) ",0)" } {
                line.mark x1="0" x2="0" y1=(px(y - 9.0)) y2=(px(frame.top)) {}
                text.mark-label x=(shift) y=(px(y)) text-anchor=(anchor) { (self.text) }
            }
        }
    }
}

impl Size {
    fn class(self) -> &'static str {
        match self {
            Size::Wide => "wide",
            Size::Half => "half",
        }
    }

    /// Width and height of the picture, in its own units.
    fn picture(self) -> (f64, f64) {
        match self {
            Size::Wide => (780.0, 270.0),
            Size::Half => (380.0, 230.0),
        }
    }
}

impl Shape {
    fn class(&self) -> &'static str {
        match self {
            Shape::Line(_) => "line",
            Shape::Band(_) => "band",
            Shape::Bars(_) => "bars",
            Shape::Dots(_) => "dots",
        }
    }
}

/// A length in the picture, to a tenth, without a zero behind the point.
fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// A value to five significant digits; none where it is no number.
fn rounded(value: f64) -> serde_json::Value {
    if value == 0.0 {
        return json!(0);
    }
    let text = format!("{value:.4e}");
    match text.parse::<f64>() {
        Ok(short) if short.is_finite() && short.fract() == 0.0 && short.abs() < 1e15 => json!(short as i64),
        Ok(short) if short.is_finite() => json!(short),
        _ => serde_json::Value::Null,
    }
}
