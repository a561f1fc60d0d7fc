//! Copies of a PostgreSQL database, made with `CREATE DATABASE ... TEMPLATE`.
//!
//! Such a copy has the data, but not the owner, the grants, the connection limit or the settings of its template. These
//! are put on it and read back: a copy that differs is not used.

use std::fmt::Write as _;
use std::pin::pin;
use std::time::Instant;

use tokio::sync::watch;

use super::{RETRY_INTERVAL, SESSION_EXIT_TIMEOUT, SnapshotError};
use crate::{Class, Error, Session, Url};

/// SQLSTATE `object_in_use`.
const OBJECT_IN_USE: &str = "55006";

/// SQLSTATEs of a name that is taken: `duplicate_database`, and `unique_violation` when its owner commits meanwhile.
const NAME_TAKEN: [&str; 2] = ["42P04", "23505"];

/// The longest name that PostgreSQL keeps, in bytes.
const MAX_NAME: usize = 63;

/// The connection limit of a copy that is being made. With connections forbidden as well it marks the copy as ours until
/// it has its comment: `CREATE DATABASE` takes no comment, and goes on in the server when its client is killed.
const UNFINISHED_LIMIT: i32 = 2_003_788_658;

/// Settings whose values are lists. Each element is a literal of its own, as in pg_dump.
const LIST_SETTINGS: [&str; 6] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
    "unix_socket_directories",
];

/// A database on a PostgreSQL server, and the names of the files or databases beside it.
pub(super) struct DatabaseSnapshot {
    url: Url,
    /// A database of the same server that no statement here touches.
    maintenance: Url,
    name: String,
    /// The original's name while it is set aside.
    original: String,
    /// A copy's name until it is complete.
    copy: String,
    /// The name of the copy that the last run used, until it is dropped.
    used: String,
}

/// A database as the catalog shows it.
struct Found {
    oid: String,
    comment: String,
    unfinished: bool,
    is_template: bool,
}

impl DatabaseSnapshot {
    pub(super) fn new(url: &Url) -> Option<Self> {
        let (maintenance, name) = url.maintenance()?;
        let name = as_kept(&name).to_owned();
        let hash = name_hash(&name);
        Some(Self {
            url: url.clone(),
            maintenance,
            original: format!("weighbridge_original_{hash:016x}"),
            copy: format!("weighbridge_copy_{hash:016x}"),
            used: format!("weighbridge_used_{hash:016x}"),
            name,
        })
    }

    pub(super) async fn connect(&self) -> Result<Session, Error> {
        Session::connect(&self.maintenance).await
    }

    /// The comment on every copy of the original.
    fn marker(&self, oid: &str) -> String {
        format!("{}, oid {oid}", self.marker_start())
    }

    fn marker_start(&self) -> String {
        format!("weighbridge copy of {}", quoted(&self.name))
    }

    pub(super) async fn is_set_aside(&self, session: &mut Session) -> Result<bool, SnapshotError> {
        let Some(original) = find(session, &self.original).await? else { return Ok(false) };
        match find(session, &self.name).await? {
            Some(found) if found.comment != self.marker(&original.oid) => Err(SnapshotError::Blocked {
                message: format!(
                    "database {} has the name that weighbridge gives to the original of {}, but {} is no copy of it",
                    self.original, self.name, self.name
                ),
                hint: format!("rename database {}", self.original),
            }),
            _ => Ok(true),
        }
    }

    pub(super) fn original_url(&self, aside: bool) -> Url {
        if aside { self.url.at_database(&self.original) } else { self.url.clone() }
    }

    pub(super) async fn begin_run(&self, stop: &watch::Receiver<bool>) -> Result<(), SnapshotError> {
        let mut session = self.connect().await?;
        let aside = self.is_set_aside(&mut session).await?;
        for leftover in [&self.copy, &self.used] {
            self.drop_copy(&mut session, leftover).await?;
        }
        if let Err(e) = self.make_copy(&mut session, if aside { &self.original } else { &self.name }, stop).await {
            // What is left otherwise has a mark, and goes at the next chance.
            let _ = self.drop_copy(&mut self.connect().await?, &self.copy).await;
            return if *stop.borrow() { Ok(()) } else { Err(e) };
        }
        let away = if aside { &self.used } else { &self.original };
        let place_taken = !aside || find(&mut session, &self.name).await?.is_some();
        let first = place_taken.then_some((self.name.as_str(), away.as_str()));
        rename(&mut session, first, (&self.copy, &self.name)).await?;
        self.drop_copy(&mut session, &self.used).await
    }

