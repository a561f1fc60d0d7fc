//! The charts of a run over its time: throughput, response times, errors, waiting, the tool's own weight.

use std::collections::BTreeSet;

use record::recorder::{Clock, Phase};
use record::timeline::{self, Stage};
use record::{Histograms, OpenedRun, Summary};

use super::axis::Axis;
use super::chart::{Chart, Mark, Series, Shape, Size, Values};
use super::colour;
use super::time_buckets::{TimeBucket, TimeBuckets};
use super::words::{duration, grouped, ms, rate};

/// A run, cut into what pictures can show.
pub(super) struct RunCharts<'a> {
    run: &'a OpenedRun,
    summary: &'a Summary,
    headline: usize,
    title: &'a str,
    time_buckets: TimeBuckets,
    /// Where time ends in the pictures, seconds since the start of the run.
    end: f64,
    /// Beginning and end of the measurement interval, if it began.
    interval: Option<(f64, f64)>,
}

/// What a chart of one line tells.
struct SeriesSpec<'a> {
    unit: &'a str,
    /// What of a bucket is shown, where it is not the sum: `worst second`.
    worst: Option<&'a str>,
    value: &'a dyn Fn(&TimeBucket) -> f64,
}

/// Top of an axis that has only whole ticks.
const WHOLE: f64 = 5.0;

/// Marks of trouble that a chart can bear.
const MAX_MARKS: usize = 24;

/// Fewest headline transactions a second for which a second by itself has a rate and a percentile.
const MIN_PER_SECOND: f64 = 10.0;

impl<'a> RunCharts<'a> {
    pub(super) fn for_run(run: &'a OpenedRun, summary: &'a Summary) -> Self {
        let headline = run.record.plan.headline().unwrap_or(0);
        let title = run.record.plan.transactions.get(headline).map_or("", |rule| rule.title.as_str());
        let time_buckets = TimeBuckets::from_rows(&run.timeline, headline);
        let (end, interval) = (time_buckets.end(), time_buckets.interval());
        RunCharts { run, summary, headline, title, end, interval, time_buckets }
    }

    /// Those of a run that is under way, with room for what is to come.
    pub(super) fn under_way(run: &'a OpenedRun, summary: &'a Summary) -> Self {
        let plan = &run.record.plan;
        let pictures = RunCharts::for_run(run, summary);
        // The interval goes on as long as nothing else has come after it.
        let goes_on = pictures.time_buckets.list.last().is_some_and(|bucket| bucket.stage == Stage::Measured);
        let to = |from: f64, to: f64| if goes_on { to.max(from + plan.duration_seconds) } else { to };
        RunCharts {
            end: pictures.end.max(plan.ramp_seconds + plan.duration_seconds),
            interval: pictures.interval.map(|(from, now)| (from, to(from, now))),
            ..pictures
        }
    }

    /// Whether there is anything over time.
    pub(super) fn over_time(&self) -> bool {
        !self.time_buckets.list.is_empty()
    }

    /// Throughput against elapsed time (5.6.4).
    pub(super) fn throughput(&self) -> Chart {
        let list = &self.time_buckets.list;
        let points: Vec<(f64, f64)> = list.iter().map(|s| (s.middle(), s.per_minute(s.done(self.headline)))).collect();
        let extremes: Vec<(f64, f64, f64)> = list.iter().map(|s| (s.middle(), s.extremes.0, s.extremes.1)).collect();
        let thinned = self.time_buckets.rows > 1;
        let colour = colour(self.headline);
        let mut columns = vec![(format!("{}s a minute", self.title), ys(&points))];
        let mut series = Vec::new();
        if thinned {
            columns.push(("lowest second".into(), extremes.iter().map(|(_, low, _)| *low).collect()));
            columns.push(("highest second".into(), extremes.iter().map(|(.., high)| *high).collect()));
            series.push(Series {
                name: "lowest to highest second".into(),
                colour: colour.clone(),
                shape: Shape::Band(extremes),
            });
        }
        let name = if thinned { format!("mean of {} seconds", self.time_buckets.rows) } else { String::new() };
        series.push(Series { name, colour, shape: Shape::Line(points) });
        let nopm = self.summary.nopm;
        let mut marks = self.interval_marks();
        marks.extend(self.outage_marks());
        if nopm > 0.0 {
            marks.push(Mark::Level(nopm, format!("{} a minute in the interval", rate(nopm))));
        }
        let interval = self.summary.nopm_interval;
        let most = highest(&columns);
        let least = columns[0].1.iter().copied().fold(f64::INFINITY, f64::min);
        Chart {
            id: "throughput-over-time".into(),
            title: format!("{} throughput over time", self.title),
            says: format!(
                "How many {}s the database completed a minute, from the start of the run; only the measurement interval \
                 counts, what is shaded does not. The database's checkpoints are not recorded.",
                self.title
            ),
            summary: format!(
                "In the interval {} a minute, 95 % interval {} to {}; over the whole run between {} and {}.",
                rate(nopm),
                rate(interval.low),
                rate(interval.high),
                rate(least),
                rate(most)
            ),
            y: Axis::linear(format!("{}s a minute", self.title), most.max(nopm)),
            marks,
            ..self.timed(series, columns)
        }
    }

