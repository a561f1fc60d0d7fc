//! Acknowledged means kept: what this client was told is committed, held against what the database gained.
//!
//! A warehouse's numbers change only through its own terminals (a remote customer's balance apart),
//! so a client can account for the warehouses that it alone drives.

use std::collections::BTreeMap;

use ::tpcc::DISTRICTS_PER_WAREHOUSE;
use ::tpcc::input::Input;
use ::tpcc::money::Cents;
use target::{Class, Error, Session};

use super::Output;
use super::acknowledged::{self, Entry};

/// What was acknowledged for a district.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// New-Orders committed.
    pub orders: i64,
    /// Payments committed, in cents.
    pub payments: Cents,
    /// Orders delivered.
    pub delivered: i64,
    /// New-Orders whose COMMIT got no answer.
    pub unknown_orders: i64,
    /// Payments whose COMMIT got no answer, in cents.
    pub unknown_payments: Cents,
    /// Orders of Deliveries whose COMMIT got no answer: at most this many.
    pub unknown_delivered: i64,
}

/// The client's book of the warehouses that it drives.
#[derive(Clone, Debug)]
pub struct Ledger {
    first_warehouse: i32,
    /// District by district of warehouse by warehouse.
    accounts: Vec<Account>,
}

impl Ledger {
    /// An empty book of so many warehouses.
    pub fn new(first_warehouse: i32, warehouses: u32) -> Self {
        let districts = warehouses as usize * DISTRICTS_PER_WAREHOUSE as usize;
        Self { first_warehouse, accounts: vec![Account::default(); districts] }
    }

    /// Enters an answer that says committed.
    pub fn acknowledge(&mut self, input: &Input, output: &Output) {
        match (input, output) {
            (Input::NewOrder(order), Output::NewOrder(shown)) if !shown.rolled_back => {
                self.account(order.w_id, order.d_id).orders += 1;
            }
            (Input::Payment(payment), _) => self.account(payment.w_id, payment.d_id).payments += payment.amount,
            (Input::Delivery(delivery), Output::Delivery(done)) => {
                for (o_id, d_id) in done.o_ids.iter().zip(1..) {
                    self.account(delivery.w_id, d_id).delivered += i64::from(o_id.is_some());
                }
            }
            _ => {}
        }
    }

    /// Enters a failure: only a COMMIT without an answer may have changed anything.
    pub fn failed(&mut self, input: &Input, error: &Error) {
        if error.class() != Class::Unknown {
            return;
        }
        match input {
            Input::NewOrder(order) => self.account(order.w_id, order.d_id).unknown_orders += 1,
            Input::Payment(payment) => self.account(payment.w_id, payment.d_id).unknown_payments += payment.amount,
            Input::Delivery(delivery) => {
                (1..=DISTRICTS_PER_WAREHOUSE).for_each(|d_id| self.account(delivery.w_id, d_id).unknown_delivered += 1)
            }
            Input::OrderStatus(_) | Input::StockLevel(_) => {}
        }
    }

    fn place(&self, w_id: i32, d_id: i32) -> usize {
        ((w_id - self.first_warehouse) * DISTRICTS_PER_WAREHOUSE + d_id - 1) as usize
    }

    /// The account of a district of a driven warehouse: terminals enter nothing for others.
    fn account(&mut self, w_id: i32, d_id: i32) -> &mut Account {
        let place = self.place(w_id, d_id);
        &mut self.accounts[place]
    }

    /// Adds another book of the same warehouses.
    pub fn merge(&mut self, other: &Ledger) {
        for (ours, theirs) in self.accounts.iter_mut().zip(&other.accounts) {
            ours.orders += theirs.orders;
            ours.payments += theirs.payments;
            ours.delivered += theirs.delivered;
            ours.unknown_orders += theirs.unknown_orders;
            ours.unknown_payments += theirs.unknown_payments;
            ours.unknown_delivered += theirs.unknown_delivered;
        }
    }
}

/// The numbers of a district that a run moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct District {
    next_o_id: i64,
    ytd: Cents,
    undelivered: i64,
}

/// The state of a slice of warehouses at a quiet moment.
#[derive(Clone, Debug, Default)]
pub struct State {
    districts: BTreeMap<(i32, i32), District>,
    warehouse_ytd: BTreeMap<i32, Cents>,
    at_us: i64,
}

impl State {
    /// Reads the state of warehouses `first..=last`.
    ///
    /// # Errors
    /// The database's refusal.
    pub async fn read(session: &mut Session, first: i32, last: i32) -> Result<Self, Error> {
        session.see_all_commits().await?;
        let slice = [first.into(), last.into()];
        let mut state = State::default();
        let sql = "SELECT d_w_id, d_id, d_next_o_id, d_ytd, \
                   (SELECT COUNT(*) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) \
                   FROM district WHERE d_w_id BETWEEN $1 AND $2";
        for row in session.query(sql, &slice).await?.rows() {
            let district = District { next_o_id: row.big(2)?, ytd: row.cents(3)?, undelivered: row.big(4)? };
            state.districts.insert((row.int(0)?, row.int(1)?), district);
        }
        let sql = "SELECT w_id, w_ytd, LOCALTIMESTAMP FROM warehouse WHERE w_id BETWEEN $1 AND $2";
        for row in session.query(sql, &slice).await?.rows() {
            state.warehouse_ytd.insert(row.int(0)?, row.cents(1)?);
            state.at_us = row.timestamp(2)?;
        }
        Ok(state)
    }

