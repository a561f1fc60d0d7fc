//! How a workload is named and described to people, as data of the plan.
//!
//! Version 1 of `run.json` has no labels. [`read_record`](crate::folder::read_record) adds them to such a record, so
//! the labels of the two workloads that version 1 knows are defined here.

use serde::{Deserialize, Serialize};

use crate::plan::Plan;

/// What a TPC-C result says about itself, whatever its verdict.
pub const NOT_AUDITED: &str = "This workload is derived from the TPC-C standard. It is not an audited TPC-C result, does not meet all of\n\
the standard's requirements, and is not comparable with published TPC-C results.";

/// The names and sentences that text, pages and lists print about a workload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Labels {
    /// The workload's name in titles: `TPC-C`.
    pub title: String,
    /// The unit of the headline rate in a run without a tpmC: `NOPM`.
    pub metric: String,
    /// The same unit in words.
    pub metric_words: String,
    /// The headline transaction where its rate is explained: `New order`, followed by `s a minute`.
    pub counted: String,
    /// Column headings of the headline rate in the last second and since the measurement began.
    pub rate_columns: [String; 2],
    /// Whether text results also give the rate of all transactions per second.
    pub per_second: bool,
    /// How many headline transactions are rolled back by design, in brackets; empty: not specified.
    pub rollbacks: String,
    /// Who sets the response time limits: `the standard`.
    pub limits_by: String,
    /// Who sets the keying and think times: `the standard`.
    pub waits_by: String,
    /// The keying and think times of a run at the workload's own pace.
    pub full_waits: String,
    /// What an `unconstrained` verdict means.
    pub unconstrained: String,
    /// What the chart of response time against throughput shows in the standard; empty: nothing.
    pub throughput_graph: String,
    /// A warning below the verdict; empty: none.
    pub warning: String,
    /// The last sentences of every result: what it is not.
    pub disclaimer: String,
    /// Words that a newcomer needs, each with its meaning.
    pub glossary: Vec<(String, String)>,
}

impl Labels {
    /// The labels of TPC-C.
    #[must_use]
    pub fn tpcc() -> Self {
        let glossary = [
            (
                "TPC-C",
                "A standard load of a wholesale supplier: warehouses, districts, customers, orders; five kinds of transaction, half of which write.",
            ),
            (
                "Warehouse",
                "The unit of scale: about 100 MB of data, with ten terminals of its own. Ten times the warehouses are ten times data and load.",
            ),
            ("New-Order", "The transaction that is counted: an order of about ten lines."),
            (
                "tpmC",
                "New-Orders a minute at the standard's pace, with its keying and think times. At most 12.86 for each warehouse.",
            ),
            ("NOPM", "New-Orders a minute of a run away from that pace. It can't be compared with tpmC."),
            (
                "Efficiency",
                "The rate over 12.86 for each warehouse: how near the database came to what the terminals could send.",
            ),
            ("Clause", "The number of the rule in the TPC-C standard, revision 5.11."),
        ];
        Labels {
            title: "TPC-C".into(),
            metric: "NOPM".into(),
            metric_words: "New-Orders a minute, away from the standard's pace or mix".into(),
            counted: "New order".into(),
            rate_columns: ["NO/min now".into(), "NO/min mean".into()],
            per_second: false,
            rollbacks: " (one in a hundred, as the standard has it)".into(),
            limits_by: "the standard".into(),
            waits_by: "the standard".into(),
            full_waits: "the standard's keying and think times".into(),
            unconstrained: "The run left the standard on purpose, so its figure is New-Orders a minute (NOPM): it compares with runs \
                            of the same plan, and never with tpmC."
                .into(),
            throughput_graph: " The standard's graph (clause 5.6.2) has points at 50, 80 and 100 % of the rate, which are three runs; this is one.".into(),
            warning: "Not an audited TPC-C result, and not comparable with published ones.".into(),
            disclaimer: NOT_AUDITED.into(),
            glossary: glossary.map(|(word, meaning)| (word.into(), meaning.into())).into(),
        }
    }

    /// The labels of a workload that a file defines, with the title of its headline transaction.
    #[must_use]
    pub fn custom(name: &str, headline: &str) -> Self {
        let metric = format!("{headline}/min");
        Labels {
            title: name.into(),
            metric_words: format!("{headline}s a minute"),
            counted: headline.into(),
            rate_columns: [metric.clone(), "mean".into()],
            metric,
            per_second: true,
            limits_by: "its file".into(),
            waits_by: "the workload".into(),
            full_waits: "the file's keying and think times".into(),
            unconstrained: "No standard is kept by a workload of its own: the figure compares with runs of the same file on the \
                            same data, and with nothing else. Errors, lost work, the file's checks and the tool's own weight were \
                            judged as in every run."
                .into(),
            disclaimer: "This is not TPC-C but a workload of its own: its figures compare with runs of the same file on the same data\n\
                         and with nothing else."
                .into(),
            ..Labels::default()
        }
    }

    /// The labels of a plan that was recorded without them. Only such a plan is identified by its workload's name.
    pub(crate) fn of_version_1(plan: &Plan) -> Self {
        match plan.workload.as_str() {
            "" | "tpcc" => Labels::tpcc(),
            name => Labels::custom(name, plan.headline_title()),
        }
    }
}
