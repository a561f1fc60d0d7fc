//! The routines of style `procedure`: made by the load, and made anew where they are not what they must be.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::Database;
use target::{Class, Session, Url};
use workload::tpcc::{make_routines, statements};

/// The comment of a routine, which says what it was made from.
async fn comment(session: &mut Session, routine: &str) -> Option<String> {
    let language = session.dialect().routines().unwrap();
    let answer = session.query(language.comment_query(), &[routine.into()]).await.unwrap();
    answer.get(0).and_then(|row| row.text(0).ok().map(str::to_owned))
}

async fn routines_are_made_where_they_must_be(database: &Database) {
    database.load(1).await;
    let mut session = database.session().await;
    let made = comment(&mut session, "weighbridge_payment").await.expect("made by the load");
    assert!(made.starts_with("weighbridge "), "{made}");

    // What is right is left alone.
    let identity = "SELECT CAST(oid AS BIGINT) FROM pg_proc WHERE proname = 'weighbridge_payment'";
    let oid = session.query(identity, &[]).await.unwrap().only().unwrap().big(0).unwrap();
    make_routines(&mut session).await.unwrap();
    assert_eq!(session.query(identity, &[]).await.unwrap().only().unwrap().big(0).unwrap(), oid);

    // Another version's, even with other columns, and a missing one.
    session.execute("DROP FUNCTION weighbridge_payment").await.unwrap();
    session.execute("DROP FUNCTION weighbridge_delivery").await.unwrap();
    let other = "CREATE FUNCTION weighbridge_payment(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1'";
    session.execute(other).await.unwrap();
    session.execute("COMMENT ON FUNCTION weighbridge_payment IS 'weighbridge 0000000000000000'").await.unwrap();
    make_routines(&mut session).await.unwrap();
    assert_eq!(comment(&mut session, "weighbridge_payment").await, Some(made));
    session.prepare(&statements(workload::tpcc::Style::Procedure, database.url.dialect())).await.unwrap();
}

#[tokio::test]
async fn on_postgres_routines_are_made_where_they_must_be() {
    let Some(database) = Database::postgres() else { return };
    routines_are_made_where_they_must_be(&database).await;

    // Whoever may not create them is told what to do; whoever finds them needs no privilege.
    let mut session = database.session().await;
    session.execute("CREATE ROLE guest LOGIN").await.unwrap();
    let url = Url::parse(&database.url.to_string().replace("postgres@", "guest@")).unwrap();
    let mut guest = Session::connect(&url).await.unwrap();
    make_routines(&mut guest).await.unwrap();
    session.execute("DROP FUNCTION weighbridge_stock_level").await.unwrap();
    let refused = make_routines(&mut guest).await.unwrap_err();
    assert_eq!((refused.class(), refused.code()), (Class::Permanent, Some("42501")), "{refused}");
    for word in ["weighbridge_stock_level", "weighbridge load", "permission denied"] {
        assert!(refused.to_string().contains(word), "{refused}");
    }
}

#[tokio::test]
async fn a_database_without_routines_says_so() {
    let database = Database::sqlite();
    let refused = make_routines(&mut database.session().await).await.unwrap_err();
    assert_eq!(refused.to_string(), "sqlite has no routines");
}
