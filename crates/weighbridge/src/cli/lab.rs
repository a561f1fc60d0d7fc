//! Arguments of the local servers.

use std::path::PathBuf;

use ::lab::Kind;
use clap::{Args, Subcommand};

use super::{JsonArgs, named, region};

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Start a server or a cluster on this machine, with an empty database; it stays until `lab down`
    Up(LabUpArgs),
    /// Stop every process of a kind and remove its data
    Down(LabDownArgs),
    /// What is up, where, and whether it is alive
    Status(LabStatusArgs),
    /// The lesson of the regions: three servers at a distance, before and after the data are put where they are used
    Regions(LabRegionsArgs),
    /// Hold the network between the regions of a kind, until its servers are gone
    #[command(hide = true)]
    Network(LabNetworkArgs),
}

/// Where the servers live.
#[derive(Debug, Args)]
pub(crate) struct LabFolderArgs {
    /// The folder in which each kind has one [default: weighbridge/lab in $XDG_STATE_HOME or ~/.local/state; root: /var/lib]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge lab up postgres\n  weighbridge lab up postgres --nodes 3           \
    a primary and two synchronous standbys\n  \
    weighbridge lab up postgres --set shared_buffers=4GB --set fsync=off\n  weighbridge lab up galera\n  \
    weighbridge lab up cockroachdb --regions europe,america,asia\n  \
    weighbridge lab up postgres --regions us-east1,us-west1,us-west2\n  \
    weighbridge lab up postgres --regions here,there --delays here:there=80ms")]
pub(crate) struct LabUpArgs {
    /// The kind of server
    #[arg(value_parser = named(Kind::NAMES))]
    pub(crate) kind: Kind,
    /// Servers [default: 1; 3 of galera, cockroachdb and yugabytedb]
    #[arg(long, value_name = "N")]
    pub(crate) nodes: Option<usize>,
    /// The regions the servers say they are in, in turn (cockroachdb, yugabytedb) [default: one of its own for each]; a
    /// server for each, at a distance from the others (postgres)
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = region)]
    pub(crate) regions: Vec<String>,
    /// The round trips between the regions, as A:B=66ms,A:C=64ms or a file with one a line (postgres) [default: known
    /// for us-east1, us-west1 and us-west2]
    #[arg(long, value_name = "PAIRS|FILE", requires = "regions")]
    pub(crate) delays: Option<String>,
    /// A setting of the server, such as shared_buffers=4GB (postgres, mariadb)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) settings: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) folder: LabFolderArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  weighbridge lab down galera\n  weighbridge lab down --all")]
pub(crate) struct LabDownArgs {
    /// The kind of server
    #[arg(value_parser = named(Kind::NAMES), required_unless_present = "all", conflicts_with = "all")]
    pub(crate) kind: Option<Kind>,
    /// All kinds that are there
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) folder: LabFolderArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  weighbridge lab status --json")]
pub(crate) struct LabStatusArgs {
    #[command(flatten)]
    pub(crate) folder: LabFolderArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Takes a minute and a half: nearly all of it is the way from coast to coast, there and back.\n\nExamples:\n  \
    weighbridge lab regions\n  weighbridge lab regions --html regions.html\n  \
    weighbridge lab regions --regions here,there --delays here:there=80ms --repeat 50"
)]
pub(crate) struct LabRegionsArgs {
    /// The regions, a server for each
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = region,
        default_value = "us-east1,us-west1,us-west2"
    )]
    pub(crate) regions: Vec<String>,
    /// The round trips between them, as for `lab up`
    #[arg(long, value_name = "PAIRS|FILE")]
    pub(crate) delays: Option<String>,
    /// How often each thing is done; 7 are the fewest from which an interval follows
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(7..=10_000))]
    pub(crate) repeat: u32,
    /// Leave the servers up, as `lab up` does, with the data where they are used
    #[arg(long)]
    pub(crate) keep: bool,
    #[command(flatten)]
    pub(crate) folder: LabFolderArgs,
    /// Write a page too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LabNetworkArgs {
    #[arg(value_parser = named(Kind::NAMES))]
    pub(crate) kind: Kind,
    #[command(flatten)]
    pub(crate) folder: LabFolderArgs,
}
/// Servers of `weighbridge lab`, which this tool may kill.
#[derive(Debug, Args)]
pub(crate) struct LabTargetArgs {
    /// The servers that `weighbridge lab up KIND` has started, instead of --url
    #[arg(long, value_name = "KIND", value_parser = named(Kind::NAMES), conflicts_with = "urls")]
    pub(crate) lab: Option<Kind>,
    /// Where they live [default: as in `lab up`]
    #[arg(long, value_name = "DIR", requires = "lab")]
    pub(crate) dir: Option<PathBuf>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if name.is_empty() || !name.chars().all(plain) || value.contains(char::is_control) {
        Err("write NAME=VALUE, a name of letters, digits and underscores".to_owned())
    } else {
        Ok((name.to_owned(), value.to_owned()))
    }
}
