//! `weighbridge search`: the most warehouses that a database holds with a valid result.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::fetch::SEARCH_JSON;
use super::restoring::{Restorer, end_all};
use super::step::Step;
use super::sweep::every_run;
use super::{Ended, Failure, Status, require_data};
use crate::cli::SearchArgs;
use crate::{interrupt, output};

pub(crate) fn run(args: &SearchArgs) -> Ended {
    let gateways = super::gateways(&args.target)?;
    require_data(&gateways, "search")?;
    if args.runs.pace.pacing != drive::Pacing::Standard {
        return Err(Failure::Usage(format!(
            "--pacing {}: only a run at the standard's pace can be valid; leave it out",
            args.runs.pace.pacing
        )));
    }
    let mut restorer = Restorer::new("", &args.target.urls, &args.restore)?;
    let words = ["run".to_owned()].into_iter().chain(every_run(&args.runs)).collect::<Vec<_>>();
    super::step::parsed(&words)?;
    // Before anything connects to the database: a killed series may have set it aside.
    restorer.examine(None, false)?;
    let loaded = restorer.loaded().unwrap_or_default();
    let most = args.to.unwrap_or(loaded);
    if most > loaded || args.from > most {
        return Err(Failure::Usage(format!(
            "from {} to {most} warehouses: {loaded} are loaded; load more, or ask for fewer",
            args.from
        )));
    }
    let folder = args.out.clone().unwrap_or_else(|| drive::results_folder("search"));
    record::RunFolder::create(&folder)?;
    // From now on a signal ends the search in order, also between two trials.
    interrupt::stop();
    let mut trials = Trials { args, loaded, restorer: &restorer, folder: &folder, done: Vec::new() };
    let searched = trials.search(most);
    let done = trials.done;
    let (holds, fails) = end_all(std::slice::from_ref(&restorer), searched)?;
    let file = folder.join(SEARCH_JSON);
    let document = json!({
        "warehouses": holds,
        "fails_at": fails,
        "loaded": loaded,
        "trials": done.iter().map(Trial::json).collect::<Vec<_>>(),
        "folder": folder.display().to_string(),
    });
    record::folder::write_whole(&file, format!("{document:#}\n").as_bytes())?;
    if args.json.enabled {
        output::print_json(&document)?;
    } else {
        output::print(&said(&done, holds, fails, most))?;
    }
    Ok(if holds.is_some() { Status::Done } else { Status::NotBelieved })
}

/// What to try next: twice as many while nothing has failed, then the middle between what holds and what fails;
/// nothing once they are near enough.
fn next_trial(holds: Option<u32>, fails: Option<u32>, most: u32, within_percent: u32) -> Option<u32> {
    match (holds, fails) {
        (Some(holds), None) => (holds < most).then(|| holds.saturating_mul(2).min(most)),
        (holds, Some(fails)) => {
            let holds = holds.unwrap_or(0);
            let near = (u64::from(holds) * u64::from(within_percent) / 100).max(1);
            (u64::from(fails - holds) > near).then(|| holds + (fails - holds) / 2)
        }
        (None, None) => None,
    }
}

/// Fewest New-Orders from which a trial is judged.
const FEWEST_NEW_ORDERS: u64 = 10;

/// One run of the search.
struct Trial {
    warehouses: u32,
    holds: bool,
    result: Value,
    folder: PathBuf,
}

impl Trial {
    fn reasons(&self) -> Vec<String> {
        let said = |reason: &Value| Some(format!("{}: {}", reason["rule"].as_str()?, reason["why"].as_str()?));
        self.result["verdict"]["reasons"].as_array().into_iter().flatten().filter_map(said).collect()
    }

    fn p90(&self) -> f64 {
        self.result["transactions"]["new_order"]["response_ms"]["p90"].as_f64().unwrap_or_default()
    }

    fn json(&self) -> Value {
        json!({
            "warehouses": self.warehouses,
            "holds": self.holds,
            "tpmc": self.result["tpmc"],
            "efficiency": self.result["efficiency"],
            "new_order_p90_ms": self.p90(),
            "verdict": self.result["verdict"]["status"],
            "reasons": self.reasons(),
            "folder": self.folder.display().to_string(),
        })
    }
}

struct Trials<'a> {
    args: &'a SearchArgs,
    loaded: u32,
    restorer: &'a Restorer,
    folder: &'a Path,
    done: Vec<Trial>,
}

