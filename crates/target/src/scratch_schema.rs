//! A scratch schema in a user's database: it holds all tables of a test, and is dropped with them.

use std::path::PathBuf;

use crate::url::Endpoint;
use crate::{Error, Session, Url};

/// The statements that create, enter and drop a schema; `{}` stands for its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaSql {
    /// Creates the schema.
    pub create: &'static str,
    /// Makes a session find its tables in the schema only.
    pub enter: &'static str,
    /// Drops the schema with all that is in it.
    pub drop: &'static str,
    /// Returns a row if the schema exists.
    pub exists: &'static str,
}

/// A scratch schema, or a file beside that of an embedded database.
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
    /// The schema of this name (letters, digits, underscores) in the database at `url`. Sends nothing.
    ///
    /// # Errors
    /// If the database can't have one.
    pub fn for_url(url: &Url, name: &str) -> Result<Self, Error> {
        let (url, kind) = match (&url.endpoint, url.dialect().wire().defaults().scratch_schema) {
            (Endpoint::Sqlite(file), _) => {
                let mut beside = file.clone().into_os_string();
                beside.push(format!("-{name}"));
                (url.at_file(PathBuf::from(beside)), Kind::File)
            }
            (_, Some(sql)) => (url.clone(), Kind::Schema(sql)),
            (_, None) => {
                return Err(Error::permanent(format!("can't make a schema of our own on {}", url.dialect().name())));
            }
        };
        Ok(Self { url, name: name.to_owned(), kind })
    }

    /// Whether it exists: in use, or left behind by a killed process.
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
    /// The database's refusal: it exists already, or the user lacks the privilege.
    pub async fn create(&self) -> Result<(), Error> {
        match self.kind {
            Kind::File => Session::connect(&self.url).await.map(drop),
            Kind::Schema(sql) => Session::connect(&self.url).await?.execute(&self.named(sql.create)).await,
        }
    }

    /// Connects, and enters the schema. Each statement commits on its own.
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

    /// Where it is, in messages: `the schema x`, or a file's name.
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