    pub(super) async fn put_back(&self) -> Result<(), SnapshotError> {
        let mut session = self.connect().await?;
        if self.is_set_aside(&mut session).await? {
            self.drop_copy(&mut session, &self.used).await?;
            let place_taken = find(&mut session, &self.name).await?.is_some();
            let first = place_taken.then_some((self.name.as_str(), self.used.as_str()));
            rename(&mut session, first, (&self.original, &self.name)).await?;
        }
        for leftover in [&self.used, &self.copy] {
            self.drop_copy(&mut session, leftover).await?;
        }
        Ok(())
    }

    /// Makes a copy under its temporary name that equals `source` in all but its name, its comment and its object id.
    async fn make_copy(
        &self,
        session: &mut Session,
        source: &str,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), SnapshotError> {
        let Some(Found { oid, .. }) = find(session, source).await? else {
            return Err(Error::permanent(format!("database {source} does not exist")).into());
        };
        let wanted = Properties::read(session, source).await?;
        let bound = bound_to_original(session, source).await?;
        if !bound.is_empty() {
            return Err(self.unfaithful(&format!("a copy can't have its {}", bound.join(", ")), None));
        }
        let create = format!(
            "CREATE DATABASE {} TEMPLATE {} OWNER {} ALLOW_CONNECTIONS false CONNECTION LIMIT {UNFINISHED_LIMIT}",
            quoted(&self.copy),
            quoted(source),
            quoted(&wanted.owner)
        );
        match self.execute_cancellable(session, &create, source, stop).await {
            // The server may only now have finished the copy of a client that was killed.
            Err(SnapshotError::Target(e)) if e.code().is_some_and(|code| NAME_TAKEN.contains(&code)) => {
                self.drop_copy(session, &self.copy).await?;
                self.execute_cancellable(session, &create, source, stop).await?;
            }
            done => done?,
        }
        let comment = format!("COMMENT ON DATABASE {} IS {}", quoted(&self.copy), literal(&self.marker(&oid)));
        session.execute(&comment).await.map_err(|e| e.context(&comment))?;
        let mut refused = None;
        for statement in wanted.statements(&self.copy) {
            if let Err(e) = session.execute(&statement).await {
                if e.class() == Class::Lost {
                    return Err(e.into());
                }
                // Of a transaction in the statement; without one the server only warns.
                session.execute("ROLLBACK").await?;
                refused.get_or_insert(e);
            }
        }
        let differences = wanted.differences(&Properties::read(session, &self.copy).await?);
        if differences.is_empty() { Ok(()) } else { Err(self.unfaithful(&differences, refused.as_ref())) }
    }

    fn unfaithful(&self, differences: &str, refused: Option<&Error>) -> SnapshotError {
        let because = refused.map_or_else(String::new, |e| format!(" ({e})"));
        SnapshotError::Unfaithful(format!("database {} can't be copied as it is: {differences}{because}", self.name))
    }