    /// Throughput of all types, one upon the other.
    pub(super) fn all_types(&self) -> Chart {
        let list = &self.time_buckets.list;
        let mut floor = vec![0.0; list.len()];
        let mut series = Vec::new();
        let mut columns = Vec::new();
        for (index, rule) in self.run.record.plan.transactions.iter().enumerate() {
            let rates: Vec<f64> = list.iter().map(|s| s.per_minute(s.done(index))).collect();
            let band = list.iter().zip(floor.iter_mut()).zip(&rates).map(|((bucket, floor), rate)| {
                let lower = *floor;
                *floor += rate;
                (bucket.middle(), lower, *floor)
            });
            let shape = Shape::Band(band.collect());
            series.push(Series { name: rule.title.clone(), colour: format!("solid {}", colour(index)), shape });
            columns.push((format!("{}, a minute", rule.title), rates));
        }
        let most = floor.iter().copied().fold(0.0, f64::max);
        Chart {
            id: "types-over-time".into(),
            title: "All transactions over time".into(),
            says: format!(
                "Completed transactions of all types a minute, laid one upon the other: {} at the bottom, the sum at the top.",
                self.title
            ),
            summary: format!("In the interval {} a minute of all types.", rate(self.summary.total_per_minute)),
            y: Axis::linear("transactions a minute", most),
            ..self.timed(series, columns)
        }
    }

    /// Response time of the headline transaction over time; none if nothing was completed.
    pub(super) fn response_over_time(&self) -> Option<Chart> {
        const NAMES: [&str; 4] = ["median", "90th percentile", "99th percentile", "slowest"];
        let list = &self.time_buckets.list;
        let column = |at: usize| -> Vec<f64> { list.iter().map(|s| s.response_ms[at]).collect() };
        let columns: Vec<(String, Vec<f64>)> =
            NAMES.iter().enumerate().map(|(at, name)| (format!("{name}, ms"), column(at))).collect();
        let least = columns[0].1.iter().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let most = highest(&columns);
        if !least.is_finite() {
            return None;
        }
        let colour = colour(self.headline);
        let band = |at: usize| Series {
            name: format!("up to the {}", NAMES[at]),
            colour: format!("fan{at} {colour}"),
            shape: Shape::Band(list.iter().map(|s| (s.middle(), s.response_ms[at - 1], s.response_ms[at])).collect()),
        };
        let median = Shape::Line(list.iter().map(|s| (s.middle(), s.response_ms[0])).collect());
        let mut series: Vec<Series> = [3, 2, 1].into_iter().map(band).collect();
        series.push(Series { name: NAMES[0].into(), colour: colour.clone(), shape: median });
        let response = self.summary.headline(&self.run.record.plan).map(|figures| figures.response).unwrap_or_default();
        Some(Chart {
            id: "response-over-time".into(),
            title: format!("{} response time over time", self.title),
            says: format!(
                "How long {}s took, from sending to the whole answer, on a logarithmic scale: each line of the grid is ten times the one below.{}",
                self.title,
                self.time_buckets.note("the worst second in it")
            ),
            summary: format!(
                "In the interval: median {} ms, 90th percentile {} ms, 99th {} ms, slowest {} ms.",
                ms(response.count, response.p50),
                ms(response.count, response.p90),
                ms(response.count, response.p99),
                ms(response.count, response.max)
            ),
            y: Axis::log("response time, ms (logarithmic)", least, most),
            marks: self.interval_marks(),
            ..self.timed(series, columns)
        })
    }

