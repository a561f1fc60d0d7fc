//! `weighbridge advise`: what may help a statement, and what does.

use target::Session;
use tuning::advise::{Options, advise};
use tuning::runner::Limits;

use super::tune::failure;
use super::values::{statements_of, tpcc_subject, values};
use super::{Ended, Failure, Status, gateways, require_data, require_file, runtime};
use crate::cli::AdviseArgs;
use crate::interrupt;

pub(crate) fn run(args: &AdviseArgs) -> Ended {
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "advise on")?;
    require_file(gateways.first())?;
    let mut statements = args.statements.clone();
    if let Some(file) = &args.file {
        statements.extend(statements_of(file, gateways.dialect().wire())?);
    }
    if args.tpcc.is_none() && statements.iter().all(|statement| statement.trim().is_empty()) {
        let said = "nothing to advise on: give --statement SQL, --file FILE or --tpcc NAME";
        return Err(Failure::Usage(said.to_owned()));
    }
    let limits = Limits { timeout: args.timeout, stop: interrupt::stop() };
    let options = Options {
        try_them: args.try_them,
        copy: args.copy,
        rounds: args.rounds as usize,
        block: args.repeat as usize,
        budget: args.budget,
        seed: args.seed.unwrap_or_else(super::run::any_seed),
    };
    let (advised, ended) = runtime()?.block_on(async {
        let mut session = Session::connect(gateways.first()).await?;
        let mut values = values(&args.values, &mut session, options.seed).await?;
        if let Some(name) = &args.tpcc {
            statements.push(tpcc_subject(name, &mut session, &mut values).await?.sql);
        }
        drop(session);
        let mut advised = Vec::new();
        for statement in &statements {
            let tell = |line: &str| say!("{line}");
            match advise(gateways.first(), statement, &values, &options, &limits, &tell).await {
                Ok(advice) => advised.push(advice),
                Err(e) => return Ok((advised, Err(e))),
            }
        }
        Ok::<_, Failure>((advised, Ok(Status::Done)))
    })?;
    if advised.is_empty() {
        return ended.map_err(failure);
    }
    // What was found before a failure is shown: it may have taken long.
    args.json.print(|| report::advice_json(&advised), || report::advice_table(&advised))?;
    ended.map_err(|e| Failure::Failed(e.to_string()))
}
