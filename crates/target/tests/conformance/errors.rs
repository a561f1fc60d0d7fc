//! A server that is not there, dies, or refuses: one line each, and the right class.

use target::{Access, Class, Session, Statement, StatementBatch, Url, Value};

/// The line that a refused connection shows.
async fn refusal(url: &str) -> String {
    let message = Session::connect(&Url::parse(url).unwrap()).await.unwrap_err().to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(!message.contains("s3cret"), "{message}");
    message
}

/// What a killed server does to statements and commits under way, and a new connection afterwards.
async fn a_killed_server_is_told_from_a_refusal(url: &str, kill: impl FnOnce(), restart: impl FnOnce()) {
    let url = Url::parse(url).unwrap();
    let mut setup = Session::connect(&url).await.unwrap();
    setup.execute("CREATE TABLE survivors (id INTEGER PRIMARY KEY)").await.unwrap();
    let (mut idle, mut busy) = (Session::connect(&url).await.unwrap(), Session::connect(&url).await.unwrap());
    busy.begin(busy.dialect().default_isolation(), Access::ReadWrite);
    busy.execute("INSERT INTO survivors VALUES (1)").await.unwrap();
    kill();
    let lost = idle.query("SELECT id FROM survivors", &[]).await.unwrap_err();
    assert_eq!(lost.class(), Class::Lost, "{lost}");
    // Nobody can know from here whether this COMMIT arrived.
    let unknown = busy.commit().await.unwrap_err();
    assert_eq!(unknown.class(), Class::Unknown, "{unknown}");
    let refused = Session::connect(&url).await.unwrap_err();
    assert!(refused.to_string().contains("can't connect to"), "{refused}");
    restart();
    let mut again = Session::connect(&url).await.unwrap();
    let found = again.query("SELECT id FROM survivors", &[]).await.unwrap();
    assert!(found.is_empty(), "the server died before COMMIT was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_postgres() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let url = server.url("postgres");
    a_killed_server_is_told_from_a_refusal(&url, || server.kill().unwrap(), || server.restart().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_mariadb() {
    let Some(server) = lab::or_skip(lab::MariaDb::start()) else { return };
    server.create_database("died").unwrap();
    let url = server.url("died");
    a_killed_server_is_told_from_a_refusal(&url, || server.kill().unwrap(), || server.restart().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_tidb() {
    let Some(server) = lab::or_skip(lab::TiDb::start()) else { return };
    server.create_database("died").unwrap();
    let url = server.url("died");
    a_killed_server_is_told_from_a_refusal(&url, || server.kill().unwrap(), || server.restart().unwrap()).await;
}

static INSERT: Statement = Statement::new("insert", "INSERT INTO late (k) VALUES ($1)");

/// A constraint that is looked at when the transaction commits: the statement's own answer says that all is well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_is_refused_is_no_success() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let mut session = Session::connect(&Url::parse(&server.url("postgres")).unwrap()).await.unwrap();
    session.execute("CREATE TABLE late (k INTEGER UNIQUE DEFERRABLE INITIALLY DEFERRED)").await.unwrap();
    session.execute("INSERT INTO late VALUES (1)").await.unwrap();
    let twice = [1.into()];

    // By itself, behind the last answer.
    let refused = session.query("INSERT INTO late (k) VALUES ($1)", &twice).await.unwrap_err();
    assert_eq!((refused.code(), refused.class()), (Some("23505"), Class::Permanent), "{refused}");
    let isolation = session.dialect().default_isolation();
    let refused = session.transact(isolation, &INSERT, &twice).await.unwrap_err();
    assert_eq!(refused.code(), Some("23505"), "{refused}");

    // As COMMIT, in a flight of its own and behind a wave.
    let mut wave = StatementBatch::new();
    wave.call(&INSERT, &twice);
    session.begin(isolation, Access::ReadWrite);
    session.send::<1>(&wave).await.unwrap();
    assert_eq!(session.commit().await.unwrap_err().code(), Some("23505"));
    session.pipeline();
    session.begin(isolation, Access::ReadWrite);
    assert_eq!(session.send_and_commit::<1>(&wave).await.unwrap_err().code(), Some("23505"));

    // After a statement that failed COMMIT is not reached, and nothing of the transaction stays.
    let mut wave = StatementBatch::new();
    wave.call(&INSERT, &[2.into()]).call(&INSERT, &[Value::Text("no number")]);
    session.begin(isolation, Access::ReadWrite);
    session.send_and_commit::<2>(&wave).await.unwrap_err();
    session.rollback().await.unwrap();
    wave = StatementBatch::new();
    wave.call(&INSERT, &[3.into()]).call(&INSERT, &[Value::Null]).call(&FAIL, &[0.into()]).call(&INSERT, &[4.into()]);
    session.begin(isolation, Access::ReadWrite);
    assert_eq!(session.send_and_commit::<4>(&wave).await.unwrap_err().code(), Some("22012"));
    assert_eq!(session.commit().await.unwrap_err().class(), Class::Permanent, "it was rolled back");
    let left = session.query("SELECT COUNT(*) FROM late", &[]).await.unwrap();
    assert_eq!(left.only().unwrap().big(0).unwrap(), 1);
}

static FAIL: Statement = Statement::new("fail", "SELECT 1 / CAST($1 AS INTEGER)");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_refusals_say_what_to_do() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let url = server.url("postgres");
    let missing = refusal(&server.url("nosuch")).await;
    assert!(missing.contains("nosuch") && missing.contains("CREATE DATABASE"), "{missing}");
    let tls = refusal(&format!("{url}?sslmode=require")).await;
    assert!(tls.contains("TLS"), "{tls}");
    let stranger = refusal(&url.replace("postgres@", "nobody:s3cret@")).await;
    assert!(stranger.contains("nobody"), "{stranger}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_refusals_say_what_to_do() {
    let Some(server) = lab::or_skip(lab::MariaDb::start_with(&[("max-connections", "10")])) else { return };
    server.create_database("there").unwrap();
    let missing = refusal(&server.url("nosuch")).await;
    assert!(missing.contains("nosuch") && missing.contains("CREATE DATABASE"), "{missing}");
    let tls = refusal(&format!("{}?ssl-mode=required", server.url("there"))).await;
    assert!(tls.contains("TLS"), "{tls}");
    let stranger = refusal(&server.url("there").replace("root@", "nobody:s3cret@")).await;
    assert!(stranger.contains("nobody"), "{stranger}");

    let url = Url::parse(&server.url("there")).unwrap();
    let mut taken = Vec::new();
    let full = loop {
        match Session::connect(&url).await {
            Ok(session) => taken.push(session),
            Err(e) => break e.to_string(),
        }
        assert!(taken.len() < 100);
    };
    assert!(full.contains("--connections"), "{full}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_listens() {
    for url in ["postgres://me:s3cret@127.0.0.1:1/db", "mysql://me:s3cret@127.0.0.1:1/db"] {
        let message = refusal(url).await;
        assert!(message.contains("127.0.0.1:1"), "{message}");
    }
}
