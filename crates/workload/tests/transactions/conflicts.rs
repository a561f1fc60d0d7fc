//! Sessions side by side (3.4): nothing is lost, nothing is done twice.

use std::collections::BTreeMap;

use target::{Access, Class, Error, Isolation};
use tokio::task::JoinHandle;
use tpcc::UNUSED_ITEM;
use tpcc::input::{CustomerBy, Delivery, Input, Line, NewOrder, Payment};
use workload::tpcc::{NewOrderOutput, Output, Style};

use crate::Case;
use crate::bench::{AWAY, Bench, HOME, home, order};

/// Whatever the database does with transactions side by side.
pub(crate) const ON_ANY: &[Case] = crate::cases![
    two_deliveries_never_deliver_an_order_twice,
    payments_side_by_side_are_all_counted,
    orders_side_by_side_get_numbers_without_gaps,
];

/// Where a session that waits for another's snapshot to end is refused.
pub(crate) const WITH_REFUSALS: &[Case] = crate::cases![
    of_two_orders_in_a_district_one_is_asked_to_retry_and_then_follows,
    at_the_default_level_a_retried_order_totals_its_lines_once,
];

/// With a session that holds a row another one needs, and is seen to wait.
pub(crate) const WITH_ROW_LOCKS: &[Case] = crate::cases![
    a_rolled_back_order_writes_the_stock_of_its_last_valid_line,
    a_rolled_back_order_inserts_its_last_valid_line,
];

/// With a session that waits for a row and is killed.
pub(crate) const WITH_KILLS: &[Case] = crate::cases![a_connection_lost_before_its_commit_has_changed_nothing];

const D_ID: i32 = 9;

/// Runs transactions one after the other in a session of its own, with retries.
async fn start(bench: &Bench, inputs: Vec<Input>) -> JoinHandle<Vec<Output>> {
    let mut own = bench.another().await;
    tokio::spawn(async move {
        let mut outputs = Vec::new();
        for input in inputs {
            outputs.push(own.insist(&input).await);
        }
        outputs
    })
}

/// Runs each list of transactions in a session of its own, all at the same time.
async fn side_by_side(bench: &Bench, lists: Vec<Vec<Input>>) -> Vec<Output> {
    let mut running = Vec::new();
    for inputs in lists {
        running.push(start(bench, inputs).await);
    }
    let mut outputs = Vec::new();
    for task in running {
        outputs.extend(task.await.unwrap());
    }
    outputs
}

/// Mistake: MIN without a lock, then DELETE without a look at the row count.
async fn two_deliveries_never_deliver_an_order_twice(bench: &mut Bench) {
    const EACH: usize = 8;
    for isolation in bench.session.dialect().isolations() {
        bench.profile.isolation = *isolation;
        let waiting = waiting_orders(bench).await;
        let counted = deliveries(bench).await;
        let input = |carrier_id| Input::Delivery(Delivery { w_id: AWAY, carrier_id });
        let outputs = side_by_side(bench, vec![vec![input(1); EACH], vec![input(2); EACH]]).await;
        let mut delivered: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for output in outputs {
            let Output::Delivery(done) = output else { panic!("{output:?}") };
            for (d_id, o_id) in (1..).zip(done.o_ids) {
                delivered.entry(d_id).or_default().push(o_id.unwrap());
            }
        }
        for (d_id, delivered) in &mut delivered {
            delivered.sort_unstable();
            assert_eq!(*delivered, waiting[d_id][..2 * EACH], "district {d_id} at {isolation}");
        }
        assert_eq!(deliveries(bench).await - counted, 10 * 2 * EACH as i64, "C_DELIVERY_CNT at {isolation}");
    }
}

/// The orders that wait in each district of the other warehouse, oldest first.
async fn waiting_orders(bench: &mut Bench) -> BTreeMap<i32, Vec<i32>> {
    let mut waiting: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for row in bench.records("new_order", "no_w_id = $1 ORDER BY no_o_id", &[AWAY.into()]).await {
        waiting.entry(row.int("no_d_id")).or_default().push(row.int("no_o_id"));
    }
    waiting
}

async fn deliveries(bench: &mut Bench) -> i64 {
    bench.number("SELECT SUM(c_delivery_cnt) FROM customer WHERE c_w_id = $1", &[AWAY.into()]).await
}

