//! The routines of style `procedure`: made by the load, and made anew where they are not what they must be.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::Database;
use target::{Class, Session, Url};
use workload::tpcc::{Profile, Style, make_routines, prepare};

const PAYMENT: &str = "weighbridge_payment";

/// The comment of a routine, which says what it was made from.
async fn comment(session: &mut Session, routine: &str) -> Option<String> {
    let language = session.dialect().routines().unwrap();
    let answer = session.query(language.comment_query(), &[routine.into()]).await.unwrap();
    answer.get(0).and_then(|row| row.text(0).ok().map(str::to_owned))
}

/// `spoil` puts a routine of another version, with other parameters, in place of Payment's, and drops Delivery's.
async fn routines_are_made_where_they_must_be(database: &Database, spoil: &[&str]) {
    database.load(1).await;
    let mut session = database.session().await;
    let made = comment(&mut session, PAYMENT).await.expect("made by the load");
    assert!(made.starts_with("weighbridge "), "{made}");
    for sql in spoil {
        session.execute(sql).await.unwrap_or_else(|e| panic!("{e} in {sql}"));
    }
    assert_ne!(comment(&mut session, PAYMENT).await.as_ref(), Some(&made));
    assert_eq!(comment(&mut session, "weighbridge_delivery").await, None);

    make_routines(&mut session).await.unwrap();
    assert_eq!(comment(&mut session, PAYMENT).await, Some(made.clone()));
    let isolation = session.dialect().default_isolation();
    let profile = Profile::new(Style::Procedure, isolation, session.dialect()).unwrap();
    prepare(&mut session, profile).await.unwrap();

    for sql in spoil {
        session.execute(sql).await.unwrap_or_else(|e| panic!("{e} in {sql}"));
    }
    database.load(1).await;
    assert_eq!(comment(&mut session, PAYMENT).await, Some(made));
}

/// Whoever may not create them is told what to do; whoever finds them needs no privilege to.
async fn a_guest_is_told_what_is_missing(database: &Database, guest: &Url, drop: &str, refusal: &str) {
    let mut guest = Session::connect(guest).await.unwrap();
    make_routines(&mut guest).await.unwrap();
    database.session().await.execute(drop).await.unwrap();
    let refused = make_routines(&mut guest).await.unwrap_err();
    assert_eq!((refused.class(), refused.code()), (Class::Permanent, Some(refusal)), "{refused}");
    for word in ["weighbridge_stock_level", "weighbridge load"] {
        assert!(refused.to_string().contains(word), "{refused}");
    }
    assert_eq!(refused.to_string().lines().count(), 1);
}

#[tokio::test]
async fn on_postgres_routines_are_made_where_they_must_be() {
    let Some(database) = Database::postgres() else { return };
    let spoil = [
        "DROP FUNCTION weighbridge_payment",
        "CREATE FUNCTION weighbridge_payment(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1'",
        "COMMENT ON FUNCTION weighbridge_payment IS 'weighbridge 0000000000000000'",
        "DROP FUNCTION weighbridge_delivery",
    ];
    routines_are_made_where_they_must_be(&database, &spoil).await;

    database.session().await.execute("CREATE ROLE guest LOGIN").await.unwrap();
    let guest = Url::parse(&database.url.to_string().replace("postgres@", "guest@")).unwrap();
    let drop = "DROP FUNCTION weighbridge_stock_level";
    a_guest_is_told_what_is_missing(&database, &guest, drop, "42501").await;
}

#[tokio::test]
async fn on_mariadb_routines_are_made_where_they_must_be() {
    let Some(database) = Database::mariadb() else { return };
    let spoil = [
        "DROP PROCEDURE weighbridge_payment",
        "CREATE PROCEDURE weighbridge_payment(n INT) COMMENT 'weighbridge 0000000000000000' SELECT n",
        "DROP PROCEDURE weighbridge_delivery",
    ];
    routines_are_made_where_they_must_be(&database, &spoil).await;

    let mut session = database.session().await;
    session.execute("CREATE USER guest@'%' IDENTIFIED BY 'secret'").await.unwrap();
    session.execute("GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON tpcc.* TO guest@'%'").await.unwrap();
    let guest = Url::parse(&database.url.to_string().replace("root@", "guest:secret@")).unwrap();
    let drop = "DROP PROCEDURE weighbridge_stock_level";
    a_guest_is_told_what_is_missing(&database, &guest, drop, "1370").await;
}

#[tokio::test]
async fn a_database_without_routines_says_so() {
    let database = Database::sqlite();
    let refused = make_routines(&mut database.session().await).await.unwrap_err();
    assert_eq!(refused.to_string(), "sqlite has no routines");
}
