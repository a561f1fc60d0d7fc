//! The audit after a crash (3.5.4): is everything that was acknowledged there, exactly once, and what came of the
//! transactions whose COMMIT got no answer?
//!
//! Warehouse by warehouse, by key. What the ledger does not explain is held against the unknown ones, each once.

use std::collections::{BTreeMap, HashMap, HashSet};

use ::tpcc::DISTRICTS_PER_WAREHOUSE;
use ::tpcc::money::Cents;
use ::tpcc::text::last_name;
use record::audit::{Audit, AuditedItem, DELIVERED, LookedUp};
use target::{Decimal, Error, Session, Value};

use super::acknowledged::{Acknowledged, Customer, Entry, NewOrderEntry, PaymentEntry};
use super::customer;

/// How far the clocks of a cluster's nodes may differ for HISTORY's dates to be understood, in microseconds.
const CLOCKS_DIFFER_US: i64 = 1_000_000;

/// Payments whose HISTORY rows are read at once: it has no key, and may be read as a whole each time.
const SLICE: usize = 500_000;

/// Holds a ledger against the database, which must be at rest.
///
/// # Errors
/// The database's refusal.
pub async fn audit(session: &mut Session, ledger: &Acknowledged) -> Result<Audit, Error> {
    session.see_all_commits().await?;
    let mut auditor = Auditor::default();
    let books = books(&ledger.entries);
    for (w_id, book) in &books {
        auditor.orders(session, *w_id, book).await?;
    }
    let books: Vec<(i32, &Book)> = books.iter().map(|(w_id, book)| (*w_id, book)).collect();
    let mut rest = books.as_slice();
    while !rest.is_empty() {
        let (slice, others) = rest.split_at(slice_length(rest));
        auditor.payments(session, slice, ledger.started_us - CLOCKS_DIFFER_US).await?;
        rest = others;
    }
    let Auditor { new_orders, payments, delivered, unknown } = auditor;
    let held = vec![new_orders, payments, delivered];
    Ok(Audit::judge(held, unknown.into(), ledger.abandoned(), ledger.torn_bytes))
}

/// How many of the next warehouses are read at once: one at least.
fn slice_length(books: &[(i32, &Book)]) -> usize {
    let mut payments = 0;
    let fits = |(_, book): &&(i32, &Book)| {
        payments += book.payments.len();
        payments <= SLICE
    };
    books.iter().take_while(fits).count().max(1)
}

/// What the ledger holds of one warehouse.
#[derive(Debug, Default)]
struct Book {
    before: BTreeMap<i32, Before>,
    new_orders: Vec<(u32, NewOrderEntry)>,
    rolled_back: Vec<NewOrderEntry>,
    payments: Vec<(u32, PaymentEntry)>,
    delivered: Vec<(u32, Order, i32)>,
    unknown_new_orders: Vec<NewOrderEntry>,
    unknown_payments: Vec<PaymentEntry>,
    unknown_deliveries: Vec<i32>,
}

/// A district before the run.
#[derive(Clone, Copy, Debug)]
struct Before {
    next_o_id: i32,
    first_undelivered: i32,
    ytd: Cents,
}

/// District and number of an order of a warehouse.
type Order = (i32, i32);

fn books(entries: &[(u32, Entry)]) -> BTreeMap<i32, Book> {
    let mut books: BTreeMap<i32, Book> = BTreeMap::new();
    for (at, entry) in entries.iter().copied() {
        match entry {
            Entry::Before { w_id, d_id, next_o_id, ytd, undelivered } => {
                let first_undelivered = next_o_id.saturating_sub(i32::try_from(undelivered).unwrap_or(i32::MAX));
                books.entry(w_id).or_default().before.insert(d_id, Before { next_o_id, first_undelivered, ytd });
            }
            Entry::NewOrder(order) => books.entry(order.w_id).or_default().new_orders.push((at, order)),
            Entry::RolledBack(order) => books.entry(order.w_id).or_default().rolled_back.push(order),
            Entry::Payment(payment) => books.entry(payment.w_id).or_default().payments.push((at, payment)),
            Entry::Delivered { w_id, d_id, o_id, carrier_id } => {
                books.entry(w_id).or_default().delivered.push((at, (d_id, o_id), carrier_id));
            }
            Entry::UnknownNewOrder(order) => books.entry(order.w_id).or_default().unknown_new_orders.push(order),
            Entry::UnknownPayment(payment) => books.entry(payment.w_id).or_default().unknown_payments.push(payment),
            Entry::UnknownDelivery { w_id, carrier_id } => {
                books.entry(w_id).or_default().unknown_deliveries.push(carrier_id);
            }
            Entry::End { .. } => {}
        }
    }
    books
}

