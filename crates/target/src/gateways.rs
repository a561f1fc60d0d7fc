//! The gateways of one database: its nodes or proxies.

use std::fmt;
use std::sync::Arc;

use crate::{DATABASES, Dialect, Error, Session, Url, UrlError};

/// The gateways of one database, in the order given: never none, and none twice.
///
/// A single server has one. A cluster has several, each a node or a proxy; sessions are dealt out to them in turn.
#[derive(Clone, Debug)]
pub struct Gateways(Arc<[Url]>);

impl Gateways {
    /// Reads URLs. Each text may itself be a list of URLs, separated by blanks or commas.
    ///
    /// # Errors
    /// No text; a URL that can't be read; URLs of different databases; the same URL twice.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, UrlError> {
        let urls = texts.iter().flat_map(|text| cut(text.as_ref())).map(Url::parse).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = urls.first() else {
            return Err("no URL: use for example sqlite:weighbridge.db".into());
        };
        if let Some(other) = urls.iter().find(|url| !url.same_database_as(first)) {
            let message = format!("{first} and {other} are different databases: several URLs must be gateways of one");
            return Err(message.into());
        }
        for (at, url) in urls.iter().enumerate() {
            if urls[..at].iter().any(|earlier| earlier.to_string() == url.to_string()) {
                return Err(format!("the gateway {url} is named twice").into());
            }
        }
        Ok(Self(urls.into()))
    }

    /// The database's dialect.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.first().dialect()
    }

    /// Sessions that work side by side where nobody asks for a number: one a core, and one a gateway at least.
    pub fn default_sessions(&self) -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get).max(self.urls().len())
    }

    /// The first: what needs one session only goes through it.
    pub fn first(&self) -> &Url {
        self.dealt(0)
    }

    /// The gateway of session `number` (from 0) where sessions are dealt out in turn.
    pub fn dealt(&self, number: usize) -> &Url {
        &self.0[number % self.0.len()]
    }

    /// All of them.
    pub fn urls(&self) -> &[Url] {
        &self.0
    }

    /// Those that take a connection now, with a warning for each that doesn't. A single one is not tried.
    ///
    /// # Errors
    /// The first refusal, if all refuse.
    pub async fn living(&self) -> Result<Self, Error> {
        if self.0.len() == 1 {
            return Ok(self.clone());
        }
        let mut living = Vec::new();
        let mut refusals = Vec::new();
        for url in self.0.iter() {
            match Session::connect(url).await {
                Ok(_) => living.push(url.clone()),
                Err(e) => refusals.push(e),
            }
        }
        if living.is_empty() {
            return Err(refusals.swap_remove(0));
        }
        refusals.iter().for_each(|e| tracing::warn!("{e}; going on without this gateway"));
        Ok(Self(living.into()))
    }
}

impl From<Url> for Gateways {
    fn from(url: Url) -> Self {
        Self([url].into())
    }
}

/// The URLs, separated by blanks, without passwords.
impl fmt::Display for Gateways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: Vec<String> = self.0.iter().map(Url::to_string).collect();
        f.write_str(&urls.join(" "))
    }
}

/// Cuts a list of URLs. A blank or a comma ends a URL only where another begins, since both may
/// stand inside one: `sqlite:my bench.db`, `postgres://host1,host2/bench`.
fn cut(list: &str) -> Vec<&str> {
    let separator = |c: char| c == ',' || c.is_whitespace();
    let mut urls = Vec::new();
    let mut start = 0;
    for (at, found) in list.match_indices(separator) {
        let next = at + found.len();
        if begins_url(&list[next..]) {
            urls.push(list[start..at].trim_matches(separator));
            start = next;
        }
    }
    urls.push(list[start..].trim_matches(separator));
    if urls.len() > 1 {
        urls.retain(|url| !url.is_empty());
    }
    urls
}

/// Whether a text begins like a URL: `anything://`, or a known scheme that is no host before its port.
fn begins_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let word = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric());
    let known = DATABASES.iter().any(|dialect| dialect.name() == scheme);
    word && (rest.starts_with("//") || known && !rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separator_counts_only_before_another_url() {
        let two = ["postgres://a/db", "postgres://b/db"];
        for list in [
            "postgres://a/db,postgres://b/db",
            "postgres://a/db postgres://b/db",
            " postgres://a/db , postgres://b/db\n",
        ] {
            assert_eq!(cut(list), two, "{list}");
        }
        for one in ["postgres://a,b:5433/db", "postgres://a,postgres:5433/db", "sqlite:my bench, really.db", ""] {
            assert_eq!(cut(one), [one]);
        }
        assert_eq!(cut("sqlite:a b.db nosuch://x/db"), ["sqlite:a b.db", "nosuch://x/db"]);
    }

    #[test]
    fn all_lead_to_one_database() {
        let gateways =
            Gateways::parse(&["postgres://me:s3cret@a/db", "postgres://me@b/db,postgres://me@a:5433/db"]).unwrap();
        assert_eq!(gateways.to_string(), "postgres://me@a:5432/db postgres://me@b:5432/db postgres://me@a:5433/db");
        assert_eq!(gateways.dealt(4).to_string(), "postgres://me@b:5432/db");
        for (urls, words) in [
            (["postgres://me@a/db", "postgres://me@b/other"], ["a:5432/db", "b:5432/other"]),
            (["postgres://me@a/db", "cockroachdb://me@b/db"], ["postgres://", "cockroachdb://"]),
            (["mysql://me@a/db", "mysql://me@b/other"], ["a:3306/db", "b:3306/other"]),
            (["sqlite:a.db", "sqlite:b.db"], ["a.db", "b.db"]),
            (["sqlite:a.db", "sqlite:a.db"], ["a.db", "twice"]),
            (["postgres://me@a/db", "postgres://me:s3cret@a:5432/db"], ["a:5432", "twice"]),
        ] {
            let message = Gateways::parse(&urls).unwrap_err().to_string();
            assert!(words.iter().all(|word| message.contains(word)) && !message.contains("s3cret"), "{message}");
        }
        assert!(Gateways::parse::<&str>(&[]).is_err());
        assert!(
            Gateways::parse(&["postgres://me@a/db, nosuch://me:s3cret@b/db"])
                .unwrap_err()
                .to_string()
                .contains("nosuch")
        );
    }
}
