//! `weighbridge lab`: local servers to try things on, which stay up between commands.

use std::path::{Path, PathBuf};

use lab::{Condition, Delays, Description, Distance, Kind, LabError, Layout, Network, RegionLink};
use serde_json::json;

use super::{Ended, Failure, Status, me};
use crate::cli::{LabCommand, LabDownArgs, LabFolderArgs, LabStatusArgs, LabUpArgs};
use crate::{interrupt, output};

pub(crate) fn run(command: &LabCommand) -> Ended {
    match command {
        LabCommand::Up(args) => up(args),
        LabCommand::Down(args) => down(args),
        LabCommand::Status(args) => status(args),
        LabCommand::Regions(args) => super::regions::run(args),
        LabCommand::Network(args) => {
            Ok(lab::hold(args.kind, &base(args.folder.dir.as_deref())?).map(|()| Status::Done)?)
        }
    }
}

fn up(args: &LabUpArgs) -> Ended {
    let kind = args.kind;
    let base = base(args.folder.dir.as_deref())?;
    let (nodes, regions, delays) = layout(args)?;
    let folder = lab::folder(kind, &base);
    if let Some(found) = lab::find(kind, &base)? {
        return already(args, nodes, delays.as_ref(), &found, &folder);
    }
    interrupt::on_stop(lab::interrupt);
    say!("starting {kind} in {}", folder.display());
    let regions: Vec<&str> = regions.iter().map(String::as_str).collect();
    let settings: Vec<(&str, &str)> =
        args.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let holder = holder(kind, &base)?;
    let distance = delays.as_ref().map(|delays| Distance { delays, holder: &holder });
    let layout = Layout { nodes, regions: &regions, settings: &settings, distance };
    let started = lab::up(kind, &layout, &base).map_err(|e| not_started(kind, &folder, &e))?;
    show(args.json.enabled, &started, &folder)?;
    if !args.json.enabled {
        let url = &started.urls()[0];
        say!("\nTry next:");
        for command in [&format!("load --url {url} --warehouses 1"), "lab status", &format!("lab down {kind}")] {
            say!("  {} {command}{}", me(), dir(&args.folder, command));
        }
    }
    Ok(Status::Done)
}

/// This program as it holds the network between regions.
pub(super) fn holder(kind: Kind, base: &Path) -> Result<Vec<String>, Failure> {
    let me = std::env::current_exe()?;
    let words =
        [me.as_os_str(), "lab".as_ref(), "network".as_ref(), kind.name().as_ref(), "--dir".as_ref(), base.as_os_str()];
    Ok(words.map(|word| word.to_string_lossy().into_owned()).to_vec())
}

/// The round trips between regions, as they were given: themselves, or a file with them.
pub(super) fn delays(regions: &[String], given: Option<&str>) -> Result<Delays, Failure> {
    let usage = |e: String| Failure::Usage(format!("--delays: {e}"));
    match given {
        Some(file) if !file.contains('=') => {
            let text = std::fs::read_to_string(file).map_err(|e| usage(format!("{file}: {e}")))?;
            Delays::new(regions, &text).map_err(|e| usage(format!("{file}: {e}")))
        }
        given => Delays::new(regions, given.unwrap_or_default()).map_err(|e| usage(e.to_string())),
    }
}

/// How many servers, the regions they are in, and how far these are from each other.
fn layout(args: &LabUpArgs) -> Result<(usize, Vec<String>, Option<Delays>), Failure> {
    let kind = args.kind;
    let possible = args.kind.nodes();
    let distant = kind.has_distance() && !args.regions.is_empty();
    let nodes = args.nodes.unwrap_or(if distant { args.regions.len() } else { *possible.start() });
    if !possible.contains(&nodes) {
        let (least, most) = possible.into_inner();
        let can = if most == 1 { "is one server".to_owned() } else { format!("has {least} to {most} nodes") };
        return Err(Failure::Usage(format!("--nodes {nodes}: {kind} {can} here")));
    }
    let has = |kind: &Kind| kind.has_regions() || kind.has_distance();
    if !has(&kind) && !args.regions.is_empty() {
        let have: Vec<&str> = Kind::all().filter(has).map(Kind::name).collect();
        return Err(Failure::Usage(format!("--regions: {kind} knows no regions; {} do", have.join(" and "))));
    }
    if !distant && args.delays.is_some() {
        return Err(Failure::Usage(format!("--delays: there is no distance between the servers of {kind}")));
    }
    if distant && nodes != args.regions.len() {
        let count = args.regions.len();
        return Err(Failure::Usage(format!("--nodes {nodes}: {kind} has a server for each of the {count} regions")));
    }
    if !kind.takes_settings() && !args.settings.is_empty() {
        let take: Vec<&str> = Kind::all().filter(|kind| kind.takes_settings()).map(Kind::name).collect();
        return Err(Failure::Usage(format!("--set: {kind} takes no settings here; {} do", take.join(" and "))));
    }
    if args.regions.len() > nodes {
        return Err(Failure::Usage(format!("--regions names {}, for {nodes} nodes", args.regions.len())));
    }
    let regions = if kind.has_regions() && args.regions.is_empty() {
        (1..=nodes).map(|node| format!("region{node}")).collect()
    } else {
        args.regions.clone()
    };
    let delays = if distant { Some(delays(&regions, args.delays.as_deref())?) } else { None };
    Ok((nodes, regions, delays))
}