    /// The beginning of a ledger of acknowledgements: its header, and each district as it is.
    pub fn ledger_header(&self) -> Vec<u8> {
        let mut bytes = acknowledged::header(self.at_us).to_vec();
        for ((w_id, d_id), district) in &self.districts {
            let District { next_o_id, ytd, undelivered } = *district;
            let (next_o_id, undelivered) = (next_o_id as i32, undelivered as u32);
            let entry = Entry::Before { w_id: *w_id, d_id: *d_id, next_o_id, ytd, undelivered };
            acknowledged::append(&mut bytes, 0, entry);
        }
        bytes
    }

    /// Warehouses found.
    pub fn warehouses(&self) -> usize {
        self.warehouse_ytd.len()
    }

    /// Orders entered since the load: the age of the data.
    pub fn orders_since_load(&self) -> i64 {
        let first = i64::from(::tpcc::ORDERS_PER_DISTRICT) + 1;
        self.districts.values().map(|district| district.next_o_id - first).sum()
    }
}

/// One quantity held against the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciled {
    /// What it is.
    pub name: &'static str,
    /// What the client was told, in all.
    pub acknowledged: i64,
    /// What may or may not have been committed.
    pub unknown: i64,
    /// What the database gained.
    pub gained: i64,
    /// Places where the database gained less than was acknowledged.
    pub missing: Vec<String>,
    /// Places where it gained more than can be explained.
    pub surplus: Vec<String>,
}

impl Reconciled {
    /// Whether nothing is missing and nothing is too much.
    pub fn passed(&self) -> bool {
        self.missing.is_empty() && self.surplus.is_empty()
    }

    fn new(name: &'static str) -> Self {
        Self { name, acknowledged: 0, unknown: 0, gained: 0, missing: Vec::new(), surplus: Vec::new() }
    }

    fn hold(&mut self, place: &str, acknowledged: i64, unknown: i64, gained: i64) {
        self.acknowledged += acknowledged;
        self.unknown += unknown;
        self.gained += gained;
        let note = || format!("{place}: acknowledged {acknowledged}, gained {gained}");
        if gained < acknowledged {
            self.missing.push(note());
        } else if gained > acknowledged + unknown {
            self.surplus.push(note());
        }
    }
}

/// Holds the ledger of a run against the states before and after it.
pub fn reconcile(before: &State, after: &State, ledger: &Ledger) -> Vec<Reconciled> {
    let mut orders = Reconciled::new("New-Orders by district (D_NEXT_O_ID)");
    let mut payments = Reconciled::new("Payments by district, cents (D_YTD)");
    let mut warehouses = Reconciled::new("Payments by warehouse, cents (W_YTD)");
    let mut delivered = Reconciled::new("orders delivered by district (NEW-ORDER)");
    let mut by_warehouse: BTreeMap<i32, (Cents, Cents)> = BTreeMap::new();
    for (place, then) in &before.districts {
        let now = after.districts.get(place).copied().unwrap_or_default();
        let (w_id, d_id) = place;
        let account = ledger.accounts.get(ledger.place(*w_id, *d_id)).copied().unwrap_or_default();
        let name = format!("warehouse {w_id} district {d_id}");
        let new_orders = now.next_o_id - then.next_o_id;
        orders.hold(&name, account.orders, account.unknown_orders, new_orders);
        payments.hold(&name, account.payments, account.unknown_payments, now.ytd - then.ytd);
        let gone = then.undelivered + new_orders - now.undelivered;
        delivered.hold(&name, account.delivered, account.unknown_delivered, gone);
        let sums = by_warehouse.entry(*w_id).or_default();
        sums.0 += account.payments;
        sums.1 += account.unknown_payments;
    }
    for (w_id, then) in &before.warehouse_ytd {
        let now = after.warehouse_ytd.get(w_id).copied().unwrap_or_default();
        let (acknowledged, unknown) = by_warehouse.get(w_id).copied().unwrap_or_default();
        warehouses.hold(&format!("warehouse {w_id}"), acknowledged, unknown, now - then);
    }
    vec![orders, payments, warehouses, delivered]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(next_o_id: i64, ytd: Cents, undelivered: i64) -> State {
        let districts = [((1, 1), District { next_o_id, ytd, undelivered })].into();
        State { districts, warehouse_ytd: [(1, ytd)].into(), at_us: 0 }
    }

    fn ledger(account: Account) -> Ledger {
        Ledger { first_warehouse: 1, accounts: vec![account] }
    }

    #[test]
    fn what_was_acknowledged_must_be_there() {
        let account = Account { orders: 3, payments: 500, delivered: 2, ..Account::default() };
        let all = reconcile(&state(3001, 100, 900), &state(3004, 600, 901), &ledger(account));
        assert!(all.iter().all(Reconciled::passed), "{all:?}");
        let lost = reconcile(&state(3001, 100, 900), &state(3003, 600, 900), &ledger(account));
        assert_eq!(lost[0].missing, ["warehouse 1 district 1: acknowledged 3, gained 2"]);
        let twice = reconcile(&state(3001, 100, 900), &state(3004, 1100, 901), &ledger(account));
        assert!(!twice[1].passed() && !twice[2].passed());
    }

    #[test]
    fn what_is_unknown_is_bounded() {
        let account = Account { orders: 3, unknown_orders: 1, ..Account::default() };
        for (gained, passes) in [(2, false), (3, true), (4, true), (5, false)] {
            let after = state(3001 + gained, 100, 900 + gained);
            assert_eq!(reconcile(&state(3001, 100, 900), &after, &ledger(account))[0].passed(), passes);
        }
    }
}
