//! Options for what a command prints.

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::commands::Failure;
use crate::output;

/// Whether a command prints JSON.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JsonArgs {
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long = "json")]
    pub(crate) enabled: bool,
}

impl JsonArgs {
    /// Prints a result in the form that was asked for.
    pub(crate) fn print(self, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.enabled { output::print_json(&json()) } else { output::print(&text()) }
    }
}

/// The format of a result that has several.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs<F: Format = ResultFormat> {
    /// How to print the result
    #[arg(long, value_enum, default_value = "table")]
    format: F,
    /// The same as --format json: one document on standard output, and nothing else there
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl<F: Format> OutputArgs<F> {
    /// The format that was asked for, by either option.
    pub(crate) fn format(&self) -> F {
        if self.json { F::JSON } else { self.format }
    }
}

/// Formats of a result, one of which is JSON.
pub(crate) trait Format: ValueEnum + Copy + Send + Sync + 'static {
    /// The format that `--json` stands for.
    const JSON: Self;
}

/// The formats of a run's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// Text in columns
    Table,
    /// One JSON document
    Json,
    /// Markdown, for a review or a chat
    Markdown,
    /// The last lines of `cockroach workload run tpcc`, for scripts that read them
    Cockroach,
    /// The results block of YugabyteDB's `tpccbenchmark`, for scripts that read it
    Yugabyte,
}

impl Format for ResultFormat {
    const JSON: Self = ResultFormat::Json;
}

/// The formats of a result of many runs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SeriesFormat {
    /// Text in columns
    Table,
    /// One JSON document
    Json,
    /// Markdown, for a review or a chat
    Markdown,
}

impl Format for SeriesFormat {
    const JSON: Self = SeriesFormat::Json;
}

impl From<SeriesFormat> for ResultFormat {
    fn from(format: SeriesFormat) -> Self {
        match format {
            SeriesFormat::Table => ResultFormat::Table,
            SeriesFormat::Json => ResultFormat::Json,
            SeriesFormat::Markdown => ResultFormat::Markdown,
        }
    }
}