async fn payments_side_by_side_are_all_counted(bench: &mut Bench) {
    const EACH: i32 = 10;
    for isolation in bench.session.dialect().isolations() {
        bench.profile.isolation = *isolation;
        let before =
            [bench.warehouse(HOME).await, bench.district(HOME, D_ID).await, bench.customer(HOME, D_ID, 91).await];
        let customer = CustomerBy::Number(91);
        let payment = Payment { w_id: HOME, d_id: D_ID, c_w_id: HOME, c_d_id: D_ID, customer, amount: 1_01 };
        side_by_side(bench, vec![vec![Input::Payment(payment); EACH as usize]; 3]).await;
        let [warehouse, district, customer] = before;
        let paid = 3 * EACH * 1_01;
        assert_eq!(bench.warehouse(HOME).await, warehouse.plus("w_ytd", paid), "{isolation}");
        assert_eq!(bench.district(HOME, D_ID).await, district.plus("d_ytd", paid), "{isolation}");
        let after = bench.customer(HOME, D_ID, 91).await;
        let gained = ["c_balance", "c_ytd_payment", "c_payment_cnt"].map(|c| after.int(c) - customer.int(c));
        assert_eq!(gained, [-paid, paid, 3 * EACH], "{isolation}");
    }
}

async fn orders_side_by_side_get_numbers_without_gaps(bench: &mut Bench) {
    const EACH: usize = 6;
    for isolation in bench.session.dialect().isolations() {
        bench.profile.isolation = *isolation;
        let next = bench.next_o_id(D_ID).await;
        let stock = bench.stock(HOME, 931).await;
        // The same items, so that stock rows are fought for too.
        let input = Input::NewOrder(order(D_ID, 92, (931..=935).map(|i_id| home(i_id, 3))));
        let outputs = side_by_side(bench, vec![vec![input; EACH]; 2]).await;
        let mut numbers: Vec<i32> = outputs.into_iter().map(|output| new_order_of(output).o_id).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (next..next + 2 * EACH as i32).collect::<Vec<_>>(), "{isolation}");
        let sold = bench.stock(HOME, 931).await.int("s_ytd") - stock.int("s_ytd");
        assert_eq!(sold, 2 * EACH as i32 * 3, "{isolation}");
    }
}

fn new_order_of(output: Output) -> NewOrderOutput {
    match output {
        Output::NewOrder(shown) => *shown,
        other => panic!("{other:?}"),
    }
}

/// A transaction tried once, in a session of its own that others may hold up.
async fn try_once(bench: &Bench, input: &NewOrder) -> JoinHandle<(Bench, Result<Output, Error>)> {
    try_in(bench.another().await, input)
}

/// As [`try_once`], in this session.
fn try_in(mut own: Bench, input: &NewOrder) -> JoinHandle<(Bench, Result<Output, Error>)> {
    let input = Input::NewOrder(input.clone());
    tokio::spawn(async move {
        let outcome = own.run(&input).await;
        (own, outcome)
    })
}