    /// Executes a long statement that needs `database` without sessions, and cancels it once `stop` is true.
    async fn execute_cancellable(
        &self,
        session: &mut Session,
        sql: &str,
        database: &str,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), SnapshotError> {
        let canceller = session.canceller(&self.maintenance).await?;
        let deadline = Instant::now() + SESSION_EXIT_TIMEOUT;
        let mut stop = stop.clone();
        loop {
            let done = {
                let mut executing = pin!(session.execute(sql));
                let stopped = async {
                    // Without a sender nobody will ever stop it.
                    if stop.wait_for(|stop| *stop).await.is_err() {
                        std::future::pending::<()>().await;
                    }
                };
                tokio::select! {
                    done = &mut executing => done,
                    () = stopped => {
                        if let Some(canceller) = &canceller {
                            canceller.cancel().await?;
                        }
                        executing.await
                    }
                }
            };
            match done {
                Err(e) if e.code() == Some(OBJECT_IN_USE) && !*stop.borrow() => {
                    if Instant::now() >= deadline {
                        return Err(occupied(session, &[database], e).await.into());
                    }
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
                done => return done.map_err(|e| e.context(sql).into()),
            }
        }
    }

    /// Drops a database of one of our names, if it is there and carries our mark.
    async fn drop_copy(&self, session: &mut Session, name: &str) -> Result<(), SnapshotError> {
        let Some(found) = find(session, name).await? else { return Ok(()) };
        if !found.unfinished && !found.comment.starts_with(&self.marker_start()) {
            return Err(SnapshotError::Blocked {
                message: format!("database {name} has a name that weighbridge needs, and weighbridge did not make it"),
                hint: format!("rename database {name}, or drop it if nobody needs it"),
            });
        }
        if found.is_template {
            let plain = format!("ALTER DATABASE {} IS_TEMPLATE false", quoted(name));
            session.execute(&plain).await.map_err(|e| e.context(&plain))?;
        }
        execute_alone(session, &format!("DROP DATABASE {}", quoted(name)), &[name]).await
    }

    pub(super) fn set_aside_notice(&self) -> String {
        format!(
            "database {} is a copy, and the original is set aside as {}: a sweep or a search was killed",
            self.name, self.original
        )
    }

    pub(super) fn manual_recovery(&self) -> String {
        format!(
            "ALTER DATABASE {} RENAME TO {}; ALTER DATABASE {} RENAME TO {};",
            quoted(&self.name),
            self.used,
            self.original,
            quoted(&self.name)
        )
    }
}

/// What `CREATE DATABASE ... TEMPLATE` doesn't take over.
struct Properties {
    owner: String,
    tablespace: String,
    connection_limit: i32,
    allows_connections: bool,
    is_template: bool,
    /// Whether the privileges were never changed from the owner's defaults.
    default_privileges: bool,
    grants: Vec<Grant>,
    settings: Vec<Setting>,
}

struct Grant {
    grantor: String,
    /// `None`: PUBLIC.
    grantee: Option<String>,
    privilege: String,
    with_option: bool,
}

/// A value of ALTER DATABASE SET or of ALTER ROLE IN DATABASE SET.
struct Setting {
    /// The role for which it is set; `None`: all.
    role: Option<String>,
    name: String,
    value: String,
}

impl Properties {
    async fn read(session: &mut Session, database: &str) -> Result<Self, Error> {
        let sql = "SELECT pg_get_userbyid(d.datdba)::text, t.spcname::text, d.datconnlimit, d.datallowconn::int, \
                   d.datistemplate::int, (d.datacl IS NULL)::int \
                   FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace WHERE d.datname::text = $1";
        let answer = session.query(sql, &[database.into()]).await?;
        let row = answer.only()?;
        let (owner, tablespace) = (row.text(0)?.to_owned(), row.text(1)?.to_owned());
        let flag = |column| row.int(column).map(|value| value != 0);
        let (connection_limit, allows_connections) = (row.int(2)?, flag(3)?);
        let (is_template, default_privileges) = (flag(4)?, flag(5)?);
        // The owner's grants come first: others may follow from them.
        let sql = "SELECT pg_get_userbyid(a.grantor)::text, \
                   CASE WHEN a.grantee = 0 THEN '' ELSE pg_get_userbyid(a.grantee)::text END, \
                   a.privilege_type::text, a.is_grantable::int \
                   FROM pg_database d, aclexplode(COALESCE(d.datacl, acldefault('d', d.datdba))) a \
                   WHERE d.datname::text = $1 ORDER BY a.grantor <> d.datdba, 1, 2, 3";
        let answer = session.query(sql, &[database.into()]).await?;
        let grant = |row: crate::Row<'_>| {
            Ok(Grant {
                grantor: row.text(0)?.to_owned(),
                grantee: some_text(row.text(1)?),
                privilege: row.text(2)?.to_owned(),
                with_option: row.int(3)? != 0,
            })
        };
        let grants = answer.rows().map(grant).collect::<Result<_, Error>>()?;
        let sql = "SELECT CASE WHEN s.setrole = 0 THEN '' ELSE pg_get_userbyid(s.setrole)::text END, \
                   split_part(c, '=', 1), substr(c, strpos(c, '=') + 1) \
                   FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) c \
                   WHERE d.datname::text = $1 ORDER BY 1, 2";
        let answer = session.query(sql, &[database.into()]).await?;
        let setting = |row: crate::Row<'_>| {
            Ok(Setting { role: some_text(row.text(0)?), name: row.text(1)?.to_owned(), value: row.text(2)?.to_owned() })
        };
        let settings = answer.rows().map(setting).collect::<Result<_, Error>>()?;
        Ok(Self {
            owner,
            tablespace,
            connection_limit,
            allows_connections,
            is_template,
            default_privileges,
            grants,
            settings,
        })
    }

    /// The statements that put these on a copy; its owner and its tablespace it has already.
    fn statements(&self, copy: &str) -> Vec<String> {
        let copy = quoted(copy);
        let mut statements = Vec::new();
        if !self.default_privileges {
            for holder in ["PUBLIC", &quoted(&self.owner)] {
                statements.push(format!("REVOKE ALL ON DATABASE {copy} FROM {holder}"));
            }
            for grant in &self.grants {
                let holder = grant.grantee.as_deref().map_or_else(|| "PUBLIC".to_owned(), quoted);
                let option = if grant.with_option { " WITH GRANT OPTION" } else { "" };
                let sql = format!("GRANT {} ON DATABASE {copy} TO {holder}{option}", grant.privilege);
                statements.push(match grant.grantor == self.owner {
                    true => sql,
                    false => {
                        format!("BEGIN; SET LOCAL ROLE {}; {sql}; COMMIT", quoted(&grant.grantor))
                    }
                });
            }
        }
        statements.extend(self.settings.iter().map(|setting| setting.statement(&copy)));
        // Last, since it ends the mark of an unfinished copy.
        statements.push(format!(
            "ALTER DATABASE {copy} WITH CONNECTION LIMIT {} ALLOW_CONNECTIONS {} IS_TEMPLATE {}",
            self.connection_limit, self.allows_connections, self.is_template
        ));
        statements
    }

    /// Each property in words.
    fn lines(&self) -> Vec<String> {
        let yes_or_no = |yes| if yes { "yes" } else { "no" };
        let mut lines = vec![
            format!("owner {}", self.owner),
            format!("tablespace {}", self.tablespace),
            format!("connection limit {}", self.connection_limit),
            format!("allows connections: {}", yes_or_no(self.allows_connections)),
            format!("is a template: {}", yes_or_no(self.is_template)),
        ];
        lines.extend(self.grants.iter().map(Grant::line));
        lines.extend(self.settings.iter().map(Setting::line));
        lines
    }

    /// What a copy lacks of these and what it has beside them, in words; empty if it equals them.
    fn differences(&self, copy: &Properties) -> String {
        let (wanted, found) = (self.lines(), copy.lines());
        let beyond = |these: &[String], those: &[String]| {
            these.iter().filter(|line| !those.contains(line)).cloned().collect::<Vec<_>>().join("; ")
        };
        let (lacking, extra) = (beyond(&wanted, &found), beyond(&found, &wanted));
        match (lacking.is_empty(), extra.is_empty()) {
            (true, true) => String::new(),
            (false, true) => format!("a copy would lack {lacking}"),
            (true, false) => format!("a copy would have {extra}"),
            (false, false) => format!("a copy would lack {lacking}, and have {extra}"),
        }
    }
}

