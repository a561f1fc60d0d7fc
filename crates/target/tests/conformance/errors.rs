//! A server that is not there, dies, or refuses: one line each, and the right class.

use target::{Access, Class, Session, Url};

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