/// Returns when `sessions` wait for locks.
async fn until_waiting(bench: &mut Bench, sessions: i64) {
    const QUESTIONS: u32 = 100_000;
    let waiting = match bench.session.dialect().name() {
        "postgres" => "SELECT COUNT(DISTINCT pid) FROM pg_locks WHERE NOT granted",
        // Not innodb_trx, which stays as it is for as long as it is asked in quick succession.
        "mariadb" => {
            "SELECT CAST(variable_value AS INTEGER) FROM information_schema.global_status \
             WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'"
        }
        _ => "SELECT COUNT(DISTINCT trx_id) FROM information_schema.data_lock_waits",
    };
    for _ in 0..QUESTIONS {
        if bench.number(waiting, &[]).await == sessions {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("{sessions} sessions never waited");
}

/// A session that holds what `sql` locks until it is dropped or rolled back.
async fn holding(bench: &Bench, sql: &str) -> Bench {
    let mut holder = bench.another().await;
    holder.session.begin(bench.profile.isolation, Access::ReadWrite);
    holder.session.execute(sql).await.unwrap();
    holder
}

async fn let_go(mut holder: Bench) {
    holder.session.rollback().await.unwrap();
}

fn hold_stock(line: Line) -> String {
    let Line { i_id, supply_w_id, .. } = line;
    format!("UPDATE stock SET s_quantity = s_quantity WHERE s_w_id = {supply_w_id} AND s_i_id = {i_id}")
}

/// Two orders of a district meet: the first holds the district while the second has already taken its
/// snapshot. Returns the first one's answer, and the second one's session, refusal and input.
async fn collide(bench: &mut Bench) -> (NewOrderOutput, Bench, Error, NewOrder) {
    let first = order(D_ID, 93, (941..=945).map(|i_id| home(i_id, 1)));
    let second = order(D_ID, 94, (951..=955).map(|i_id| home(i_id, 2)));
    let holder = holding(bench, &hold_stock(first.lines[0])).await;
    let running = try_once(bench, &first).await;
    until_waiting(bench, 1).await;
    let refused = try_once(bench, &second).await;
    until_waiting(bench, 2).await;
    let_go(holder).await;
    let (_, committed) = running.await.unwrap();
    let (session, outcome) = refused.await.unwrap();
    (new_order_of(committed.unwrap()), session, outcome.unwrap_err(), second)
}

async fn of_two_orders_in_a_district_one_is_asked_to_retry_and_then_follows(bench: &mut Bench) {
    for isolation in [Isolation::RepeatableRead, Isolation::Serializable] {
        bench.profile.isolation = isolation;
        let (first, mut session, refusal, input) = collide(bench).await;
        assert_eq!(refusal.class(), Class::Retry, "{isolation}: {refusal}");
        let second = session.new_order(&input).await;
        assert_eq!(second.o_id, first.o_id + 1, "{isolation}");
        let customers = [
            bench.order(HOME, D_ID, first.o_id).await.int("o_c_id"),
            bench.order(HOME, D_ID, second.o_id).await.int("o_c_id"),
        ];
        assert_eq!(customers, [93, 94], "{isolation}");
    }
}

/// Mistakes: the total accumulated again in a retried closure; READ COMMITTED by default, where nothing is refused.
async fn at_the_default_level_a_retried_order_totals_its_lines_once(bench: &mut Bench) {
    let (_, mut session, refusal, input) = collide(bench).await;
    assert_eq!(refusal.class(), Class::Retry);
    let retried = session.new_order(&input).await;
    let again = bench.new_order(&input).await;
    assert_eq!(retried.total, again.total);
}

fn doomed() -> NewOrder {
    order(D_ID, 95, (961..=964).map(|i_id| home(i_id, 1)).chain([home(UNUSED_ITEM, 1)]))
}

/// Has an order that must roll back wait for what `sql` locks.
async fn rollback_waits_for(bench: &mut Bench, sql: &str) {
    let holder = holding(bench, sql).await;
    let running = try_once(bench, &doomed()).await;
    until_waiting(bench, 1).await;
    let_go(holder).await;
    let (_, outcome) = running.await.unwrap();
    assert!(new_order_of(outcome.unwrap()).rolled_back);
}

async fn a_rolled_back_order_writes_the_stock_of_its_last_valid_line(bench: &mut Bench) {
    rollback_waits_for(bench, &hold_stock(doomed().lines[3])).await;
}

async fn a_rolled_back_order_inserts_its_last_valid_line(bench: &mut Bench) {
    let next = bench.next_o_id(D_ID).await;
    let line = format!(
        "INSERT INTO order_line SELECT {next}, ol_d_id, ol_w_id, 4, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, \
         ol_amount, ol_dist_info FROM order_line WHERE ol_w_id = {HOME} AND ol_d_id = {D_ID} AND ol_o_id = 1 \
         AND ol_number = 1"
    );
    rollback_waits_for(bench, &line).await;
}

/// A routine commits unasked, so of a lost call nobody knows whether it did; the other styles know that it did not.
async fn a_connection_lost_before_its_commit_has_changed_nothing(bench: &mut Bench) {
    let input = order(D_ID, 96, (971..=975).map(|i_id| home(i_id, 1)));
    let next = bench.next_o_id(D_ID).await;
    let (identity, kill) = match bench.session.dialect().name() {
        "postgres" => ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend"),
        _ => ("SELECT CONNECTION_ID()", "KILL CONNECTION "),
    };
    let holder = holding(bench, &hold_stock(input.lines[0])).await;
    let mut victim = bench.another().await;
    let id = victim.number(identity, &[]).await;
    let running = try_in(victim, &input);
    until_waiting(bench, 1).await;
    bench.session.execute(&format!("{kill}({id})")).await.unwrap();
    let (_, outcome) = running.await.unwrap();
    let class = if bench.profile.style == Style::Procedure { Class::Unknown } else { Class::Lost };
    assert_eq!(outcome.unwrap_err().class(), class);
    let_go(holder).await;
    assert_eq!(bench.next_o_id(D_ID).await, next);
}
