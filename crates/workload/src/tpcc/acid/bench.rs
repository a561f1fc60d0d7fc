//! What the tests share: sessions, inputs, and looks at the tables.

use std::time::{Duration, Instant};

use ::tpcc::input::{CustomerBy, Delivery, Input, Line, NewOrder, OrderStatus, Payment};
use ::tpcc::money::Cents;
use ::tpcc::rng::Stream;
use ::tpcc::{DISTRICTS_PER_WAREHOUSE, UNUSED_ITEM};
use target::{Answer, Error, Isolation, Session, Value};

use super::TestDatabase;
use super::actor::{Actor, Got, LIMIT, named};
use crate::tpcc::{Delivered, NewOrderOutput, OrderStatusOutput, Output, PaymentOutput};

/// Lines of a test's order.
const LINES: usize = 5;

pub(super) struct Bench<'a> {
    place: &'a TestDatabase,
    pub(super) level: Isolation,
    choices: Stream,
    patience: Duration,
}

/// The shortest time after which a session is taken for one that waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// A customer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Customer {
    pub(super) w_id: i32,
    pub(super) d_id: i32,
    pub(super) c_id: i32,
}

impl Customer {
    pub(super) fn key(self) -> Vec<Value<'static>> {
        vec![self.w_id.into(), self.d_id.into(), self.c_id.into()]
    }

    pub(super) fn district(self) -> Vec<Value<'static>> {
        vec![self.w_id.into(), self.d_id.into()]
    }

    pub(super) fn order(self, lines: &[Line]) -> Input {
        let Self { w_id, d_id, c_id } = self;
        Input::NewOrder(NewOrder { w_id, d_id, c_id, lines: lines.iter().copied().collect() })
    }

    pub(super) fn status(self) -> Input {
        let Self { w_id, d_id, c_id } = self;
        Input::OrderStatus(OrderStatus { w_id, d_id, customer: CustomerBy::Number(c_id) })
    }

    pub(super) fn payment(self, amount: Cents) -> Input {
        let Self { w_id, d_id, c_id } = self;
        let customer = CustomerBy::Number(c_id);
        Input::Payment(Payment { w_id, d_id, c_w_id: w_id, c_d_id: d_id, customer, amount })
    }

    pub(super) fn delivery(self, carrier_id: i32) -> Input {
        Input::Delivery(Delivery { w_id: self.w_id, carrier_id })
    }
}

impl<'a> Bench<'a> {
    pub(super) fn new(place: &'a TestDatabase, level: Isolation, number: u64, patience: Duration) -> Self {
        Self { place, level, choices: Stream::for_terminal(place.seed, number), patience }
    }

    /// How long an answer may take here: several times as long as an order takes that nobody disturbs. What is only slow
    /// must not be taken for what waits.
    pub(super) async fn patience(place: &'a TestDatabase, level: Isolation) -> Result<Duration, Error> {
        let mut bench = Self::new(place, level, u64::MAX, PATIENCE);
        let mut longest = Duration::ZERO;
        for number in 0..place.gateways.urls().len() {
            let actor = Actor::connect(place.gateways.dealt(number), level, PATIENCE).await?;
            let customer = bench.customer();
            let begin = Instant::now();
            actor.transact(bench.order(customer, 0)).end().await?;
            longest = longest.max(begin.elapsed());
        }
        let patience = PATIENCE.max(longest * 5);
        if patience > LIMIT / 3 {
            let taken = longest.as_secs();
            return Err(Error::permanent(format!(
                "a New-Order that nobody disturbs takes {taken} s: too long to tell waits"
            )));
        }
        Ok(patience)
    }

    /// Sessions for `N` transactions, each through the next gateway.
    pub(super) async fn actors<const N: usize>(&self) -> Result<[Actor; N], Error> {
        let mut actors = Vec::with_capacity(N);
        for number in 0..N {
            actors.push(Actor::connect(self.place.gateways.dealt(number), self.level, self.patience).await?);
        }
        actors.try_into().map_err(|_| Error::permanent("a session is missing"))
    }

    /// A session that sees whatever was acknowledged.
    pub(super) async fn observer(&self) -> Result<Session, Error> {
        let mut session = Session::connect(self.place.gateways.first()).await?;
        session.see_all_commits().await?;
        Ok(session)
    }

    /// How many gateways there are.
    pub(super) fn gateways(&self) -> usize {
        self.place.gateways.urls().len()
    }

    /// Waits until every gateway shows what was acknowledged: what is not there yet could not be seen, whatever the level.
    pub(super) async fn everywhere(&self) -> Result<(), Error> {
        if self.gateways() > 1 {
            for url in self.place.gateways.urls() {
                let mut session = Session::connect(url).await?;
                session.see_all_commits().await?;
                session.query("SELECT COUNT(*) FROM warehouse", &[]).await?;
            }
        }
        Ok(())
    }

    pub(super) fn any(&mut self, low: i32, high: i32) -> i32 {
        self.choices.uniform_i32(low, high)
    }

