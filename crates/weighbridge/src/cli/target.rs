//! The options that name a database.

use clap::Args;

/// Where the database is.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// The database: sqlite:FILE, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or the same with mysql, mariadb, tidb,
    /// cockroachdb or yugabytedb; null: is none, and weighs the tool. `weighbridge targets` lists all
    ///
    /// A password may also come from PGPASSWORD, ~/.pgpass, MYSQL_PWD or ODBC_PASSWORD; it is never shown or stored.
    /// Several URLs, given one by one or as a list, are several gateways of one cluster; connections are dealt out
    /// evenly over them.
    #[arg(long = "url", env = "WEIGHBRIDGE_URL", hide_env_values = true, default_value = target::DEFAULT_URL)]
    pub(crate) urls: Vec<String>,
}

impl TargetArgs {
    /// Refuses a URL that was typed beside named targets, which stand instead of it; one of the environment may be there.
    pub(crate) fn beside(&self, targets: &[NamedTarget]) -> Result<(), String> {
        let usual = std::env::var("WEIGHBRIDGE_URL").unwrap_or_else(|_| target::DEFAULT_URL.to_owned());
        if targets.is_empty() || self.urls == [usual] {
            Ok(())
        } else {
            Err("--url beside --target: name each database with --target NAME=URL, or the only one with --url"
                .to_owned())
        }
    }
}

/// A database with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTarget {
    pub(crate) name: String,
    pub(crate) nodes: Option<u32>,
    pub(crate) urls: Vec<String>,
}

pub(super) fn named_target(text: &str) -> Result<NamedTarget, String> {
    const FORM: &str = "write NAME=URL, or NAME@NODES=URL,URL, such as v2.1=tidb://root@host/tpcc";
    let (name, urls) = text.split_once('=').ok_or(FORM)?;
    let (name, nodes) = name.split_once('@').map_or((name, None), |(name, nodes)| (name, Some(nodes)));
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(['.', '-']) {
        return Err(format!("a name is of letters, digits, dots and dashes: {FORM}"));
    }
    let nodes = nodes.map(|nodes| nodes.parse().ok().filter(|nodes| *nodes > 0).ok_or(FORM)).transpose()?;
    let urls = urls.split(',').map(str::to_owned).collect();
    Ok(NamedTarget { name: name.to_owned(), nodes, urls })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_a_name_and_perhaps_nodes() {
        let target = |name: &str, nodes, urls: &[&str]| {
            Ok(NamedTarget { name: name.into(), nodes, urls: urls.iter().map(|url| (*url).to_owned()).collect() })
        };
        assert_eq!(named_target("v2.1=tidb://r@h/t?a=b"), target("v2.1", None, &["tidb://r@h/t?a=b"]));
        assert_eq!(
            named_target("four@4=null:,null:?latency=1ms"),
            target("four", Some(4), &["null:", "null:?latency=1ms"])
        );
        for bad in ["null:", "=null:", "a b=null:", "a@0=null:", "a@x=null:", "../a=null:"] {
            assert!(named_target(bad).is_err(), "{bad}");
        }
    }
}
