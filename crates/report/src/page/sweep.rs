//! The page of a sweep: throughput and response times over what was varied, and the table.

use maud::html;
use record::sweep::{Mean, PointResult, Sweep};

use super::axis::Axis;
use super::chart::{Chart, Series, Shape, Size, Values};
use super::table::{facts as list, table};
use super::words::{grouped, rate};
use super::{Page, one_line};
use crate::sweep::{conduct, conflicts, deviations, distinctions, facts, ratios, rows};

/// Something that a chart can be drawn over.
struct Over {
    /// Its name in the table.
    name: &'static str,
    /// Its value at a point.
    of: fn(&PointResult) -> Option<u32>,
    /// Whether throughput would ideally grow with it.
    scales: bool,
}

const NODES: &str = "nodes";

const OVER: [Over; 3] = [
    Over { name: "connections", of: |result| result.point.connections, scales: false },
    Over { name: NODES, of: |result| Some(result.point.nodes), scales: true },
    Over { name: "warehouses", of: |result| result.point.warehouses, scales: true },
];

/// The page of a sweep.
#[must_use]
pub fn sweep_page(sweep: &Sweep) -> Page {
    let (columns, rows) = rows(sweep);
    let header_row: Vec<&str> = columns.iter().map(String::as_str).collect();
    let metric = if sweep.is_standard() { "tpmC" } else { "NOPM" };
    let most = sweep.results.iter().filter(|result| result.valid > 0);
    let most = most.max_by(|a, b| a.nopm.value.total_cmp(&b.nopm.value));
    let deviations = deviations(sweep);
    let title = format!("Sweep of {} points", sweep.results.len());
    let header = html! {
        header {
            p.brand { "weighbridge" }
            h1 { (title) }
            @if let Some(most) = most {
                p { "Most: " strong { (rate(most.nopm.value)) " " (metric) } (where_it_was(sweep, most)) }
            }
            (list(&facts(sweep)))
            p { (conduct(sweep)) "." }
        }
    };
    let content = html! {
        section id="charts" aria-labelledby="charts-h" {
            h2 id="charts-h" { "Throughput and response time" }
            @for line in ratios(sweep) { p { (line) } }
            @for line in conflicts(sweep) { p.note { (line) } }
            @for chart in charts(sweep, metric) { (chart.render()) }
        }
        section id="points" aria-labelledby="points-h" {
            h2 id="points-h" { "Points" }
            (table("What each point of the grid gave", &header_row, &rows))
            @for warning in &sweep.warnings { p.note { (warning) } }
        }
        @if !deviations.is_empty() {
            section id="deviations" aria-labelledby="deviations-h" {
                h2 id="deviations-h" { "Deviations from the standard" }
                ul { @for deviation in &deviations { li { (deviation) } } }
            }
        }
    };
    let footer = html! {
        p { (one_line(crate::NOT_AUDITED)) }
        p { "Derived from the sweep's folder alone, which holds the folder of every run." }
    };
    Page { title, header, content, footer }
}

fn where_it_was(sweep: &Sweep, result: &PointResult) -> String {
    let at = sweep.results.iter().position(|other| std::ptr::eq(other, result)).unwrap_or_default();
    let said: Vec<String> = distinctions(&sweep.results).iter().map(|axis| axis.said(&axis.values[at])).collect();
    format!(" at {}", said.join(", "))
}

fn charts(sweep: &Sweep, metric: &str) -> Vec<Chart> {
    let mut charts = Vec::new();
    for over in &OVER {
        let values: Vec<Option<u32>> = sweep.results.iter().map(over.of).collect();
        let varies = values.iter().flatten().any(|value| Some(*value) != values[0]);
        if varies && !grows_with_nodes(sweep, over) {
            let lines = lines(sweep, over);
            charts.push(throughput(&lines, over, metric));
            charts.push(response(&lines, over));
        }
    }
    charts
}

/// Whether something follows from the number of nodes, so that a chart over it would say the same again.
fn grows_with_nodes(sweep: &Sweep, over: &Over) -> bool {
    let nodes = |result: &PointResult| result.point.nodes;
    let first = &sweep.results[0];
    let same = |a: &PointResult, b: &PointResult| (nodes(a) == nodes(b)) == ((over.of)(a) == (over.of)(b));
    over.name != NODES
        && sweep.results.iter().any(|result| nodes(result) != nodes(first))
        && sweep.results.iter().all(|a| sweep.results.iter().all(|b| same(a, b)))
}

/// A line of a chart: the points that differ in nothing but the place.
struct Line<'a> {
    name: String,
    points: Vec<(f64, &'a PointResult)>,
}

