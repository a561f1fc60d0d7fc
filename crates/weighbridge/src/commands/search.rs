//! `weighbridge search`: the most warehouses that a database holds with a valid result.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use target::{Gateways, Session};
use workload::tpcc::catalog::Catalog;

use super::fetch::SEARCH_JSON;
use super::restoring::Keeper;
use super::step::Step;
use super::sweep::every_run;
use super::{Ended, Failure, Status, require_data, require_file, runtime};
use crate::cli::SearchArgs;
use crate::output;

pub(crate) fn run(args: &SearchArgs) -> Ended {
    let gateways = super::gateways(&args.target)?;
    require_data(&gateways, "search")?;
    if args.runs.pace.pacing != drive::Pacing::Standard {
        return Err(Failure::Usage(format!(
            "--pacing {}: only a run at the standard's pace can be valid; leave it out",
            args.runs.pace.pacing
        )));
    }
    let loaded = loaded(&gateways)?;
    let most = args.to.unwrap_or(loaded);
    if most > loaded || args.from > most {
        return Err(Failure::Usage(format!(
            "from {} to {most} warehouses: {loaded} are loaded; load more, or ask for fewer",
            args.from
        )));
    }
    let mut keeper = Keeper::new("", &args.target.urls, &args.restore)?;
    let words = ["run".to_owned()].into_iter().chain(every_run(&args.runs)).collect::<Vec<_>>();
    super::step::parsed(&words)?;
    keeper.examine(None, false)?;
    let folder = args.out.clone().unwrap_or_else(|| super::run::results_folder("search"));
    record::RunFolder::create(&folder)?;
    let mut trials = Trials { args, loaded, keeper, folder: &folder, done: Vec::new() };
    let mut holds = None;
    let mut fails = None;
    let mut next = Some(args.from);
    while let Some(warehouses) = next {
        match trials.holds(warehouses) {
            Ok(true) => holds = Some(warehouses),
            Ok(false) => fails = Some(warehouses),
            Err(e) => {
                // A search can't go on later, so the data are left as they were found.
                trials.keeper.end()?;
                return Err(e);
            }
        }
        next = next_trial(holds, fails, most, args.within);
    }
    trials.keeper.end()?;
    let file = folder.join(SEARCH_JSON);
    let document = json!({
        "warehouses": holds,
        "fails_at": fails,
        "loaded": loaded,
        "trials": trials.done.iter().map(Trial::json).collect::<Vec<_>>(),
        "folder": folder.display().to_string(),
    });
    record::folder::write_whole(&file, format!("{document:#}\n").as_bytes())?;
    if args.json.enabled {
        output::print_json(&document)?;
    } else {
        output::print(&said(&trials.done, holds, fails, most))?;
    }
    Ok(if holds.is_some() { Status::Done } else { Status::NotBelieved })
}

fn loaded(gateways: &Gateways) -> Result<u32, Failure> {
    require_file(gateways.first())?;
    runtime()?.block_on(async {
        let catalog = Catalog::read_complete(&mut Session::connect(gateways.first()).await?).await?;
        Ok(catalog.warehouses.unsigned_abs())
    })
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
    keeper: Keeper,
    folder: &'a Path,
    done: Vec<Trial>,
}

impl Trials<'_> {
    /// Whether a run on so many warehouses is valid.
    fn holds(&mut self, warehouses: u32) -> Result<bool, Failure> {
        say!("trial {}: {warehouses} warehouses", self.done.len() + 1);
        self.keeper.before_run(Some(self.loaded))?;
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
