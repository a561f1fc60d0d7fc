//! Axes: from a value to its place, round ticks, and their labels.

/// How values lie along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Evenly.
    Linear,
    /// Each decade as long as the next.
    Log,
    /// Evenly, in seconds since the start of the run.
    Time,
}

impl Scale {
    /// The name that the script knows it by.
    pub(super) fn name(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
            Scale::Time => "time",
        }
    }
}

/// One axis of a chart.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// What is measured, with its unit.
    pub(super) title: String,
    /// How values lie along it.
    pub(super) scale: Scale,
    /// Value at its beginning.
    pub(super) low: f64,
    /// Value at its end.
    pub(super) high: f64,
}

/// Ticks that an axis should have about.
const TICKS: f64 = 5.0;

/// Seconds between ticks of time, up to a day; beyond, whole days.
const TIME_STEPS: [f64; 16] =
    [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 21600.0, 43200.0];

const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;

impl Axis {
    /// From 0 to a round number not below `most`.
    pub(super) fn linear(title: impl Into<String>, most: f64) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let step = round_step(most / TICKS);
        Axis { title: title.into(), scale: Scale::Linear, low: 0.0, high: (most / step).ceil() * step }
    }

    /// From 0 to exactly `high`.
    pub(super) fn exact(title: impl Into<String>, high: f64) -> Self {
        Axis { title: title.into(), scale: Scale::Linear, low: 0.0, high }
    }

    /// Whole decades around `least` and `most`, both above 0. What lies below all that can be measured is at the edge.
    pub(super) fn log(title: impl Into<String>, least: f64, most: f64) -> Self {
        let low = least.clamp(1e-6, 1e15).log10().floor();
        let high = most.clamp(1e-6, 1e15).log10().ceil().max(low + 1.0);
        Axis { title: title.into(), scale: Scale::Log, low: 10_f64.powf(low), high: 10_f64.powf(high) }
    }

    /// Time from the start of the run to `end` seconds.
    pub(super) fn time(end: f64) -> Self {
        let end = end.max(1.0);
        let unit = if end >= HOUR { "h:min" } else { "min:s" };
        Axis { title: format!("time since the start of the run, {unit}"), scale: Scale::Time, low: 0.0, high: end }
    }

    /// Where a value lies: 0 at the beginning, 1 at the end; never beyond.
    pub(super) fn at(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Log => (value.max(self.low) / self.low).log10() / (self.high / self.low).log10(),
            Scale::Linear | Scale::Time => (value - self.low) / (self.high - self.low),
        };
        place.clamp(0.0, 1.0)
    }

    /// Round values inside the axis, and their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => {
                let step = round_step((self.high - self.low) / TICKS);
                self.steps(step).map(|value| (value, number(value, step))).collect()
            }
            Scale::Time => {
                let wanted = (self.high - self.low) / (TICKS + 2.0);
                let fitting = TIME_STEPS.into_iter().find(|step| *step >= wanted);
                let step = fitting.unwrap_or_else(|| (wanted / DAY).ceil() * DAY);
                self.steps(step).map(|value| (value, self.clock(value))).collect()
            }
            Scale::Log => {
                let decades = (self.high / self.low).log10().round() as i32;
                (0..=decades)
                    .map(|decade| {
                        let value = self.low * 10_f64.powi(decade);
                        (value, number(value, value))
                    })
                    .collect()
            }
        }
    }

    fn steps(&self, step: f64) -> impl Iterator<Item = f64> {
        // Steps such as 0.1 are not exact in binary; a tick at the very end is still wanted.
        let count = ((self.high - self.low) / step + 1e-9).floor() as u32;
        let low = self.low;
        (0..=count).map(move |i| low + f64::from(i) * step)
    }

    /// A time of this axis: minutes and seconds, or from an hour on hours and minutes.
    fn clock(&self, seconds: f64) -> String {
        let whole = seconds.round() as u64;
        let (big, small) = if self.high >= HOUR { (whole / 3600, whole / 60 % 60) } else { (whole / 60, whole % 60) };
        format!("{big}:{small:02}")
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].into_iter().map(|digit| digit * power);
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// A value with the decimals that its step needs.
fn number(value: f64, step: f64) -> String {
    let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
    super::words::grouped(value, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_end_at_the_axis() {
        assert_eq!(labels(&Axis::linear("", 9_300.0)), ["0", "2,000", "4,000", "6,000", "8,000", "10,000"]);
        assert_eq!(labels(&Axis::linear("", 0.27)), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(&Axis::linear("", 0.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::exact("", 180.4)), ["0", "50", "100", "150"]);
    }

    #[test]
    fn decades_of_a_logarithm() {
        let axis = Axis::log("", 0.4, 320.0);
        assert_eq!(labels(&axis), ["0.1", "1", "10", "100", "1,000"]);
        assert_eq!((axis.at(0.1), axis.at(10.0), axis.at(1_000.0)), (0.0, 0.5, 1.0));
        assert_eq!(axis.at(0.0), 0.0, "below the first decade is at its edge");
        assert_eq!(labels(&Axis::log("", 10.0, 10.0)), ["10", "100"]);
        assert_eq!(labels(&Axis::log("", 5e-324, f64::MAX)).len(), 22, "a damaged file must not make millions of them");
    }

    #[test]
    fn time_is_told_by_the_clock() {
        assert_eq!(labels(&Axis::time(10.0)), ["0:00", "0:02", "0:04", "0:06", "0:08", "0:10"]);
        assert_eq!(labels(&Axis::time(330.0)), ["0:00", "1:00", "2:00", "3:00", "4:00", "5:00"]);
        assert_eq!(labels(&Axis::time(7_230.0)), ["0:00", "0:30", "1:00", "1:30", "2:00"]);
        assert_eq!(labels(&Axis::time(5.0 * DAY))[1], "24:00");
    }
}
