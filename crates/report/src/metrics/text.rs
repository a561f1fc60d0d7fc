//! The text format 0.0.4 of Prometheus, whose histograms are the classic ones.

use std::fmt::Write;

use super::{Families, Family, Kind, Value};

/// What the text is, as its content type.
pub const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Families {
    /// The families as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.iter().for_each(|family| tell(&mut out, family));
        out
    }
}

fn tell(out: &mut String, family: &Family) {
    let name = family.name;
    let kind = match family.kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
        Kind::Histogram => "histogram",
    };
    let _ = write!(out, "# HELP {name} {}\n# TYPE {name} {kind}\n", family.help);
    for sample in &family.samples {
        let labels: Vec<String> =
            sample.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        match &sample.value {
            Value::Number(value) => line(out, name, "", &labels, *value),
            Value::Times(times) => {
                for (edge, count) in times.cumulative() {
                    let edge = if edge.is_finite() { edge.to_string() } else { "+Inf".to_owned() };
                    line(out, name, "_bucket", &[&labels[..], &[format!("le=\"{edge}\"")]].concat(), count as f64);
                }
                line(out, name, "_sum", &labels, times.sum_seconds());
                line(out, name, "_count", &labels, times.count() as f64);
            }
        }
    }
}

fn line(out: &mut String, name: &str, suffix: &str, labels: &[String], value: f64) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    let _ = writeln!(out, "{name}{suffix}{labels} {value}");
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}