impl Grant {
    fn line(&self) -> String {
        let holder = self.grantee.as_deref().unwrap_or("PUBLIC");
        let option = if self.with_option { " WITH GRANT OPTION" } else { "" };
        format!("{} granted to {holder} by {}{option}", self.privilege, self.grantor)
    }
}

impl Setting {
    fn statement(&self, copy: &str) -> String {
        let whose = match &self.role {
            None => format!("ALTER DATABASE {copy}"),
            Some(role) => format!("ALTER ROLE {} IN DATABASE {copy}", quoted(role)),
        };
        let value = match LIST_SETTINGS.contains(&self.name.as_str()) {
            true => list_elements(&self.value).iter().map(|element| literal(element)).collect::<Vec<_>>().join(", "),
            false => literal(&self.value),
        };
        format!("{whose} SET {} TO {value}", quoted(&self.name))
    }

    fn line(&self) -> String {
        let whose = match &self.role {
            None => "ALTER DATABASE SET".to_owned(),
            Some(role) => format!("ALTER ROLE {role} IN DATABASE SET"),
        };
        format!("{whose} {} = {}", self.name, self.value)
    }
}

async fn find(session: &mut Session, name: &str) -> Result<Option<Found>, Error> {
    let sql = format!(
        "SELECT oid::text, COALESCE(shobj_description(oid, 'pg_database'), ''), \
         (NOT datallowconn AND datconnlimit = {UNFINISHED_LIMIT})::int, datistemplate::int \
         FROM pg_database WHERE datname::text = $1"
    );
    let answer = session.query(&sql, &[name.into()]).await?;
    let Some(row) = answer.get(0) else { return Ok(None) };
    Ok(Some(Found {
        oid: row.text(0)?.to_owned(),
        comment: row.text(1)?.to_owned(),
        unfinished: row.int(2)? != 0,
        is_template: row.int(3)? != 0,
    }))
}

