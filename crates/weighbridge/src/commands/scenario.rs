//! `weighbridge scenario`: published benchmarks, repeated, and held against what was published.

use std::path::{Path, PathBuf};

use record::claim::Claim;
use record::sweep::Sweep;
use record::verdict::Judgement;
use serde_json::{Value, json};
use target::Gateways;
use workload::tpcc::load::{plan_from_flags, require_late_foreign_keys};
use workload::tpcc::rules;

use super::fetch::SCENARIO_JSON;
use super::step::{Step, parsed};
use super::{Ended, Failure, Status, load, sweep, verify};
use crate::cli::{Command, NamedTarget, ScenarioCommand, ScenarioRunArgs};
use crate::output;
use crate::scenario::{Case, Line, Scenario, find, ours, scaled};

pub(crate) fn run(command: &ScenarioCommand) -> Ended {
    match command {
        ScenarioCommand::List(json) => list(json.enabled),
        ScenarioCommand::Show(args) => show(&args.name, args.json.enabled),
        ScenarioCommand::Run(args) => repeat(args),
    }
}

fn list(json: bool) -> Ended {
    if json {
        let all: Vec<Value> = ours().map(|(name, scenario)| json!({ "name": name, "scenario": scenario })).collect();
        output::print_json(&json!({ "scenarios": all }))?;
        return Ok(Status::Done);
    }
    let row = |(name, scenario): (&str, Scenario)| {
        let cases: Vec<&str> = scenario.cases.iter().map(|case| case.name.as_str()).collect();
        vec![name.to_owned(), scenario.title.clone(), cases.join(", "), scenario.tool.clone()]
    };
    output::print(&report::columns(&["<name", "<title", "<cases", "<published with"], ours().map(row).collect()))?;
    Ok(Status::Done)
}

fn show(name: &str, json: bool) -> Ended {
    let scenario = find(name).map_err(Failure::Usage)?;
    if json {
        output::print_json(&json!({ "name": name, "scenario": scenario }))?;
        return Ok(Status::Done);
    }
    let mut text = format!("{}\n{}\nPublished with {}.\n", scenario.title, scenario.summary, scenario.tool);
    for case in &scenario.cases {
        text.push_str(&format!("\nCase {}: {}\n", case.name, case.cluster));
        for step in &case.steps {
            let line = case.lines(step, 1.0).map_err(Failure::Usage)?;
            let optional = line.optional.iter().map(|words| format!(" [{}]", words.join(" "))).collect::<String>();
            let words = format!("{}{optional}", line.words.join(" "));
            text.push_str(&format!("    weighbridge {}\n", words.trim()));
        }
        let rows: Vec<Vec<String>> =
            published(case, 1.0).into_iter().map(|(name, value)| vec![format!("    {name}"), figure(value)]).collect();
        text.push_str(&report::columns(&["<    published", ""], rows));
        impossible(case).iter().for_each(|line| text.push_str(&format!("    can't be: {line}\n")));
    }
    if !scenario.slips.is_empty() {
        text.push_str("\nKnown slips:\n");
        scenario.slips.iter().for_each(|slip| text.push_str(&format!("  - {slip}\n")));
    }
    output::print(&text)?;
    Ok(Status::Done)
}

/// The published figures by name, in the order in which they are told; those of a sweep by its scaled points.
fn published(case: &Case, scale: f64) -> Vec<(String, f64)> {
    let published = &case.published;
    let rates = [("tpmC", published.tpmc), ("NOPM", published.nopm)];
    let mut figures: Vec<(String, f64)> = Vec::new();
    for (name, rate) in rates {
        figures.extend(rate.map(|rate| (name.to_owned(), rate)));
        let each = rate.zip(case.warehouses).map(|(rate, warehouses)| rate / f64::from(warehouses));
        figures.extend(each.map(|each| (format!("{name} a warehouse"), each)));
    }
    figures.extend(published.efficiency.map(|share| ("efficiency, %".to_owned(), share * 100.0)));
    for (transaction, times) in published.times() {
        figures.extend(times.iter().map(|(statistic, ms)| (format!("{transaction} {}, ms", statistic.name()), *ms)));
    }
    for (lesson, told) in &published.lessons {
        figures.extend(lesson_figures(lesson, Some(told.before_ms), told.after_ms));
    }
    for point in &published.points {
        let connections = point.connections.map(|n| scaled(n, scale));
        figures.push((point_name(&point.target, point.nodes, connections), point.nopm));
    }
    figures
}