/// What `up` says when there is something of that kind.
fn already(args: &LabUpArgs, nodes: usize, delays: Option<&Delays>, found: &Description, folder: &Path) -> Ended {
    let kind = args.kind;
    let condition = found.condition();
    let regions: Vec<&str> = found.nodes.iter().filter_map(|node| node.region.as_deref()).collect();
    let same = (args.nodes.is_none() || nodes == found.nodes.len())
        && args.regions.len() <= regions.len()
        && args.regions.iter().zip(&regions).all(|(asked, has)| asked == has)
        && delays.is_none_or(|delays| found.network.as_ref().is_some_and(|network| is_as_far(network, delays)));
    let command = format!("lab down {kind}");
    let remove = format!("`{} {command}{}`", me(), dir(&args.folder, &command));
    let is = format!("{kind} is {condition} in {}", folder.display());
    Err(Failure::Failed(match condition {
        Condition::Up if same => {
            say!("{kind} is up already, in {}", folder.display());
            show(args.json.enabled, found, folder)?;
            return Ok(Status::Done);
        }
        Condition::Up => format!("{is} already, with other nodes, regions or delays: {remove} first"),
        Condition::Starting => format!("{is}, by another command"),
        Condition::Degraded | Condition::Stale | Condition::Unfinished => {
            format!("{is} ({}): {remove} first", meaning(condition))
        }
    }))
}

/// Whether a network has these regions, at these distances.
fn is_as_far(network: &Network, delays: &Delays) -> bool {
    let number = |name: &String| delays.regions().iter().position(|region| region == name);
    let fits = |way: &RegionLink| match (number(&way.from), number(&way.to)) {
        (Some(from), Some(to)) => delays.round_trip(from, to).as_micros() == u128::from(way.round_trip_us),
        _ => false,
    };
    network.ways.iter().all(fits)
}

/// Says what is left of a start that failed.
fn not_started(kind: Kind, folder: &Path, error: &LabError) -> Failure {
    // Another command may have made the folder in the meantime; what a failed start made it has removed.
    Failure::Failed(match error {
        LabError::Missing { .. } => error.to_string(),
        _ if folder.exists() => format!("starting {kind}: {error}; see `{} lab status`", me()),
        _ => format!("starting {kind}: {error}; what had been started was stopped and removed"),
    })
}

fn down(args: &LabDownArgs) -> Ended {
    let base = base(args.folder.dir.as_deref())?;
    let mut stopped = Vec::new();
    let mut failures = Vec::new();
    for kind in args.kind.map_or_else(|| Kind::all().collect::<Vec<_>>(), |kind| vec![kind]) {
        match stop(kind, &base) {
            Ok(true) => stopped.push(kind),
            Ok(false) => {}
            Err(e) => failures.push(e),
        }
    }
    if stopped.is_empty() && failures.is_empty() {
        let what = args.kind.map_or("nothing".to_owned(), |kind| format!("no {kind}"));
        say!("there is {what} in {}", base.display());
    }
    if args.json.enabled {
        output::print_json(&json!({ "stopped": stopped }))?;
    }
    if failures.is_empty() { Ok(Status::Done) } else { Err(Failure::Failed(failures.join("; "))) }
}

/// Ends a kind's processes and removes its folder; `false` if there is nothing of it.
fn stop(kind: Kind, base: &Path) -> Result<bool, String> {
    let Some(found) = lab::find(kind, base).map_err(|e| e.to_string())? else { return Ok(false) };
    if found.condition() == Condition::Starting {
        return Err(format!("{kind} is being started by another command: wait for it, or interrupt it"));
    }
    let alive = found.nodes.iter().filter(|node| node.is_alive()).count();
    lab::down(&found, base).map_err(|e| format!("stopping {kind}: {e}"))?;
    let folder = lab::folder(kind, base);
    match alive {
        0 => say!("{kind}: its processes were gone; removed {}", folder.display()),
        1 => say!("{kind}: stopped 1 server, removed {}", folder.display()),
        _ => say!("{kind}: stopped {alive} servers, removed {}", folder.display()),
    }
    Ok(true)
}