    /// Response time against throughput (5.6.2), as far as one run tells; none if a second completes too few.
    pub(super) fn response_against_throughput(&self) -> Option<Chart> {
        const CELLS: (f64, f64) = (340.0, 130.0);
        if self.summary.nopm < MIN_PER_SECOND * 60.0 {
            return None;
        }
        let rows = &self.run.timeline;
        let points: Vec<(f64, f64)> = timeline::durations(rows)
            .zip(rows)
            .filter(|(seconds, row)| row.stage == Stage::Measured && *seconds >= 0.5)
            .map(|(seconds, row)| {
                (super::time_buckets::done(&row.completed, self.headline) as f64 * 60.0 / seconds, row.p90_ms)
            })
            .filter(|(done, _)| *done > 0.0)
            .collect();
        let most = |value: fn(&(f64, f64)) -> f64| points.iter().map(value).fold(0.0, f64::max);
        let (x, y) = (
            Axis::linear(format!("{}s a minute", self.title), most(|p| p.0)),
            Axis::linear("90th percentile, ms", most(|p| p.1)),
        );
        // Of points that would fall on the same spot of the picture one is enough.
        let mut taken = BTreeSet::new();
        let mut shown: Vec<(f64, f64)> = points
            .iter()
            .copied()
            .filter(|(rate, time)| taken.insert(((x.at(*rate) * CELLS.0) as u32, (y.at(*time) * CELLS.1) as u32)))
            .collect();
        shown.sort_by(|a, b| a.0.total_cmp(&b.0));
        if shown.is_empty() {
            return None;
        }
        let values = Values {
            x: shown.iter().map(|(rate, _)| *rate).collect(),
            names: Vec::new(),
            columns: vec![("90th percentile in that second, ms".into(), ys(&shown))],
        };
        Some(Chart {
            id: "response-against-throughput".into(),
            title: format!("{} response time against throughput", self.title),
            says: format!(
                "Each dot is a second of the interval: the further right, the more was completed in it; the higher, the slower.{}",
                self.run.record.plan.labels.throughput_graph
            ),
            summary: format!("{} seconds.", points.len()),
            x,
            y,
            zones: Vec::new(),
            series: vec![Series { name: String::new(), colour: colour(self.headline), shape: Shape::Dots(shown) }],
            marks: Vec::new(),
            values,
            size: Size::Wide,
        })
    }

    /// Errors over time.
    pub(super) fn errors(&self) -> Chart {
        let says = "Transactions that were not completed at all.";
        self.half(
            "errors",
            "Errors",
            says,
            SeriesSpec { unit: "a minute", worst: None, value: &|s| s.per_minute(s.errors) },
        )
    }

    /// Retries over time.
    pub(super) fn retries(&self) -> Chart {
        let says = "Attempts beyond the first, after the database refused one for reasons of concurrency.";
        self.half(
            "retries",
            "Retries",
            says,
            SeriesSpec { unit: "a minute", worst: None, value: &|s| s.per_minute(s.retries) },
        )
    }

    /// Terminals that wait.
    pub(super) fn waiting(&self) -> Chart {
        let says = "Terminals that had sent and waited for a free connection, at the end of a second.";
        self.half(
            "waiting",
            "Waiting terminals",
            says,
            SeriesSpec { unit: "terminals", worst: Some("most"), value: &|s| s.waiting as f64 },
        )
    }

    /// Deferred work that waits; none where no transaction has any.
    pub(super) fn backlog(&self) -> Option<Chart> {
        self.run.record.plan.transactions.iter().find(|rule| rule.deferred_limit_seconds.is_some())?;
        let says = "Deliveries in their queue, to be carried out later, at the end of a second.";
        Some(self.half(
            "backlog",
            "Queued Deliveries",
            says,
            SeriesSpec { unit: "Deliveries", worst: Some("most"), value: &|s| s.backlog as f64 },
        ))
    }

    /// The tool's own CPU.
    pub(super) fn cpu(&self) -> Chart {
        let says = "CPU that weighbridge itself used; 100 % is one core.";
        self.half(
            "cpu",
            "CPU of the tool",
            says,
            SeriesSpec { unit: "% of a core", worst: Some("busiest second"), value: &|s| s.cpu_percent },
        )
    }

    /// The tool's own memory.
    pub(super) fn memory(&self) -> Chart {
        self.half(
            "memory",
            "Memory of the tool",
            "Memory that weighbridge itself held.",
            SeriesSpec { unit: "MiB", worst: Some("most"), value: &|s| s.rss_bytes as f64 / f64::from(1 << 20) },
        )
    }

    /// How late the tool's timer was.
    pub(super) fn lag(&self) -> Chart {
        let says = "How late weighbridge's own timer woke its terminals; one in a hundred was woken later still.";
        self.half(
            "lag",
            "Timer lag of the tool",
            says,
            SeriesSpec { unit: "ms", worst: Some("worst second"), value: &|s| s.lag_p99_ms },
        )
    }

    /// The longest wait for a connection.
    pub(super) fn queue(&self) -> Chart {
        let says = format!("How long {}s waited for a connection; one in a hundred waited longer still.", self.title);
        self.half(
            "queue",
            "Wait for a connection",
            &says,
            SeriesSpec { unit: "ms", worst: Some("worst second"), value: &|s| s.queue_p99_ms },
        )
    }