/// How a lesson is told: its times, and how many times as fast it became.
fn lesson_figures(lesson: &str, before_ms: Option<f64>, after_ms: Option<f64>) -> Vec<(String, f64)> {
    let factor = before_ms.zip(after_ms).map(|(before, after)| before / after);
    let figures = [("before, ms", before_ms), ("after, ms", after_ms), ("times as fast", factor)];
    figures.into_iter().filter_map(|(what, value)| Some((format!("{lesson} {what}"), value?))).collect()
}

/// How a point of a sweep is told.
fn point_name(target: &str, nodes: Option<u32>, connections: Option<u32>) -> String {
    let parts = [
        Some(target.to_owned()).filter(|target| !target.is_empty()),
        nodes.map(|n| format!("{n} nodes")),
        connections.map(|n| format!("{n} connections")),
    ];
    format!("NOPM, {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// Why published figures can't be, or are no tpmC.
fn impossible(case: &Case) -> Vec<String> {
    let published = &case.published;
    let (Some(rate), Some(warehouses)) = (published.tpmc, case.warehouses) else { return Vec::new() };
    let claim = Claim {
        rate,
        warehouses,
        configured: None,
        terminals: None,
        response_seconds: None,
        interval_seconds: published.measured_seconds,
    };
    let failed = verify::judged(&claim).into_iter().filter(|finding| finding.outcome == Judgement::Fail);
    let mut lines: Vec<String> =
        failed.map(|finding| format!("{}: {}, limit {}", finding.rule, finding.figure, finding.limit)).collect();
    let share = rate / (rules::scale().max_per_warehouse * f64::from(warehouses));
    if let Some(told) = published.efficiency.filter(|told| (told - share).abs() > ROUNDING) {
        lines.push(format!(
            "efficiency of {:.1} %: {rate:.0} are {:.1} % of what {warehouses} warehouses can give",
            told * 100.0,
            share * 100.0
        ));
    }
    lines
}

/// As far as a published efficiency may be from its own tpmC.
const ROUNDING: f64 = 0.005;

/// What was measured.
#[derive(Default)]
struct Measured {
    figures: Vec<(String, f64)>,
    /// On what, and how it differs from what was published.
    differences: Vec<String>,
    steps: Vec<Value>,
    believed: bool,
}

fn repeat(args: &ScenarioRunArgs) -> Ended {
    let scenario = find(&args.name).map_err(Failure::Usage)?;
    let case = case(&scenario, args)?;
    let gateways = targets(args, &case)?;
    let together = |pair: &[u32]| scaled(pair[0], args.scale) == scaled(pair[1], args.scale);
    if let Some(pair) = case.connections.windows(2).find(|pair| together(pair)) {
        return Err(Failure::Usage(format!(
            "--scale {}: {} and {} connections fall together; take a larger one",
            args.scale, pair[0], pair[1]
        )));
    }
    // Everything that can be refused is refused before anything is touched.
    let mut differences = Vec::new();
    let mut lines = Vec::new();
    for step in &case.steps {
        let line = case.lines(step, args.scale).map_err(Failure::Usage)?;
        lines.extend(adapted(&line, &gateways, args, &mut differences)?);
    }
    let name = Path::new(&args.name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = args.out.clone().unwrap_or_else(|| drive::results_folder(&format!("{name}-{}", case.name)));
    record::RunFolder::create(&folder)?;

    let mut measured = Measured { differences, believed: true, ..Measured::default() };
    for (number, words) in (1..).zip(&lines) {
        say!("step {number} of {}: weighbridge {}", lines.len(), words.join(" "));
        carry_out(words, args, &folder, &mut measured)?;
    }
    tell_differences(&scenario, &case, args, &gateways[0], &mut measured.differences);
    let document = document(&name, &case, args, &measured, &folder);
    let file = folder.join(SCENARIO_JSON);
    record::folder::write_whole(&file, format!("{document:#}\n").as_bytes())?;
    if args.json.enabled {
        output::print_json(&document)?;
    } else {
        output::print(&side_by_side(&scenario, &case, &document))?;
    }
    Ok(if measured.believed { Status::Done } else { Status::NotBelieved })
}

/// The case that was asked for, with the times that were.
fn case(scenario: &Scenario, args: &ScenarioRunArgs) -> Result<Case, Failure> {
    let mut case = match &args.case {
        None => scenario.cases[0].clone(),
        Some(name) => scenario.cases.iter().find(|case| case.name == *name).cloned().ok_or_else(|| {
            let known: Vec<&str> = scenario.cases.iter().map(|case| case.name.as_str()).collect();
            Failure::Usage(format!("no case `{name}`: there are {}", known.join(", ")))
        })?,
    };
    if let Some(ramp) = args.ramp {
        case.ramp = format!("{}s", ramp.as_secs());
    }
    if let Some(duration) = args.duration {
        case.duration = format!("{}s", duration.as_secs());
    }
    Ok(case)
}

/// The databases that the steps are for. Of the scenario's targets one at least must be there: who has only the newer
/// version still wants to know what it gives.
fn targets(args: &ScenarioRunArgs, case: &Case) -> Result<Vec<Gateways>, Failure> {
    if !case.targets.is_empty() && args.targets.is_empty() {
        let wanted: Vec<String> = case.targets.iter().map(|name| format!("--target {name}=URL")).collect();
        return Err(Failure::Usage(format!("this case needs {}", wanted.join(" and "))));
    }
    let known = |target: &&NamedTarget| case.targets.contains(&target.name);
    if let Some(strange) = args.targets.iter().find(|target| !case.targets.is_empty() && !known(target)) {
        let names = case.targets.join(", ");
        return Err(Failure::Usage(format!("--target {}: the targets of this case are {names}", strange.name)));
    }
    if case.targets.is_empty() && !args.targets.is_empty() {
        return Err(Failure::Usage("this case has one database: give it with --url, not --target".to_owned()));
    }
    args.target.beside(&args.targets).map_err(Failure::Usage)?;
    let urls: Vec<&Vec<String>> = match args.targets.as_slice() {
        [] => vec![&args.target.urls],
        targets => targets.iter().map(|target| &target.urls).collect(),
    };
    urls.into_iter().map(|urls| Gateways::parse(urls).map_err(|e| Failure::Usage(e.to_string()))).collect()
}

/// The words of a line that every database takes; what is left out is told. None: the whole line is left out.
fn adapted(
    line: &Line,
    gateways: &[Gateways],
    ScenarioRunArgs { adapt, replace, .. }: &ScenarioRunArgs,
    differences: &mut Vec<String>,
) -> Result<Option<Vec<String>>, Failure> {
    if !replace && line.words.windows(2).any(|pair| pair == ["--restore", "reload"]) {
        return Err(Failure::Usage(
            "this case loads anew before each run, and drops the data that are there: say --replace".to_owned(),
        ));
    }
    let mut words = line.words.clone();
    for optional in &line.optional {
        let with = [words.clone(), optional.clone()].concat();
        match refusal(&with, gateways) {
            Ok(()) => words = with,
            Err(Failure::Usage(why)) if *adapt => differences.push(format!("left out `{}`: {why}", optional.join(" "))),
            Err(Failure::Usage(why)) => {
                return Err(Failure::Usage(format!(
                    "{why} (--adapt leaves out `{}`, and says so)",
                    optional.join(" ")
                )));
            }
            Err(other) => return Err(other),
        }
    }
    if words.is_empty() {
        return Ok(None);
    }
    refusal(&words, gateways)?;
    Ok(Some(words))
}

/// What a database refuses of a line, as far as that is known before it is asked.
fn refusal(words: &[String], gateways: &[Gateways]) -> Result<(), Failure> {
    let command = parsed(words)?;
    for gateways in gateways {
        match &command {
            Command::Load(args) if args.foreign_keys_only => {
                require_late_foreign_keys(gateways.dialect()).map_err(Failure::from_workload)?;
            }
            Command::Load(args) => {
                drop(plan_from_flags(gateways, &load::flags(args)?, None).map_err(Failure::Usage)?);
            }
            Command::Run(args) => args.drive.style.require(gateways.dialect()).map_err(Failure::Usage)?,
            _ => {}
        }
    }
    Ok(())
}

/// Carries out one line, and keeps what it measured.
fn carry_out(words: &[String], args: &ScenarioRunArgs, folder: &Path, measured: &mut Measured) -> Result<(), Failure> {
    match parsed(words)? {
        Command::Sweep(mut sweep_args) => {
            sweep_args.targets = args.targets.clone();
            sweep_args.target.urls = args.target.urls.clone();
            sweep_args.out = Some(folder.join("sweep"));
            let sweep = Sweep::open(&sweep::carry_out(&sweep_args)?)?;
            keep_sweep(&sweep, &args.targets, measured);
        }
        command => {
            let mut words = words.to_vec();
            let is_run = matches!(command, Command::Run(_));
            if is_run {
                words.extend(["--out".to_owned(), folder.join("run").display().to_string()]);
            }
            if args.replace && matches!(&command, Command::Load(load) if !load.foreign_keys_only) {
                words.push("--replace".to_owned());
            }
            let step = Step::new(&args.target.urls, words);
            let (status, document) = step.run()?;
            measured.steps.push(json!({ "line": step.typed(), "believed": status == Status::Done }));
            measured.believed &= status == Status::Done;
            if is_run {
                keep_run(&document, measured);
            }
            if matches!(command, Command::Tune(_)) {
                keep_lessons(&document, measured);
            }
        }
    }
    Ok(())
}

fn keep_run(run: &Value, measured: &mut Measured) {
    let mut keep = |name: String, value: &Value, factor: f64| {
        measured.figures.extend(value.as_f64().map(|value| (name, value * factor)));
    };
    let warehouses = run["warehouses"].as_f64().unwrap_or(1.0);
    for (name, rate) in [("tpmC", &run["tpmc"]), ("NOPM", &run["nopm"])] {
        keep(name.to_owned(), rate, 1.0);
        keep(format!("{name} a warehouse"), rate, 1.0 / warehouses);
    }
    keep("efficiency, %".to_owned(), &run["efficiency"], 100.0);
    for (transaction, figures) in run["transactions"].as_object().into_iter().flatten() {
        // What the other tools' terminals do themselves, ours queue (2.7): the deferred part is what they time.
        let times = figures.get("deferred").map_or(&figures["response_ms"], |deferred| &deferred["response_ms"]);
        for (statistic, ms) in times.as_object().into_iter().flatten() {
            keep(format!("{transaction} {statistic}, ms"), ms, 1.0);
        }
    }
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    measured.differences.push(format!(
        "verdict of the run here: {}{}",
        said(&run["verdict"]["status"]),
        run["verdict"]["reasons"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|reason| format!("; {}: {}", said(&reason["rule"]), said(&reason["why"])))
            .collect::<String>()
    ));
    measured.differences.push(format!(
        "measured on {} {} with one client of {} cores, style {}, isolation {}",
        said(&run["target"]["kind"]),
        said(&run["target"]["version"]),
        run["client"]["cpus"],
        said(&run["style"]),
        said(&run["isolation"])
    ));
}

/// What a `tune run` measured, of lessons on one database or of the regions.
fn keep_lessons(result: &Value, measured: &mut Measured) {
    for lesson in result["lessons"].as_array().into_iter().flatten() {
        let name = lesson["name"].as_str().or(lesson["what"].as_str()).unwrap_or_default();
        let ms = |side: &str| lesson[format!("{side}_ms")].as_f64().or(lesson[side]["value"].as_f64());
        measured.figures.extend(lesson_figures(name, ms("before"), ms("after")));
        // What was measured in pairs is told by its pairs.
        let factor = lesson["speedup"].as_f64().or(lesson["speed_up"]["value"].as_f64());
        let told = measured.figures.iter_mut().rev().find(|(figure, _)| *figure == format!("{name} times as fast"));
        if let (Some(factor), Some((_, told))) = (factor, told) {
            *told = factor;
        }
        measured.differences.extend(lesson["verdict"].as_str().map(|verdict| format!("{name}: {verdict}")));
    }
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    measured.differences.push(format!(
        "medians, the first execution apart, of {} {}; the published figures are means",
        said(&result["target"]["kind"]),
        said(&result["target"]["version"]),
    ));
}

fn keep_sweep(sweep: &Sweep, targets: &[NamedTarget], measured: &mut Measured) {
    let told_nodes = targets.iter().any(|target| target.nodes.is_some());
    for result in sweep.results.iter().filter(|result| result.valid > 0) {
        let point = &result.point;
        let nodes = told_nodes.then_some(point.nodes);
        let connections = point.connections.filter(|_| !told_nodes);
        measured.figures.push((point_name(&point.target, nodes, connections), result.nopm.value));
        measured.believed &= result.runs.iter().all(|run| run.verdict != record::verdict::Status::Invalid);
    }
    measured.believed &= sweep.results.iter().all(|result| result.conflict.is_empty());
    let lines = report::sweep_ratios(sweep);
    measured.differences.extend(lines.into_iter().map(|line| format!("measured here: {line}")));
    measured.steps.push(json!({ "line": "sweep", "folder": sweep.path.display().to_string() }));
}

fn tell_differences(
    scenario: &Scenario,
    case: &Case,
    args: &ScenarioRunArgs,
    gateways: &Gateways,
    differences: &mut Vec<String>,
) {
    let mut first = vec![format!("published of {}; measured at {gateways}", case.cluster)];
    first.push(format!("published with {}; measured with weighbridge {}", scenario.tool, env!("CARGO_PKG_VERSION")));
    if (args.scale - 1.0).abs() > f64::EPSILON {
        first.push(if case.published.lessons.is_empty() {
            format!("warehouses and connections times {}: only what is told a warehouse compares", args.scale)
        } else {
            format!("the data set at scale {} (1 is the published size): factors compare, times don't", args.scale)
        });
    }
    for name in case.targets.iter().filter(|name| args.targets.iter().all(|target| target.name != **name)) {
        first.push(format!("{name} was not measured here"));
    }
    let times = [("ramped", args.ramp), ("measured", args.duration)];
    for (what, time) in times.into_iter().filter_map(|(what, time)| Some((what, time?))) {
        first.push(format!("{what} for {} s, not as long as published", time.as_secs()));
    }
    differences.splice(0..0, first);
}

fn document(name: &str, case: &Case, args: &ScenarioRunArgs, measured: &Measured, folder: &Path) -> Value {
    let find = |name: &str| measured.figures.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let published = published(case, args.scale);
    let mut figures: Vec<Value> = published
        .iter()
        .map(|(name, published)| {
            let found = find(name);
            json!({ "name": name, "published": published, "measured": found, "ratio": found.map(|found| found / published) })
        })
        .collect();
    // Points of a sweep that were not published.
    for (name, value) in measured.figures.iter().filter(|(name, _)| name.starts_with("NOPM, ")) {
        if published.iter().all(|(known, _)| known != name) {
            figures.push(json!({ "name": name, "published": null, "measured": value, "ratio": null }));
        }
    }
    json!({
        "scenario": name,
        "case": case.name,
        "scale": args.scale,
        "figures": figures,
        "published_cannot_be": impossible(case),
        "differences": measured.differences,
        "steps": measured.steps,
        "folder": folder.display().to_string(),
    })
}

/// Published and measured, a row a figure.
fn side_by_side(scenario: &Scenario, case: &Case, document: &Value) -> String {
    let told = |value: &Value| value.as_f64().map_or_else(|| "-".to_owned(), figure);
    let row = |row: &Value| {
        let ratio = row["ratio"].as_f64().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
        vec![
            row["name"].as_str().unwrap_or_default().to_owned(),
            told(&row["published"]),
            told(&row["measured"]),
            ratio,
        ]
    };
    let rows = document["figures"].as_array().into_iter().flatten().map(row).collect();
    let mut text = format!("{}, case {}\n\n", scenario.title, case.name);
    text.push_str(&report::columns(&["<figure", "published", "measured", "ratio"], rows));
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|line| line.as_str().map(str::to_owned)).collect()
    };
    let lists = [
        ("Differences, which the figures carry:", texts(&document["differences"])),
        ("Published, but can't be:", texts(&document["published_cannot_be"])),
        ("Known slips of the publication:", scenario.slips.clone()),
    ];
    for (title, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(&format!("\n{title}\n"));
        lines.iter().for_each(|line| text.push_str(&format!("  - {line}\n")));
    }
    text.push_str(&format!("\nFolder: {}\n", PathBuf::from(document["folder"].as_str().unwrap_or_default()).display()));
    text
}

fn figure(value: f64) -> String {
    match value {
        value if value < 1.0 => format!("{value:.3}"),
        value if value < 100.0 => format!("{value:.2}"),
        value => format!("{value:.1}"),
    }
}
