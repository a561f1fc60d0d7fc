//! A schema of our own in somebody's database: what is made there touches nothing else, and goes with it.

use std::path::PathBuf;

use crate::url::Endpoint;
use crate::{Error, Session, Url};

/// How a database makes, enters and drops a schema; `{}` stands for its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaSql {
    /// Makes it.
    pub create: &'static str,
    /// Has a session find its tables there, and nowhere else.
    pub enter: &'static str,
    /// Drops it with all that is in it.
    pub drop: &'static str,
    /// Whether there is one: a row if so.
    pub exists: &'static str,
}

/// A schema of our own, or a file of our own beside an embedded database's.
#[derive(Clone, Debug)]
pub struct ScratchSchema {
    url: Url,
    name: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Schema(SchemaSql),
    File,
}

impl ScratchSchema {
    /// The schema of this name (letters, digits, underscores) in the database at `url`; nothing is touched.
    ///
    /// # Errors
    /// If the database can't have one.
    pub fn of(url: &Url, name: &str) -> Result<Self, Error> {
        let (url, kind) = match (&url.endpoint, url.dialect().wire().defaults().scratch_schema) {
            (Endpoint::Sqlite(file), _) => {
                let mut beside = file.clone().into_os_string();
                beside.push(format!("-{name}"));
                (url.at_file(PathBuf::from(beside)), Kind::File)
            }
            (_, Some(sql)) => (url.clone(), Kind::Schema(sql)),
            (_, None) => {
                let said = format!("can't make a schema of our own on {}", url.dialect().name());
                return Err(Error::permanent(said));
            }
        };
        Ok(Self { url, name: name.to_owned(), kind })
    }

    /// Whether it is there: left by somebody who was killed, or in use.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn exists(&self) -> Result<bool, Error> {
        match self.kind {
            Kind::File => Ok(self.url.file().is_some_and(std::path::Path::exists)),
            Kind::Schema(sql) => {
                let mut session = Session::connect(&self.url).await?;
                Ok(!session.query(&self.named(sql.exists), &[]).await?.is_empty())
            }
        }
    }

    /// Makes it.
    ///
    /// # Errors
    /// The database's refusal: it is there already, or the user may not.
    pub async fn create(&self) -> Result<(), Error> {
        match self.kind {
            Kind::File => Session::connect(&self.url).await.map(drop),
            Kind::Schema(sql) => Session::connect(&self.url).await?.execute(&self.named(sql.create)).await,
        }
    }

    /// Connects, and enters it. Statements commit by themselves.
    ///
    /// # Errors
    /// As [`Session::connect`].
    pub async fn connect(&self) -> Result<Session, Error> {
        let mut session = Session::connect(&self.url).await?;
        session.commit_each().await?;
        if let Kind::Schema(sql) = self.kind {
            session.execute(&self.named(sql.enter)).await?;
        }
        Ok(session)
    }

    /// Drops it with all that is in it.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn remove(&self) -> Result<(), Error> {
        match self.kind {
            Kind::Schema(sql) => Session::connect(&self.url).await?.execute(&self.named(sql.drop)).await,
            Kind::File => {
                let Some(file) = self.url.file() else { return Ok(()) };
                for suffix in ["", "-wal", "-shm", "-journal"] {
                    let mut part = file.as_os_str().to_owned();
                    part.push(suffix);
                    match std::fs::remove_file(&part) {
                        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                            return Err(Error::permanent(format!("{}: {e}", PathBuf::from(part).display())));
                        }
                        _ => {}
                    }
                }
                Ok(())
            }
        }
    }

    /// Where its sessions connect.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Where it is, for people: `the schema x`, or a file's name.
    pub fn place(&self) -> String {
        match self.kind {
            Kind::File => self.url.to_string(),
            Kind::Schema(_) => format!("the schema {} at {}", self.name, self.url),
        }
    }

    fn named(&self, sql: &str) -> String {
        sql.replace("{}", &self.name)
    }
}