/// A row of ORDERS.
#[derive(Clone, Copy, Debug)]
struct OrderRow {
    c_id: i32,
    carrier_id: Option<i32>,
    ol_cnt: i32,
}

#[derive(Debug)]
struct Auditor {
    new_orders: AuditedItem,
    payments: AuditedItem,
    delivered: AuditedItem,
    unknown: [LookedUp; 3],
}

impl Default for Auditor {
    fn default() -> Self {
        Self {
            new_orders: AuditedItem::new("New-Orders"),
            payments: AuditedItem::new("Payments"),
            delivered: AuditedItem::new(DELIVERED),
            unknown: ["New-Orders", "Payments", "Deliveries"].map(LookedUp::new),
        }
    }
}

/// When an answer came, for people.
fn told(at_ms: u32) -> String {
    format!("acknowledged {:.1} s after the start", f64::from(at_ms) / 1000.0)
}

impl Auditor {
    /// New-Orders and Deliveries of a warehouse.
    async fn orders(&mut self, session: &mut Session, w_id: i32, book: &Book) -> Result<(), Error> {
        let driven = book.before.values().map(|before| before.first_undelivered);
        let ordered = book.new_orders.iter().map(|(_, order)| order.o_id);
        let Some(first) = driven.chain(ordered).chain(book.delivered.iter().map(|(_, (_, o_id), _)| *o_id)).min()
        else {
            return Ok(());
        };
        let mut rows: BTreeMap<Order, OrderRow> = BTreeMap::new();
        let sql = "SELECT o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt FROM orders WHERE o_w_id = $1 AND o_id >= $2";
        for row in session.query(sql, &[w_id.into(), first.into()]).await?.rows() {
            let key = (row.int(0)?, row.int(1)?);
            let order = OrderRow { c_id: row.int(2)?, carrier_id: row.opt_int(3)?, ol_cnt: row.int(4)? };
            if rows.insert(key, order).is_some() {
                self.new_orders.find_surplus(|| format!("warehouse {w_id} {}: twice in ORDERS", place(key)));
            }
        }
        let mut undelivered = HashSet::new();
        if !book.delivered.is_empty() {
            let sql = "SELECT no_d_id, no_o_id FROM new_order WHERE no_w_id = $1";
            for row in session.query(sql, &[w_id.into()]).await?.rows() {
                undelivered.insert((row.int(0)?, row.int(1)?));
            }
        }
        self.ordered(w_id, book, &rows);
        self.carried(w_id, book, &rows, &undelivered);
        Ok(())
    }