/// Names what belongs to one database and can't be given to a copy of it.
async fn bound_to_original(session: &mut Session, database: &str) -> Result<Vec<String>, Error> {
    let sql = "SELECT 'subscription ' || s.subname FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid \
               WHERE d.datname::text = $1 \
               UNION ALL SELECT 'replication slot ' || slot_name FROM pg_replication_slots \
               WHERE database::text = $1 \
               UNION ALL SELECT 'security label ' || l.label FROM pg_shseclabel l JOIN pg_database d ON d.oid = l.objoid \
               WHERE l.classoid = 'pg_database'::regclass AND d.datname::text = $1";
    let answer = session.query(sql, &[database.into()]).await?;
    answer.rows().map(|row| row.text(0).map(str::to_owned)).collect()
}

/// Renames one database, and perhaps another one first, in one transaction: a name that goes from one to the other is
/// never without a database.
async fn rename(session: &mut Session, first: Option<(&str, &str)>, second: (&str, &str)) -> Result<(), SnapshotError> {
    let mut sql = "BEGIN; ".to_owned();
    for (from, to) in first.into_iter().chain([second]) {
        let _ = write!(sql, "ALTER DATABASE {} RENAME TO {}; ", quoted(from), quoted(to));
    }
    sql.push_str("COMMIT");
    let occupied: Vec<&str> = first.map(|(from, _)| from).into_iter().chain([second.0]).collect();
    execute_alone(session, &sql, &occupied).await
}

