//! `weighbridge tune`: what is each technique worth on this database?

use target::ScratchSchema;
use tuning::lesson::Lesson;
use tuning::lesson_runner::{self, Options};
use tuning::runner::Limits;

use super::{Ended, Failure, Status, gateways, require_data, runtime};
use crate::cli::{JsonArgs, TargetArgs, TuneCommand, TuneRunArgs, TuneShowArgs};
use crate::{interrupt, output};

/// The usual size of the data set.
const SCALE: f64 = 0.1;

pub(crate) fn run(command: &TuneCommand) -> Ended {
    match command {
        TuneCommand::List(json) => list(*json),
        TuneCommand::Show(args) => show(args),
        TuneCommand::Run(args) => measure(args),
        TuneCommand::Clean(target) => clean(target),
    }
}

fn list(json: JsonArgs) -> Ended {
    let lessons = Lesson::all()?;
    let mut rows: Vec<(String, String, String)> =
        lessons.into_iter().map(|lesson| (lesson.name, lesson.title, lesson.shows)).collect();
    rows.push(super::regions::described());
    json.print(|| report::lessons_json(&rows), || report::lessons_table(&rows))?;
    Ok(Status::Done)
}

fn named(names: &[String]) -> Result<Vec<Lesson>, Failure> {
    let all = Lesson::all()?;
    let find = |name: &String| {
        all.iter().find(|lesson| lesson.name == *name).cloned().ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|lesson| lesson.name.as_str()).collect();
            let regions = super::regions::LESSON;
            Failure::Usage(format!("there is no lesson `{name}`: there are {} and {regions}", known.join(", ")))
        })
    };
    names.iter().map(find).collect()
}

fn show(args: &TuneShowArgs) -> Ended {
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "tune")?;
    if args.lesson == super::regions::LESSON {
        let (name, title, shows) = super::regions::described();
        output::print(&format!("{name}: {title}\n\n{shows}\n\n{}", super::regions::sides()))?;
        return Ok(Status::Done);
    }
    for lesson in named(std::slice::from_ref(&args.lesson))? {
        output::print(&lesson_runner::described(&lesson, gateways.dialect())?)?;
    }
    Ok(Status::Done)
}

fn measure(args: &TuneRunArgs) -> Ended {
    let gateways = gateways(&args.target)?;
    require_data(&gateways, "tune")?;
    if args.lessons.iter().any(|lesson| lesson == super::regions::LESSON) {
        return match args.lessons.as_slice() {
            [_] => super::regions::tune(args, &gateways),
            _ => Err(Failure::Usage("the lesson `regions` needs servers of its own: run it alone".to_owned())),
        };
    }
    let lessons = if args.all { Lesson::all()? } else { named(&args.lessons)? };
    let limits = Limits { timeout: args.timeout, stop: interrupt::stop() };
    let options = Options {
        repeat: args.repeat as usize,
        rounds: args.rounds as usize,
        scale: args.scale.unwrap_or(SCALE),
        seed: args.seed.unwrap_or_else(super::run::any_seed),
        budget: args.budget,
    };
    let run = lesson_runner::run(gateways.first(), &lessons, &options, &limits, |line| say!("{line}"));
    let result = runtime()?.block_on(run).map_err(failure)?;
    if let Some(page) = &args.html {
        super::report::write(page, &report::tuning_page(&result).file())?;
    }
    args.json.print(|| report::tuning_json(&result), || report::tuning_table(&result))?;
    let early = result.stopped.or_else(|| result.interrupted.then(|| "interrupted".to_owned()));
    match early {
        Some(why) => Err(Failure::Failed(format!("{why}: the lessons that are shown were measured"))),
        None => Ok(Status::Done),
    }
}

/// Wrong usage is known before anything was touched.
pub(super) fn failure(error: tuning::Error) -> Failure {
    match error {
        tuning::Error::Usage(said) => Failure::Usage(said),
        tuning::Error::Value(unknown) => Failure::Usage(unknown.to_string()),
        error => Failure::Failed(error.to_string()),
    }
}

fn clean(target: &TargetArgs) -> Ended {
    let gateways = gateways(target)?;
    require_data(&gateways, "clean")?;
    let schema: ScratchSchema = lesson_runner::schema(gateways.first()).map_err(failure)?;
    let removed = runtime()?.block_on(async {
        let there = schema.exists().await?;
        if there {
            schema.remove().await?;
        }
        Ok::<_, Failure>(there)
    })?;
    let said = if removed { "removed" } else { "nothing to remove:" };
    output::print(&format!("{said} {}", schema.place()))?;
    Ok(Status::Done)
}