fn status(args: &LabStatusArgs) -> Ended {
    let base = base(args.folder.dir.as_deref())?;
    let mut documents = Vec::new();
    let mut text = String::new();
    let mut failures = Vec::new();
    for kind in Kind::all() {
        let folder = lab::folder(kind, &base);
        match lab::find(kind, &base) {
            Ok(None) => {}
            Ok(Some(found)) => {
                documents.push(document(&found, &folder));
                text.push_str(&lines(&found, &folder, &args.folder));
            }
            Err(e) => failures.push(e.to_string()),
        }
    }
    if args.json.enabled {
        output::print_json(&json!({ "folder": base, "kinds": documents }))?;
    } else if !text.is_empty() {
        output::print(&text)?;
    } else if failures.is_empty() {
        output::print(&format!("There is nothing in {}.", base.display()))?;
    }
    if failures.is_empty() { Ok(Status::Done) } else { Err(Failure::Failed(failures.join("; "))) }
}

/// What `status` prints of a kind.
fn lines(found: &Description, folder: &Path, dir_args: &LabFolderArgs) -> String {
    let kind = found.kind;
    let condition = found.condition();
    let mut text = format!("{kind} is {condition}, in {}\n", folder.display());
    for (node, url) in found.nodes.iter().zip(found.urls()) {
        let region = node.region.as_ref().map_or(String::new(), |region| format!("  {region}"));
        let life = match &node.process {
            Some(process) if node.is_alive() => format!("process {}", process.pid),
            Some(process) => format!("dead (was process {})", process.pid),
            None => "not started".to_owned(),
        };
        let url = if node.process.is_some() { url } else { "-".to_owned() };
        text.push_str(&format!("  {:<10} {url}{region}  {life}\n", node.name));
    }
    if let Some(network) = &found.network {
        let life = match &network.process {
            Some(process) if network.is_alive() => format!("process {}", process.pid),
            Some(process) => format!("dead (was process {})", process.pid),
            None => "not started".to_owned(),
        };
        text.push_str(&format!("  the network between them  {life}\n"));
        for RegionLink { from, to, address, round_trip_us, .. } in &network.ways {
            let ms = *round_trip_us as f64 / 1000.0;
            text.push_str(&format!("    {from} to {to}: {address}, a round trip of {ms} ms\n"));
        }
    }
    if !matches!(condition, Condition::Up | Condition::Starting) {
        let command = format!("lab down {kind}");
        let dir = dir(dir_args, &command);
        text.push_str(&format!("  {}: `{} {command}{dir}` removes what is left\n", meaning(condition), me()));
    }
    text
}

/// What a condition means, where its name doesn't say it all.
fn meaning(condition: Condition) -> &'static str {
    match condition {
        Condition::Starting => "another command is starting it",
        Condition::Up => "all its servers run",
        Condition::Degraded => "some of its processes are dead",
        Condition::Stale => "its processes are gone, its folder is left",
        Condition::Unfinished => "its start was cut short",
    }
}

/// Prints the URLs, one a line, or the JSON document.
fn show(as_json: bool, found: &Description, folder: &Path) -> Result<(), Failure> {
    if as_json { output::print_json(&document(found, folder)) } else { output::print(&found.urls().join("\n")) }
}

/// A kind as JSON.
fn document(found: &Description, folder: &Path) -> serde_json::Value {
    let nodes = found.nodes.iter().zip(found.urls()).map(|(node, url)| {
        json!({
            "name": node.name,
            "url": node.process.is_some().then_some(url),
            "region": node.region,
            "pid": node.process.as_ref().map(|process| process.pid),
            "alive": node.is_alive(),
        })
    });
    json!({
        "kind": found.kind,
        "condition": found.condition(),
        "folder": folder,
        "nodes": nodes.collect::<Vec<_>>(),
        "network": found.network.as_ref().map(|network| json!({
            "pid": network.process.as_ref().map(|process| process.pid),
            "alive": network.is_alive(),
            "ways": network.ways,
        })),
    })
}

/// The folder below which each kind has one.
pub(super) fn base(dir: Option<&Path>) -> Result<PathBuf, Failure> {
    let base = dir.map_or_else(lab::state_folder, Path::to_owned);
    std::path::absolute(&base).map_err(|e| Failure::Usage(format!("--dir {}: {e}", base.display())))
}

/// The folder again, for advice; only where it was given and the command takes it.
fn dir(args: &LabFolderArgs, command: &str) -> String {
    match &args.dir {
        Some(dir) if command.starts_with("lab ") => format!(" --dir {}", dir.display()),
        _ => String::new(),
    }
}
