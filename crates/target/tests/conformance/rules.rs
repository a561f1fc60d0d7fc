//! The rules.

use target::bulk::{BulkOptions, RowSink};
use target::placement::Placement;
use target::schema::{
    Column,
    ColumnType::{Char, Decimal as Dec, Int, Json, SmallInt, Timestamp, Uuid, Varchar},
    Index, Table,
};
use target::{
    Access, Class, Decimal, Error, Isolation, OwnedValue, Row, Session, Statement, StatementBatch, Url, Value,
};

use crate::Case;

/// Whatever the database is.
pub(crate) const ON_ANY: &[Case] = crate::cases![
    values_at_their_limits_come_out_of_a_bulk_load_as_they_went_in,
    values_at_their_limits_come_out_as_they_were_bound,
    identifiers_and_documents_come_out_as_they_went_in,
    a_bulk_load_of_many_pieces_stores_every_row,
    a_bulk_load_is_part_of_its_transaction,
    what_is_rolled_back_is_gone_and_what_is_committed_stays,
    an_update_counts_the_rows_it_met,
    a_row_is_claimed_once,
    a_multi_row_statement_takes_any_number_of_rows,
    text_differs_by_case_and_keeps_its_blanks,
    the_clock_is_utc,
    the_clock_counts_from_the_epoch,
    tables_are_found_by_name,
    an_error_leaves_the_session_usable,
    a_key_that_is_there_already_is_told_from_other_errors,
];

/// Where several sessions write side by side, and columns have widths.
pub(crate) const ON_SERVERS: &[Case] = crate::cases![
    what_does_not_fit_its_column_is_refused,
    of_two_sessions_in_a_deadlock_one_is_asked_to_retry,
    a_session_sees_what_another_has_committed,
];

/// One column of each kind that the workloads use.
static KINDS: Table = Table {
    name: "kinds",
    columns: &[
        Column::new("id", Int),
        Column::new("small", SmallInt).nullable(),
        Column::new("whole", Int).nullable(),
        Column::new("money", Dec { precision: 12, scale: 2 }).nullable(),
        Column::new("rate", Dec { precision: 4, scale: 4 }).nullable(),
        Column::new("fixed", Char(24)).nullable(),
        Column::new("free", Varchar(500)).nullable(),
        Column::new("at", Timestamp).nullable(),
    ],
    primary_key: &["id"],
    spread_by: None,
    foreign_keys: &[],
    checks: &[],
    indexes: &[Index { name: "kinds_by_free", columns: &["free"] }],
};