    fn ordered(&mut self, w_id: i32, book: &Book, rows: &BTreeMap<Order, OrderRow>) {
        let held = &mut self.new_orders;
        let mut acknowledged: HashMap<Order, u32> = HashMap::with_capacity(book.new_orders.len());
        for (at, order) in &book.new_orders {
            held.acknowledged += 1;
            let key = (order.d_id, order.o_id);
            let whose = || format!("warehouse {w_id} {} of customer {}, {}", place(key), order.c_id, told(*at));
            if let Some(earlier) = acknowledged.insert(key, *at) {
                held.miss(|| format!("{}: its number had been given before, {}", whose(), told(earlier)));
                continue;
            }
            match rows.get(&key) {
                Some(row) if (row.c_id, row.ol_cnt) == (order.c_id, order.ol_cnt) => {}
                Some(row) => held.miss(|| format!("{}: there it is one of customer {}", whose(), row.c_id)),
                None => held.miss(|| format!("{}: not in ORDERS", whose())),
            }
        }
        let new = |d_id: i32, o_id: i32| book.before.get(&d_id).is_some_and(|before| o_id >= before.next_o_id);
        let mut unexplained: Vec<(Order, OrderRow)> = rows
            .iter()
            .map(|(key, row)| (*key, *row))
            .filter(|(key, _)| new(key.0, key.1) && !acknowledged.contains_key(key))
            .collect();
        for order in &book.unknown_new_orders {
            let is_it = |(key, row): &(Order, OrderRow)| {
                key.0 == order.d_id && (row.c_id, row.ol_cnt) == (order.c_id, order.ol_cnt)
            };
            let found = unexplained.iter().position(is_it);
            self.unknown[0].count(found.is_some());
            found.map(|at| unexplained.swap_remove(at));
        }
        for (key, row) in unexplained {
            let rolled_back = book
                .rolled_back
                .iter()
                .any(|order| (order.d_id, order.o_id) == key && (order.c_id, order.ol_cnt) == (row.c_id, row.ol_cnt));
            let but = if rolled_back { ", which was rolled back" } else { "" };
            held.find_surplus(|| format!("warehouse {w_id} {} of customer {}{but}", place(key), row.c_id));
        }
    }

    fn carried(&mut self, w_id: i32, book: &Book, rows: &BTreeMap<Order, OrderRow>, undelivered: &HashSet<Order>) {
        let held = &mut self.delivered;
        let mut acknowledged: HashMap<Order, u32> = HashMap::with_capacity(book.delivered.len());
        for (at, key, carrier_id) in &book.delivered {
            held.acknowledged += 1;
            let which = || format!("warehouse {w_id} {} by carrier {carrier_id}, {}", place(*key), told(*at));
            if let Some(earlier) = acknowledged.insert(*key, *at) {
                held.miss(|| format!("{}: it had been delivered before, {}", which(), told(earlier)));
                continue;
            }
            match rows.get(key) {
                None => held.miss(|| format!("{}: not in ORDERS", which())),
                Some(row) if row.carrier_id != Some(*carrier_id) => held.miss(|| match row.carrier_id {
                    None => format!("{}: it has no carrier", which()),
                    Some(other) => format!("{}: its carrier is {other}", which()),
                }),
                Some(_) if undelivered.contains(key) => held.miss(|| format!("{}: still in NEW-ORDER", which())),
                Some(_) => {}
            }
        }
        let since = |key: &Order| book.before.get(&key.0).is_some_and(|before| key.1 >= before.first_undelivered);
        let mut unexplained: BTreeMap<Order, i32> = rows
            .iter()
            .filter(|(key, _)| since(key) && !acknowledged.contains_key(key))
            .filter_map(|(key, row)| Some((*key, row.carrier_id?)))
            .collect();
        for carrier_id in &book.unknown_deliveries {
            let mut committed = false;
            for d_id in 1..=DISTRICTS_PER_WAREHOUSE {
                let of_district = unexplained.range((d_id, i32::MIN)..=(d_id, i32::MAX));
                let found = of_district.into_iter().find(|(_, carrier)| *carrier == carrier_id).map(|(key, _)| *key);
                if let Some(key) = found {
                    unexplained.remove(&key);
                    committed = true;
                }
            }
            self.unknown[2].count(committed);
        }
        for (key, carrier_id) in unexplained {
            held.find_surplus(|| format!("warehouse {w_id} {} by carrier {carrier_id}", place(key)));
        }
    }