    /// One line over time, from zero, half as wide as the page.
    fn half(&self, id: &str, title: &str, says: &str, spec: SeriesSpec<'_>) -> Chart {
        let list = &self.time_buckets.list;
        let points: Vec<(f64, f64)> = list.iter().map(|s| (s.middle(), (spec.value)(s))).collect();
        let columns = vec![(format!("{title}, {}", spec.unit), ys(&points))];
        let most = highest(&columns);
        // What is counted has no half.
        let counted = points.iter().all(|(_, y)| y.is_nan() || y.fract() == 0.0);
        let top = if counted { most.max(WHOLE) } else { most };
        let series = vec![Series { name: String::new(), colour: "ink".into(), shape: Shape::Line(points) }];
        let note = spec.worst.map_or_else(String::new, |worst| self.time_buckets.note(&format!("the {worst} in it")));
        Chart {
            id: format!("{id}-over-time"),
            title: title.into(),
            says: format!("{says}{note}"),
            summary: format!("At most {} {}.", grouped(most, 1), spec.unit),
            y: Axis::linear(spec.unit, top),
            size: Size::Half,
            ..self.timed(series, columns)
        }
    }

    /// A chart over time without its words, with everything outside the interval shaded.
    fn timed(&self, series: Vec<Series>, columns: Vec<(String, Vec<f64>)>) -> Chart {
        let end = self.time_buckets.end();
        let zones = match self.interval {
            Some((from, to)) => [(0.0, from), (to, end)].into_iter().filter(|(from, to)| from < to).collect(),
            None => vec![(0.0, end)],
        };
        Chart {
            id: String::new(),
            title: String::new(),
            says: String::new(),
            summary: String::new(),
            x: Axis::time(self.end),
            y: Axis::linear("", 1.0),
            zones,
            series,
            marks: Vec::new(),
            values: Values {
                x: self.time_buckets.list.iter().map(TimeBucket::middle).collect(),
                names: Vec::new(),
                columns,
            },
            size: Size::Wide,
        }
    }

    fn interval_marks(&self) -> Vec<Mark> {
        let Some((from, to)) = self.interval else { return Vec::new() };
        vec![Mark::At(from, "measurement interval opens".into()), Mark::At(to, "closes".into())]
    }

    /// Where faults were made, outages began, and the run was steady again.
    fn outage_marks(&self) -> Vec<Mark> {
        let faults = &self.run.record.faults;
        let made = faults.iter().filter(|fault| fault.failed.is_none());
        let mut marks: Vec<Mark> = made.map(|fault| Mark::At(fault.at_seconds, fault.what.clone())).collect();
        for outage in &self.summary.outages {
            if outage.faults.is_empty() {
                marks.push(Mark::At(outage.began_seconds, "trouble".into()));
            }
            let steady = outage.steady_seconds.filter(|after| *after > 0.0);
            marks.extend(steady.map(|after| Mark::At(outage.began_seconds + after, "steady again".into())));
        }
        // A day of faults would leave nothing of the chart.
        marks.truncate(MAX_MARKS);
        marks
    }

    /// Frequency distributions of the response times (5.6.1), the deferred part of a Delivery among them.
    pub(super) fn distributions(&self) -> Vec<Chart> {
        let mut charts = Vec::new();
        let plan = &self.run.record.plan;
        let allowed = |limit: f64| {
            if limit > 0.0 { format!("; {} allows {}", plan.labels.limits_by, duration(limit)) } else { String::new() }
        };
        for (index, rule) in plan.transactions.iter().enumerate() {
            let parts = [
                (Clock::Response, rule.title.clone(), rule.response_limit_seconds),
                (
                    Clock::Deferred,
                    format!("{}, deferred part", rule.title),
                    rule.deferred_limit_seconds.unwrap_or_default(),
                ),
            ];
            for (clock, title, limit) in parts {
                let tag = record::latency_log::tag(&rule.name, Phase::Measured, clock);
                let (histograms, colour) = (&self.run.histograms, colour(index));
                charts.extend(super::distribution::response(histograms, &tag, &title, &allowed(limit), colour));
            }
        }
        charts
    }

    /// Frequency distribution of the headline transaction's think times (5.6.3); none without any.
    pub(super) fn think_times(&self) -> Option<Chart> {
        let rule = self.run.record.plan.transactions.get(self.headline)?;
        let tag = record::latency_log::tag(&rule.name, Phase::Measured, Clock::Think);
        let histograms: &Histograms = &self.run.histograms;
        super::distribution::think(histograms, &tag, self.title, colour(self.headline))
    }
}

fn ys(points: &[(f64, f64)]) -> Vec<f64> {
    points.iter().map(|(_, y)| *y).collect()
}

/// The highest value of all columns; 0 for none.
fn highest(columns: &[(String, Vec<f64>)]) -> f64 {
    columns.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max)
}