static INSERT: Statement = Statement::new("insert", "INSERT INTO kinds VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
static INSERT_ROWS: Statement =
    Statement::multi_row("insert_rows", "INSERT INTO kinds (id, whole) VALUES {(#1, $1)}", 1, 2);
static SELECT: Statement =
    Statement::new("select", "SELECT small, whole, money, rate, fixed, free, at FROM kinds WHERE id = $1");
static UPDATE: Statement = Statement::new("update", "UPDATE kinds SET whole = $2 WHERE id = $1");
static CLAIM: &str = "INSERT INTO kinds (id, whole) VALUES ($1, $2) ON CONFLICT DO NOTHING";

/// A row as it goes in; `None` is NULL.
#[derive(Clone, Debug, PartialEq)]
struct Kinds {
    small: Option<i32>,
    whole: Option<i32>,
    money: Option<i64>,
    rate: Option<i64>,
    fixed: Option<String>,
    free: Option<String>,
    at: Option<i64>,
}

const NULLS: Kinds = Kinds { small: None, whole: None, money: None, rate: None, fixed: None, free: None, at: None };

/// The widest and the oddest values of every kind.
fn limits() -> Vec<Kinds> {
    let row = |small: i32, whole: i32, money: i64, rate: i64, free: &str, at: i64| Kinds {
        small: Some(small),
        whole: Some(whole),
        money: Some(money),
        rate: Some(rate),
        fixed: Some("x".repeat(24)),
        free: Some(free.to_owned()),
        at: Some(at),
    };
    vec![
        row(i32::from(i16::MAX), i32::MAX, 999_999_999_999, 9_999, &"y".repeat(500), 1_790_000_000_123_456),
        row(i32::from(i16::MIN), i32::MIN, -999_999_999_999, -9_999, "", 0),
        row(0, 0, 0, 0, "tab\tnewline\nquote'\"backslash\\percent%", 4_102_444_799_999_999),
        row(-1, 1, -1, 1, "\\N", 1_000_000),
        row(1, -1, 10_000, 1_000, "é, ß and 数", 951_782_400_000_000),
        NULLS,
    ]
}

/// A session with the table made anew.
async fn fresh(url: &Url) -> Session {
    let mut session = Session::connect(url).await.unwrap();
    if session.has_table(KINDS.name).await.unwrap() {
        session.execute("DROP TABLE kinds").await.unwrap();
    }
    let sql = session.dialect().create_table(&KINDS, true, false, &Placement::default());
    session.execute(&sql).await.unwrap();
    session
}

fn begin(session: &mut Session) {
    session.begin(session.dialect().default_isolation(), Access::ReadWrite);
}

async fn read(session: &mut Session, id: usize) -> Kinds {
    let mut wave = StatementBatch::new();
    wave.call(&SELECT, &[Value::Int(id as i64)]);
    let [answer] = session.send(&wave).await.unwrap();
    let row = answer.only().unwrap();
    let null = |column: usize| *row.value(column).unwrap() == OwnedValue::Null;
    let text = |column: usize| (!null(column)).then(|| row.text(column).unwrap().to_owned());
    let digits = |column: usize, scale: u8| (!null(column)).then(|| row.decimal(column, scale).unwrap());
    Kinds {
        small: row.opt_int(0).unwrap(),
        whole: row.opt_int(1).unwrap(),
        money: digits(2, 2),
        rate: digits(3, 4),
        fixed: text(4),
        free: text(5),
        at: row.opt_timestamp(6).unwrap(),
    }
}

async fn count(session: &mut Session) -> i64 {
    session.query("SELECT COUNT(*) FROM kinds", &[]).await.unwrap().only().unwrap().big(0).unwrap()
}

async fn insert(session: &mut Session, id: i32, whole: i32) -> Result<(), Error> {
    let mut wave = StatementBatch::new();
    wave.call_rows(&INSERT_ROWS, &[whole.into()], [[id.into()]].into_iter());
    let [inserted] = session.send(&wave).await?;
    inserted.expect_affected(1)
}

async fn values_at_their_limits_come_out_of_a_bulk_load_as_they_went_in(url: &Url) {
    let mut session = fresh(url).await;
    begin(&mut session);
    let mut bulk = session.bulk(&KINDS, &BulkOptions::default()).await.unwrap();
    for (id, row) in limits().iter().enumerate() {
        bulk.start_row();
        bulk.int(id as i32);
        match row.small {
            Some(v) => bulk.small_int(v),
            None => bulk.null(),
        }
        match row.whole {
            Some(v) => bulk.int(v),
            None => bulk.null(),
        }
        match row.money {
            Some(v) => bulk.decimal(v, 2),
            None => bulk.null(),
        }
        match row.rate {
            Some(v) => bulk.decimal(v, 4),
            None => bulk.null(),
        }
        match &row.fixed {
            Some(v) => bulk.text(v),
            None => bulk.null(),
        }
        match &row.free {
            Some(v) => bulk.text(v),
            None => bulk.null(),
        }
        match row.at {
            Some(v) => bulk.timestamp(v),
            None => bulk.null(),
        }
        bulk.flush_if_full().await.unwrap();
    }
    let loaded = bulk.finish().await.unwrap();
    assert_eq!(loaded.rows, limits().len() as u64);
    session.commit().await.unwrap();
    for (id, row) in limits().iter().enumerate() {
        assert_eq!(read(&mut session, id).await, *row, "row {id}");
    }
}

async fn values_at_their_limits_come_out_as_they_were_bound(url: &Url) {
    let mut session = fresh(url).await;
    for (id, row) in limits().iter().enumerate() {
        let int = |v: Option<i32>| v.map_or(Value::Null, Value::from);
        let decimal = |v: Option<i64>, scale| v.map_or(Value::Null, |unscaled| Decimal { unscaled, scale }.into());
        let mut wave = StatementBatch::new();
        wave.call(
            &INSERT,
            &[
                Value::Int(id as i64),
                int(row.small),
                int(row.whole),
                decimal(row.money, 2),
                decimal(row.rate, 4),
                row.fixed.as_deref().map_or(Value::Null, Value::from),
                row.free.as_deref().map_or(Value::Null, Value::from),
                row.at.map_or(Value::Null, Value::Timestamp),
            ],
        );
        let [inserted] = session.send(&wave).await.unwrap();
        inserted.expect_affected(1).unwrap();
        assert_eq!(read(&mut session, id).await, *row, "row {id}");
    }
}

/// Types that only some databases have.
static DOCUMENTS: Table = Table {
    name: "documents",
    columns: &[Column::new("id", Uuid), Column::new("ext", Json).nullable()],
    primary_key: &["id"],
    spread_by: None,
    foreign_keys: &[],
    checks: &[],
    indexes: &[],
};

static INSERT_DOCUMENT: Statement = Statement::new("insert_document", "INSERT INTO documents VALUES ($1, $2)");

async fn identifiers_and_documents_come_out_as_they_went_in(url: &Url) {
    let mut session = Session::connect(url).await.unwrap();
    if session.has_table(DOCUMENTS.name).await.unwrap() {
        session.execute("DROP TABLE documents").await.unwrap();
    }
    let sql = session.dialect().create_table(&DOCUMENTS, true, false, &Placement::default());
    session.execute(&sql).await.unwrap();
    begin(&mut session);
    let mut bulk = session.bulk(&DOCUMENTS, &BulkOptions::default()).await.unwrap();
    bulk.start_row();
    bulk.uuid([0xab; 16]);
    bulk.json(r#"{"color": "a \"red\" one"}"#);
    bulk.start_row();
    bulk.uuid([0x0f; 16]);
    bulk.null();
    assert_eq!(bulk.finish().await.unwrap().rows, 2);
    let mut wave = StatementBatch::new();
    let (id, ext) = ("ffffffff-0000-4000-8000-00000000000a", r#"{"brand": "x", "gears": 7}"#);
    wave.call(&INSERT_DOCUMENT, &[id.into(), ext.into()]);
    let [inserted] = session.send(&wave).await.unwrap();
    inserted.expect_affected(1).unwrap();
    session.commit().await.unwrap();

    let answer = session.query("SELECT id, ext FROM documents ORDER BY id", &[]).await.unwrap();
    let value = |row: Row<'_>, column: usize| row.value(column).unwrap().to_string();
    let rows: Vec<_> = answer.rows().map(|row| (value(row, 0), value(row, 1))).collect();
    let expected = [
        ("0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f", "NULL"),
        ("abababab-abab-abab-abab-abababababab", r#"{"color": "a \"red\" one"}"#),
        (id, ext),
    ];
    assert_eq!(rows, expected.map(|(id, ext)| (id.to_owned(), ext.to_owned())));
    let found = session.query("SELECT ext FROM documents WHERE id = $1", &[id.into()]).await.unwrap();
    assert_eq!(found.only().unwrap().text(0).unwrap(), ext);
}

async fn a_bulk_load_of_many_pieces_stores_every_row(url: &Url) {
    const ROWS: i32 = 20_000;
    let mut session = fresh(url).await;
    begin(&mut session);
    let mut bulk = session.bulk(&KINDS, &BulkOptions::default()).await.unwrap();
    for id in 0..ROWS {
        bulk.start_row();
        bulk.int(id);
        bulk.null();
        bulk.int(id * 2);
        bulk.null();
        bulk.null();
        bulk.null();
        bulk.text("some text that makes several pieces of it all");
        bulk.null();
        bulk.flush_if_full().await.unwrap();
    }
    assert_eq!(bulk.finish().await.unwrap().rows, ROWS as u64);
    session.commit().await.unwrap();
    assert_eq!(count(&mut session).await, i64::from(ROWS));
    let wrong = session.query("SELECT COUNT(*) FROM kinds WHERE whole <> id * 2", &[]).await.unwrap();
    assert_eq!(wrong.only().unwrap().big(0).unwrap(), 0);
}

async fn a_bulk_load_is_part_of_its_transaction(url: &Url) {
    let mut session = fresh(url).await;
    begin(&mut session);
    insert(&mut session, 1, 1).await.unwrap();
    let mut bulk = session.bulk(&KINDS, &BulkOptions::default()).await.unwrap();
    for id in 2..5 {
        bulk.start_row();
        bulk.int(id);
        (0..7).for_each(|_| bulk.null());
    }
    bulk.finish().await.unwrap();
    assert_eq!(count(&mut session).await, 4);
    session.rollback().await.unwrap();
    assert_eq!(count(&mut session).await, 0);
}

async fn what_is_rolled_back_is_gone_and_what_is_committed_stays(url: &Url) {
    let mut session = fresh(url).await;
    begin(&mut session);
    insert(&mut session, 1, 1).await.unwrap();
    session.rollback().await.unwrap();
    begin(&mut session);
    insert(&mut session, 2, 2).await.unwrap();
    session.commit().await.unwrap();
    // Outside a transaction each wave is one.
    insert(&mut session, 3, 3).await.unwrap();
    drop(session);
    let mut other = Session::connect(url).await.unwrap();
    let answer = other.query("SELECT id FROM kinds ORDER BY id", &[]).await.unwrap();
    assert_eq!(answer.rows().map(|row| row.int(0).unwrap()).collect::<Vec<_>>(), [2, 3]);
}

async fn an_update_counts_the_rows_it_met(url: &Url) {
    let mut session = fresh(url).await;
    insert(&mut session, 1, 7).await.unwrap();
    for (id, met) in [(1, 1), (2, 0)] {
        let mut wave = StatementBatch::new();
        // The same value as before: the row is met, though nothing changes.
        wave.call(&UPDATE, &[id.into(), 7.into()]);
        let [updated] = session.send(&wave).await.unwrap();
        assert_eq!(updated.affected(), met);
    }
}

async fn a_row_is_claimed_once(url: &Url) {
    let mut session = fresh(url).await;
    for claimed in [1, 0, 0] {
        begin(&mut session);
        let answer = session.query(CLAIM, &[5.into(), 1.into()]).await.unwrap();
        assert_eq!(answer.affected(), claimed);
        session.commit().await.unwrap();
    }
}

async fn a_multi_row_statement_takes_any_number_of_rows(url: &Url) {
    let mut session = fresh(url).await;
    session.prepare(&[&INSERT_ROWS, &SELECT]).await.unwrap();
    let mut next = 0;
    for rows in [1, 2, 7, 2] {
        let ids: Vec<i32> = (next..next + rows).collect();
        next += rows;
        let mut wave = StatementBatch::new();
        wave.call_rows(&INSERT_ROWS, &[rows.into()], ids.iter().map(|id| [(*id).into()]));
        let [inserted] = session.send(&wave).await.unwrap();
        inserted.expect_affected(rows as usize).unwrap();
    }
    assert_eq!(count(&mut session).await, i64::from(next));
}

async fn text_differs_by_case_and_keeps_its_blanks(url: &Url) {
    let mut session = fresh(url).await;
    for (id, text) in ["b", "A", "a", "B", "a  "].iter().enumerate() {
        let sql = "INSERT INTO kinds (id, fixed, free) VALUES ($1, $2, $3)";
        session.query(sql, &[Value::Int(id as i64), (*text).into(), (*text).into()]).await.unwrap();
    }
    let ids = |rows: Vec<Row<'_>>| rows.iter().map(|row| row.int(0).unwrap()).collect::<Vec<_>>();
    let answer = session.query("SELECT id FROM kinds WHERE id < 4 ORDER BY free", &[]).await.unwrap();
    assert_eq!(ids(answer.rows().collect()), [1, 3, 2, 0], "A B a b");
    let answer = session.query("SELECT id FROM kinds WHERE free = $1 AND id < 4", &["a".into()]).await.unwrap();
    assert_eq!(ids(answer.rows().collect()), [2]);
    let answer = session.query("SELECT free, fixed FROM kinds WHERE id = 4", &[]).await.unwrap();
    assert_eq!(answer.only().unwrap().text(0).unwrap(), "a  ");
    // A database may fill or strip a CHAR; what is in it stays.
    assert_eq!(answer.only().unwrap().text(1).unwrap().trim_end(), "a");
}

async fn the_clock_is_utc(url: &Url) {
    const HALF_AN_HOUR_US: i64 = 30 * 60 * 1_000_000;
    static NOW: Statement = Statement::new("now", "SELECT LOCALTIMESTAMP");
    let mut session = Session::connect(url).await.unwrap();
    let mut wave = StatementBatch::new();
    wave.call(&NOW, &[]);
    let [answer] = session.send(&wave).await.unwrap();
    let server = answer.only().unwrap().timestamp(0).unwrap();
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let apart = server - i64::try_from(since_epoch.as_micros()).unwrap();
    assert!(apart.abs() < HALF_AN_HOUR_US, "{apart} us apart");
}

/// The server is on this machine, so its clock is this one's.
async fn the_clock_counts_from_the_epoch(url: &Url) {
    const COARSEST_US: i64 = 1_000;
    let here = || {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        i64::try_from(since_epoch.as_micros()).unwrap()
    };
    let mut session = Session::connect(url).await.unwrap();
    let sql = format!("SELECT {}", session.dialect().clock().unwrap());
    let before = here();
    let server = session.query(&sql, &[]).await.unwrap().only().unwrap().big(0).unwrap();
    let after = here();
    assert!(server >= before - COARSEST_US && server <= after + COARSEST_US, "{before}, {server}, {after}");
}

async fn tables_are_found_by_name(url: &Url) {
    let mut session = fresh(url).await;
    assert!(session.has_table("kinds").await.unwrap());
    assert!(!session.has_table("no_such_table").await.unwrap());
    assert!(!session.has_table("kinds'; DROP TABLE kinds; --").await.unwrap());
}

async fn an_error_leaves_the_session_usable(url: &Url) {
    let mut session = fresh(url).await;
    insert(&mut session, 1, 1).await.unwrap();
    begin(&mut session);
    insert(&mut session, 2, 2).await.unwrap();
    let twice = insert(&mut session, 1, 1).await.unwrap_err();
    assert_eq!(twice.class(), Class::Permanent, "{twice}");
    assert!(twice.code().is_some() && twice.to_string().lines().count() == 1, "{twice}");
    session.rollback().await.unwrap();
    // Outside a transaction too.
    insert(&mut session, 1, 1).await.unwrap_err();
    assert_eq!(count(&mut session).await, 1);
    insert(&mut session, 2, 2).await.unwrap();
    let unknown = session.query("SELECT * FROM no_such_table", &[]).await.unwrap_err();
    assert_eq!(unknown.class(), Class::Permanent, "{unknown}");
    assert_eq!(count(&mut session).await, 2);
}

async fn a_key_that_is_there_already_is_told_from_other_errors(url: &Url) {
    let mut session = fresh(url).await;
    let dialect = session.dialect();
    if dialect.transactional_ddl() {
        // DDL is undone with its transaction, so nobody has to ask.
        begin(&mut session);
        session.execute(&dialect.create_index(&KINDS, &KINDS.indexes[0], &Placement::default())).await.unwrap();
        session.rollback().await.unwrap();
        session.execute(&dialect.create_index(&KINDS, &KINDS.indexes[0], &Placement::default())).await.unwrap();
        return;
    }
    let sql = dialect.create_index(&KINDS, &KINDS.indexes[0], &Placement::default());
    session.execute(&sql).await.unwrap();
    let there = session.execute(&sql).await.unwrap_err();
    assert!(dialect.already_exists(there.code().unwrap()), "{there}");
    let other = session.execute("CREATE INDEX i ON no_such_table (a)").await.unwrap_err();
    assert!(!dialect.already_exists(other.code().unwrap()), "{other}");
}

async fn what_does_not_fit_its_column_is_refused(url: &Url) {
    let mut session = fresh(url).await;
    let too_wide = [
        ("small", Value::Int(40_000)),
        ("whole", Value::Int(3_000_000_000)),
        ("money", Decimal { unscaled: 1_000_000_000_000, scale: 2 }.into()),
        ("rate", Decimal { unscaled: 10_000, scale: 4 }.into()),
        ("fixed", Value::Text("xxxxxxxxxxxxxxxxxxxxxxxxx")),
    ];
    for (column, value) in too_wide {
        let sql = format!("INSERT INTO kinds (id, {column}) VALUES (1, $1)");
        let refused = session.query(&sql, &[value]).await.unwrap_err();
        assert_eq!(refused.class(), Class::Permanent, "{column}: {refused}");
    }
    assert_eq!(count(&mut session).await, 0);
}

async fn of_two_sessions_in_a_deadlock_one_is_asked_to_retry(url: &Url) {
    let mut a = fresh(url).await;
    insert(&mut a, 1, 0).await.unwrap();
    insert(&mut a, 2, 0).await.unwrap();
    let mut b = Session::connect(url).await.unwrap();
    begin(&mut a);
    begin(&mut b);
    a.execute("UPDATE kinds SET whole = whole + 1 WHERE id = 1").await.unwrap();
    b.execute("UPDATE kinds SET whole = whole + 10 WHERE id = 2").await.unwrap();
    let (first, second) = tokio::join!(
        a.execute("UPDATE kinds SET whole = whole + 1 WHERE id = 2"),
        b.execute("UPDATE kinds SET whole = whole + 10 WHERE id = 1"),
    );
    let refused: Vec<&Error> = [&first, &second].into_iter().filter_map(|done| done.as_ref().err()).collect();
    assert_eq!(refused.len(), 1, "{first:?} {second:?}");
    assert_eq!(refused[0].class(), Class::Retry, "{}", refused[0]);
    for (session, done) in [(&mut a, first), (&mut b, second)] {
        match done {
            Ok(()) => session.commit().await.unwrap(),
            Err(_) => session.rollback().await.unwrap(),
        }
    }
    let sums = a.query("SELECT id, whole FROM kinds ORDER BY id", &[]).await.unwrap();
    let sums: Vec<i32> = sums.rows().map(|row| row.int(1).unwrap()).collect();
    assert!(sums == [1, 1] || sums == [10, 10], "{sums:?}");
}

async fn a_session_sees_what_another_has_committed(url: &Url) {
    let mut a = fresh(url).await;
    let mut b = Session::connect(url).await.unwrap();
    // A read outside a transaction must not leave a snapshot open.
    for id in 1..4 {
        assert_eq!(count(&mut b).await, i64::from(id) - 1);
        insert(&mut a, id, id).await.unwrap();
    }
    for isolation in a.dialect().isolations() {
        a.begin(*isolation, Access::ReadOnly);
        assert_eq!(count(&mut a).await, 3);
        a.commit().await.unwrap();
    }
    snapshot(&mut a, &mut b).await;
}

/// At REPEATABLE READ a transaction's picture stands still.
async fn snapshot(a: &mut Session, b: &mut Session) {
    a.begin(Isolation::RepeatableRead, Access::ReadWrite);
    assert_eq!(count(a).await, 3);
    insert(b, 4, 4).await.unwrap();
    assert_eq!(count(a).await, 3);
    a.commit().await.unwrap();
    assert_eq!(count(a).await, 4);
}