    /// Payments of consecutive warehouses: their rows in HISTORY from a date on, and the sums of their districts.
    async fn payments(&mut self, session: &mut Session, books: &[(i32, &Book)], from_us: i64) -> Result<(), Error> {
        let (Some((first, _)), Some((last, _))) = (books.first(), books.last()) else { return Ok(()) };
        let slice = [Value::from(*first), Value::from(*last)];
        let mut rows: HashMap<PaymentEntry, u32> = HashMap::new();
        let sql = "SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount FROM history \
                   WHERE h_w_id BETWEEN $1 AND $2 AND h_date >= $3";
        for row in session.query(sql, &[slice[0], slice[1], Value::Timestamp(from_us)]).await?.rows() {
            let payment = PaymentEntry {
                w_id: row.int(0)?,
                d_id: row.int(1)?,
                c_w_id: row.int(2)?,
                c_d_id: row.int(3)?,
                customer: Customer::Number(row.int(4)?),
                amount: row.cents(5)?,
            };
            *rows.entry(payment).or_default() += 1;
        }
        let mut sums: BTreeMap<Order, Cents> = BTreeMap::new();
        let sql = "SELECT d_w_id, d_id, d_ytd FROM district WHERE d_w_id BETWEEN $1 AND $2";
        for row in session.query(sql, &slice).await?.rows() {
            sums.insert((row.int(0)?, row.int(1)?), row.cents(2)?);
        }
        for (w_id, book) in books {
            let mut accounted: HashMap<i32, Cents> = HashMap::new();
            for (at, payment) in &book.payments {
                self.payments.acknowledged += 1;
                if take(&mut rows, payment) {
                    *accounted.entry(payment.d_id).or_default() += payment.amount;
                } else {
                    self.payments.miss(|| format!("{}, {}: not in HISTORY", described(payment), told(*at)));
                }
            }
            for payment in &book.unknown_payments {
                let known = by_number(session, *payment).await?;
                let committed = known.is_some_and(|known| take(&mut rows, &known));
                self.unknown[1].count(committed);
                if committed {
                    *accounted.entry(payment.d_id).or_default() += payment.amount;
                }
            }
            for (d_id, before) in &book.before {
                let gained = sums.get(&(*w_id, *d_id)).copied().unwrap_or_default() - before.ytd;
                let due = accounted.get(d_id).copied().unwrap_or_default();
                let said = || {
                    let (gained, due) = (Decimal::cents(gained), Decimal::cents(due));
                    format!("warehouse {w_id} district {d_id}: D_YTD gained {gained}, Payments account for {due}")
                };
                match gained.cmp(&due) {
                    std::cmp::Ordering::Less => self.payments.miss(said),
                    std::cmp::Ordering::Greater => {
                        // At least one; as many as there are rows that nobody was told of.
                        let of_district = rows.iter().filter(|(row, _)| (row.w_id, row.d_id) == (*w_id, *d_id));
                        let rows: u64 = of_district.map(|(_, count)| u64::from(*count)).sum();
                        self.payments.find_surplus(said);
                        self.payments.surplus += rows.saturating_sub(1);
                    }
                    std::cmp::Ordering::Equal => {}
                }
            }
        }
        Ok(())
    }
}

fn place((d_id, o_id): Order) -> String {
    format!("district {d_id} order {o_id}")
}

fn described(payment: &PaymentEntry) -> String {
    let PaymentEntry { w_id, d_id, c_w_id, c_d_id, customer, amount } = payment;
    let customer = match customer {
        Customer::Number(c_id) => c_id.to_string(),
        Customer::LastName(number) => last_name(*number).to_string(),
    };
    format!("warehouse {w_id} district {d_id}: {} of customer {c_w_id}/{c_d_id}/{customer}", Decimal::cents(*amount))
}

/// Takes one row of that kind away, if there is one.
fn take(rows: &mut HashMap<PaymentEntry, u32>, payment: &PaymentEntry) -> bool {
    match rows.get_mut(payment) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

/// The payment with its customer's number, which Payment would have found (2.5.2.2); `None` if there is no such customer.
async fn by_number(session: &mut Session, payment: PaymentEntry) -> Result<Option<PaymentEntry>, Error> {
    let Customer::LastName(number) = payment.customer else { return Ok(Some(payment)) };
    let name = last_name(number);
    let values = [payment.c_w_id.into(), payment.c_d_id.into(), (&*name).into()];
    let found = session.query(customer::BY_NAME.sql, &values).await?;
    if found.is_empty() {
        return Ok(None);
    }
    let customer = Customer::Number(customer::middle(&found)?.int(0)?);
    Ok(Some(PaymentEntry { customer, ..payment }))
}