    /// Any customer (3.4.2: "randomly selected").
    pub(super) fn customer(&mut self) -> Customer {
        let w_id = self.any(1, self.place.warehouses);
        Customer { w_id, d_id: self.any(1, DISTRICTS_PER_WAREHOUSE), c_id: self.any(1, 3000) }
    }

    /// Lines of different items, none of them in an order of another `turn`.
    pub(super) fn lines(&mut self, turn: i32) -> Vec<Line> {
        const SHARE: i32 = 100_000 / LINES as i32;
        let line = |number: i32| {
            // One item out of each share of the items, so that none repeats; turns differ in parity.
            let i_id = number * SHARE + 2 * self.choices.uniform_i32(0, SHARE / 2 - 1) + 1 + turn % 2;
            Line { i_id, supply_w_id: 0, quantity: 5 }
        };
        (0..LINES as i32).map(line).collect()
    }

    /// An order of such lines.
    pub(super) fn order(&mut self, customer: Customer, turn: i32) -> Input {
        let mut lines = self.lines(turn);
        lines.iter_mut().for_each(|line| line.supply_w_id = customer.w_id);
        customer.order(&lines)
    }

    /// An order that must be rolled back (2.4.1.4).
    pub(super) fn invalid_order(&mut self, customer: Customer) -> Input {
        let mut lines = self.lines(0);
        lines.iter_mut().for_each(|line| line.supply_w_id = customer.w_id);
        if let Some(last) = lines.last_mut() {
            last.i_id = UNUSED_ITEM;
        }
        customer.order(&lines)
    }

    /// One row, as everybody sees it who asks now.
    pub(super) async fn row(&self, sql: &str, values: &[Value<'static>]) -> Result<Answer, Error> {
        let answer = self.observer().await?.query(sql, values).await?;
        answer.only()?;
        Ok(answer)
    }

    pub(super) async fn next_order(&self, customer: Customer) -> Result<i32, Error> {
        let sql = "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2";
        self.row(sql, &customer.district()).await?.only()?.int(0)
    }

    pub(super) async fn balance(&self, customer: Customer) -> Result<Cents, Error> {
        let sql = "SELECT c_balance FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
        self.row(sql, &customer.key()).await?.only()?.cents(0)
    }

    /// The customer's latest order, as Order-Status shows it now.
    pub(super) async fn status(&self, customer: Customer) -> Result<OrderStatusOutput, Error> {
        let [reader] = self.actors().await?;
        let (status, _) = reader.transact(customer.status()).end().await?.order_status()?;
        Ok(status)
    }

    /// How long it took until `shows` held; none: it never did.
    pub(super) async fn until(
        &self,
        customer: Customer,
        shows: impl Fn(&OrderStatusOutput) -> bool,
    ) -> Result<Option<Duration>, Error> {
        let [_, _, reader] = self.actors::<3>().await?;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(10) {
            if shows(&reader.transact(customer.status()).end().await?.order_status()?.0) {
                return Ok(Some(begin.elapsed()));
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(None)
    }
}

fn another<T>() -> Result<T, Error> {
    Err(Error::permanent("an answer of another kind"))
}

impl Got {
    fn output(self) -> Result<(Output, Vec<String>), Error> {
        match self {
            Got::Output(output, refusals) => Ok((*output, refusals)),
            Got::Answer(_) | Got::Done => another(),
        }
    }

    pub(super) fn new_order(self) -> Result<(NewOrderOutput, Vec<String>), Error> {
        match self.output()? {
            (Output::NewOrder(order), refusals) => Ok((*order, refusals)),
            _ => another(),
        }
    }

    pub(super) fn order_status(self) -> Result<(OrderStatusOutput, Vec<String>), Error> {
        match self.output()? {
            (Output::OrderStatus(status), refusals) => Ok((*status, refusals)),
            _ => another(),
        }
    }

    pub(super) fn payment(self) -> Result<(PaymentOutput, Vec<String>), Error> {
        match self.output()? {
            (Output::Payment(payment), refusals) => Ok((*payment, refusals)),
            _ => another(),
        }
    }

    pub(super) fn delivery(self) -> Result<(Delivered, Vec<String>), Error> {
        match self.output()? {
            (Output::Delivery(delivered), refusals) => Ok((delivered, refusals)),
            _ => another(),
        }
    }

    pub(super) fn answer(self) -> Result<Answer, Error> {
        match self {
            Got::Answer(answer) => Ok(answer),
            Got::Output(..) | Got::Done => another(),
        }
    }
}

/// How a transaction got through, for people: ` waited`, ` was refused (40001) and tried again`.
pub(super) fn manner(who: &str, waited: bool, refusals: &[String]) -> String {
    let waited = if waited { "waited" } else { "did not wait" };
    match refusals {
        [] => format!("{who} {waited}"),
        [first, ..] => format!("{who} {waited}, was refused ({first}) and tried again"),
    }
}

/// A refusal of a statement or a commit, for people.
pub(super) fn refusal(e: &Error) -> String {
    format!("refused ({})", named(e))
}