fn lines<'a>(sweep: &'a Sweep, over: &Over) -> Vec<Line<'a>> {
    let others: Vec<_> = distinctions(&sweep.results)
        .into_iter()
        .filter(|axis| axis.name != over.name && !(over.scales && axis.name == "warehouses"))
        .filter(|axis| !OVER.iter().any(|known| known.name == axis.name && grows_with_nodes(sweep, known)))
        .collect();
    let mut lines: Vec<Line<'a>> = Vec::new();
    for (at, result) in sweep.results.iter().enumerate() {
        let Some(x) = (over.of)(result).filter(|_| result.valid > 0) else { continue };
        let name = others.iter().map(|axis| axis.said(&axis.values[at])).collect::<Vec<_>>().join(", ");
        let line = match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line,
            None => {
                lines.push(Line { name, points: Vec::new() });
                lines.last_mut().expect("one was pushed")
            }
        };
        line.points.push((f64::from(x), result));
    }
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    lines
}

fn throughput(lines: &[Line], over: &Over, metric: &str) -> Chart {
    let mut chart = chart(lines, over, |result| result.nopm);
    chart.id = format!("throughput-{}", over.name);
    chart.title = format!("{metric} over {}", over.name);
    chart.y.title = format!("{metric}, with 95 % intervals");
    chart.says = format!(
        "New-Orders a minute at each number of {}; the band is the 95 % interval of the repetitions.",
        over.name
    );
    if over.scales {
        // What the first point of a line would grow to, were nothing lost.
        for (index, line) in lines.iter().enumerate() {
            let (Some((x, first)), Some((last, _))) = (line.points.first(), line.points.last()) else { continue };
            let ideal = |at: f64| first.nopm.value * at / x;
            let name = if lines.len() == 1 { "ideal".to_owned() } else { format!("{}, ideal", line.name) };
            let ends = vec![(*x, ideal(*x)), (*last, ideal(*last))];
            chart.series.push(Series {
                name: name.clone(),
                colour: format!("dashed {}", super::colour(index)),
                shape: Shape::Line(ends),
            });
            chart.values.columns.push((name, chart.values.x.iter().map(|at| ideal(*at)).collect()));
            if chart.y.high < ideal(*last) {
                chart.y = Axis::linear(chart.y.title.clone(), ideal(*last));
            }
        }
        chart.says.push_str(" The ideal line is the first point multiplied: scaling without loss.");
    }
    chart
}

fn response(lines: &[Line], over: &Over) -> Chart {
    let mut chart = chart(lines, over, |result| result.p95_ms);
    chart.id = format!("p95-{}", over.name);
    chart.title = format!("New-Order's 95th percentile over {}", over.name);
    chart.y.title = "response time, ms".to_owned();
    chart.says = format!("95 of 100 New-Orders were answered within this time, at each number of {}.", over.name);
    chart
}

fn chart(lines: &[Line], over: &Over, figure: fn(&PointResult) -> Mean) -> Chart {
    let mut places: Vec<f64> = lines.iter().flat_map(|line| line.points.iter().map(|(x, _)| *x)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let (mut series, mut columns, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
    let mut most: f64 = 0.0;
    for (index, line) in lines.iter().enumerate() {
        let colour = super::colour(index);
        let points: Vec<(f64, f64)> = line.points.iter().map(|(x, result)| (*x, figure(result).value)).collect();
        let bands: Vec<(f64, f64, f64)> = line
            .points
            .iter()
            .filter_map(|(x, result)| figure(result).interval.map(|[low, high]| (*x, low, high)))
            .collect();
        most = bands.iter().map(|band| band.2).chain(points.iter().map(|point| point.1)).fold(most, f64::max);
        let at = |x: &f64| points.iter().find(|point| point.0 == *x).map_or(f64::NAN, |point| point.1);
        let name = if line.name.is_empty() { "measured".to_owned() } else { line.name.clone() };
        let figures: Vec<String> = points.iter().map(|(x, y)| format!("{} at {x}", grouped(*y, 1))).collect();
        summaries.push(format!("{name}: {}.", figures.join(", ")));
        if !bands.is_empty() {
            series.push(Series { name: String::new(), colour: colour.clone(), shape: Shape::Band(bands) });
        }
        series.push(Series { name: name.clone(), colour: colour.clone(), shape: Shape::Line(points.clone()) });
        series.push(Series { name: String::new(), colour, shape: Shape::Dots(points.clone()) });
        columns.push((name, places.iter().map(at).collect()));
    }
    Chart {
        id: String::new(),
        title: String::new(),
        says: String::new(),
        summary: summaries.join(" "),
        x: Axis::linear(over.name, places.last().copied().unwrap_or(1.0)),
        y: Axis::linear("", most),
        zones: Vec::new(),
        series,
        marks: Vec::new(),
        values: Values { x: places, names: Vec::new(), columns },
        size: Size::Wide,
    }
}