/// Executes what needs databases without sessions.
async fn execute_alone(session: &mut Session, sql: &str, databases: &[&str]) -> Result<(), SnapshotError> {
    let deadline = Instant::now() + SESSION_EXIT_TIMEOUT;
    loop {
        let Err(e) = session.execute(sql).await else { return Ok(()) };
        if e.class() != Class::Lost {
            // Of a transaction in `sql`; without one the server only warns.
            session.execute("ROLLBACK").await?;
        }
        if e.code() != Some(OBJECT_IN_USE) {
            return Err(e.context(sql).into());
        }
        if Instant::now() >= deadline {
            return Err(occupied(session, databases, e).await.into());
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

/// The error of databases that somebody is in, with who it is.
async fn occupied(session: &mut Session, databases: &[&str], refusal: Error) -> Error {
    let mut said = Vec::new();
    for database in databases {
        let sessions = "SELECT 'pid ' || pid || ', ' || COALESCE(NULLIF(application_name, ''), usename::text, 'no name') \
                        FROM pg_stat_activity WHERE datname::text = $1 AND pid <> pg_backend_pid() ORDER BY pid";
        let prepared = "SELECT gid FROM pg_prepared_xacts WHERE database::text = $1 ORDER BY gid";
        for (one, several, sql) in
            [("other session", "other sessions", sessions), ("prepared transaction", "prepared transactions", prepared)]
        {
            let Ok(answer) = session.query(sql, &[(*database).into()]).await else { continue };
            let all: Vec<&str> = answer.rows().filter_map(|row| row.text(0).ok()).collect();
            if !all.is_empty() {
                let what = if all.len() == 1 { one } else { several };
                said.push(format!("{} {what} in database {database} ({})", all.len(), all.join("; ")));
            }
        }
    }
    if said.is_empty() {
        refusal
    } else {
        Error::new(refusal.class(), refusal.code().map(str::to_owned), said.join(", "))
    }
}

/// A name as PostgreSQL keeps it: it cuts longer ones.
fn as_kept(name: &str) -> &str {
    let end = (0..=name.len().min(MAX_NAME)).rev().find(|end| name.is_char_boundary(*end));
    &name[..end.unwrap_or_default()]
}

/// A hash of a name that never changes from one version of the tool to the next: FNV-1a.
fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn some_text(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A literal that means the same whatever `standard_conforming_strings` is.
fn literal(text: &str) -> String {
    let escaped = text.replace('\'', "''").replace('\\', "\\\\");
    if text.contains('\\') { format!("E'{escaped}'") } else { format!("'{escaped}'") }
}

/// The elements of a list setting as the catalog keeps it: separated by commas, in double quotes where they need them.
fn list_elements(list: &str) -> Vec<String> {
    let mut elements = Vec::new();
    let mut element = String::new();
    let (mut in_quotes, mut was_quoted) = (false, false);
    let mut characters = list.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if in_quotes && characters.peek() == Some(&'"') => {
                characters.next();
                element.push('"');
            }
            '"' => {
                in_quotes = !in_quotes;
                was_quoted = true;
            }
            ',' if !in_quotes => {
                elements.push(std::mem::take(&mut element));
                was_quoted = false;
            }
            c if c.is_whitespace() && !in_quotes => {}
            c => element.push(c),
        }
    }
    if was_quoted || !element.is_empty() {
        elements.push(element);
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_setting_is_split_as_the_catalog_writes_it() {
        assert_eq!(list_elements(r#""$user", public"#), ["$user", "public"]);
        assert_eq!(list_elements(r#""a,b", "say ""x""", c"#), ["a,b", r#"say "x""#, "c"]);
        assert_eq!(list_elements(r#""""#), [""]);
        assert!(list_elements("").is_empty());
    }

    #[test]
    fn long_names_have_short_names_beside_them() {
        for length in [1, 42, 43, 63, 80] {
            let url = Url::parse(&format!("postgres://me@h/{}", "a".repeat(length))).unwrap();
            let snapshot = DatabaseSnapshot::new(&url).unwrap();
            for name in [&snapshot.original, &snapshot.copy, &snapshot.used] {
                assert!(name.len() <= MAX_NAME && *name != snapshot.name, "{name}");
            }
            assert_eq!(snapshot.name.len(), length.min(MAX_NAME));
        }
        assert_eq!(as_kept(&"é".repeat(40)).chars().count(), 31, "no half of a character");
    }

    #[test]
    fn literals_and_names_are_quoted() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal(r"C:\x'"), r"E'C:\\x'''");
        assert_eq!(quoted(r#"My "DB""#), r#""My ""DB""""#);
        let setting = Setting {
            role: Some("Bob".to_owned()),
            name: "search_path".to_owned(),
            value: r#""$user", public"#.to_owned(),
        };
        let sql = r#"ALTER ROLE "Bob" IN DATABASE "c" SET "search_path" TO '$user', 'public'"#;
        assert_eq!(setting.statement(&quoted("c")), sql);
    }
}
