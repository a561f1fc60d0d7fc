//! What only a cluster shows: conflicts between its nodes, found at COMMIT.

use target::{Access, Class, Session, Url};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_galera_conflict_is_found_at_commit_and_can_be_retried() {
    let Some(cluster) = lab::or_skip(lab::Galera::start(3)) else { return };
    cluster.create_database("conflict").unwrap();
    let urls: Vec<Url> = cluster.urls("conflict").iter().map(|url| Url::parse(url).unwrap()).collect();
    let mut setup = Session::connect(&urls[0]).await.unwrap();
    setup.execute("CREATE TABLE counted (id INT PRIMARY KEY, n INT)").await.unwrap();
    setup.execute("INSERT INTO counted VALUES (1, 0)").await.unwrap();

    let mut conflicts = 0;
    let mut counted = 0;
    // Both nodes change the row at once; which one loses, and at which statement, is theirs to say.
    while conflicts < 3 {
        let mut sessions = [Session::connect(&urls[0]).await.unwrap(), Session::connect(&urls[1]).await.unwrap()];
        let [a, b] = &mut sessions;
        let (first, second) = tokio::join!(add(a), add(b));
        for done in [first, second] {
            match done {
                Ok(()) => counted += 1,
                Err(e) => {
                    assert_eq!(e.class(), Class::Retry, "{e}");
                    conflicts += 1;
                }
            }
        }
        assert!(counted < 10_000, "no conflict was ever seen");
    }
    let mut last = Session::connect(&urls[2]).await.unwrap();
    last.see_all_commits().await.unwrap();
    let n = last.query("SELECT n FROM counted", &[]).await.unwrap().only().unwrap().int(0).unwrap();
    assert_eq!(n, counted, "what was acknowledged is there once, at every node");
}

async fn add(session: &mut Session) -> Result<(), target::Error> {
    session.begin(session.dialect().default_isolation(), Access::ReadWrite);
    let done = match session.execute("UPDATE counted SET n = n + 1 WHERE id = 1").await {
        Ok(()) => session.commit().await,
        Err(e) => Err(e),
    };
    if done.is_err() {
        session.rollback().await?;
    }
    done
}