impl Trials<'_> {
    /// Finds the most warehouses that hold and the fewest that fail.
    fn search(&mut self, most: u32) -> Result<(Option<u32>, Option<u32>), Failure> {
        let (mut holds, mut fails) = (None, None);
        let mut next = Some(self.args.from);
        while let Some(warehouses) = next {
            *(if self.holds(warehouses)? { &mut holds } else { &mut fails }) = Some(warehouses);
            next = next_trial(holds, fails, most, self.args.within);
        }
        Ok((holds, fails))
    }

    /// Whether a run on so many warehouses is valid.
    fn holds(&mut self, warehouses: u32) -> Result<bool, Failure> {
        say!("trial {}: {warehouses} warehouses", self.done.len() + 1);
        self.restorer.before_run(Some(self.loaded))?;
        let folder = self.folder.join(format!("{warehouses}w"));
        let own = ["run".to_owned(), "--warehouses".to_owned(), warehouses.to_string()];
        let out = ["--out".to_owned(), folder.display().to_string()];
        let words = own.into_iter().chain(out).chain(every_run(&self.args.runs));
        let (_, result) = Step::new(&self.args.target.urls, words).run()?;
        let status = result["verdict"]["status"].as_str().unwrap_or_default().to_owned();
        if status == "unconstrained" {
            return Err(Failure::Usage(
                "the runs leave the standard on purpose, so none can be valid: leave out what makes them `unconstrained`"
                    .to_owned(),
            ));
        }
        let new_orders = result["transactions"]["new_order"]["count"].as_u64().unwrap_or_default();
        if new_orders < FEWEST_NEW_ORDERS {
            return Err(Failure::Failed(format!(
                "{new_orders} New-Orders in the trial of {warehouses} warehouses tell nothing, {FEWEST_NEW_ORDERS} are \
                 needed: measure longer with --duration, or begin --from more warehouses"
            )));
        }
        let holds = status != "invalid";
        let trial = Trial { warehouses, holds, result, folder };
        let why = if holds { String::new() } else { format!(": {}", trial.reasons().join("; ")) };
        say!("trial {}: {warehouses} warehouses {status}{why}", self.done.len() + 1);
        self.done.push(trial);
        Ok(holds)
    }
}

fn said(trials: &[Trial], holds: Option<u32>, fails: Option<u32>, most: u32) -> String {
    let mut text = report::columns(
        &["warehouses", "tpmC", "efficiency", "New-Order p90 ms", "<verdict", "<why"],
        trials.iter().map(row).collect(),
    );
    text.push('\n');
    text.push_str(&match (holds, fails) {
        (Some(holds), Some(fails)) => format!("The database holds {holds} warehouses; {fails} it does not.\n"),
        (Some(holds), None) if holds == most => {
            format!("The database holds {holds} warehouses, all that were to be tried: load more to find its limit.\n")
        }
        (Some(holds), None) => format!("The database holds {holds} warehouses.\n"),
        (None, Some(fails)) => {
            format!("The database does not hold {fails} warehouses, and fewer were not to be tried.\n")
        }
        (None, None) => "Nothing was tried.\n".to_owned(),
    });
    text + "One run each: near the limit chance decides. Repeat what matters, for as long as it matters.\n"
}

fn row(trial: &Trial) -> Vec<String> {
    let figure =
        |value: &Value, digits: usize| value.as_f64().map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"));
    let efficiency =
        trial.result["efficiency"].as_f64().map_or_else(|| "-".to_owned(), |e| format!("{:.1}%", e * 100.0));
    vec![
        trial.warehouses.to_string(),
        figure(&trial.result["tpmc"], 0),
        efficiency,
        format!("{:.1}", trial.p90()),
        trial.result["verdict"]["status"].as_str().unwrap_or_default().to_owned(),
        trial.reasons().join("; "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers tried when all up to `limit` hold.
    fn tried(limit: u32, from: u32, most: u32) -> Vec<u32> {
        let mut holds = None;
        let mut fails = None;
        let mut tried = Vec::new();
        let mut next = Some(from);
        while let Some(warehouses) = next {
            tried.push(warehouses);
            *(if warehouses <= limit { &mut holds } else { &mut fails }) = Some(warehouses);
            next = next_trial(holds, fails, most, 5);
        }
        tried
    }

    #[test]
    fn doubles_then_closes_in() {
        assert_eq!(tried(100, 1, 8), [1, 2, 4, 8]);
        assert_eq!(tried(5, 1, 100), [1, 2, 4, 8, 6, 5]);
        assert_eq!(tried(0, 1, 100), [1], "nothing below the first that fails");
        assert_eq!(tried(3, 8, 100), [8, 4, 2, 3]);
        let last = tried(700, 10, 10_000);
        assert!(last.len() < 14 && last.iter().any(|n| (660..=700).contains(n)), "{last:?}");
    }
}
